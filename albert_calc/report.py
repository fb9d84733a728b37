"""What a command has to say, before it is decided how that looks.

Imports nothing of the package. A command builds a ``Report``; ``albert_calc.render``
turns it into text.
"""

from typing import Any, Literal, NamedTuple

Kind = Literal["name", "text", "count", "difference", "percent", "ratio", "number"]
"""How a column's cells are read: ``name`` is a snake-case key, ``count`` an exact
integer, ``difference`` one with its sign,
``percent`` a fraction of one, ``ratio`` a factor, ``number`` any other fraction."""


class Quantity(NamedTuple):
    """A number of another kind than its column's, and what people see in brackets before it."""

    value: int | float
    kind: Kind
    aside: str = ""


Cell = str | int | float | Quantity | None
"""A typed value: a name, an exact count, a fraction, or nothing."""


class Column(NamedTuple):
    """A column: its key in machine formats, its heading for people, its kind of cells."""

    key: str
    heading: str
    kind: Kind


class Section(NamedTuple):
    """One table: a title, lines under it, typed rows, and notes under those.

    ``label`` is a key and a value, such as ``("preset", "base")``, that tell this
    section from the others where a format has no titles. With ``has_total`` the last
    row is the sum of the others.
    """

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    lines: tuple[str, ...] = ()
    label: tuple[str, str] | None = None
    has_total: bool = False
    notes: tuple[str, ...] = ()


class Report(NamedTuple):
    """What a command found: tables for people, and the same facts as a tree for JSON."""

    sections: tuple[Section, ...]
    data: Any
