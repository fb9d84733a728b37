"""Polynomials over a model's sizes: the arithmetic behind every count and formula.

Coefficients and values are integers; no float is ever involved.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Protocol, TypeVar

from albert_calc.named_tuple import NamedTuple

_ORDER = "GNFLBASVPTYRKXCEUDQOHI"
"""Factors of a product are written in this order: how often, then rows, then widths."""

_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


class Term(NamedTuple):
    """``coefficient`` times the product of ``symbols`` (sorted; H² is H twice)."""

    coefficient: int
    symbols: tuple[str, ...]


class Notation(NamedTuple):
    """How a formula is written: the sign between factors, powers, and numbers."""

    times: str
    power: str
    superscript: bool
    group: str
    minus: str
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


TEXT = Notation(times=" × ", power="", superscript=True, group=",", minus="−")
LATEX = Notation(
    times=r" \cdot ",
    power="^{{{}}}",
    superscript=False,
    group="{,}",
    minus="-",
    left=r"\left(",
    right=r"\right)",
)


class Polynomial(NamedTuple):
    """A sum of terms with like terms collected, in the order they were first met."""

    terms: tuple[Term, ...] = ()

    @staticmethod
    @lru_cache(maxsize=4096)
    def product(*dims: "Dim") -> "Polynomial":
        """*dims* multiplied: ``product("H", "H", 2)`` is 2·H²; a sum among them is expanded."""
        coefficient = 1
        symbols = []
        sums = []
        for dim in dims:
            if isinstance(dim, int):
                coefficient *= dim
            elif isinstance(dim, str):
                symbols.append(dim)
            else:
                sums.append(dim)
        if sums:
            first, *others = sums
            return Polynomial.sum(
                Polynomial.product(c, *s, coefficient, *symbols, *others) for c, s in first.terms
            )
        symbols.sort(key=_rank)
        return Polynomial((Term(coefficient, tuple(symbols)),) if coefficient else ())

    @classmethod
    def sum(cls, polynomials: "Iterable[Polynomial]") -> "Polynomial":
        """All *polynomials* added up, like terms collected."""
        collected: dict[tuple[str, ...], int] = {}
        for polynomial in polynomials:
            for coefficient, symbols in polynomial.terms:
                collected[symbols] = collected.get(symbols, 0) + coefficient
        return cls(tuple(Term(c, s) for s, c in collected.items() if c))

    def times(self, *dims: "Dim") -> "Polynomial":
        """This polynomial with every term multiplied by *dims*."""
        return Polynomial.product(self, *dims)

    @property
    def symbols(self) -> frozenset[str]:
        """Every symbol that stands in a term."""
        return frozenset(symbol for term in self.terms for symbol in term.symbols)

    def evaluate(self, values: Mapping[str, int]) -> int:
        """The exact value with each symbol replaced by its number in *values*."""
        return evaluate_all((self.terms,), values)[0]

    def substitute(self, values: "Mapping[str, Dim]") -> "Polynomial":
        """This polynomial with the symbols of *values* replaced.

        ``substitute({"V": 30000, "I": times(4, "H")})`` fixes V and ties I to 4·H.
        """
        return Polynomial.sum(
            Polynomial.product(c, *(values.get(symbol, symbol) for symbol in s))
            for c, s in self.terms
        )

    def formula(self, notation: Notation = TEXT, values: Mapping[str, int] | None = None) -> str:
        """This polynomial as text, with numbers put in where *values* are given."""
        text = ""
        for coefficient, symbols in self.terms:
            sign = notation.minus if coefficient < 0 else "+"
            before = f" {sign} " if text else sign.strip("+")
            text += before + _term(Term(abs(coefficient), symbols), notation, values)
        return text or "0"


Dim = str | int | Polynomial
"""One factor: a symbol such as ``"V"``, a whole number, or a sum of products of them."""

Dims = tuple[Dim, ...]


def symbols_in(dims: Dims) -> Iterator[str]:
    """Every symbol in *dims*, as often as it stands there."""
    for dim in dims:
        if isinstance(dim, str):
            yield dim
        elif isinstance(dim, Polynomial):
            yield from dim.symbols


def times(*dims: Dim) -> Polynomial:
    """A product as one dimension: ``times(3, "H")`` for 3·H rows."""
    return Polynomial.product(*dims)


def minus(whole: Dim, part: Dim) -> Polynomial:
    """A difference as one dimension: ``minus("L", 1)`` for all layers but one."""
    return Polynomial.sum((times(whole), times(-1, part)))


Key = TypeVar("Key", contravariant=True)


class Lookup(Protocol[Key]):
    """Anything that gives the number under a key: a mapping of symbols, or a tuple."""

    def __getitem__(self, key: Key, /) -> int:
        """The number under *key*."""


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
        factors = [_bracketed(times(d), notation, values) for d in self.repeat if d != 1]
        if not factors:
            return body
        if len(self.body.terms) > 1:
            body = notation.left + body + notation.right
        return notation.times.join([*factors, body])


def sum_formula(
    parts: Iterable[Repeated], notation: Notation = TEXT, values: Mapping[str, int] | None = None
) -> str:
    """Several parts added up, each with its own copies."""
    return " + ".join(part.formula(notation, values) for part in parts) or "0"


def _rank(symbol: str) -> tuple[int, str]:
    place = _ORDER.find(symbol)
    return (len(_ORDER) if place < 0 else place), symbol


def _bracketed(factor: Polynomial, notation: Notation, values: Mapping[str, int] | None) -> str:
    text = factor.formula(notation, values)
    return notation.left + text + notation.right if len(factor.terms) > 1 else text


def _term(term: Term, notation: Notation, values: Mapping[str, int] | None) -> str:
    factors = []
    if term.coefficient != 1 or not term.symbols:
        factors.append(notation.number(term.coefficient))
    for symbol in dict.fromkeys(term.symbols):
        exponent = term.symbols.count(symbol)
        base = symbol if values is None else notation.number(values[symbol])
        factors.append(notation.raised(base, exponent))
    return notation.times.join(factors)
