"""BERT-style against ALBERT-style: what each of ALBERT's two techniques saves.

May import ``albert_calc.algebra``, ``albert_calc.architectures``, ``albert_calc.config``,
``albert_calc.counts`` and ``albert_calc.tensors``.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from albert_calc.algebra import Polynomial, Repeated
from albert_calc.architectures import ARCHITECTURES
from albert_calc.architectures.base import (
    ATTENTION,
    EMBEDDING_PROJECTION,
    FEED_FORWARD,
    PARTICULAR,
    TOKEN_EMBEDDING,
    Component,
)
from albert_calc.config import ModelConfig, Traits
from albert_calc.counts import Counts, component_formulas, count_parameters
from albert_calc.tensors import Variant, variant_of

COMPARED_EMBEDDING_SIZE = ARCHITECTURES["albert"].defaults["embedding_size"]
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
        return (self.before - self.after) / self.before if self.before else 0.0

    @property
    def ratio(self) -> float | None:
        """How many times the second the first is; ``None`` if the second is nothing."""
        return self.before / self.after if self.after else None


class Comparison(NamedTuple):
    """One shape built BERT-style and ALBERT-style, row by row; ``total`` is their sum."""

    name: str
    bert_style: ModelConfig
    albert_style: ModelConfig
    layout: str
    rows: Mapping[str, Pair]

    @property
    def total(self) -> Pair:
        """Both models whole."""
        return add_up(self.rows.values())

    def without(self, row: str) -> Pair:
        """Both models but for one of the rows."""
        return add_up(pair for key, pair in self.rows.items() if key != row)

    @property
    def combinations(self) -> dict[tuple[str, str], int]:
        """Totals of standard or factorized embedding with unshared or shared layers.

        Everything outside the layers, the pooler included, goes with the embedding.
        """
        layers = self.rows["layers"]
        rest = self.without("layers")
        return {
            ("standard", "unshared"): rest.before + layers.before,
            ("standard", "shared"): rest.before + layers.after,
            ("factorized", "unshared"): rest.after + layers.before,
            ("factorized", "shared"): rest.after + layers.after,
        }


def add_up(pairs: Iterable[Pair]) -> Pair:
    """The sums of both sides of *pairs*."""
    sides = list(pairs)
    return Pair(sum(p.before for p in sides), sum(p.after for p in sides))


def albert_shape(
    mapping: Mapping[str, Any], overrides: Mapping[str, Any], share: str | None = None
) -> ModelConfig:
    """The ALBERT-style config of any model: *mapping* with *overrides* put over it.

    A model that has no E of its own, such as BERT, is given ``COMPARED_EMBEDDING_SIZE``
    unless *overrides* has one, and a note says so. Raises ``ConfigError`` for what
    ``ModelConfig.from_dict`` refuses.
    """
    own = ModelConfig.from_dict({**mapping, **overrides})
    foreign = [k for k in PARTICULAR if not ARCHITECTURES[own.model_type].has(k)]
    values = {**{k: v for k, v in mapping.items() if k not in foreign}, **overrides}
    values["model_type"] = "albert"
    assumed, notes = own.assumed, own.notes
    if values.get("embedding_size") is None and "embedding_size" in foreign:
        notes += (f"embedding_size: not given, so compared at E = {COMPARED_EMBEDDING_SIZE}",)
        assumed += ("embedding_size",)
    config = ModelConfig.from_dict(values, share or "all")
    # What stands in *overrides* is used here, whatever *own* has no use for.
    ignored = tuple(text for text in own.ignored if text.partition(":")[0] not in overrides)
    return replace(config, assumed=assumed, notes=notes, ignored=ignored)


def compare(name: str, albert_style: ModelConfig, layout: str) -> Comparison:
    """The model *albert_style* beside the BERT of the same shape."""
    bert_style = replace(
        albert_style, model_type="bert", embedding_size=None, share="none",
        num_hidden_groups=1, inner_group_num=1, notes=(), ignored=(),
    )  # fmt: skip
    before = count_parameters(bert_style, layout=layout)
    after = count_parameters(albert_style, layout=layout)
    rows = {key: Pair(_row(before, key), _row(after, key)) for key in _ROWS}
    return Comparison(name, bert_style, albert_style, layout, rows)


_ROWS = ("token_embedding", "other_embeddings", "layers", "pooler")


def _row(counts: Counts, key: str) -> int:
    if key in ("layers", "pooler"):
        return counts.of_part(key)
    tokens = sum(c.parameters for c in counts.components if c.source.component in TOKEN_ROW)
    return tokens if key == "token_embedding" else counts.of_part("embeddings") - tokens


class EmbeddingCosts(NamedTuple):
    """What a token embedding costs; parameters."""

    token_table: int
    projection: int
    pair: Pair
    break_even: float


def embedding_costs(vocab_size: int, embedding_size: int, hidden_size: int) -> EmbeddingCosts:
    """V·H against V·E + E·H, and the E below which the second is smaller, V·H / (V + H)."""
    values = {"V": vocab_size, "E": embedding_size, "H": hidden_size}
    table = _formula_of(TOKEN_EMBEDDING, "albert").evaluate(values)
    projection = _formula_of(EMBEDDING_PROJECTION, "albert").evaluate(values)
    standard = _formula_of(TOKEN_EMBEDDING, "bert").evaluate(values)
    return EmbeddingCosts(
        table, projection, Pair(standard, table + projection), standard / (vocab_size + hidden_size)
    )


def embedding_pair(config: ModelConfig) -> Pair:
    """What the token embedding of *config*'s sizes costs in both ways, in any layout."""
    sizes = config.symbols
    return embedding_costs(sizes["V"], sizes["E"], sizes["H"]).pair


class Priced(NamedTuple):
    """A formula in symbols and its value."""

    formula: str
    parameters: int


class LayerCosts(NamedTuple):
    """What the encoder's layers cost: each row's formula and number of parameters."""

    attention: Priced
    feed_forward: Priced
    layer: Priced
    unshared: Priced
    shared: Priced

    @property
    def per_layer(self) -> int:
        """One layer with both its blocks."""
        return self.layer.parameters

    @property
    def pair(self) -> Pair:
        """Unshared against shared."""
        return Pair(self.unshared.parameters, self.shared.parameters)


def layer_costs(config: ModelConfig) -> LayerCosts:
    """One layer of *config*, L of them, and what *config*'s way of sharing stores."""
    attention, feed_forward = _layer_blocks(config, config.share or "")
    every = _layer_blocks(config, "none")
    return LayerCosts(
        _priced(config, Repeated((), attention.body)),
        _priced(config, Repeated((), feed_forward.body)),
        _priced(config, Repeated((), attention.body), Repeated((), feed_forward.body)),
        _priced(config, *every),
        _priced(config, attention, feed_forward),
    )


def _layer_blocks(config: ModelConfig, share: str) -> tuple[Repeated, Repeated]:
    formulas = component_formulas(
        Variant(config.traits._replace(share=share), "model", "transformers")
    )
    blocks = {f.component: f.stored for f in formulas}
    return blocks[ATTENTION], blocks[FEED_FORWARD]


def _priced(config: ModelConfig, *parts: Repeated) -> Priced:
    repeats = {part.repeat for part in parts}
    if len(repeats) == 1:
        bodies = Polynomial.sum(part.body for part in parts)
        parts = (Repeated(parts[0].repeat, bodies),)
    return Priced(
        " + ".join(part.formula() for part in parts),
        sum(part.expanded().evaluate(config.symbols) for part in parts),
    )


def _formula_of(component: Component, model_type: str) -> Polynomial:
    share = ARCHITECTURES[model_type].default_share
    variant = Variant(Traits(model_type, share, True, True), "model", "transformers")
    return next(f.terms for f in component_formulas(variant) if f.component == component)


def embedding_label(config: ModelConfig, layout: str) -> str:
    """How the token embedding of *config* is built in *layout*, in a word."""
    formulas = component_formulas(variant_of(config, "model", layout))
    projected = any(f.component == EMBEDDING_PROJECTION for f in formulas)
    return "factorized" if projected else "standard"


def sharing_label(config: ModelConfig) -> str:
    """Which layers of *config* are stored, in a few words that are true of it."""
    if config.share == "none":
        return "unshared layers"
    if config.share != "all":
        kept = {"attention": "shared attention", "ffn": "shared feed-forward"}[config.share or ""]
        groups = config.num_hidden_groups
        return kept if groups == 1 else f"{kept} in {groups:,} groups"
    copies = config.num_hidden_groups * config.inner_group_num
    if copies == 1:
        return "shared layers"
    if config.num_hidden_groups == config.num_hidden_layers and config.inner_group_num == 1:
        return "unshared layers"
    return f"{copies:,} stored layers"
