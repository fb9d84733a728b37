"""The most memory that a training step, or a forward pass alone, takes at once.

An estimate: the tensors that are alive are followed through the forward and the backward pass
of the embeddings, of a few runs of layers and of the head, and through the update. Left out
are the CUDA context, what the allocator holds beside what is used, and what kernels take for
themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from albert_calc.config.model_config import ModelConfig
from albert_calc.costs.activations import (
    Segment,
    batch_values,
    circumstances,
    kept_by,
    segments,
    unknown,
)
from albert_calc.costs.forward import Circumstances, Node, Stored
from albert_calc.costs.memory import WIDTHS
from albert_calc.costs.state import training_state
from albert_calc.costs.trainable import EVERYTHING
from albert_calc.costs.walk import Size, way_back, way_up
from albert_calc.costs.workload import Workload
from albert_calc.counting.tensors import Blueprint
from albert_calc.families.base import Tensor
from albert_calc.families.steps import LOSSES


class Moment(NamedTuple):
    """A moment of a step at which memory may be highest, and the bytes in use then.

    ``name`` says where the step is: in the ``forward`` pass, in the backward pass of the
    ``head``, of ``layers`` or of the ``embeddings``, or in the ``update``.
    """

    name: str
    bytes: int


def training_moments(
    config: ModelConfig, model: Blueprint, workload: Workload
) -> tuple[Moment, ...]:
    """The moments of a training step of *model*; none where its activations are unknown.

    The highest of them is the peak of the step. Gradients are set to ``None`` after each
    update, unless those of several batches are accumulated.
    """
    if unknown(config, model, workload):
        return ()
    state = training_state(model, workload)
    resident = state.bytes if workload.accumulate else state.without_gradients
    step = _step(circumstances(config, model, workload), model, workload)
    passes = (*_forward(step), *_backward(step))
    return (
        *(moment._replace(bytes=resident + moment.bytes) for moment in passes),
        Moment("update", state.bytes + state.temporaries),
    )


def inference_peak(config: ModelConfig, model: Blueprint, workload: Workload) -> int | None:
    """The most bytes in use in a forward pass of *model* without gradients and dropout.

    ``None`` where no table says what its steps are.
    """
    workload = workload._replace(labels=False, trained=EVERYTHING)
    if unknown(config, model, workload):
        return None
    case = circumstances(config, model, workload)
    kept = {c for c in case.conditions if "dropout" not in c}
    step = _step(case._replace(conditions=frozenset(kept)), model, workload)
    layers = step.layers[-1]
    embedded, hidden = step.size(step.below.output), step.size(layers.output)
    # What the embeddings made is held until all layers have run.
    inside = embedded + (hidden if layers.order.runs > 1 else 0)
    return training_state(model, workload).weights + max(
        way_up(step.below.nodes, step.size),
        inside + way_up(layers.nodes, step.size),
        hidden + way_up(step.top.nodes, step.size),
    )


class _Step(NamedTuple):
    """A training step: its forward pass from below, and the bytes of each tensor."""

    below: Segment
    layers: tuple[Segment, ...]
    top: Segment
    size: Size
    runs: tuple[int, ...]
    workload: Workload


def _step(case: Circumstances, model: Blueprint, workload: Workload) -> _Step:
    values = batch_values(model, workload)
    below, *layers, top = segments(case, values)
    runs = tuple(s.runs.evaluate(values) for s in layers)
    return _Step(below, tuple(layers), top, _sizer(values, case.dtype), runs, workload)


def _sizer(values: Mapping[str, int], dtype: str) -> Size:
    known: dict[Stored | Tensor, int] = {}

    def size(tensor: Stored | Tensor) -> int:
        if tensor not in known:
            width = WIDTHS[tensor.dtype if isinstance(tensor, Stored) else dtype]
            known[tensor] = width * tensor.elements.evaluate(values)
        return known[tensor]

    return size


def _held(segment: Segment, step: _Step) -> int:
    """The bytes that one run of *segment* holds until its backward pass."""
    if step.workload.checkpointing and segment.part == "layers":
        return step.size(segment.nodes[0].inputs[0])
    shared = segment.order.shares
    return sum(step.size(t) for t in kept_by(segment.nodes) if not (shared and t.copy_of))


def _copies(segment: Segment, step: _Step) -> int:
    """The bytes of copies of shared weights that autocast holds beside those of one layer."""
    if not segment.order.shares:
        return 0
    copies = sum(step.size(t) for t in kept_by(segment.nodes) if t.copy_of)
    return copies * (segment.order.stored - 1)


def _under(step: _Step, layers: int) -> int:
    """The bytes that the embeddings and the lowest *layers* segments hold."""
    held = (
        _held(segment, step) * runs + _copies(segment, step)
        for segment, runs in zip(step.layers[:layers], step.runs, strict=False)
    )
    return _held(step.below, step) + sum(held)


def _forward(step: _Step) -> Iterator[Moment]:
    """The moments of the last run of each segment's layers on the way up, and of the head."""
    keeping = not step.workload.checkpointing
    kept = {t for s in (step.below, *step.layers, step.top) for t in kept_by(s.nodes)}
    embedded = 0 if step.below.output in kept else step.size(step.below.output)
    for i, (segment, runs) in enumerate(zip(step.layers, step.runs, strict=True)):
        source = segment.nodes[0].inputs[0]
        hidden = 0 if source in kept and keeping else step.size(source)
        under = _under(step, i) + _held(segment, step) * (runs - 1) + _copies(segment, step)
        above = way_up(segment.nodes, step.size, keeping=keeping)
        yield Moment("forward", under + embedded + hidden + above)
    hidden = step.size(step.layers[-1].output)
    above = way_up(step.top.nodes, step.size, keeping=True)
    yield Moment("forward", _under(step, len(step.layers)) + hidden + above)


def _backward(step: _Step) -> Iterator[Moment]:
    """The moments on the way back."""
    size, accumulate = step.size, step.workload.accumulate
    tied = _weights(step.below.nodes) & _weights(step.top.nodes)
    ends, losses = _ends(step.top.nodes)
    ends = ends or [step.layers[-1].output]
    # Without a loss the outputs are summed while they are in use.
    shown = 0 if losses else sum(map(size, ends))
    passing = _weights(step.top.nodes) - tied if accumulate else ()
    way = way_back(step.top.nodes, {t: size(t) for t in losses or ends}, size, (), passing)
    yield Moment("head", _under(step, len(step.layers)) + shown + way.highest)
    gradients = way.gradients + shown
    for i in reversed(range(len(step.layers))):
        segment, order = step.layers[i], step.layers[i].order
        nodes, held = segment.nodes, _held(segment, step)
        under = _under(step, i) + _copies(segment, step)
        trained = [weight for node in nodes for weight in node.trained]
        size = _waiting_sizes(step) if order.shares else step.size
        arriving = {segment.output: sum(way.waiting.values())}
        if not arriving[segment.output]:
            return
        for run in order.telling():
            if not segment.first <= run < segment.first + step.runs[i]:
                continue
            there = _weights(nodes) if order.runs_again(run) else ()
            passing = _weights(nodes) if accumulate and not order.shares else ()
            waiting = order.beside(run) if accumulate else order.above(run)
            if accumulate and not order.shares:
                waiting = 0
            way = way_back(nodes, arriving, size, there, passing)
            below = under + held * (run - segment.first)
            yield Moment("layers", below + gradients + sum(map(size, trained)) * waiting + way.highest)
        if segment.first == 0 and not accumulate:
            gradients += sum(map(step.size, trained)) * order.stored
    waiting = sum(way.waiting.values())
    if waiting:
        there = tied
        passing = _weights(step.below.nodes) - tied if accumulate else ()
        way = way_back(step.below.nodes, {step.below.output: waiting}, step.size, there, passing)
        yield Moment("embeddings", gradients + way.highest)


def _waiting_sizes(step: _Step) -> Size:
    """The bytes of each tensor, gradients of shared matrices being as wide as autocast's casts.

    They wait in that dtype until they have come from all runs.
    """
    autocast = step.workload.autocast
    if autocast is None:
        return step.size

    def size(tensor: Stored | Tensor) -> int:
        if isinstance(tensor, Tensor) and tensor.kind != "vector":
            return step.size(tensor) * WIDTHS[autocast] // WIDTHS["float32"]
        return step.size(tensor)

    return size


def _weights(nodes: Sequence[Node]) -> set[str]:
    return {weight.name for node in nodes for weight in node.trained}


def _ends(nodes: Sequence[Node]) -> tuple[list[Stored], list[Stored]]:
    """The tensors that *nodes* make and none reads, and those among them that are losses."""
    read = {tensor for node in nodes for tensor in node.inputs}
    ends = [node for node in nodes if node.output not in read]
    losses = [node.output for node in ends if node.step.kind in LOSSES]
    return [node.output for node in ends], losses
