"""What models cost, for people: parameters, memory, files, compute, and whether it fits."""

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from albert_calc.cli.reports.cost_data import cost_data, cost_rows
from albert_calc.cli.reports.costed import Costed, costed
from albert_calc.cli.reports.techniques import Compared
from albert_calc.cli.shape import column_keys
from albert_calc.costs.assumptions import ACCURACY, DOCUMENTED, NOT_AT_ONCE, assumptions
from albert_calc.costs.trained import EVERYTHING
from albert_calc.costs.workload import BATCH, Workload
from albert_calc.counting.comparison import Built
from albert_calc.report import Column, Figure, Kind, Section, figures_section
from albert_calc.writing.numbers import binary_size, decimal_size, flops, ratio, short


def _origins(costs: Sequence[Costed]) -> Iterator[str]:
    """How far the memory of training is to be believed."""
    if any(one.cost.moments for one in costs):
        yield ACCURACY
        documented = any(one.cost.activations.documented for one in costs)
        yield f"{NOT_AT_ONCE}; {DOCUMENTED}" if documented else NOT_AT_ONCE


def costs_sections(
    costs: Sequence[Costed],
    columns: Sequence[Column] | None = None,
    *,
    exact: bool = False,
    notes: bool = False,
) -> tuple[Section, Section]:
    """A table for people, and one for machines: a row a figure, a column a model.

    *columns* are the models' own, if not given.
    """
    figures = [f for f in _figures(costs, exact) if f.kind == "verdict" or any(f.values)]
    workload = costs[0].workload
    if columns is None:
        keys = column_keys([one.name for one in costs])
        columns = [Column(key, one.name, "count") for key, one in zip(keys, costs, strict=True)]
    shown = figures_section(
        figures,
        [column._replace(only="people") for column in columns],
        lines=(_batch_of(costs), *_origins(costs)),
        notes=tuple(assumptions(workload)) if notes else (),
    )
    return shown, cost_rows(costs, columns)


def batch_line(workload: Workload, without: Collection[str] = ()) -> str:
    """The batch, and how it is trained on, in a line; *without* those of B and S that vary."""
    said = [
        f"{size.symbol} = {getattr(workload, size.key):,}"
        for size in BATCH
        if size.key not in without
    ]
    said += [
        *workload.dtypes,
        workload.optimizer,
        workload.attention,
    ]
    said += [] if workload.labels else ["no labels"]
    said += ["accumulated gradients"] if workload.accumulate else []
    said += ["checkpointing"] if workload.checkpointing else []
    said += [f"autocast {workload.autocast}"] if workload.autocast else []
    said += ["master weights"] if workload.master_weights else []
    return "; ".join(filter(None, (", ".join(said), workload.trained.words)))


def _batch_of(costs: Sequence[Costed]) -> str:
    """The batch of all *costs*, with each attention and all that is trained in any."""
    every = [one.workload for one in costs]
    attention = " or ".join(dict.fromkeys(workload.attention for workload in every))
    line = batch_line(every[0]._replace(attention=attention, trained=EVERYTHING))
    trained = dict.fromkeys(workload.trained.words for workload in every)
    return "; ".join(filter(None, (line, " or ".join(trained))))


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
    if any(c.trainable.all != c.parameters for c in every):
        yield row("with adapters", counted, [c.trainable.all for c in every], group)
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
        label = f"fits in {costs[0].memory.label}"
        yield row(label, "verdict", [_fits(one) for one in costs], group)
        yield row("left", size, [one.left for one in costs], group)
        length = f"largest batch at S = {costs[0].workload.sequence_length:,}"
        yield row(length, counted, [one.largest_batch for one in costs], group)
        batch = f"largest length at B = {costs[0].workload.batch_size:,}"
        yield row(batch, counted, [one.largest_length for one in costs], group)
    group = "inference memory, at its peak"
    yield row(group, size, [c.inference_peak_bytes for c in every], group)
    group = "checkpoint"
    files = [c.files for c in every]

    def file(label: str, sizes: Sequence[int | None]) -> Figure:
        shown = sizes if exact else [None if s is None else both_sizes(s) for s in sizes]
        return row(label, size, shown, group)

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
    yield row("training", work, [c.training_flops for c in every], group)


def _fits(one: Costed) -> bool | str:
    return "unknown" if one.fits is None else one.fits


def both_sizes(size: int) -> str:
    """``46.7 MB, 44.6 MiB``: a size as shops and as programs give it."""
    return f"{decimal_size(size)}, {binary_size(size)}"


def headline(costs: Sequence[Costed]) -> str:
    """The answer in a sentence."""
    first = costs[0]
    if len(costs) == 2:
        return _compared(first, costs[1]) + _which_fit(costs)
    if len(costs) > 2:
        return f"{len(costs)} models, {_batch_of(costs)}{_which_fit(costs)}"
    peak = first.cost.training_peak_bytes
    if peak is None:
        forward = flops(first.cost.flops.forward)
        return f"{first.name}: {forward} a forward pass; its training memory is unknown"
    needs = f"{first.name} needs {binary_size(peak)} to train"
    if first.memory is None:
        return f"{needs}, {flops(first.cost.flops.forward)} a forward pass"
    if not first.fits:
        needs += f", and does not fit in {first.memory.label}"
        if not first.largest_batch:
            return f"{needs}; no batch does"
        return f"{needs}; the largest batch that does is {first.largest_batch:,}"
    return (
        f"{needs}, and fits in {first.memory.label}; the largest batch is {first.largest_batch:,}"
    )


def _which_fit(costs: Sequence[Costed]) -> str:
    """A line ``fits in 24 GiB: a, b; does not fit: c``, where a memory is asked about."""
    memory = costs[0].memory
    if memory is None:
        return ""
    found = {
        verdict: ", ".join(one.name for one in costs if one.fits is verdict)
        for verdict in (True, False, None)
    }
    not_so = "does not fit" if found[True] else f"does not fit in {memory.label}"
    words = {True: f"fits in {memory.label}", False: not_so, None: "unknown"}
    return "\n" + "; ".join(
        f"{words[verdict]}: {names}" for verdict, names in found.items() if names
    )


def _compared(first: Costed, second: Costed) -> str:
    parameters = ratio(second.cost.parameters / first.cost.parameters)
    said = f"{second.name} has {parameters} the parameters of {first.name}"
    peaks = first.cost.training_peak_bytes, second.cost.training_peak_bytes
    if peaks[0] and peaks[1]:
        return f"{said} and needs {ratio(peaks[1] / peaks[0])} its memory"
    work = second.cost.flops.forward / (first.cost.flops.forward or 1)
    return f"{said} and takes {ratio(work)} its FLOPs ({short(second.cost.flops.forward)})"


def technique_costs(
    compared: Compared, columns: Sequence[tuple[Column, Built]], workload: Workload
) -> tuple[list[Section], dict[str, Any]]:
    """What each way of building a model costs: tables, and JSON by the names of both styles."""
    found = compared.comparison
    config = compared.model.config
    costs = [costed(column.heading, config, built.model, workload) for column, built in columns]
    data = {
        style: cost_data(costed(style, config, built.model, workload))
        for style, built in (("bert_style", found.bert_style), ("albert_style", found.albert_style))
    }
    label = ("model", compared.title)
    sections = costs_sections(costs, [column for column, _ in columns])
    return [section._replace(label=label) for section in sections], data


def chapter_costs(
    several: Sequence[Compared], workload: Workload
) -> tuple[list[Section], list[dict[str, Any]]]:
    """What both styles of each model cost."""
    sections, data = [], []
    for compared in several:
        found = compared.comparison
        columns = [
            (Column("bert_style", "BERT-style", "count"), found.bert_style),
            (Column("albert_style", "ALBERT-style", "count"), found.albert_style),
        ]
        (shown, rows), costs = technique_costs(compared, columns, workload)
        sections += [shown._replace(title=f"{compared.title}: cost"), rows]
        data.append(costs)
    return sections, data
