"""Files of ``torch.save``: which tensors they hold, without reading a number of them.

There are two formats. Since PyTorch 1.6 a file is an uncompressed zip archive with one
pickle, ``NAME/data.pkl``, and a file of numbers a storage, ``NAME/data/KEY``. Before, it was
five pickles (a magic number, the version, facts about the machine, the value, the keys of the
storages) and then the numbers of each storage after its length, eight bytes.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from io import BytesIO
from typing import IO, Any, NamedTuple
from zipfile import ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from albert_calc.checkpoints.foreign import foreign_start
from albert_calc.checkpoints.pickles import interpret
from albert_calc.checkpoints.stored import (
    LARGEST_PICKLE,
    MOST_TENSORS,
    Limits,
    StoredTensor,
    open_regular,
)
from albert_calc.checkpoints.torch_objects import Pickled, Storage
from albert_calc.config.files import quoted
from albert_calc.errors import CheckpointError, first_of
from albert_calc.writing.harmless import printable, shown

STATE_DICTS = ("state_dict", "model_state_dict", "model")
"""Under these keys training code puts the tensors beside its optimizer and its progress."""

_ZIP = b"PK\x03\x04"
_PICKLE = b"\x80"
_MAGIC_BYTES = 8
_MAGIC_NUMBER = 0x1950A86A20F9469CFC6C
_LENGTH_BYTES = 8
_SHORTEST_ENTRY = 30
_ENCRYPTED = 0x1
_NESTED = 3


class TorchFile(NamedTuple):
    """The tensors of one file by name, and remarks.

    ``shared`` gives each tensor whose numbers are those of another the name of that other,
    which comes before it.
    """

    tensors: dict[str, StoredTensor]
    shared: dict[str, str]
    notes: tuple[str, ...]


def is_torch(start: bytes) -> bool:
    """Whether a file that begins with the eight bytes *start* was written by ``torch.save``."""
    # The first bytes of a pickle could also be the length of a safetensors header, but one of
    # gigabytes it is not.
    return start.startswith((_ZIP, _PICKLE)) and any(start[4:])


def read_torch(path: str, limits: Limits) -> TorchFile:
    """The tensors of the file *path*; it costs the same however large they are.

    Raises ``CheckpointError`` if the file cannot be read, holds anything else than tensors and
    plain values, or contradicts its format.
    """
    name = quoted(path)
    with open_regular(path) as file:
        try:
            start = file.read(_MAGIC_BYTES)
            file.seek(0)
            if start.startswith(_ZIP):
                value = _in_archive(_Metered(file, name, limits), name, limits)
            elif start.startswith(_PICKLE):
                value = _in_pickles(file, name, limits)
            else:
                what = foreign_start(start) or "no file of torch.save" if start else "empty"
                raise CheckpointError(f"{name}: {what}")
        except OSError as error:
            raise CheckpointError(f"{name}: cannot be read: {error.strerror}") from None
    return _tensors(value, name)


class _Metered:
    """A file of which only so much is read: what ``ZipFile`` needs of one."""

    def __init__(self, file: IO[bytes], name: str, limits: Limits) -> None:
        self.file, self.name, self.limits = file, name, limits
        self.seek, self.tell, self.seekable = file.seek, file.tell, file.seekable

    def read(self, size: int = -1) -> bytes:
        """The next *size* bytes; ``CheckpointError`` if they are more than may be read."""
        left = self.limits.pickle
        content = self.file.read(left + 1 if size < 0 else min(size, left + 1))
        self.limits.pickle -= len(content)
        if self.limits.pickle < 0:
            raise CheckpointError(f"{self.name}: {_TOO_LARGE}")
        return content


_TOO_LARGE = (
    f"its pickle or its directory has more than {LARGEST_PICKLE:,} bytes, which is not read;"
    " those of a real checkpoint have a tenth of that"
)


def _in_archive(file: _Metered, name: str, limits: Limits) -> Any:
    """The value in the pickle of a zip archive, whose storages are all there."""
    try:
        archive = ZipFile(file)
        entries = {entry.filename: entry for entry in archive.infolist()}
        pickle = _entry(archive, entries, name, limits)
        content = archive.read(pickle)
    except (BadZipFile, ValueError, NotImplementedError, EOFError) as error:
        if isinstance(error, CheckpointError):
            raise
        raise CheckpointError(f"{name}: a zip archive that is damaged or truncated") from None
    value, storages = interpret(BytesIO(content), name, limits)
    folder = pickle.filename.removesuffix("data.pkl")
    sizes = {k: e.file_size for k in storages if (e := entries.get(f"{folder}data/{k}"))}
    _refuse(_storage_problems(storages, sizes), name)
    return value


def _entry(archive: ZipFile, entries: Mapping[str, ZipInfo], name: str, limits: Limits) -> ZipInfo:
    """The one pickle of an archive in which nothing is odd."""
    if len(entries) < len(archive.infolist()):
        raise CheckpointError(f"{name}: two entries of the archive have one name")
    _refuse(_entry_problems(archive), name)
    found = [entry for key, entry in entries.items() if key.endswith("/data.pkl")]
    if len(found) != 1:
        raise CheckpointError(
            f"{name}: a zip archive, but not one of torch.save: it has {len(found) or 'no'}"
            " entries called data.pkl"
        )
    if max(found[0].file_size, found[0].compress_size) > limits.pickle:
        raise CheckpointError(f"{name}: {_TOO_LARGE}")
    return found[0]


def _entry_problems(archive: ZipFile) -> Iterator[str]:
    """What torch.save never writes: odd names, encryption, compression, overlaps."""
    reached = 0
    for entry in sorted(archive.infolist(), key=lambda entry: entry.header_offset):
        called = f"the entry {printable(entry.orig_filename, 60)}"
        parts = entry.filename.replace("\\", "/").split("/")
        if entry.orig_filename != entry.filename or parts[0] == "" or ".." in parts:
            yield f"{called}: must have a plain, relative name"
        if entry.flag_bits & _ENCRYPTED:
            yield f"{called}: is encrypted"
        if entry.compress_type != ZIP_STORED or entry.compress_size != entry.file_size:
            yield f"{called}: is compressed, which torch.save never does"
        if entry.header_offset < reached:
            yield f"{called}: overlaps the entry before it"
        named = len(entry.orig_filename.encode("utf-8", "surrogatepass"))
        reached = entry.header_offset + _SHORTEST_ENTRY + named + entry.compress_size
    if reached > archive.start_dir:
        yield "the last entry leaves the archive"


def _in_pickles(file: IO[bytes], name: str, limits: Limits) -> Any:
    """The value in a file of the old format, whose storages are all there."""
    size = os.fstat(file.fileno()).st_size
    stream = BytesIO(file.read(limits.pickle))
    whole = stream.getbuffer().nbytes
    try:
        if interpret(stream, name, limits).value != _MAGIC_NUMBER:
            raise CheckpointError(f"{name}: a pickle, but none of torch.save")
        interpret(stream, name, limits)
        interpret(stream, name, limits)
        value, storages = interpret(stream, name, limits)
        keys = interpret(stream, name, limits).value
    except CheckpointError:
        if stream.tell() == whole < size:
            raise CheckpointError(f"{name}: {_TOO_LARGE}") from None
        raise
    finally:
        limits.pickle -= stream.tell()
    if not isinstance(keys, list) or not all(isinstance(key, str) for key in keys):
        raise CheckpointError(f"{name}: the list of its storages is damaged")
    _refuse(_storage_problems(storages, _lengths(keys, storages, stream.tell(), size)), name)
    return value


def _lengths(
    keys: Iterable[str], storages: Mapping[str, Storage], reached: int, size: int
) -> dict[str, int]:
    """How many bytes a file of *size* bytes has for each storage, one after the other."""
    found = {}
    for key in keys:
        if key in storages:
            reached += _LENGTH_BYTES
            found[key] = max(0, min(storages[key].length, size - reached))
            reached += storages[key].length
    return found


def _storage_problems(storages: Mapping[str, Storage], sizes: Mapping[str, int]) -> Iterator[str]:
    for key, storage in storages.items():
        if key not in sizes:
            yield f"the storage {printable(key)}: missing"
        elif sizes[key] < storage.length:
            yield (
                f"the storage {printable(key)}: must have {storage.length:,} bytes, got"
                f" {sizes[key]:,}: the file is truncated or damaged"
            )


def _refuse(problems: Iterable[str], name: str) -> None:
    found = [f"{name}: {problem}" for problem in problems]
    if found:
        raise CheckpointError(first_of(found))


def _tensors(value: Any, name: str) -> TorchFile:
    """The tensors of a state dict, which may lie under one of the usual keys."""
    path, state = _state_dict(value)
    if state is None:
        raise CheckpointError(f"{name}: holds no state dict: {_described(value)}")
    tensors: dict[str, StoredTensor] = {}
    shared: dict[str, str] = {}
    first: dict[tuple[str, int, tuple[int, ...]], str] = {}
    others = []
    for key, tensor in state.items():
        if not isinstance(tensor, Pickled):
            others.append(key)
            continue
        if not isinstance(key, str):
            raise CheckpointError(f"{name}: a tensor is called {shown(key)}, which is no name")
        if len(tensors) >= MOST_TENSORS:
            raise CheckpointError(
                f"{name}: has more than {MOST_TENSORS:,} tensors, which no encoder has"
            )
        tensors[key] = StoredTensor(tensor.dtype, tensor.shape)
        place = (tensor.storage.key, tensor.offset, tensor.shape)
        original = first.setdefault(place, key)
        if original != key and tensor.storage.length:
            shared[key] = original
    notes = [f"the tensors are those under {'.'.join(path)}"] if path else []
    if others:
        more = f" and {len(others) - 1:,} more" if len(others) > 1 else ""
        notes.append(f"{_key(others[0])}{more}: no tensor, so passed over")
    return TorchFile(tensors, shared, tuple(notes))


def _state_dict(value: Any) -> tuple[tuple[str, ...], dict[Any, Any] | None]:
    """The dictionary of tensors in *value*, and the keys that lead to it."""
    path: tuple[str, ...] = ()
    for _ in range(_NESTED):
        if not isinstance(value, dict):
            return path, None
        below = [key for key in STATE_DICTS if isinstance(value.get(key), dict)]
        if not below:
            break
        path, value = (*path, below[0]), value[below[0]]
    found = any(isinstance(v, Pickled) for v in value.values())
    return path, value if found else None


def _described(value: Any) -> str:
    if not isinstance(value, dict):
        return f"it is {shown(value)}" if not isinstance(value, Pickled) else "it is one tensor"
    if not value:
        return "it is empty"
    keys = ", ".join(map(_key, list(value)[:5]))
    return f"its keys are {keys}{', …' if len(value) > 5 else ''}"


def _key(key: object) -> str:
    return printable(key, 60) if isinstance(key, str) else shown(key)
