"""A model against the techniques: as it is, factorized, shared, both."""

from collections.abc import Iterator, Sequence
from typing import Any

from albert_calc.cli.asked import Asked
from albert_calc.cli.shape import config_data, depth_notes, shape_line
from albert_calc.costs.workload import Workload
from albert_calc.counting.comparison import (
    Built,
    Comparison,
    Pair,
    broken_sharing,
    compare,
)
from albert_calc.counting.priced import embedding_costs, layer_costs
from albert_calc.counting.tensors import Blueprint, has_own_projection
from albert_calc.errors import Problems
from albert_calc.families.sizes import problems_of_sizes
from albert_calc.models.lookup import Found
from albert_calc.models.model import Model, read_model, sharing_problems
from albert_calc.named_tuple import NamedTuple
from albert_calc.report import Cell, Column, Report, Section
from albert_calc.writing.numbers import count as with_commas
from albert_calc.writing.numbers import fewer, short

_APART = ("embedding_size", "num_hidden_groups", "inner_group_num")
"""Sizes of the techniques, which a family without them cannot have."""


class Compared(NamedTuple):
    """A model, what it is called in a table, and what the techniques make of it."""

    model: Model
    title: str
    comparison: Comparison
    embedding_size: int


def compared(asked: Asked) -> list[Compared]:
    """The models that *asked* names, each against the techniques.

    E, G and N are the model's own where it has them, and those of the techniques elsewhere.
    Raises ``ConfigError`` with the problems of all.
    """
    problems = Problems()
    found = []
    with problems.collected():
        found = asked.found
    results = []
    for one in found:
        with problems.collected(one.name if len(found) > 1 else ""):
            results.append(_compared(asked, one))
    problems.raise_any()
    return results


def _compared(asked: Asked, found: Found) -> Compared:
    given = dict(asked.request.overrides)
    apart = {key: given.pop(key) for key in _APART if given.get(key) is not None}
    share = asked.request.share
    if found.origin == "sizes" and "embedding_size" in apart:
        # Sizes that were typed with an E are an ALBERT.
        given, apart = {**given, **apart}, {}
    plain = asked.request._replace(overrides=given, share=None)
    problems = Problems(problems_of_sizes(apart))
    problems += sharing_problems(share, apart.get("num_hidden_groups"))
    with problems.collected():
        model = read_model(found, plain)
    problems.raise_any()
    tables = model.config.family
    own = {
        key: value
        for key, value in apart.items()
        if tables.has(key)
        and (key != "embedding_size" or has_own_projection(model.blueprint.variant))
    }
    own_share = share if tables.default_share != "none" else None
    if own or own_share:
        model = read_model(found, plain._replace(overrides={**given, **own}, share=own_share))
    techniques = {key: value for key, value in apart.items() if key not in own}
    comparison = compare(
        model.blueprint,
        embedding_size=techniques.get("embedding_size"),
        share=share,
        groups=techniques.get("num_hidden_groups"),
        inner=techniques.get("inner_group_num"),
    )
    model = with_oddities(model, comparison.albert_style.model)
    size = comparison.albert_style.model.values["E"]
    if "embedding_size" not in apart and not has_own_projection(model.blueprint.variant):
        note = f"embedding_size: {model.name} has none of its own, so compared at E = {size}"
        model = model._replace(notes=(*model.notes, note))
    asked.remember(model)
    return Compared(model, model.name, comparison, size)


def with_oddities(model: Model, shared: Blueprint) -> Model:
    """*model* with a warning if its layers cannot be run as they are *shared*."""
    odd = (text for text in broken_sharing(shared, fatal=False) if text not in model.warnings)
    return model._replace(warnings=(*model.warnings, *odd))


def techniques_report(compared: Compared, workload: Workload | None = None) -> Report:
    """One model as it is and with each technique, row by row."""
    found = compared.comparison
    columns = _columns(found)
    first, last = columns[0][1], columns[-1][1]
    names = [name for name in last.rows if any(b.rows.get(name) for _, b in columns)]
    rows = tuple(
        (name, *(b.rows.get(name) for _, b in columns), _saved(first, last, name)) for name in names
    )
    total = Pair(first.total, last.total)
    headings = [Column(_key(built, found), heading, "count") for heading, built in columns]
    section = Section(
        columns=(
            Column("component", "component", "name"),
            *headings,
            Column("reduction", "saved", "saving"),
        ),
        rows=rows,
        total=("total", *(b.total for _, b in columns), total.reduction),
        lines=(_words(found), shape_line(compared.model)),
        label=("model", compared.title),
    )
    sections: tuple[Section, ...] = (section,)
    items = [item(compared)]
    if workload is not None:
        from albert_calc.cli.reports.cost import technique_costs

        built = [b for _, b in columns]
        added, costs = technique_costs(compared, list(zip(headings, built, strict=True)), workload)
        sections = (*sections, *added)
        items = [{**items[0], "cost": costs}]
    return Report(
        sections, headline=headline(compared), items=tuple(items),
        remarks=tuple(unlike([compared])),
    )  # fmt: skip


def _columns(found: Comparison) -> list[tuple[str, Built]]:
    """What is shown of *found*: a heading, and the model built so."""
    both, neither, own = found.albert_style, found.bert_style, found.as_it_is
    if own.rows == both.rows:
        return [("BERT-style", neither), ("ALBERT-style", both)]
    if own.rows == neither.rows:
        return [
            ("as it is", own),
            ("factorized embedding", found.factorized_unshared),
            (both.layers, found.standard_shared),
            ("both", both),
        ]
    has = "factorized already" if own.embedding == "factorized" else f"{own.layers} already"
    return [("BERT-style", neither), (f"as it is:\n{has}", own), ("ALBERT-style", both)]


def _key(built: Built, found: Comparison) -> str:
    for key in ("as_it_is", "standard_unshared", "factorized_unshared", "standard_shared"):
        if getattr(found, key) is built:
            return "bert_style" if key == "standard_unshared" else key
    return "albert_style"


def _saved(first: Built, last: Built, name: str) -> float | None:
    pair = Pair(first.rows.get(name, 0), last.rows.get(name, 0))
    return pair.reduction if pair.before != pair.after else None


def _words(found: Comparison) -> str:
    """What the techniques, or the two styles, are in a line."""
    layers = found.bert_style.model.values["L"]
    shared = found.albert_style.layers
    once = "one layer" if shared == "shared layers" else shared
    embedding = "V × E + E × H" if found.albert_style.embedding == "factorized" else "V × H"
    own = "one layer" if layers == 1 else f"{layers:,} layers of their own"
    times = "once" if layers == 1 else f"{layers:,} times"
    if found.as_it_is.rows == found.bert_style.rows:
        return f"as it is: V × H, {own} · both: {embedding}, {once} run {times}"
    return f"BERT-style: V × H, {own} · ALBERT-style: {embedding}, {once} run {times}"


def headline(compared: Compared) -> str:
    """The comparison in a sentence."""
    found = compared.comparison
    own, neither, both = found.as_it_is.total, found.bert_style.total, found.albert_style.total
    if found.as_it_is.rows == found.albert_style.rows:
        text = f"{with_commas(own)} parameters, {fewer(neither, own)}"
        return f"{compared.title}: {text} than built BERT-style ({short(neither)})"
    return (
        f"{compared.title}: {with_commas(own)} parameters; {with_commas(both)} with both"
        f" techniques, {fewer(own, both)}"
    )


def item(compared: Compared) -> dict[str, Any]:
    """The comparison as JSON carries it."""
    found, model = compared.comparison, compared.model
    values = found.albert_style.model.values
    embedding = embedding_costs(values["V"], values["E"], values["H"]).pair
    layers = layer_costs(found.albert_style.model)
    own = found.as_it_is
    return {
        "model": model.name,
        "model_type": model.config.model_type,
        "head": model.head,
        "config": {**config_data(model.config), "embedding_size": compared.embedding_size},
        "layout": model.layout,
        "as_it_is": {"embedding": own.embedding, "layers": own.layers, "total": own.total},
        "embedding": _pair(embedding, "standard", "factorized"),
        "layers": {"per_layer": layers.per_layer, **_pair(layers.pair, "unshared", "shared")},
        "total": {
            **_pair(found.total, "bert_style", "albert_style"),
            "as_it_is": own.total,
            "factorized": found.factorized_unshared.total,
            "shared": found.standard_shared.total,
        },
        "changed": _changed(compared),
    }


def _changed(compared: Compared) -> list[str]:
    """What the techniques change in the model, in words."""
    found = compared.comparison
    own, both = found.as_it_is, found.albert_style
    changes = []
    if own.embedding != both.embedding:
        size = compared.embedding_size
        changes.append(
            f"embedding: every table of tokens, positions and segments at width {size:,}, and a"
            f" projection {size:,} × H + H"
        )
        if "head" in own.rows and own.rows["head"] != both.rows["head"]:
            changes.append(f"head: the prediction at width {size:,}, as the table it is tied to")
    if own.layers != both.layers:
        changes.append(f"layers: {both.layers}, applied as often as before")
    return changes


def _pair(pair: Pair, before: str, after: str) -> dict[str, Any]:
    return {
        before: pair.before, after: pair.after, "reduction": pair.reduction, "ratio": pair.ratio,
    }  # fmt: skip


def ablation_report(several: Sequence[Compared]) -> Report:
    """All four combinations of both techniques, a table for each model."""
    sections, items = [], []
    for compared in several:
        found = compared.comparison
        # Where nothing is shared, or nothing factorized, some combinations are the same model.
        totals = {(b.embedding, b.layers): b.total for b in found.combinations.values()}
        rows: list[tuple[Cell, ...]] = []
        for names, total in totals.items():
            pair = Pair(found.total.before, total)
            rows.append((*names, total, pair.reduction, pair.ratio))
        sections.append(
            Section(
                title=compared.title if len(several) > 1 else "",
                lines=(shape_line(compared.model),),
                columns=(
                    Column("embedding", "embedding", "text"),
                    Column("layers", "layers", "text"),
                    Column("total", "total", "count"),
                    Column("reduction", "saved", "saving"),
                    Column("ratio", "ratio", "ratio"),
                ),
                rows=tuple(rows),
                label=("model", compared.title),
            )
        )
        items.append({**item(compared), "combinations": _combinations(found)})
    title = headline(several[0]) if len(several) == 1 else ""
    return Report(
        tuple(sections), headline=title, items=tuple(items), remarks=tuple(unlike(several))
    )


def _combinations(found: Comparison) -> list[dict[str, Any]]:
    return [
        {"embedding": embedding, "layers": layers, "total": built.total}
        for (embedding, layers), built in found.combinations.items()
    ]


def unlike(several: Sequence[Compared]) -> Iterator[str]:
    """Where the columns are not like for like."""
    if several[0].model.layout == "handbook":
        yield (
            "layout handbook: the BERT-style total has a pooler and the ALBERT-style total has"
            " none, as in the chapter; the other layouts compare like with like"
        )
    for compared in several:
        yield from depth_notes(compared.comparison.albert_style.model)
    square = [c.title for c in several if c.embedding_size == c.model.config.hidden_size]
    if several[0].model.layout == "paper" and square:
        yield f"layout paper: no projection where E = H ({', '.join(square)})"
