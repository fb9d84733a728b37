"""A printed figure beside the computed one, and the verdict on it."""

from typing import Literal

from albert_calc.named_tuple import NamedTuple

Unit = Literal[
    "parameters", "millions", "percent", "tenths of a percent", "times", "thousand bytes"
]
Verdict = Literal["exact", "rounds to", "within 5%", "differs by"]


_ONE = {"millions": 10**6, "thousand bytes": 10**3}
"""What one of a unit is."""


class Figure(NamedTuple):
    """One figure in print.

    ``printed`` is in ``unit`` as printed (82.9% is 829 tenths of a percent);
    ``computed`` is a number of parameters or bytes, or a pair of them of which a reduction or a
    factor is to be taken. ``convention`` says what is counted, ``expected`` what the
    verdict has to be, ``None`` if nothing is known of it, ``note`` what a reader should know.
    """

    where: str
    what: str
    printed: int
    unit: Unit
    computed: int | tuple[int, int]
    convention: str
    expected: Verdict | None
    note: str = ""

    @property
    def value(self) -> int | float:
        """What was computed: a count, a fraction saved, or a factor."""
        if isinstance(self.computed, int):
            return self.computed
        before, after = self.computed
        return before / after if self.unit == "times" else (before - after) / before

    @property
    def verdict(self) -> Verdict:
        """Whether print and arithmetic agree to the last digit, to the printed one, or not."""
        numerator, denominator = self._in_unit()
        if self.unit == "thousand bytes":
            off = abs(numerator - self.printed * denominator)
            return "within 5%" if 20 * off <= self.printed * denominator else "differs by"
        if numerator == self.printed * denominator:
            return "exact"
        # Half of the last printed digit, in whole numbers.
        near = 2 * abs(numerator - self.printed * denominator) <= denominator
        return "rounds to" if near else "differs by"

    @property
    def difference(self) -> int | None:
        """Parameters computed minus parameters printed; ``None`` for a fraction."""
        if not isinstance(self.computed, int):
            return None
        return self.computed - self.printed * _ONE.get(self.unit, 1)

    @property
    def plain(self) -> tuple[int | float, int | float, str]:
        """What is printed, what was computed, and the unit of both: the numbers alone."""
        if isinstance(self.computed, int):
            unit = "bytes" if self.unit == "thousand bytes" else "parameters"
            return self.printed * _ONE.get(self.unit, 1), self.computed, unit
        if self.unit == "times":
            return self.printed, self.value, "times"
        tenths = self.unit == "tenths of a percent"
        return self.printed / 10 if tenths else self.printed, self.value * 100, "percent"

    @property
    def printed_text(self) -> str:
        """The figure as it stands in print."""
        if self.unit == "tenths of a percent":
            return f"{self.printed / 10:.1f}%"
        if self.unit == "thousand bytes":
            return f"{self.printed / 1000:,.1f}"
        suffix = {"millions": "M", "percent": "%", "times": "×"}.get(self.unit, "")
        return f"{self.printed:,}{suffix}"

    @property
    def computed_text(self) -> str:
        """What was computed, to one digit more than was printed."""
        value = self.value
        if self.unit == "thousand bytes":
            return f"{value / 10**6:,.1f}"
        if isinstance(value, int):
            return f"{value:,}"
        if self.unit == "times":
            return f"{value:.2f}×"
        return f"{value * 100:.{2 if self.unit == 'tenths of a percent' else 1}f}%"

    def _in_unit(self) -> tuple[int, int]:
        """The computed value as a fraction of whole numbers, in ``unit``."""
        if isinstance(self.computed, int):
            return self.computed, _ONE.get(self.unit, 1)
        before, after = self.computed
        if self.unit == "times":
            return before, after
        return (before - after) * (100 if self.unit == "percent" else 1000), before
