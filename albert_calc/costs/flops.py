"""FLOPs of a forward and a training pass, from the tensors that are also counted.

2 FLOPs a multiply-add; matrix products only. B is the number of sequences that go through
the encoder at once, S the number of tokens of each. May import ``albert_calc.algebra``,
``albert_calc.architectures``, ``albert_calc.config`` and ``albert_calc.tensors``.
"""

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from albert_calc.algebra import Dims, Polynomial
from albert_calc.architectures.base import ATTENTION, Tensor
from albert_calc.config import ModelConfig
from albert_calc.tensors import Variant, tensor_table, variant_of

TERMS = (
    "attention_scores",
    "projections",
    "feed_forward",
    "embedding_projection",
    "pooler",
    "head",
)
"""What the FLOPs are spent on; ``projections`` are the four matrices of the attention."""

TRAINING_PASSES = 3
"""Training in forward passes: backward, each product has two, for its two factors."""

_APPLIED_TO: Mapping[str, Dims] = {"token": ("B", "S"), "sequence": ("B",)}


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


def count_flops(
    config: ModelConfig, head: str, layout: str, batch_size: int, sequence_length: int
) -> Flops:
    """The FLOPs of *batch_size* sequences of *sequence_length* tokens.

    In the default layout they are those that torch's ``FlopCounterMode`` measures on the
    class to which *head* belongs. Raises ``ConfigError`` if there is no such head or layout.
    """
    values = {**config.symbols, "B": batch_size, "S": sequence_length}
    formulas = flops_formulas(variant_of(config, head, layout))
    return Flops(
        {term: formula.evaluate(values) for term, formula in formulas.items()},
        batch_size * sequence_length,
    )


@cache
def flops_formulas(variant: Variant) -> Mapping[str, Polynomial]:
    """The FLOPs of a forward pass of *variant* in symbols, by term."""
    spent: dict[str, list[Polynomial]] = {term: [] for term in TERMS}
    # The weighted sum of the values takes as much as the scores: 2·B·S²·H each.
    scores = Polynomial.product(4, "B", "S", "S", "H", *executed_layers(variant))
    spent["attention_scores"].append(scores)
    for tensor in tensor_table(variant):
        if tensor.kind == "matrix":
            applied = _APPLIED_TO[tensor.component.per]
            product = Polynomial.product(2, *applied, *tensor.shape, *tensor.runs)
            spent.setdefault(_term(tensor), []).append(product)
    return {term: Polynomial.sum(products) for term, products in spent.items()}


def executed_layers(variant: Variant) -> Dims:
    """How many layers a forward pass runs, as factors: L, and N in a group of layers."""
    return next(t.runs for t in tensor_table(variant) if t.component == ATTENTION)


def _term(tensor: Tensor) -> str:
    component = tensor.component
    if component == ATTENTION:
        return "projections"
    return component.part if component.part in ("pooler", "head") else component.name
