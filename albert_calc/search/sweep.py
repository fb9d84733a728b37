"""Sweeps: what each combination of a grid counts, row by row.

Whatever does not vary is put into the formulas beforehand, and what is left is a polynomial in
the size that varies fastest, so that a row costs a few multiplications.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import repeat
from typing import NamedTuple

from albert_calc.algebra import Polynomial
from albert_calc.config.values import features, holds, symbols
from albert_calc.counting.counts import component_formulas
from albert_calc.counting.tensors import Variant
from albert_calc.families import families
from albert_calc.families.base import FACTORIZED, Component, all_tensors
from albert_calc.families.sizes import SYMBOLS
from albert_calc.search.grid import Grid, Stretch, Tally, follow, moved, stretches

Row = tuple[str | int | None, ...]
"""One combination: the cells of the columns asked for; counts are exact."""

Cells = Sequence[str | int | None]

# A head by name is a column too, so its parameters need a longer name.
_PART_COLUMNS = {"head": "head_parameters"}


def columns_of(grid: Grid) -> tuple[str, ...]:
    """Every column that a row of *grid* can have: what it is a count of, and the counts."""
    return _column_names([t.component for t in all_tensors(grid.family)])


def all_columns() -> tuple[str, ...]:
    """Every column that a row of any family can have."""
    return _column_names([t.component for f in families() for t in all_tensors(f)])


def _column_names(components: Sequence[Component]) -> tuple[str, ...]:
    parts = (_PART_COLUMNS.get(c.part, c.part) for c in components)
    names = (c.name for c in components)
    return tuple(dict.fromkeys(("share", "head", *SYMBOLS, "total", *parts, *names)))


def counted_rows(grid: Grid, columns: Sequence[str], tally: Tally) -> Iterator[list[Row]]:
    """A row of *columns* for each possible combination of *grid*, in lists.

    *tally* is told how many combinations broke which rule so far.
    """
    plans: dict[Variant, list[_Plan]] = {}
    for stretch in stretches(grid, tally):
        for variant, part in _variants(grid, stretch):
            if variant not in plans:
                plans[variant] = [_plan(grid, column, variant, stretch.inner) for column in columns]
            if part.inner:
                part.keys[part.inner] = part.values[0]
                follow(grid, part.keys)
            outside = symbols(grid.family, part.keys)
            cells = [_cells(grid, plan, part, outside) for plan in plans[variant]]
            yield list(zip(*cells, strict=True))


def _variants(grid: Grid, stretch: Stretch) -> Iterator[tuple[Variant, Stretch]]:
    """*stretch* in pieces, the combinations of each having the same tensors."""
    keys, inner = stretch.keys, stretch.inner
    moving = moved(grid, inner)
    known = list(grid.family.features.values())
    if grid.embedding == "factorized" and grid.layout == "paper":
        known.append(FACTORIZED)
    deciding = [feature for feature in known if not moving.isdisjoint(feature.keys)]
    if not deciding:
        yield variant_at(grid, stretch), stretch
        return
    follows = not (moving - {inner}).isdisjoint(key for f in deciding for key in f.keys)
    pieces: list[tuple[Variant, list[int]]] = []
    last: list[bool] = []
    for value in stretch.values:
        keys[inner] = value
        if follows:
            follow(grid, keys)
        having = [holds(feature, keys) for feature in deciding]
        if having != last:
            follow(grid, keys)
            pieces.append((variant_at(grid, stretch), []))
            last = having
        pieces[-1][1].append(value)
    for variant, values in pieces:
        yield variant, stretch._replace(values=values)


def variant_at(grid: Grid, stretch: Stretch) -> Variant:
    """Which tensors the combination has whose keys stand in *stretch* now."""
    keys = stretch.keys
    embedding = grid.embedding
    if embedding == "factorized" and grid.layout == "paper":
        # The paper has no projection there.
        embedding = "standard" if keys["embedding_size"] == keys["hidden_size"] else embedding
    return Variant(
        grid.base.model_type,
        features(grid.family, keys),
        stretch.share,
        bool(grid.base.tie_word_embeddings),
        stretch.head,
        grid.layout,
        embedding,
    )


class _Plan(NamedTuple):
    """How the cells of a column are worked out.

    ``powers`` are the coefficients of the powers of the inner size, in the sizes outside it;
    ``whole`` is the polynomial itself where symbols follow from the inner size in another way.
    """

    fixed: str | None = None
    is_inner: bool = False
    powers: tuple[Polynomial, ...] = ()
    whole: Polynomial | None = None


def _plan(grid: Grid, name: str, variant: Variant, inner: str) -> _Plan:
    if name in ("share", "head"):
        return _Plan(fixed=variant.share if name == "share" else variant.head)
    if name == inner:
        return _Plan(is_inner=True)
    symbol = SYMBOLS.get(name, "")
    if symbol and name not in grid.sizes and name not in grid.followers:
        return _Plan(fixed="")
    polynomial = Polynomial.product(symbol) if symbol else _count(name, variant)
    polynomial = polynomial.substitute(dict(grid.ties))
    if polynomial.symbols & _moved_by(grid, inner):
        return _Plan(whole=polynomial)
    return _Plan(powers=_powers(polynomial, SYMBOLS.get(inner, "")))


def _count(name: str, variant: Variant) -> Polynomial:
    return Polynomial.sum(
        f.terms for f in component_formulas(variant) if is_part(f.component, name)
    )


def is_part(component: Component, column: str) -> bool:
    """Whether the count in *column* has the parameters of *component* in it."""
    part = _PART_COLUMNS.get(component.part, component.part)
    return column in ("total", component.name, part)


def _moved_by(grid: Grid, inner: str) -> set[str]:
    """The symbols that follow from the size *inner* in another way than a tie."""
    keys = moved(grid, inner)
    symbols = {grid.symbols[key] for key in keys if key in grid.symbols}
    found = symbols - {grid.symbols.get(inner, ""), *grid.ties}
    moving = keys | symbols
    for derived in grid.family.derived:
        if moving.intersection(derived.keys):
            found.add(derived.symbol)
            moving.add(derived.symbol)
    return found


def _powers(polynomial: Polynomial, symbol: str) -> tuple[Polynomial, ...]:
    """The coefficients of *polynomial* in *symbol*, from the power 0."""
    by_power: dict[int, list[Polynomial]] = {}
    for coefficient, factors in polynomial.terms:
        others = [f for f in factors if f != symbol]
        power = len(factors) - len(others)
        by_power.setdefault(power, []).append(Polynomial.product(coefficient, *others))
    return tuple(Polynomial.sum(by_power.get(p, ())) for p in range(max(by_power, default=0) + 1))


def _cells(grid: Grid, plan: _Plan, stretch: Stretch, outside: Mapping[str, int]) -> Cells:
    """The cells of a column for all combinations of *stretch*.

    *outside* has the values of all symbols that do not follow from the inner size.
    """
    count = len(stretch.values)
    if plan.is_inner:
        return stretch.values
    if plan.fixed is not None:
        return list(repeat(plan.fixed or None, count))
    if plan.whole is not None:
        return [_at(grid, plan.whole, stretch, value) for value in stretch.values]
    *rest, highest = [power.evaluate(outside) for power in plan.powers] or [0]
    if not rest:
        return [highest] * count
    numbers = stretch.values
    cells = [highest * x + rest[-1] for x in numbers]
    for coefficient in reversed(rest[:-1]):
        cells = [cell * x + coefficient for cell, x in zip(cells, numbers, strict=True)]
    return cells


def _at(grid: Grid, polynomial: Polynomial, stretch: Stretch, value: int) -> int:
    stretch.keys[stretch.inner] = value
    follow(grid, stretch.keys)
    return polynomial.evaluate(symbols(grid.family, stretch.keys))
