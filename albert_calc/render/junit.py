"""JUnit XML: a test case for each check, as CI servers read it."""

from typing import Any
from xml.sax.saxutils import escape, quoteattr

from albert_calc.render import Canvas
from albert_calc.render.github import said
from albert_calc.report import Report, row_objects
from albert_calc.writing.harmless import printable


def render(report: Report, canvas: Canvas) -> str:
    """A test suite of the rows of a report of checks.

    One that does not hold is a failure, and one whose model cannot be read an error.
    """
    rows = [row for section in report.sections for row in row_objects(section)]
    failures = sum(row["ok"] is False for row in rows)
    errors = sum(row["ok"] is None for row in rows)
    counts = f'tests="{len(rows)}" failures="{failures}" errors="{errors}"'
    cases = "".join(_case(row, canvas) for row in rows)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<testsuites name="albert-calc" {counts}>\n'
        f'  <testsuite name="albert-calc check" {counts} skipped="0" time="0">\n'
        f"{cases}  </testsuite>\n</testsuites>\n"
    )


def _case(row: dict[str, Any], canvas: Canvas) -> str:
    name = " ".join(t for t in (row["name"], row["rule"] if not row["error"] else "") if t)
    place = f" file={_attribute(row['file'], canvas)}" if row["file"] else ""
    head = (
        f'    <testcase classname="albert-calc.check" name={_attribute(name, canvas)}{place}'
        ' time="0"'
    )
    if row["ok"]:
        return f"{head}/>\n"
    tag = "failure" if row["ok"] is False else "error"
    text = said(row)
    return (
        f'{head}>\n      <{tag} message={_attribute(text, canvas)} type="{tag}">'
        f"{escape(_text(text, canvas))}</{tag}>\n    </testcase>\n"
    )


def _attribute(text: str, canvas: Canvas) -> str:
    return quoteattr(_text(text, canvas))


def _text(text: str, canvas: Canvas) -> str:
    return canvas.spelled(printable(text, 2_000))
