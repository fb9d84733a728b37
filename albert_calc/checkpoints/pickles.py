"""The pickle inside a file of ``torch.save``: interpreted, never executed.

A pickle is a program for a small stack machine. Here its opcodes are walked with the
standard library's ``pickletools`` and followed on plain values. No module is imported, no
object made and no function called: see ``torch_objects`` for the few names that mean
anything, and what they mean.
"""

import pickletools
import warnings
from collections.abc import Callable, Iterator, Mapping
from io import BytesIO
from typing import Any, NamedTuple

from albert_calc.checkpoints.stored import MOST_STEPS, Limits
from albert_calc.checkpoints.torch_objects import (
    Storage,
    Unfit,
    called,
    dictionary,
    name_of,
    storage_of,
)
from albert_calc.errors import CheckpointError
from albert_calc.writing.harmless import printable

# Names are slow to read, and a pickle has few.
_STEPS_OF_A_NAME = 4


class Result(NamedTuple):
    """What a pickle says: its value, and the storages that it names, by their keys."""

    value: Any
    storages: Mapping[str, Storage]


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
            if opcode == "STOP":
                return Result(machine.result(), machine.storages)
            follow = _OPCODES.get(opcode)
            if follow is None:
                raise Unfit(f"has the opcode {opcode}, which no tensor needs")
            follow(machine, argument)
    except Unfit as error:
        raise CheckpointError(f"{name}: refused: the pickle {error}; nothing was run") from None
    except (IndexError, KeyError, ValueError, OverflowError):
        pass
    raise CheckpointError(f"{name}: the pickle is damaged or truncated")


def _opcodes(pickle: BytesIO) -> Iterator[tuple[str, Any]]:
    with warnings.catch_warnings():
        # Of escapes in names that no real pickle has.
        warnings.simplefilter("ignore", DeprecationWarning)
        for opcode, argument, _ in pickletools.genops(pickle):
            yield opcode.name, argument


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
            raise Unfit(f"takes more than {MOST_STEPS:,} steps")

    def push(self, value: Any) -> None:
        """Put *value* on the stack."""
        self.stack.append(value)

    def mark(self) -> None:
        """Begin a new stack over this one."""
        self.below.append(self.stack)
        self.stack = []

    def since_mark(self) -> list[Any]:
        """What was pushed since the last mark, which goes too."""
        values, self.stack = self.stack, self.below.pop()
        return values


def _put(machine: _Machine, index: int) -> None:
    machine.memo[index] = machine.stack[-1]


def _get(machine: _Machine, index: int) -> None:
    machine.push(machine.memo[index])


def _tuple_of(size: int) -> Callable[[_Machine, Any], None]:
    def follow(machine: _Machine, _: Any) -> None:
        if len(machine.stack) < size:
            raise IndexError
        machine.stack[-size:] = [tuple(machine.stack[-size:])]

    return follow


def _append(machine: _Machine, values: list[Any]) -> None:
    target = machine.stack[-1]
    if not isinstance(target, list):
        raise ValueError
    target += values


def _set(machine: _Machine, values: list[Any]) -> None:
    target = machine.stack[-1]
    if not isinstance(target, dict):
        raise ValueError
    target.update(dictionary(values[::2], values[1::2]))


def _dictionary(machine: _Machine, _: Any) -> None:
    values = machine.since_mark()
    machine.push(dictionary(values[::2], values[1::2]))


def _global(machine: _Machine, argument: str) -> None:
    machine.spend(_STEPS_OF_A_NAME)
    module, _, name = argument.partition(" ")
    machine.push(name_of(module, name))


def _stack_global(machine: _Machine, _: Any) -> None:
    name, module = machine.stack.pop(), machine.stack.pop()
    if not isinstance(name, str) or not isinstance(module, str):
        raise ValueError
    machine.push(name_of(module, name))


def _persistent(machine: _Machine, _: Any) -> None:
    storage = storage_of(machine.stack.pop())
    if machine.storages.setdefault(storage.key, storage) != storage:
        raise Unfit(f"gives the storage {printable(storage.key)} two sizes")
    machine.push(storage)


def _reduce(machine: _Machine, _: Any) -> None:
    arguments, function = machine.stack.pop(), machine.stack.pop()
    # A list that was put aside could be gone through again and again.
    if isinstance(arguments, tuple) and arguments and isinstance(arguments[0], list | tuple):
        machine.spend(len(arguments[0]))
    machine.push(called(function, arguments))


def _build(machine: _Machine, _: Any) -> None:
    """Attributes of an object, such as the versions of a state dict: of no interest here."""
    machine.stack.pop()
    if not isinstance(machine.stack[-1], dict):
        raise Unfit("gives attributes to something other than a dictionary")


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
    "MARK": lambda m, _: m.mark(),
    "POP": lambda m, _: m.stack.pop(),
    "POP_MARK": lambda m, _: m.since_mark(),
    "DUP": lambda m, _: m.push(m.stack[-1]),
    "PUT": _put,
    "BINPUT": _put,
    "LONG_BINPUT": _put,
    "MEMOIZE": lambda m, _: _put(m, len(m.memo)),
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
