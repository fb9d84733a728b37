"""A count as a derivation: every component's formula, the numbers put in, the value."""

from collections.abc import Mapping

from albert_calc.algebra import TEXT, Notation, Polynomial, Repeated, sum_formula
from albert_calc.counting.counts import component_formulas
from albert_calc.counting.tensors import Blueprint
from albert_calc.named_tuple import NamedTuple


class Step(NamedTuple):
    """One line of a derivation: a name and its formula, with the values of its symbols."""

    name: str
    parts: tuple[Repeated, ...]
    values: Mapping[str, int]

    @property
    def parameters(self) -> int:
        """The value of the formula."""
        return sum(part.expanded().evaluate(self.values) for part in self.parts)

    def formula(self, notation: Notation = TEXT) -> str:
        """The formula in symbols."""
        return sum_formula(self.parts, notation)

    def numbers(self, notation: Notation = TEXT) -> str:
        """The formula with the numbers put in."""
        return sum_formula(self.parts, notation, self.values)


def derivation(model: Blueprint) -> tuple[list[Step], Step]:
    """A step for each component, and the total as one formula with like terms collected.

    Raises ``ConfigError`` if the model type has no such head or layout.
    """
    formulas = component_formulas(model.variant)
    total = Polynomial.sum(f.terms for f in formulas)
    steps = [Step(f.component.name, f.parts, model.values) for f in formulas]
    return steps, Step("total", (Repeated((), total),), model.values)
