"""Charts of what models have and cost: bars on one scale, and curves of sweeps."""

from collections.abc import Mapping, Sequence
from typing import Any

from albert_calc.config.model_config import ModelConfig
from albert_calc.config.presets import all_presets
from albert_calc.counting.comparison import PARTS, Built, Comparison, Pair
from albert_calc.counting.counts import Counts, count_parameters
from albert_calc.counting.priced import embedding_costs
from albert_calc.families.sizes import SIZES
from albert_calc.pictures.picture import (
    NO_REMARK,
    Bar,
    BarGroup,
    Chart,
    Curve,
    Limit,
    Mark,
    Meaning,
    Panel,
    Part,
    Remark,
)
from albert_calc.writing import numbers

_ROWS = ("token_embedding", *PARTS.values())
_PLACES = tuple(PARTS)

_HUES = {
    "token_embedding": 0, "embeddings": 0, "layers": 1, "pooler": 2, "head": 3,
    "other_embeddings": 4, "outside_the_layers": 5, "encoder": 5,
}  # fmt: skip
"""The same colour for the same part in every chart."""


def difference(pair: Pair) -> Remark:
    """``−82.9%``: the second of *pair* against the first; good where it is less."""
    if pair.before == pair.after:
        return Remark("the same", "dim")
    fraction = -pair.reduction
    meaning: Meaning = "good" if fraction < 0 else "bad"
    sign = "−" if fraction < 0 else "+"
    text = numbers.percent(abs(fraction))
    before = "about " if text.startswith("about ") else ""
    return Remark(before + sign + text.removeprefix(before), meaning)


def comparison_chart(compared: Sequence[tuple[str, Comparison]]) -> Chart:
    """Both token embeddings of each model, and both whole models in their parts."""
    vocabularies = {c.albert_style.model.values["V"] for _, c in compared}
    common = f", V = {vocabularies.pop():,}" if len(vocabularies) == 1 else ""
    embedding = Panel(
        f"Token embedding{common}",
        (Part("V × H", None), Part("V × E + E × H", 0)),
        tuple(_embedding_bars(title, c, show_vocabulary=not common) for title, c in compared),
    )
    present = _present([b for _, c in compared for b in (c.bert_style, c.albert_style)])
    whole = Panel(
        "Whole model",
        tuple(map(_part, present)),
        tuple(_model_bars(title, c, present) for title, c in compared),
    )
    return Chart("Built BERT-style and built ALBERT-style, in parameters", (), (embedding, whole))


def _embedding_bars(title: str, compared: Comparison, show_vocabulary: bool) -> BarGroup:
    values = compared.albert_style.model.values
    pair = embedding_costs(values["V"], values["E"], values["H"]).pair
    sizes = [f"V = {values['V']:,}"] if show_vocabulary else []
    return BarGroup(
        title,
        ", ".join([*sizes, f"E = {values['E']:,}"]),
        (
            Bar("BERT-style", (pair.before, 0)),
            Bar("ALBERT-style", (0, pair.after), difference(pair)),
        ),
    )


def _model_bars(title: str, compared: Comparison, rows: Sequence[str]) -> BarGroup:
    def values(built: Built) -> tuple[int, ...]:
        return tuple(built.rows.get(name, 0) for name in rows)

    executed = f"L = {compared.albert_style.model.values['L']:,}"
    return BarGroup(
        title,
        executed,
        (
            Bar("BERT-style", values(compared.bert_style)),
            Bar("ALBERT-style", values(compared.albert_style), difference(compared.total)),
        ),
    )


def _present(built: Sequence[Built]) -> list[str]:
    """The rows that any of *built* has."""
    return [name for name in _ROWS if any(b.rows.get(name) for b in built)]


def _part(name: str) -> Part:
    words = PARTS[name] if name == "encoder" else name
    return Part(words.replace("_", " "), _HUES[name])


def models_chart(models: Sequence[tuple[str, Counts]]) -> Chart:
    """Several models under each other, each in its parts, the others against the first."""
    present = [p for p in _PLACES if any(counts.of_part(p) for _, counts in models)]
    first = models[0][1].total
    bars = tuple(
        Bar(
            title,
            tuple(map(counts.of_part, present)),
            Remark(numbers.ratio(counts.total / first)) if index and first else NO_REMARK,
        )
        for index, (title, counts) in enumerate(models)
    )
    panel = Panel("", tuple(map(_part, present)), (BarGroup("", "", bars),))
    return Chart("Parameters", (), (panel,))


def count_chart(title: str, counts: Counts, words: str = "parameters") -> Chart:
    """The components of a model, each with its share, in the colours of their parts.

    *words* are what is counted.
    """
    total = counts.total
    components = [c for c in counts.components if c.parameters]
    places = [p for p in _PLACES if any(c.part == p for c in components)]
    bars = tuple(
        Bar(
            component.name.replace("_", " "),
            tuple(component.parameters if component.part == place else 0 for place in places),
            Remark(numbers.percent(numbers.part_of(component.parameters, total)), "dim"),
        )
        for component in components
    )
    panel = Panel("", tuple(map(_part, places)), (BarGroup("", "", bars),))
    return Chart(f"{title}: {numbers.count(total)} {words}", (), (panel,))


def cost_chart(
    title: str,
    costs: Sequence[tuple[str, Mapping[str, int]]],
    lines: Sequence[str] = (),
    limit: Limit | None = None,
) -> Chart:
    """The memory of each model in its parts, in bytes, and how it stands to *limit*."""
    names = list(dict.fromkeys(name for _, parts in costs for name in parts))
    shown = [n for n in names if any(parts.get(n) for _, parts in costs)]
    bars = tuple(
        Bar(model, tuple(parts.get(n, 0) for n in shown), _fits(sum(parts.values()), limit))
        for model, parts in costs
    )
    parts = tuple(Part(name, hue) for hue, name in enumerate(shown))
    panel = Panel("", parts, (BarGroup("", "", bars),), "bytes", limit)
    return Chart(title, tuple(lines), (panel,))


def _fits(size: int, limit: Limit | None) -> Remark:
    if limit is None:
        return NO_REMARK
    if size <= limit.value:
        return Remark("fits", "good")
    return Remark(f"{numbers.binary_size(size - limit.value)} too much", "bad")


def sweep_chart(
    title: str, line: str, varied: str, rows: Sequence[Sequence[Any]], model_type: str = ""
) -> Chart | Curve:
    """The total of each of *rows*, which hold a value of the key *varied* and that total.

    A size gives a curve, on which published models of *model_type* have their names; names
    give bars.
    """
    size = next((s for s in SIZES if s.key == varied), None)
    lines = (line,) if line else ()
    if size is None:
        bars = tuple(Bar(str(name), (total,)) for name, total in rows)
        panel = Panel("total parameters", (Part("", 0),), (BarGroup("", "", bars),))
        return Chart(title, lines, (panel,))
    points = tuple((value, total) for value, total in rows)
    marks = published_marks(model_type, varied, points)
    return Curve(title, lines, size.symbol, size.meaning, points, marks)


def published_marks(
    model_type: str, varied: str, points: Sequence[tuple[int, int]]
) -> tuple[Mark, ...]:
    """The published models of a type that are *points*: by their size *varied*, and their count."""
    found: dict[tuple[int, int], list[str]] = {}
    values, known = {x for x, _ in points}, set(points)
    for preset in all_presets():
        if preset.content.get("model_type") != model_type or not preset.hub:
            continue
        config = ModelConfig.from_dict(preset.content)
        value = getattr(config, varied)
        if value in values and (value, count_parameters(config).total) in known:
            found.setdefault((value, dict(points)[value]), []).append(preset.name)
    return tuple(Mark(_names(names), x, y) for (x, y), names in found.items())


def _names(names: Sequence[str]) -> str:
    """Up to two of *names*, and how many there are besides."""
    said = ", ".join(names[:2])
    return said if len(names) <= 2 else f"{said} and {len(names) - 2} more"
