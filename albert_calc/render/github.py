"""Annotations of a GitHub workflow: a line for each check that does not hold."""

from typing import Any

from albert_calc.render import Canvas
from albert_calc.report import Report, row_objects
from albert_calc.writing.harmless import printable

_IN_MESSAGES = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_IN_PROPERTIES = {**_IN_MESSAGES, ":": "%3A", ",": "%2C"}


def render(report: Report, canvas: Canvas) -> str:
    """An annotation for each row of a report of checks that is false, and the last line."""
    lines = [
        _annotation(row, canvas)
        for section in report.sections
        for row in row_objects(section)
        if row["ok"] is not True
    ]
    kind = "notice" if report.status == 0 else "error"
    lines.append(f"::{kind} title=albert-calc::{_escaped(report.facts['summary'], canvas)}")
    return "".join(f"{line}\n" for line in lines)


def _annotation(row: dict[str, Any], canvas: Canvas) -> str:
    place = f"file={_escaped(row['file'], canvas, _IN_PROPERTIES)}," if row["file"] else ""
    name = _escaped(row["name"], canvas, _IN_PROPERTIES)
    return f"::error {place}title=albert-calc {name}::{_escaped(said(row), canvas)}"


def said(row: dict[str, Any]) -> str:
    """What is wrong in *row*, in a sentence."""
    if row["error"]:
        return str(row["error"])
    tolerance = f" ± {row['tolerance']}" if row["tolerance"] else ""
    return (
        f"{row['rule']} {row['expected']:,}{tolerance}, found {row['found']:,}"
        f" ({row['difference']:+,})"
    )


def _escaped(text: str, canvas: Canvas, signs: dict[str, str] | None = None) -> str:
    """*text* as a part of an annotation, which it cannot leave."""
    found = canvas.spelled(printable(text, 1_000))
    return "".join((signs or _IN_MESSAGES).get(c, c) for c in found)
