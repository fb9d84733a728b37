"""Models side by side: the sizes that differ, and every component."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from albert_calc.cli.asked import Asked
from albert_calc.cli.shape import column_keys, model_facts
from albert_calc.costs.workload import Workload
from albert_calc.families.sizes import SIZES
from albert_calc.models.changes import Side, component_names, side_by_side
from albert_calc.report import Column, Figure, Report, Section, figures_section
from albert_calc.writing.numbers import count, ratio

if TYPE_CHECKING:
    from albert_calc.pictures.picture import Picture

_UNSHOWN = ("head",)


def several_report(asked: Asked, *, drawn: bool, workload: Workload | None) -> "Report | Picture":
    """The models that *asked* names, a column each."""
    sides = side_by_side(asked.models)
    if drawn:
        from albert_calc.pictures.charts import models_chart

        return models_chart([(s.model.title, s.model.counts) for s in sides])
    sections: tuple[Section, ...] = (_section(sides),)
    if len(sides) == 2:
        sections += (_totals(*sides),)
    items = [_item(side, first=side is sides[0]) for side in sides]
    if workload is not None:
        from albert_calc.cli.reports.cost import costs_sections
        from albert_calc.cli.reports.cost_data import cost_data
        from albert_calc.cli.reports.costed import costs_of

        costs = costs_of([s.model for s in sides], workload)
        sections = (*sections, *costs_sections(costs))
        items = [{**one, "cost": cost_data(cost)} for one, cost in zip(items, costs, strict=True)]
    return Report(sections, headline=_headline(sides), items=tuple(items))


def _section(sides: Sequence[Side]) -> Section:
    two = len(sides) == 2
    keys = column_keys([side.model.name for side in sides])
    columns = [
        Column(key, side.model.title, "count") for key, side in zip(keys, sides, strict=True)
    ]
    if two:
        columns.append(Column("difference", "difference", "difference"))
    figures = [*_changed(sides, two=two), *_components(sides, two=two)]
    totals = tuple(s.total for s in sides)
    section = figures_section(figures, columns, lines=(_agreed(sides),))
    total = ("total", "total", *totals, *([sides[1].difference] if two else []))
    if two:
        return section._replace(total=total)
    figures += [
        Figure("total", "count", totals),
        Figure("difference", "difference", (None, *(s.difference for s in sides[1:]))),
        Figure("ratio", "ratio", (None, *(s.ratio for s in sides[1:]))),
    ]
    return figures_section(figures, columns, lines=(_agreed(sides),))


def _totals(first: Side, second: Side) -> Section:
    """The totals of two models for CSV, which has no last line of a table."""
    keys = column_keys([first.model.name, second.model.name])
    names = ("component", *keys, "difference")
    return Section(
        tuple(Column(name, "", "count", "machines") for name in names),
        (
            ("total", first.total, second.total, second.difference),
            ("ratio", None, second.ratio, None),
        ),
    )


def _changed(sides: Sequence[Side], *, two: bool) -> list[Figure]:
    """A row for each key that differs between any of the models."""
    order = {size.key: place for place, size in enumerate(SIZES)}
    keys = dict.fromkeys(k for s in sides for k in s.changed if k not in _UNSHOWN)
    rows = []
    for key in sorted(keys, key=lambda k: order.get(k, len(order))):
        values = [_value(sides, side, key) for side in sides]
        if two:
            values.append(_difference(values))
        rows.append(Figure(key, "count", tuple(values), group="sizes that differ"))
    return rows


def _value(sides: Sequence[Side], side: Side, key: str) -> Any:
    """The value of *key* in *side*: its own, or that of the first, which it then shares."""
    if key in side.changed:
        value = side.changed[key][1]
    else:
        value = next(s.changed[key][0] for s in sides if key in s.changed)
    return str(value).lower() if isinstance(value, bool | list | dict) else value


def _difference(values: Sequence[Any]) -> Any:
    from albert_calc.report import Quantity

    if all(isinstance(v, int) for v in values):
        return Quantity(values[1] - values[0], "difference")
    return None


def _components(sides: Sequence[Side], *, two: bool) -> list[Figure]:
    from albert_calc.report import Quantity

    rows = []
    for name in component_names(sides):
        values: list[Any] = [s.components.get(name) for s in sides]
        if two:
            gained = (values[1] or 0) - (values[0] or 0)
            values.append(Quantity(gained, "difference"))
        label = name.replace("_", " ")
        rows.append(Figure(label, "count", tuple(values), name, group="parameters"))
    return rows


def _agreed(sides: Sequence[Side]) -> str:
    """The sizes on which all models agree, on one line."""
    differing = {k for s in sides for k in s.changed}
    first = sides[0].model
    keys = {k: v for k, v in first.config.to_dict().items() if k not in differing}
    said = ", ".join(f"{k} {v:,}" if isinstance(v, int) else f"{k} {v}" for k, v in keys.items())
    return f"the same in all: {said}" if said else ""


def _headline(sides: Sequence[Side]) -> str:
    first, second = sides[0], sides[1]
    if len(sides) > 2:
        largest = max(sides, key=lambda s: s.total)
        smallest = min(sides, key=lambda s: s.total)
        factor = ratio(largest.total / smallest.total)
        return f"{len(sides)} models; {largest.model.name} has {factor} the parameters of" + (
            f" {smallest.model.name}"
        )
    names = f"{first.model.name} and {second.model.name}"
    if not second.changed and not second.difference:
        return f"{names} have the same sizes: {count(first.total)} parameters"
    if not second.difference:
        return f"{names} have the same number of parameters: {count(first.total)}"
    word = "more" if second.difference > 0 else "fewer"
    return (
        f"{second.model.name} has {count(abs(second.difference))} parameters {word} than"
        f" {first.model.name} ({ratio(second.ratio)})"
    )


def _item(side: Side, *, first: bool) -> dict[str, Any]:
    facts = {**model_facts(side.model), "components": dict(side.components), "total": side.total}
    if first:
        return facts
    return {
        **facts,
        "difference": side.difference,
        "ratio": side.ratio,
        "changed": {key: list(values) for key, values in side.changed.items()},
    }
