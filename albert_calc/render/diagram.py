"""Diagrams: stacks of boxes beside each other, or under each other where it is narrow.

May import rich, ``albert_calc.picture`` and ``albert_calc.render.lines``.
"""

from collections.abc import Sequence
from itertools import zip_longest

from rich.text import Text

from albert_calc.picture import Box, Diagram, Side
from albert_calc.render.lines import padded, widest, wrapped

_BETWEEN_SIDES = 4
_BETWEEN_STACKS = 1
_FRAME = 4  # cells of a box that hold no text: two borders, and a space inside each

_HUES = ("#7fb3e6", "#8fd19e", "#f2c879", "#d3a6e0", "#f0a58f", "#7fd0cf")
_BORDER = "#808080"


def lines(diagram: Diagram, width: int) -> list[Text]:
    """*diagram* in lines of at most *width* cells, unless a number alone is longer."""
    drawn = wrapped(diagram.title, width, "bold")
    for line in diagram.lines:
        drawn += wrapped(line, width)
    count = len(diagram.sides)
    each = (width - _BETWEEN_SIDES * (count - 1)) // count
    if each >= max(_least(side) for side in diagram.sides):
        widths = [each] * count
        titles = [wrapped(side.title, each, "bold") for side in diagram.sides]
        below = [_below_title(side, each) for side in diagram.sides]
        drawn += [Text(""), *_beside(titles, widths, _BETWEEN_SIDES)]
        return drawn + _beside(below, widths, _BETWEEN_SIDES)
    for side in diagram.sides:
        wide = max(width, _least(side))
        drawn += [Text(""), *wrapped(side.title, wide, "bold"), *_below_title(side, wide)]
    return drawn


def _below_title(side: Side, width: int) -> list[Text]:
    """The stacks of *side*, sharing out *width*, and the captions underneath."""
    least = [_least_of_stack(boxes) for boxes in side.stacks]
    spare = width - sum(least) - _BETWEEN_STACKS * (len(least) - 1)
    widths = [w + (spare + i) // len(least) for i, w in enumerate(least)]
    stacks = [_stack(boxes, w) for boxes, w in zip(side.stacks, widths, strict=True)]
    captions = [line for caption in side.captions for line in wrapped(caption, width)]
    return _beside(stacks, widths, _BETWEEN_STACKS) + captions


def _stack(boxes: Sequence[Box], width: int) -> list[Text]:
    """*boxes* on top of each other, each in a colour of its own."""
    inside = width - _FRAME
    line = "─" * (width - 2)
    drawn = [Text(f"┌{line}┐", _BORDER)]
    for index, box in enumerate(boxes):
        if index:
            drawn.append(Text(f"├{line}┤", _BORDER))
        style = "" if box.hue is None else f"#000000 on {_HUES[box.hue % len(_HUES)]}"
        for text in (box.label, box.remark):
            for part in wrapped(text, inside) if text else ():
                content = (f" {padded(part.plain, inside)} ", style)
                drawn.append(Text.assemble(("│", _BORDER), content, ("│", _BORDER)))
    return [*drawn, Text(f"└{line}┘", _BORDER)]


def _beside(blocks: Sequence[list[Text]], widths: Sequence[int], gap: int) -> list[Text]:
    """The lines of *blocks* beside each other, the shorter ones with nothing underneath."""
    joined = []
    for parts in zip_longest(*blocks):
        line = Text("")
        for part, width in zip(parts, widths, strict=True):
            cell = part or Text("")
            line.append_text(cell).append(" " * (width - cell.cell_len + gap))
        line.rstrip()
        joined.append(line)
    return joined


def _least(side: Side) -> int:
    """The narrowest that *side* can be without a number broken in two."""
    stacks = [_least_of_stack(boxes) for boxes in side.stacks]
    words = [word for text in (side.title, *side.captions) for word in text.split()]
    return max(sum(stacks) + _BETWEEN_STACKS * (len(stacks) - 1), widest(words))


def _least_of_stack(boxes: Sequence[Box]) -> int:
    return _FRAME + widest([word for b in boxes for word in (b.label + " " + b.remark).split()])
