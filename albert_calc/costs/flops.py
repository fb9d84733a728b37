"""FLOPs of a forward and a training pass, from the tensors that are also counted.

2 FLOPs a multiply-add; matrix products only. B is the number of sequences that go through
the encoder at once, S the number of tokens of each.
"""

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from albert_calc.algebra import Polynomial
from albert_calc.config.values import with_derived
from albert_calc.counting.tensors import (
    Blueprint,
    Variant,
    executed_layers,
    products,
    tensor_table,
)
from albert_calc.families import family

TERMS = (
    "attention_scores",
    "projections",
    "feed_forward",
    "embedding_projection",
    "pooler",
    "head",
)
"""What the FLOPs are spent on in every family; ``projections`` are the attention's matrices."""

TRAINING_PASSES = 3
"""Training in forward passes: backward, each product has two, for its two factors."""


class Flops(NamedTuple):
    """The exact FLOPs of one batch of *tokens* tokens; ``forward`` is the breakdown's sum."""

    breakdown: Mapping[str, int]
    tokens: int

    @property
    def forward(self) -> int:
        """One forward pass of the batch."""
        return sum(self.breakdown.values())

    @property
    def training(self) -> int:
        """One forward and one backward pass of the batch."""
        return TRAINING_PASSES * self.forward

    @property
    def per_token(self) -> int | float:
        """``forward`` divided by the tokens: an integer if that is whole, else a fraction."""
        whole, rest = divmod(self.forward, self.tokens)
        return self.forward / self.tokens if rest else whole

    @property
    def shares(self) -> dict[str, float]:
        """The fraction of ``forward`` that each term takes."""
        return {term: flops / self.forward for term, flops in self.breakdown.items()}


def count_flops(model: Blueprint, batch_size: int, sequence_length: int) -> Flops:
    """The FLOPs of *batch_size* sequences of *sequence_length* tokens.

    In the default layout they are those that torch's ``FlopCounterMode`` measures on the
    class to which the head belongs. Raises ``ConfigError`` if there is no such head or layout.
    """
    values = with_batch(model, batch_size, sequence_length)
    formulas = flops_formulas(model.variant)
    return Flops(
        {term: formula.evaluate(values) for term, formula in formulas.items()},
        batch_size * sequence_length,
    )


def with_batch(model: Blueprint, batch_size: int, sequence_length: int) -> Mapping[str, int]:
    """The values of all symbols of *model* at a batch, those that follow from it included."""
    values = {**model.values, "B": batch_size, "S": sequence_length}
    return with_derived(family(model.variant.model_type), {}, values)


@cache
def flops_formulas(variant: Variant) -> Mapping[str, Polynomial]:
    """The FLOPs of a forward pass of *variant* in symbols, by term."""
    spent: dict[str, list[Polynomial]] = {term: [] for term in TERMS}
    layers = executed_layers(variant)
    for product in products(variant):
        runs = layers if product.layered else ()
        flops = Polynomial.product(2, *product.multiply_adds, *runs)
        spent.setdefault(product.flops, []).append(flops)
    for tensor in tensor_table(variant):
        if tensor.kind == "matrix":
            term = tensor.component.flops or tensor.component.name
            flops = Polynomial.product(2, *tensor.applied, *tensor.shape, *tensor.runs)
            spent.setdefault(term, []).append(flops)
    return {term: Polynomial.sum(parts) for term, parts in spent.items()}
