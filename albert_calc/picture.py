"""Pictures, before it is decided how they look: bars on a common scale, stacks of boxes.

Imports nothing of the package. A command describes what is to be seen;
``albert_calc.render.chart`` and ``albert_calc.render.diagram`` draw it.
"""

from collections.abc import Callable
from typing import NamedTuple


class Bar(NamedTuple):
    """One bar: what it stands for, its exact value, a remark on that, and its colour."""

    label: str
    value: int
    remark: str = ""
    hue: int = 0


class BarGroup(NamedTuple):
    """Bars that belong together, such as those of one model; both texts may be empty."""

    name: str
    detail: str
    bars: tuple[Bar, ...]


class Panel(NamedTuple):
    """Groups of bars that are all drawn on one scale, which starts at zero."""

    title: str
    groups: tuple[BarGroup, ...]

    @property
    def largest(self) -> int:
        """The value of the longest bar."""
        return max(bar.value for group in self.groups for bar in group.bars)


class Chart(NamedTuple):
    """Horizontal bars: panels under each other, each with its own scale."""

    title: str
    lines: tuple[str, ...]
    panels: tuple[Panel, ...]


class Box(NamedTuple):
    """One box of a stack. ``hue`` tells neighbours apart; an omission has none."""

    label: str
    remark: str = ""
    hue: int | None = None


class Side(NamedTuple):
    """Stacks of boxes beside each other, with a title over them and captions underneath."""

    title: str
    stacks: tuple[tuple[Box, ...], ...]
    captions: tuple[str, ...]


class Diagram(NamedTuple):
    """What is compared, beside each other."""

    title: str
    lines: tuple[str, ...]
    sides: tuple[Side, ...]


Picture = Chart | Diagram

TALLEST = 12
"""The number of boxes above which the middle of a stack is left out."""

_FIRST = 8


def eighths(value: int, largest: int, cells: int) -> int:
    """How long the bar of *value* is if that of *largest* has *cells* cells.

    The answer is in eighths of a cell, rounded; at least one for anything but nothing.
    """
    if value <= 0:
        return 0
    return max(1, (16 * cells * value + largest) // (2 * largest))


def stack(count: int, box: Callable[[int], Box]) -> tuple[Box, ...]:
    """``box(0)`` to ``box(count - 1)``; of more than ``TALLEST`` only the ends."""
    if count <= TALLEST:
        return tuple(box(i) for i in range(count))
    last = TALLEST - _FIRST - 1
    return (
        *(box(i) for i in range(_FIRST)),
        Box(f"… {count - _FIRST - last:,} more …"),
        *(box(i) for i in range(count - last, count)),
    )
