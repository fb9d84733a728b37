"""The algebra of sizes: products, sums, substitution, and how formulas are written."""

from support import Faults

from albert_calc.algebra import LATEX, Dims, Polynomial, Repeated, minus, sum_formula, times

VALUES = {"G": 2, "N": 3, "L": 5, "V": 1000, "E": 7, "H": 11, "I": 44, "D_x": 13}
FEED_FORWARD = Polynomial.sum(
    Polynomial.product(*dims) for dims in (("I", "H"), ("I",), ("H", "I"), ("H",), (2, "H"))
)
ALL_BUT_ONE = minus("L", 1)

PRODUCTS: list[tuple[Dims, str, int]] = [
    (("V", "E"), "V × E", 7000),
    (("E", "V"), "V × E", 7000),
    (("H", "H"), "H²", 121),
    ((2, "H", 3), "6 × H", 66),
    ((), "1", 1),
    ((4,), "4", 4),
    ((0, "H"), "0", 0),
    ((times(3, "H"), "H"), "3 × H²", 363),
    ((minus("H", "E"), "V"), "V × H − V × E", 4000),
    ((minus("H", "E"), minus("H", "E")), "H² − 2 × E × H + E²", 16),
    ((minus("E", "E"), "V"), "0", 0),
    (("N", "G"), "G × N", 6),
    (("D_x", "H"), "H × D_x", 143),
    ((-1, "H"), "−H", -11),
]
"""Dimensions, their product in words, and its value."""


def test_products() -> None:
    """A product has its factors in one order, powers collected, sums expanded, and a value."""
    faults = Faults()
    for dims, text, value in PRODUCTS:
        product = Polynomial.product(*dims)
        faults.expect(dims, (product.formula(), product.evaluate(VALUES)), (text, value))
    faults.none()


def test_sums_collect_like_terms() -> None:
    """Equal products are added up, in the order in which they were first met."""
    assert FEED_FORWARD.formula() == "2 × H × I + I + 3 × H"
    assert FEED_FORWARD.evaluate(VALUES) == 2 * 11 * 44 + 44 + 3 * 11
    gone = Polynomial.sum([Polynomial.product("H"), Polynomial.product(-1, "H")])
    assert gone == Polynomial()
    assert gone.formula() == "0"


def test_substitution() -> None:
    """A symbol is replaced by a number or by a product or sum, wherever it stands."""
    square = FEED_FORWARD.substitute({"I": times(4, "H")})
    assert square.formula() == "8 × H² + 7 × H"
    assert square.substitute({"H": 10}).formula() == "870"
    assert Polynomial.product("H", "H").substitute({"H": minus("I", 1)}).evaluate(VALUES) == 43**2
    assert FEED_FORWARD.symbols == {"H", "I"}
    assert square.symbols == {"H"}


REPEATS: list[tuple[Dims, str, str]] = [
    ((), "2 × H × I + I + 3 × H", "2 × 11 × 44 + 44 + 3 × 11"),
    ((1,), "2 × H × I + I + 3 × H", "2 × 11 × 44 + 44 + 3 × 11"),
    (("G", "N"), "G × N × (2 × H × I + I + 3 × H)", "2 × 3 × (2 × 11 × 44 + 44 + 3 × 11)"),
    ((2, "L"), "2 × L × (2 × H × I + I + 3 × H)", "2 × 5 × (2 × 11 × 44 + 44 + 3 × 11)"),
    ((ALL_BUT_ONE,), "(L − 1) × (2 × H × I + I + 3 × H)", "(5 − 1) × (2 × 11 × 44 + 44 + 3 × 11)"),
    ((times(2, "L"),), "2 × L × (2 × H × I + I + 3 × H)", "2 × 5 × (2 × 11 × 44 + 44 + 3 × 11)"),
]
"""Copies of a feed-forward block, in symbols and with the numbers put in."""


def test_repeats() -> None:
    """Copies stand before a bracket; expanded, the value is the same."""
    faults = Faults()
    norm = Polynomial.sum(map(Polynomial.product, ("H", "I")))
    faults.expect("two terms", Repeated(("L",), norm).formula(), "L × (H + I)")
    faults.expect("one term", Repeated(("L",), times("H", "I")).formula(), "L × H × I")
    for repeat, text, numbers in REPEATS:
        repeated = Repeated(repeat, FEED_FORWARD)
        faults.expect(repeat, repeated.formula(), text)
        faults.expect(repeat, repeated.formula(values=VALUES), numbers)
        copies = Polynomial.product(*repeat).evaluate(VALUES)
        wanted = copies * FEED_FORWARD.evaluate(VALUES)
        faults.expect(repeat, repeated.expanded().evaluate(VALUES), wanted)
    faults.none()


def test_a_single_term_needs_no_bracket() -> None:
    """A product of copies and one term is written as one product."""
    assert Repeated(("L",), Polynomial.product("H", "H")).formula() == "L × H²"


def test_parts_with_copies_of_their_own() -> None:
    """Several parts are added up, each with its copies; none at all is nothing."""
    norm = Repeated((ALL_BUT_ONE,), Polynomial.product("H"))
    matrix = Repeated(("L",), Polynomial.product("H", "I"))
    assert sum_formula([norm, matrix]) == "(L − 1) × H + L × H × I"
    assert sum_formula([]) == "0"


def test_latex() -> None:
    """The same formula in LaTeX, with its own signs, powers and separators."""
    text = Repeated(("L",), FEED_FORWARD).formula(LATEX)
    assert text == r"L \cdot \left(2 \cdot H \cdot I + I + 3 \cdot H\right)"
    assert Polynomial.product("H", "H", "V").formula(LATEX, VALUES) == r"1{,}000 \cdot 11^{2}"
    assert Repeated((ALL_BUT_ONE,), Polynomial.product("H")).formula(LATEX) == (
        r"\left(L - 1\right) \cdot H"
    )
