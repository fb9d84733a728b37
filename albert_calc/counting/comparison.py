"""A model with and without each of ALBERT's two techniques: what it would count either way."""

from collections.abc import Iterator, Mapping

from albert_calc.config.values import broken
from albert_calc.counting.counts import Counts, count
from albert_calc.counting.tensors import (
    Blueprint,
    Embedding,
    has_own_projection,
    is_factorized,
)
from albert_calc.errors import ConfigError
from albert_calc.families import family
from albert_calc.families.base import EMBEDDING_PROJECTION, TOKEN_EMBEDDING
from albert_calc.families.sizes import SYMBOLS
from albert_calc.named_tuple import NamedTuple
from albert_calc.writing.numbers import part_of

COMPARED_EMBEDDING_SIZE: int = family("albert").defaults["embedding_size"]
"""The E at which a model without one is compared: that of every published ALBERT."""

TOKEN_ROW = (TOKEN_EMBEDDING, EMBEDDING_PROJECTION)
"""The components that a token's own vector is made of: V·H, or V·E + E·H."""


class Pair(NamedTuple):
    """The same thing built in two ways; both are exact numbers of parameters."""

    before: int
    after: int

    @property
    def reduction(self) -> float:
        """The fraction saved, negative where the second costs more; 0 of nothing."""
        return part_of(self.before - self.after, self.before)

    @property
    def ratio(self) -> float | None:
        """How many times the second the first is; ``None`` if the second is nothing."""
        return self.before / self.after if self.after else None


PARTS: Mapping[str, str] = {
    "embeddings": "other_embeddings",
    "layers": "layers",
    "encoder": "outside_the_layers",
    "pooler": "pooler",
    "head": "head",
}
"""The rows of a comparison after ``token_embedding``: what is left of each part."""


class Built(NamedTuple):
    """A model built in one way: its tables, and its parameters row by row."""

    model: Blueprint
    rows: Mapping[str, int]

    @property
    def total(self) -> int:
        """All rows."""
        return sum(self.rows.values())

    @property
    def embedding(self) -> str:
        """How tokens are embedded, in a word."""
        return "factorized" if is_factorized(self.model.variant) else "standard"

    @property
    def layers(self) -> str:
        """Which layers are stored, in a few words."""
        return sharing_label(self.model)


class Comparison(NamedTuple):
    """A model as it is, and with and without each technique.

    ``standard`` and ``factorized`` say how tokens are embedded, ``unshared`` and ``shared``
    how layers are stored; what is neither embedding nor layers is the same in all, but that
    a tied prediction head follows the embedding.
    """

    as_it_is: Built
    standard_unshared: Built
    standard_shared: Built
    factorized_unshared: Built
    factorized_shared: Built

    @property
    def bert_style(self) -> Built:
        """Neither technique."""
        return self.standard_unshared

    @property
    def albert_style(self) -> Built:
        """Both techniques."""
        return self.factorized_shared

    @property
    def total(self) -> Pair:
        """Both models whole."""
        return Pair(self.bert_style.total, self.albert_style.total)

    def row(self, name: str) -> Pair:
        """One row, BERT-style and ALBERT-style."""
        return Pair(self.bert_style.rows.get(name, 0), self.albert_style.rows.get(name, 0))

    @property
    def combinations(self) -> dict[tuple[str, str], Built]:
        """Every combination of the two techniques."""
        return {
            ("standard", "unshared"): self.standard_unshared,
            ("standard", "shared"): self.standard_shared,
            ("factorized", "unshared"): self.factorized_unshared,
            ("factorized", "shared"): self.factorized_shared,
        }


def techniques(
    model: Blueprint, *, share: str | None = None, groups: int | None = None,
    inner: int | None = None,
) -> Blueprint:  # fmt: skip
    """*model* with its layers shared as *share* says, or as it does, or else all.

    They are stored in *groups* of *inner* layers; by default one, or as the model has them.
    Raises ``ConfigError`` if no ALBERT could be shared so.
    """
    own = model.variant
    values = {**model.values, "G": groups or model.values["G"], "N": inner or model.values["N"]}
    sharing = share or (own.share if own.share != "none" else "all")
    shared = Blueprint(own._replace(share=sharing, grouped=True), values)
    if problems := list(broken_sharing(shared, fatal=True)):
        raise ConfigError(problems)
    return shared


def broken_sharing(shared: Blueprint, *, fatal: bool) -> Iterator[str]:
    """Which of ALBERT's rules for shared layers *shared* breaks, whatever its family."""
    keys = {key: shared.values[symbol] for key, symbol in SYMBOLS.items() if symbol in "LGN"}
    albert = family("albert")
    known = {*keys, "share"}
    rules = tuple(rule for rule in albert.rules if known.issuperset(rule.keys))
    return broken(
        albert._replace(rules=rules), {**keys, "share": shared.variant.share}, fatal=fatal
    )


def compare(
    model: Blueprint, *, embedding_size: int | None = None, share: str | None = None,
    groups: int | None = None, inner: int | None = None,
) -> Comparison:  # fmt: skip
    """*model* against the techniques.

    A model without a factorized embedding is factorized at *embedding_size*; the rest is that
    of ``techniques``.
    """
    shared = techniques(model, share=share, groups=groups, inner=inner)
    values = dict(shared.values)
    if not has_own_projection(model.variant):
        values["E"] = embedding_size or COMPARED_EMBEDDING_SIZE

    def built(embedding: Embedding, sharing: str) -> Built:
        if model.variant.layout == "paper" and values["E"] == values["H"]:
            # The paper has no projection there.
            embedding = "standard"
        variant = shared.variant._replace(embedding=embedding, share=sharing)
        width = values["H"] if embedding == "standard" else values["E"]
        return _built(Blueprint(variant, {**values, "E": width}))

    sharing = shared.variant.share
    return Comparison(
        _built(model),
        built("standard", "none"),
        built("standard", sharing),
        built("factorized", "none"),
        built("factorized", sharing),
    )


def _built(model: Blueprint) -> Built:
    counts = count(model)
    rows = {"token_embedding": token_parameters(counts)}
    for part, name in PARTS.items():
        rest = rows["token_embedding"] if part == "embeddings" else 0
        if any(c.part == part for c in counts.components):
            rows[name] = counts.of_part(part) - rest
    return Built(model, rows)


def token_parameters(counts: Counts) -> int:
    """What a token's own vector costs: the table, and the projection if there is one."""
    return sum(c.parameters for c in counts.components if c.source.component in TOKEN_ROW)


def sharing_label(model: Blueprint) -> str:
    """Which layers of *model* are stored, in a few words that are true of it."""
    share, values = model.variant.share, model.values
    if share == "none":
        return "unshared layers"
    grouped = model.variant.grouped or family(model.variant.model_type).shared != (1,)
    groups, inner = (values["G"], values["N"]) if grouped else (1, 1)
    if share != "all":
        kept = {"attention": "shared attention", "ffn": "shared feed-forward"}[share]
        return kept if groups == 1 else f"{kept} in {groups:,} groups"
    copies = groups * inner
    if copies == 1:
        return "shared layers"
    if groups == values["L"] and inner == 1:
        return "unshared layers"
    return f"{copies:,} stored layers"
