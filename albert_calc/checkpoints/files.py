"""A checkpoint on disk: one safetensors file, or several under an index.

May import ``albert_calc.checkpoints.safetensors``, ``albert_calc.configfile``,
``albert_calc.errors`` and ``albert_calc.text``.
"""

import os
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from albert_calc.checkpoints.safetensors import (
    LARGEST_HEADER,
    StoredTensor,
    first_of,
    read_header,
    read_regular,
)
from albert_calc.configfile import parse_json_object, quoted
from albert_calc.errors import CheckpointError, ConfigError
from albert_calc.text import printable, shown

SINGLE = "model.safetensors"
INDEX = "model.safetensors.index.json"

_PICKLES = (".bin", ".pt", ".pth", ".pkl", ".pickle", ".ckpt")


class Checkpoint(NamedTuple):
    """The tensors of a checkpoint by name, the file or index that led to them, and remarks."""

    path: str
    tensors: dict[str, StoredTensor]
    notes: tuple[str, ...] = ()


def read_checkpoint(path: str | os.PathLike[str]) -> Checkpoint:
    """The tensors in *path*: a safetensors file, an index, or a directory with either.

    Only headers are read. Where a directory has both, the single file is taken, as
    transformers does. Raises ``CheckpointError`` with the reason if the checkpoint cannot
    be read or contradicts its format; a pickle is never opened.
    """
    name = os.fspath(path)
    if os.path.isdir(name):
        name = _in_directory(name)
    _refuse_pickle(name)
    if name.endswith(".json"):
        return _read_shards(name)
    return Checkpoint(name, read_header(name).tensors)


def _in_directory(folder: str) -> str:
    for name in (SINGLE, INDEX):
        if os.path.exists(os.path.join(folder, name)):
            return os.path.join(folder, name)
    try:
        names = sorted(os.listdir(folder))
    except OSError as error:
        raise CheckpointError(f"{quoted(folder)}: cannot be read: {error.strerror}") from None
    others = [n for n in names if n.endswith(".safetensors")]
    pickles = [n for n in names if n.endswith(_PICKLES)]
    hint = ""
    if others:
        hint = f"; give one file of it, such as {printable(others[0], 100)}"
    elif pickles:
        hint = f"; {printable(pickles[0], 100)} is a pickle, convert it to safetensors"
    raise CheckpointError(f"{quoted(folder)}: has no {SINGLE} and no {INDEX}{hint}")


def _refuse_pickle(path: str) -> None:
    if path.endswith(_PICKLES):
        raise CheckpointError(
            f"{quoted(path)}: a pickle can run code and is not opened; convert it to"
            " safetensors (save_pretrained in transformers writes that)"
        )


def _read_shards(index: str) -> Checkpoint:
    """The tensors of all files that *index* names, each found where the index says."""
    places = _weight_map(index)
    folder = os.path.dirname(index)
    problems: list[str] = []
    tensors: dict[str, StoredTensor] = {}
    found_in: dict[str, str] = {}
    left = LARGEST_HEADER
    for shard in dict.fromkeys(places.values()):
        try:
            _refuse_pickle(shard)
            header = read_header(os.path.join(folder, shard), left)
        except CheckpointError as error:
            problems += error.problems
            continue
        left -= header.length
        for name in header.tensors.keys() & tensors.keys():
            problems.append(
                f"{_tensor(name)}: is in two files, {quoted(found_in[name])} and {quoted(shard)}"
            )
        tensors.update(header.tensors)
        found_in.update(dict.fromkeys(header.tensors, shard))
    problems = problems or list(_misplaced(places, found_in))
    if problems:
        raise CheckpointError(first_of(problems))
    unlisted = [n for n in tensors if n not in places]
    notes = []
    if unlisted:
        others = f" and {len(unlisted) - 1:,} more" if len(unlisted) > 1 else ""
        notes.append(f"the index does not name {_tensor(unlisted[0])}{others}, but its files do")
    return Checkpoint(index, tensors, tuple(notes))


def _weight_map(index: str) -> dict[str, str]:
    """Which file holds each tensor, as *index* says; every file is in its own directory."""
    name = quoted(index)
    content, size = read_regular(index, LARGEST_HEADER)
    if size > LARGEST_HEADER:
        raise CheckpointError(f"{name}: has {size:,} bytes; at most {LARGEST_HEADER:,} are read")
    try:
        places = parse_json_object(content, name).get("weight_map")
    except ConfigError as error:
        raise CheckpointError(error.problems) from None
    if not isinstance(places, dict):
        reason = "is missing" if places is None else f"must be an object, got {shown(places)}"
        raise CheckpointError(f"{name}: weight_map {reason}: this is no index of safetensors files")
    problems = [
        f"{name}: weight_map: {_tensor(tensor)}: must be a file beside the index, got {shown(file)}"
        for tensor, file in places.items()
        if not _is_beside(file)
    ]
    if problems:
        raise CheckpointError(first_of(problems))
    return places


def _is_beside(file: object) -> bool:
    """Whether an index may name *file*: relative, and never upwards.

    What a link of that name points at is the owner's choice: model caches store every
    file as a link to elsewhere.
    """
    if not isinstance(file, str) or not file or os.path.isabs(file) or re.match("[A-Za-z]:", file):
        return False
    return not file.startswith("\\") and ".." not in re.split(r"[/\\]", file)


def _misplaced(places: Mapping[str, str], found_in: Mapping[str, str]) -> Iterator[str]:
    for tensor, file in places.items():
        if found_in.get(tensor) != file:
            yield f"{_tensor(tensor)}: the index says {quoted(file)}, which does not have it"


def _tensor(name: str) -> str:
    return printable(name, 120)
