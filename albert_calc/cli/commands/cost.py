"""``albert-calc cost``: the memory and the work of models, side by side."""

from typing import TYPE_CHECKING, Any

import click

from albert_calc.cli.asked import Asked
from albert_calc.cli.command import model_command, option
from albert_calc.cli.memory import memory_of, memory_options
from albert_calc.cli.options import typed
from albert_calc.cli.reports.cost import batch_line, costs_sections, headline
from albert_calc.cli.reports.cost_data import cost_data
from albert_calc.cli.reports.cost_notes import (
    batch_warnings,
    close_warnings,
    cost_notes,
    unknown_fits,
)
from albert_calc.cli.reports.costed import Costed, costs_of
from albert_calc.cli.shape import model_facts
from albert_calc.cli.trained import trained_options
from albert_calc.cli.workload import workload_of, workload_options
from albert_calc.costs.fit import Memory
from albert_calc.costs.gpus import CARDS
from albert_calc.costs.trained import read_trained
from albert_calc.costs.workload import Workload
from albert_calc.errors import ConfigError, Problems
from albert_calc.report import CANNOT, FALSE, Column, Report, Section

if TYPE_CHECKING:
    from albert_calc.pictures.picture import Picture


@model_command("cost", "some", class_head=True, picture="--chart", undrawn=("exact", "notes"))
@memory_options
@option("--exact", is_flag=True, help="Print bytes and FLOPs to the last digit.")
@option("--notes", is_flag=True, help="Say what is assumed.")
@option("--chart", is_flag=True, help="Draw the memory of training as bars.")
@trained_options
@workload_options
def command(
    asked: Asked, *, memory: str | None, gpu: str | None, exact: bool, notes: bool, chart: bool,
    **options: Any,
) -> "Report | Picture":  # fmt: skip
    """Show what sharing does not save: memory and FLOPs, and whether it fits.

    What autograd keeps of a batch is exact; the peak of a training step is an estimate, which
    says how far it was off where it was measured.

    \b
    Examples:
      albert-calc cost bert-large-uncased albert-xxlarge-v2 -B 8 --memory 24GiB
      albert-calc cost albert-base-v2 --head masked-lm -B 32 -S 128 --gpu T4
      albert-calc cost bert-base-uncased --lora 8 --dtype bf16 -B 16
      albert-calc cost path/to/config.json --freeze embeddings,layers:0-9
      albert-calc cost base -f json | jq '.[0].training_peak_bytes'
    """
    if gpu == "list":
        names = [p.name for p in click.get_current_context().command.params if p.name]
        others = typed(*(n for n in names if n not in ("gpu", "format", "quiet")))
        if others:
            raise click.UsageError("--gpu list prints the cards that are known, and goes alone")
        return _cards()
    problems = Problems()
    workload, limit, models = Workload(), None, []
    with problems.collected():
        workload = workload_of(options)
    with problems.collected():
        workload = workload._replace(trained=read_trained(options))
    with problems.collected():
        limit = memory_of(memory, gpu)
    with problems.collected():
        models = asked.models
    problems.raise_any()
    costs = costs_of(models, workload, limit)
    if chart or asked.save:
        return _chart(costs, limit)
    unknown = tuple(unknown_fits(costs))
    items = tuple(
        {**model_facts(model), **cost_data(one)} for model, one in zip(models, costs, strict=True)
    )
    return Report(
        costs_sections(costs, exact=exact, notes=notes),
        headline=headline(costs),
        items=items,
        status=CANNOT if unknown else FALSE if any(one.fits is False for one in costs) else 0,
        remarks=tuple(cost_notes(costs, workload)),
        warnings=(
            *batch_warnings(models, workload),
            *close_warnings(costs),
        ),
        errors=unknown,
    )


def _cards() -> Report:
    section = Section(
        columns=(
            Column("card", "card", "text"),
            Column("bytes", "", "count", "machines"),
            Column("torch_mib", "MiB that torch can allocate", "count", "machines"),
            Column("torch", "MiB that torch can allocate", "count", "people"),
            Column("nvidia_smi_mib", "MiB by nvidia-smi", "count"),
            Column("seen_in", "seen in", "text", "machines"),
        ),
        rows=tuple(
            (n, c.bytes, c.torch_mib, c.torch_mib or "unknown", c.nvidia_smi_mib, c.seen_in)
            for n, c in CARDS.items()
        ),
        lines=("where torch's figure is unknown, nvidia-smi's, which is larger, stands for it",),
    )
    items = tuple(
        {"card": name, "bytes": one.bytes, **one._asdict()} for name, one in CARDS.items()
    )
    return Report((section,), headline=f"{len(CARDS)} cards", items=items)


def _chart(costs: list[Costed], limit: Memory | None) -> "Picture":
    from albert_calc.pictures.charts import cost_chart
    from albert_calc.pictures.picture import Limit

    parts = []
    for one in costs:
        peak, state = one.cost.peak, one.cost.state
        if peak is None or state is None:
            raise ConfigError(f"{one.name}: {one.cost.activations.reason}, so there is no chart")
        resident = state.parts if peak.name == "update" else {
            name: size for name, size in state.parts.items() if name != "gradients"
        }  # fmt: skip
        rest = peak.bytes - sum(resident.values())
        parts.append((one.name, {**resident, "activations and temporaries": rest}))
    label = Limit(limit.bytes, limit.label) if limit is not None else None
    line = batch_line(costs[0].workload)
    named = [(name, {k.replace("_", " "): v for k, v in found.items()}) for name, found in parts]
    return cost_chart("Memory of a training step, at its peak", named, (line,), label)
