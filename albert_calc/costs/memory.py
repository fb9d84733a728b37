"""Bytes of weights, and of the state in which they are trained."""

from collections.abc import Iterable, Mapping

from albert_calc.named_tuple import NamedTuple

BITS: Mapping[str, int] = {"float32": 32, "float16": 16, "bfloat16": 16, "int8": 8, "int4": 4}
"""Each dtype of weights and the bits of one element."""

SHORT_DTYPES: Mapping[str, str] = {"fp32": "float32", "fp16": "float16", "bf16": "bfloat16"}
"""Other names of dtypes, as options and files may spell them."""

HALVES: tuple[str, ...] = ("float16", "bfloat16")
"""The 16-bit dtypes."""

TRAINABLE: tuple[str, ...] = ("float32", *HALVES)
"""The dtypes in which gradients exist; integers cannot be trained."""

WIDTHS: Mapping[str, int] = {"float32": 4, "float16": 2, "bfloat16": 2, "int64": 8, "bool": 1}
"""The bytes of one element of a tensor that a training step makes."""

Tensors = Iterable[tuple[int, int]]
"""The elements of tensors, and how many tensors there are of each."""


class Optimizer(NamedTuple):
    """What an optimizer remembers of a parameter, and what it needs while it updates.

    ``moments`` are tensors as large as the parameter. ``temporaries`` are the most that the
    update of one parameter makes beside them, in parameters.
    """

    moments: int
    temporaries: int
    words: str


OPTIMIZERS: Mapping[str, Optimizer] = {
    "adamw": Optimizer(2, 2, "adamw keeps two moments a parameter"),
    "adamw-8bit": Optimizer(
        2, 0, "adamw-8bit keeps two moments of a byte a parameter, and a scale for 256 of them"
    ),
    "sgd": Optimizer(1, 0, "sgd keeps one moment a parameter (momentum)"),
    "none": Optimizer(0, 0, "the update keeps no moments"),
}

_SMALLEST_IN_8_BITS, _BLOCK, _SCALE = 4096, 256, 4


def weights_bytes(parameters: int, dtype: str) -> int:
    """The bytes of *parameters* elements, the last one rounded up to a whole byte."""
    return (parameters * BITS[dtype] + 7) // 8


def moments_bytes(tensors: Tensors, optimizer: str, dtype: str) -> int:
    """The bytes of the moments of all *tensors*, which are in *dtype*.

    In 8 bits a block of 256 elements has a float32 scale, and a tensor below 4,096 elements
    (``min_8bit_size``) stays in float32: ``Optimizer2State.init_state`` in bitsandbytes 0.50,
    ``optim/optimizer.py``. Older releases had blocks of 2,048.
    """
    moments = OPTIMIZERS[optimizer].moments
    if optimizer != "adamw-8bit":
        return moments * sum(size * copies for size, copies in tensors) * WIDTHS[dtype]
    return moments * sum(_in_8_bits(size) * copies for size, copies in tensors)


def _in_8_bits(size: int) -> int:
    if size < _SMALLEST_IN_8_BITS:
        return size * WIDTHS["float32"]
    return size + -(-size // _BLOCK) * _SCALE
