"""A curve out of dots, eight to a cell, with marks for points that have a name."""

import math
from collections.abc import Iterator
from itertools import pairwise

from rich.align import Align
from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from albert_calc.named_tuple import NamedTuple
from albert_calc.pictures.picture import Curve, Mark, is_wide
from albert_calc.render import Canvas
from albert_calc.render.console import beside, breakable, text, whole
from albert_calc.render.theme import part_colour
from albert_calc.writing import numbers

_ROWS = 16
_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
_BRAILLE = 0x2800
_MARK = "◆"
_STYLE, _MARK_STYLE = part_colour(0), part_colour(3)


class Axis(NamedTuple):
    """From a value to a place between 0 and 1, by powers where *is_log*."""

    least: float
    most: float
    is_log: bool

    def place(self, value: float) -> float:
        """Where *value* stands."""
        if self.least == self.most:
            return 0.5
        if self.is_log:
            return math.log(value / self.least) / math.log(self.most / self.least)
        return (value - self.least) / (self.most - self.least)

    def ticks(self, most: int) -> list[int]:
        """Up to *most* round values, or powers."""
        if self.is_log:
            powers = range(math.ceil(math.log10(self.least)), int(math.log10(self.most)) + 1)
            step = -(-len(powers) // most)
            return [10**power for power in powers][::step]
        span = self.most - self.least
        if not span:
            return [round(self.most)]
        size = 10 ** math.floor(math.log10(span / most))
        step = next(size * f for f in (1, 2, 5, 10) if span / (size * f) <= most)
        whole = max(round(step), 1)
        first = math.ceil(self.least / whole)
        return [n * whole for n in range(first, int(self.most // whole) + 1)]


def axes(curve: Curve) -> tuple[Axis, Axis]:
    """The axes of *curve*: by powers where values are far apart, else from zero upwards."""
    xs, ys = zip(*curve.points, strict=True)
    log_x, log_y = is_wide(xs), is_wide(ys)
    return (
        Axis(min(xs), max(xs), log_x),
        Axis(min(ys) if log_y else 0, max(ys), log_y),
    )


def drawn(curve: Curve, width: int, canvas: Canvas) -> Iterator[RenderableType]:
    """The curve with its axes, and its marks by name below."""
    x, y = axes(curve)
    labels = {round((1 - y.place(tick)) * (_ROWS - 1)): numbers.short(tick) for tick in y.ticks(4)}
    margin = max(map(len, labels.values()), default=0)
    columns = max(width - margin - 2, 8)
    grid = _dots(curve, x, y, columns)
    marked = {
        (round(x.place(m.x) * (columns - 1)), round((1 - y.place(m.y)) * (_ROWS - 1)))
        for m in curve.marks
    }
    yield Text("total parameters" + (", by powers of 10" if y.is_log else ""), "dim")
    for row in range(_ROWS):
        wall = canvas.spelled("┤" if row in labels else "│")
        said = Text.assemble((f"{labels.get(row, ''):>{margin}} {wall}", "dim"))
        for column in range(columns):
            if (column, row) in marked:
                said.append(canvas.spelled(_MARK), _MARK_STYLE)
            else:
                said.append(_cell(grid[row][column], canvas), _STYLE)
        yield said
    yield from _foot(curve, x, margin, columns, canvas)
    if curve.marks:
        yield ""
        yield beside(*(_legend(curve, mark, canvas) for mark in curve.marks), gap=1)


def _legend(curve: Curve, mark: Mark, canvas: Canvas) -> list[RenderableType]:
    point = whole(f"{curve.symbol} = {mark.x:,}, {numbers.count(mark.y)}")
    sign = Text(canvas.spelled(_MARK), _MARK_STYLE)
    return [Align.left(sign, vertical="top"), Text(f"{breakable(mark.label, 32)}: {point}")]


def _dots(curve: Curve, x: Axis, y: Axis, columns: int) -> list[list[int]]:
    """For each row of cells and each cell, the dots of the curve in it."""
    grid = [[0] * columns for _ in range(_ROWS)]
    wide, high = 2 * columns - 1, 4 * _ROWS - 1
    places = [(x.place(a) * wide, (1 - y.place(b)) * high) for a, b in sorted(curve.points)]
    for (left, top), (right, bottom) in pairwise(places):
        steps = max(math.ceil(abs(right - left)), math.ceil(abs(bottom - top)), 1)
        for step in range(steps + 1):
            column = round(left + (right - left) * step / steps)
            row = round(top + (bottom - top) * step / steps)
            grid[row // 4][column // 2] |= _DOTS[row % 4][column % 2]
    return grid


def _cell(dots: int, canvas: Canvas) -> str:
    if not dots:
        return " "
    return "*" if canvas.ascii_only else chr(_BRAILLE + dots)


def _foot(
    curve: Curve, x: Axis, margin: int, columns: int, canvas: Canvas
) -> Iterator[RenderableType]:
    """The axis below, its labels, and what they are."""
    ticks = {round(x.place(t) * (columns - 1)): f"{t:,}" for t in x.ticks(max(columns // 12, 2))}
    edge = "".join("┬" if column in ticks else "─" for column in range(columns))
    yield Text(" " * (margin + 1) + canvas.spelled(f"└{edge}"), "dim")
    said = ""
    for place, label in sorted(ticks.items()):
        start = margin + 2 + min(place - len(label) // 2, columns - len(label))
        if start > len(said) or not said:
            said = f"{said:<{max(start, 0)}}{label}"
    yield Text(said, "dim")
    powers = ", by powers of 10" if x.is_log else ""
    meaning = text(f"{curve.symbol}: {curve.meaning}{powers}", "dim", columns)
    yield Padding(meaning, (0, 0, 0, margin + 2))
