"""Bars out of characters: to an eighth of a cell, stacked, and in any letters."""

from collections.abc import Sequence
from itertools import accumulate

from rich.text import Text

from albert_calc.render import Canvas

EIGHTHS = " ▏▎▍▌▋▊▉█"

_SHADES = "█▒░▓"
_LETTERS = "#=+:o%"


def eighths(value: int, largest: int, width: int) -> int:
    """How long the bar of *value* is if that of *largest* has *width* cells; in eighths."""
    return (16 * width * max(value, 0) + largest) // (2 * largest) if largest else 0


def tiny(canvas: Canvas) -> str:
    """Stands for a bar that is too short to be drawn."""
    return "." if canvas.ascii_only else "·"


def bar(length: int, canvas: Canvas) -> str:
    """A bar of *length* eighths of a cell, and ``tiny`` for none."""
    if canvas.ascii_only:
        return "#" * ((length + 4) // 8) or tiny(canvas)
    whole, part = divmod(length, 8)
    return "█" * whole + EIGHTHS[part].strip() or tiny(canvas)


def swatch(part: int, parts: int, colour: str, canvas: Canvas) -> tuple[str, str]:
    """What a part looks like, for a legend: a sign and its style."""
    return (canvas.spelled("■") if canvas.colour else _sign(part, parts, canvas), colour)


def stacked(
    values: Sequence[int], largest: int, width: int, colours: Sequence[str], canvas: Canvas
) -> Text:
    """*values* end to end, on a scale on which *largest* has *width* cells.

    A bar of one colour, or with colours, ends at an eighth of a cell. Where there are none,
    each part has a sign of its own, and whole cells, but in the shortest bars.
    """
    ends = [eighths(total, largest, width) for total in accumulate(values)]
    if not ends or not ends[-1]:
        return Text(tiny(canvas) if any(values) else "")
    whole, rest = divmod(ends[-1], 8)
    starts = (0, *ends)
    last = max(range(len(ends)), key=lambda part: ends[part] - max(starts[part], 8 * whole))
    drawn = Text()
    if not canvas.ascii_only and (canvas.colour or len(values) == 1 or not whole):
        for end, colour in zip(ends, colours, strict=True):
            drawn.append("█" * (end // 8 - len(drawn)), over(colour, colour))
            if len(drawn) == end // 8 < whole and end % 8:
                behind = next(c for e, c in zip(ends, colours, strict=True) if e > end)
                drawn.append(EIGHTHS[end % 8], over(colour, behind))
        return drawn.append(EIGHTHS[rest].strip(), colours[last])
    signs = [_sign(part, len(values), canvas) for part in range(len(values))]
    if not whole:
        return Text(signs[last], colours[last])
    for sign, end, colour in zip(signs, ends, colours, strict=True):
        drawn.append(sign * ((end + 4) // 8 - len(drawn)), colour)
    return drawn


def over(colour: str, behind: str) -> str:
    """The style of *colour* before another, or itself: some fonts leave gaps between blocks."""
    return f"{colour} on {behind}"


def _sign(part: int, parts: int, canvas: Canvas) -> str:
    signs = _LETTERS if canvas.ascii_only else _SHADES
    return signs[part % len(signs)] if parts > 1 else signs[0]
