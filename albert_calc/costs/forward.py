"""A model's forward pass laid out: which tensors each step reads, makes and keeps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from albert_calc.algebra import Dims, Polynomial
from albert_calc.costs.trainable import Trained, is_adapted, is_trained, original
from albert_calc.counting.tensors import Variant, has_pooler, tensor_table
from albert_calc.families import family
from albert_calc.families.base import Tensor
from albert_calc.families.steps import (
    ALL_TOKENS,
    FUNCTIONS,
    LOSSES,
    WEIGHT,
    Forward,
    Function,
    Kept,
    Step,
    projected,
)

_CAST = ("linear", "scores", "mix", "fused attention")
"""The kinds of steps that autocast computes in 16 bits; losses it computes in float32."""


@dataclass(frozen=True, eq=False)
class Stored:
    """A tensor with memory of its own: what it is called, its shape and its dtype.

    ``grad`` says whether a gradient of it is asked for, ``copy_of`` of which weights it is a
    copy in another dtype. Two are the same only if they are one.
    """

    name: str
    shape: Dims
    dtype: str
    grad: bool = False
    copy_of: str = ""

    @property
    def elements(self) -> Polynomial:
        """How many elements it has."""
        return Polynomial.product(*self.shape)


class Node(NamedTuple):
    """A step of one model: what it reads, makes and keeps, and the weights that it trains."""

    step: Step
    inputs: tuple[Stored, ...]
    output: Stored
    kept: tuple[Stored, ...] = ()
    trained: tuple[Tensor, ...] = ()
    function: Function = Function(input=False)


class Circumstances(NamedTuple):
    """All that decides how a model's forward pass goes, apart from sizes.

    ``conditions`` are those that steps may ask for, ``functions`` the activation function of
    each key that names one. Floats have ``dtype``, and what autocast casts ``autocast``.
    """

    variant: Variant
    conditions: frozenset[str]
    functions: tuple[tuple[str, str], ...]
    dtype: str
    autocast: str | None
    trained: Trained


@cache
def embedding_nodes(case: Circumstances) -> tuple[tuple[Node, ...], Stored]:
    """The nodes of the embeddings, and the tensor that the first layer reads."""
    steps = _tables(case).embeddings
    if case.variant.embedding == "factorized":
        steps = (*steps, projected("embeddings.projection", "hidden", "projected", "H"))
    return _laid_out(steps, {}, case)


@cache
def layer_nodes(
    case: Circumstances, hidden: Stored, layer: int
) -> tuple[tuple[Node, ...], Stored]:
    """The nodes of one run of the stored layer *layer* on *hidden*, and what it makes."""
    hidden = Stored("hidden", (*ALL_TOKENS, "H"), hidden.dtype, hidden.grad)
    prefix = family(case.variant.model_type).layer_name
    return _laid_out(_tables(case).layer, {"hidden": hidden}, case, prefix, layer)


@cache
def top_nodes(case: Circumstances, hidden: Stored) -> tuple[Node, ...]:
    """The nodes of the pooler and of the head, on the *hidden* that the last layer made."""
    forward = _tables(case)
    pooler = forward.pooler if has_pooler(case.variant) else ()
    return _laid_out((*pooler, *forward.heads[case.variant.head]), {"hidden": hidden}, case)[0]


def _tables(case: Circumstances) -> Forward:
    forward = family(case.variant.model_type).forward
    assert forward is not None  # noqa: S101 - asked for only where there is one
    return forward


def _laid_out(
    steps: tuple[Step, ...],
    given: Mapping[str, Stored],
    case: Circumstances,
    prefix: str = "",
    layer: int = 0,
) -> tuple[tuple[Node, ...], Stored]:
    """The nodes of *steps* on the tensors *given*, and the tensor that the last one makes."""
    tensors = dict(given)
    modules = _modules(case.variant)
    nodes: list[Node] = []
    for step in steps:
        weights = modules.get(prefix + step.module, ())
        if not _exists(step, weights, case):
            # A step that another makes under other conditions is passed over.
            if step.inputs:
                tensors.setdefault(step.output, tensors[step.inputs[0]])
            continue
        for part, tensors_of_part in _with_adapters(step, weights, case):
            nodes += _nodes_of(part, tensors_of_part, tensors, case, layer)
    return tuple(nodes), tensors[steps[-1].output if steps else "hidden"]


@cache
def _modules(variant: Variant) -> Mapping[str, tuple[Tensor, ...]]:
    """The tensors of each module of *variant*."""
    found: dict[str, tuple[Tensor, ...]] = {}
    for tensor in tensor_table(variant):
        module = tensor.name.rpartition(".")[0]
        found[module] = (*found.get(module, ()), tensor)
    return found


def _exists(step: Step, weights: tuple[Tensor, ...], case: Circumstances) -> bool:
    if step.kind == "function" and _function(step, case) not in FUNCTIONS:
        return False
    return (not step.module or bool(weights)) and step.holds(case.conditions)


def _function(step: Step, case: Circumstances) -> str:
    """The activation function of *step*: that of the config's key, or the step's own."""
    return dict(case.functions).get(step.function, step.function)


def _nodes_of(
    step: Step,
    weights: tuple[Tensor, ...],
    tensors: dict[str, Stored],
    case: Circumstances,
    layer: int,
) -> list[Node]:
    """The node of *step*, after those in which autocast casts what it reads."""
    sources = [tensors[name] for name in step.inputs]
    casts = []
    for i, source in enumerate(sources):
        wanted = _cast_to(step, case)
        if wanted and source.dtype != wanted:
            sources[i] = Stored(f"{source.name} in {wanted}", source.shape, wanted, source.grad)
            cast = Step("cast", sources[i].name, (source.name,), source.shape)
            casts.append(Node(cast, (source,), sources[i]))
    if step.kind == "cast" and sources[0].dtype == "float32":
        tensors[step.output] = sources[0]
        return []
    trained = tuple(
        original(w, case.variant) for w in weights if _has_gradient(w, case, layer)
    )
    output = Stored(
        step.output,
        step.shape if step.kind != "view" else sources[0].shape,
        _dtype(step, sources, case),
        bool(trained) or any(s.grad for s in sources),
    )
    if step.kind == "view":
        output = sources[0]
    named = dict(zip(step.inputs, sources, strict=True)) | {step.output: output}
    kept = tuple(
        dict.fromkeys(
            named.get(k.tensor) or Stored(k.tensor, k.shape or (), k.dtype or _own_dtype(step, output, case))
            for k in _keeps(step, case)
            if _is_kept(k, named, output, trained)
        )
    )
    if case.autocast and step.kind == "linear" and sources[0].grad:
        matrix = next(w for w in weights if w.kind == "matrix")
        kept += (Stored("weight cast", matrix.shape, case.autocast, copy_of=matrix.name),)
    tensors[step.output] = output
    function = FUNCTIONS.get(_function(step, case), Function(input=False))
    return [*casts, Node(step, tuple(sources), output, kept, trained, function)]


def _keeps(step: Step, case: Circumstances) -> tuple[Kept, ...]:
    if step.kind != "function":
        return step.keeps
    function = FUNCTIONS[_function(step, case)]
    source = (Kept(step.inputs[0]),) if function.input else ()
    output = (Kept(step.output),) if function.output else ()
    inside = (Kept(f"inside {step.output} {i + 1}", "", step.shape) for i in range(function.others))
    return (*source, *output, *inside)


def _is_kept(
    kept: Kept, named: Mapping[str, Stored], output: Stored, trained: tuple[Tensor, ...]
) -> bool:
    if kept.wanted == WEIGHT:
        return any(t.kind != "vector" for t in trained)
    return named[kept.wanted].grad if kept.wanted else output.grad


def _dtype(step: Step, sources: list[Stored], case: Circumstances) -> str:
    """The dtype of what *step* makes."""
    if step.kind == "cast":
        return "float32"
    dtypes = {s.dtype for s in sources}
    return dtypes.pop() if len(dtypes) == 1 else case.dtype


def _cast_to(step: Step, case: Circumstances) -> str:
    """The dtype to which autocast takes what *step* reads; empty if it takes it as it is.

    As torch's CPU backend does it: matrix products in 16 bits, losses in float32, the rest in
    the dtype that it is given.
    """
    if not case.autocast:
        return ""
    if step.kind in LOSSES:
        return "float32"
    return case.autocast if step.kind in _CAST else ""


def _own_dtype(step: Step, output: Stored, case: Circumstances) -> str:
    """The dtype of what *step* keeps for itself: a norm's statistics have that of its weights."""
    return case.dtype if step.kind == "norm" else output.dtype


def _has_gradient(tensor: Tensor, case: Circumstances, layer: int) -> bool:
    if tensor.name.endswith(_ADAPTERS):
        return True
    return is_trained(tensor, case.variant, case.trained, layer)


_ADAPTERS = (".lora_A.weight", ".lora_B.weight")


def _with_adapters(
    step: Step, weights: tuple[Tensor, ...], case: Circumstances
) -> Iterator[tuple[Step, tuple[Tensor, ...]]]:
    """*step*, and if its matrix is adapted, the adapter beside it: two matrices of low rank.

    Their product is scaled and added to what the matrix makes, as PEFT does it.
    """
    matrix = next((w for w in weights if w.kind != "vector"), None)
    if matrix is None or not is_adapted(matrix, case.variant, case.trained):
        yield step, weights
        return
    rank, rows = case.trained.lora_rank, step.shape[:-1]
    rows_in, rows_out = (rank, matrix.shape[1]), (matrix.shape[0], rank)
    if matrix.kind == "table":
        rows_in, rows_out = (matrix.shape[0], rank), (rank, matrix.shape[1])
    base, low = f"{step.output} before adapting", f"{step.output} of low rank"
    wide, scaled = f"{step.output} of the adapter", f"{step.output} scaled"
    down = matrix._replace(name=f"{step.module}.lora_A.weight", shape=rows_in)
    up = matrix._replace(name=f"{step.module}.lora_B.weight", shape=rows_out, kind="matrix")
    yield step._replace(output=base), weights
    yield step._replace(output=low, shape=(*rows, rank)), (down,)
    yield Step("linear", wide, (low,), step.shape, (Kept(low, WEIGHT),)), (up,)
    yield Step("scale", scaled, (wide,), step.shape), ()
    yield Step("add", step.output, (base, scaled), step.shape), ()
