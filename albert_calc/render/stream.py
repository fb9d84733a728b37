"""Rows written as they come: a result of any length, never held as a whole.

Each format yields text whose first piece ends with the first rows; nothing at all if
there are none.
"""

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Sequence

from albert_calc.render import Canvas
from albert_calc.render import csv as csv_format
from albert_calc.render import json as json_format
from albert_calc.render import markdown as markdown_format
from albert_calc.report import Cell, Column, Section

_GATHERED = 1_000

Rows = Sequence[tuple[Cell, ...]]


def stream(
    format: str, columns: Sequence[Column], pieces: Iterable[Rows], canvas: Canvas
) -> Iterator[str]:
    """The rows of *pieces* in *format*, one of ``STREAMED``, in pieces of text."""
    return STREAMED[format](columns, _gathered(pieces), canvas)


def _gathered(pieces: Iterable[Rows]) -> Iterator[Rows]:
    """*pieces* joined into larger ones, but for the first, which somebody waits for."""
    least = 1
    rows: list[tuple[Cell, ...]] = []
    for piece in pieces:
        rows += piece
        if len(rows) >= least:
            yield rows
            rows, least = [], _GATHERED
    if rows:
        yield rows


def _csv(columns: Sequence[Column], pieces: Iterable[Rows], canvas: Canvas) -> Iterator[str]:
    header = ",".join(column.key for column in columns) + "\n"
    counts = all(column.kind == "count" for column in columns)
    one = ",".join(["%d"] * len(columns)) + "\n"
    for rows in pieces:
        if counts and not any(None in row for row in rows):
            # Half the time of a writer that must ask of each cell what it is.
            yield header + "".join(map(one.__mod__, rows))
        else:
            yield header + _careful_csv(rows, canvas)
        header = ""


def _careful_csv(rows: Rows, canvas: Canvas) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerows([csv_format.cell(c, canvas) for c in row] for row in rows)
    return out.getvalue()


def _jsonl(columns: Sequence[Column], pieces: Iterable[Rows], canvas: Canvas) -> Iterator[str]:
    for rows in pieces:
        yield "".join(f"{line}\n" for line in _objects(columns, rows, canvas))


def _json(columns: Sequence[Column], pieces: Iterable[Rows], canvas: Canvas) -> Iterator[str]:
    before = "[\n  "
    for rows in pieces:
        yield before + ",\n  ".join(_objects(columns, rows, canvas))
        before = ",\n  "
    if before.startswith(","):
        yield "\n]\n"


def _objects(columns: Sequence[Column], rows: Rows, canvas: Canvas) -> Iterator[str]:
    keys = [c.key for c in columns]
    return (json_format.dumps(dict(zip(keys, row, strict=True)), canvas.ascii_only) for row in rows)


def _markdown(columns: Sequence[Column], pieces: Iterable[Rows], canvas: Canvas) -> Iterator[str]:
    has_header = True
    for rows in pieces:
        lines = markdown_format.table(Section(tuple(columns), tuple(rows)), canvas)
        yield "".join(f"{line}\n" for line in (lines if has_header else lines[2:]))
        has_header = False


Writer = Callable[[Sequence[Column], Iterable[Rows], Canvas], Iterator[str]]

STREAMED: dict[str, Writer] = {
    "csv": _csv,
    "json": _json,
    "jsonl": _jsonl,
    "markdown": _markdown,
}
"""Each format in which rows can be written as they come."""
