"""JSON: exact integers, fractions unrounded, nothing that a terminal would obey."""

import json

from albert_calc.render import Canvas
from albert_calc.report import Report


def render(report: Report, canvas: Canvas) -> str:
    """The data of *report*, indented."""
    return dumps(report.data, canvas.ascii_only, indent=2) + "\n"


def dumps(data: object, ascii_only: bool = False, indent: int | None = None) -> str:
    """*data* as JSON in which characters that do not print are escaped."""
    text = json.dumps(data, ensure_ascii=ascii_only, indent=indent, allow_nan=False)
    if text.replace("\n", "").isprintable():
        return text
    return "".join(c if c.isprintable() or c == "\n" else _escape(c) for c in text)


def _escape(character: str) -> str:
    return json.dumps(character)[1:-1]
