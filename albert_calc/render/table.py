"""Tables for people: fitted to the terminal, as wide as they need in a pipe.

No digit is ever cut and no term of a formula broken. A table that does not fit even with
its texts wrapped is continued below, with its first column repeated.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from rich.box import HORIZONTALS, Box
from rich.cells import cell_len
from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from albert_calc.render import Canvas
from albert_calc.render.bars import bar
from albert_calc.render.cells import Shown, Strip, strips
from albert_calc.render.console import UNLIMITED, box, text, written
from albert_calc.render.fitting import GAPS, INDENT, Fitted, fit, marked, widths_of
from albert_calc.report import Column, Report, Section, sections_for
from albert_calc.writing.harmless import printable

_FOLDED_FIRST, _FOLDED = 32, 16
_BAR_WHOLE, _BAR_LEAST = 40, 4
_PIPED_BAR = 20
_AT_ONCE = 500
"""How many rows Rich draws at once; it takes memory for each."""

# Compiled where there are colours, since that takes a part of the time of a short run.
_FIGURE = r"(?<![\w.−\x1f-])[-+−]?[0-9][0-9,]*(?:\.[0-9]+)?(?:[MBT]\b|%|×|.[KMGT]iB)?(?![\w-])"


def render(report: Report, canvas: Canvas) -> str:
    """The headline of *report* and its sections, with empty lines between them."""
    return written(drawn(report, canvas), canvas)


def drawn(report: Report, canvas: Canvas) -> Iterator[RenderableType]:
    """The same in parts that stand under each other."""
    if report.headline:
        yield from _headline(report.headline, canvas)
    for index, section in enumerate(sections_for(report, "people")):
        if index or report.headline:
            yield ""
        if section.title:
            yield _text(section.title, canvas, "strong")
        yield from _table(section, canvas)
        for texts in (section.lines, section.notes):
            if any(texts):
                yield ""
                yield from (_text(one, canvas, "dim") for one in texts if one)


def _headline(words: str, canvas: Canvas) -> Iterator[Text]:
    """A sentence with its figures in bold; what follows its first line is an aside."""
    first, *others = words.split("\n")
    said = _text(first, canvas)
    if canvas.colour:
        said.highlight_regex(_FIGURE, "strong")
    yield said
    yield from (_text(other, canvas, "dim") for other in others)


def _text(words: str, canvas: Canvas, style: str = "") -> Text:
    return text(canvas.spelled(printable(words)), style, canvas.width)


def _table(section: Section, canvas: Canvas) -> Iterator[RenderableType]:
    found = strips(section, canvas)
    if not found or not section.rows:
        return
    headings, indented = _headings(section, found[0], canvas)
    first, *others = found
    longest = (UNLIMITED, UNLIMITED) if canvas.width is None else (_FOLDED_FIRST, _FOLDED)
    found = [marked(first, longest[0], indented), *(marked(s, longest[1]) for s in others)]
    for index, part in enumerate(_with_bar(fit(found, canvas.width or UNLIMITED), section, canvas)):
        if index:
            yield ""
        yield from _part(part, section, headings, canvas)


def _headings(section: Section, first: Strip, canvas: Canvas) -> tuple[dict[int, str], set[int]]:
    """What stands before rows, a heading or (empty) a rule, and the rows that stand under one.

    A heading that is also the name of its first row is that row.
    """
    headings: dict[int, str] = {}
    indented: set[int] = set()
    group = ""
    for row, cell in enumerate(first.cells[: len(section.rows)]):
        if row in section.groups:
            group = canvas.spelled(printable(section.groups[row]))
            if cell.text != group and (group or row):
                headings[row] = group
        if group and cell.text != group and not first.is_numeric:
            indented.add(row)
    return headings, indented


def _with_bar(parts: list[Fitted], section: Section, canvas: Canvas) -> list[Fitted]:
    """*parts* with bars beside the shares of the whole, if there is room for them."""
    fitted, *others = parts
    place = next((i for i, s in enumerate(fitted.strips) if s.column.kind == "share"), None)
    if place is None or others:
        return parts
    source = section.columns.index(fitted.strips[place].column)
    shares = [row[source] or 0.0 for row in section.rows]
    largest = max(shares)
    most = _PIPED_BAR if canvas.width is None else _BAR_WHOLE
    for gap in GAPS:
        fitted = fitted._replace(gap=gap)
        room = most if canvas.width is None else canvas.width - fitted.width - gap
        longest = min(most, int(room / largest) if largest else 0)
        if longest * largest >= _BAR_LEAST:
            break
    else:
        return parts
    bars = [bar(max(round(8 * longest * s), 1), canvas) if s else "" for s in shares]
    cells = tuple(Shown((text,), "bar") for text in (*bars, *([""] if section.total else [])))
    strip = Strip(Column("", "", "text"), ("",), cells)
    strips, widths = list(fitted.strips), list(fitted.widths)
    strips.insert(place + 1, strip)
    widths.insert(place + 1, widths_of(strip)[1])
    return [fitted._replace(strips=strips, widths=widths)]


def _part(
    part: Fitted, section: Section, headings: dict[int, str], canvas: Canvas
) -> Iterator[RenderableType]:
    """*part* in tables of like columns, between which headings and rules stand."""
    rule = Text(canvas.spelled("─") * part.width, "dim")
    last = len(section.rows)
    if any(any(strip.heading) for strip in part.strips):
        yield _grid(part, box(HORIZONTALS, canvas))
    for start, stop in pairwise(sorted({*headings, *range(0, last, _AT_ONCE), last})):
        if start in headings:
            yield Text(headings[start], "strong") if headings[start] else rule
        yield _rows(part, range(start, stop))
    if section.total:
        yield rule
        yield _rows(part, [last], "strong")


def _grid(part: Fitted, lines: Box | None = None, no_wrap: bool = False) -> Table:
    """The columns of *part* without rows; with *lines*, their headings over a rule."""
    grid = Table(
        box=lines, show_header=lines is not None, show_edge=False, pad_edge=False,
        padding=(0, part.gap - bool(lines), 0, 0), border_style="dim", header_style="none",
    )  # fmt: skip
    for strip, width in zip(part.strips, part.widths, strict=True):
        grid.add_column(
            Text("\n".join(strip.heading)),
            justify="right" if strip.is_numeric else "left",
            width=width,
            no_wrap=no_wrap,
        )
    return grid


def _rows(part: Fitted, rows: Sequence[int], style: str = "") -> Table:
    """*rows* of *part*; those of one line each are one row for Rich, which is twice as fast."""
    simple = all(
        len(lines := strip.cells[row].lines) == 1 and cell_len(lines[0]) <= width
        for strip, width in zip(part.strips, part.widths, strict=True)
        for row in rows
    )
    grid = _grid(part, no_wrap=simple)
    for together in [rows] if simple else [[row] for row in rows]:
        grid.add_row(*(_cell([s.cells[r] for r in together]) for s in part.strips), style=style)
    return grid


def _cell(cells: Sequence[Shown]) -> RenderableType:
    """The lines of *cells* under each other; the wrapped lines of one that is set in are too."""
    lines = [(f"{line}\n", cell.role) for cell in cells for line in cell.lines]
    found = Text.assemble(*lines)
    found.rstrip()
    if len(cells) == 1 and found.plain.startswith(INDENT):
        return Padding(found[len(INDENT) :], (0, 0, 0, len(INDENT)))
    return found
