"""Bytes of the weights, of the training state, and of the activations kept for it.

May import ``albert_calc.algebra``.
"""

from collections.abc import Mapping
from typing import NamedTuple

from albert_calc.algebra import Dim, Polynomial

BITS: Mapping[str, int] = {"float32": 32, "float16": 16, "bfloat16": 16, "int8": 8, "int4": 4}
"""Each dtype and the bits of one element."""

TRAINABLE = ("float32", "float16", "bfloat16")
"""The dtypes in which gradients exist; integers cannot be trained."""


class Optimizer(NamedTuple):
    """How many float32 values an optimizer remembers a parameter, and that in words."""

    moments: int
    words: str


OPTIMIZERS: Mapping[str, Optimizer] = {
    "adamw": Optimizer(2, "adamw keeps two float32 moments a parameter"),
    "sgd": Optimizer(1, "sgd keeps one float32 moment a parameter (momentum)"),
    "none": Optimizer(0, "the update keeps no moments"),
}

_FULL = 4


def is_mixed(dtype: str) -> bool:
    """Whether training in *dtype* is mixed precision: 16-bit, with float32 for the update."""
    return BITS[dtype] < 8 * _FULL


def weights_bytes(parameters: int, dtype: str) -> int:
    """The bytes of *parameters* elements, the last one rounded up to a whole byte."""
    return (parameters * BITS[dtype] + 7) // 8


def training_bytes(parameters: int, dtype: str, optimizer: str) -> dict[str, int]:
    """The bytes that training *parameters* in *dtype* keeps, part by part.

    Under mixed precision weights and gradients are 16-bit, the moments and a master copy
    of the weights float32. Source: Rajbhandari et al., ZeRO: Memory Optimizations Toward
    Training Trillion Parameter Models, arXiv 1910.02054, section 3.1.
    """
    width = weights_bytes(parameters, dtype)
    return {
        "weights": width,
        "gradients": width,
        "optimizer_moments": OPTIMIZERS[optimizer].moments * _FULL * parameters,
        "master_weights": _FULL * parameters if is_mixed(dtype) else 0,
    }


def activation_formula(dtype: str) -> Polynomial:
    """The bytes that one layer keeps for its backward pass, in B, S, H, I and A.

    An estimate: B·S·H·(34 + 5·A·S/H) in 16-bit with I = 4·H, from Korthikanti et al.,
    Reducing Activation Recomputation in Large Transformer Models, arXiv 2205.05198,
    section 4.1, here for any I and width of an element.
    """
    width = BITS[dtype] // 8
    kept: tuple[tuple[Dim, ...], ...] = (
        (width, "S", "H"),  # the input of query, key and value
        (3 * width, "S", "H"),  # query, key and value
        (2 * width, "A", "S", "S"),  # the softmax of the scores, before and after dropout
        (1, "A", "S", "S"),  # the mask of that dropout
        (width, "S", "H"),  # the input of the attention's output matrix
        (1, "S", "H"),  # the dropout mask after it
        (width, "S", "H"),  # the input of the feed-forward block
        (2 * width, "S", "I"),  # the inputs of GELU and of the second matrix
        (1, "S", "H"),  # the dropout mask after it
        (2 * width, "S", "H"),  # the inputs of the two LayerNorms
    )
    return Polynomial.sum(Polynomial.product("B", *factors) for factors in kept)
