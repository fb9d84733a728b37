"""Cells as people read them, for the formats that are made for people."""

import re
from collections.abc import Sequence
from typing import Any

from albert_calc.named_tuple import NamedTuple
from albert_calc.render import Canvas
from albert_calc.render.theme import Role
from albert_calc.report import Column, Kind, Quantity, Section, shown_to
from albert_calc.writing import numbers
from albert_calc.writing.harmless import printable

_LONGEST = 1_000

_DECIMAL: tuple[Kind, ...] = ("percent", "share", "saving", "ratio", "number")
_WORDS: tuple[Kind, ...] = ("name", "text", "verdict")
_VERDICTS: dict[str, Role] = {"ok": "good", "yes": "good", "FAILED": "bad", "no": "bad"}
_WHOLE = re.compile(r"([^a-z]*?[0-9][0-9,]*)([^a-z]*|e.*)")


class Shown(NamedTuple):
    """A cell as people see it: its lines of text, and what colour says of it."""

    lines: tuple[str, ...]
    role: Role = ""

    @property
    def text(self) -> str:
        """All of it on one line."""
        return " ".join(self.lines)


NOTHING = Shown(("",))


def shown(value: Any, kind: Kind) -> Shown:
    """*value* in a column of *kind*."""
    if value is None:
        return NOTHING
    if isinstance(value, Quantity):
        if isinstance(value.value, bool):
            return _verdict("yes" if value.value else "no")
        return shown(value.value, value.kind)
    if isinstance(value, tuple):
        return Shown(tuple(printable(part, _LONGEST) for part in value))
    if isinstance(value, str):
        text = printable(value, _LONGEST)
        if kind == "verdict":
            return _verdict(text)
        return Shown((text.replace("_", " ") if kind == "name" else text,))
    if isinstance(value, bool):
        return _verdict(("FAILED", "ok")[value] if kind == "verdict" else ("no", "yes")[value])
    if kind == "saving":
        return Shown((numbers.saving(value),), "good" if value > 0 else "bad" if value else "")
    return Shown((_number(value, kind),))


def _verdict(text: str) -> Shown:
    return Shown((text,), _VERDICTS.get(text, ""))


def _number(value: int | float, kind: Kind) -> str:
    if kind in ("percent", "share"):
        return numbers.percent(value)
    if kind == "ratio":
        return numbers.ratio(value)
    if isinstance(value, float):
        return numbers.number(value)
    write = {
        "difference": numbers.difference,
        "bytes": numbers.binary_size,
        "flops": numbers.flops,
    }.get(kind, numbers.count)
    return write(value)


class Strip(NamedTuple):
    """A column as people see it: its heading, and a cell for each row, the total's last."""

    column: Column
    heading: tuple[str, ...]
    cells: tuple[Shown, ...]

    @property
    def is_numeric(self) -> bool:
        """Whether the cells are numbers, aligned to the right and never cut."""
        return self.column.kind not in _WORDS


def strips(section: Section, canvas: Canvas) -> list[Strip]:
    """The columns of *section* that are for people, in the letters of *canvas*.

    Numbers of a kind stand with their points under each other.
    """
    rows = [*section.rows, *([section.total] if section.total else [])]
    found = []
    for place in shown_to(section, "people"):
        column = section.columns[place]
        cells = _column(column, [row[place] for row in rows], canvas)
        if column.kind in _DECIMAL:
            cells = _under_each_other(cells)
        heading = tuple(canvas.spelled(printable(h, _LONGEST)) for h in column.heading.split("\n"))
        found.append(Strip(column, heading, tuple(cells)))
    return found


def _column(column: Column, values: Sequence[Any], canvas: Canvas) -> list[Shown]:
    """The cells of *column*; what stands in many rows is worked out once."""
    known: dict[tuple[type, Any], Shown] = {}
    cells = []
    for value in values:
        key = (value.__class__, value)
        if key not in known:
            cell = shown(value, column.kind)
            known[key] = cell._replace(lines=tuple(map(canvas.spelled, cell.lines)))
        cells.append(known[key])
    return cells


def _under_each_other(column: Sequence[Shown]) -> list[Shown]:
    """*column* padded so that its decimal points, or where they would be, are in line.

    Cells with words in them stay as they are.
    """
    parts = [_WHOLE.fullmatch(cell.text) for cell in column]
    before = max((len(part[1]) for part in parts if part), default=0)
    after = max((len(part[2]) for part in parts if part), default=0)
    return [
        cell._replace(lines=(part[1].rjust(before) + part[2].ljust(after),)) if part else cell
        for cell, part in zip(column, parts, strict=True)
    ]
