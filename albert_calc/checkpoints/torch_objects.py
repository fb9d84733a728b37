"""What a pickle of PyTorch refers to by name: dtypes, storages, and how a tensor is put together.

Nothing of it is imported. Each name that tensors consist of has a meaning here, and any other
is refused. How tensors are written is that of PyTorch 2.13 (``torch/_utils.py``,
``torch/serialization.py``) and of the versions before it.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from albert_calc.checkpoints.stored import (
    LARGEST_SIZE,
    LONGEST_NAME,
    MOST_DIMENSIONS,
    product_within,
)
from albert_calc.writing.harmless import printable

BYTES: Mapping[str, int] = {
    "BOOL": 1, "U8": 1, "I8": 1, "F8_E4M3": 1, "F8_E5M2": 1, "F8_E4M3FNUZ": 1,
    "F8_E5M2FNUZ": 1, "F8_E8M0": 1, "I16": 2, "U16": 2, "F16": 2, "BF16": 2, "I32": 4,
    "U32": 4, "F32": 4, "I64": 8, "U64": 8, "F64": 8, "C64": 8, "C128": 16,
}  # fmt: skip
"""The bytes of one number of each dtype, by the names that safetensors uses."""

_DTYPES: Mapping[str, str] = {
    "bool": "BOOL", "uint8": "U8", "int8": "I8", "int16": "I16", "short": "I16",
    "uint16": "U16", "int32": "I32", "int": "I32", "uint32": "U32", "int64": "I64",
    "long": "I64", "uint64": "U64", "float16": "F16", "half": "F16", "bfloat16": "BF16",
    "float32": "F32", "float": "F32", "float64": "F64", "double": "F64",
    "complex64": "C64", "complex128": "C128", "float8_e4m3fn": "F8_E4M3",
    "float8_e5m2": "F8_E5M2", "float8_e4m3fnuz": "F8_E4M3FNUZ",
    "float8_e5m2fnuz": "F8_E5M2FNUZ", "float8_e8m0fnu": "F8_E8M0",
}  # fmt: skip

_STORAGES: Mapping[str, str] = {
    "BoolStorage": "BOOL", "ByteStorage": "U8", "CharStorage": "I8", "ShortStorage": "I16",
    "IntStorage": "I32", "LongStorage": "I64", "HalfStorage": "F16", "BFloat16Storage": "BF16",
    "FloatStorage": "F32", "DoubleStorage": "F64", "ComplexFloatStorage": "C64",
    "ComplexDoubleStorage": "C128",
}  # fmt: skip

_BYTES_ONLY = "torch.storage.UntypedStorage"
_LONGEST_KEY = 100


class Unfit(Exception):  # noqa: N818 - it is turned into an error where a pickle is read
    """What a pickle asks for that no tensor needs."""


class Name(NamedTuple):
    """A name that a pickle refers to, such as ``torch.FloatStorage``; nothing is behind it."""

    name: str


class Storage(NamedTuple):
    """A run of numbers beside the pickle: under which key, and how many bytes long.

    ``dtype`` is empty where only the tensors that lie in it have one.
    """

    key: str
    dtype: str
    length: int


class Pickled(NamedTuple):
    """A tensor of a pickle: what it holds, and where its numbers lie."""

    dtype: str
    shape: tuple[int, ...]
    storage: Storage
    offset: int


def name_of(module: str, name: str) -> Name:
    """The name *name* of *module*; ``Unfit`` if tensors do not consist of it."""
    full = f"{module}.{name}"
    if full not in _NAMES:
        whole = full.startswith(("transformers.", "torch.nn.", "peft."))
        hint = "; torch.save(model.state_dict(), FILE) leaves out all but tensors" if whole else ""
        raise Unfit(f"names {printable(full, 100)}, of which no tensor is made{hint}")
    return Name(full)


def called(function: Any, arguments: Any) -> Any:
    """What the call of a name comes to: a plain value, or a tensor.

    ``Unfit`` if it is no function that makes a tensor, ``ValueError`` if its arguments make
    no sense.
    """
    if not isinstance(function, Name) or not isinstance(arguments, tuple):
        raise ValueError
    if function.name not in _CALLS:
        raise Unfit(f"calls {function.name}, which is no function that makes a tensor")
    return _CALLS[function.name](arguments)


def storage_of(place: Any) -> Storage:
    """The storage that a pickle names by where its numbers are kept."""
    # Old files add which part of a storage is meant.
    if not isinstance(place, tuple) or len(place) not in (5, 6) or place[0] != "storage":
        raise Unfit("names something beside it that is no storage of numbers")
    _, kind, key, _, elements = place[:5]
    if not isinstance(kind, Name) or not isinstance(key, str) or not _is_size(elements):
        raise ValueError
    dtype = "" if kind.name == _BYTES_ONLY else _STORAGES[kind.name.removeprefix("torch.")]
    if len(key) > _LONGEST_KEY:
        raise ValueError
    return Storage(key, dtype, elements * (BYTES[dtype] if dtype else 1))


def dictionary(keys: list[Any], values: list[Any]) -> dict[Any, Any]:
    """The *values* by their *keys*; ``Unfit`` for keys that are neither names nor numbers."""
    if not all(map(_is_key, keys)):
        raise Unfit("has a dictionary whose keys are neither names nor numbers")
    return dict(zip(keys, values, strict=True))


def _is_key(value: object) -> bool:
    """Whether *value* may be a key: the hash of tuples of tuples, say, could take for ever."""
    if isinstance(value, str):
        return len(value) <= LONGEST_NAME
    return value is None or isinstance(value, float) or _is_size(value)


def _is_size(value: object) -> bool:
    return type(value) is int and 0 <= value <= LARGEST_SIZE


def _ordered(arguments: tuple[Any, ...]) -> dict[Any, Any]:
    """An ordered dictionary: empty, or, as Python 2 wrote it, of a list of pairs."""
    if not arguments:
        return {}
    (pairs,) = arguments
    if not isinstance(pairs, list | tuple):
        raise ValueError
    if not all(isinstance(pair, list | tuple) and len(pair) == 2 for pair in pairs):
        raise ValueError
    return dictionary([key for key, _ in pairs], [value for _, value in pairs])


def _tensor(arguments: tuple[Any, ...], dtype: str = "") -> Pickled:
    storage, offset, shape, strides = arguments[:4]
    if not isinstance(storage, Storage) or not _is_size(offset):
        raise ValueError
    for sizes in (shape, strides):
        if not isinstance(sizes, tuple) or len(sizes) > MOST_DIMENSIONS:
            raise ValueError
        if len(sizes) != len(shape) or not all(map(_is_size, sizes)):
            raise ValueError
    dtype = dtype or storage.dtype
    elements = product_within(shape)
    if not dtype or elements is None:
        raise ValueError
    last = offset + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))
    held = storage.length // BYTES[dtype]
    if elements and (elements > held or last >= held):
        raise Unfit("has a tensor that leaves its storage")
    return Pickled(dtype, shape, storage, offset)


def _tensor_of_dtype(arguments: tuple[Any, ...]) -> Pickled:
    """A tensor in a storage without a dtype: its own is the seventh argument."""
    dtype = arguments[6]
    if not isinstance(dtype, Name):
        raise ValueError
    return _tensor(arguments, _DTYPES[dtype.name.removeprefix("torch.")])


def _first(arguments: tuple[Any, ...]) -> Any:
    return arguments[0]


_CALLS: Mapping[str, Callable[[tuple[Any, ...]], Any]] = {
    "collections.OrderedDict": _ordered,
    "torch._utils._rebuild_tensor": _tensor,
    "torch._utils._rebuild_tensor_v2": _tensor,
    "torch._utils._rebuild_tensor_v3": _tensor_of_dtype,
    "torch._utils._rebuild_parameter": _first,
    "torch._utils._rebuild_parameter_with_state": _first,
    "torch.Size": _first,
    "torch.device": _first,
}
"""What a call of each name means here: a plain value, or a tensor's shape."""

_NAMES: frozenset[str] = frozenset(
    {
        *_CALLS,
        _BYTES_ONLY,
        *(f"torch.{name}" for name in _STORAGES),
        *(f"torch.{name}" for name in _DTYPES),
    }
)
"""Every name that a pickle may refer to."""
