# TO looks, FROM the founder: tables and terminal pictures must be laid out and drawn by Rich
# (rich.table.Table, Text, Console, box, export_html), not by a layout engine of our own: the rule
# is 'Rich draws and exports; a well-kept library beats our own code, even a slower one'. rich may
# be imported whenever a table or picture is asked for, in pipes too. Keep what you decided about
# looks; replace lines.py/bars.py/ansi.py by Rich. Remove this note when done.
"""Tables for people: fitted to the terminal, as wide as they need in a pipe.

No digit is ever cut and no term of a formula broken. A table that does not fit even with
its texts wrapped is continued below, with its first column repeated.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from albert_calc.render import Canvas
from albert_calc.render.bars import bar
from albert_calc.render.cells import Shown, Strip, strips
from albert_calc.render.lines import (
    DIM,
    EMPTY,
    PLAIN,
    STRONG,
    Line,
    Span,
    Style,
    line,
    padded,
    pieces,
    unbroken,
    widest,
    wrapped,
    written,
)
from albert_calc.render.theme import ROLES
from albert_calc.report import Column, Report, Section
from albert_calc.writing.harmless import printable

_GAPS = (3, 2)
_FOLDED_FIRST, _FOLDED = 32, 16
_BAR_WHOLE, _BAR_LEAST = 40, 4
_PIPED_BAR = 20

_STYLES = {role: Style(role) for role in ROLES}

_FIGURE = re.compile(
    r"(?<![\w.−-])[-+−]?[0-9][0-9,]*(?:\.[0-9]+)?(?:[MBT]\b|%|×| [KMGT]iB)?(?![\w-])"
)


def render(report: Report, canvas: Canvas) -> str:
    """The headline of *report* and its sections, with empty lines between them."""
    return written(lines(report, canvas), canvas)


def lines(report: Report, canvas: Canvas) -> Iterator[Line]:
    """The same as lines, one after the other, so that long tables are never held as spans."""
    if report.headline:
        yield from headline(report.headline, canvas)
    for index, section in enumerate(report.sections):
        if index or report.headline:
            yield EMPTY
        yield from _section(section, canvas)


def headline(text: str, canvas: Canvas) -> list[Line]:
    """A sentence with its figures in bold; what follows its first line is an aside."""
    first, *others = text.split("\n")
    said = [_emphasized(part) for part in _texts(first, canvas)]
    return said + [line(part, DIM) for other in others for part in _texts(other, canvas)]


def _texts(text: str, canvas: Canvas) -> list[str]:
    return wrapped(canvas.spelled(printable(text)), canvas.width)


def _emphasized(text: str) -> Line:
    spans, done = [], 0
    for match in _FIGURE.finditer(text):
        spans += [Span(text[done : match.start()]), Span(match[0], STRONG)]
        done = match.end()
    return (*spans, Span(text[done:]))


def _section(section: Section, canvas: Canvas) -> Iterator[Line]:
    yield from (line(part, STRONG) for part in _texts(section.title, canvas) if part)
    yield from _table(section, canvas)
    for texts in (section.lines, section.notes):
        if any(texts):
            yield EMPTY
            yield from (line(p, DIM) for text in texts if text for p in _texts(text, canvas))


class _Entry(NamedTuple):
    """What stands on a line: the cells of a row, a heading, or neither, which is a rule."""

    row: int | None = None
    heading: str = ""
    is_total: bool = False


class _Fitted(NamedTuple):
    """Columns that stand beside each other, their widths, and the gap between them."""

    strips: list[Strip]
    widths: list[int]
    gap: int

    @property
    def width(self) -> int:
        """The width of a line."""
        return sum(self.widths) + self.gap * (len(self.widths) - 1)


def _table(section: Section, canvas: Canvas) -> Iterator[Line]:
    found = strips(section, canvas)
    if not found or not section.rows:
        return
    entries, indented = _entries(section, found[0], canvas)
    found[0] = _indented(found[0], indented)
    for index, part in enumerate(_with_bar(_fitted(found, canvas.width), section, canvas)):
        if index:
            yield EMPTY
        yield from _drawn(part, entries, canvas)


def _entries(section: Section, first: Strip, canvas: Canvas) -> tuple[list[_Entry], set[int]]:
    """The lines of a table, and the rows that stand under a heading.

    A heading that is also the name of its first row is that row.
    """
    entries: list[_Entry] = []
    indented: set[int] = set()
    group = ""
    for row in range(len(section.rows)):
        if row in section.groups:
            group = canvas.spelled(printable(section.groups[row]))
            if group and first.cells[row].text != group:
                entries.append(_Entry(heading=group))
            elif not group and row:
                entries.append(_Entry())
        if group and first.cells[row].text != group:
            indented.add(row)
        entries.append(_Entry(row))
    if section.total:
        entries += [_Entry(), _Entry(len(section.rows), is_total=True)]
    return entries, indented


def _indented(strip: Strip, rows: set[int]) -> Strip:
    if strip.is_numeric:
        return strip
    return strip._replace(
        cells=tuple(
            cell._replace(lines=tuple(f"  {one}" for one in cell.lines)) if row in rows else cell
            for row, cell in enumerate(strip.cells)
        )
    )


def _fitted(found: list[Strip], width: int | None) -> list[_Fitted]:
    """*found* side by side, or in as few parts as fit below each other, of like length."""
    first, *others = found
    for parts in range(1, len(others) + 1):
        most = -(-len(others) // parts)
        split = [[first, *others[i : i + most]] for i in range(0, len(others), most)]
        fitted = [_fit(part, width) for part in split]
        if None not in fitted:
            return [part for part in fitted if part]
    pairs = [[first, other] for other in others] or [[first]]
    return [_fit(pair, width) or _narrowest(pair) for pair in pairs]


def _fit(found: list[Strip], width: int | None) -> _Fitted | None:
    """*found* beside each other, or ``None`` if that is wider than *width*."""
    natural = [_natural(strip) for strip in found]
    gaps = len(found) - 1
    for gap in _GAPS:
        if width is None or sum(natural) + gap * gaps <= width:
            return _Fitted(found, natural, gap)
    narrow = _narrowest(found)
    if width is None or narrow.width > width:
        return None
    return narrow._replace(widths=_shared_out(narrow.widths, natural, width - narrow.gap * gaps))


def _narrowest(found: list[Strip]) -> _Fitted:
    least = [_least(strip, _FOLDED if i else _FOLDED_FIRST) for i, strip in enumerate(found)]
    return _Fitted(found, least, _GAPS[-1])


def _natural(strip: Strip) -> int:
    return widest([*strip.heading, *(one for cell in strip.cells for one in cell.lines)])


def _least(strip: Strip, foldable: int) -> int:
    """The width below which a number, a term of a formula or a word of the heading breaks."""
    heading = widest(piece for one in strip.heading for piece in pieces(one))
    texts = [one for cell in strip.cells for one in cell.lines]
    if strip.is_numeric:
        return max(heading, widest(texts))
    indent = max((len(text) - len(text.lstrip()) for text in texts), default=0)
    return max(heading, indent + max((unbroken(text, foldable) for text in texts), default=0))


def _shared_out(least: list[int], natural: list[int], width: int) -> list[int]:
    """Widths between *least* and *natural* that add up to *width*, fairly."""
    widths = list(least)
    for _ in range(width - sum(least)):
        growing = [i for i, w in enumerate(widths) if w < natural[i]]
        if growing:
            widths[min(growing, key=lambda i: widths[i])] += 1
    return widths


def _with_bar(parts: list[_Fitted], section: Section, canvas: Canvas) -> list[_Fitted]:
    """*parts* with bars beside the shares of the whole, if there is room for them."""
    fitted = parts[0]
    place = next((i for i, s in enumerate(fitted.strips) if s.column.kind == "share"), None)
    source = next((i for i, c in enumerate(section.columns) if c.kind == "share"), None)
    if place is None or source is None or len(parts) > 1:
        return parts
    shares = [row[source] or 0.0 for row in section.rows]
    largest = max(shares)
    most = _PIPED_BAR if canvas.width is None else _BAR_WHOLE
    whole = 0
    for gap in _GAPS:
        fitted = fitted._replace(gap=gap)
        room = most if canvas.width is None else canvas.width - fitted.width - gap
        whole = min(most, int(room / largest) if largest else 0)
        if whole * largest >= _BAR_LEAST:
            break
    else:
        return parts
    bars = [bar(max(round(8 * whole * share), 1), canvas).text if share else "" for share in shares]
    cells = tuple(Shown((text,), "bar") for text in (*bars, *([""] if section.total else [])))
    strips = list(fitted.strips)
    strips.insert(place + 1, Strip(Column("", "", "text"), ("",), cells))
    widths = list(fitted.widths)
    widths.insert(place + 1, widest(bars))
    return [fitted._replace(strips=strips, widths=widths)]


def _drawn(part: _Fitted, entries: Sequence[_Entry], canvas: Canvas) -> Iterator[Line]:
    rule = line(canvas.spelled("─") * part.width, DIM)
    headings = [
        [text for one in strip.heading for text in wrapped(one, width)]
        for strip, width in zip(part.strips, part.widths, strict=True)
    ]
    height = max(map(len, headings))
    if any(any(heading) for heading in headings):
        bottom = [[""] * (height - len(heading)) + heading for heading in headings]
        yield from _row(part, [Shown(tuple(h)) for h in bottom], PLAIN)
        yield rule
    for entry in entries:
        if entry.row is not None:
            cells = [strip.cells[entry.row] for strip in part.strips]
            yield from _row(part, cells, STRONG if entry.is_total else PLAIN)
        elif entry.heading:
            yield line(entry.heading, STRONG)
        else:
            yield rule


def _row(part: _Fitted, cells: Sequence[Shown], style: Style) -> Iterator[Line]:
    """A row of the table, which is several lines where a text is wrapped."""
    columns = [
        [text for one in cell.lines for text in wrapped(one, width)]
        for cell, width in zip(cells, part.widths, strict=True)
    ]
    gap = Span(" " * part.gap)
    for index in range(max(map(len, columns))):
        spans: list[Span] = []
        for strip, cell, width, texts in zip(part.strips, cells, part.widths, columns, strict=True):
            text = texts[index] if index < len(texts) else ""
            own = (_STYLES[cell.role] if cell.role else style) if text else PLAIN
            spans += (Span(padded(text, width, right=strip.is_numeric), own), gap)
        yield tuple(spans[:-1])
