"""What a command has to say, before it is decided how that looks.

A command builds a ``Report``; ``albert_calc.render`` turns it into text. Rows are written
once: the JSON of a report follows from its rows and its facts.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from albert_calc.named_tuple import NamedTuple

if TYPE_CHECKING:
    from albert_calc.pictures.picture import Picture

Kind = Literal[
    "name", "text", "count", "difference", "percent", "saving", "ratio", "number", "bytes",
    "flops", "verdict", "share", "data",
]  # fmt: skip
"""How a column's cells are read.

``name`` is a snake-case key, ``count`` an exact integer, ``difference`` one with its sign,
``percent`` a fraction of one, ``saving`` such a fraction that is good where it is positive,
``ratio`` a factor, ``number`` any other fraction, ``bytes`` and ``flops`` integers that people
read in larger units, ``verdict`` true or false (``ok`` and ``FAILED``), ``share`` a fraction
that may be drawn as a bar, ``data`` anything that only JSON shows.
"""


class Quantity(NamedTuple):
    """A number of another kind than its column's; true and false are yes and no there."""

    value: int | float | bool | None
    kind: Kind


Cell = str | tuple[str, ...] | int | float | bool | Quantity | None
"""A typed value: a name, a text of several lines, an exact count, a fraction, or nothing."""


class Column(NamedTuple):
    """A column: its key in machine formats, its heading for people, its kind of cells.

    ``only`` limits it to ``people`` (tables and Markdown) or to ``machines`` (JSON and CSV).
    """

    key: str
    heading: str
    kind: Kind
    only: Literal["", "people", "machines"] = ""


Row = tuple[Any, ...]


class Section(NamedTuple):
    """One table: a title, typed rows, lines under them, and notes at the end.

    ``key`` is where JSON has the rows; without one it has none of them. ``label`` is a key
    and a value, such as ``("model", "base")``, that tell this section from the others where a
    format has no titles. ``total`` is the sum of the rows, in the form of a row, and belongs
    to tables. ``groups`` are headings before the row of that number: one
    that is also the name of that row is the row itself, and an empty one ends a group.
    """

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    title: str = ""
    key: str = ""
    label: tuple[str, str] | None = None
    total: Row | None = None
    groups: Mapping[int, str] = {}
    lines: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


FALSE, CANNOT = 1, 2
"""The exit statuses of what was asked and is not true, and of what could not be done."""


class Report(NamedTuple):
    """What a command found: a sentence that says it, tables, and facts for JSON.

    The JSON is one object: ``facts``, and under their keys the rows of the sections, where
    ``facts`` have a place for them or at the end. With
    ``items`` it is a list instead, an object each. ``status`` is 0 if what was asked is true, 1
    if not, and 2 if a part of it could not be done: the exit status. ``remarks``, ``warnings``
    and ``errors`` are said beside the result.
    ``widest`` is how many columns a table may take where no terminal limits it. ``picture``
    stands beside the tables where they are saved as a page. ``written`` is the whole result
    where that is no report, such as a bare number.
    """

    sections: tuple[Section, ...] = ()
    facts: Mapping[str, Any] = {}
    headline: str = ""
    items: tuple[Mapping[str, Any], ...] | None = None
    status: int = 0
    remarks: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    widest: int | None = None
    picture: "Picture | None" = None
    written: str | None = None

    @property
    def data(self) -> Any:
        """The report as JSON carries it."""
        if self.items is not None:
            return list(self.items)
        rows = {s.key: row_objects(s) for s in self.sections if s.key}
        return {**self.facts, **rows}


def shown_to(section: Section, reader: Literal["people", "machines"]) -> list[int]:
    """The places of the columns of *section* that are for *reader*."""
    return [
        i
        for i, column in enumerate(section.columns)
        if column.only in ("", reader) and (reader == "machines" or column.kind != "data")
    ]


def sections_for(report: Report, reader: Literal["people", "machines"]) -> list[Section]:
    """The sections of *report* that have something for *reader*."""
    return [section for section in report.sections if shown_to(section, reader)]


def row_objects(section: Section) -> list[dict[str, Any]]:
    """The rows of *section* as objects, each value under its column's key."""
    columns = [(i, section.columns[i].key) for i in shown_to(section, "machines")]
    return [{key: plain(row[i]) for i, key in columns} for row in section.rows]


def plain(cell: Any) -> Any:
    """*cell* without what only tables need."""
    return cell.value if isinstance(cell, Quantity) else cell


class Figure(NamedTuple):
    """A row of a table that has a column a model: one value each.

    ``key`` is its name for machines, if not its label; ``group`` a heading that the table puts
    over its first row.
    """

    label: str
    kind: Kind
    values: tuple[Any, ...]
    key: str = ""
    group: str = ""


def figures_section(figures: Sequence[Figure], columns: Sequence[Column], **more: Any) -> Section:
    """*figures* as a table: their labels, and a column for each model."""
    rows: list[Row] = []
    groups: dict[int, str] = {}
    last = ""
    for figure in figures:
        if figure.group != last:
            groups[len(rows)] = last = figure.group
        values = (_of_kind(v, figure.kind) for v in figure.values)
        rows.append((figure.label, figure.key or figure.label, *values))
    # A table of columns for people alone says nothing to machines.
    kind: Kind = "data" if all(column.only == "people" for column in columns) else "text"
    names = (
        Column("name", "", "text", "people"),
        Column("component", "", kind, "people" if kind == "data" else "machines"),
    )
    return Section(columns=(*names, *columns), rows=tuple(rows), groups=groups, **more)


def _of_kind(value: Any, kind: Kind) -> Any:
    if value is None or isinstance(value, Quantity | str):
        return value
    return Quantity(value, kind)
