# TO looks, FROM the founder: tables and terminal pictures must be laid out and drawn by Rich
# (rich.table.Table, Text, Console, box, export_html), not by a layout engine of our own: the rule
# is 'Rich draws and exports; a well-kept library beats our own code, even a slower one'. rich may
# be imported whenever a table or picture is asked for, in pipes too. Keep what you decided about
# looks; replace lines.py/bars.py/ansi.py by Rich. Remove this note when done.
"""Bars out of characters: to an eighth of a cell, stacked, and in any letters."""

from collections.abc import Sequence

from albert_calc.render import Canvas
from albert_calc.render.lines import PLAIN, Line, Span, Style

EIGHTHS = " ▏▎▍▌▋▊▉█"
_SHADES = "█▒░▓"
_LETTERS = "#=+:o%"


def tiny(canvas: Canvas) -> str:
    """Stands for a bar that is too short to be drawn."""
    return "." if canvas.ascii_only else "·"


def eighths(value: int, largest: int, width: int) -> int:
    """How long the bar of *value* is if that of *largest* has *width* cells; in eighths."""
    return (16 * width * max(value, 0) + largest) // (2 * largest) if largest else 0


def bar(length: int, canvas: Canvas, style: Style = PLAIN) -> Span:
    """A bar of *length* eighths of a cell, and ``tiny`` for none."""
    if canvas.ascii_only:
        text = _LETTERS[0] * ((length + 4) // 8)
    else:
        whole, part = divmod(length, 8)
        text = "█" * whole + EIGHTHS[part].strip()
    return Span(text or tiny(canvas), style)


def swatch(part: int, parts: int, colour: str, canvas: Canvas) -> Span:
    """What a part looks like, for a legend."""
    if canvas.colour:
        return Span(canvas.spelled("■"), Style(ink=colour))
    return Span(_sign(part, parts, canvas))


def stacked(values: Sequence[int], largest: int, width: int, colours: Sequence[str],
            canvas: Canvas) -> Line:  # fmt: skip
    """*values* end to end, on a scale on which *largest* has *width* cells.

    Where there are colours the borders are drawn to an eighth of a cell; elsewhere each part
    has a sign of its own, and whole cells, but in the shortest bars.
    """
    ends = [eighths(sum(values[: i + 1]), largest, width) for i in range(len(values))]
    total = ends[-1] if ends else 0
    if not total:
        return (Span(tiny(canvas)),) if any(values) else ()
    if canvas.colour and not canvas.ascii_only:
        return tuple(_coloured_cell(cell, ends, colours) for cell in range(-(-total // 8)))
    if not canvas.ascii_only and (len(values) == 1 or total < 8):
        return (bar(total, canvas),)
    spans: list[Span] = []
    drawn = 0
    for part, (end, colour) in enumerate(zip(ends, colours, strict=True)):
        upto = (end + 4) // 8
        if total < 8:
            upto = max(drawn, int(values[part] == max(values)))
        style = Style(ink=colour) if canvas.colour else PLAIN
        spans.append(Span(_sign(part, len(values), canvas) * (upto - drawn), style))
        drawn = max(upto, drawn)
    return tuple(span for span in spans if span.text)


def _sign(part: int, parts: int, canvas: Canvas) -> str:
    signs = _LETTERS if canvas.ascii_only else _SHADES
    return signs[part % len(signs)] if parts > 1 else signs[0]


def _coloured_cell(cell: int, ends: Sequence[int], colours: Sequence[str]) -> Span:
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
        return Span(EIGHTHS[inside[-1][1] - start], Style(ink=dominant))
    if end == stop:
        # A whole cell has a background too: some fonts leave gaps between blocks.
        return Span("█", Style(ink=colour, paper=colour))
    behind = max(inside[1:], key=lambda part: part[1] - part[0])[2]
    return Span(EIGHTHS[end - begin], Style(ink=colour, paper=behind))
