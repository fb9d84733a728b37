"""``albert-calc count``: one model, component by component."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import click

from albert_calc.cli.asked import Asked
from albert_calc.cli.command import model_command, option
from albert_calc.cli.options import typed
from albert_calc.cli.shape import formula_symbols, model_facts, shape_line
from albert_calc.cli.trained import TRAINED_OPTIONS, trained_options
from albert_calc.costs.trainable import Trainable, adapter_notes, trainable_of
from albert_calc.costs.trained import EVERYTHING, Trained, read_trained, with_targets
from albert_calc.counting.counts import ComponentCount, Selection, count
from albert_calc.counting.listing import component_tensors
from albert_calc.counting.tensors import blueprint, variant_problems
from albert_calc.errors import Problems
from albert_calc.families.sizes import SYMBOLS
from albert_calc.models.model import Model
from albert_calc.report import Column, Report, Section
from albert_calc.writing.numbers import count as with_commas
from albert_calc.writing.numbers import part_of, percent

if TYPE_CHECKING:
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
    **options: Any,
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
    if (total or chart or asked.save) and (others := typed(*TRAINED_OPTIONS)):
        shown = "--total" if total else "--chart"
        raise click.UsageError(f"{shown} shows nothing of {others[0]}: give one of them")
    if without_embeddings and matrices:
        raise click.UsageError("--without-embeddings and --matrices: give one of them")
    selection: Selection = "all"
    selection = "without_embeddings" if without_embeddings else selection
    selection = "matrices" if matrices else selection
    model, trained = _read(asked, options)
    counts = count(model.blueprint, selection)
    if total:
        return Report(written=f"{counts.total}\n")
    if chart or asked.save:
        from albert_calc.pictures.charts import count_chart

        return count_chart(model.title, counts)
    return Report(
        tuple(_sections(model, counts.components, counts.total, trained)),
        {
            **model_facts(model),
            **({} if selection == "all" else {"counted": selection}),
            "components": (),
            "total": counts.total,
            **({} if trained == EVERYTHING else trainable_of(model.blueprint, trained)._asdict()),
        },
        f"{model.title}: {with_commas(counts.total)} {_WORDS[selection]}",
        remarks=(
            *uncounted_sizes(model, asked.request.overrides),
            *adapter_notes(model.blueprint.variant, trained),
        ),
    )


def _read(asked: Asked, options: dict[str, Any]) -> tuple[Model, Trained]:
    """The model, and what of it is trained.

    Raises ``ConfigError`` with the problems of both.
    """
    problems = Problems()
    trained = EVERYTHING
    with problems.collected():
        trained = read_trained(options)
    with problems.collected():
        asked.check()
    problems.raise_any()
    return asked.model, with_targets(trained, asked.model.config.model_type)


def uncounted_sizes(model: Model, given: Mapping[str, Any]) -> Iterator[str]:
    """Which sizes of those *given* count nothing in *model*, but in other heads."""
    counted = formula_symbols(model.blueprint)
    for key, symbol in SYMBOLS.items():
        if given.get(key) is None or symbol in counted:
            continue
        heads = [
            head for head in model.config.family.heads
            if not variant_problems(model.config.model_type, head, model.layout)
            and symbol in formula_symbols(blueprint(model.config, head, model.layout))
        ]  # fmt: skip
        if heads:
            yield f"{key}: counts nothing here, as it would with --head {' or '.join(heads)}"


def _trained_line(parts: Trainable, trained: Trained) -> str:
    """What is trained; the share with the decimals that PEFT prints."""
    share = percent(part_of(parts.trainable, parts.all), 4)
    line = f"trainable {with_commas(parts.trainable)} of {with_commas(parts.all)} ({share})"
    return f"{line}: {trained.words}"


def _sections(
    model: Model, components: tuple[ComponentCount, ...], total: int, trained: Trained
) -> Iterator[Section]:
    """The components, and for CSV what is trained in rows of its own."""
    section = _section(model, components, total)
    if trained == EVERYTHING:
        yield section
        return
    parts = trainable_of(model.blueprint, trained)
    yield section._replace(lines=(*section.lines, _trained_line(parts, trained)))
    yield Section(
        (Column("name", "", "name", "machines"), Column("parameters", "", "count", "machines")),
        tuple(parts._asdict().items()),
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
