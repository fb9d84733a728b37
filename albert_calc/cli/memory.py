"""The options that say in what memory something must fit."""

import re

import click

from albert_calc.cli.command import Function, with_parameters
from albert_calc.cli.options import NameType, Once
from albert_calc.costs.fit import Memory
from albert_calc.costs.gpus import CARDS, card, cards_like
from albert_calc.errors import ConfigError
from albert_calc.writing.harmless import shown
from albert_calc.writing.numbers import binary_size
from albert_calc.writing.quantity import parse_bytes

_LARGEST_MEMORY = 2**60


def _cards() -> list[str]:
    """The names of cards as one word each, which are read all the same."""
    return [name.replace(" ", "-") for name in CARDS]


def memory_options(function: Function) -> Function:
    """The memory that something must fit in, by its size or by the name of a card."""
    options: list[click.Parameter] = [
        Once(
            ["--memory"], metavar="SIZE",
            help="The memory that a training step may take: 16GB is 16 × 10^9 bytes, 16GiB"
            " 16 × 2^30. Exit 1 if nothing fits.",
        ),
        Once(
            ["--gpu"], metavar="NAME", type=NameType(_cards),
            help="The memory of a card, such as T4; 'cost --gpu list' prints them.",
        ),
    ]  # fmt: skip
    return with_parameters(function, options)


def memory_of(memory: str | None, gpu: str | None) -> Memory | None:
    """The memory that is asked about; raises ``ConfigError`` for what is none."""
    if memory is not None and gpu is not None:
        raise ConfigError("memory: give --memory or --gpu, not both")
    if gpu is not None:
        found = card(gpu)
        if found is None:
            like = " or ".join(cards_like(gpu))
            known = f"the name of a card, got {shown(gpu)}; did you mean {like}?"
            every = f"one of {', '.join(CARDS)}, got {shown(gpu)}; for a size, use --memory"
            raise ConfigError(f"gpu: must be {known if like else every}")
        name, one = found
        source = "" if one.torch_mib else " by nvidia-smi"
        return Memory(one.bytes, f"{name} ({binary_size(one.bytes)}{source})")
    if memory is None:
        return None
    try:
        size = 0 if memory.strip().isdecimal() else parse_bytes(memory)
    except ValueError:
        size = 0
    if size > _LARGEST_MEMORY:
        raise ConfigError(f"memory: must be at most 1 EiB (2^60 bytes), got {shown(memory)}")
    if size <= 0:
        raise ConfigError(
            f"memory: must be a size with a unit, such as 16GiB or 16GB, got {shown(memory)}"
        )
    label = re.sub(r"(?<=[0-9])\s*(?=[A-Za-z])", " ", memory.strip(), count=1)
    return Memory(size, label if "i" in label.lower() else f"{label} ({binary_size(size)})")
