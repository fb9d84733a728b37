"""What models cost: parameters, memory, activations, FLOPs, and whether it fits."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from albert_calc.cli.reports.techniques import Compared
from albert_calc.config.model_config import DTYPE, ModelConfig
from albert_calc.costs.assumptions import ACCURACY, DOCUMENTED, assumptions
from albert_calc.costs.cost import Cost, cost_of
from albert_calc.costs.files import files_of
from albert_calc.costs.fit import Memory, largest_batch, largest_length
from albert_calc.costs.flops import flops_formulas
from albert_calc.costs.memory import BITS
from albert_calc.costs.trained import with_targets
from albert_calc.costs.workload import Workload
from albert_calc.counting.comparison import Built
from albert_calc.counting.tensors import Blueprint
from albert_calc.errors import Problems
from albert_calc.models.model import Model
from albert_calc.report import Column, Figure, Kind, Section, figures_section
from albert_calc.writing.numbers import binary_size, decimal_size, flops, ratio, short


class Costed(NamedTuple):
    """A model in a column of the table: its cost, and what fits in the memory asked about."""

    name: str
    config: ModelConfig
    model: Blueprint
    workload: Workload
    cost: Cost
    memory: Memory | None = None
    largest_batch: int | None = None
    largest_length: int | None = None

    @property
    def fits(self) -> bool | None:
        """Whether a training step fits; ``None`` if that is not asked, or unknown."""
        peak = self.cost.training_peak_bytes
        return None if self.memory is None or peak is None else peak <= self.memory.bytes

    @property
    def data(self) -> dict[str, Any]:
        """The cost as JSON carries it."""
        return cost_data(self)


def costs_of(
    models: Sequence[Model], workload: Workload, memory: Memory | None = None
) -> list[Costed]:
    """What each of *models* costs; raises ``ConfigError`` with the problems of all."""
    problems = Problems()
    costs = []
    for model in models:
        with problems.collected():
            costs.append(costed(model.name, model.config, model.blueprint, workload, memory))
    problems.raise_any()
    return costs


def costed(
    name: str,
    config: ModelConfig,
    model: Blueprint,
    workload: Workload,
    memory: Memory | None = None,
) -> Costed:
    """What *model*, which *config* describes, costs, and what of it fits in *memory*."""
    workload = workload._replace(trained=with_targets(workload.trained, config.model_type))
    cost = cost_of(config, model, workload)
    stored = config.setting(DTYPE)
    if isinstance(stored, str) and stored in BITS:
        cost = cost._replace(files=files_of(model, stored))
    found = Costed(name, config, model, workload, cost, memory)
    if memory is None or cost.training_peak_bytes is None:
        return found
    most = usable_length(config)
    length = largest_length(config, model, workload, memory.bytes, most) if most else None
    return found._replace(
        largest_batch=largest_batch(config, model, workload, memory.bytes), largest_length=length
    )


def usable_length(config: ModelConfig) -> int:
    """The longest sequence that has positions."""
    return int(config.keys["max_position_embeddings"] or _declared(config)) - (
        config.family.reserved_positions
    )


def _declared(config: ModelConfig) -> int:
    """What a config says of its length where it has no learned positions."""
    value = config.setting("max_position_embeddings")
    return value if isinstance(value, int) else 0


def length_warnings(models: Sequence[Model], workload: Workload) -> Iterator[str]:
    """Which models could not run sequences of this length."""
    length = workload.sequence_length
    for model in models:
        most = usable_length(model.config)
        if most and length > most:
            yield (
                f"sequence_length: {length} is more than the {most} positions of {model.name};"
                " such a batch cannot be run, and its cost is what it would be"
            )


def support_warnings(models: Sequence[Model], workload: Workload) -> Iterator[str]:
    """What is asked of classes that refuse it."""
    for model in models:
        if workload.checkpointing and model.config.model_type == "albert":
            yield (
                f"checkpointing: the ALBERT classes of transformers 5.24 refuse it, {model.name};"
                " its cost is what it would be"
            )


def unknown_notes(costs: Sequence[Costed]) -> Iterator[str]:
    """Why activations are unknown."""
    for one in costs:
        if one.cost.activations.reason:
            yield f"{one.name}: {one.cost.activations.reason}, so its training memory is unknown"


def _origins(costs: Sequence[Costed]) -> Iterator[str]:
    """How far the memory of training is to be believed."""
    if any(one.cost.moments for one in costs):
        yield ACCURACY
    if any(one.cost.activations.documented for one in costs):
        yield DOCUMENTED


def costs_section(costs: Sequence[Costed], *, exact: bool = False, notes: bool = False) -> Section:
    """One table: a row a figure, a column a model."""
    figures = [f for f in _figures(costs, exact) if f.kind == "verdict" or any(f.values)]
    workload = costs[0].workload
    return figures_section(
        figures,
        [Column(one.name, one.name, "count") for one in costs],
        lines=(batch_line(workload), *_origins(costs)),
        notes=tuple(assumptions(workload)) if notes else (),
    )


def batch_line(workload: Workload) -> str:
    """The batch, and how it is trained on, in a line."""
    said = [
        f"B = {workload.batch_size:,}",
        f"S = {workload.sequence_length:,}",
        *workload.dtypes,
        workload.optimizer,
        workload.attention,
    ]
    said += [] if workload.labels else ["no labels"]
    said += ["accumulated gradients"] if workload.accumulate else []
    said += ["checkpointing"] if workload.checkpointing else []
    said += [f"autocast {workload.autocast}"] if workload.autocast else []
    said += ["master weights"] if workload.master_weights else []
    return ", ".join(said)


_STATE = {
    "weights": "weights",
    "gradients": "gradients",
    "optimizer_moments": "optimizer",
    "master_weights": "master weights",
}

_TERMS = {
    "attention_scores": "attention scores",
    "projections": "attention matrices",
    "feed_forward": "feed-forward",
}


def _figures(costs: Sequence[Costed], exact: bool) -> Iterator[Figure]:
    """The rows of the table, a group after the other, each with its answer first."""
    counted: Kind = "count"
    size: Kind = "count" if exact else "bytes"
    work: Kind = "count" if exact else "flops"
    every = [one.cost for one in costs]

    def row(label: str, kind: Kind, values: Sequence[Any], group: str) -> Figure:
        return Figure(label, kind, tuple(values), group=group)

    group = "parameters"
    yield row("stored", counted, [c.parameters for c in every], group)
    if any(c.trainable.trainable != c.parameters for c in every):
        yield row("trained", counted, [c.trainable.trainable for c in every], group)
    yield row("executed in a pass", counted, [c.executed_parameters for c in every], group)
    if any(c.executed_parameters != c.parameters for c in every):
        yield row("executed / stored", "ratio", [c.executed_ratio for c in every], group)
    group = "training memory, at its peak"
    yield row(group, size, [c.training_peak_bytes for c in every], group)
    for part, label in _STATE.items():
        yield row(label, size, [c.state.parts[part] if c.state else None for c in every], group)
    yield row("activations", size, [c.activation_bytes for c in every], group)
    if costs[0].memory is not None:
        yield row(f"fits in {costs[0].memory.label}", "verdict", [one.fits for one in costs], group)
        yield row("left", size, [_left(one) for one in costs], group)
        length = f"largest batch at S = {costs[0].workload.sequence_length:,}"
        yield row(length, counted, [one.largest_batch for one in costs], group)
        batch = f"largest length at B = {costs[0].workload.batch_size:,}"
        yield row(batch, counted, [one.largest_length for one in costs], group)
    group = "inference memory, at its peak"
    yield row(group, size, [c.inference_peak_bytes for c in every], group)
    group = "checkpoint"
    files = [c.files for c in every]

    def file(label: str, sizes: Sequence[int]) -> Figure:
        return row(label, size, sizes if exact else [both_sizes(s) for s in sizes], group)

    yield file(group, [f.checkpoint for f in files])
    for dtype in list(costs[0].cost.weights_bytes)[1:]:
        yield file(f"in {dtype}", [c.weights_bytes[dtype] for c in every])
    yield file("with the optimizer", [f.with_optimizer for f in files])
    yield file("matrices in int8", [f.int8 for f in files])
    if any(f.unrolled != f.checkpoint for f in files):
        yield file("unrolled, as ONNX", [f.unrolled for f in files])
    group = "compute, forward"
    yield row(group, work, [c.flops.forward for c in every], group)
    for term, label in _TERMS.items():
        yield row(label, "percent", [c.flops.shares.get(term) for c in every], group)
    yield row("one layer", "percent", [c.flops.layer_share for c in every], group)
    yield row("training", work, [c.flops.training for c in every], group)


def both_sizes(size: int) -> str:
    """``46.7 MB, 44.6 MiB``: a size as shops and as programs give it."""
    return f"{decimal_size(size)}, {binary_size(size)}"


def _left(one: Costed) -> int | None:
    peak = one.cost.training_peak_bytes
    return None if peak is None or one.memory is None else one.memory.bytes - peak


def headline(costs: Sequence[Costed]) -> str:
    """The answer in a sentence."""
    first = costs[0]
    if len(costs) == 2:
        return _compared(first, costs[1])
    if len(costs) > 2:
        return f"{len(costs)} models, {batch_line(first.workload)}"
    peak = first.cost.training_peak_bytes
    if peak is None:
        forward = flops(first.cost.flops.forward)
        return f"{first.name}: {forward} a forward pass; its training memory is unknown"
    needs = f"{first.name} needs {binary_size(peak)} to train"
    if first.memory is None:
        return f"{needs}, {flops(first.cost.flops.forward)} a forward pass"
    if not first.fits:
        return f"{needs}, and does not fit in {first.memory.label}"
    return (
        f"{needs}, and fits in {first.memory.label}; the largest batch is {first.largest_batch:,}"
    )


def _compared(first: Costed, second: Costed) -> str:
    parameters = ratio(second.cost.parameters / first.cost.parameters)
    said = f"{second.name} has {parameters} the parameters of {first.name}"
    peaks = first.cost.training_peak_bytes, second.cost.training_peak_bytes
    if peaks[0] and peaks[1]:
        return f"{said} and needs {ratio(peaks[1] / peaks[0])} its memory"
    work = second.cost.flops.forward / (first.cost.flops.forward or 1)
    return f"{said} and takes {ratio(work)} its FLOPs ({short(second.cost.flops.forward)})"


def cost_data(one: Costed) -> dict[str, Any]:
    """*one* as JSON reports carry it."""
    cost, workload = one.cost, one.workload
    spent, state = cost.flops, cost.state
    formulas = flops_formulas(one.model.variant, workload.masked is not None)
    data: dict[str, Any] = {
        "batch_size": workload.batch_size,
        "sequence_length": workload.sequence_length,
        "optimizer": workload.optimizer,
        "attention": workload.attention,
        "parameters": cost.parameters,
        "trainable": cost.trainable.trainable,
        "all": cost.trainable.all,
        "executed_parameters": cost.executed_parameters,
        "executed_ratio": cost.executed_ratio,
        "executed_layers": cost.executed_layers,
        "weights_bytes": cost.weights_bytes,
        "training_dtype": workload.training_dtype,
        "training_bytes": None if state is None else state.parts,
        "training_state_bytes": None if state is None else state.bytes,
        "activation_bytes_per_layer": _per_layer(cost),
        "activation_bytes": cost.activation_bytes,
        "activations": activations_data(cost),
        "activations_unknown": cost.activations.reason or None,
        "activations_documented": cost.activations.documented,
        "training_peak_bytes": cost.training_peak_bytes,
        "training_moments": {m.name: m.bytes for m in cost.moments},
        "inference_peak_bytes": cost.inference_peak_bytes,
        "files": cost.files._asdict(),
        "flops": {
            "forward": spent.forward,
            "training": spent.training,
            "macs": spent.macs,
            "per_token": spent.per_token,
            "layer": spent.layer,
            "layer_share": spent.layer_share,
            "breakdown": spent.breakdown,
            "shares": spent.shares,
            "formulas": {term: formula.formula() for term, formula in formulas.items()},
        },
        "assumptions": [ACCURACY, *assumptions(workload)],
    }
    if one.memory is not None:
        data |= {
            "memory_bytes": one.memory.bytes,
            "fits": one.fits,
            "left_bytes": _left(one),
            "largest_batch_size": one.largest_batch,
            "largest_sequence_length": one.largest_length,
        }
    return data


def _per_layer(cost: Cost) -> int | float | None:
    """The mean of what one run of a layer keeps."""
    if cost.activation_bytes is None:
        return None
    kept = sum(t.bytes for t in cost.activations.tensors if t.part == "layers")
    whole, rest = divmod(kept, cost.executed_layers)
    return kept / cost.executed_layers if rest else whole


def activations_data(cost: Cost) -> list[dict[str, Any]] | None:
    """Every kept tensor as JSON carries it; ``None`` where they are unknown."""
    if cost.activation_bytes is None:
        return None
    return [
        {
            "part": tensor.part,
            "name": tensor.name,
            "dtype": tensor.dtype,
            "copies": tensor.copies,
            "bytes": tensor.bytes,
            "formula": tensor.formula.formula(),
        }
        for tensor in cost.activations.tensors
    ]


def technique_costs(
    compared: Compared, columns: Sequence[tuple[str, Built]], workload: Workload
) -> tuple[Section, dict[str, Any]]:
    """What each way of building a model costs: a table, and JSON by the names of both styles."""
    found = compared.comparison
    config = compared.model.config
    costs = [costed(heading, config, built.model, workload) for heading, built in columns]
    data = {
        style: costed(style, config, built.model, workload).data
        for style, built in (("bert_style", found.bert_style), ("albert_style", found.albert_style))
    }
    return costs_section(costs)._replace(label=("model", compared.title)), data


def chapter_costs(
    several: Sequence[Compared], workload: Workload
) -> tuple[list[Section], list[dict[str, Any]]]:
    """What both styles of each model cost."""
    sections, data = [], []
    for compared in several:
        found = compared.comparison
        columns = [("BERT-style", found.bert_style), ("ALBERT-style", found.albert_style)]
        section, costs = technique_costs(compared, columns, workload)
        sections.append(section._replace(title=f"{compared.title}: cost"))
        data.append(costs)
    return sections, data
