"""``albert-calc count``: one model, component by component."""

from typing import TYPE_CHECKING, Any

import click

from albert_calc.cli.command import Asked, model_command, option
from albert_calc.cli.options import typed
from albert_calc.cli.shape import formula_symbols, model_facts, shape_line
from albert_calc.cli.trained import trained_options
from albert_calc.costs.trained import EVERYTHING, read_trained
from albert_calc.counting.counts import ComponentCount, Selection, count
from albert_calc.counting.listing import component_tensors
from albert_calc.errors import Problems
from albert_calc.models.model import Model
from albert_calc.report import Column, Report, Section
from albert_calc.writing.numbers import count as with_commas
from albert_calc.writing.numbers import part_of, percent

if TYPE_CHECKING:
    from albert_calc.costs.trainable import Trainable
    from albert_calc.pictures.picture import Picture

_WORDS: dict[Selection, str] = {
    "all": "parameters",
    "without_embeddings": "parameters without embedding tables",
    "matrices": "parameters in matrices and tables",
}


@model_command("count", class_head=True, picture="--chart")
@option("--total", is_flag=True, help="Print the bare number and nothing else.")
@option("--chart", is_flag=True, help="Draw the components as bars.")
@option(
    "--without-embeddings",
    is_flag=True,
    help="Leave out every embedding table, as num_parameters(exclude_embeddings=True) does.",
)
@option("--matrices", is_flag=True, help="Leave out biases and norms.")
@trained_options
def command(
    asked: Asked, *, total: bool, chart: bool, without_embeddings: bool, matrices: bool,
    **trained: Any,
) -> "Report | Picture":  # fmt: skip
    """Count one model, component by component.

    \b
    Examples:
      albert-calc count albert-base-v2
      albert-calc count path/to/config.json --head masked-lm
      albert-calc count albert-base-v2 --total
      albert-calc count base -f json | jq .total
      albert-calc count bert-base-uncased --lora 8 --lora-targets query,value
      albert-calc count -V 30000 -E 128 -H 768 -L 12
    """
    if total and (others := typed("format", "chart")):
        raise click.UsageError(f"--total and {others[0]} contradict each other: give one of them")
    if without_embeddings and matrices:
        raise click.UsageError("--without-embeddings and --matrices: give one of them")
    selection: Selection = "all"
    selection = "without_embeddings" if without_embeddings else selection
    selection = "matrices" if matrices else selection
    model, parts = _read(asked, trained)
    counts = count(model.blueprint, selection)
    if total:
        return Report(written=f"{counts.total}\n")
    if chart or asked.save:
        from albert_calc.pictures.charts import count_chart

        return count_chart(model.title, counts)
    return Report(
        (_section(model, counts.components, counts.total),),
        {
            **model_facts(model),
            **({} if selection == "all" else {"counted": selection}),
            "components": (),
            "total": counts.total,
            **({} if parts is None else parts._asdict()),
        },
        f"{model.title}: {with_commas(counts.total)} {_WORDS[selection]}{_trained(parts)}",
    )


def _read(asked: Asked, options: dict[str, Any]) -> "tuple[Model, Trainable | None]":
    """The model, and what of it is trained where that is asked for.

    Raises ``ConfigError`` with the problems of both.
    """
    problems = Problems()
    trained = EVERYTHING
    with problems.collected():
        trained = read_trained(options)
    with problems.collected():
        asked.model  # noqa: B018 - read for its problems, which are told with the others
    problems.raise_any()
    model = asked.model
    if trained == EVERYTHING:
        return model, None
    from albert_calc.costs.trainable import trainable_of

    return model, trainable_of(model.blueprint, trained)


def _trained(parts: "Trainable | None") -> str:
    """What is trained, as PEFT prints it."""
    if parts is None:
        return ""
    share = percent(part_of(parts.trainable, parts.all))
    return (
        f"\ntrainable {with_commas(parts.trainable)}, all {with_commas(parts.all)},"
        f" trainable % {share}"
    )


def _section(model: Model, components: tuple[ComponentCount, ...], total: int) -> Section:
    tensors = component_tensors(model.blueprint)
    return Section(
        key="components",
        columns=(
            Column("name", "component", "name"),
            Column("formula", "formula", "text"),
            Column("parameters", "parameters", "count"),
            Column("share", "share", "share"),
            Column("tensors", "tensors", "data"),
        ),
        rows=tuple(
            (
                c.name,
                "tied to the token embedding" if not c.source.parts else c.formula,
                c.parameters,
                part_of(c.parameters, total),
                tensors[c.name],
            )
            for c in components
        ),
        total=("total", "", total, None, None),
        lines=(shape_line(model, formula_symbols(model.blueprint)),),
    )
