"""A count as a derivation: every component's formula, the numbers put in, the value.

May import ``albert_calc.algebra``, ``albert_calc.config``, ``albert_calc.counts`` and
``albert_calc.tensors``.
"""

from collections.abc import Mapping
from typing import NamedTuple

from albert_calc.algebra import TEXT, Notation, Polynomial, Repeated
from albert_calc.config import ModelConfig
from albert_calc.counts import component_formulas
from albert_calc.tensors import variant_of


class Step(NamedTuple):
    """One line of a derivation: a name and its formula, with the values of its symbols."""

    name: str
    expression: Repeated
    values: Mapping[str, int]

    @property
    def parameters(self) -> int:
        """The value of the formula."""
        return self.expression.expanded().evaluate(self.values)

    def formula(self, notation: Notation = TEXT) -> str:
        """The formula in symbols."""
        return self.expression.formula(notation)

    def numbers(self, notation: Notation = TEXT) -> str:
        """The formula with the numbers put in."""
        return self.expression.formula(notation, self.values)


def derivation(config: ModelConfig, head: str, layout: str) -> tuple[list[Step], Step]:
    """A step for each component, and the total as one formula with like terms collected.

    Raises ``ConfigError`` if the model type has no such head or layout.
    """
    formulas = component_formulas(variant_of(config, head, layout))
    values = config.symbols
    total = Polynomial.sum(f.terms for f in formulas)
    steps = [Step(f.component.name, f.stored, values) for f in formulas]
    return steps, Step("total", Repeated((), total), values)
