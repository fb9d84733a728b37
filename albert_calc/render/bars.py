"""Bars out of characters: to an eighth of a cell, stacked, and in any letters."""

from collections.abc import Sequence

from rich.text import Text

from albert_calc.render import Canvas

EIGHTHS = " ▏▎▍▌▋▊▉█"
TINY = "·"
"""Stands for a bar that is too short to be drawn."""

_SHADES = "█▒░▓"
_LETTERS = "#=+:o%"


def eighths(value: int, largest: int, width: int) -> int:
    """How long the bar of *value* is if that of *largest* has *width* cells; in eighths."""
    return (16 * width * max(value, 0) + largest) // (2 * largest) if largest else 0


def bar(length: int, canvas: Canvas) -> str:
    """A bar of *length* eighths of a cell, and ``TINY`` for none."""
    if canvas.ascii_only:
        return "#" * ((length + 4) // 8) or canvas.spelled(TINY)
    whole, part = divmod(length, 8)
    return "█" * whole + EIGHTHS[part].strip() or TINY


def swatch(part: int, parts: int, colour: str, canvas: Canvas) -> tuple[str, str]:
    """What a part looks like, for a legend: a sign and its style."""
    return (canvas.spelled("■") if canvas.colour else _sign(part, parts, canvas), colour)


def stacked(
    values: Sequence[int], largest: int, width: int, colours: Sequence[str], canvas: Canvas
) -> Text:
    """*values* end to end, on a scale on which *largest* has *width* cells.

    Where there are colours the borders are drawn to an eighth of a cell; elsewhere each part
    has a sign of its own, and whole cells, but in the shortest bars.
    """
    ends = [eighths(sum(values[: i + 1]), largest, width) for i in range(len(values))]
    total = ends[-1] if ends else 0
    if not total:
        return Text(canvas.spelled(TINY) if any(values) else "")
    if canvas.colour and not canvas.ascii_only:
        return Text.assemble(*(_coloured_cell(i, ends, colours) for i in range(-(-total // 8))))
    if not canvas.ascii_only and (len(values) == 1 or total < 8):
        return Text(bar(total, canvas))
    drawn = Text()
    for part, (end, colour) in enumerate(zip(ends, colours, strict=True)):
        upto = (end + 4) // 8
        if total < 8:
            upto = max(len(drawn), int(values[part] == max(values)))
        drawn.append(_sign(part, len(values), canvas) * (upto - len(drawn)), colour)
    return drawn


def _sign(part: int, parts: int, canvas: Canvas) -> str:
    signs = _LETTERS if canvas.ascii_only else _SHADES
    return signs[part % len(signs)] if parts > 1 else signs[0]


def _coloured_cell(cell: int, ends: Sequence[int], colours: Sequence[str]) -> tuple[str, str]:
    """One cell of a stacked bar: the first part in it to the left, the next behind it."""
    start, stop = 8 * cell, 8 * cell + 8
    inside = [
        (max(before, start), min(end, stop), colour)
        for before, end, colour in zip((0, *ends), ends, colours, strict=False)
        if before < stop and end > start and end > before
    ]
    dominant = max(inside, key=lambda part: part[1] - part[0])[2]
    begin, end, colour = inside[0]
    if inside[-1][1] < stop:
        # Where the bar ends, the rest of the cell must stay empty.
        return EIGHTHS[inside[-1][1] - start], dominant
    if end == stop:
        # A whole cell has a background too: some fonts leave gaps between blocks.
        return "█", f"{colour} on {colour}"
    behind = max(inside[1:], key=lambda part: part[1] - part[0])[2]
    return EIGHTHS[end - begin], f"{colour} on {behind}"
