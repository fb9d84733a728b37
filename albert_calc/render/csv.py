"""CSV: one header, raw numbers, and no cell that a spreadsheet would run."""

import csv
import io
from typing import Any

from albert_calc.render import Canvas
from albert_calc.report import Quantity, Report, Section, sections_for, shown_to
from albert_calc.writing.harmless import printable

_RUN_BY_SPREADSHEETS = ("=", "+", "-", "@", "＝", "＋", "－", "＠")


def render(report: Report, canvas: Canvas) -> str:
    """The rows of all sections under one header, each after its section's label.

    The header has the columns of the first section and then what others add; a row has
    empty cells under the columns that its section does not have.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    sections = sections_for(report, "machines")
    labels = [s.label[0] for s in sections if s.label][:1]
    header = list(dict.fromkeys((*labels, *(key for s in sections for key in _keys(s)))))
    writer.writerow([cell(text, canvas) for text in header])
    for section in sections:
        places = dict(zip(_keys(section), _places(section), strict=True))
        label = dict([section.label] if section.label else [])
        for row in section.rows:
            cells = (row[places[key]] if key in places else label.get(key) for key in header)
            writer.writerow([cell(value, canvas) for value in cells])
    return out.getvalue()


def _places(section: Section) -> list[int]:
    return [i for i in shown_to(section, "machines") if section.columns[i].kind != "data"]


def _keys(section: Section) -> list[str]:
    return [section.columns[i].key for i in _places(section)]


def cell(value: Any, canvas: Canvas) -> str | int | float | None:
    """*value* as a cell: text is made harmless, numbers stay as they are."""
    if isinstance(value, Quantity):
        value = value.value
    if isinstance(value, bool):
        return str(value).lower()
    if value is None or isinstance(value, int | float):
        return value
    # Spelled first: a sign that is harmless may be one that is not in other letters.
    text = canvas.spelled(printable(" ".join(value) if isinstance(value, tuple) else value))
    return f"'{text}" if text.lstrip().startswith(_RUN_BY_SPREADSHEETS) else text
