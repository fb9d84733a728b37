"""CSV: one header, raw numbers, and no cell that a spreadsheet would run."""

import csv
import io

from albert_calc.render import Canvas, to_ascii
from albert_calc.report import Cell, Report
from albert_calc.text import printable

_RUN_BY_SPREADSHEETS = ("=", "+", "-", "@")


def render(report: Report, canvas: Canvas) -> str:
    """The rows of all sections under the header of the first, each after its label."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    first = report.sections[0]
    label = [first.label[0]] if first.label else []
    writer.writerow([*label, *(column.key for column in first.columns)])
    for section in report.sections:
        before = [cell(section.label[1])] if section.label else []
        writer.writerows([*before, *(cell(c) for c in row)] for row in section.rows)
    text = out.getvalue()
    return to_ascii(text) if canvas.ascii_only else text


def cell(value: Cell) -> Cell:
    """*value* as a cell: text is made harmless, numbers stay as they are."""
    if not isinstance(value, str):
        return value
    text = printable(value)
    return f"'{text}" if text.lstrip().startswith(_RUN_BY_SPREADSHEETS) else text
