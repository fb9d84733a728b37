"""The table of the ALBERT chapter: BERT-Base, and ALBERT's four shapes."""

from collections.abc import Sequence

from albert_calc.cli.reports.techniques import Compared, item, unlike
from albert_calc.config.presets import SHAPES, TITLES
from albert_calc.costs.workload import Workload
from albert_calc.counting.comparison import compare
from albert_calc.counting.priced import embedding_costs
from albert_calc.models.lookup import find_named
from albert_calc.models.model import Model, Request, read_model
from albert_calc.report import Column, Report, Section
from albert_calc.writing.numbers import ratio

_BASELINE = "bert-base-uncased"


def chapter_models(layout: str = "transformers") -> list[Compared]:
    """BERT-Base at E = H, as the book's table has it, and the four sizes of ALBERT."""
    request = Request(layout=layout)
    baseline = read_model(find_named(_BASELINE), request)
    return [
        _compared(baseline, "BERT-Base", baseline.config.hidden_size),
        *(_compared(read_model(find_named(s), request), TITLES[s], None) for s in SHAPES),
    ]


def _compared(model: Model, title: str, size: int | None) -> Compared:
    found = compare(model.blueprint, embedding_size=size)
    return Compared(model, title, found, found.albert_style.model.values["E"])


def chapter_report(several: Sequence[Compared], workload: Workload | None) -> Report:
    """A row a shape: its own embedding against V × H, and the whole model in both styles."""
    rows = []
    for compared in several:
        found = compared.comparison
        values = found.albert_style.model.values
        embedding = embedding_costs(values["V"], values["E"], values["H"]).pair
        rows.append(
            (
                compared.title, values["H"], values["E"], embedding.after,
                embedding.reduction, found.total.before, found.total.after,
                found.total.reduction,
            )
        )  # fmt: skip
    section = Section(
        columns=(
            Column("model", "model", "text"),
            Column("hidden_size", "H", "count"),
            Column("embedding_size", "E", "count", "machines"),
            Column("factorized", "embedding", "count"),
            Column("embedding_reduction", "saved", "saving"),
            Column("bert_style", "BERT-style", "count"),
            Column("albert_style", "ALBERT-style", "count"),
            Column("total_reduction", "saved", "saving"),
        ),
        rows=tuple(rows),
        lines=(
            _sizes(several),
            "embedding: V × E + E × H, saved against V × H",
            "BERT-style: V × H and unshared layers · ALBERT-style: V × E + E × H and one layer",
        ),
    )
    sections: tuple[Section, ...] = (section,)
    items = [item(c) for c in several]
    if workload is not None:
        from albert_calc.cli.reports.cost import chapter_costs

        added, costs = chapter_costs(several, workload)
        sections = (*sections, *added)
        items = [{**one, "cost": cost} for one, cost in zip(items, costs, strict=True)]
    factor = ratio(several[-1].comparison.total.ratio or 1.0)
    headline = f"BERT-Base and ALBERT, each shape built in both ways: up to {factor} fewer"
    return Report(sections, headline=headline, items=tuple(items), remarks=tuple(unlike(several)))


def _sizes(several: Sequence[Compared]) -> str:
    """V and E, and which rows have another E: a column of its own would make the table too wide."""
    values = several[-1].comparison.albert_style.model.values
    others = (c for c in several if c.embedding_size != values["E"])
    apart = "".join(f"  E = {c.embedding_size:,} for {c.title}" for c in others)
    return f"V = {values['V']:,}  E = {values['E']:,}{apart}"
