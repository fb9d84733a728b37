"""``albert-calc embedding``: a standard against a factorized embedding."""

from typing import TYPE_CHECKING, Any

from albert_calc.cli.asked import Asked
from albert_calc.cli.command import model_command, option
from albert_calc.counting.comparison import COMPARED_EMBEDDING_SIZE, token_parameters
from albert_calc.counting.priced import embedding_costs
from albert_calc.counting.tensors import has_own_projection
from albert_calc.errors import Problems
from albert_calc.families.sizes import SIZES, size_problems
from albert_calc.models.model import read_model
from albert_calc.report import Column, Report, Section
from albert_calc.writing.numbers import count, percent

if TYPE_CHECKING:
    from albert_calc.pictures.picture import Picture

_KEYS = ("vocab_size", "embedding_size", "hidden_size")


@model_command("embedding", sizes="VEH", heads=False, picture="--diagram")
@option("--diagram", is_flag=True, help="Draw both as rectangles, to scale.")
def command(asked: Asked, *, diagram: bool) -> "Report | Picture":
    """Compare a standard embedding with a factorized one.

    A standard embedding has V × H parameters, a factorized one V × E + E × H.

    \b
    Examples:
      albert-calc embedding albert-base-v2
      albert-calc embedding bert-base-uncased -E 64
      albert-calc embedding -V 30522 -E 128 -H 768
    """
    name, sizes, notes = _sizes(asked)
    costs = embedding_costs(**sizes)
    pair = costs.pair
    if diagram or asked.save:
        from albert_calc.pictures.diagrams import token_embedding_diagram

        return token_embedding_diagram(**sizes)
    saves = pair.before > pair.after
    section = Section(
        columns=(
            Column("embedding", "embedding", "name"),
            Column("formula", "formula", "text"),
            Column("parameters", "parameters", "count"),
            Column("reduction", "saved", "saving"),
            Column("ratio", "ratio", "ratio"),
        ),
        rows=(
            ("standard", "V × H", pair.before, None, None),
            ("token_table", "V × E", costs.token_table, None, None),
            ("projection", "E × H", costs.projection, None, None),
            ("factorized", "V × E + E × H", pair.after, pair.reduction, pair.ratio),
        ),
        lines=(
            "V = {vocab_size:,}  E = {embedding_size:,}  H = {hidden_size:,}".format(**sizes),
            f"Factorizing saves while E < V × H / (V + H) = {costs.break_even:,.2f}.",
        ),
    )
    facts = {
        "model": name,
        "standard": pair.before,
        "factorized": pair.after,
        "token_table": costs.token_table,
        "projection": costs.projection,
        "reduction": pair.reduction,
        "ratio": pair.ratio,
        "break_even_embedding_size": costs.break_even,
    }
    said = f"{percent(abs(pair.reduction))} {'less' if saves else 'more'}"
    headline = f"token embedding: {count(pair.after)} factorized, {said} than {count(pair.before)}"
    nothing = () if saves else ("embedding_size: factorizing saves nothing at this E",)
    return Report((section,), facts, headline, remarks=(*notes, *nothing))


def _sizes(asked: Asked) -> tuple[str, dict[str, Any], tuple[str, ...]]:
    """A name, and V, E and H: as typed, or those of the model; and a note of an assumed E.

    Raises ``ConfigError`` with every problem.
    """
    given = asked.request.overrides
    if asked.found[0].origin == "sizes":
        sizes = [s for s in SIZES if s.key in _KEYS]
        problems = Problems(p for s in sizes for p in size_problems(s, given.get(s.key)))
        problems.raise_any()
        return "sizes", {key: given[key] for key in _KEYS}, ()
    size = given.get("embedding_size")
    plain = asked.request._replace(
        overrides={k: v for k, v in given.items() if k != "embedding_size"}
    )
    asked_size = (s for s in SIZES if s.key == "embedding_size")
    problems = Problems(p for s in asked_size for p in size_problems(s, size, False))
    with problems.collected():
        # A family without an E of its own is only compared at the one that was typed.
        if read_model(asked.found[0], plain).config.family.has("embedding_size"):
            plain = asked.request
    problems.raise_any()
    (model,) = asked.read(asked.found, plain)
    config = model.config
    notes: tuple[str, ...] = ()
    if size is None and has_own_projection(model.blueprint.variant):
        size, own = config.embedding_size or 0, token_parameters(model.counts)
        if own != embedding_costs(config.vocab_size, size, config.hidden_size).pair.after:
            notes = (
                f"{model.name}: its own projection is another, with {own:,} parameters in all",
            )
    elif size is None:
        size = COMPARED_EMBEDDING_SIZE
        notes = (f"embedding_size: {model.name} has none of its own, so E = {size}",)
    return model.name, {
        "vocab_size": config.vocab_size, "embedding_size": size, "hidden_size": config.hidden_size,
    }, notes  # fmt: skip
