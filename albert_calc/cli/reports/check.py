"""The results of checks: a table, the lines of CI formats, and the exit status."""

import json
import os
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any

from albert_calc.checks.run import Result
from albert_calc.cli.asked import Asked
from albert_calc.cli.output import append_file, canvas, write_chunks
from albert_calc.errors import MOST_PROBLEMS
from albert_calc.render import Canvas
from albert_calc.report import CANNOT, FALSE, Column, Report, Section

_MOST_SHOWN = 1_000
"""The most rows of a table; of more, only those that do not hold are shown."""

CI_FORMATS = ("github", "junit")
"""The formats that a CI reads, which learns there also that a model cannot be read."""

_SUMMARY = "GITHUB_STEP_SUMMARY"


class _Tally:
    """How many checks hold, how many do not, and how many models could not be read."""

    def __init__(self) -> None:
        self.holding = self.failing = self.unread = 0
        self.errors: list[str] = []

    def counted(self, results: Iterable[Result]) -> Iterator[Result]:
        """*results*, each counted as it passes."""
        for result in results:
            self.holding += result.holds is True
            self.failing += result.holds is False
            self.unread += result.holds is None
            if result.holds is None and len(self.errors) < MOST_PROBLEMS:
                self.errors.append(f"{result.name}: {result.error}")
            yield result

    @property
    def said(self) -> tuple[str, ...]:
        """What could not be read, the first of many by name."""
        more = self.unread - len(self.errors)
        return (*self.errors, *([f"and {more:,} more that cannot be checked"] if more else []))

    @property
    def status(self) -> int:
        """The exit status."""
        return CANNOT if self.unread else FALSE if self.failing else 0

    @property
    def facts(self) -> dict[str, Any]:
        """What JSON says of all results."""
        return {"ok": not self.status, "summary": self.summary}

    @property
    def summary(self) -> str:
        """The last line: ``12 checks: 11 hold, 1 does not``."""
        total = self.holding + self.failing + self.unread
        if not total:
            return "0 checks"
        said = [f"{self.holding:,} {'holds' if self.holding == 1 else 'hold'}"]
        if self.failing:
            said.append(f"{self.failing:,} {'does' if self.failing == 1 else 'do'} not")
        if self.unread:
            said.append(f"{self.unread:,} cannot be checked")
        return f"{total:,} check{'' if total == 1 else 's'}: {', '.join(said)}"


def check_report(asked: Asked, results: Iterator[Result], unlisted: Sequence[str] = ()) -> Report:
    """What there is to write of *results*; *unlisted* is whole when all of them are there."""
    tally = _Tally()
    counted = tally.counted(results)
    if asked.quiet and asked.format == "table":
        deque(counted, maxlen=0)
        return _written(f"{tally.summary}\n", tally, unlisted)
    rows = [_row(result) for result in islice(counted, _MOST_SHOWN)]
    later = next(counted, None)
    if later is not None and asked.format in ("json", "csv"):
        _stream(asked.format, rows, chain([later], counted), tally)
        return _written("", tally, unlisted)
    if later is not None:
        kept = asked.format == "junit"
        rows = rows if kept else [row for row in rows if row[-1] is not True]
        for result in chain([later], counted):
            if kept or (not result.holds and len(rows) < _MOST_SHOWN):
                rows.append(_row(result))
    alone = tally.unread == 1 and asked.format not in CI_FORMATS
    if not tally.holding + tally.failing and (alone or asked.format in ("table", "markdown")):
        # Nothing can be told.
        return _written("" if tally.unread else f"{tally.summary}\n", tally, unlisted)
    report = Report(
        (_section(rows, tally.summary),),
        tally.facts,
        status=tally.status,
        warnings=tuple(unlisted),
        errors=tally.said,
    )
    path = os.environ.get(_SUMMARY) if asked.format == "github" else None
    if path:
        from albert_calc.render.markdown import render

        append_file(path, render(report, Canvas()))
    return report


def _written(text: str, tally: _Tally, unlisted: Sequence[str]) -> Report:
    """A report whose result is *text*, or nothing more than has been written."""
    return Report(written=text, status=tally.status, warnings=tuple(unlisted), errors=tally.said)


def _section(rows: Sequence[tuple[Any, ...]], summary: str) -> Section:
    """The table of *rows*: people read the result beside the check, and no empty column."""
    columns = list(_COLUMNS)
    if not any(row[_TOLERANCE] for row in rows):
        columns[_TOLERANCE] = columns[_TOLERANCE]._replace(only="machines")
    name, *others, result = columns
    return Section(
        (name, result._replace(only="people"), *others, result._replace(only="machines")),
        tuple((row[0], row[-1], *row[1:]) for row in rows),
        key="checks",
        notes=(summary,),
    )


def _stream(
    format: str, rows: list[tuple[Any, ...]], others: Iterable[Result], tally: _Tally
) -> None:
    """Write many results as they come."""
    from albert_calc.render.stream import stream

    several = iter(lambda: list(islice(others, _MOST_SHOWN)), [])
    pieces = chain([rows], ([_row(r) for r in results] for results in several))
    chunks = stream(format, _COLUMNS, pieces, canvas())
    if format == "json":
        chunks = chain(['{"checks": '], chunks, _last(tally))
    write_chunks(chunks)


def _last(tally: _Tally) -> Iterator[str]:
    """The end of the JSON, which is known when all results are."""
    yield ", " + json.dumps(tally.facts).removeprefix("{") + "\n"


_COLUMNS = (
    Column("name", "check", "text"),
    Column("head", "head", "text", "machines"),
    Column("layout", "layout", "text", "machines"),
    Column("rule", "rule", "text"),
    Column("tolerance", "tolerance", "text"),
    Column("expected", "expected", "count"),
    Column("found", "found", "count"),
    Column("difference", "difference", "difference"),
    Column("error", "error", "text", "machines"),
    Column("file", "file", "text", "machines"),
    Column("ok", "result", "verdict"),
)

_TOLERANCE = [column.key for column in _COLUMNS].index("tolerance")


def _row(result: Result) -> tuple[Any, ...]:
    outcome = result.outcome
    if outcome is None:
        return (
            result.name, result.head, result.layout, "cannot be checked", None, None, None, None,
            result.error, result.path or None, None,
        )  # fmt: skip
    return (
        result.name, result.head, result.layout, outcome.rule, outcome.tolerance or None,
        outcome.expected, outcome.found, outcome.difference, None, result.path or None,
        outcome.holds,
    )  # fmt: skip
