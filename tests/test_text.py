"""Quantities, numbers and text: what goes in and what people see."""

from collections.abc import Callable
from typing import Any

import pytest
from support import Faults

from albert_calc.writing import numbers
from albert_calc.writing.harmless import printable, shown
from albert_calc.writing.quantity import parse_bytes, parse_quantity

QUANTITIES = {
    "11683584": 11683584,
    "11_683_584": 11683584,
    "11,683,584": 11683584,
    "12M": 12_000_000,
    "1.5B": 1_500_000_000,
    "0.5k": 500,
    "2T": 2 * 10**12,
    "1.50m": 1_500_000,
    " 7 ": 7,
    "1,234.5K": 1_234_500,
}

NO_QUANTITIES = (
    "", "M", "1.5", "12.0", "1.2345K", "-1", "+1", "1e6", "12,34", "1__0", "_1", "1,", "0x10", "٣",
    "1 000", "12MB", "1..2M", ".5M", "nan", "9" * 50, "0,123", "1234,567",
)  # fmt: skip

BYTES = {
    "16": 16,
    "16B": 16,
    "16GB": 16 * 10**9,
    "16GiB": 16 * 2**30,
    "1.5 gib": 3 * 2**29,
    "0.5K": 500,
    "80G": 80 * 10**9,
    "1,000 MB": 10**9,
    "2TiB": 2**41,
    "3PB": 3 * 10**15,
}

NO_BYTES = ("", "GB", "1.5", "1.5B", "12ib", "i", "12i", "1.0001KB", "-1GB", "12 mib b", "1e9")


def test_quantities() -> None:
    """A quantity may have separators, a suffix, and a fraction that the suffix makes whole."""
    faults = Faults()
    for text, value in QUANTITIES.items():
        faults.expect(text, parse_quantity(text), value)
    for text, value in BYTES.items():
        faults.expect(text, parse_bytes(text), value)
    faults.none()


@pytest.mark.parametrize(
    ("read", "texts"), [(parse_quantity, NO_QUANTITIES), (parse_bytes, NO_BYTES)]
)
def test_what_is_no_quantity(read: Callable[[str], int], texts: tuple[str, ...]) -> None:
    """Signs, exponents, misplaced separators and fractions that stay are refused."""
    faults = Faults()
    for text in texts:
        try:
            faults.append(f"{text!r} was read as {read(text)}")
        except ValueError as error:
            faults.expect(text, str(error)[:5], "not a")
    faults.none()


PERCENT = {
    0.9646: "96.5%",
    -0.0252: "-2.5%",
    1 / 3: "33.3%",
    0.0: "0.0%",
    1.0: "100.0%",
    0.99996: "99.996%",
    0.000022: "0.002%",
    1 - 1e-9: "99.9999999%",
    -1e-20: "about 0%",
    1 - 1e-15: "about 100%",
    -2e15: "-2.0e+17%",
}
SAVINGS = {0.9646: "96.5%", -0.0252: "2.5% more", 0.0: ""}
RATIOS = {28.2136: "28.2×", 12.0: "12.0×", 0.6642: "0.66×", 0.0004: "0.0004×", 0.0: "0.0×",
          2e12: "2.0e+12×"}  # fmt: skip
SIZES = {1: "1 B", 1023: "1,023 B", 1024: "1.0 KiB", 46_734_336: "44.6 MiB", 2**40: "1.0 TiB",
         2**20 - 1: "1.0 MiB"}  # fmt: skip
FLOPS = {7: "7 FLOPs", 20_205_010_000_000: "20.21 TFLOPs", 999_999: "1.00 MFLOPs"}
SHORT = {999_999: "999,999", 222_662_400: "222.7M", 2_560_471_040: "2.56B",
         999_960_000: "1.00B", 999_999_999_999: "1.00T"}  # fmt: skip
DIFFERENCES = {683_584: "+683,584", -1000: "-1,000", 0: "0"}


def test_numbers_as_people_read_them() -> None:
    """One decimal, more where rounding would claim all or nothing, and units that fit."""
    faults = Faults()
    written: tuple[tuple[Callable[[Any], str], dict[Any, str]], ...] = (
        (numbers.percent, PERCENT),
        (numbers.saving, SAVINGS),
        (numbers.ratio, RATIOS),
        (numbers.number, {749.1499: "749.15", 2e13: "2.00e+13"}),
        (numbers.binary_size, SIZES),
        (numbers.flops, FLOPS),
        (numbers.short, SHORT),
        (numbers.difference, DIFFERENCES),
        (numbers.count, {11683584: "11,683,584"}),
    )
    for write, cases in written:
        for value, text in cases.items():
            faults.expect(f"{write.__name__}({value})", write(value), text)
    faults.none()


def test_a_part_is_the_whole_only_if_it_is() -> None:
    """A fraction that a float would round to one is kept below it."""
    assert numbers.part_of(1, 2) == 0.5
    assert numbers.part_of(0, 0) == 0
    assert numbers.part_of(7, 7) == 1
    assert numbers.part_of(10**20, 10**20 + 1) < 1 < numbers.part_of(10**20 + 1, 10**20)


def test_text_is_made_harmless() -> None:
    """Control, bidirectional and zero-width characters are escaped, long text is cut."""
    assert printable("a\x1b[31m\u202e\u200b\nb") == r"a\x1b[31m\u202e\u200b\nb"
    assert printable("V × E") == "V × E"
    assert printable("x" * 100, 10) == "x" * 9 + "…"


def test_values_are_shown_short() -> None:
    """What a message quotes is one short line, whatever it is."""
    faults = Faults()
    for value, text in (
        ("a'b\x07", '"a\'b\\\\x07"'),
        (10**200, "a number of about 199 digits"),
        ({}, "an empty object"),
        ({"a": 1}, "an object of 1 entries"),
        ([1, 2], "a list of 2 entries"),
        (True, "true"),
        (None, "null"),
        (768.0, "768.0"),
        (frozenset(), "a frozenset"),
    ):
        faults.expect(repr(value), shown(value), text)
    faults.none()
