"""From tensors to counts: how many parameters a model has, component by component."""

from collections.abc import Mapping
from functools import cache
from typing import Literal, NamedTuple

from albert_calc.algebra import Dims, Polynomial, Repeated, evaluate_all, sum_formula
from albert_calc.config.model_config import ModelConfig
from albert_calc.counting.tensors import (
    Blueprint,
    Variant,
    is_counted,
    tensor_table,
    variant_of,
)
from albert_calc.errors import ConfigError
from albert_calc.families.base import OUTPUT_EMBEDDING, Component
from albert_calc.writing.harmless import shown


class ComponentFormula(NamedTuple):
    """A component of a variant: its parts, each with its own copies, and their sum."""

    component: Component
    parts: tuple[Repeated, ...]
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
        """Where it belongs: ``embeddings``, ``layers``, ``encoder``, ``pooler`` or ``head``."""
        return self.source.component.part

    @property
    def formula(self) -> str:
        """The count in symbols, such as ``V × E``."""
        return sum_formula(self.source.parts)


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


Selection = Literal["all", "without_embeddings", "matrices"]
"""Which tensors are counted.

``without_embeddings`` leaves out every table that is looked up, and what is tied to it: the
rule of transformers' ``num_parameters(exclude_embeddings=True)``. ``matrices`` leaves out
biases and norms.
"""

_LEFT_OUT: Mapping[str, str] = {"all": "", "without_embeddings": "table", "matrices": "vector"}


def count_parameters(
    config: ModelConfig, head: str = "model", layout: str = "transformers"
) -> Counts:
    """The exact number of parameters of the model that *config* describes.

    In the default layout the total is that of the class in transformers to which *head*
    belongs. It takes the same time for any number of layers. Raises ``ConfigError`` if
    the model type has no such head or layout, and for what is no ``ModelConfig``.
    """
    try:
        plan = config.plans.get((head, layout))
    except (AttributeError, TypeError):
        # There is no config, or one of the names is none, which will be refused.
        plan = None
    if plan is None:
        if not isinstance(config, ModelConfig):
            raise ConfigError(f"config: must be a ModelConfig, got {shown(config)}")
        plan = _plan(variant_of(config, head, layout), "all")
        config.plans[head, layout] = plan
    formulas, terms = plan
    return Counts(formulas, evaluate_all(terms, config.symbols))


def count(model: Blueprint, selection: Selection = "all") -> Counts:
    """The exact number of parameters of *model*, or of a *selection* of its tensors."""
    formulas, terms = _plan(model.variant, selection)
    return Counts(formulas, evaluate_all(terms, model.values))


def component_formulas(
    variant: Variant, selection: Selection = "all"
) -> tuple[ComponentFormula, ...]:
    """The components of *variant* in the order of its tensors, with their formulas.

    An output matrix that is tied to the token table is a component of nothing.
    """
    return _plan(variant, selection)[0]


@cache
def _plan(
    variant: Variant, selection: Selection
) -> tuple[tuple[ComponentFormula, ...], list[list[tuple[int, tuple[str, ...]]]]]:
    """The components of *variant*, and of each the terms of its count."""
    bodies: dict[Component, dict[Dims, list[Polynomial]]] = {}
    for tensor in tensor_table(variant):
        if tensor.kind == _LEFT_OUT[selection]:
            continue
        if is_counted(tensor, variant.tied):
            parts = bodies.setdefault(tensor.component, {})
            parts.setdefault(tensor.repeat, []).append(tensor.elements)
        elif tensor.component == OUTPUT_EMBEDDING:
            bodies.setdefault(tensor.component, {})
    formulas = tuple(_formula(component, parts) for component, parts in bodies.items())
    # Plain pairs are taken apart faster than named ones.
    return formulas, [[(c, s) for c, s in f.terms.terms] for f in formulas]


def _formula(component: Component, parts: dict[Dims, list[Polynomial]]) -> ComponentFormula:
    repeated = tuple(Repeated(r, Polynomial.sum(elements)) for r, elements in parts.items())
    return ComponentFormula(
        component, repeated, Polynomial.sum(part.expanded() for part in repeated)
    )
