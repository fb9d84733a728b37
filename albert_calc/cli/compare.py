"""``albert-calc compare``: one shape built BERT-style and ALBERT-style."""

from collections.abc import Iterator
from typing import Any

import click

from albert_calc.algebra import Polynomial
from albert_calc.cli.command import command
from albert_calc.cli.cost_report import (
    compared_costs,
    cost_options,
    refuse_idle_workload,
    workload_of,
)
from albert_calc.cli.options import (
    Source,
    format_option,
    layout_option,
    requested,
    shape_options,
    share_option,
)
from albert_calc.cli.output import emit, say, say_about
from albert_calc.cli.pictures import picture_options, refuse_contradictions, show
from albert_calc.cli.remarks import depth_notes
from albert_calc.cli.shape import config_data, shape_line
from albert_calc.comparison import (
    TOKEN_ROW,
    Comparison,
    Pair,
    albert_shape,
    embedding_label,
    embedding_pair,
    layer_costs,
    sharing_label,
)
from albert_calc.comparison import compare as compare_shapes
from albert_calc.counts import component_formulas
from albert_calc.errors import Problems
from albert_calc.presets import SHAPES, load_preset
from albert_calc.report import Cell, Column, Report, Section
from albert_calc.tensors import variant_of

_BASELINE = "bert-base-uncased"

_NAMES = {
    _BASELINE: "BERT-Base",
    "base": "ALBERT-Base",
    "large": "ALBERT-Large",
    "xlarge": "ALBERT-xLarge",
    "xxlarge": "ALBERT-xxLarge",
}


@command()
@shape_options(*"VEHLIAPTGN", multiple=True)
@share_option
@layout_option
@click.option("--ablation", is_flag=True, help="Show all four combinations of both techniques.")
@picture_options("--chart", "Draw both ways of each model as bars, on a common scale.")
@click.option("--cost", is_flag=True, help="Add what both ways cost in memory and FLOPs.")
@cost_options
@format_option
def compare(
    ablation: bool, chart: bool, cost: bool, save: str | None, layout: str, format: str,
    share: str | None, **options: Any,
) -> None:  # fmt: skip
    """Compare a shape built BERT-style and built ALBERT-style.

    BERT-style is a standard embedding and unshared layers, ALBERT-style a factorized
    embedding and shared layers. Without a model: a row for each of BERT-Base and
    ALBERT-Base to ALBERT-xxLarge.

    \b
    Examples:
      albert-calc compare
      albert-calc compare --preset xxlarge
      albert-calc compare --preset base --preset large --ablation
      albert-calc compare -V 30522 -E 64 -H 512 -L 8 --share ffn
      albert-calc compare --preset base --cost -B 32 -S 128
      albert-calc compare --chart --save compare.svg
    """
    refuse_contradictions("--chart", chart, save, "ablation", "cost")
    problems = Problems()
    if cost:
        problems += workload_of(options).problems()
    else:
        refuse_idle_workload()
    sources, compared = [], []
    with problems.collected():
        sources = requested({**options, "share": share})
    for source in sources or _book_rows():
        with problems.collected():
            shape = source.annotated(albert_shape(source.mapping, source.overrides, share))
            compared.append(compare_shapes(source.name, shape, layout))
    problems.raise_any()
    say_about(c.albert_style for c in compared)
    say("note", _unlike(compared))
    if chart:
        from albert_calc.cli.drawings import comparison_chart

        show(comparison_chart(compared, [_name(c) for c in compared]), save)
        return
    if ablation:
        sections = [_ablation(c) for c in compared]
    elif sources:
        sections = [_side_by_side(c) for c in compared]
    else:
        sections = [_summary(compared)]
    data = [_data(c, ablation) for c in compared]
    if cost:
        added, costs = compared_costs(compared, [_heads(c) for c in compared], options)
        sections += added
        data = [{**found, "cost": both} for found, both in zip(data, costs, strict=True)]
    emit(Report(tuple(sections), data), format)


def _book_rows() -> list[Source]:
    """BERT-Base at E = H, as the book's table has it, and the four sizes of ALBERT."""
    baseline = load_preset(_BASELINE)
    return [
        Source(_BASELINE, baseline.content, {"embedding_size": baseline.config.hidden_size}),
        *(Source(size, load_preset(size).content, {}) for size in SHAPES),
    ]


def _unlike(compared: list[Comparison]) -> Iterator[str]:
    """Where the two columns are not like for like."""
    if compared[0].layout == "handbook":
        yield (
            "layout handbook: the BERT-style total has a pooler and the ALBERT-style total has"
            " none, as in the chapter; the other layouts compare like with like"
        )
    for c in compared:
        yield from depth_notes(c.albert_style)
    square = [c.name for c in compared if not c.albert_style.factorized]
    if compared[0].layout == "paper" and square:
        yield f"layout paper: no projection where E = H ({', '.join(square)})"


def _name(compared: Comparison) -> str:
    return _NAMES.get(compared.name, compared.name)


def _heads(compared: Comparison) -> tuple[str, str]:
    """What the two columns hold, true for the options given."""
    return (
        f"BERT-style:\n{embedding_label(compared.bert_style, compared.layout)},"
        f"\n{sharing_label(compared.bert_style)}",
        f"ALBERT-style:\n{embedding_label(compared.albert_style, compared.layout)},"
        f"\n{sharing_label(compared.albert_style)}",
    )


def _pair_cells(pair: Pair) -> tuple[Cell, ...]:
    return (pair.before, pair.after, pair.reduction, pair.ratio)


def _side_by_side(compared: Comparison) -> Section:
    before, after = _heads(compared)
    rows = [(key, *_pair_cells(pair)) for key, pair in compared.rows.items()]
    return Section(
        title=compared.name,
        lines=(shape_line(compared.albert_style), *_formula_lines(compared)),
        columns=(
            Column("component", "component", "name"),
            Column("bert_style", before, "count"),
            Column("albert_style", after, "count"),
            Column("reduction", "reduction", "percent"),
            Column("ratio", "ratio", "ratio"),
        ),
        rows=(*rows, ("total", *_pair_cells(compared.total))),
        label=("preset", compared.name),
        has_total=True,
    )


def _formula_lines(compared: Comparison) -> tuple[str, ...]:
    before, after = (
        component_formulas(variant_of(c, "model", compared.layout))
        for c in (compared.bert_style, compared.albert_style)
    )
    tokens = [
        Polynomial.sum(f.terms for f in formulas if f.component in TOKEN_ROW).formula()
        for formulas in (before, after)
    ]
    layer = layer_costs(compared.albert_style).per_layer
    return (f"token embedding: {tokens[0]} against {tokens[1]}", f"one layer: {layer:,}")


def _ablation(compared: Comparison) -> Section:
    labels = {
        "standard": embedding_label(compared.bert_style, compared.layout),
        "factorized": embedding_label(compared.albert_style, compared.layout),
        "unshared": sharing_label(compared.bert_style),
        "shared": sharing_label(compared.albert_style),
    }
    # Where nothing is shared, or nothing factorized, some combinations are the same model.
    totals = {(labels[e], labels[n]): total for (e, n), total in compared.combinations.items()}
    rows = []
    for names, total in totals.items():
        pair = Pair(compared.total.before, total)
        rows.append((*names, total, pair.reduction, pair.ratio))
    return Section(
        title=compared.name,
        lines=(shape_line(compared.albert_style),),
        columns=(
            Column("embedding", "embedding", "text"),
            Column("layers", "layers", "text"),
            Column("total", "total", "count"),
            Column("reduction", "reduction", "percent"),
            Column("ratio", "ratio", "ratio"),
        ),
        rows=tuple(rows),
        label=("preset", compared.name),
    )


def _summary(compared: list[Comparison]) -> Section:
    before, after = _heads(compared[-1])
    rows = []
    for c in compared:
        sizes = c.albert_style
        embedding = embedding_pair(sizes)
        rows.append(
            (
                _name(c), sizes.hidden_size, sizes.embedding_size, embedding.after,
                embedding.reduction, c.total.before, c.total.after, c.total.reduction,
            )
        )  # fmt: skip
    return Section(
        title="BERT-Base and ALBERT, each shape built in both ways",
        lines=(
            f"V = {compared[0].albert_style.vocab_size:,}; embedding: V × E + E × H,"
            " its reduction against V × H",
        ),
        columns=(
            Column("model", "model", "text"),
            Column("hidden_size", "H", "count"),
            Column("embedding_size", "E", "count"),
            Column("factorized", "embedding", "count"),
            Column("embedding_reduction", "saves", "percent"),
            Column("bert_style", before, "count"),
            Column("albert_style", after, "count"),
            Column("total_reduction", "saves", "percent"),
        ),
        rows=tuple(rows),
    )


def _data(compared: Comparison, ablation: bool) -> dict[str, Any]:
    config = compared.albert_style
    embedding, layers = embedding_pair(config), layer_costs(config)
    data: dict[str, Any] = {
        "preset": compared.name,
        "config": config_data(config),
        "layout": compared.layout,
        "embedding": _pair_data(embedding, "standard", "factorized"),
        "layers": {
            "per_layer": layers.per_layer,
            **_pair_data(layers.pair, "unshared", "shared"),
        },
        "total": _pair_data(compared.total, "bert_style", "albert_style"),
    }
    if ablation:
        data["combinations"] = [
            {"embedding": embedding, "layers": layers, "total": total}
            for (embedding, layers), total in compared.combinations.items()
        ]
    return data


def _pair_data(pair: Pair, before: str, after: str) -> dict[str, Any]:
    return {
        before: pair.before,
        after: pair.after,
        "reduction": pair.reduction,
        "ratio": pair.ratio,
    }
