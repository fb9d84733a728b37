"""Matrices as rectangles out of characters, to scale."""

from collections.abc import Iterator

from albert_calc.pictures.picture import Area, Part, Plan, Rectangles
from albert_calc.render import Canvas
from albert_calc.render.bars import EIGHTHS, eighths
from albert_calc.render.drawn.charts import colour_of
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
    width_of,
    wrapped,
)
from albert_calc.writing import numbers

_TALLEST = 12
_WIDEST, _NARROWEST = 72, 8
_GAP = 3
_LOWER = " ▁▂▃▄▅▆▇"


def lines(picture: Rectangles, width: int, canvas: Canvas) -> list[Line]:
    """Each plan: its sum, and its matrices beside each other with their formulas below."""
    areas = [area for plan in picture.plans for area in plan.areas]
    across, down = max(a.across[1] for a in areas), max(a.down[1] for a in areas)
    room = _room(picture, width, across)
    drawn: list[Line] = []
    for plan in picture.plans:
        drawn += [EMPTY] if drawn else []
        drawn += _head(plan, width)
        blocks = [_area(area, room, across, down, canvas) for area in plan.areas]
        drawn += beside(blocks, _widths(plan, room, across), _GAP)
    return drawn


def _room(picture: Rectangles, width: int, across: int) -> int:
    """The cells for the widest matrix, so that all of every plan stand beside each other."""
    room = min(width, _WIDEST)
    while room > _NARROWEST and any(
        sum(_widths(plan, room, across)) + _GAP * (len(plan.areas) - 1) > width
        for plan in picture.plans
    ):
        room -= 1
    return room


def _widths(plan: Plan, room: int, across: int) -> list[int]:
    """The cells of each matrix with the texts below it."""
    return [
        max(-(-eighths(area.across[1], across, room) // 8), widest(_labels(area)))
        for area in plan.areas
    ]


def _head(plan: Plan, width: int) -> Iterator[Line]:
    total = f"{plan.title}: {numbers.count(plan.value)}"
    *before, last = (line(text, STRONG) for text in wrapped(total, width))
    yield from before
    remark = plan.remark
    yield (*last, Span("  " + remark.text, Style(remark.meaning))) if remark.text else last


def _labels(area: Area) -> list[str]:
    return [area.formula, numbers.count(area.value)]


def _area(area: Area, room: int, across: int, down: int, canvas: Canvas) -> list[Line]:
    """The rectangle, its formula and its value below it."""
    wide, high = eighths(area.across[1], across, room), eighths(area.down[1], down, _TALLEST)
    colour = colour_of(Part("", area.hue))
    style = Style(ink=colour) if canvas.colour else PLAIN
    solid = style._replace(paper=style.ink)
    rows, rest = divmod(high, 8)
    drawn: list[Line] = []
    if canvas.ascii_only:
        row = line("#" * ((wide + 4) // 8) or "|", style)
        drawn = [row] * ((high + 4) // 8) or [line("-" * width_of(row), style)]
    else:
        whole, part = divmod(wide, 8)
        edge = EIGHTHS[part].strip() or ("" if whole else EIGHTHS[1])
        if rest or not rows:
            # There is no part of a cell in both directions: the nearest whole ones.
            drawn.append(line(_LOWER[max(rest, 1)] * max((wide + 4) // 8, 1), style))
        drawn += [(Span("█" * whole, solid), Span(edge, style))] * rows
    formula, value = _labels(area)
    return [*drawn, line(formula), line(value, DIM)]
