"""Lists and ranges as people type them: ``64,128``, ``256:1024:64``, or both mixed."""

from collections.abc import Collection, Iterator, Sequence
from itertools import chain, pairwise

from albert_calc.costs.workload import BATCH
from albert_calc.errors import ConfigError, Problems
from albert_calc.families.sizes import SIZES, size_problems
from albert_calc.writing.harmless import shown
from albert_calc.writing.quantity import parse_quantity

_MOST_PIECES = 1_000
_MOST_LISTED = 10_000


class Values(Collection[int]):
    """The whole numbers of several ranges: small in memory however many they are."""

    __slots__ = ("ranges",)

    def __init__(self, ranges: Sequence[range]) -> None:
        self.ranges = ranges

    def __len__(self) -> int:
        return sum(len(r) for r in self.ranges)

    def __iter__(self) -> Iterator[int]:
        return chain.from_iterable(self.ranges)

    def __contains__(self, value: object) -> bool:
        return any(value in r for r in self.ranges)


def ends_of(values: Collection[int]) -> tuple[int, int]:
    """The smallest and the largest of *values*, none of which need be counted through."""
    ranges = values.ranges if isinstance(values, Values) else [values]
    ends = [e for r in ranges for e in ((r[0], r[-1]) if isinstance(r, range) else r)]
    return min(ends), max(ends)


def parse_sizes(key: str, text: str) -> Collection[int]:
    """The values that *text* lists for the size *key*, each once, in the order given.

    A comma stands between values and ranges; a range is ``start:end`` or
    ``start:end:step`` and includes its end. Raises ``ConfigError`` with every problem.
    """
    pieces = text.split(",")
    if len(pieces) > _MOST_PIECES:
        raise ConfigError(f"{key}: must be at most {_MOST_PIECES:,} values and ranges")
    ranges: list[range] = []
    problems = Problems()
    for piece in pieces:
        with problems.collected():
            ranges.append(_parse_range(key, piece))
    problems.raise_any()
    values = Values(ranges)
    if len(ranges) == 1:
        return ranges[0]
    if len(values) <= _MOST_LISTED:
        return tuple(dict.fromkeys(values))
    if _overlap(ranges):
        raise ConfigError(f"{key}: ranges of so many values must not overlap, got {shown(text)}")
    return values


def parse_names(key: str, text: str, known: Collection[str]) -> tuple[str, ...]:
    """The names that *text* lists, separated by commas, each once.

    Raises ``ConfigError`` for those that are not *known*.
    """
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",")))
    unknown = [name for name in names if name not in known]
    if unknown:
        listed = ", ".join(known)
        got = ", ".join(shown(name) for name in unknown[:10])
        raise ConfigError(f"{key}: must be one of {listed}, got {got}")
    return names


def _parse_range(key: str, piece: str) -> range:
    parts = piece.split(":")
    try:
        numbers = [parse_quantity(part) for part in parts]
    except ValueError:
        numbers = []
    if not 1 <= len(numbers) <= 3:
        raise ConfigError(
            f"{key}: must be values and ranges such as 64,128 or 256:1024:64, got {shown(piece)}"
        )
    if piece.startswith("0") and piece[1:2].isdigit():
        raise ConfigError(
            f"{key}: a comma separates values here (30_000, not 30,000), got {shown(piece)}"
        )
    problems = dict.fromkeys(chain.from_iterable(_bound_problems(key, n) for n in numbers[:2]))
    if len(numbers) == 3 and numbers[2] < 1:
        problems[f"{key}: the step of a range must be at least 1, got {shown(piece)}"] = None
    if len(numbers) > 1 and numbers[1] < numbers[0]:
        problems[f"{key}: a range must not end before it starts, got {shown(piece)}"] = None
    if problems:
        raise ConfigError(problems)
    return _range(*numbers)


def _range(start: int, end: int | None = None, step: int = 1) -> range:
    return range(start, (start if end is None else end) + 1, step)


def _bound_problems(key: str, value: int) -> Iterator[str]:
    for size in (*SIZES, *BATCH):
        if size.key == key:
            yield from size_problems(size, value)


def _overlap(ranges: Sequence[range]) -> bool:
    ordered = sorted(ranges, key=lambda r: r[0])
    return any(a[-1] >= b[0] for a, b in pairwise(ordered))
