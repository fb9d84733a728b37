"""Numbers as people read them: rounded, and never rounded into a lie."""

import pytest

from albert_calc.writing import numbers


@pytest.mark.parametrize(
    ("fraction", "text"),
    [
        (0.9646, "96.5%"), (-0.0252, "-2.5%"), (1 / 3, "33.3%"), (0.0, "0.0%"), (1.0, "100.0%"),
        (-1.0, "-100.0%"), (2.0, "200.0%"), (0.99996, "99.996%"), (0.000022, "0.002%"),
        (1 - 1e-9, "99.9999999%"), (-1.000002, "-100.0002%"), (1.0000001, "100.00001%"),
        (-1e-20, "about 0%"), (1 - 1e-15, "about 100%"), (-2e15, "-2.0e+17%"),
    ],
)  # fmt: skip
def test_percent(fraction: float, text: str) -> None:
    """One decimal, and more where rounding would claim all, nothing or twice as much."""
    assert numbers.percent(fraction) == text


def test_a_part_is_the_whole_only_if_it_is() -> None:
    """A fraction that rounds to 1 is shown as what it is, whatever the size of its terms."""
    assert numbers.part_of(3, 4) == 0.75
    assert numbers.part_of(4, 4) == 1.0
    assert numbers.part_of(0, 4) == numbers.part_of(4, 0) == 0.0
    for whole in (10**17, 10**40):
        for part in (whole - 1, whole + 1, 1 - whole, -1 - whole):
            assert part / whole in (1.0, -1.0)
            assert numbers.part_of(part, whole) not in (1.0, -1.0)
            assert "100.0%" not in numbers.percent(numbers.part_of(part, whole))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"), (512, "512"), (999_999, "999,999"), (1_000_000, "1.0M"), (11_683_584, "11.7M"),
        (222_662_400, "222.7M"), (999_949_999, "999.9M"), (999_950_000, "1.00B"),
        (2_560_471_040, "2.56B"), (999_996_000_000, "1.00T"), (10**15, "1,000.00T"),
        (10**30, "1.00e+30"), (-11_683_584, "-11.7M"),
    ],
)  # fmt: skip
def test_short(value: int, text: str) -> None:
    """A letter for millions, billions and trillions, and never a thousand of one of them."""
    assert numbers.short(value) == text


def test_more_decimals() -> None:
    """What looks the same can be told apart."""
    assert [numbers.short(4_005_120, n) for n in range(3)] == ["4.0M", "4.01M", "4.005M"]


@pytest.mark.parametrize(
    ("fraction", "text"),
    [(0.9646, "96.5%"), (-0.0252, "2.5% more"), (0.0, ""), (-1.000002, "100.0002% more")],
)
def test_saving(fraction: float, text: str) -> None:
    """What costs more says so in words."""
    assert numbers.saving(fraction) == text


def test_other_numbers() -> None:
    """Counts have separators, factors the digits that matter, sizes the largest fitting unit."""
    assert numbers.count(11_683_584) == "11,683,584"
    assert [numbers.difference(n) for n in (5_000, -5_000, 0)] == ["+5,000", "-5,000", "0"]
    assert [numbers.ratio(x) for x in (28.2136, 12.0, 0.6642, 0.0004, 0.0, 1e15)] == [
        "28.2×", "12.0×", "0.66×", "0.0004×", "0.0×", "1.0e+15×",
    ]  # fmt: skip
    assert [numbers.fewer(*pair) for pair in ((12, 1), (3, 3), (3, 4), (1, 10**15))] == [
        "12.0× fewer", "1.0× fewer", "1.3× more", "1.0e+15× more",
    ]  # fmt: skip
    assert numbers.number(749.1499) == "749.15"
    assert [numbers.binary_size(n) for n in (1, 1023, 1024, 2**20 - 1, 46_734_336, 2**40)] == [
        "1 B", "1,023 B", "1.0 KiB", "1.0 MiB", "44.6 MiB", "1.0 TiB",
    ]  # fmt: skip
    assert [numbers.flops(n) for n in (999, 20_208_089_563_136, 999_999_999)] == [
        "999 FLOPs", "20.21 TFLOPs", "1.00 GFLOPs",
    ]  # fmt: skip
