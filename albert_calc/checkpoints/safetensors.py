"""The header of a ``.safetensors`` file, read strictly; the numbers behind it never are.

Follows the public description of the format (https://huggingface.co/docs/safetensors):
eight bytes give the length of the header, a little-endian unsigned integer; the header is
a JSON object that gives each tensor its dtype, its shape and where its numbers lie; the
numbers fill the rest of the file without a hole. May import ``albert_calc.configfile``,
``albert_calc.errors`` and ``albert_calc.text``.
"""

import os
import stat
from collections.abc import Iterator, Mapping
from math import prod
from typing import Any, NamedTuple

from albert_calc.configfile import parse_json_object, quoted
from albert_calc.errors import CheckpointError, ConfigError
from albert_calc.text import printable, shown

LARGEST_HEADER = 4 * 2**20
"""Bytes of header, in all files of a checkpoint together, that are read: some 30,000 tensors."""

BITS: Mapping[str, int] = {
    "BOOL": 8, "F4": 4, "F6_E2M3": 6, "F6_E3M2": 6, "U8": 8, "I8": 8, "F8_E5M2": 8,
    "F8_E4M3": 8, "F8_E8M0": 8, "F8_E4M3FNUZ": 8, "F8_E5M2FNUZ": 8, "I16": 16, "U16": 16,
    "F16": 16, "BF16": 16, "I32": 32, "U32": 32, "F32": 32, "C64": 64, "F64": 64, "I64": 64,
    "U64": 64,
}  # fmt: skip
"""The bits of one number of each dtype, as of safetensors 0.8."""

_LENGTH_BYTES = 8
# More than any tensor has; work on absurd ones would take seconds.
_LONGEST_NAME = 10_000
_MOST_DIMENSIONS = 64
_LARGEST_SIZE = 2**64 - 1
_MANY = 20

# What is often found under the name of a safetensors file, by its first bytes.
_FOREIGN: Mapping[bytes, str] = {
    b"version ": "a Git LFS pointer and not the file itself; fetch it with git lfs pull",
    b"PK\x03\x04": "a zip archive, as torch.save writes; convert it to safetensors",
    b"\x80": "a pickle; convert it to safetensors",
}


class StoredTensor(NamedTuple):
    """What a header says about one tensor: its dtype and its shape."""

    dtype: str
    shape: tuple[int, ...]

    @property
    def elements(self) -> int:
        """How many numbers the tensor holds."""
        return prod(self.shape)


class Header(NamedTuple):
    """The tensors of one file by name, and the length of its header in bytes."""

    tensors: dict[str, StoredTensor]
    length: int


def read_header(path: str, limit: int = LARGEST_HEADER) -> Header:
    """The header of the safetensors file *path*; it costs the same however large the file is.

    Raises ``CheckpointError`` if the file cannot be read, if its header is longer than
    *limit* bytes, or if anything in it contradicts the format.
    """
    name = quoted(path)
    content, data_length = _read(path, limit)
    if not content.startswith(b"{"):
        raise CheckpointError(f"{name}: the header is not JSON: it must begin with {{")
    try:
        entries = parse_json_object(content, f"{name}: the header")
    except ConfigError as error:
        raise CheckpointError(error.problems) from None
    metadata = entries.pop("__metadata__", None)
    problems = [*_metadata_problems(metadata), *_entry_problems(entries)]
    problems = problems or list(_offset_problems(entries, data_length))
    if problems:
        raise CheckpointError(first_of([f"{name}: {p}" for p in problems]))
    tensors = {n: StoredTensor(e["dtype"], tuple(e["shape"])) for n, e in entries.items()}
    return Header(tensors, len(content))


def first_of(problems: list[str]) -> list[str]:
    """*problems*, or the first of them and how many more there are."""
    if len(problems) <= _MANY:
        return problems
    return [*problems[:_MANY], f"and {len(problems) - _MANY:,} more problems"]


def read_regular(path: str, length: int) -> tuple[bytes, int]:
    """The first *length* bytes of the regular file *path*, and its size in bytes.

    Raises ``CheckpointError`` for anything else: a pipe or a device could block for ever.
    """
    try:
        # Asked before it is opened: opening a pipe waits for somebody to write.
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise CheckpointError(f"{quoted(path)}: must be a regular file")
        with open(path, "rb") as file:
            return file.read(length), os.fstat(file.fileno()).st_size
    except OSError as error:
        raise CheckpointError(f"{quoted(path)}: cannot be read: {error.strerror}") from None
    except ValueError as error:
        if isinstance(error, CheckpointError):
            raise
        raise CheckpointError(f"{quoted(path)}: cannot be read: {error}") from None


def _read(path: str, limit: int) -> tuple[bytes, int]:
    """The bytes of the header, and how many bytes of numbers follow it."""
    name = quoted(path)
    start, size = read_regular(path, _LENGTH_BYTES)
    if size < _LENGTH_BYTES:
        raise CheckpointError(
            f"{name}: must begin with the {_LENGTH_BYTES} bytes of the header's length,"
            f" but has {size} bytes"
        )
    length = int.from_bytes(start, "little")
    after = size - _LENGTH_BYTES
    if length > after:
        raise CheckpointError(f"{name}: {_foreign(start) or _too_short(length, after)}")
    if length > limit:
        raise CheckpointError(
            f"{name}: the header has {length:,} bytes; at most {LARGEST_HEADER:,} are read"
            " for one checkpoint"
        )
    content, _ = read_regular(path, _LENGTH_BYTES + length)
    return content[_LENGTH_BYTES:], after - length


def _foreign(start: bytes) -> str:
    """What a file that begins with *start* is instead, if that is well known."""
    # A pickle's first bytes could also be a length, but one of gigabytes it is not.
    huge = any(start[4:])
    found = (text for magic, text in _FOREIGN.items() if huge and start.startswith(magic))
    return next((f"the file is {text}" for text in found), "")


def _too_short(length: int, after: int) -> str:
    return (
        f"the header should have {length:,} bytes, but the file ends after {after:,}:"
        " it is truncated, or no safetensors file"
    )


def _metadata_problems(metadata: object) -> Iterator[str]:
    if metadata is None:
        return
    if not isinstance(metadata, dict):
        yield f"__metadata__: must be an object, got {shown(metadata)}"
    elif not all(isinstance(value, str) for value in metadata.values()):
        yield "__metadata__: must hold text only"


def _entry_problems(entries: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with single entries, whatever the others say."""
    for name, entry in entries.items():
        tensor = printable(name, 120)
        if len(name) > _LONGEST_NAME:
            yield f"{tensor}: a name of {len(name):,} characters is no tensor's"
            continue
        if not isinstance(entry, dict):
            yield f"{tensor}: must be an object of dtype, shape and data_offsets, got" + (
                f" {shown(entry)}"
            )
            continue
        missing = [k for k in ("dtype", "shape", "data_offsets") if k not in entry]
        if missing:
            yield f"{tensor}: {' and '.join(missing)} missing"
            continue
        dtype, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
        if not isinstance(dtype, str) or dtype not in BITS:
            yield f"{tensor}: dtype: must be one of {', '.join(BITS)}, got {shown(dtype)}"
        if isinstance(shape, list) and len(shape) > _MOST_DIMENSIONS:
            yield f"{tensor}: shape: must have at most {_MOST_DIMENSIONS} sizes, got {len(shape):,}"
        elif not _are_sizes(shape):
            yield f"{tensor}: shape: must be a list of {_SIZES}, got {_list(shape)}"
        if not _are_sizes(offsets) or len(offsets) != 2:
            yield f"{tensor}: data_offsets: must be two {_SIZES}, got {_list(offsets)}"


_SIZES = "whole numbers from 0 to 2^64 - 1"


def _are_sizes(values: object) -> bool:
    return isinstance(values, list) and all(
        type(v) is int and 0 <= v <= _LARGEST_SIZE for v in values
    )


def _list(values: object) -> str:
    if not isinstance(values, list) or len(values) > 8:
        return shown(values)
    return f"[{', '.join(shown(v) for v in values)}]"


def _offset_problems(entries: Mapping[str, Any], data_length: int) -> Iterator[str]:
    """Where the numbers of *entries* do not fill the data exactly, one after the other."""
    reached = 0
    for name, entry in sorted(entries.items(), key=lambda item: item[1]["data_offsets"]):
        begin, end = entry["data_offsets"]
        tensor = printable(name, 120)
        span = f"data_offsets [{begin}, {end}]"
        if end < begin:
            yield f"{tensor}: {span}: must not end before they begin"
        elif end > data_length:
            yield f"{tensor}: {span}: leave the file, which has {data_length:,} bytes of data"
        elif begin < reached:
            yield f"{tensor}: {span}: overlap the tensor before, which ends at byte {reached}"
        elif begin > reached:
            yield f"{tensor}: {span}: leave a hole, since the tensor before ends at byte {reached}"
        bits = _bits(entry["dtype"], entry["shape"])
        if bits != 8 * (end - begin) and end >= begin:
            wanted = "too many bits" if bits is None else f"{bits:,} bits"
            yield (
                f"{tensor}: shape {_list(entry['shape'])} of {entry['dtype']} needs {wanted},"
                f" but data_offsets give {8 * (end - begin):,}"
            )
        reached = max(reached, end)
    if reached < data_length:
        yield f"{data_length - reached:,} bytes at the end of the file belong to no tensor"


def _bits(dtype: str, shape: list[int]) -> int | None:
    """The bits that a tensor needs, or ``None`` if they are more than any file can have."""
    elements = 1
    # Multiplied step by step, as a thousand large sizes make a number that takes minutes.
    for size in shape:
        elements *= size
        if elements > _LARGEST_SIZE:
            return None
    return elements * BITS[dtype]
