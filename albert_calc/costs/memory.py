"""Bytes of weights, and of the state in which they are trained."""

from collections.abc import Mapping
from typing import NamedTuple

BITS: Mapping[str, int] = {"float32": 32, "float16": 16, "bfloat16": 16, "int8": 8, "int4": 4}
"""Each dtype of weights and the bits of one element."""

HALVES: tuple[str, ...] = ("float16", "bfloat16")
"""The 16-bit dtypes."""

TRAINABLE: tuple[str, ...] = ("float32", *HALVES)
"""The dtypes in which gradients exist; integers cannot be trained."""

WIDTHS: Mapping[str, int] = {"float32": 4, "float16": 2, "bfloat16": 2, "int64": 8, "bool": 1}
"""The bytes of one element of a tensor that a training step makes."""


class Optimizer(NamedTuple):
    """What an optimizer remembers of a parameter, and what it needs while it updates.

    ``moments`` are tensors as large as the parameter, in its dtype unless ``moment_bytes``
    says how wide they are. ``temporaries`` are the most that an update of one parameter
    makes beside them, in parameters.
    """

    moments: int
    temporaries: int
    words: str
    moment_bytes: int = 0


OPTIMIZERS: Mapping[str, Optimizer] = {
    "adamw": Optimizer(2, 2, "adamw keeps two moments a parameter, in its dtype"),
    "adamw-8bit": Optimizer(
        2, 0, "adamw-8bit keeps two moments of a byte a parameter, and their scales", 1
    ),
    "sgd": Optimizer(1, 0, "sgd keeps one moment a parameter (momentum), in its dtype"),
    "none": Optimizer(0, 0, "the update keeps no moments"),
}


def weights_bytes(parameters: int, dtype: str) -> int:
    """The bytes of *parameters* elements, the last one rounded up to a whole byte."""
    return (parameters * BITS[dtype] + 7) // 8
