"""``albert-calc explain``: a count as a derivation."""

from collections.abc import Sequence
from typing import Any

from albert_calc.cli.command import command
from albert_calc.cli.options import (
    format_choice,
    head_option,
    layout_option,
    one_requested,
    share_option,
    source_options,
)
from albert_calc.cli.output import emit, write
from albert_calc.cli.remarks import say_about_model
from albert_calc.cli.shape import config_data, shape_line
from albert_calc.explanation import Step, derivation
from albert_calc.report import Column, Report, Section


@command()
@source_options()
@head_option
@share_option
@layout_option
@format_choice("table", "markdown", "latex", "json")
def explain(head: str, share: str | None, layout: str, format: str, **options: Any) -> None:
    """Derive a count: symbols, numbers, values.

    The total is one formula with like terms collected. The LaTeX needs amsmath.

    \b
    Examples:
      albert-calc explain --preset albert-base-v2
      albert-calc explain --preset base --head masked-lm -f latex
    """
    source = one_requested({**options, "share": share})
    config = source.config(share, head, layout)
    steps, total = derivation(config, head, layout)
    say_about_model(config, head, layout)
    title = f"{source.name}: {config.model_type}, head {head}, layout {layout}"
    if format == "latex":
        from albert_calc.render.latex import render_derivation

        write(render_derivation(title, [*steps, total]))
        return
    data = {
        "model": source.name,
        "model_type": config.model_type,
        "head": head,
        "layout": layout,
        "config": config_data(config),
        "components": [{"name": step.name, **_data(step)} for step in steps],
        "total": _data(total),
    }
    section = Section(
        title=title,
        lines=(shape_line(config),),
        columns=(
            Column("component", "component", "name"),
            Column("derivation", "derivation", "text"),
            Column("parameters", "parameters", "count"),
        ),
        rows=_rows([*steps, total]),
    )
    emit(Report((section,), data), format)


def _rows(steps: Sequence[Step]) -> tuple[tuple[str, str, int | None], ...]:
    rows: list[tuple[str, str, int | None]] = []
    for step in steps:
        rows.append((step.name, step.formula(), None))
        rows.append(("", f"= {step.numbers()}", step.parameters))
    return tuple(rows)


def _data(step: Step) -> dict[str, object]:
    return {
        "formula": step.formula(),
        "numbers": step.numbers(),
        "parameters": step.parameters,
    }
