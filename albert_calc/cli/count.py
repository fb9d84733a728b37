"""``albert-calc count``: one model, component by component."""

from typing import Any

import click
from click.core import ParameterSource

from albert_calc.architectures import ARCHITECTURES
from albert_calc.cli.command import command
from albert_calc.cli.options import (
    format_option,
    head_option,
    layout_option,
    one_requested,
    share_option,
    source_options,
)
from albert_calc.cli.output import emit, say, say_about, write
from albert_calc.cli.shape import config_data, shape_line
from albert_calc.config import ModelConfig
from albert_calc.counts import Counts, count_parameters
from albert_calc.report import Column, Report, Section
from albert_calc.text import printable


@command()
@source_options()
@head_option
@share_option
@layout_option
@click.option("--total", is_flag=True, help="Print the bare number and nothing else.")
@format_option
def count(
    head: str, share: str | None, layout: str, total: bool, format: str,
    **options: Any,
) -> None:  # fmt: skip
    """Count one model, component by component.

    \b
    Examples:
      albert-calc count --preset albert-base-v2
      albert-calc count --config path/to/config.json --head masked-lm
      albert-calc count -V 30000 -E 128 -H 768 -L 12 --total
    """
    context = click.get_current_context()
    if total and context.get_parameter_source("format") is not ParameterSource.DEFAULT:
        raise click.UsageError("--total and --format contradict each other: give one of them")
    source = one_requested({**options, "share": share})
    config = source.config(share)
    counts = count_parameters(config, head, layout)
    say_about([config])
    say("note", [*other_heads(config, head), *without_pooler(config, head, layout)])
    if total:
        write(f"{counts.total}\n")
    else:
        emit(_report(source.name, config, head, layout, counts), format)


def other_heads(config: ModelConfig, head: str) -> list[str]:
    """A note if the classes that the config names have another head than *head*."""
    heads = ARCHITECTURES[config.model_type].heads
    if not config.architectures or any(n in heads[head].classes for n in config.architectures):
        return []
    named = ", ".join(printable(n, 60) for n in config.architectures[:5])
    fitting = [h for h, known in heads.items() if set(known.classes) & set(config.architectures)]
    hint = f"give --head {fitting[-1]} to count that" if fitting else "which is no known class"
    return [f"architectures: the config names {named}, not the head {head}; {hint}"]


def without_pooler(config: ModelConfig, head: str, layout: str) -> list[str]:
    """A note if *layout* leaves out the pooler that *head* otherwise has."""
    architecture = ARCHITECTURES[config.model_type]
    if layout not in architecture.poolerless or not architecture.heads[head].pooler:
        return []
    return [f"layout {layout}: {config.model_type} has no pooler there"]


def _report(name: str, config: ModelConfig, head: str, layout: str, counts: Counts) -> Report:
    total = counts.total
    rows = [(c.name, c.formula, c.parameters, c.parameters / total) for c in counts.components]
    section = Section(
        title=f"{name}: {config.model_type}, head {head}, layout {layout}",
        lines=(shape_line(config),),
        columns=(
            Column("component", "component", "name"),
            Column("formula", "formula", "text"),
            Column("parameters", "parameters", "count"),
            Column("share", "share", "percent"),
        ),
        rows=(*rows, ("total", "", total, 1.0)),
        has_total=True,
    )
    data = {
        "model": name,
        "model_type": config.model_type,
        "head": head,
        "layout": layout,
        "config": config_data(config),
        "components": [
            {"name": c.name, "formula": c.formula, "parameters": c.parameters}
            for c in counts.components
        ],
        "total": total,
    }
    return Report((section,), data)
