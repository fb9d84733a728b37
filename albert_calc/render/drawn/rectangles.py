"""Matrices as rectangles out of characters, to scale."""

from collections.abc import Iterator

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from albert_calc.pictures.picture import Area, Plan, Rectangles
from albert_calc.render import Canvas
from albert_calc.render.bars import EIGHTHS, eighths, over
from albert_calc.render.console import beside, measured, text, whole
from albert_calc.render.theme import part_colour
from albert_calc.writing import numbers

_TALLEST = 12
_WIDEST, _NARROWEST = 72, 8
_GAP = 3
_LOWER = " ▁▂▃▄▅▆▇"


def drawn(picture: Rectangles, width: int, canvas: Canvas) -> Iterator[RenderableType]:
    """Each plan: its sum, and its matrices beside each other with their formulas below.

    The widest matrix is as wide as it can be with all of every plan beside each other.
    """
    areas = [area for plan in picture.plans for area in plan.areas]
    across, down = max(a.across[1] for a in areas), max(a.down[1] for a in areas)
    for room in range(min(width, _WIDEST), min(width, _NARROWEST) - 1, -1):
        plans = [_side_by_side(plan, room, across, down, canvas) for plan in picture.plans]
        if max(measured(plan).maximum for plan in plans) <= width:
            break
    for index, (plan, grid) in enumerate(zip(picture.plans, plans, strict=True)):
        if index:
            yield ""
        yield from _head(plan, width)
        yield grid


def _head(plan: Plan, width: int) -> Iterator[Text]:
    said = text(f"{plan.title}: {numbers.count(plan.value)}", "strong", width)
    if plan.remark.text:
        said.append(whole(f"  {plan.remark.text}"), plan.remark.meaning)
    yield said


def _side_by_side(plan: Plan, room: int, across: int, down: int, canvas: Canvas) -> Table:
    """The matrices of *plan* on one ground, where *across* is drawn *room* cells wide."""
    return beside(
        [_rectangle(area, room, across, down, canvas) for area in plan.areas],
        [Text(whole(area.formula)) for area in plan.areas],
        [Text(numbers.count(area.value), "dim") for area in plan.areas],
        gap=_GAP,
    )


def _rectangle(area: Area, room: int, across: int, down: int, canvas: Canvas) -> Text:
    """A rectangle to scale, no side of which is nothing."""
    wide, high = eighths(area.across[1], across, room), eighths(area.down[1], down, _TALLEST)
    colour = part_colour(area.hue)
    rows, rest = divmod(high, 8)
    if canvas.ascii_only:
        line = "#" * ((wide + 4) // 8) or "|"
        return Text("\n".join([line] * ((high + 4) // 8)) or "-" * len(line), colour)
    drawn = Text()
    if rest or not rows:
        # There is no part of a cell in both directions: the nearest whole ones.
        drawn.append(_LOWER[max(rest, 1)] * max((wide + 4) // 8, 1) + "\n" * bool(rows), colour)
    whole_cells, part = divmod(wide, 8)
    edge = EIGHTHS[part].strip() or ("" if whole_cells else EIGHTHS[1])
    for row in range(rows):
        drawn.append("█" * whole_cells, over(colour, colour))
        drawn.append(edge + "\n" * (row + 1 < rows), colour)
    return drawn
