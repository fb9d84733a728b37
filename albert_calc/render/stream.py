"""Rows written as they come: a result of any length, never held as a whole.

Each format yields text whose first piece ends with the first rows; nothing at all if
there are none. May import the other renderers, but not rich.
"""

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Sequence

from albert_calc.render import Canvas, to_ascii
from albert_calc.render import csv as csv_format
from albert_calc.render import json as json_format
from albert_calc.render import markdown as markdown_format
from albert_calc.report import Cell, Column, Section

_GATHERED = 1_000

Rows = Sequence[tuple[Cell, ...]]


def stream(
    format: str, columns: Sequence[Column], batches: Iterable[Rows], canvas: Canvas
) -> Iterator[str]:
    """The rows of *batches* in *format*, one of ``STREAMED``, piece by piece."""
    for text in STREAMED[format](columns, _gathered(batches)):
        yield to_ascii(text) if canvas.ascii_only else text


def _gathered(batches: Iterable[Rows]) -> Iterator[Rows]:
    """*batches* joined into larger ones, but for the first, which somebody waits for."""
    least = 1
    rows: list[tuple[Cell, ...]] = []
    for batch in batches:
        rows += batch
        if len(rows) >= least:
            yield rows
            rows, least = [], _GATHERED
    if rows:
        yield rows


def _csv(columns: Sequence[Column], batches: Iterable[Rows]) -> Iterator[str]:
    has_text = any(c.kind in ("name", "text") for c in columns)
    header: Rows = [tuple(c.key for c in columns)]
    for rows in batches:
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerows(header)
        # Numbers need no care, and going through every cell takes longer than writing it.
        if has_text:
            writer.writerows([csv_format.cell(c) for c in row] for row in rows)
        else:
            writer.writerows(rows)
        yield out.getvalue()
        header = []


def _jsonl(columns: Sequence[Column], batches: Iterable[Rows]) -> Iterator[str]:
    for rows in batches:
        yield "".join(f"{line}\n" for line in _objects(columns, rows))


def _json(columns: Sequence[Column], batches: Iterable[Rows]) -> Iterator[str]:
    before = "[\n  "
    for rows in batches:
        yield before + ",\n  ".join(_objects(columns, rows))
        before = ",\n  "
    if before.startswith(","):
        yield "\n]\n"


def _objects(columns: Sequence[Column], rows: Rows) -> Iterator[str]:
    keys = [c.key for c in columns]
    return (json_format.dumps(dict(zip(keys, row, strict=True))) for row in rows)


def _markdown(columns: Sequence[Column], batches: Iterable[Rows]) -> Iterator[str]:
    has_header = True
    for rows in batches:
        lines = markdown_format.table(Section("", tuple(columns), tuple(rows)))
        yield "".join(f"{line}\n" for line in (lines if has_header else lines[2:]))
        has_header = False


STREAMED: dict[str, Callable[[Sequence[Column], Iterable[Rows]], Iterator[str]]] = {
    "csv": _csv,
    "json": _json,
    "jsonl": _jsonl,
    "markdown": _markdown,
}
"""Each format in which rows can be written as they come."""
