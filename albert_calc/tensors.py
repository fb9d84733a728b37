"""From a config to its tensors: which ones a model has, and how often each is stored.

May import ``albert_calc.architectures``, ``albert_calc.config``, ``albert_calc.errors``
and ``albert_calc.text``.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from albert_calc.architectures import ARCHITECTURES, LAYOUTS
from albert_calc.architectures.base import SHARED_BLOCKS, Architecture, Tensor
from albert_calc.config import ModelConfig, Traits, model_type_of
from albert_calc.errors import ConfigError, Problems
from albert_calc.text import shown


class Variant(NamedTuple):
    """All that decides which tensors a model has, apart from their sizes."""

    traits: Traits
    head: str
    layout: str


def variant_of(config: ModelConfig, head: str, layout: str) -> Variant:
    """The variant that *config* describes under *head* and *layout*."""
    return Variant(config.traits, head, layout)


@cache
def tensor_table(variant: Variant) -> tuple[Tensor, ...]:
    """Every tensor of *variant*, in the order in which PyTorch lists them.

    Tied tensors are in it, though they are not counted: see ``is_counted``.
    Raises ``ConfigError`` if there is no such head or layout.
    """
    architecture = ARCHITECTURES[variant.traits.model_type]
    problems = variant_problems(variant.traits.model_type, variant.head, variant.layout)
    if problems:
        raise ConfigError(problems)
    head = architecture.heads[variant.head]
    pooler = head.pooler and variant.layout not in architecture.poolerless
    return (
        *(
            t
            for t in architecture.embeddings[variant.layout]
            if variant.traits.factorized or not t.factorized_only
        ),
        *(_layer_tensor(t, architecture, variant.traits.share) for t in architecture.layer),
        *(architecture.pooler if pooler else ()),
        *head.tensors,
    )


def is_counted(tensor: Tensor, tied: bool) -> bool:
    """Whether *tensor* is a parameter of its own, and not one tied to another."""
    return not (tied and tensor.tied_to)


def _layer_tensor(tensor: Tensor, architecture: Architecture, share: str) -> Tensor:
    shared = tensor.component in SHARED_BLOCKS[share]
    # Unshared layers are applied once each; a group's layers once in every turn of L.
    return tensor._replace(
        name=architecture.layer_name + tensor.name,
        repeat=architecture.shared if shared else architecture.unshared,
        runs=architecture.runs if share == "all" else ("L",),
    )


def variant_problems(model_type: str, head: str, layout: str) -> list[str]:
    """What is wrong with asking *model_type* for *head* and *layout*, one line each."""
    architecture = ARCHITECTURES[model_type]
    problems = []
    if head not in architecture.heads:
        heads = ", ".join(architecture.heads)
        problems.append(f"head: must be one of {heads} for {model_type}, got {shown(head)}")
    if layout not in LAYOUTS:
        problems.append(f"layout: must be one of {', '.join(LAYOUTS)}, got {shown(layout)}")
    elif layout not in architecture.embeddings:
        known = ", ".join(architecture.embeddings)
        problems.append(f"layout: must be {known} for {model_type}, got {shown(layout)}")
    return problems


def read_model(
    mapping: Mapping[str, Any], share: str | None, head: str, layout: str
) -> ModelConfig:
    """The config of *mapping*, for a model with *head* and *layout*.

    Raises ``ConfigError`` with everything that is wrong with any of the four.
    """
    problems = Problems()
    with problems.collected():
        config = ModelConfig.from_dict(mapping, share)
    model_type = model_type_of(mapping)
    if model_type in ARCHITECTURES:
        problems += variant_problems(model_type, head, layout)
    problems.raise_any()
    return config
