"""The names in a checkpoint against a table of tensors: what fits, what lacks, what is too much.

Nothing here takes longer for a model of a billion layers: what is found is counted, and
only the first of what is missing is named. May import ``albert_calc.algebra``,
``albert_calc.architectures`` and ``albert_calc.checkpoints.safetensors``.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, islice
from math import prod
from typing import NamedTuple

from albert_calc.algebra import TEXT, Dims
from albert_calc.architectures.base import Architecture, Tensor
from albert_calc.checkpoints.safetensors import StoredTensor

MOST_NAMED = 1_000
"""How many missing tensors are named; the others are only counted."""

Indices = tuple[int, ...]

# Nineteen digits and more are no index of anything.
_INDEX = re.compile(r"(?<=\.)(?:0|[1-9][0-9]{0,17})(?=\.)")
_LEGACY = re.compile(r"(?i:layer_?norm)\.(gamma|beta)$")
_MODERN = {"gamma": "weight", "beta": "bias"}


class Found(NamedTuple):
    """One stored tensor: its name in the checkpoint, and its ``pattern`` in the tables."""

    name: str
    stored: StoredTensor
    pattern: str


class Inventory(NamedTuple):
    """A checkpoint's tensors by the names that an architecture gives them.

    ``tensors`` has one entry a name with ``{}`` for its indices; ``again`` are those that
    stand there twice, under an old and a new name or with and without the prefix.
    ``prefixed`` tells whether the encoder's names carry the architecture's prefix.
    """

    tensors: Mapping[str, Mapping[Indices, Found]]
    buffers: tuple[Found, ...]
    again: tuple[Found, ...]
    prefixed: bool


class Mismatch(NamedTuple):
    """A tensor of another shape than expected: *expected* in symbols and in numbers."""

    found: Found
    symbols: Dims
    expected: tuple[int, ...]


class Missing(NamedTuple):
    """A tensor that is not there, and the shape that it would have."""

    name: str
    symbols: Dims
    expected: tuple[int, ...]


class Match(NamedTuple):
    """How an inventory and a table of tensors agree.

    ``copies`` are tied tensors stored beside the one they are tied to. ``absent`` gives
    how many copies of each tensor are missing, ``missing`` names the first of them.
    """

    copies: tuple[Found, ...]
    unexpected: tuple[Found, ...]
    mismatched: tuple[Mismatch, ...]
    absent: Mapping[Tensor, int]
    missing: tuple[Missing, ...]

    @property
    def missing_count(self) -> int:
        """How many tensors are missing, named or not."""
        return sum(self.absent.values())

    @property
    def problems(self) -> int:
        """How many tensors are missing, unexpected, or of another shape."""
        return self.missing_count + len(self.unexpected) + len(self.mismatched)


def inventory(tensors: Mapping[str, StoredTensor], architecture: Architecture) -> Inventory:
    """*tensors* sorted by the names of *architecture*, whatever prefix and age theirs have."""
    by_name: dict[str, dict[Indices, Found]] = {}
    buffers: list[Found] = []
    again: list[Found] = []
    prefixed = False
    heads = _head_names(architecture)
    for name, stored in tensors.items():
        bare = name.removeprefix(architecture.prefix)
        if bare in architecture.buffers:
            buffers.append(Found(name, stored, bare))
            continue
        pattern, indices = _pattern(bare)
        if bare != name:
            # A head stands beside the encoder: there is no prefix before it.
            is_head = pattern in heads
            pattern = name if is_head else pattern
            prefixed = prefixed or not is_head
        found = Found(name, stored, pattern)
        copies = by_name.setdefault(pattern, {})
        if indices in copies:
            again.append(found)
        else:
            copies[indices] = found
    return Inventory(by_name, tuple(buffers), tuple(again), prefixed)


def match(
    found: Inventory,
    table: Sequence[Tensor],
    values: Mapping[str, int],
    tied: bool,
    prefix: str,
) -> Match:
    """*found* against *table*, whose symbols have these *values*.

    ``prefix`` is what the encoder's names begin with where missing ones are named. With
    *tied*, a tied tensor may be stored or not, and stands for its original if that is
    not stored.
    """
    expected = {t.name: t for t in table}
    unexpected = list(found.again)
    mismatched = []
    present: dict[str, int] = dict.fromkeys(expected, 0)
    for pattern, copies in found.tensors.items():
        tensor = expected.get(pattern)
        if tensor is None:
            unexpected += copies.values()
            continue
        shape, ranges = sizes(tensor.shape, values), sizes(tensor.repeat, values)
        for indices, one in copies.items():
            if not _within(indices, ranges):
                unexpected.append(one)
                continue
            present[pattern] += 1
            if one.stored.shape != shape:
                mismatched.append(Mismatch(one, tensor.shape, shape))
    absent: dict[Tensor, int] = {}
    doubled: list[Found] = []
    aliases = {t.tied_to: t.name for t in table if tied and t.tied_to}
    optional = set(aliases.values())
    for tensor in table:
        lack = prod(sizes(tensor.repeat, values)) - present[tensor.name]
        alias = aliases.get(tensor.name)
        stand_in = found.tensors.get(alias, {}) if alias else {}
        if not lack:
            doubled += stand_in.values()
        elif not stand_in and tensor.name not in optional:
            absent[tensor] = lack
    missing = islice(_missing(found, table, absent, values, prefix), MOST_NAMED)
    return Match(tuple(doubled), tuple(unexpected), tuple(mismatched), absent, tuple(missing))


def sizes(dims: Dims, values: Mapping[str, int]) -> tuple[int, ...]:
    """*dims* with the symbols replaced by their *values*."""
    return tuple([d if isinstance(d, int) else values[d] for d in dims])


def shape_text(shape: tuple[int, ...]) -> str:
    """``30,000 × 128``."""
    return TEXT.times.join(TEXT.number(size) for size in shape) or "a single number"


def formula(symbols: Dims) -> str:
    """``V × E``: what a shape is made of."""
    return TEXT.times.join(str(dim) for dim in symbols)


def shape_formula(symbols: Dims, shape: tuple[int, ...]) -> str:
    """``V × E = 30,000 × 128``: what a shape is made of, and what that comes to."""
    return shape_text(shape) if symbols == shape else f"{formula(symbols)} = {shape_text(shape)}"


def _pattern(name: str) -> tuple[str, Indices]:
    """``encoder.layer.3.output.dense.bias`` as ``encoder.layer.{}.output.dense.bias`` and 3."""
    indices = tuple(map(int, _INDEX.findall(name)))
    pattern = _INDEX.sub("{}", name) if indices else name
    legacy = _LEGACY.search(pattern)
    if legacy:
        pattern = pattern[: legacy.start(1)] + _MODERN[legacy[1]]
    return pattern, indices


def _head_names(architecture: Architecture) -> frozenset[str]:
    return frozenset(t.name for h in architecture.heads.values() for t in h.tensors)


def _within(indices: Indices, ranges: tuple[int, ...]) -> bool:
    return len(indices) == len(ranges) and all(
        i < end for i, end in zip(indices, ranges, strict=True)
    )


def _missing(
    found: Inventory,
    table: Sequence[Tensor],
    absent: Mapping[Tensor, int],
    values: Mapping[str, int],
    prefix: str,
) -> Iterator[Missing]:
    """The missing tensors in the order in which PyTorch lists them, layer by layer."""
    for repeat, group in groupby((t for t in table if t in absent), key=lambda t: t.repeat):
        left = {t: absent[t] for t in group}
        for indices in _counted(sizes(repeat, values)):
            for tensor in list(left):
                if indices not in found.tensors.get(tensor.name, {}):
                    before = "" if tensor.component.part == "head" else prefix
                    name = before + tensor.name.format(*indices)
                    yield Missing(name, tensor.shape, sizes(tensor.shape, values))
                    left[tensor] -= 1
                    if not left[tensor]:
                        del left[tensor]


def _counted(ranges: tuple[int, ...]) -> Iterator[Indices]:
    """All indices below *ranges*, the last running fastest; unlike ``product``, one at a time."""
    if not ranges:
        yield ()
        return
    first, *others = ranges
    for index in range(first):
        for rest in _counted(tuple(others)):
            yield (index, *rest)
