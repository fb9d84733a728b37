"""From tensors to counts: how many parameters a model has, component by component.

May import ``albert_calc.algebra``, ``albert_calc.architectures``, ``albert_calc.config``,
``albert_calc.sizes`` and ``albert_calc.tensors``.
"""

from functools import cache
from typing import NamedTuple

from albert_calc.algebra import Polynomial, Repeated, evaluate_all
from albert_calc.architectures.base import Component
from albert_calc.config import ModelConfig, Traits
from albert_calc.sizes import SIZES
from albert_calc.tensors import Variant, is_counted, tensor_table


class ComponentFormula(NamedTuple):
    """A component of a variant, and its number of parameters as a formula."""

    component: Component
    stored: Repeated
    terms: Polynomial


class ComponentCount(NamedTuple):
    """One row of a breakdown: a component, its exact count, and where that comes from."""

    source: ComponentFormula
    parameters: int

    @property
    def name(self) -> str:
        """The component's name in snake case, such as ``token_embedding``."""
        return self.source.component.name

    @property
    def part(self) -> str:
        """Where it belongs: ``embeddings``, ``layers``, ``pooler`` or ``head``."""
        return self.source.component.part

    @property
    def formula(self) -> str:
        """The count in symbols, such as ``V × E``."""
        return self.source.stored.formula()


class Counts(NamedTuple):
    """The parameters of one model; ``total`` is the sum of the components' ``numbers``."""

    formulas: tuple[ComponentFormula, ...]
    numbers: list[int]

    @property
    def total(self) -> int:
        """Parameters in all, tied ones once: what ``sum(p.numel() ...)`` gives."""
        return sum(self.numbers)

    @property
    def components(self) -> tuple[ComponentCount, ...]:
        """The rows of the breakdown, in the order of the model's tensors."""
        return tuple(map(ComponentCount, self.formulas, self.numbers))

    def of_part(self, part: str) -> int:
        """Parameters of all components that belong to *part*."""
        return sum(c.parameters for c in self.components if c.part == part)


def count_parameters(
    config: ModelConfig, head: str = "model", layout: str = "transformers"
) -> Counts:
    """The exact number of parameters of the model that *config* describes.

    In the default layout the total is that of the class in transformers to which *head*
    belongs. It takes the same time for any number of layers. Raises ``ConfigError`` if
    the model type has no such head or layout.
    """
    formulas, terms = _plan(config.traits, head, layout)
    return Counts(formulas, evaluate_all(terms, config.numbers))


_PlainTerm = tuple[int, tuple[int, ...]]


@cache
def _plan(
    traits: Traits, head: str, layout: str
) -> tuple[tuple[ComponentFormula, ...], list[list[_PlainTerm]]]:
    """The formulas of a variant, and their terms with positions in ``config.numbers``."""
    formulas = component_formulas(Variant(traits, head, layout))
    # Positions are found faster than symbols, and a count does little else.
    positions = {size.symbol: i for i, size in enumerate(SIZES)}
    plain = [
        [(t.coefficient, tuple(positions[s] for s in t.symbols)) for t in f.terms.terms]
        for f in formulas
    ]
    return formulas, plain


@cache
def component_formulas(variant: Variant) -> tuple[ComponentFormula, ...]:
    """The components of *variant* in the order of its tensors, with their formulas."""
    bodies: dict[tuple[Component, tuple[str | int, ...]], list[Polynomial]] = {}
    for tensor in tensor_table(variant):
        if is_counted(tensor, variant.traits.tied):
            body = bodies.setdefault((tensor.component, tensor.repeat), [])
            body.append(Polynomial.product(*tensor.shape))
    formulas = []
    for (component, repeat), products in bodies.items():
        stored = Repeated(repeat, Polynomial.sum(products))
        formulas.append(ComponentFormula(component, stored, stored.expanded()))
    return tuple(formulas)
