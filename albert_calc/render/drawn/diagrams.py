"""Stacks of boxes out of characters, beside each other or below each other."""

from collections.abc import Iterator

from rich.box import SQUARE
from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from albert_calc.pictures.picture import Diagram, Side, Stack
from albert_calc.render import Canvas
from albert_calc.render.console import box, measured, text, whole
from albert_calc.render.theme import shade_style

_BETWEEN_SIDES, _BETWEEN_STACKS = 4, 2
_FRAME = 4
"""Cells of a box that hold no text: two borders, and a space inside each."""

_WIDEST_BOX = 24


def drawn(diagram: Diagram, width: int, canvas: Canvas) -> Iterator[RenderableType]:
    """Both sides of *diagram* on one ground, or below each other where it is narrow."""
    count = len(diagram.sides)
    each = (width - _BETWEEN_SIDES * (count - 1)) // count
    if max(_least(side, canvas) for side in diagram.sides) <= each:
        grid = Table.grid(padding=(0, _BETWEEN_SIDES, 0, 0))
        for _ in diagram.sides:
            grid.add_column(width=each, vertical="bottom")
        grid.add_row(*(Text(side.title, "strong") for side in diagram.sides))
        grid.add_row(*(_stacks(side, each, canvas) for side in diagram.sides))
        yield grid
        below = Table.grid(padding=(0, _BETWEEN_SIDES, 0, 0))
        for _ in diagram.sides:
            below.add_column(width=each)
        below.add_row(*(_captions(side, each) for side in diagram.sides))
        yield below
        return
    for index, side in enumerate(diagram.sides):
        if index:
            yield ""
        yield text(side.title, "strong", width)
        yield _stacks(side, width, canvas)
        yield _captions(side, width)


def _least(side: Side, canvas: Canvas) -> int:
    """The width of *side* with the remarks beside its boxes."""
    return max(measured(_beside(side, 0, canvas)).maximum, cell_len(side.title))


def _beside(side: Side, more: int, canvas: Canvas, inwards: bool = False) -> Table:
    """The stacks of *side* beside each other, each up to *more* cells wider than it must be."""
    grid = Table.grid(padding=(0, _BETWEEN_STACKS, 0, 0))
    for _ in side.stacks:
        grid.add_column(vertical="bottom")
    grid.add_row(*(_stack(stack, more, canvas, inwards) for stack in side.stacks))
    return grid


def _stacks(side: Side, width: int, canvas: Canvas) -> Group:
    """The stacks of *side* and how they run; remarks go into the boxes if they must."""
    spare = width - _least(side, canvas)
    more = max(spare, 0) // len(side.stacks)
    runs = [run for stack in side.stacks for run in _runs(stack) if len(run) <= width]
    return Group(_beside(side, more, canvas, inwards=spare < 0), *runs)


def _stack(stack: Stack, more: int, canvas: Canvas, inwards: bool) -> Table:
    """*stack* in a frame, its first box at the bottom."""
    texts = [b.label for b in stack.boxes] + [b.remark for b in stack.boxes if inwards]
    inside = max(map(cell_len, texts))
    inside = min(inside + more, max(inside, _WIDEST_BOX))
    frame = Table(box=box(SQUARE, canvas), show_header=False, border_style="dim")
    frame.add_column(width=inside, no_wrap=True)
    for one in reversed(stack.boxes):
        frame.add_row(Text(one.label), style=shade_style(one.shade))
        if inwards and one.remark:
            frame.add_row(Text(one.remark), style=shade_style(one.shade))
    grid = Table.grid(padding=(0, 1, 0, 0))
    remarks = ["", *(one.remark for one in reversed(stack.boxes))]
    if inwards or not any(remarks):
        grid.add_row(frame)
    else:
        grid.add_row(frame, Text("\n".join(map(whole, remarks)), "strong"))
    return grid


def _runs(stack: Stack) -> Iterator[Text]:
    """The order in which boxes are applied, each in its colour."""
    if stack.runs:
        steps = [(f" {run.label}", shade_style(run.shade)) for run in stack.runs]
        yield Text.assemble(("runs ", "dim"), *steps, no_wrap=True)


def _captions(side: Side, width: int) -> Group:
    first, *others = side.captions
    said = text(first, "", width)
    if side.remark.text:
        said.append("  ").append(whole(side.remark.text), side.remark.meaning)
    return Group(said, *(text(other, "dim", width) for other in others))
