"""CSV: one header, raw numbers, and no cell that a spreadsheet would run."""

import csv
import io

from albert_calc.render import Canvas, to_ascii
from albert_calc.report import Cell, Quantity, Report, Section
from albert_calc.text import printable

_RUN_BY_SPREADSHEETS = ("=", "+", "-", "@")


def render(report: Report, canvas: Canvas) -> str:
    """The rows of all sections under one header, each after its section's label.

    The header has the columns of the first section and then what others add; a row has
    empty cells under the columns that its section does not have.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    labels = [s.label[0] for s in report.sections if s.label][:1]
    header = _keys(report.sections[0])
    for section in report.sections:
        header += [key for key in _keys(section) if key not in header]
    writer.writerow([cell(text) for text in (*labels, *header)])
    for section in report.sections:
        before = [cell(section.label[1]) if section.label else None for _ in labels]
        for row in section.rows:
            writer.writerow([*before, *_under(header, section, row)])
    text = out.getvalue()
    return to_ascii(text) if canvas.ascii_only else text


def _keys(section: Section) -> list[str]:
    return [column.key for column in section.columns]


def _under(header: list[str], section: Section, row: tuple[Cell, ...]) -> list[Cell]:
    keys = _keys(section)
    cells = [cell(value) for value in row]
    if keys == header[: len(keys)]:
        return cells + [None] * (len(header) - len(keys))
    found = dict(zip(keys, cells, strict=True))
    return [found.get(key) for key in header]


def cell(value: Cell) -> Cell:
    """*value* as a cell: text is made harmless, numbers stay as they are."""
    if isinstance(value, Quantity):
        return value.value
    if not isinstance(value, str):
        return value
    text = printable(value)
    return f"'{text}" if text.lstrip().startswith(_RUN_BY_SPREADSHEETS) else text
