"""Following the tensors that are alive through a backward pass, or a pass without one.

What autograd does with gradients was read off ``torch.distributed._tools.mem_tracker``,
operation by operation: it keeps a tensor until the backward pass of the last step that keeps
it; it hands a gradient on where a step only adds; a second gradient of a tensor or of shared
weights waits beside the first until their sum is made.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from albert_calc.costs.forward import Node, Stored
from albert_calc.families.base import Tensor

Size = Callable[[Stored | Tensor], int]
"""The bytes of a tensor at a batch."""

PASSED_ON = ("add", "merge")
"""Kinds of steps whose backward pass hands the gradient on as it is."""

LOSSES = ("cross entropy", "mean squared error", "binary cross entropy")


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
    """What a way through some nodes took: the most bytes at once, and those left after it.

    Both are above what was in use before the nodes' forward pass. ``waiting`` are the
    gradients of tensors from below.
    """

    highest: int
    left: int
    waiting: Mapping[Stored, int]


def way_back(
    nodes: Sequence[Node], arriving: Mapping[Stored, int], there: set[str], size: Size
) -> Way:
    """The backward pass of *nodes*, with the gradients *arriving* of tensors that they make.

    *there* are the weights that have a gradient already; those of *nodes* are added to them.
    """
    memory = Memory()
    for node in nodes:
        for tensor in node.kept:
            memory.hold(tensor, size(tensor))
    waiting = {tensor: Gradient(bytes) for tensor, bytes in arriving.items()}
    for gradient in waiting.values():
        memory.hold(gradient, gradient.bytes)
    for node in reversed(nodes):
        came = waiting.pop(node.output, None)
        if came is None:
            continue
        wanted = [t for t in dict.fromkeys(node.inputs) if t.grad]
        memory.reach(_temporaries(node, size))
        made = [(t, came if _passes(node, t, size) else Gradient(size(t))) for t in wanted]
        for _, gradient in made:
            memory.hold(gradient, gradient.bytes)
        for weight in node.trained:
            if weight.name not in there:
                memory.hold(weight, size(weight))
        for tensor in node.kept:
            memory.drop(tensor, size(tensor))
        memory.drop(came, came.bytes)
        for weight in node.trained:
            if weight.name in there:
                memory.reach(2 * size(weight))
            there.add(weight.name)
        for tensor, gradient in made:
            waiting[tensor] = _sum(gradient, waiting.get(tensor), memory)
    return Way(memory.highest, memory.bytes, {t: g.bytes for t, g in waiting.items()})


def _temporaries(node: Node, size: Size) -> int:
    """The bytes that the backward pass of *node* makes at once, if more than its gradients."""
    if node.step.kind == "function":
        return node.function.backward * size(node.output)
    if node.step.kind == "cross entropy":
        # The gradient of the log-probabilities, and then that of the logits.
        return 2 * size(node.inputs[0])
    return 0


def _passes(node: Node, tensor: Stored, size: Size) -> bool:
    """Whether the gradient of *tensor* is the one that came to *node*, stored once."""
    return node.step.kind in PASSED_ON and size(tensor) == size(node.output)


def _sum(gradient: Gradient, other: Gradient | None, memory: Memory) -> Gradient:
    """Both gradients of a tensor added up: for a moment all three are there."""
    if other is None:
        return gradient
    total = Gradient(gradient.bytes)
    memory.hold(total, total.bytes)
    memory.drop(gradient, gradient.bytes)
    memory.drop(other, other.bytes)
    return total
