"""What autograd keeps for the backward pass of a training step, to the byte.

A tensor counts once, whatever keeps it; parameters and buffers do not count. Exact against
``torch.autograd.graph.saved_tensors_hooks`` on the classes of transformers 5.24, on a CPU:
dropout masks take a byte an element there as on a GPU, and in 16 bits LayerNorm's statistics
too have 16 bits, where a GPU keeps them in float32.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from albert_calc.algebra import Dims, Polynomial, minus, times
from albert_calc.config.model_config import ModelConfig
from albert_calc.costs.flops import with_batch
from albert_calc.costs.forward import (
    Circumstances,
    Node,
    Stored,
    embedding_nodes,
    layer_nodes,
    top_nodes,
)
from albert_calc.costs.memory import WIDTHS
from albert_calc.costs.order import Order, order_of
from albert_calc.costs.trainable import layer_runs
from albert_calc.costs.workload import Workload
from albert_calc.counting.tensors import Blueprint, executed_layers
from albert_calc.families import family
from albert_calc.families.base import Same
from albert_calc.families.steps import (
    FUNCTIONS,
    LABELS,
    MANY_LABELS,
    ONE_LABEL,
    ONE_SEQUENCE,
    PROBLEMS,
    REGRESSION,
    SDPA,
    Step,
)
from albert_calc.writing.harmless import shown


class KeptTensor(NamedTuple):
    """A tensor that autograd keeps: where, how often, and how large each is.

    ``part`` is ``embeddings``, ``layers`` or ``top`` (the pooler and the head). ``times`` is
    how many there are, in symbols; ``count`` in number, and ``bytes`` all of them.
    """

    part: str
    name: str
    shape: Dims
    dtype: str
    times: Polynomial
    count: int
    bytes: int


class Activations(NamedTuple):
    """What a training step keeps, tensor by tensor; ``reason`` says why it is unknown.

    With ``documented`` the fused kernel's tensors are those of its documentation, since it
    cannot be measured on a CPU. Autocast's are an estimate.
    """

    tensors: tuple[KeptTensor, ...] = ()
    reason: str = ""
    documented: bool = False

    @property
    def bytes(self) -> int | None:
        """All of them; ``None`` if unknown."""
        return None if self.reason else sum(t.bytes for t in self.tensors)


class Segment(NamedTuple):
    """Equal parts of a forward pass, one after another: their nodes, and how many.

    ``order`` is that of all layers like these, of whose runs the first here is ``first``.
    """

    part: str
    nodes: tuple[Node, ...]
    runs: Polynomial = times(1)
    first: int = 0
    order: Order = Order(1, 1)

    @property
    def output(self) -> Stored:
        """What the last of the nodes makes."""
        return self.nodes[-1].output


def kept_activations(config: ModelConfig, model: Blueprint, workload: Workload) -> Activations:
    """What training *model*, which *config* describes, keeps of one batch of *workload*."""
    reason = unknown(config, model, workload)
    if reason:
        return Activations(reason=reason)
    case = circumstances(config, model, workload)
    values = batch_values(model, workload)
    tensors = tuple(
        _counted(tensor, segment, values)
        for segment in segments(case, values)
        for tensor in kept_by(segment.nodes)
    )
    documented = SDPA in case.conditions and _attention_dropout(case)
    return Activations(tensors, documented=documented)


def activation_formula(tensors: tuple[KeptTensor, ...], part: str) -> Polynomial:
    """The bytes of all *tensors* of *part* in symbols."""
    return Polynomial.sum(
        t.times.times(*t.shape, WIDTHS[t.dtype]) for t in tensors if t.part == part
    )


def unknown(config: ModelConfig, model: Blueprint, workload: Workload) -> str:
    """Why the activations of *model* cannot be told; empty if they can."""
    forward = family(model.variant.model_type).forward
    if workload.training_dtype is None:
        return f"{' and '.join(workload.dtypes)} cannot be trained"
    if forward is None:
        return f"no table says what autograd keeps of {model.variant.model_type}"
    if model.variant.head not in forward.heads:
        return (
            f"no table says what autograd keeps of the head {model.variant.head} of"
            f" {model.variant.model_type}"
        )
    if model.variant.layout != "transformers":
        return f"layout {model.variant.layout}: only models of transformers were measured"
    if not model.values["A"]:
        return "num_attention_heads: not given"
    return next(_unreadable(config, forward_steps(model)), "")


def forward_steps(model: Blueprint) -> tuple[Step, ...]:
    """The steps that *model* may have."""
    forward = family(model.variant.model_type).forward
    assert forward is not None  # noqa: S101 - asked for only where there is one
    head = forward.heads[model.variant.head]
    return (*forward.embeddings, *forward.layer, *forward.pooler, *head)


def circumstances(config: ModelConfig, model: Blueprint, workload: Workload) -> Circumstances:
    """What of *config* and *workload* decides how the forward pass of *model* goes."""
    steps = forward_steps(model)
    conditions = {workload.attention, _problem_type(config)}
    conditions |= {key for key in _dropouts(steps) if _probability(config, key)}
    if workload.labels:
        conditions.add(LABELS)
    if workload.batch_size == 1:
        conditions.add(ONE_SEQUENCE)
    keys = {s.function for s in steps if s.function and s.function not in FUNCTIONS}
    return Circumstances(
        model.variant,
        model.variant.features | conditions,
        tuple(sorted((key, config.setting(key)) for key in keys)),
        workload.training_dtype or "",
        workload.autocast,
        workload.trained,
    )


def batch_values(model: Blueprint, workload: Workload) -> Mapping[str, int]:
    """The values of all symbols at a batch; M is the number of examples of several choices."""
    batch = workload.batch_size
    values = with_batch(model, batch, workload.sequence_length)
    return {**values, "M": -(-batch // workload.choices)}


def segments(case: Circumstances, values: Mapping[str, int]) -> tuple[Segment, ...]:
    """The forward pass of *case* from below, equal runs of layers put together.

    Below the first tensor that is trained nothing is kept; the first layer that trains one
    keeps less than those after it, to which a gradient goes through.
    """
    nodes, hidden = embedding_nodes(case)
    found = [Segment("embeddings", nodes)]
    for runs, layer, order in _layer_kinds(case, values):
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


def _layer_kinds(
    case: Circumstances, values: Mapping[str, int]
) -> Iterator[tuple[Polynomial, int, Order]]:
    """The runs of layers like each other, in symbols, an example of them, and their order."""
    order = order_of(case.variant, values)
    trained = case.trained
    if not trained.frozen_layers:
        yield times(*executed_layers(case.variant)), 0, order
        return
    split = layer_runs(order, trained)
    frozen = sum(
        max(0, min(last, order.stored - 1) - first + 1) for first, last in trained.frozen_layers
    )
    trained_order = Order(split.trained, order.stored - frozen)
    yield times(split.below), split.frozen_layer, Order(split.below, split.below)
    yield times(split.trained), split.trained_layer, trained_order
    yield times(split.above), split.frozen_layer, Order(split.above, split.above)


def kept_by(nodes: tuple[Node, ...]) -> tuple[Stored, ...]:
    """The tensors that *nodes* keep, each once."""
    return tuple(dict.fromkeys(tensor for node in nodes for tensor in node.kept))


def _counted(tensor: Stored, segment: Segment, values: Mapping[str, int]) -> KeptTensor:
    often = times(segment.order.stored) if tensor.copy_of else segment.runs
    count = often.evaluate(values)
    size = count * tensor.elements.evaluate(values) * WIDTHS[tensor.dtype]
    return KeptTensor(segment.part, tensor.name, tensor.shape, tensor.dtype, often, count, size)


def _problem_type(config: ModelConfig) -> str:
    """The kind of loss of a sequence classifier: what a config says, or by its labels."""
    told = config.setting("problem_type")
    if told in PROBLEMS:
        return str(told)
    return REGRESSION if config.num_labels == 1 else ONE_LABEL


def _dropouts(steps: tuple[Step, ...]) -> set[str]:
    return {key for s in steps for key in (*s.when, *s.unless) if "dropout" in key}


def _setting(config: ModelConfig, key: str) -> Any:
    """The value of a key of dropout: its own, or that of the key it follows."""
    forward = config.family.forward
    value = config.setting(key)
    if value is None and forward is not None and key in forward.dropouts:
        return config.setting(forward.dropouts[key])
    return value


def _probability(config: ModelConfig, key: str) -> bool:
    return bool(_setting(config, key))


def _attention_dropout(case: Circumstances) -> bool:
    return any("attention" in c and "dropout" in c for c in case.conditions)


def _unreadable(config: ModelConfig, steps: tuple[Step, ...]) -> Iterator[str]:
    """The keys whose values say nothing that a table describes."""
    for key in sorted(_dropouts(steps)):
        value = _setting(config, key)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            yield f"{key}: must be a number from 0 to 1, got {shown(value)}"
    for key in sorted({s.function for s in steps if s.function and s.function not in FUNCTIONS}):
        value = config.setting(key)
        if value != "linear" and (not isinstance(value, str) or value not in FUNCTIONS):
            yield f"{key}: no table says what autograd keeps of {shown(value)}"
