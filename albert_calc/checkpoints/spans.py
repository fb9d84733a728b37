"""Which copies of a tensor: their indices in a few words, however many layers there are."""

from collections.abc import Collection, Iterator, Mapping
from math import prod
from typing import NamedTuple

Indices = tuple[int, ...]

_MOST_RUNS = 5


class Run(NamedTuple):
    """The whole numbers from ``start`` to below ``stop``."""

    start: int
    stop: int


Place = tuple[Run, ...]


class Block(NamedTuple):
    """Every combination of an index of each place."""

    places: tuple[Place, ...]

    @property
    def size(self) -> int:
        """How many combinations there are."""
        return prod(sum(run.stop - run.start for run in place) for place in self.places)

    def indices(self) -> Iterator[Indices]:
        """The combinations one after the other, the last place running fastest."""
        return _combined(self.places)

    def named(self, name: str) -> str:
        """*name* with the indices put in: ``encoder.layer.0 … 11.output.dense.bias``."""
        return name.format(*map(_text, self.places))


def blocks_of(indices: Collection[Indices]) -> Iterator[Block]:
    """*indices* in as few blocks as are easily found: one if it is all combinations."""
    if not indices:
        return
    columns = [_runs(set(column)) for column in zip(*indices, strict=True)]
    whole = Block(tuple(columns))
    if whole.size == len(indices):
        yield whole
        return
    by_first: dict[int, list[Indices]] = {}
    for index in indices:
        by_first.setdefault(index[0], []).append(index[1:])
    yield from _joined({first: blocks_of(rest) for first, rest in by_first.items()})


def absent(present: Collection[Indices], ranges: tuple[Run, ...]) -> Iterator[Block]:
    """The combinations within *ranges* that are not *present*; no loop goes over ranges."""
    if not ranges:
        if not present:
            yield Block(())
        return
    if any(run.stop <= run.start for run in ranges):
        return
    first, *others = ranges
    by_first: dict[int, list[Indices]] = {}
    for index in present:
        if first.start <= index[0] < first.stop:
            by_first.setdefault(index[0], []).append(index[1:])
    gaps = tuple(_gaps(sorted(by_first), first))
    if gaps:
        yield Block((gaps, *((run,) for run in others)))
    yield from _joined({index: absent(rest, tuple(others)) for index, rest in by_first.items()})


def _joined(below: Mapping[int, Iterator[Block]]) -> Iterator[Block]:
    """The blocks below each first index, those that are alike as one."""
    firsts: dict[tuple[Place, ...], list[int]] = {}
    for first, blocks in below.items():
        for block in blocks:
            firsts.setdefault(block.places, []).append(first)
    for places, indices in firsts.items():
        yield Block((_runs(indices), *places))


def _gaps(taken: list[int], within: Run) -> Iterator[Run]:
    start = within.start
    for index in taken:
        if index > start:
            yield Run(start, index)
        start = index + 1
    if start < within.stop:
        yield Run(start, within.stop)


def _runs(indices: Collection[int]) -> Place:
    runs: list[Run] = []
    for index in sorted(indices):
        if runs and runs[-1].stop == index:
            runs[-1] = Run(runs[-1].start, index + 1)
        else:
            runs.append(Run(index, index + 1))
    return tuple(runs)


def _text(place: Place) -> str:
    parts = [f"{r.start}" if r.stop == r.start + 1 else f"{r.start} … {r.stop - 1}" for r in place]
    if len(parts) > _MOST_RUNS:
        parts = [*parts[:_MOST_RUNS], "…"]
    return ", ".join(parts)


def _combined(places: tuple[Place, ...]) -> Iterator[Indices]:
    """Unlike ``product`` of the numbers, one at a time: there may be billions."""
    if not places:
        yield ()
        return
    for run in places[0]:
        for index in range(run.start, run.stop):
            for rest in _combined(places[1:]):
                yield (index, *rest)
