"""What fits: the largest batch, or the longest sequences, in a given memory."""

from collections.abc import Callable
from typing import NamedTuple

from albert_calc.config.model_config import ModelConfig
from albert_calc.costs.peak import training_peak
from albert_calc.costs.workload import Workload
from albert_calc.counting.tensors import Blueprint
from albert_calc.families.sizes import LARGEST


class Memory(NamedTuple):
    """The bytes that a step may take, and what they are called."""

    bytes: int
    label: str


def largest(fits: Callable[[int], bool], limit: int = LARGEST) -> int:
    """The largest number from 1 to *limit* that *fits*, or 0 if 1 does not.

    What fits must fit with every smaller number, too.
    """
    if limit < 1 or not fits(1):
        return 0
    low, high = 1, 2
    while high <= limit and fits(high):
        low, high = high, 2 * high
    high = min(high, limit + 1)
    while high - low > 1:
        middle = (low + high) // 2
        if fits(middle):
            low = middle
        else:
            high = middle
    return low


def largest_batch(
    config: ModelConfig, model: Blueprint, workload: Workload, memory: int
) -> int | None:
    """The most sequences of *workload*'s length whose training step fits in *memory* bytes.

    0 if not even one fits, ``None`` where the peak is unknown.
    """
    return _largest(config, model, memory, lambda size: workload._replace(batch_size=size))


def largest_length(
    config: ModelConfig, model: Blueprint, workload: Workload, memory: int, limit: int = LARGEST
) -> int | None:
    """The longest sequences, up to *limit* tokens, whose step fits at *workload*'s batch."""
    return _largest(
        config, model, memory, lambda length: workload._replace(sequence_length=length), limit
    )


def _largest(
    config: ModelConfig,
    model: Blueprint,
    memory: int,
    at: Callable[[int], Workload],
    limit: int = LARGEST,
) -> int | None:
    if training_peak(config, model, at(1)) is None:
        return None

    def fits(value: int) -> bool:
        peak = training_peak(config, model, at(value))
        return peak is not None and peak <= memory

    return largest(fits, limit)


def usable_length(config: ModelConfig) -> int:
    """The longest sequence that has positions; 0 if none has."""
    positions: int = config.keys["max_position_embeddings"]
    return max(0, positions - config.family.reserved_positions)
