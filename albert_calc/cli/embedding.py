"""``albert-calc embedding``: a standard against a factorized embedding."""

from typing import Any

from albert_calc.cli.command import command
from albert_calc.cli.options import format_option, size_options
from albert_calc.cli.output import emit, say
from albert_calc.comparison import embedding_costs
from albert_calc.report import Column, Report, Section
from albert_calc.sizes import checked_sizes


@command()
@size_options("V", "E", "H")
@format_option
def embedding(format: str, **options: Any) -> None:
    """Compare a standard embedding with a factorized one.

    The one has V × H parameters, the other V × E + E × H.

    \b
    Example:
      albert-calc embedding -V 30522 -E 128 -H 768
    """
    sizes = checked_sizes(options, "vocab_size", "embedding_size", "hidden_size")
    costs = embedding_costs(**sizes)
    pair = costs.pair
    if pair.before <= pair.after:
        say("note", ["embedding_size: factorizing saves nothing at this E"])
    section = Section(
        title="Token embedding",
        lines=(
            "V = {vocab_size:,}  E = {embedding_size:,}  H = {hidden_size:,}".format(**sizes),
            f"Factorizing saves while E < V × H / (V + H) = {costs.break_even:,.2f}.",
        ),
        columns=(
            Column("embedding", "embedding", "name"),
            Column("formula", "formula", "text"),
            Column("parameters", "parameters", "count"),
            Column("reduction", "reduction", "percent"),
            Column("ratio", "ratio", "ratio"),
        ),
        rows=(
            ("standard", "V × H", pair.before, None, None),
            ("token_table", "V × E", costs.token_table, None, None),
            ("projection", "E × H", costs.projection, None, None),
            ("factorized", "V × E + E × H", pair.after, pair.reduction, pair.ratio),
        ),
    )
    data = {
        "standard": pair.before,
        "factorized": pair.after,
        "token_table": costs.token_table,
        "projection": costs.projection,
        "reduction": pair.reduction,
        "ratio": pair.ratio,
        "break_even_embedding_size": costs.break_even,
    }
    emit(Report((section,), data), format)
