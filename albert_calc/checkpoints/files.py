"""A checkpoint on disk: one file, or several under an index."""

import os
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from albert_calc.checkpoints.foreign import foreign_name
from albert_calc.checkpoints.safetensors import read_safetensors
from albert_calc.checkpoints.stored import (
    LARGEST_HEADER,
    Limits,
    StoredTensor,
    read_start,
)
from albert_calc.checkpoints.torch_files import is_torch, read_torch
from albert_calc.config.files import parse_json_object, quoted
from albert_calc.errors import CheckpointError, ConfigError, Problems, first_of
from albert_calc.writing.harmless import printable, shown

NAMES = (
    "model.safetensors",
    "model.safetensors.index.json",
    "pytorch_model.bin",
    "pytorch_model.bin.index.json",
)
"""What the checkpoint in a directory is called, in the order in which transformers looks."""

_PICKLES = (".bin", ".pt", ".pth", ".ckpt", ".pkl", ".pickle")
_MOST_FILES = 1_000

Identity = tuple[int, int]


class Checkpoint(NamedTuple):
    """The tensors of a checkpoint by name, the file or index that led to them, and remarks.

    ``shared`` gives each tensor whose numbers are those of another the name of that other.
    """

    path: str
    tensors: dict[str, StoredTensor]
    notes: tuple[str, ...] = ()
    shared: Mapping[str, str] = {}


def read_checkpoint(path: str | os.PathLike[str]) -> Checkpoint:
    """The tensors in *path*: a file, an index of several, or a directory with either.

    Files are those of safetensors and of ``torch.save``; only headers and pickles are read,
    and no pickle is run. Where a directory has several, the first of ``NAMES`` is taken.
    Raises ``CheckpointError`` with the reason if the checkpoint cannot be read, contradicts
    its format, or is another framework's.
    """
    name = os.fspath(path)
    if os.path.isdir(name):
        name = _in_directory(name)
    limits = Limits()
    if os.path.basename(name) == "config.json":
        raise CheckpointError(f"{quoted(name)}: a config; give the directory or the checkpoint")
    if name.endswith(".json"):
        return _read_shards(name, limits)
    return _read_file(name, limits)


def _in_directory(folder: str) -> str:
    for name in NAMES:
        if os.path.lexists(os.path.join(folder, name)):
            return os.path.join(folder, name)
    try:
        names = sorted(os.listdir(folder))
    except OSError as error:
        raise CheckpointError(f"{quoted(folder)}: cannot be read: {error.strerror}") from None
    hint = ""
    others = [n for n in names if n.endswith((".safetensors", *_PICKLES))]
    foreign = [n for n in names if foreign_name(n)]
    if others:
        hint = f"; give one file of it, such as {printable(others[0], 100)}"
    elif foreign:
        hint = f"; {printable(foreign[0], 100)} is {foreign_name(foreign[0])}"
    raise CheckpointError(f"{quoted(folder)}: has no {NAMES[0]} and no {NAMES[2]}{hint}")


def _read_file(path: str, limits: Limits) -> Checkpoint:
    foreign = foreign_name(path)
    if not foreign and not os.path.lexists(path) and os.path.lexists(f"{path}.index"):
        foreign = foreign_name(f"{path}.index")
    if foreign:
        raise CheckpointError(f"{quoted(path)}: {foreign}")
    if _holds_pickle(path):
        found = read_torch(path, limits)
        return Checkpoint(path, found.tensors, found.notes, found.shared)
    return Checkpoint(path, read_safetensors(path, limits))


def _holds_pickle(path: str) -> bool:
    """Whether *path* is a file of ``torch.save``, by its name or else by its first bytes."""
    if path.endswith((".safetensors", *_PICKLES)):
        return path.endswith(_PICKLES)
    return is_torch(read_start(path, 8)[0])


def _read_shards(index: str, limits: Limits) -> Checkpoint:
    """The tensors of all files that *index* names, each found where the index says."""
    places = _weight_map(index, limits)
    files = _real_files(index, places)
    problems = Problems()
    tensors: dict[str, StoredTensor] = {}
    shared: dict[str, str] = {}
    notes: list[str] = []
    found_in: dict[str, str] = {}
    for shard in dict.fromkeys(files.values()):
        with problems.collected():
            part = _read_file(os.path.join(os.path.dirname(index), shard), limits)
            problems += (
                f"{_tensor(name)}: is in two files, {quoted(found_in[name])} and {quoted(shard)}"
                for name in part.tensors.keys() & tensors.keys()
            )
            tensors.update(part.tensors)
            shared.update(part.shared)
            notes += part.notes
            found_in.update(dict.fromkeys(part.tensors, shard))
    if not problems:
        problems += _misplaced(places, files, found_in)
    if problems:
        raise CheckpointError(first_of(problems))
    unlisted = [n for n in tensors if n not in places]
    if unlisted:
        others = f" and {len(unlisted) - 1:,} more" if len(unlisted) > 1 else ""
        notes.append(f"the index does not name {_tensor(unlisted[0])}{others}, but its files do")
    return Checkpoint(index, tensors, tuple(dict.fromkeys(notes)), shared)


def _weight_map(index: str, limits: Limits) -> dict[str, str]:
    """Which file holds each tensor, as *index* says; every file is in its own directory."""
    name = quoted(index)
    content, size = read_start(index, limits.header)
    limits.header -= len(content)
    if size > LARGEST_HEADER:
        raise CheckpointError(f"{name}: has {size:,} bytes; at most {LARGEST_HEADER:,} are read")
    try:
        places = parse_json_object(content, name).get("weight_map")
    except ConfigError as error:
        raise CheckpointError(error.problems) from None
    if not isinstance(places, dict):
        reason = "is missing" if places is None else f"must be an object, got {shown(places)}"
        raise CheckpointError(f"{name}: weight_map {reason}: this is no index of a checkpoint")
    problems = [
        f"{name}: weight_map: {_tensor(tensor)}: must be a file beside the index, got {shown(file)}"
        for tensor, file in places.items()
        if not _is_beside(file)
    ]
    if problems:
        raise CheckpointError(first_of(problems))
    files = len(set(places.values()))
    if files > _MOST_FILES:
        raise CheckpointError(f"{name}: names {files:,} files; at most {_MOST_FILES:,} are read")
    return places


def _is_beside(file: object) -> bool:
    """Whether an index may name *file*: relative, and never upwards.

    What a link of that name points at is the owner's choice: model caches store every
    file as a link to elsewhere.
    """
    if not isinstance(file, str) or not file or os.path.isabs(file) or re.match("[A-Za-z]:", file):
        return False
    return not file.startswith("\\") and ".." not in re.split(r"[/\\]", file)


def _real_files(index: str, places: Mapping[str, str]) -> dict[str, str]:
    """For each file that an index names, the first name in it of the same real file."""
    first: dict[Identity | str, str] = {}
    return {
        file: first.setdefault(_identity(os.path.join(os.path.dirname(index), file)), file)
        for file in dict.fromkeys(places.values())
    }


def _identity(path: str) -> Identity | str:
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return path
    return found.st_dev, found.st_ino


def _misplaced(
    places: Mapping[str, str], files: Mapping[str, str], found_in: Mapping[str, str]
) -> Iterator[str]:
    for tensor, file in places.items():
        if found_in.get(tensor) != files[file]:
            yield f"{_tensor(tensor)}: the index says {quoted(file)}, which does not have it"


def _tensor(name: str) -> str:
    return printable(name, 120)
