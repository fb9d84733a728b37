"""What each of ALBERT's two techniques costs alone: a token embedding, and a model's layers."""

from collections.abc import Iterable, Mapping

from albert_calc.algebra import Dims, Polynomial, Repeated, sum_formula
from albert_calc.counting.comparison import Pair
from albert_calc.counting.counts import component_formulas
from albert_calc.counting.tensors import Blueprint, Variant
from albert_calc.families import family
from albert_calc.families.base import EMBEDDING_PROJECTION, TOKEN_EMBEDDING, Component
from albert_calc.named_tuple import NamedTuple


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


def _formula_of(component: Component, model_type: str) -> Polynomial:
    tables = family(model_type)
    variant = Variant(
        model_type, frozenset({"factorized"}), tables.default_share, True, "model", "transformers"
    )
    return next(f.terms for f in component_formulas(variant) if f.component == component)


class Priced(NamedTuple):
    """A formula in symbols and its value."""

    formula: str
    parameters: int


class LayerCosts(NamedTuple):
    """What the encoder's layers cost: each row's formula and number of parameters.

    ``blocks`` are the components of one layer, by name.
    """

    blocks: Mapping[str, Priced]
    layer: Priced
    unshared: Priced
    shared: Priced

    @property
    def per_layer(self) -> int:
        """One layer with all its blocks."""
        return self.layer.parameters

    @property
    def pair(self) -> Pair:
        """Unshared against shared."""
        return Pair(self.unshared.parameters, self.shared.parameters)


def layer_costs(model: Blueprint) -> LayerCosts:
    """One layer of *model*, L of them, and what its way of sharing stores."""
    variant = model.variant
    once = _layer_parts(variant._replace(share="all", grouped=True))
    alone = {name: tuple(Repeated((), p.body.times(*p.repeat[2:])) for p in parts)
             for name, parts in once.items()}  # fmt: skip
    return LayerCosts(
        {name: _priced(model, parts) for name, parts in alone.items()},
        _priced(model, _flat(alone)),
        _priced(model, _flat(_layer_parts(variant._replace(share="none")))),
        _priced(model, _flat(_layer_parts(variant))),
    )


def _layer_parts(variant: Variant) -> dict[str, tuple[Repeated, ...]]:
    return {
        f.component.name: f.parts
        for f in component_formulas(variant)
        if f.component.part == "layers"
    }


def _flat(parts: Mapping[str, tuple[Repeated, ...]]) -> tuple[Repeated, ...]:
    return tuple(part for several in parts.values() for part in several)


def _priced(model: Blueprint, parts: Iterable[Repeated]) -> Priced:
    """*parts* with those that are stored equally often in one bracket."""
    bodies: dict[Dims, list[Polynomial]] = {}
    for part in parts:
        # A formula without G × N where both are 1 says the same in fewer letters.
        repeat = tuple(d for d in part.repeat if d not in ("G", "N") or model.values[d] != 1)
        bodies.setdefault(repeat, []).append(part.body)
    joined = [Repeated(r, Polynomial.sum(b)) for r, b in bodies.items()]
    total = Polynomial.sum(part.expanded() for part in joined)
    return Priced(sum_formula(joined), total.evaluate(model.values))
