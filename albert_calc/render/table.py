"""Tables for people, drawn by rich: fitted to the terminal, no digit ever cut.

A section that is wider than the terminal is shown as one block a row instead.
"""

import io
import re

from rich import box
from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from albert_calc.render import Canvas, to_ascii
from albert_calc.render.cells import cell_text, is_numeric
from albert_calc.report import Report, Section

_NUMBER = re.compile(r"[-+(]*[0-9][0-9,.]*[%×M)]*")
_MANY_NUMBERS = 5
_FIRST_TEXT = 32
_WRAPPED_TEXT = 16
_WIDEST_TEXT = 64
_UNLIMITED = 10_000

_LINES = box.HORIZONTALS
_EMPTY, _RULE = "    \n", " -- \n"
_ASCII_LINES = box.Box(_RULE + _EMPTY + _RULE + _EMPTY + _RULE + _RULE + _EMPTY + _RULE, ascii=True)


def render(report: Report, canvas: Canvas) -> str:
    """The sections of *report* one after the other, with an empty line between them."""
    return "\n".join(
        draw(Group(_section(s, canvas), *_notes(s)), canvas, _least_width(s))
        for s in report.sections
    )


def draw(what: RenderableType, canvas: Canvas, least: int = 0) -> str:
    """Anything that rich can draw as text, in colour if standard output takes colour."""
    width = max(canvas.width or _UNLIMITED, least)
    # With a width but no height, rich asks the terminal for both.
    console = Console(width=width, height=100, highlight=False, emoji=False, markup=False)
    with console.capture() as capture:
        console.print(what)
    lines = [line.rstrip(" ") for line in capture.get().split("\n")]
    text = "\n".join(lines)
    return to_ascii(text) if canvas.ascii_only else text


def recording_console(width: int) -> Console:
    """A console that shows nothing and remembers what was printed, for rich's exporters."""
    return Console(
        width=width, height=100, record=True, file=io.StringIO(), force_terminal=True,
        highlight=False, emoji=False, markup=False, color_system="truecolor",
    )  # fmt: skip


def _section(section: Section, canvas: Canvas) -> RenderableType:
    head: list[RenderableType] = [Text(section.title, style="bold")]
    head += [Text(line) for text in section.lines for line in _filled(text, canvas.width)]
    table = _fitting_table(section, canvas)
    if table is not None:
        return Group(*head, table)
    numbers, words = _halves(section)
    tables = [_fitting_table(half, canvas) for half in (numbers, words)]
    # A table of its own is worth it for many numbers; a few stay with their words.
    if len(numbers.columns) > _MANY_NUMBERS and None not in tables:
        return Group(*head, tables[0] or "", "", tables[1] or "")
    explained = [c.heading.replace("\n", " ") for c in section.columns if "\n" in c.heading]
    return Group(*head, *(Text(line) for line in explained), *_blocks(section, canvas.width or 0))


def _notes(section: Section) -> list[Text]:
    return [Text(line) for line in ("", *section.notes)] if section.notes else []


def _filled(text: str, width: int | None) -> list[str]:
    """*text* broken where two spaces stand, as between the sizes of a shape, to fit *width*."""
    lines = [""]
    for part in text.split("  "):
        longer = f"{lines[-1]}  {part}" if lines[-1] else part
        if width is not None and lines[-1] and cell_len(longer) > width:
            lines.append(part)
        else:
            lines[-1] = longer
    return lines


def _fitting_table(section: Section, canvas: Canvas) -> Table | None:
    """The section as a table, or ``None`` if that is wider than the canvas."""
    natural = [_width(section, i, wrapped=False) for i in range(len(section.columns))]
    least = [_width(section, i, wrapped=True) for i in range(len(section.columns))]
    for gap in (2, 1):
        gaps = gap * (len(least) - 1)
        if canvas.width is None or sum(natural) + gaps <= canvas.width:
            return _table(section, natural, canvas, gap)
        if sum(least) + gaps <= canvas.width:
            return _table(section, _shared_out(least, natural, canvas.width - gaps), canvas, gap)
    return None


def _shared_out(least: list[int], natural: list[int], width: int) -> list[int]:
    """Widths between *least* and *natural* that add up to *width*, fairly."""
    widths = list(least)
    for _ in range(width - sum(least)):
        growing = [i for i, w in enumerate(widths) if w < natural[i]]
        widths[min(growing, key=lambda i: widths[i])] += 1
    return widths


def _halves(section: Section) -> tuple[Section, Section]:
    """The section's numbers and its words, each with the first column."""
    kept = [
        [i for i, c in enumerate(section.columns) if i == 0 or is_numeric(c) == numeric]
        for numeric in (True, False)
    ]
    numbers, words = (
        section._replace(
            columns=tuple(section.columns[i] for i in indices),
            rows=tuple(tuple(row[i] for i in indices) for row in section.rows),
        )
        for indices in kept
    )
    return numbers, words._replace(has_total=False)


def _least_width(section: Section) -> int:
    """The width below which digits would be cut: a number and its sign."""
    return max((_unbroken(section, i) for i in range(len(section.columns))), default=0) + 2


def _unbroken(section: Section, index: int) -> int:
    """The widest thing in a column that must stay on one line: a number, also within text."""
    texts = _texts(section, index)
    if is_numeric(section.columns[index]):
        return max(map(cell_len, texts), default=0)
    words = (word for text in texts for word in text.split() if _NUMBER.fullmatch(word))
    return max(map(cell_len, words), default=0)


def _texts(section: Section, index: int) -> list[str]:
    column = section.columns[index]
    return [cell_text(row[index], column) for row in section.rows]


def _width(section: Section, index: int, wrapped: bool) -> int:
    """The width that a column needs: numbers whole, text whole or *wrapped*."""
    column = section.columns[index]
    widest = max((cell_len(t) for t in _texts(section, index)), default=0)
    if column.kind == "text":
        narrowest = _WRAPPED_TEXT if index else _FIRST_TEXT
        widest = min(widest, narrowest if wrapped else _WIDEST_TEXT)
        widest = max(widest, _unbroken(section, index))
    heading = column.heading.split() if wrapped else column.heading.split("\n")
    return max(widest, *(cell_len(part) for part in heading))


def _table(section: Section, widths: list[int], canvas: Canvas, gap: int) -> Table:
    table = Table(
        box=_ASCII_LINES if canvas.ascii_only else _LINES,
        show_edge=False,
        padding=(0, 0, 0, gap - 1),
        pad_edge=False,
    )
    for column, width in zip(section.columns, widths, strict=True):
        table.add_column(
            Text(column.heading),
            justify="right" if is_numeric(column) else "left",
            overflow="fold",
            width=width,
            vertical="bottom" if is_numeric(column) else "top",
        )
    for index, row in enumerate(section.rows):
        is_total = section.has_total and index == len(section.rows) - 1
        if is_total:
            table.add_section()
        cells = [Text(cell_text(v, c)) for v, c in zip(row, section.columns, strict=True)]
        table.add_row(*cells, style="bold" if is_total else "")
    return table


def _blocks(section: Section, width: int) -> list[RenderableType]:
    """One block a row: headings to the left, values to the right, or under them if wide."""
    first, *others = section.columns
    number_width = _least_width(section) - 2
    headings = ["  " + c.heading.split("\n")[0].rstrip(":") for c in others]
    beside = [cell_len(h) for i, h in enumerate(headings, 1) if _unbroken(section, i)]
    under = max(beside, default=0) + 2 + number_width > width
    blocks: list[RenderableType] = []
    for row in section.rows:
        grid = Table.grid(padding=(0, 2, 0, 0))
        grid.add_column(overflow="fold")
        if not under:
            grid.add_column(min_width=number_width, overflow="fold")
        for heading, value, column in zip(headings, row[1:], others, strict=True):
            text = cell_text(value, column)
            aligned = text.rjust(number_width) if is_numeric(column) else text
            if text and under:
                grid.add_row(Text(heading))
                grid.add_row(Text("  " + aligned))
            elif text:
                grid.add_row(Text(heading), Text(aligned))
        name = cell_text(row[0], first)
        # A row without a name goes on with the one before.
        blocks += [Text(""), Text(name, style="bold"), grid] if name else [grid]
    return blocks
