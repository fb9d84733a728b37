"""The tensors of modules: tables, dense layers, LayerNorms."""

from collections.abc import Iterable
from typing import Any

from albert_calc.algebra import Dim
from albert_calc.families.base import Component, Tensor


def table(
    name: str, rows: Dim, width: Dim, component: Component, **more: Any
) -> tuple[Tensor, ...]:
    """A lookup table of *rows* × *width*."""
    return (Tensor(f"{name}.weight", (rows, width), component, "table", **more),)


def matrix(
    name: str, inputs: Dim, outputs: Dim, component: Component, **more: Any
) -> tuple[Tensor, ...]:
    """A dense layer without a bias: a matrix stored as *outputs* × *inputs*."""
    return (Tensor(f"{name}.weight", (outputs, inputs), component, "matrix", **more),)


def vector(name: str, width: Dim, component: Component, **more: Any) -> tuple[Tensor, ...]:
    """A vector that is added or scaled by."""
    return (Tensor(name, (width,), component, "vector", **more),)


def linear(
    name: str, inputs: Dim, outputs: Dim, component: Component, **more: Any
) -> tuple[Tensor, ...]:
    """A dense layer: a matrix stored as *outputs* × *inputs*, and a bias."""
    return (
        *matrix(name, inputs, outputs, component, **more),
        *vector(f"{name}.bias", outputs, component, **more),
    )


def norm(name: str, width: Dim, component: Component, **more: Any) -> tuple[Tensor, ...]:
    """A LayerNorm over *width*: a scale and a shift."""
    return (
        *vector(f"{name}.weight", width, component, **more),
        *vector(f"{name}.bias", width, component, **more),
    )


def only(
    tensors: Iterable[Tensor], *, when: tuple[str, ...] = (), unless: tuple[str, ...] = ()
) -> tuple[Tensor, ...]:
    """*tensors*, each under these features beside its own."""
    return tuple(t._replace(when=(*t.when, *when), unless=(*t.unless, *unless)) for t in tensors)
