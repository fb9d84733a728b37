"""Stacks of boxes out of characters, beside each other or below each other."""

from collections.abc import Iterator, Sequence

from albert_calc.pictures.picture import Box, Diagram, Run, Side, Stack
from albert_calc.render import Canvas
from albert_calc.render.lines import (
    DIM,
    EMPTY,
    PLAIN,
    STRONG,
    Line,
    Span,
    Style,
    beside,
    cells,
    line,
    padded,
    widest,
    width_of,
    wrapped,
)
from albert_calc.render.theme import ink_on, shade_colour

_BETWEEN_SIDES, _BETWEEN_STACKS = 4, 2
_FRAME = 4
"""Cells of a box that hold no text: two borders, and a space inside each."""

_WIDEST_BOX = 24


def lines(diagram: Diagram, width: int, canvas: Canvas) -> list[Line]:
    """Both sides of *diagram* on one ground, or below each other where it is narrow."""
    count = len(diagram.sides)
    each = (width - _BETWEEN_SIDES * (count - 1)) // count
    if max(_least(side) for side in diagram.sides) <= each:
        stacks = [_stacks(side, each, canvas) for side in diagram.sides]
        titles = [[line(side.title, STRONG)] for side in diagram.sides]
        below = [_captions(side, each) for side in diagram.sides]
        height = max(map(len, below))
        below = [[*texts, *([EMPTY] * (height - len(texts)))] for texts in below]
        widths = [each] * count
        return [
            one
            for blocks in (titles, stacks, below)
            for one in beside(blocks, widths, _BETWEEN_SIDES)
        ]
    drawn: list[Line] = []
    for side in diagram.sides:
        drawn += [EMPTY] if drawn else []
        drawn += [line(text, STRONG) for text in wrapped(side.title, width)]
        drawn += _stacks(side, width, canvas) + _captions(side, width)
    return drawn


def _least(side: Side) -> int:
    """The width of *side* with the remarks beside its boxes."""
    stacks = sum(_stack_width(stack, _inside(stack)) for stack in side.stacks)
    return max(stacks + _BETWEEN_STACKS * (len(side.stacks) - 1), cells(side.title))


def _inside(stack: Stack) -> int:
    return widest([box.label for box in stack.boxes])


def _stack_width(stack: Stack, inside: int) -> int:
    remark = widest([box.remark for box in stack.boxes])
    return inside + _FRAME + (1 + remark if remark else 0)


def _stacks(side: Side, width: int, canvas: Canvas) -> list[Line]:
    """The stacks of *side* beside each other; remarks go into the boxes if they must."""
    insides = [_inside(stack) for stack in side.stacks]
    spare = width - _least(side)
    if spare < 0:
        drawn = [_stack(stack, _remarked(stack), canvas, inwards=True) for stack in side.stacks]
        widths = [_remarked(stack) + _FRAME for stack in side.stacks]
    else:
        more = spare // len(side.stacks)
        insides = [min(inside + more, max(inside, _WIDEST_BOX)) for inside in insides]
        drawn = [
            _stack(stack, inside, canvas)
            for stack, inside in zip(side.stacks, insides, strict=True)
        ]
        widths = [_stack_width(s, inside) for s, inside in zip(side.stacks, insides, strict=True)]
    found = beside(drawn, widths, _BETWEEN_STACKS)
    for stack in side.stacks:
        found += _runs(stack.runs, width, canvas)
    return found


def _remarked(stack: Stack) -> int:
    return widest([text for box in stack.boxes for text in (box.label, box.remark)])


def _stack(stack: Stack, inside: int, canvas: Canvas, inwards: bool = False) -> list[Line]:
    """*stack* in a frame, its first box at the bottom."""
    edge = canvas.spelled("─") * (inside + _FRAME - 2)
    left, right = canvas.spelled("┌"), canvas.spelled("┐")
    drawn = [line(left + edge + right, DIM)]
    for box in reversed(stack.boxes):
        drawn += _box(box, inside, canvas, inwards)
    return [*drawn, line(canvas.spelled("└") + edge + canvas.spelled("┘"), DIM)]


def _box(box: Box, inside: int, canvas: Canvas, inwards: bool) -> Iterator[Line]:
    wall = Span(canvas.spelled("│"), DIM)
    style = _style(box.shade, canvas)
    texts = [box.label, box.remark] if inwards and box.remark else [box.label]
    for text in texts:
        drawn: Line = (wall, Span(f" {padded(text, inside)} ", style), wall)
        outside = box.remark and not inwards
        yield (*drawn, Span(f" {box.remark}", STRONG)) if outside else drawn


def _style(shade: float | None, canvas: Canvas) -> Style:
    if shade is None or not canvas.colour:
        return PLAIN
    paper = shade_colour(shade)
    return Style(ink=ink_on(paper), paper=paper)


def _runs(runs: Sequence[Run], width: int, canvas: Canvas) -> Iterator[Line]:
    """The order in which boxes are applied, each in its colour, if that fits on a line."""
    drawn: Line = (Span("runs ", DIM),)
    for run in runs:
        drawn = (*drawn, Span(f" {run.label}", _style(run.shade, canvas)))
    if runs and width_of(drawn) <= width:
        yield drawn


def _captions(side: Side, width: int) -> list[Line]:
    first, *others = side.captions
    said: list[Line] = [line(text) for text in wrapped(first, width)]
    if side.remark.text:
        remark = Span(side.remark.text, Style(side.remark.meaning))
        beside_it = (*said[-1], Span("  "), remark)
        said[-1:] = [beside_it] if width_of(beside_it) <= width else [said[-1], (remark,)]
    return said + [line(text, DIM) for other in others for text in wrapped(other, width)]
