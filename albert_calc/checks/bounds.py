"""What a count has to be: numbers, tolerances, or another model."""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from albert_calc.costs.memory import BITS, SHORT_DTYPES
from albert_calc.errors import AlbertCalcError
from albert_calc.writing.harmless import shown
from albert_calc.writing.quantity import parse_bytes, parse_quantity

_PERCENT = re.compile(r"([0-9]{1,3})(?:\.([0-9]{1,9}))?%")
_LARGEST = 10**24

COUNTS = ("equals", "at_most", "at_least")
"""The keys of bounds that are numbers of parameters."""

KEYS = (*COUNTS, "tolerance", "at_most_bytes", "dtype", "same_as", "exactly")
"""The keys of all bounds."""


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
    """What a count has to be; at least one bound is given.

    Numbers are of parameters, but ``at_most_bytes``: those of the weights in ``dtype``.
    ``same_as`` names another model, which must have the same total, and with ``exactly`` the
    same in every component.
    """

    equals: int | None = None
    at_most: int | None = None
    at_least: int | None = None
    tolerance: Tolerance = Tolerance()
    tolerance_text: str = ""
    at_most_bytes: int | None = None
    dtype: str = "float32"
    same_as: str = ""
    exactly: bool = False


class Outcome(NamedTuple):
    """One bound held against one count; ``difference`` is found minus expected."""

    rule: str
    expected: int
    found: int
    holds: bool
    tolerance: str = ""

    @property
    def difference(self) -> int:
        """Positive if there is more than expected."""
        return self.found - self.expected


def read_bounds(values: Mapping[str, Any]) -> Bounds:
    """The bounds in *values*, under the keys of ``KEYS``.

    Numbers may be integers or quantities such as ``12M``, bytes ``500MB``; a tolerance may
    also be ``1%``. Raises ``AlbertCalcError`` with every problem found.
    """
    problems: list[str] = []
    limits: dict[str, int | None] = {}
    for key, read, example in (
        *((key, _number, "12M") for key in COUNTS),
        ("at_most_bytes", _bytes, "500MB"),
    ):
        limits[key] = None
        if values.get(key) is not None:
            try:
                limits[key] = read(values[key])
            except ValueError:
                problems.append(
                    f"{key}: must be a whole number from 0, such as {example},"
                    f" got {shown(values[key])}"
                )
    tolerance, text = Tolerance(), ""
    given = values.get("tolerance")
    if given is not None:
        try:
            tolerance, text = _tolerance(given), str(given)
        except ValueError:
            problems.append(f"tolerance: must be like 1% or a whole number, got {shown(given)}")
        if values.get("equals") is None and values.get("same_as") is None:
            problems.append("tolerance: goes with equals and same_as only")
    dtype = values.get("dtype")
    known = dtype.lower() if isinstance(dtype, str) else ""
    known = SHORT_DTYPES.get(known, known)
    if dtype is not None and known not in BITS:
        problems.append(f"dtype: must be one of {', '.join(BITS)}, got {shown(dtype)}")
    same, exactly = values.get("same_as"), values.get("exactly") or False
    if same is not None and not (isinstance(same, str) and same.strip()):
        problems.append(f"same_as: must be the name of a model, got {shown(same)}")
    if not isinstance(exactly, bool):
        problems.append(f"exactly: must be true or false, got {shown(exactly)}")
    elif exactly and same is None:
        problems.append("exactly: goes with same_as only")
    if dtype is not None and values.get("at_most_bytes") is None:
        problems.append("dtype: goes with at_most_bytes only")
    if all(values.get(key) is None for key in (*limits, "same_as")):
        problems.append("no bound: give equals, at_most, at_least, at_most_bytes or same_as")
    low, high = limits["at_least"], limits["at_most"]
    if low is not None and high is not None and low > high:
        problems.append(f"at_least: must not be above at_most ({high:,}), got {shown(low)}")
    if problems:
        raise AlbertCalcError(problems)
    return Bounds(
        **limits, tolerance=tolerance, tolerance_text=text, dtype=known or "float32",
        same_as=same or "", exactly=exactly,
    )  # fmt: skip


class Measured(NamedTuple):
    """What bounds are held against: parameters, by component and in all, and bytes of weights."""

    total: int
    components: Mapping[str, int]
    weights: int


def outcomes(found: Measured, bounds: Bounds, same: Measured | None = None) -> list[Outcome]:
    """What each of *bounds* says of *found*; *same* is the model of ``same_as``."""
    results = []
    allows, text = bounds.tolerance.allows, bounds.tolerance_text
    if bounds.equals is not None:
        holds = allows(bounds.equals, found.total)
        results.append(Outcome("equals", bounds.equals, found.total, holds, text))
    if bounds.at_most is not None:
        holds = found.total <= bounds.at_most
        results.append(Outcome("at most", bounds.at_most, found.total, holds))
    if bounds.at_least is not None:
        holds = found.total >= bounds.at_least
        results.append(Outcome("at least", bounds.at_least, found.total, holds))
    if bounds.at_most_bytes is not None:
        holds = found.weights <= bounds.at_most_bytes
        rule = f"bytes in {bounds.dtype} at most"
        results.append(Outcome(rule, bounds.at_most_bytes, found.weights, holds))
    if same is not None:
        results += _same(found, bounds, same)
    return results


def _same(found: Measured, bounds: Bounds, same: Measured) -> list[Outcome]:
    allows, text = bounds.tolerance.allows, bounds.tolerance_text
    rule = f"same as {bounds.same_as}"
    results = [Outcome(rule, same.total, found.total, allows(same.total, found.total), text)]
    if bounds.exactly:
        for name in dict.fromkeys((*same.components, *found.components)):
            expected, here = same.components.get(name, 0), found.components.get(name, 0)
            if expected != here:
                part = f"{rule}: {name.replace('_', ' ')}"
                results.append(Outcome(part, expected, here, allows(expected, here), text))
    return results


def _number(value: object) -> int:
    number = parse_quantity(value) if isinstance(value, str) else value
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number <= _LARGEST:
        raise ValueError("not a quantity")
    return number


def _bytes(value: object) -> int:
    return parse_bytes(value) if isinstance(value, str) else _number(value)


def _tolerance(value: object) -> Tolerance:
    match = _PERCENT.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None:
        return Tolerance(absolute=_number(value))
    decimals = match[2] or ""
    return Tolerance(numerator=int(match[1] + decimals), denominator=100 * 10 ** len(decimals))
