"""Quantities, numbers and text: what goes in and what people see."""

import pytest

from albert_calc import format as fmt
from albert_calc.quantity import parse_quantity
from albert_calc.text import printable, shown


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("11683584", 11683584),
        ("11_683_584", 11683584),
        ("11,683,584", 11683584),
        ("12M", 12_000_000),
        ("1.5B", 1_500_000_000),
        ("0.5k", 500),
        ("2T", 2 * 10**12),
        ("1.50m", 1_500_000),
        (" 7 ", 7),
        ("1,234.5K", 1_234_500),
    ],
)
def test_quantities(text: str, value: int) -> None:
    """A quantity may have separators, a suffix, and a fraction that the suffix makes whole."""
    assert parse_quantity(text) == value


@pytest.mark.parametrize(
    "text",
    ["", "M", "1.5", "12.0", "1.2345K", "-1", "+1", "1e6", "12,34", "1__0", "_1", "1,", "0x10", "٣",
     "1 000", "12MB", "1..2M", ".5M", "nan", "9" * 50],
)  # fmt: skip
def test_what_is_no_quantity(text: str) -> None:
    """Signs, exponents, misplaced separators and fractions that stay are refused."""
    with pytest.raises(ValueError, match="not a"):
        parse_quantity(text)


@pytest.mark.parametrize(
    ("fraction", "text"),
    [
        (0.9646, "96.5%"),
        (-0.0252, "-2.5%"),
        (1 / 3, "33.3%"),
        (0.0, "0.0%"),
        (1.0, "100.0%"),
        (0.99996, "99.996%"),
        (0.000022, "0.002%"),
        (1 - 1e-9, "99.9999999%"),
        (-1e-20, "about 0%"),
        (1 - 1e-15, "about 100%"),
        (-2e15, "-2.0e+17%"),
    ],
)
def test_percent(fraction: float, text: str) -> None:
    """One decimal, and more where rounding would claim all or nothing."""
    assert fmt.percent(fraction) == text


def test_other_formats() -> None:
    """Counts have separators, ratios one decimal, sizes a unit of 2^10."""
    assert fmt.count(11683584) == "11,683,584"
    assert [fmt.ratio(x) for x in (28.2136, 12.0, 0.6, 0.0004)] == [
        "28.2×", "12.0×", "0.6×", "0.0004×",
    ]  # fmt: skip
    assert fmt.number(749.1499) == "749.15"
    assert [fmt.binary_size(n) for n in (1, 1023, 1024, 46_734_336, 2**40)] == [
        "1 B", "1,023 B", "1.0 KiB", "44.6 MiB", "1.0 TiB",
    ]  # fmt: skip


def test_text_is_made_harmless() -> None:
    """Control, bidirectional and zero-width characters are escaped, long text is cut."""
    assert printable("a\x1b[31m\u202e\u200b\nb") == r"a\x1b[31m\u202e\u200b\nb"
    assert printable("V × E") == "V × E"
    assert printable("x" * 100, 10) == "x" * 9 + "…"
    assert shown("a'b\x07") == '"a\'b\\\\x07"'
    assert shown(10**200) == "a number of about 199 digits"
    assert shown({}) == "an empty object"
    assert shown([1, 2]) == "a list of 2 entries"
    assert shown(frozenset()) == "frozenset()"
