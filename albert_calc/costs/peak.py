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
from albert_calc.costs.circumstances import batch_values, circumstances, unknown
from albert_calc.costs.forward import Circumstances, Node, Stored
from albert_calc.costs.memory import WIDTHS
from albert_calc.costs.segments import Segment, held_by, segments
from albert_calc.costs.state import training_state
from albert_calc.costs.trained import EVERYTHING
from albert_calc.costs.walk import Size, Way, way_back, way_up
from albert_calc.costs.workload import Workload
from albert_calc.counting.tensors import Blueprint
from albert_calc.families.base import Tensor
from albert_calc.passes.steps import LOSSES


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


def training_peak(config: ModelConfig, model: Blueprint, workload: Workload) -> int | None:
    """The most bytes in use at once in a training step of *model*; ``None`` if unknown."""
    moments = training_moments(config, model, workload)
    return max((moment.bytes for moment in moments), default=None)


def inference_peak(config: ModelConfig, model: Blueprint, workload: Workload) -> int | None:
    """The most bytes in use in a forward pass of *model* without gradients and dropout.

    ``None`` where no table says what its steps are.
    """
    workload = workload._replace(labels=False, trained=EVERYTHING)
    if unknown(config, model, workload):
        return None
    case = circumstances(config, model, workload)
    kept = frozenset(c for c in case.conditions if "dropout" not in c)
    step = _step(case._replace(conditions=kept), model, workload)
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
    """A training step: its forward pass from below, the runs of its layers, all sizes."""

    below: Segment
    layers: tuple[Segment, ...]
    top: Segment
    runs: tuple[int, ...]
    size: Size
    workload: Workload

    def held(self, segment: Segment) -> int:
        """The bytes that one run of *segment* holds until its backward pass."""
        shared = segment.order.shares
        held = held_by(segment, self.workload)
        return sum(self.size(tensor) for tensor in held if not (shared and tensor.copy_of))

    def copies(self, segment: Segment) -> int:
        """The bytes of the copies of shared weights that autocast holds beside one layer's."""
        if not segment.order.shares:
            return 0
        copies = sum(self.size(tensor) for tensor in segment.kept if tensor.copy_of)
        return copies * (segment.order.stored - 1)

    def under(self, layers: int) -> int:
        """The bytes that the embeddings and the lowest *layers* segments hold."""
        lower = zip(self.layers[:layers], self.runs, strict=False)
        return self.held(self.below) + sum(self.held(s) * n + self.copies(s) for s, n in lower)

    @property
    def tied(self) -> set[str]:
        """The weights that both the embeddings and the head apply."""
        return _weights(self.below.nodes) & _weights(self.top.nodes)


def _step(case: Circumstances, model: Blueprint, workload: Workload) -> _Step:
    values = batch_values(model, workload)
    below, *layers, top = segments(case, values)
    runs = tuple(segment.runs.evaluate(values) for segment in layers)
    return _Step(below, tuple(layers), top, runs, _sizer(values, case.dtype), workload)


def _sizer(values: Mapping[str, int], dtype: str) -> Size:
    """What gives the bytes of each tensor; weights are of *dtype*."""
    known: dict[Stored | Tensor, int] = {}

    def size(tensor: Stored | Tensor) -> int:
        if tensor not in known:
            width = WIDTHS[tensor.dtype if isinstance(tensor, Stored) else dtype]
            known[tensor] = width * tensor.elements.evaluate(values)
        return known[tensor]

    return size


def _forward(step: _Step) -> Iterator[Moment]:
    """The moments of the last run of each segment's layers on the way up, and of the head."""
    size, keeping = step.size, not step.workload.checkpointing
    kept = {t for s in (step.below, *step.layers, step.top) for t in s.kept}
    embedded = 0 if step.below.output in kept else size(step.below.output)
    for i, segment in enumerate(step.layers):
        source = segment.nodes[0].inputs[0]
        hidden = 0 if source in kept and keeping else size(source)
        below = step.under(i) + step.held(segment) * (step.runs[i] - 1) + step.copies(segment)
        above = way_up(segment.nodes, size, keeping=keeping)
        yield Moment("forward", below + embedded + hidden + above)
    above = size(step.layers[-1].output) + way_up(step.top.nodes, size, keeping=True)
    yield Moment("forward", step.under(len(step.layers)) + above)


def _backward(step: _Step) -> Iterator[Moment]:
    """The moments on the way back: of the head, of telling runs of layers, of the embeddings."""
    size, accumulate = step.size, step.workload.accumulate
    ends, losses = _ends(step)
    # Without a loss the outputs are summed while they are in use.
    shown = 0 if losses else sum(map(size, ends))
    passing = _weights(step.top.nodes) - step.tied if accumulate else ()
    way = way_back(step.top.nodes, {t: size(t) for t in losses or ends}, size, (), passing)
    yield Moment("head", step.under(len(step.layers)) + shown + way.highest)
    gradients = shown + way.gradients
    for i in reversed(range(len(step.layers))):
        arriving = sum(way.waiting.values())
        if not arriving:
            return
        highest = 0
        for above, way in _layers_back(step, i, arriving):
            highest = max(highest, above + way.highest)
        yield Moment("layers", gradients + highest)
        segment = step.layers[i]
        if segment.first == 0 and not accumulate:
            trained = (weight for node in segment.nodes for weight in node.trained)
            gradients += sum(map(size, trained)) * segment.order.stored
    arriving = sum(way.waiting.values())
    if arriving:
        passing = _weights(step.below.nodes) - step.tied if accumulate else ()
        incoming = {step.below.output: arriving}
        way = way_back(step.below.nodes, incoming, size, step.tied, passing)
        yield Moment("embeddings", gradients + way.highest)


def _layers_back(step: _Step, i: int, arriving: int) -> Iterator[tuple[int, Way]]:
    """The ways back through telling runs of the layers of segment *i*, the last run first.

    Each with the bytes that are there for what lies below, and for gradients of runs above.
    """
    segment, accumulate = step.layers[i], step.workload.accumulate
    nodes, order = segment.nodes, segment.order
    size = _waiting_size(step) if order.shares else step.size
    weights = _weights(nodes)
    gradients = sum(size(weight) for node in nodes for weight in node.trained)
    alone = accumulate and not order.shares
    ways: dict[bool, Way] = {}
    for run in order.telling():
        place = run - segment.first
        if 0 <= place < step.runs[i]:
            again = order.runs_again(run)
            above = order.beside(run) if accumulate else order.above(run)
            below = step.under(i) + step.copies(segment) + step.held(segment) * place
            if again not in ways:
                there, passing = weights if again else (), weights if alone else ()
                arrives = {segment.output: arriving}
                ways[again] = way_back(nodes, arrives, size, there, passing)
            yield below + (0 if alone else gradients * above), ways[again]


def _waiting_size(step: _Step) -> Size:
    """The sizes, but gradients of shared matrices are as wide as what autocast made of them.

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


def _ends(step: _Step) -> tuple[list[Stored], list[Stored]]:
    """The tensors that the model puts out, and those among them that are losses."""
    read = {tensor for node in step.top.nodes for tensor in node.inputs}
    ends = [node for node in step.top.nodes if node.output not in read]
    losses = [node.output for node in ends if node.step.kind in LOSSES]
    return [node.output for node in ends] or [step.layers[-1].output], losses
