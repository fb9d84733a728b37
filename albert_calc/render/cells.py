"""Cells as people read them, for the formats that are made for people."""

from albert_calc import format as fmt
from albert_calc.report import Cell, Column, Quantity
from albert_calc.text import printable

_LONGEST = 300


def cell_text(value: Cell, column: Column) -> str:
    """*value* as text, according to the kind of its *column*."""
    if value is None:
        return ""
    if isinstance(value, str):
        text = printable(value, _LONGEST)
        return text.replace("_", " ") if column.kind == "name" else text
    if isinstance(value, Quantity):
        number = cell_text(value.value, column._replace(kind=value.kind))
        return f"({value.aside}) {number}" if value.aside else number
    if column.kind == "percent":
        return fmt.percent(value)
    if column.kind == "difference":
        return fmt.difference(int(value))
    if column.kind == "ratio":
        return fmt.ratio(value)
    return fmt.count(value) if isinstance(value, int) else fmt.number(value)


def is_numeric(column: Column) -> bool:
    """Whether the column's cells are numbers, aligned to the right and never cut."""
    return column.kind not in ("name", "text")
