"""Stacks of boxes out of characters, beside each other or below each other."""

from collections.abc import Iterator

from rich.align import Align
from rich.box import SQUARE
from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from albert_calc.pictures.picture import Box, Diagram, Side, Stack
from albert_calc.render import Canvas
from albert_calc.render.console import beside, box, measured, text, whole
from albert_calc.render.theme import shade_style

_BETWEEN_SIDES, _BETWEEN_STACKS = 4, 2
_WIDEST_BOX = 24
_AGAIN = "↺"


def drawn(diagram: Diagram, width: int, canvas: Canvas) -> Iterator[RenderableType]:
    """Both sides of *diagram* on one ground, or below each other where it is narrow."""
    count = len(diagram.sides)
    each = (width - _BETWEEN_SIDES * (count - 1)) // count
    if max(_least(side, canvas) for side in diagram.sides) <= each:
        yield beside(
            [Text(side.title, "strong") for side in diagram.sides],
            [_stacks(side, each, canvas) for side in diagram.sides],
            [Align.left(_captions(side, each), vertical="top") for side in diagram.sides],
            gap=_BETWEEN_SIDES, width=each,
        )  # fmt: skip
        return
    for index, side in enumerate(diagram.sides):
        if index:
            yield ""
        yield text(side.title, "strong", width)
        yield _stacks(side, width, canvas)
        yield _captions(side, width)


def _least(side: Side, canvas: Canvas) -> int:
    """The width of *side* with the remarks beside its boxes."""
    stacks = beside([_stack(stack, 0, canvas) for stack in side.stacks], gap=_BETWEEN_STACKS)
    return max(measured(stacks).maximum, cell_len(side.title))


def _stacks(side: Side, width: int, canvas: Canvas) -> Group:
    """The stacks of *side* and how they run; remarks go into the boxes if they must."""
    spare = width - _least(side, canvas)
    more = max(spare, 0) // len(side.stacks)
    stacks = [_stack(stack, more, canvas, inwards=spare < 0) for stack in side.stacks]
    runs = [run for run in map(_runs, side.stacks) if run and len(run) <= width]
    return Group(beside(stacks, gap=_BETWEEN_STACKS), *runs)


def _stack(stack: Stack, more: int, canvas: Canvas, inwards: bool = False) -> RenderableType:
    """*stack* in a frame up to *more* cells wider than it must be, its first box at the bottom."""
    texts = [b.label for b in stack.boxes] + [_often(b, canvas) for b in stack.boxes if inwards]
    inside = max(map(cell_len, texts))
    inside = min(inside + more, max(inside, _WIDEST_BOX))
    frame = Table(box=box(SQUARE, canvas), show_header=False, border_style="dim")
    frame.add_column(width=inside, no_wrap=True)
    for one in reversed(stack.boxes):
        frame.add_row(Text(one.label), style=shade_style(one.shade))
        if inwards and one.often:
            frame.add_row(Text(_often(one, canvas)), style=shade_style(one.shade))
    remarks = ["", *(_often(one, canvas) for one in reversed(stack.boxes))]
    if inwards or not any(remarks):
        return frame
    outside = Text("\n".join(map(whole, remarks)), "strong")
    return beside([frame, Align.left(outside, vertical="top")], gap=1)


def _often(one: Box, canvas: Canvas) -> str:
    """How often *one* is applied, with a sign before it where that is again and again."""
    return canvas.spelled(f"{_AGAIN} {one.often}") if one.applied > 1 else one.often


def _runs(stack: Stack) -> Text:
    """The order in which boxes are applied, each in its colour; nothing if that is clear."""
    steps = [(f" {run.label}", shade_style(run.shade)) for run in stack.runs]
    return Text.assemble(("runs ", "dim"), *steps) if steps else Text()


def _captions(side: Side, width: int) -> Group:
    first, *others = side.captions
    said = text(first, "", width)
    if side.remark.text:
        said.append("  ").append(whole(side.remark.text), side.remark.meaning)
    return Group(said, *(text(other, "dim", width) for other in others))
