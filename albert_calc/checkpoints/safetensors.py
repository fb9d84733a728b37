"""The header of a ``.safetensors`` file, read strictly; the numbers behind it never are.

Follows the public description of the format (https://huggingface.co/docs/safetensors):
eight bytes give the length of the header, a little-endian unsigned integer; the header is
a JSON object that gives each tensor its dtype, its shape and where its numbers lie; the
numbers fill the rest of the file without a hole.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from albert_calc.checkpoints.foreign import foreign_start
from albert_calc.checkpoints.stored import (
    LARGEST_HEADER,
    LARGEST_SIZE,
    LONGEST_NAME,
    MOST_DIMENSIONS,
    MOST_TENSORS,
    Limits,
    StoredTensor,
    product_within,
    read_start,
)
from albert_calc.config.files import parse_json_object, quoted
from albert_calc.errors import CheckpointError, ConfigError, first_of
from albert_calc.writing.harmless import printable, shown

BITS: Mapping[str, int] = {
    "BOOL": 8, "F4": 4, "F6_E2M3": 6, "F6_E3M2": 6, "U8": 8, "I8": 8, "F8_E5M2": 8,
    "F8_E4M3": 8, "F8_E8M0": 8, "F8_E4M3FNUZ": 8, "F8_E5M2FNUZ": 8, "I16": 16, "U16": 16,
    "F16": 16, "BF16": 16, "I32": 32, "U32": 32, "F32": 32, "C64": 64, "F64": 64, "I64": 64,
    "U64": 64,
}  # fmt: skip
"""The bits of one number of each dtype, as of safetensors 0.8."""

_LENGTH_BYTES = 8


def read_safetensors(path: str, limits: Limits) -> dict[str, StoredTensor]:
    """The tensors of the safetensors file *path*; it costs the same however large they are.

    Raises ``CheckpointError`` if the file cannot be read, if its header is longer than what is
    left in *limits*, or if anything in it contradicts the format.
    """
    name = quoted(path)
    content, data_length = _read(path, limits)
    if not content.startswith(b"{"):
        raise CheckpointError(f"{name}: the header is not JSON: it must begin with {{")
    # Counted before it is parsed, which takes longer.
    _refuse_many(content.count(b'"dtype"'), name)
    try:
        entries = parse_json_object(content, f"{name}: the header")
    except ConfigError as error:
        raise CheckpointError(error.problems) from None
    metadata = entries.pop("__metadata__", None)
    _refuse_many(len(entries), name)
    problems = [*_metadata_problems(metadata), *_entry_problems(entries)]
    problems = problems or list(_offset_problems(entries, data_length))
    if problems:
        raise CheckpointError(first_of([f"{name}: {p}" for p in problems]))
    return {n: StoredTensor(e["dtype"], tuple(e["shape"])) for n, e in entries.items()}


def _refuse_many(tensors: int, name: str) -> None:
    if tensors > MOST_TENSORS:
        raise CheckpointError(
            f"{name}: the header has more than {MOST_TENSORS:,} tensors, which no encoder has"
        )


def _read(path: str, limits: Limits) -> tuple[bytes, int]:
    """The bytes of the header, and how many bytes of numbers follow it."""
    name = quoted(path)
    start, size = read_start(path, _LENGTH_BYTES)
    if size < _LENGTH_BYTES:
        raise CheckpointError(
            f"{name}: must begin with the {_LENGTH_BYTES} bytes of the header's length,"
            f" but has {size} bytes"
        )
    length = int.from_bytes(start, "little")
    after = size - _LENGTH_BYTES
    if length > after:
        raise CheckpointError(f"{name}: {foreign_start(start) or _too_short(length, after)}")
    if length > limits.header:
        raise CheckpointError(
            f"{name}: the header has {length:,} bytes; at most {LARGEST_HEADER:,} are read"
            " for one checkpoint"
        )
    limits.header -= length
    content, _ = read_start(path, _LENGTH_BYTES + length)
    return content[_LENGTH_BYTES:], after - length


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
        if len(name) > LONGEST_NAME:
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
        if isinstance(shape, list) and len(shape) > MOST_DIMENSIONS:
            yield f"{tensor}: shape: must have at most {MOST_DIMENSIONS} sizes, got {len(shape):,}"
        elif not _are_sizes(shape):
            yield f"{tensor}: shape: must be a list of {_SIZES}, got {_list(shape)}"
        if not _are_sizes(offsets) or len(offsets) != 2:
            yield f"{tensor}: data_offsets: must be two {_SIZES}, got {_list(offsets)}"


_SIZES = "whole numbers from 0 to 2^64 - 1"


def _are_sizes(values: object) -> bool:
    return isinstance(values, list) and all(
        type(v) is int and 0 <= v <= LARGEST_SIZE for v in values
    )


def _list(values: object) -> str:
    if not isinstance(values, list) or len(values) > 8:
        return shown(values)
    return f"[{', '.join(shown(v) for v in values)}]"


def _offset_problems(entries: Mapping[str, Any], data_length: int) -> Iterator[str]:
    """Where the numbers of *entries* do not fill the data exactly, one after the other."""
    needed = max((entry["data_offsets"][1] for entry in entries.values()), default=0)
    if needed > data_length and not any(_offset_problems(entries, needed)):
        yield (
            f"cut short, as a download that broke off leaves it: its tensors take {needed:,} bytes,"
            f" of which {data_length:,} are there"
        )
        return
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
    elements = product_within(shape)
    return None if elements is None else elements * BITS[dtype]
