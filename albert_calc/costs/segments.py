"""The forward pass of a whole model: embeddings, equal runs of layers put together, the head."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

from albert_calc.algebra import Polynomial, minus, times
from albert_calc.costs.forward import (
    Circumstances,
    Node,
    Stored,
    embedding_nodes,
    layer_nodes,
    top_nodes,
)
from albert_calc.costs.order import Order, order_of
from albert_calc.costs.trainable import layer_runs
from albert_calc.costs.workload import Workload
from albert_calc.counting.tensors import executed_layers

_ONCE = times(1)
_ALONE = Order(1, 1)


@dataclass(frozen=True, eq=False)
class Segment:
    """Equal parts of a forward pass, one after another: their nodes, and how many.

    ``order`` is that of all layers like these, of whose runs the first here is ``first``.
    """

    part: str
    nodes: tuple[Node, ...]
    runs: Polynomial = _ONCE
    first: int = 0
    order: Order = _ALONE

    @property
    def output(self) -> Stored:
        """What the last of the nodes makes."""
        return self.nodes[-1].output

    @cached_property
    def kept(self) -> tuple[Stored, ...]:
        """The tensors that autograd keeps of one run, each once."""
        return tuple(dict.fromkeys(tensor for node in self.nodes for tensor in node.kept))


def segments(case: Circumstances, values: Mapping[str, int]) -> tuple[Segment, ...]:
    """The forward pass of *case* from below.

    Below the first tensor that is trained nothing is kept; the first layer that trains one
    keeps less than those after it, to which a gradient goes through.
    """
    return _segments(case, order_of(case.variant, values))


@lru_cache(maxsize=64)
def _segments(case: Circumstances, whole: Order) -> tuple[Segment, ...]:
    """The forward pass of *case* whose layers run in the order *whole*.

    Kept, since a sweep asks for it at every batch.
    """
    nodes, hidden = embedding_nodes(case)
    found = [Segment("embeddings", nodes)]
    for runs, layer, order in _layer_kinds(case, whole):
        if not order.runs:
            continue
        nodes, after = layer_nodes(case, hidden, layer)
        first = 0
        if after.grad != hidden.grad:
            found.append(Segment("layers", nodes, times(1), 0, order))
            runs, first = minus(runs, 1), 1
            nodes, after = layer_nodes(case, after, layer)
        if order.runs > first:
            found.append(Segment("layers", nodes, runs, first, order))
        hidden = after
    return (*found, Segment("top", top_nodes(case, hidden)))


def held_by(segment: Segment, workload: Workload) -> tuple[Stored, ...]:
    """The tensors that one run of *segment* holds until its backward pass.

    A layer under checkpointing holds its input alone, from which it is run again.
    """
    if not workload.checkpointing or segment.part != "layers":
        return segment.kept
    return segment.nodes[0].inputs[:1] if segment.output.grad else ()


def _layer_kinds(case: Circumstances, order: Order) -> Iterator[tuple[Polynomial, int, Order]]:
    """The runs of layers like each other, in symbols, an example of them, and their order."""
    trained = case.trained
    if not trained.frozen_layers:
        yield times(*executed_layers(case.variant)), 0, order
        return
    split = layer_runs(order, trained)
    frozen = sum(
        max(0, min(last, order.stored - 1) - first + 1) for first, last in trained.frozen_layers
    )
    yield times(split.below), split.frozen_layer, Order(split.below, split.below)
    of_trained = Order(split.trained, order.stored - frozen)
    yield times(split.trained), split.trained_layer, of_trained
    yield times(split.above), split.frozen_layer, Order(split.above, split.above)
