"""Sweeps: what each combination of a grid counts, row by row.

Whatever does not vary is put into the formulas beforehand, and whole stretches of the
sizes that vary fastest are worked out at once, so that a row costs a few multiplications.
May import ``albert_calc.search.grid``, ``albert_calc.counts``, ``albert_calc.tensors``,
``albert_calc.architectures`` and ``albert_calc.algebra``.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import repeat
from operator import add, mul

from albert_calc.algebra import Polynomial, Terms, evaluate_all
from albert_calc.architectures import ARCHITECTURES
from albert_calc.architectures.base import Component
from albert_calc.counts import component_formulas
from albert_calc.search.grid import SYMBOLS, Grid, Stretch, Tally, inner_symbols, stretches
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
    """The rows of ``sweep`` in lists of up to ``BATCH``, the first without delay."""
    known: dict[Variant, list[_Column]] = {}
    for stretch in stretches(grid, Counter() if tally is None else tally):
        variant = stretch.variant
        if variant not in known:
            known[variant] = [_column(grid, c, variant) for c in columns]
        yield list(zip(*[column(stretch) for column in known[variant]], strict=True))


_Column = Callable[[Stretch], Iterable[str | int | None]]


def _column(grid: Grid, name: str, variant: Variant) -> _Column:
    """How to work out the cells of the column *name* along stretches of *variant*."""
    if name in ("share", "head"):
        return partial(_constant, variant.traits.share if name == "share" else variant.head)
    symbol = SYMBOLS.get(name, "")
    if name in grid.sizes:
        return partial(_size, symbol)
    if symbol and symbol not in grid.ties:
        return partial(_constant, None)
    if symbol:
        polynomial = Polynomial.product(symbol)
    else:
        polynomial = Polynomial.sum(
            f.terms for f in component_formulas(variant) if _is_part(f.component, name)
        )
    single = {SYMBOLS[k]: tuple(v) for k, v in grid.sizes.items() if len(v) == 1}
    reduced = polynomial.substitute(grid.ties).substitute(single)
    split = reduced.coefficients(inner_symbols(grid))
    return partial(_polynomial, tuple(split), [p.terms for p in split.values()])


def _is_part(component: Component, column: str) -> bool:
    part = _PART_COLUMNS.get(component.part, component.part)
    return column in ("total", component.name, part)


def _constant(cell: str | None, stretch: Stretch) -> Iterable[str | None]:
    return repeat(cell, stretch.length)


def _size(symbol: str, stretch: Stretch) -> Iterable[int]:
    if symbol in stretch.varied:
        return stretch.varied[symbol]
    return repeat(stretch.fixed[symbol], stretch.length)


def _polynomial(
    products: Sequence[tuple[str, ...]], factors: Sequence[Terms], stretch: Stretch
) -> Iterable[int]:
    """A polynomial along *stretch*: the sum of products of varied sizes, each by its factor."""
    cells: Iterable[int] = repeat(0, stretch.length)
    for symbols, factor in zip(products, evaluate_all(factors, stretch.fixed), strict=True):
        numbers: Iterable[int] = repeat(factor, stretch.length)
        for symbol in symbols:
            numbers = map(mul, numbers, stretch.varied[symbol])
        cells = map(add, cells, numbers)
    return cells
