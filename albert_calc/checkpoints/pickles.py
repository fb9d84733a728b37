"""The pickle inside a file of ``torch.save``: interpreted, never executed.

A pickle is a program for a small stack machine. Here its opcodes are walked with the
standard library's ``pickletools`` and followed on plain values. No module is imported, no
object made and no function called: the few names that tensors consist of have a meaning of
their own in this module, and any other name is refused.

The opcodes are those of Python's ``pickletools``; how tensors are written is that of
PyTorch 2.13 (``torch/_utils.py``) and of the versions before it.
"""

import pickletools
import warnings
from collections.abc import Callable, Iterator, Mapping
from io import BytesIO
from typing import Any, NamedTuple

from albert_calc.checkpoints.stored import (
    LARGEST_SIZE,
    LONGEST_NAME,
    MOST_DIMENSIONS,
    MOST_STEPS,
    Limits,
    product_within,
)
from albert_calc.errors import CheckpointError
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
_STEPS_OF_A_NAME = 4


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


class Result(NamedTuple):
    """What a pickle says: its value, and the storages that it names, by their keys."""

    value: Any
    storages: Mapping[str, Storage]


class _Name(NamedTuple):
    """A name that a pickle refers to, such as ``torch.FloatStorage``; nothing is behind it."""

    name: str


class _Unfit(Exception):  # noqa: N818 - never leaves this module
    """What a pickle asks for that no tensor needs, or that makes no sense."""


def interpret(pickle: BytesIO, name: str, limits: Limits) -> Result:
    """What *pickle* says, read up to its end: plain values, and tensors as ``Pickled``.

    *name* stands in the messages of ``CheckpointError``, raised for a pickle that names
    anything else than tensors consist of, that is damaged, or that takes more steps than are
    left in *limits*.
    """
    machine = _Machine(limits)
    try:
        for opcode, argument in _opcodes(pickle):
            machine.spend(1)
            if opcode.name == "STOP":
                return Result(machine.result(), machine.storages)
            follow = _OPCODES.get(opcode.name)
            if follow is None:
                raise _Unfit(f"has the opcode {opcode.name}, which no tensor needs")
            follow(machine, argument)
    except _Unfit as error:
        raise CheckpointError(f"{name}: refused: the pickle {error}; nothing was run") from None
    except (IndexError, KeyError, ValueError, OverflowError):
        pass
    raise CheckpointError(f"{name}: the pickle is damaged or truncated")


def _opcodes(pickle: BytesIO) -> Iterator[tuple[pickletools.OpcodeInfo, Any]]:
    with warnings.catch_warnings():
        # Of escapes in names that no real pickle has.
        warnings.simplefilter("ignore", DeprecationWarning)
        for opcode, argument, _ in pickletools.genops(pickle):
            yield opcode, argument


class _Machine:
    """The stack and the memo of a pickle, and the storages that it has named."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.stack: list[Any] = []
        self.below: list[list[Any]] = []
        self.memo: dict[int, Any] = {}
        self.storages: dict[str, Storage] = {}

    def result(self) -> Any:
        """The value at the end, when nothing else is left."""
        (value,) = self.stack
        return value

    def spend(self, steps: int) -> None:
        """Refuse to go on after too many steps."""
        self.limits.steps -= steps
        if self.limits.steps < 0:
            raise _Unfit(f"takes more than {MOST_STEPS:,} steps")

    def since_mark(self) -> list[Any]:
        """What was pushed since the last mark, which goes too."""
        values = self.stack
        self.stack = self.below.pop()
        return values

    def push(self, value: Any) -> None:
        """Put *value* on the stack."""
        self.stack.append(value)


def _mark(machine: _Machine, _: Any) -> None:
    machine.below.append(machine.stack)
    machine.stack = []


def _put(machine: _Machine, index: int) -> None:
    machine.memo[index] = machine.stack[-1]


def _memoize(machine: _Machine, _: Any) -> None:
    machine.memo[len(machine.memo)] = machine.stack[-1]


def _get(machine: _Machine, index: int) -> None:
    machine.push(machine.memo[index])


def _tuple_of(count: int) -> Callable[[_Machine, Any], None]:
    def follow(machine: _Machine, _: Any) -> None:
        if len(machine.stack) < count:
            raise IndexError
        machine.stack[-count:] = [tuple(machine.stack[-count:])]

    return follow


def _append(machine: _Machine, values: list[Any]) -> None:
    target = machine.stack[-1]
    if not isinstance(target, list):
        raise ValueError
    target += values


def _set(machine: _Machine, values: list[Any]) -> None:
    target = machine.stack[-1]
    if not isinstance(target, dict) or len(values) % 2:
        raise ValueError
    target.update(_pairs(values[::2], values[1::2]))


def _pairs(keys: list[Any], values: list[Any]) -> dict[Any, Any]:
    if not all(map(_is_key, keys)):
        raise _Unfit("has a dictionary whose keys are neither names nor numbers")
    return dict(zip(keys, values, strict=True))


def _is_key(value: object) -> bool:
    """Whether *value* may be a key: the hash of tuples of tuples, say, could take for ever."""
    if isinstance(value, str):
        return len(value) <= LONGEST_NAME
    return value is None or isinstance(value, float) or _is_size(value)


def _dictionary(machine: _Machine, _: Any) -> None:
    values = machine.since_mark()
    machine.push({})
    _set(machine, values)


def _global(machine: _Machine, argument: str) -> None:
    # Names are slow to read, and a pickle has few.
    machine.spend(_STEPS_OF_A_NAME)
    module, _, name = argument.partition(" ")
    machine.push(_known(module, name))


def _stack_global(machine: _Machine, _: Any) -> None:
    name, module = machine.stack.pop(), machine.stack.pop()
    if not isinstance(name, str) or not isinstance(module, str):
        raise ValueError
    machine.push(_known(module, name))


def _known(module: str, name: str) -> _Name:
    full = f"{module}.{name}"
    if full not in _NAMES:
        raise _Unfit(f"names {printable(full, 100)}, of which no tensor is made")
    return _Name(full)


def _persistent(machine: _Machine, _: Any) -> None:
    """A storage, which a pickle names by where its numbers are kept."""
    place = machine.stack.pop()
    # Old files add which part of a storage is meant.
    if not isinstance(place, tuple) or len(place) not in (5, 6) or place[0] != "storage":
        raise _Unfit("names something beside it that is no storage of numbers")
    _, kind, key, _, elements = place[:5]
    dtype = _storage_dtype(kind)
    if not isinstance(key, str) or len(key) > _LONGEST_KEY or not _is_size(elements):
        raise ValueError
    storage = Storage(key, dtype, elements * (BYTES[dtype] if dtype else 1))
    if machine.storages.setdefault(key, storage) != storage:
        raise _Unfit(f"gives the storage {printable(key)} two sizes")
    machine.push(storage)


def _storage_dtype(kind: object) -> str:
    if not isinstance(kind, _Name):
        raise ValueError
    if kind.name == _BYTES_ONLY:
        return ""
    return _STORAGES[kind.name.removeprefix("torch.")]


def _reduce(machine: _Machine, _: Any) -> None:
    """A call: of one of the names that tensors consist of, by what it means here."""
    arguments, called = machine.stack.pop(), machine.stack.pop()
    if not isinstance(called, _Name) or not isinstance(arguments, tuple):
        raise ValueError
    if called.name not in _CALLS:
        raise _Unfit(f"calls {called.name}, which is no function that makes a tensor")
    machine.spend(len(arguments) + (len(arguments[0]) if _is_list(arguments) else 0))
    machine.push(_CALLS[called.name](arguments))


def _build(machine: _Machine, _: Any) -> None:
    """Attributes of an object, such as the versions of a state dict: of no interest here."""
    machine.stack.pop()
    if not isinstance(machine.stack[-1], dict):
        raise _Unfit("gives attributes to something other than a dictionary")


def _is_list(arguments: tuple[Any, ...]) -> bool:
    return bool(arguments) and isinstance(arguments[0], list | tuple)


def _ordered(arguments: tuple[Any, ...]) -> dict[Any, Any]:
    """An ordered dictionary: empty, or, as Python 2 wrote it, of a list of pairs."""
    if not arguments:
        return {}
    (pairs,) = arguments
    if not _is_list(arguments) or not all(_is_list((p,)) and len(p) == 2 for p in pairs):
        raise ValueError
    return _pairs([k for k, _ in pairs], [v for _, v in pairs])


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
        raise _Unfit("has a tensor that leaves its storage")
    return Pickled(dtype, shape, storage, offset)


def _tensor_of_dtype(arguments: tuple[Any, ...]) -> Pickled:
    """A tensor in a storage without a dtype: its own is the seventh argument."""
    dtype = arguments[6]
    if not isinstance(dtype, _Name):
        raise ValueError
    return _tensor(arguments, _DTYPES[dtype.name.removeprefix("torch.")])


def _first(arguments: tuple[Any, ...]) -> Any:
    return arguments[0]


def _is_size(value: object) -> bool:
    return type(value) is int and 0 <= value <= LARGEST_SIZE


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


def _nothing(machine: _Machine, _: Any) -> None:
    """An opcode that says how the pickle is written."""


_VALUES = (
    "INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4", "FLOAT", "BINFLOAT",
    "STRING", "BINSTRING", "SHORT_BINSTRING", "BINBYTES", "SHORT_BINBYTES", "BINBYTES8",
    "UNICODE", "SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8",
)  # fmt: skip

_OPCODES: Mapping[str, Callable[[_Machine, Any], object]] = {
    **dict.fromkeys(_VALUES, _Machine.push),
    "NONE": lambda m, _: m.push(None),
    "NEWTRUE": lambda m, _: m.push(True),
    "NEWFALSE": lambda m, _: m.push(False),
    "PROTO": _nothing,
    "FRAME": _nothing,
    "EMPTY_LIST": lambda m, _: m.push([]),
    "EMPTY_DICT": lambda m, _: m.push({}),
    "EMPTY_TUPLE": lambda m, _: m.push(()),
    "LIST": lambda m, _: m.push(m.since_mark()),
    "DICT": _dictionary,
    "TUPLE": lambda m, _: m.push(tuple(m.since_mark())),
    "TUPLE1": _tuple_of(1),
    "TUPLE2": _tuple_of(2),
    "TUPLE3": _tuple_of(3),
    "APPEND": lambda m, _: _append(m, [m.stack.pop()]),
    "APPENDS": lambda m, _: _append(m, m.since_mark()),
    "SETITEM": lambda m, _: _set(m, [m.stack.pop(-2), m.stack.pop()]),
    "SETITEMS": lambda m, _: _set(m, m.since_mark()),
    "MARK": _mark,
    "POP": lambda m, _: m.stack.pop(),
    "POP_MARK": lambda m, _: m.since_mark(),
    "DUP": lambda m, _: m.push(m.stack[-1]),
    "PUT": _put,
    "BINPUT": _put,
    "LONG_BINPUT": _put,
    "MEMOIZE": _memoize,
    "GET": _get,
    "BINGET": _get,
    "LONG_BINGET": _get,
    "GLOBAL": _global,
    "INST": _global,
    "STACK_GLOBAL": _stack_global,
    "BINPERSID": _persistent,
    "REDUCE": _reduce,
    "BUILD": _build,
}
"""What each opcode does to the stack. Those that are not here make objects of classes."""
