"""Markdown: pipe tables that render on GitHub, for pull requests and notes."""

import re

from albert_calc.render import Canvas, to_ascii
from albert_calc.render.cells import cell_text, is_numeric
from albert_calc.report import Report, Section

# What makes a list or a heading at the beginning of a line.
_AT_START = re.compile(r"^(\s*[0-9]*)([-+=]|(?<=[0-9])[.)](?=\s))")
_MARKUP = re.compile(r"([\\`*_\[\]<>|#~&])")


def render(report: Report, canvas: Canvas) -> str:
    """A title, lines and a table for each section of *report*."""
    text = "\n".join(_section(s) for s in report.sections)
    return to_ascii(text) if canvas.ascii_only else text


def escape(text: str) -> str:
    """*text* with every character escaped that Markdown would take as markup."""
    return _AT_START.sub(r"\1\\\2", _MARKUP.sub(r"\\\1", text))


def _section(section: Section) -> str:
    lines = [f"**{escape(section.title)}**", ""]
    for line in section.lines:
        lines += [escape(line), ""]
    lines += table(section)
    if section.notes:
        lines += ["", *(f"- {escape(note)}" for note in section.notes)]
    return "\n".join(lines) + "\n"


def table(section: Section) -> list[str]:
    """The lines of the pipe table of *section*; the first two are its head."""
    lines = [_row([escape(c.heading.replace("\n", " ")) for c in section.columns])]
    lines.append(_row(["---:" if is_numeric(c) else "---" for c in section.columns]))
    for row in section.rows:
        texts = [escape(cell_text(v, c)) for v, c in zip(row, section.columns, strict=True)]
        if section.has_total and row is section.rows[-1]:
            texts = [f"**{t}**" if t else t for t in texts]
        lines.append(_row(texts))
    return lines


def _row(texts: list[str]) -> str:
    return f"| {' | '.join(texts)} |"
