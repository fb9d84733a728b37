"""The algebra of sizes: products, sums, substitution, and how formulas are written."""

import pytest

from albert_calc.algebra import LATEX, Polynomial, Repeated

VALUES = {"G": 2, "N": 3, "L": 5, "V": 1000, "E": 7, "H": 11, "I": 44}
FEED_FORWARD = Polynomial.sum(
    Polynomial.product(*dims) for dims in (("I", "H"), ("I",), ("H", "I"), ("H",), (2, "H"))
)


@pytest.mark.parametrize(
    ("dims", "text", "value"),
    [
        (("V", "E"), "V × E", 7000),
        (("E", "V"), "V × E", 7000),
        (("H", "H"), "H²", 121),
        ((2, "H", 3), "6 × H", 66),
        ((), "1", 1),
        ((4,), "4", 4),
        ((0, "H"), "0", 0),
    ],
)
def test_products(dims: tuple[str | int, ...], text: str, value: int) -> None:
    """A product has its factors in one order, powers collected, and a value."""
    product = Polynomial.product(*dims)
    assert (product.formula(), product.evaluate(VALUES)) == (text, value)


def test_sums_collect_like_terms() -> None:
    """Equal products are added up, in the order in which they were first met."""
    assert FEED_FORWARD.formula() == "2 × H × I + I + 3 × H"
    assert FEED_FORWARD.evaluate(VALUES) == 2 * 11 * 44 + 44 + 3 * 11
    gone = Polynomial.sum([Polynomial.product("H"), Polynomial.product(-1, "H")])
    assert gone == Polynomial()


def test_substitution() -> None:
    """A symbol is replaced by a number or by other symbols, wherever it stands."""
    square = FEED_FORWARD.substitute({"I": (4, "H")})
    assert square.formula() == "8 × H² + 7 × H"
    assert square.substitute({"H": (10,)}).formula() == "870"


@pytest.mark.parametrize(
    ("repeat", "text", "numbers"),
    [
        ((), "2 × H × I + I + 3 × H", "2 × 11 × 44 + 44 + 3 × 11"),
        ((1,), "2 × H × I + I + 3 × H", "2 × 11 × 44 + 44 + 3 × 11"),
        (("G", "N"), "G × N × (2 × H × I + I + 3 × H)", "2 × 3 × (2 × 11 × 44 + 44 + 3 × 11)"),
        ((2, "L"), "2 × L × (2 × H × I + I + 3 × H)", "2 × 5 × (2 × 11 × 44 + 44 + 3 × 11)"),
    ],
)
def test_repeats(repeat: tuple[str | int, ...], text: str, numbers: str) -> None:
    """Copies stand before a bracket; expanded, the value is the same."""
    repeated = Repeated(repeat, FEED_FORWARD)
    assert (repeated.formula(), repeated.formula(values=VALUES)) == (text, numbers)
    copies = 1
    for dim in repeat:
        copies *= VALUES[dim] if isinstance(dim, str) else dim
    assert repeated.expanded().evaluate(VALUES) == copies * FEED_FORWARD.evaluate(VALUES)


def test_a_single_term_needs_no_bracket() -> None:
    """A product of copies and one term is written as one product."""
    assert Repeated(("L",), Polynomial.product("H", "H")).formula() == "L × H²"


def test_latex() -> None:
    """The same formula in LaTeX, with its own signs, powers and separators."""
    text = Repeated(("L",), FEED_FORWARD).formula(LATEX)
    assert text == r"L \cdot \left(2 \cdot H \cdot I + I + 3 \cdot H\right)"
    assert Polynomial.product("H", "H", "V").formula(LATEX, VALUES) == r"1{,}000 \cdot 11^{2}"
