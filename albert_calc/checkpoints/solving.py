"""From the shapes of tensors to the sizes of a model.

Every dimension in the tables is a number, a symbol, or a sum of products of them, so that
every tensor found votes for the sizes that it shows.
"""

from collections import Counter
from collections.abc import Iterable, Mapping

from albert_calc.algebra import Polynomial
from albert_calc.checkpoints.names import Copies
from albert_calc.families.base import Tensor

# The layers of a model are alike; a thousand shapes say no more than a few.
_MOST_SHAPES = 10

Equation = tuple[Polynomial, int, int]
"""A sum of products, what it comes to, and how many tensors say so."""


def solve(
    table: Iterable[Tensor], copies: Mapping[str, Copies], known: Mapping[str, int] | None = None
) -> dict[str, int]:
    """The value of each symbol on which most tensors agree; *known* are those given."""
    votes: dict[str, Counter[int]] = {}
    counted: dict[str, int] = {}
    equations: list[Equation] = []
    for tensor in table:
        several = copies.get(tensor.name)
        shapes = several.shapes.most_common(_MOST_SHAPES) if several is not None else []
        for shape, times in shapes:
            for dim, size in zip(tensor.shape, shape, strict=False):
                if isinstance(dim, str):
                    votes.setdefault(dim, Counter())[size] += times
                elif isinstance(dim, Polynomial):
                    equations.append((dim, size, times))
        tops = several.highest if several is not None else [-1] * len(tensor.repeat)
        skips = (tensor.skip, *(0 for _ in tensor.repeat[1:]))
        for dim, top, skip in zip(tensor.repeat, tops, skips, strict=False):
            if isinstance(dim, str):
                counted[dim] = max(counted.get(dim, 0), top + 1)
            elif isinstance(dim, Polynomial):
                equations.append((dim, max(0, top + 1 - skip), 1))
    values = {symbol: several.most_common(1)[0][0] for symbol, several in votes.items()}
    values |= {symbol: count for symbol, count in counted.items() if count}
    values |= known or {}
    while True:
        more = _solved(equations, values)
        if not more:
            return values
        values |= more


def _solved(equations: Iterable[Equation], values: Mapping[str, int]) -> dict[str, int]:
    """The symbols that are the only unknown of an equation, and that once."""
    votes: dict[str, Counter[int]] = {}
    for polynomial, size, times in equations:
        unknown = polynomial.symbols - values.keys()
        if len(unknown) != 1:
            continue
        (symbol,) = unknown
        rest = polynomial.evaluate({**values, symbol: 0})
        factor = polynomial.evaluate({**values, symbol: 1}) - rest
        if factor and (size - rest) % factor == 0 and (size - rest) // factor >= 0:
            votes.setdefault(symbol, Counter())[(size - rest) // factor] += times
    return {symbol: several.most_common(1)[0][0] for symbol, several in votes.items()}
