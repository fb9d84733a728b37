"""``albert-calc count``: one model, component by component."""

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from albert_calc.cli.asked import Asked
from albert_calc.cli.command import model_command, option
from albert_calc.cli.options import TRAINED_HEADING, refuse_beside, under
from albert_calc.cli.shape import formula_symbols, model_facts, shape_line
from albert_calc.cli.trained import trained_options
from albert_calc.counting.counts import ComponentCount, Selection, count
from albert_calc.counting.tensors import blueprint, component_tensors
from albert_calc.errors import ConfigError, Problems
from albert_calc.families.sizes import SYMBOLS
from albert_calc.models.model import Model
from albert_calc.report import Column, Report, Section
from albert_calc.writing.numbers import count as with_commas
from albert_calc.writing.numbers import part_of, percent

if TYPE_CHECKING:
    from albert_calc.costs.trained import Trained
    from albert_calc.pictures.picture import Picture

_WORDS: dict[Selection, str] = {
    "all": "parameters",
    "without_embeddings": "parameters without embedding tables",
    "matrices": "parameters in matrices and tables",
}


@model_command("count", class_head=True, picture="--chart", undrawn=("total",))
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
    refuse_beside(("total",), ("format",))
    refuse_beside(("total", "chart", "save"), under(TRAINED_HEADING))
    refuse_beside(("without_embeddings",), ("matrices",))
    selection: Selection = "all"
    selection = "without_embeddings" if without_embeddings else selection
    selection = "matrices" if matrices else selection
    model, trained = _read(asked, options)
    counts = count(model.blueprint, selection)
    if total:
        return Report(written=f"{counts.total}\n")
    if chart or asked.save:
        from albert_calc.pictures.charts import count_chart

        return count_chart(model.title, counts, _WORDS[selection])
    report = Report(
        (_section(model, counts.components, counts.total),),
        {
            **model_facts(model),
            **({} if selection == "all" else {"counted": selection}),
            "components": (),
            "total": counts.total,
        },
        f"{model.title}: {with_commas(counts.total)} {_WORDS[selection]}",
        remarks=tuple(uncounted_sizes(model, asked.request.overrides)),
    )
    return _with_trained(report, model, trained) if trained else report


def _read(asked: Asked, options: dict[str, Any]) -> "tuple[Model, Trained | None]":
    """The model, and what of it is trained where *options* say so.

    Raises ``ConfigError`` with the problems of both.
    """
    problems = Problems()
    trained = None
    if any(value is not None for value in options.values()):
        from albert_calc.costs.trained import read_trained

        with problems.collected():
            trained = read_trained(options)
    with problems.collected():
        asked.check()
    problems.raise_any()
    return asked.model, trained


def uncounted_sizes(model: Model, given: Mapping[str, Any]) -> Iterator[str]:
    """Which sizes of those *given* count nothing in *model*, but in other heads."""
    for key, symbol in SYMBOLS.items():
        if given.get(key) is None or symbol in formula_symbols(model.blueprint):
            continue
        heads = [h for h in model.config.family.heads if symbol in _symbols_with(h, model)]
        if heads:
            yield f"{key}: counts nothing here, as it would with --head {' or '.join(heads)}"


def _symbols_with(head: str, model: Model) -> Collection[str]:
    """The symbols in the formulas of *model* with another *head*; none where it cannot have it."""
    try:
        return formula_symbols(blueprint(model.config, head, model.layout))
    except ConfigError:
        return ()


def _with_trained(report: Report, model: Model, trained: "Trained") -> Report:
    """*report* with what of *model* is trained; the share has the decimals that PEFT prints."""
    from albert_calc.costs.trainable import trainable_of, trained_notes
    from albert_calc.costs.trained import with_targets

    trained = with_targets(trained, model.config.model_type)
    if trained.everything:
        return report
    parts = trainable_of(model.blueprint, trained)
    share = percent(part_of(parts.trainable, parts.all), 4)
    line = f"trainable {with_commas(parts.trainable)} of {with_commas(parts.all)} ({share})"
    components = report.sections[0]
    for_csv = Section(
        (Column("name", "", "name", "machines"), Column("parameters", "", "count", "machines")),
        tuple(parts._asdict().items()),
    )
    return report._replace(
        sections=(
            components._replace(lines=(*components.lines, f"{line}: {trained.words}")),
            for_csv,
        ),
        facts={**report.facts, **parts._asdict()},
        remarks=(*report.remarks, *trained_notes(model.blueprint, trained)),
    )


def _section(model: Model, components: tuple[ComponentCount, ...], total: int) -> Section:
    counted = model.blueprint
    tensors = component_tensors(counted)
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
        lines=(shape_line(model, formula_symbols(counted)),),
    )
