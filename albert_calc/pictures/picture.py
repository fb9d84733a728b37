"""Pictures before it is decided how they look: bars, curves, stacks of boxes, rectangles.

``albert_calc.render.terminal`` draws them out of characters, ``albert_calc.render.figure`` in
files. Numbers are exact; texts say what colours say.
"""

from collections.abc import Callable, Iterable
from typing import Literal

from albert_calc.named_tuple import NamedTuple
from albert_calc.writing import numbers

Meaning = Literal["", "good", "bad", "dim"]
Unit = Literal["count", "bytes"]


class Remark(NamedTuple):
    """A few words beside a number, and whether that is good or bad."""

    text: str = ""
    meaning: Meaning = ""


NO_REMARK = Remark()


class Part(NamedTuple):
    """What a piece of a bar stands for; ``hue`` is its colour, none for what is compared with."""

    name: str
    hue: int | None


class Bar(NamedTuple):
    """A bar: what it stands for, and an exact value for each part of its panel."""

    label: str
    values: tuple[int, ...]
    remark: Remark = NO_REMARK

    @property
    def total(self) -> int:
        """How long the bar is."""
        return sum(self.values)


class BarGroup(NamedTuple):
    """Bars that belong together, such as those of one model; both texts may be empty."""

    name: str
    detail: str
    bars: tuple[Bar, ...]


class Limit(NamedTuple):
    """A value that bars may reach, and what it is called."""

    value: int
    label: str


class Panel(NamedTuple):
    """Groups of bars on one scale, which starts at zero.

    ``parts`` are what the values of every bar stand for; a name is shown in the legend.
    """

    title: str
    parts: tuple[Part, ...]
    groups: tuple[BarGroup, ...]
    unit: Unit = "count"
    limit: Limit | None = None

    @property
    def bars(self) -> list[Bar]:
        """The bars of all groups."""
        return [bar for group in self.groups for bar in group.bars]

    @property
    def largest(self) -> int:
        """The end of the scale: the longest bar, or the limit."""
        return max(*(bar.total for bar in self.bars), self.limit.value if self.limit else 0, 1)


class Chart(NamedTuple):
    """Horizontal bars: panels under each other, each with its own scale."""

    title: str
    lines: tuple[str, ...]
    panels: tuple[Panel, ...]


class Mark(NamedTuple):
    """A point of a curve that has a name."""

    label: str
    x: int
    y: int


class Curve(NamedTuple):
    """How a total follows one size; ``symbol`` and ``meaning`` say which size that is."""

    title: str
    lines: tuple[str, ...]
    symbol: str
    meaning: str
    points: tuple[tuple[int, int], ...]
    marks: tuple[Mark, ...] = ()


class Box(NamedTuple):
    """Something that is stored once, and how often a forward pass applies it.

    ``shade`` from 0 to 1 is its colour; an omission has none.
    """

    label: str
    shade: float | None
    applied: int = 1

    @property
    def often(self) -> str:
        """How often it is applied, in words; empty where that is once."""
        if self.applied == 1:
            return ""
        return f"{self.applied:,} times" if self.applied else "never applied"


class Run(NamedTuple):
    """One step of a forward pass: the number and the colour of the box that it applies."""

    label: str
    shade: float


class Stack(NamedTuple):
    """Boxes on top of each other, the first at the bottom, and in what order they are applied."""

    boxes: tuple[Box, ...]
    runs: tuple[Run, ...] = ()


class Side(NamedTuple):
    """One way of building something: stacks beside each other, and what they come to."""

    title: str
    stacks: tuple[Stack, ...]
    captions: tuple[str, ...]
    remark: Remark = NO_REMARK


class Diagram(NamedTuple):
    """Two ways of building the same, beside each other."""

    title: str
    lines: tuple[str, ...]
    sides: tuple[Side, ...]


class Area(NamedTuple):
    """A matrix as a rectangle: its formula, both its sides with their names, and its colour."""

    formula: str
    across: tuple[str, int]
    down: tuple[str, int]
    hue: int | None

    @property
    def value(self) -> int:
        """The number of its elements."""
        return self.across[1] * self.down[1]


class Plan(NamedTuple):
    """One way of building something out of matrices."""

    title: str
    areas: tuple[Area, ...]
    remark: Remark = NO_REMARK

    @property
    def value(self) -> int:
        """All its elements."""
        return sum(area.value for area in self.areas)


class Rectangles(NamedTuple):
    """Matrices drawn to scale: both sides on scales of their own, so that areas compare."""

    title: str
    lines: tuple[str, ...]
    plans: tuple[Plan, ...]


Picture = Chart | Curve | Diagram | Rectangles

TALLEST = 12
"""The number of boxes above which the middle of a stack is left out."""

FEW = 16
"""The number of points up to which a curve is drawn as bars."""

_FIRST = 8
_MOST_DECIMALS = 3
_DECADES = 100


def value_texts(values: Iterable[int], unit: Unit = "count") -> dict[int, str]:
    """What to write for each of *values*: short, but exact where two would look the same."""
    distinct = list(dict.fromkeys(values))
    if unit == "bytes":
        return {value: numbers.binary_size(value) for value in distinct}
    for more in range(_MOST_DECIMALS):
        short = [numbers.short(value, more) for value in distinct]
        if len(set(short)) == len(distinct):
            break
    else:
        short = [numbers.count(value) for value in distinct]
    return dict(zip(distinct, short, strict=True))


def is_wide(values: Iterable[int]) -> bool:
    """Whether *values* span more than two decades, so that a scale by powers shows more."""
    found = list(values)
    return min(found) > 0 and max(found) > _DECADES * min(found)


def stack(count: int, box: Callable[[int, float], Box]) -> tuple[Box, ...]:
    """``box(index, shade)`` for each of *count*, each in a colour of its own.

    Of more than ``TALLEST`` the middle is one box that says how many are left out.
    """
    if count <= TALLEST:
        return tuple(box(i, i / max(count - 1, 1)) for i in range(count))
    last = TALLEST - _FIRST - 1
    shown = [*range(_FIRST), *range(count - last, count)]
    boxes = [box(i, place / (len(shown) - 1)) for place, i in enumerate(shown)]
    left_out = Box(f"… {count - len(shown):,} more …", None)
    return (*boxes[:_FIRST], left_out, *boxes[_FIRST:])


def as_bars(curve: Curve) -> Chart | None:
    """*curve* as bars, if it has few points."""
    if len(curve.points) > FEW:
        return None
    names: dict[tuple[int, int], str] = {}
    for mark in curve.marks:
        names[mark.x, mark.y] = f"◆ {mark.label}"
    bars = tuple(
        Bar(f"{curve.symbol} = {x:,}", (y,), Remark(names.get((x, y), ""))) for x, y in curve.points
    )
    panel = Panel("", (Part("", 0),), (BarGroup("", "", bars),))
    return Chart(curve.title, curve.lines, (panel,))
