"""Following the tensors that are alive through a backward pass, or through a forward pass alone.

What autograd does with gradients was read off ``torch.distributed._tools.mem_tracker``,
operation by operation: it keeps a tensor until the backward pass of the last step that keeps
it; it hands a gradient on where a step only adds; a second gradient of a tensor or of shared
weights waits beside the first until their sum is made.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

from albert_calc.costs.forward import Node, Stored
from albert_calc.costs.memory import WIDTHS
from albert_calc.families.base import Tensor

Size = Callable[[Stored | Tensor], int]
"""The bytes of a tensor at a batch."""

_PASSED_ON = ("add", "merge")
"""Kinds of steps whose backward pass hands the gradient on as it is."""


_COPYING = ("scores", "mix")
"""Kinds of steps that copy query, key or value, head by head."""

_PROJECTED = ("query", "key", "value")
"""What attention reads."""

_ATTENDED = ("merge", "fused attention")
"""Kinds of steps with which attention is done."""


class Gradient:
    """A gradient that waits; it may wait for several tensors at once."""

    def __init__(self, bytes: int) -> None:
        self.bytes = bytes


class Memory:
    """Bytes in use, and the most that were in use at once.

    A thing that several hold counts once, until the last of them drops it.
    """

    def __init__(self) -> None:
        self.bytes = 0
        self.highest = 0
        self._holders: Counter[object] = Counter()

    def hold(self, thing: object, bytes: int) -> None:
        """Hold *thing*, which has *bytes*, once more."""
        if not self._holders[thing]:
            self.reach(bytes)
            self.bytes += bytes
        self._holders[thing] += 1

    def drop(self, thing: object, bytes: int) -> None:
        """Hold *thing* once less."""
        self._holders[thing] -= 1
        if not self._holders[thing]:
            self.bytes -= bytes

    def reach(self, more: int) -> None:
        """Have *more* bytes for a moment."""
        self.highest = max(self.highest, self.bytes + more)


class Way(NamedTuple):
    """What a backward pass through some nodes took: the most bytes at once, and what is left.

    Both are above what was in use before the forward pass of these nodes. ``gradients`` are
    the bytes of those of weights, ``waiting`` has those of tensors from below.
    """

    highest: int
    gradients: int
    waiting: Mapping[Stored, int]


def way_back(
    nodes: Sequence[Node],
    arriving: Mapping[Stored, int],
    size: Size,
    there: Collection[str] = (),
    passing: Collection[str] = (),
) -> Way:
    """The backward pass of *nodes*, with the gradients *arriving* of tensors that they make.

    *there* are weights that have a gradient already, to which another is added; *passing* are
    those whose gradient is added to one of an earlier batch at once, so that it does not stay.
    """
    memory, known = Memory(), set(there)
    for node in nodes:
        for tensor in node.kept:
            memory.hold(tensor, size(tensor))
    waiting = {tensor: Gradient(amount) for tensor, amount in arriving.items()}
    for gradient in waiting.values():
        memory.hold(gradient, gradient.bytes)
    for node in reversed(nodes):
        came = waiting.pop(node.output, None)
        if came is None:
            continue
        memory.reach(_temporaries(node, size))
        wanted = [t for t in dict.fromkeys(node.inputs) if t.grad]
        made = [(t, came if _passes_on(node, t, size) else Gradient(size(t))) for t in wanted]
        for _, gradient in made:
            memory.hold(gradient, gradient.bytes)
        for weight in node.trained:
            if weight.name not in known:
                memory.hold(weight.name, size(weight))
        for tensor in node.kept:
            memory.drop(tensor, size(tensor))
        memory.drop(came, came.bytes)
        for weight in node.trained:
            if weight.name in known:
                memory.reach(2 * size(weight))
            elif weight.name in passing:
                memory.drop(weight.name, size(weight))
            else:
                known.add(weight.name)
        for tensor, gradient in made:
            waiting[tensor] = _sum(gradient, waiting.get(tensor), memory)
    left = {tensor: gradient.bytes for tensor, gradient in waiting.items()}
    return Way(memory.highest, memory.bytes - sum(left.values()), left)


def way_up(nodes: Sequence[Node], size: Size, *, keeping: bool = False) -> int:
    """The most bytes at once in a forward pass of *nodes*, above what was there before.

    With *keeping*, what autograd keeps stays.
    """
    memory = Memory()
    ends = _held_until(nodes)
    for i, node in enumerate(nodes):
        memory.reach(_in_passing(node, size))
        memory.hold(node.output, size(node.output))
        for tensor in node.kept if keeping else ():
            copied = node.step.kind in _COPYING and tensor.name in _PROJECTED
            memory.hold(("copy", tensor) if copied else tensor, size(tensor))
        for tensor in (t for t, end in ends.items() if end == i):
            memory.drop(tensor, size(tensor))
    return memory.highest


def _held_until(nodes: Sequence[Node]) -> dict[Stored, int]:
    """The place of the step after which each tensor that *nodes* make and read is let go.

    That is the last step that reads it, or where the function of transformers ends that holds
    it: query, key and value until attention is done, its probabilities until the end, what a
    dense layer reads, and the first of what is added, until the next norm.
    """
    made = {node.output for node in nodes}
    ends = {t: i for i, node in enumerate(nodes) for t in node.inputs if t in made}
    attended = _next(nodes, 0, _ATTENDED)
    for i, node in enumerate(nodes):
        held = node.inputs[0] if node.inputs else None
        if held in ends and node.step.kind == "mix":
            ends[held] = len(nodes) - 1
        elif held in ends and node.step.kind in ("linear", "add"):
            ends[held] = max(ends[held], _next(nodes, i, ("norm",)))
        if node.output.name in _PROJECTED and node.output in ends:
            ends[node.output] = max(ends[node.output], attended)
    return ends


def _next(nodes: Sequence[Node], start: int, kinds: Collection[str]) -> int:
    """The place of the first of *nodes* from *start* on that is of *kinds*, or *start*."""
    places = (i for i in range(start, len(nodes)) if nodes[i].step.kind in kinds)
    return next(places, start)


def _in_passing(node: Node, size: Size) -> int:
    """The bytes that the forward pass of *node* makes at once, its output included."""
    made = size(node.output)
    if node.step.kind == "function":
        return node.function.forward * made
    if node.step.kind in _COPYING:
        return made + sum(size(t) for t in node.inputs if t.name in _PROJECTED)
    return made


def _temporaries(node: Node, size: Size) -> int:
    """The bytes that the backward pass of *node* makes at once, if more than its gradients."""
    if node.step.kind == "function":
        elements = size(node.output) // WIDTHS[node.output.dtype]
        return node.function.backward * size(node.output) + node.function.masks * elements
    if node.step.kind == "cross entropy":
        # The gradient of the log-probabilities, and then that of the logits.
        return 2 * size(node.inputs[0])
    return 0


def _passes_on(node: Node, tensor: Stored, size: Size) -> bool:
    """Whether the gradient of *tensor* is the one that came to *node*, stored once."""
    return node.step.kind in _PASSED_ON and size(tensor) == size(node.output)


def _sum(gradient: Gradient, other: Gradient | None, memory: Memory) -> Gradient:
    """Both gradients of a tensor added up: for a moment all three are there."""
    if other is None:
        return gradient
    total = Gradient(gradient.bytes)
    memory.hold(total, total.bytes)
    memory.drop(gradient, gradient.bytes)
    memory.drop(other, other.bytes)
    return total
