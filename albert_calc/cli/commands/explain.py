"""``albert-calc explain``: a count as a derivation."""

from albert_calc.cli.command import Asked, model_command, option
from albert_calc.cli.shape import formula_symbols, model_facts, shape_line
from albert_calc.counting.derivation import Step, derivation
from albert_calc.counting.listing import component_tensors
from albert_calc.pictures.picture import Picture
from albert_calc.report import Column, Report, Section
from albert_calc.writing.numbers import count as with_commas


@model_command(
    "explain", class_head=True, formats=("table", "markdown", "latex", "json"), picture="--diagram"
)
@option("--tensors", is_flag=True, help="List the tensors of each component by name and shape.")
@option(
    "--diagram",
    is_flag=True,
    help="Draw the standard and the factorized embedding as rectangles, to scale.",
)
def command(asked: Asked, *, tensors: bool, diagram: bool) -> Report | Picture:  # fmt: skip
    """Derive a count: symbols, numbers, values.

    The total is one formula with like terms collected. The LaTeX needs amsmath.

    \b
    Examples:
      albert-calc explain albert-base-v2
      albert-calc explain base --head masked-lm -f latex
      albert-calc explain albert-base-v2 --tensors
      albert-calc explain base --diagram
    """
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
    sections = (section, _tensors(listed)) if tensors else (section,)
    return Report(sections, facts, f"{model.title}: {with_commas(total.parameters)} parameters")


def _row(step: Step) -> tuple[str, tuple[str, str], str, str, int]:
    formula, numbers = step.formula(), step.numbers()
    return (step.name, (formula, f"= {numbers}"), formula, numbers, step.parameters)


def _data(step: Step) -> dict[str, object]:
    return {"formula": step.formula(), "numbers": step.numbers(), "parameters": step.parameters}


def _tensors(listed: dict[str, list[dict[str, object]]]) -> Section:
    return Section(
        title="Tensors",
        columns=(
            Column("component", "component", "name"),
            Column("tensor", "tensor", "text"),
            Column("shape", "shape", "text"),
            Column("copies", "copies", "count"),
        ),
        rows=tuple(
            (name, entry["name"], " × ".join(map(str, entry["shape"])), entry["copies"])  # type: ignore[arg-type]
            for name, entries in listed.items()
            for entry in entries
        ),
    )
