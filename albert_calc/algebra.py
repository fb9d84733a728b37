"""Polynomials over a model's sizes: the arithmetic behind every count and formula.

Imports nothing of the package. Coefficients and values are integers; no float
is ever involved.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple, Protocol, TypeVar

Dim = str | int
"""One factor: a symbol such as ``"V"``, or a whole number."""

Dims = tuple[Dim, ...]

# Factors of a product are written in this order: how often, then rows, then widths.
SYMBOL_ORDER = "GNLBASVPTCEHI"

_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


class Term(NamedTuple):
    """``coefficient`` times the product of ``symbols`` (sorted; H² is H twice)."""

    coefficient: int
    symbols: tuple[str, ...]


Terms = tuple[Term, ...]

Key = TypeVar("Key", contravariant=True)


class Lookup(Protocol[Key]):
    """Anything that gives the number under a key: a mapping of symbols, or a tuple."""

    def __getitem__(self, key: Key, /) -> int:
        """The number under *key*."""


class Notation(NamedTuple):
    """How a formula is written: the sign between factors, powers, and numbers."""

    times: str
    power: str
    superscript: bool
    group: str
    left: str = "("
    right: str = ")"

    def raised(self, base: str, exponent: int) -> str:
        """*base* to the power *exponent* in this notation."""
        if exponent == 1:
            return base
        digits = str(exponent)
        return base + (
            digits.translate(_SUPERSCRIPTS) if self.superscript else self.power.format(digits)
        )

    def number(self, value: int) -> str:
        """*value* with this notation's thousands separator."""
        return f"{value:,}".replace(",", self.group)


TEXT = Notation(times=" × ", power="", superscript=True, group=",")
LATEX = Notation(
    times=r" \cdot ",
    power="^{{{}}}",
    superscript=False,
    group="{,}",
    left=r"\left(",
    right=r"\right)",
)


class Polynomial(NamedTuple):
    """A sum of terms with like terms collected, in the order they were first met."""

    terms: Terms = ()

    @classmethod
    def product(cls, *dims: Dim) -> Polynomial:
        """The single term that multiplies *dims*: ``product("H", "H", 2)`` is 2·H²."""
        coefficient = 1
        symbols = []
        for dim in dims:
            if isinstance(dim, int):
                coefficient *= dim
            else:
                symbols.append(dim)
        symbols.sort(key=SYMBOL_ORDER.index)
        return cls((Term(coefficient, tuple(symbols)),) if coefficient else ())

    @classmethod
    def sum(cls, polynomials: Iterable[Polynomial]) -> Polynomial:
        """All *polynomials* added up, like terms collected."""
        collected: dict[tuple[str, ...], int] = {}
        for polynomial in polynomials:
            for coefficient, symbols in polynomial.terms:
                collected[symbols] = collected.get(symbols, 0) + coefficient
        return cls(tuple(Term(c, s) for s, c in collected.items() if c))

    def times(self, *dims: Dim) -> Polynomial:
        """This polynomial with every term multiplied by *dims*."""
        return Polynomial.sum(Polynomial.product(c, *s, *dims) for c, s in self.terms)

    def evaluate(self, values: Mapping[str, int]) -> int:
        """The exact value with each symbol replaced by its number in *values*."""
        return evaluate_all((self.terms,), values)[0]

    def substitute(self, values: Mapping[str, Dims]) -> Polynomial:
        """This polynomial with the symbols of *values* replaced by products.

        ``substitute({"V": (30000,), "I": (4, "H")})`` fixes V and ties I to 4·H.
        """
        return Polynomial.sum(
            Polynomial.product(c, *(d for symbol in s for d in values.get(symbol, (symbol,))))
            for c, s in self.terms
        )

    def formula(self, notation: Notation = TEXT, values: Mapping[str, int] | None = None) -> str:
        """This polynomial as text, with numbers put in where *values* are given."""
        return " + ".join(_term(t, notation, values) for t in self.terms) or "0"


def evaluate_all(
    sums: Iterable[Iterable[tuple[int, Iterable[Key]]]], values: Lookup[Key]
) -> list[int]:
    """The exact value of each of *sums*: every count of the package is taken here.

    A sum is coefficients, each with what its factors are called in *values*.
    """
    results = []
    for terms in sums:
        total = 0
        for product, symbols in terms:
            for symbol in symbols:
                product *= values[symbol]
            total += product
        results.append(total)
    return results


class Repeated(NamedTuple):
    """``repeat`` × ``body``: something of which the model holds several copies."""

    repeat: Dims
    body: Polynomial

    def expanded(self) -> Polynomial:
        """The same as one polynomial."""
        return self.body.times(*self.repeat)

    def formula(self, notation: Notation = TEXT, values: Mapping[str, int] | None = None) -> str:
        """``G × N × (4 × H² + 6 × H)``: the copies stay outside the bracket."""
        body = self.body.formula(notation, values)
        factors = [_factor(d, notation, values) for d in self.repeat if d != 1]
        if not factors:
            return body
        if len(self.body.terms) > 1:
            body = notation.left + body + notation.right
        return notation.times.join([*factors, body])


def _factor(dim: Dim, notation: Notation, values: Mapping[str, int] | None) -> str:
    if isinstance(dim, int):
        return notation.number(dim)
    return dim if values is None else notation.number(values[dim])


def _term(term: Term, notation: Notation, values: Mapping[str, int] | None) -> str:
    factors = []
    if term.coefficient != 1 or not term.symbols:
        factors.append(notation.number(term.coefficient))
    for symbol in dict.fromkeys(term.symbols):
        exponent = term.symbols.count(symbol)
        factors.append(notation.raised(_factor(symbol, notation, values), exponent))
    return notation.times.join(factors)
