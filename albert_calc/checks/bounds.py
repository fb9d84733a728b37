"""Checks of a count against bounds, for CI.

May import ``albert_calc.errors``, ``albert_calc.quantity`` and ``albert_calc.text``.
"""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from albert_calc.errors import AlbertCalcError
from albert_calc.quantity import parse_quantity
from albert_calc.text import shown

_PERCENT = re.compile(r"([0-9]{1,3})(?:\.([0-9]{1,9}))?%")


class Tolerance(NamedTuple):
    """How far a count may be off.

    Either by ``numerator / denominator`` of what is expected, or by ``absolute``
    parameters.
    """

    absolute: int = 0
    numerator: int = 0
    denominator: int = 1

    def allows(self, expected: int, found: int) -> bool:
        """Whether *found* is near enough; exact, without a rounded product."""
        if self.numerator:
            return abs(found - expected) * self.denominator <= expected * self.numerator
        return abs(found - expected) <= self.absolute


class Bounds(NamedTuple):
    """What a count has to be, in parameters; at least one bound is given."""

    equals: int | None = None
    at_most: int | None = None
    at_least: int | None = None
    tolerance: Tolerance | None = None
    tolerance_text: str = ""


class Outcome(NamedTuple):
    """One bound held against one count; ``difference`` is found minus expected."""

    rule: str
    expected: int
    found: int
    holds: bool
    tolerance: str = ""

    @property
    def difference(self) -> int:
        """Positive if there are more parameters than expected."""
        return self.found - self.expected


def read_bounds(values: Mapping[str, Any], prefix: str = "") -> Bounds:
    """The bounds in *values*: ``equals``, ``at_most``, ``at_least`` and ``tolerance``.

    Numbers may be integers or quantities such as ``12M``; a tolerance may also be ``1%``.
    Raises ``AlbertCalcError`` with every problem found, each after *prefix*.
    """
    problems: list[str] = []
    limits: dict[str, int | None] = {}
    for key in ("equals", "at_most", "at_least"):
        limits[key] = None
        if values.get(key) is not None:
            try:
                limits[key] = _number(values[key])
            except ValueError:
                problems.append(
                    f"{key}: must be a whole number from 0, such as 12M, got {shown(values[key])}"
                )
    given = values.get("tolerance")
    tolerance = None
    if given is not None:
        try:
            tolerance = _tolerance(given)
        except ValueError:
            problems.append(f"tolerance: must be like 1% or a whole number, got {shown(given)}")
        if values.get("equals") is None:
            problems.append("tolerance: goes with equals only")
    if all(values.get(key) is None for key in limits):
        problems.append("no bound: give equals, at_most or at_least")
    low, high = limits["at_least"], limits["at_most"]
    if low is not None and high is not None and low > high:
        problems.append(f"at_least: must not be above at_most ({high}), got {low}")
    if problems:
        raise AlbertCalcError([prefix + p for p in problems])
    return Bounds(**limits, tolerance=tolerance, tolerance_text="" if given is None else str(given))


def outcomes(found: int, bounds: Bounds) -> list[Outcome]:
    """What each of *bounds* says of the count *found*."""
    results = []
    if bounds.equals is not None:
        allowed = bounds.tolerance or Tolerance()
        holds = allowed.allows(bounds.equals, found)
        results.append(Outcome("equals", bounds.equals, found, holds, bounds.tolerance_text))
    if bounds.at_most is not None:
        results.append(Outcome("at most", bounds.at_most, found, found <= bounds.at_most))
    if bounds.at_least is not None:
        results.append(Outcome("at least", bounds.at_least, found, found >= bounds.at_least))
    return results


def _number(value: object) -> int:
    if isinstance(value, str):
        return parse_quantity(value)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError("not a quantity")
    return value


def _tolerance(value: object) -> Tolerance:
    match = _PERCENT.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None:
        return Tolerance(absolute=_number(value))
    decimals = match[2] or ""
    return Tolerance(numerator=int(match[1] + decimals), denominator=100 * 10 ** len(decimals))
