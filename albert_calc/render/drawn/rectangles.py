"""Matrices as rectangles out of characters, to scale."""

from collections.abc import Iterator

from albert_calc.pictures.picture import Area, Plan, Rectangles
from albert_calc.render import Canvas
from albert_calc.render.bars import EIGHTHS, eighths
from albert_calc.render.drawn.charts import colour_of
from albert_calc.pictures.picture import Part
from albert_calc.render.lines import (
    DIM,
    EMPTY,
    PLAIN,
    STRONG,
    Line,
    Span,
    Style,
    beside,
    line,
    widest,
    wrapped,
)
from albert_calc.writing import numbers

_TALLEST, _WIDEST = 12, 72
_GAP = 3
_LOWER = " ▁▂▃▄▅▆▇"


def lines(picture: Rectangles, width: int, canvas: Canvas) -> list[Line]:
    """Each plan: its sum, and its matrices beside each other with their formulas below."""
    areas = [area for plan in picture.plans for area in plan.areas]
    across, down = max(a.across[1] for a in areas), max(a.down[1] for a in areas)
    labels = max(widest(_labels(area, canvas)) for area in areas)
    most = max(len(plan.areas) for plan in picture.plans) - 1
    room = max(min(width - most * (_GAP + labels), _WIDEST), 8)
    drawn: list[Line] = []
    for plan in picture.plans:
        drawn += [EMPTY] if drawn else []
        drawn += _head(plan, width)
        blocks = [_area(area, room, across, down, canvas) for area in plan.areas]
        widths = [
            max(_cells(area, room, across), widest(_labels(area, canvas))) for area in plan.areas
        ]
        drawn += beside(blocks, widths, _GAP)
    return drawn


def _head(plan: Plan, width: int) -> Iterator[Line]:
    total = f"{plan.title}: {numbers.count(plan.value)}"
    *before, last = (line(text, STRONG) for text in wrapped(total, width))
    yield from before
    remark = plan.remark
    yield (*last, Span("  " + remark.text, Style(remark.meaning))) if remark.text else last


def _labels(area: Area, canvas: Canvas) -> list[str]:
    return [area.formula, numbers.count(area.value)]


def _cells(area: Area, room: int, across: int) -> int:
    return max(-(-eighths(area.across[1], across, room) // 8), 1)


def _area(area: Area, room: int, across: int, down: int, canvas: Canvas) -> list[Line]:
    """The rectangle, its formula and its value below it."""
    wide, high = eighths(area.across[1], across, room), eighths(area.down[1], down, _TALLEST)
    colour = colour_of(Part("", area.hue))
    style = Style(ink=colour) if canvas.colour else PLAIN
    rows, rest = divmod(high, 8)
    drawn: list[Line] = []
    if canvas.ascii_only:
        row = "#" * ((wide + 4) // 8) or "|"
        drawn = [line(row, style)] * ((high + 4) // 8) or [line("-" * len(row), style)]
    else:
        whole, part = divmod(wide, 8)
        row = "█" * whole + EIGHTHS[part].strip() or "▏"
        if rest or not rows:
            # Part of a cell in both directions there is none: the nearest are whole ones.
            drawn.append(line(_LOWER[max(rest, 1)] * max((wide + 4) // 8, 1), style))
        drawn += [line(row, style)] * rows
    formula, value = _labels(area, canvas)
    return [*drawn, line(formula), line(value, DIM)]
