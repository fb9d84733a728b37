"""Markdown: pipe tables that render on GitHub, for pull requests and notes."""

import re
from collections.abc import Iterator

from albert_calc.render import Canvas
from albert_calc.render.cells import Strip, strips
from albert_calc.report import Report, Section, sections_for
from albert_calc.writing.harmless import printable

# What makes a list or a heading at the beginning of a line.
_AT_START = re.compile(r"^(\s*[0-9]*)([-+=]|(?<=[0-9])[.)](?=\s))")
_MARKUP = re.compile(r"([\\`*_\[\]<>|#~&])")


def render(report: Report, canvas: Canvas) -> str:
    """The headline of *report*, and a title, a table and its lines for each section."""
    blocks = [text(part, canvas) for part in report.headline.split("\n") if part]
    blocks += [
        block for section in sections_for(report, "people") for block in _section(section, canvas)
    ]
    return "\n\n".join(blocks) + "\n"


def text(words: str, canvas: Canvas) -> str:
    """*words* as a paragraph, with every character escaped that would be markup."""
    return _AT_START.sub(r"\1\\\2", _inline(words, canvas))


def _inline(words: str, canvas: Canvas) -> str:
    # Spelled first: a letter that is no markup may be some in other letters.
    return _MARKUP.sub(r"\\\1", canvas.spelled(printable(words)))


def _section(section: Section, canvas: Canvas) -> Iterator[str]:
    if section.title:
        yield f"**{text(section.title, canvas)}**"
    if section.rows:
        yield "\n".join(table(section, canvas))
    for line in section.lines:
        if line:
            yield text(line, canvas)
    if section.notes:
        yield "\n".join(f"- {text(note, canvas)}" for note in section.notes)


def table(section: Section, canvas: Canvas) -> list[str]:
    """The lines of the pipe table of *section*; the first two are its head."""
    # Cells are put into the letters of the canvas when they are escaped.
    found = strips(section, Canvas())
    lines = [_row([_inline(" ".join(s.heading), canvas) for s in found])]
    lines.append(_row(["---:" if s.is_numeric else "---" for s in found]))
    for row in range(len(section.rows)):
        group = section.groups.get(row)
        if group and group != found[0].cells[row].text:
            heading = f"**{_inline(group, canvas)}**"
            lines.append(_row([heading, *([""] * (len(found) - 1))]))
        lines.append(_row(_cells(found, row, canvas)))
    if section.total:
        total = _cells(found, len(section.rows), canvas)
        lines.append(_row([f"**{cell}**" if cell else "" for cell in total]))
    return lines


def _cells(found: list[Strip], row: int, canvas: Canvas) -> list[str]:
    return [_inline(strip.cells[row].text.strip(), canvas) for strip in found]


def _row(texts: list[str]) -> str:
    return f"| {' | '.join(texts)} |"
