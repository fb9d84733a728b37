"""``albert-calc count``: one model, component by component."""

from typing import Any

import click

from albert_calc.cli.command import command
from albert_calc.cli.options import (
    format_option,
    head_option,
    layout_option,
    one_requested,
    share_option,
    source_options,
    typed,
)
from albert_calc.cli.output import emit, write
from albert_calc.cli.remarks import say_about_model
from albert_calc.cli.shape import config_data, shape_line
from albert_calc.config import ModelConfig
from albert_calc.counts import Counts, count_parameters
from albert_calc.report import Column, Report, Section


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
    if total and typed("format"):
        raise click.UsageError("--total and --format contradict each other: give one of them")
    source = one_requested({**options, "share": share})
    config = source.config(share, head, layout)
    counts = count_parameters(config, head, layout)
    say_about_model(config, head, layout)
    if total:
        write(f"{counts.total}\n")
    else:
        emit(_report(source.name, config, head, layout, counts), format)


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
