"""``albert-calc explain``: a count as a derivation."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from albert_calc.cli.asked import Asked
from albert_calc.cli.command import model_command, option
from albert_calc.cli.options import BATCH_HEADING, refuse_beside, refuse_without, under
from albert_calc.cli.reports.cost import batch_line
from albert_calc.cli.reports.cost_notes import attention_notes, batch_warnings
from albert_calc.cli.shape import formula_symbols, model_facts, shape_line
from albert_calc.cli.workload import workload_of, workload_options
from albert_calc.costs.activations import Activations, kept_activations
from albert_calc.costs.circumstances import attention_of
from albert_calc.costs.workload import USUAL, Workload
from albert_calc.counting.derivation import Step, derivation
from albert_calc.counting.tensors import component_tensors
from albert_calc.errors import ConfigError, Problems
from albert_calc.models.model import Model
from albert_calc.report import Column, Report, Section
from albert_calc.writing.numbers import count as with_commas

if TYPE_CHECKING:
    from albert_calc.pictures.picture import Picture


@model_command(
    "explain",
    class_head=True,
    formats=("table", "markdown", "latex", "json"),
    picture="--diagram",
    undrawn=("tensors", "activations"),
)
@option("--tensors", is_flag=True, help="List the tensors of each component by name and shape.")
@option(
    "--activations",
    is_flag=True,
    help="List what a training step keeps for its backward pass, tensor by tensor.",
)
@option(
    "--diagram",
    is_flag=True,
    help="Draw the standard and the factorized embedding as rectangles, to scale.",
)
@workload_options
def command(
    asked: Asked, *, tensors: bool, activations: bool, diagram: bool, **options: Any
) -> "Report | Picture":  # fmt: skip
    """Derive a count: symbols, numbers, values.

    The total is one formula with like terms collected. The LaTeX needs amsmath.

    \b
    Examples:
      albert-calc explain albert-base-v2
      albert-calc explain base --head masked-lm -f latex
      albert-calc explain albert-base-v2 --tensors
      albert-calc explain albert-base-v2 --activations -B 8
      albert-calc explain base --diagram
    """
    refuse_without("activations", under(BATCH_HEADING))
    if asked.format == "latex":
        refuse_beside(("format",), ("tensors", "activations"))
    problems = Problems()
    workload = USUAL
    with problems.collected():
        workload = workload_of(options)
    with problems.collected():
        asked.check()
    problems.raise_any()
    model = asked.model
    if diagram or asked.save:
        from albert_calc.pictures.diagrams import embedding_diagram

        return embedding_diagram(model.title, model.blueprint)
    steps, total = derivation(model.blueprint)
    if asked.format == "latex":
        from albert_calc.render.latex import render_derivation

        return Report(written=render_derivation(model.title, [*steps, total]))
    listed = component_tensors(model.blueprint)
    section = Section(
        key="components",
        columns=(
            Column("name", "component", "name"),
            Column("derivation", "derivation", "text", "people"),
            Column("formula", "formula", "text", "machines"),
            Column("numbers", "numbers", "text", "machines"),
            Column("parameters", "parameters", "count"),
            Column("tensors", "tensors", "data"),
        ),
        rows=tuple((*_row(step), listed.get(step.name, [])) for step in steps),
        total=(*_row(total), None),
        lines=(shape_line(model, formula_symbols(model.blueprint)),),
    )
    facts = {**model_facts(model), "components": (), "total": _data(total)}
    headline = f"{model.title}: {with_commas(total.parameters)} parameters"
    # What was asked for stands alone, but JSON has everything.
    whole = asked.format == "json" or not (tensors or activations)
    sections = [section] if whole else []
    sections += [_tensors(listed)] if tensors else []
    if activations:
        kept = kept_activations(model.config, model.blueprint, workload)
        if kept.reason:
            raise ConfigError(f"activations: {kept.reason}")
        own = workload._replace(attention=attention_of(model.config.model_type, workload))
        sections.append(_activations(model, kept, own))
        if not tensors:
            kept_bytes = with_commas(kept.bytes or 0)
            headline = f"{model.title}: {kept_bytes} bytes kept for the backward pass"
    report = Report(tuple(sections), facts, headline)
    if not activations:
        return report
    return report._replace(
        remarks=tuple(attention_notes(model.name, model.config.model_type, workload)),
        warnings=batch_warnings([model], workload),
    )


def _activations(model: Model, kept: Activations, workload: Workload) -> Section:
    """What a training step keeps, its bytes in symbols and in number."""
    symbols = frozenset(s for t in kept.tensors for s in t.formula.symbols)
    return Section(
        title="Kept for the backward pass, in bytes",
        key="activations",
        columns=(
            Column("part", "part", "text"),
            Column("name", "tensor", "text"),
            Column("dtype", "dtype", "text"),
            Column("copies", "copies", "count"),
            Column("formula", "formula", "text"),
            Column("bytes", "bytes", "count"),
        ),
        rows=tuple(
            (t.part, t.name, t.dtype, t.copies, t.formula.formula(), t.bytes) for t in kept.tensors
        ),
        total=("total", "", "", None, "", kept.bytes),
        lines=(shape_line(model, symbols), batch_line(workload)),
    )


def _row(step: Step) -> tuple[str, tuple[str, str], str, str, int]:
    formula, numbers = step.formula(), step.numbers()
    return (step.name, (formula, f"= {numbers}"), formula, numbers, step.parameters)


def _data(step: Step) -> dict[str, object]:
    return {"formula": step.formula(), "numbers": step.numbers(), "parameters": step.parameters}


def _tensors(listed: Mapping[str, list[dict[str, Any]]]) -> Section:
    return Section(
        title="Tensors",
        columns=(
            Column("component", "component", "name"),
            Column("tensor", "tensor", "text"),
            Column("shape", "shape", "text"),
            Column("copies", "copies", "count"),
        ),
        rows=tuple(
            (name, entry["name"], " × ".join(map(str, entry["shape"])), entry["copies"])
            for name, entries in listed.items()
            for entry in entries
        ),
    )
