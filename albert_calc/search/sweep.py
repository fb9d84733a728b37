"""Sweeps: what each combination of a grid counts, row by row.

Whatever does not vary is put into the formulas beforehand, and whole stretches of the
sizes that vary fastest are worked out at once, so that a row costs a few multiplications.
May import ``albert_calc.algebra``, ``albert_calc.architectures``, ``albert_calc.counts``,
``albert_calc.search.grid``, ``albert_calc.sizes`` and ``albert_calc.tensors``.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from operator import itemgetter

from albert_calc.algebra import Polynomial
from albert_calc.architectures import ARCHITECTURES
from albert_calc.architectures.base import Component
from albert_calc.counts import component_formulas
from albert_calc.search.grid import BATCH, Grid, Tally, combinations
from albert_calc.sizes import SYMBOLS
from albert_calc.tensors import Variant

Row = tuple[str | int | None, ...]
"""One combination: the cells of the columns asked for; counts are exact."""

# A head by name is a column too, so its parameters need a longer name.
_PART_COLUMNS = {"head": "head_parameters"}


def _components() -> Iterator[Component]:
    for architecture in ARCHITECTURES.values():
        tables = [*architecture.embeddings.values(), architecture.layer, architecture.pooler]
        tables += [head.tensors for head in architecture.heads.values()]
        for table in tables:
            yield from (tensor.component for tensor in table)


_COMPONENTS = tuple(dict.fromkeys(_components()))

COLUMNS: tuple[str, ...] = tuple(
    dict.fromkeys(
        (
            *("share", "head"),
            *SYMBOLS,
            "total",
            *(_PART_COLUMNS.get(c.part, c.part) for c in _COMPONENTS),
            *(c.name for c in _COMPONENTS),
        )
    )
)
"""Every column that a row can have: what it is a count of, and the counts."""


def sweep(grid: Grid, columns: Sequence[str], tally: Tally | None = None) -> Iterator[Row]:
    """A row of *columns* for each possible combination of *grid*.

    *tally* is told how many combinations broke which rule so far.
    """
    for rows in batches(grid, columns, tally):
        yield from rows


def batches(grid: Grid, columns: Sequence[str], tally: Tally | None = None) -> Iterator[list[Row]]:
    """The rows of ``sweep`` in lists: the first row by itself, then up to ``BATCH``."""
    rows = _rows(grid, columns, Counter() if tally is None else tally)
    most = 1
    while batch := list(islice(rows, most)):
        yield batch
        most = BATCH


def _rows(grid: Grid, columns: Sequence[str], tally: Tally) -> Iterator[Row]:
    known: dict[Variant, list[_Column]] = {}
    for variant, values in combinations(grid, tally):
        if variant not in known:
            known[variant] = [_column(grid, c, variant) for c in columns]
        yield tuple([column(values) for column in known[variant]])


_Column = Callable[[Mapping[str, int]], str | int | None]


def _column(grid: Grid, name: str, variant: Variant) -> _Column:
    """How to work out a cell of the column *name* of *variant*."""
    if name in ("share", "head"):
        cell = variant.traits.share if name == "share" else variant.head
        return lambda _: cell
    symbol = SYMBOLS.get(name, "")
    if name in grid.sizes:
        return itemgetter(symbol)
    if symbol and symbol not in grid.ties:
        return lambda _: None
    polynomial = (
        Polynomial.product(symbol)
        if symbol
        else Polynomial.sum(
            f.terms for f in component_formulas(variant) if _is_part(f.component, name)
        )
    )
    single = {SYMBOLS[k]: tuple(v) for k, v in grid.sizes.items() if len(v) == 1}
    return polynomial.substitute(grid.ties).substitute(single).evaluate


def _is_part(component: Component, column: str) -> bool:
    part = _PART_COLUMNS.get(component.part, component.part)
    return column in ("total", component.name, part)
