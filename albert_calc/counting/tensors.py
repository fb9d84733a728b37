"""From a config to its tensors: which ones a model has, how often each is stored, their names."""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, Literal

from albert_calc.algebra import Dims, Polynomial, minus, times
from albert_calc.config.model_config import ModelConfig
from albert_calc.config.values import broken
from albert_calc.errors import ConfigError
from albert_calc.families import family, head_meant
from albert_calc.families.base import (
    EMBEDDING_PROJECTION,
    EMBEDDING_PROJECTION_BIAS,
    LAYOUTS,
    PROJECTIONS,
    SHARED_BLOCKS,
    Family,
    Head,
    Product,
    Tensor,
)
from albert_calc.families.tensors import matrix, vector
from albert_calc.named_tuple import NamedTuple
from albert_calc.writing.harmless import shown

Embedding = Literal["own", "standard", "factorized"]

PROJECTION = "embeddings.projection"
"""The module that a factorized embedding puts in place of a family's own projection."""

GROUPED: Dims = ("G", "N")
GROUPED_RUNS: Dims = ("L", "N")
"""How many layers are stored in groups, and how many run: a group's layers in every turn."""


class Variant(NamedTuple):
    """All that decides which tensors a model has, apart from their sizes.

    ``embedding`` is ``own`` for a model as its family builds it, or the technique that is
    applied to its tables: ``standard`` (tokens at width H) or ``factorized`` (at width E).
    With ``grouped`` the layers that are shared are stored as G groups of N, as ALBERT's are,
    whatever the family does.
    """

    model_type: str
    features: frozenset[str]
    share: str
    tied: bool
    head: str
    layout: str
    embedding: Embedding = "own"
    grouped: bool = False


def variant_of(config: ModelConfig, head: str, layout: str) -> Variant:
    """The variant that *config* describes under *head* and *layout*.

    Raises ``ConfigError`` if there is no such head or layout, or if *config* breaks a rule of
    *head*.
    """
    found = variant_problems(config.model_type, head, layout)
    found = found or list(broken(config.family, config.keys, fatal=True, head=head))
    if found:
        raise ConfigError(found)
    return Variant(
        config.model_type,
        config.features,
        config.share or "",
        bool(config.tie_word_embeddings),
        head,
        layout,
    )


class Blueprint(NamedTuple):
    """A model to be counted: which tensors it has, and the value of every symbol."""

    variant: Variant
    values: Mapping[str, int]


def blueprint(config: ModelConfig, head: str, layout: str) -> Blueprint:
    """What *config* describes under *head* and *layout*."""
    return Blueprint(variant_of(config, head, layout), config.symbols)


@cache
def tensor_table(variant: Variant) -> tuple[Tensor, ...]:
    """Every tensor of *variant*, in the order in which PyTorch lists them.

    Tied tensors are in it, though they are not counted: see ``is_counted``.
    Raises ``ConfigError`` if there is no such head or layout.
    """
    tables = family(variant.model_type)
    head = head_of(variant)
    declared = (
        *tables.embeddings[variant.layout],
        *(_layer_tensor(t, variant) for t in tables.layer),
        *tables.outside,
        *(tables.pooler if has_pooler(variant) else ()),
        *head.tensors,
    )
    existing = (t for t in declared if t.exists(variant.features))
    return tuple(_embedded(existing, tables, variant))


@cache
def head_of(variant: Variant) -> Head:
    """What stands on the encoder; ``ConfigError`` if there is no such head or layout."""
    problems = variant_problems(variant.model_type, variant.head, variant.layout)
    if problems:
        raise ConfigError(problems)
    return family(variant.model_type).heads[variant.head]


def has_pooler(variant: Variant) -> bool:
    """Whether the encoder has a pooler: the chapter's has none where it is ALBERT's."""
    if not head_of(variant).pooler:
        return False
    return variant.layout != "handbook" or not is_factorized(variant)


def is_factorized(variant: Variant) -> bool:
    """Whether tokens are embedded at a width of their own, E, and projected to H."""
    if variant.embedding != "own":
        return variant.embedding == "factorized"
    return _projects(variant, variant.layout)


def has_own_projection(variant: Variant) -> bool:
    """Whether the family's own tables project from E to H, as the published code has them."""
    return _projects(variant, "transformers")


def _projects(variant: Variant, layout: str) -> bool:
    return any(
        t.component == EMBEDDING_PROJECTION and t.exists(variant.features)
        for t in family(variant.model_type).embeddings[layout]
    )


def products(variant: Variant) -> tuple[Product, ...]:
    """The multiplications of a forward pass of *variant* that have no parameters."""
    tables = family(variant.model_type)
    declared = (*tables.products, *head_of(variant).products)
    return tuple(p for p in declared if p.exists(variant.features))


def executed_layers(variant: Variant) -> Dims:
    """How many layers a forward pass runs, as factors: L, and N in a group of layers."""
    if variant.share != "all":
        return ("L",)
    return GROUPED_RUNS if variant.grouped else family(variant.model_type).runs


def is_counted(tensor: Tensor, tied: bool) -> bool:
    """Whether *tensor* is a parameter of its own, and not one tied to another."""
    return not (tied and tensor.tied_to)


def _layer_tensor(tensor: Tensor, variant: Variant) -> Tensor:
    tables = family(variant.model_type)
    shared = tensor.component in SHARED_BLOCKS[variant.share]
    copies = tables.unshared
    if shared:
        copies = GROUPED if variant.grouped else tables.shared
    # A stored layer has every tensor that any layer has.
    skip = 0 if shared else tensor.skip
    if skip:
        copies = (minus(copies[0], skip), *copies[1:])
    runs = executed_layers(variant)
    if tensor.skip:
        runs = (minus(runs[0], tensor.skip), *runs[1:])
    return tensor._replace(
        name=tables.layer_name + tensor.name,
        repeat=(*copies, *tensor.repeat),
        skip=skip,
        runs=(*runs, *tensor.repeat),
    )


def _embedded(tensors: Iterable[Tensor], tables: Family, variant: Variant) -> Iterable[Tensor]:
    """*tensors* with the token embedding as *variant* has it.

    E in the tables is the width of the token embedding. It is H where a family has none of
    its own; a technique sets it, and takes the projection away or puts one in its place.
    """
    technique = variant.embedding
    if technique == "own":
        has_own_width = tables.has("embedding_size")
        yield from tensors if has_own_width else (_at_width(t, "H") for t in tensors)
        return
    width = "E" if technique == "factorized" else "H"
    after = None
    for tensor in tensors:
        if tensor.component in PROJECTIONS:
            continue
        if after == "embeddings" and tensor.component.part != "embeddings":
            yield from _projection(variant)
        after = tensor.component.part
        yield _at_width(tensor, width)


def _projection(variant: Variant) -> Iterable[Tensor]:
    if variant.embedding == "factorized":
        yield from matrix(PROJECTION, "E", "H", EMBEDDING_PROJECTION)
        if variant.layout != "paper":
            yield from vector(f"{PROJECTION}.bias", "H", EMBEDDING_PROJECTION_BIAS)


def _at_width(tensor: Tensor, width: str) -> Tensor:
    return tensor._replace(shape=tuple(width if dim == "E" else dim for dim in tensor.shape))


def name_pattern(variant: Variant, tensor: Tensor) -> str:
    """The name of *tensor* in the class of the head, with ``{}`` for each index of a copy."""
    bare = tensor.component.part == "head" or not head_of(variant).tensors
    return tensor.name if bare else family(variant.model_type).prefix + tensor.name


def component_tensors(model: Blueprint) -> dict[str, list[dict[str, Any]]]:
    """The tensors of each component, by its name.

    Each has the ``name`` of its first copy, as checkpoints have it, its ``shape``, and how many
    ``copies`` there are; one that is ``tied_to`` another is no parameter of its own.
    """
    found: dict[str, list[dict[str, Any]]] = {}
    for tensor in tensor_table(model.variant):
        name = name_pattern(model.variant, tensor)
        first = (tensor.skip, *([0] * name.count("{}")))
        entry: dict[str, Any] = {
            "name": name.format(*first),
            "shape": [times(dim).evaluate(model.values) for dim in tensor.shape],
            "copies": Polynomial.product(*tensor.repeat).evaluate(model.values),
        }
        if not is_counted(tensor, model.variant.tied):
            entry["tied_to"] = tensor.tied_to
        found.setdefault(tensor.component.name, []).append(entry)
    return found


def variant_problems(model_type: str, head: object, layout: object) -> list[str]:
    """What is wrong with asking *model_type* for *head* and *layout*, one line each."""
    tables = family(model_type)
    problems = []
    if not isinstance(head, str) or head not in tables.heads:
        heads = ", ".join(tables.heads)
        meant = head_meant(head) if isinstance(head, str) else ""
        hint = f" (did you mean {meant}?)" if meant in tables.heads else ""
        problems.append(f"head: must be one of {heads} for {model_type}{hint}, got {shown(head)}")
    if not isinstance(layout, str) or layout not in LAYOUTS:
        problems.append(f"layout: must be one of {', '.join(LAYOUTS)}, got {shown(layout)}")
    elif layout not in tables.embeddings:
        known = ", ".join(tables.embeddings)
        problems.append(f"layout: must be {known} for {model_type}, got {shown(layout)}")
    return problems
