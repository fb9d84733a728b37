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
from albert_calc.families.base import (
    OUTPUT_EMBEDDING,
    PREDICTION_HEAD,
    TOKENS,
    Product,
    Tensor,
)

TERMS = (
    "attention_scores",
    "projections",
    "feed_forward",
    "embedding_projection",
    "pooler",
    "head",
)
"""What the FLOPs are spent on in every family; ``projections`` are the attention's matrices."""

PREDICTED = "Z"
"""The symbol of the number of tokens that a head predicts, where that is not all of them."""

TRAINING_PASSES = 3
"""Training in forward passes: backward, each product has two, for its two factors."""


class Flops(NamedTuple):
    """The exact FLOPs of one batch of *tokens* tokens; ``forward`` is the breakdown's sum.

    ``layer`` are those of one run of a layer, the mean of all.
    """

    breakdown: Mapping[str, int]
    tokens: int
    layer: int | float

    @property
    def forward(self) -> int:
        """One forward pass of the batch."""
        return sum(self.breakdown.values())

    @property
    def training(self) -> int:
        """One forward and one backward pass of the batch."""
        return TRAINING_PASSES * self.forward

    @property
    def macs(self) -> int:
        """Multiply-adds of a forward pass: half its FLOPs."""
        return self.forward // 2

    @property
    def layer_share(self) -> float:
        """The fraction of ``forward`` that one run of a layer takes."""
        return self.layer / self.forward if self.forward else 0.0

    @property
    def per_token(self) -> int | float:
        """``forward`` divided by the tokens: an integer if that is whole, else a fraction."""
        whole, rest = divmod(self.forward, self.tokens)
        return self.forward / self.tokens if rest else whole

    @property
    def shares(self) -> dict[str, float]:
        """The fraction of ``forward`` that each term takes."""
        forward = self.forward or 1
        return {term: flops / forward for term, flops in self.breakdown.items()}


def count_flops(
    model: Blueprint, batch_size: int, sequence_length: int, masked: int | None = None
) -> Flops:
    """The FLOPs of *batch_size* sequences of *sequence_length* tokens.

    In the default layout they are those that torch's ``FlopCounterMode`` measures on the
    class to which the head belongs. A head that predicts tokens does so at all of them, or at
    *masked* alone. Raises ``ConfigError`` if there is no such head or layout.
    """
    tokens = batch_size * sequence_length
    values = {
        **with_batch(model, batch_size, sequence_length),
        PREDICTED: tokens if masked is None else masked,
    }
    formulas = flops_formulas(model.variant, masked is not None)
    spent = {term: formula.evaluate(values) for term, formula in formulas.items()}
    runs = Polynomial.product(*executed_layers(model.variant)).evaluate(values)
    whole, rest = divmod(layer_flops(model.variant).evaluate(values), runs)
    return Flops(spent, tokens, whole + rest / runs if rest else whole)


def with_batch(model: Blueprint, batch_size: int, sequence_length: int) -> Mapping[str, int]:
    """The values of all symbols of *model* at a batch, those that follow from it included."""
    values = {**model.values, "B": batch_size, "S": sequence_length}
    return with_derived(family(model.variant.model_type), {}, values)


@cache
def flops_formulas(variant: Variant, masked: bool) -> Mapping[str, Polynomial]:
    """The FLOPs of a forward pass of *variant* in symbols, by term.

    With *masked* a head predicts ``PREDICTED`` tokens, and not all B·S.
    """
    spent: dict[str, list[Polynomial]] = {term: [] for term in TERMS}
    for product in products(variant):
        spent.setdefault(product.flops, []).append(_of_product(product, variant))
    for tensor in tensor_table(variant):
        if tensor.kind == "matrix":
            term = tensor.component.flops or tensor.component.name
            spent.setdefault(term, []).append(_of_matrix(tensor, masked))
    return {term: Polynomial.sum(parts) for term, parts in spent.items()}


@cache
def layer_flops(variant: Variant) -> Polynomial:
    """The FLOPs of all runs of layers, in symbols."""
    layered = (_of_product(p, variant) for p in products(variant) if p.layered)
    matrices = (
        _of_matrix(tensor, masked=False)
        for tensor in tensor_table(variant)
        if tensor.kind == "matrix" and tensor.component.part == "layers"
    )
    return Polynomial.sum((*layered, *matrices))


def _of_product(product: Product, variant: Variant) -> Polynomial:
    runs = executed_layers(variant) if product.layered else ()
    return Polynomial.product(2, *product.multiply_adds, *runs)


def _of_matrix(tensor: Tensor, masked: bool) -> Polynomial:
    predicts = tensor.component in (PREDICTION_HEAD, OUTPUT_EMBEDDING)
    applied = (PREDICTED,) if masked and predicts and tensor.applied == TOKENS else tensor.applied
    return Polynomial.product(2, *applied, *tensor.shape, *tensor.runs)
