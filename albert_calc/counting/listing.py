"""The tensors of a model by their real names, as checkpoints and state dicts have them."""

from typing import Any

from albert_calc.algebra import Polynomial, times
from albert_calc.counting.tensors import Blueprint, Variant, head_of, is_counted, tensor_table
from albert_calc.families import family
from albert_calc.families.base import Tensor


def first_name(variant: Variant, tensor: Tensor) -> str:
    """The name of the first copy of *tensor* in the class of the head."""
    places = tensor.name.count("{}")
    return name_pattern(variant, tensor).format(*(tensor.skip, *([0] * places))[:places])


def name_pattern(variant: Variant, tensor: Tensor) -> str:
    """The name of *tensor* in the class of the head, with ``{}`` for each index of a copy."""
    bare = tensor.component.part == "head" or not head_of(variant).tensors
    return tensor.name if bare else family(variant.model_type).prefix + tensor.name


def component_tensors(model: Blueprint) -> dict[str, list[dict[str, Any]]]:
    """The tensors of each component, by its name.

    Each has the ``name`` of its first copy, its ``shape``, and how many ``copies`` there are;
    one that is ``tied_to`` another is no parameter of its own.
    """
    found: dict[str, list[dict[str, Any]]] = {}
    for tensor in tensor_table(model.variant):
        entry: dict[str, Any] = {
            "name": first_name(model.variant, tensor),
            "shape": [times(dim).evaluate(model.values) for dim in tensor.shape],
            "copies": Polynomial.product(*tensor.repeat).evaluate(model.values),
        }
        if not is_counted(tensor, model.variant.tied):
            entry["tied_to"] = tensor.tied_to
        found.setdefault(tensor.component.name, []).append(entry)
    return found
