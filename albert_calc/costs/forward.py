"""A model's forward pass laid out: which tensors each step reads, makes and keeps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import NamedTuple

from albert_calc.algebra import Dims, Polynomial
from albert_calc.costs.trainable import is_adapted, is_trained, original
from albert_calc.costs.trained import Trained
from albert_calc.counting.tensors import PROJECTION, Variant, has_pooler, tensor_table
from albert_calc.families import family
from albert_calc.families.base import TOKENS, Tensor
from albert_calc.passes import forward_of
from albert_calc.passes.conditions import SDPA
from albert_calc.passes.steps import (
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
"""The kinds of steps that autocast computes in 16 bits."""

_NO_FUNCTION = Function(input=False)
_ADAPTERS = (".lora_A.weight", ".lora_B.weight")

Weights = tuple[Tensor, ...]


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

    @cached_property
    def elements(self) -> Polynomial:
        """How many elements it has."""
        return Polynomial.product(*self.shape)


class Node(NamedTuple):
    """A step of one model: what it reads, makes and keeps, and the weights that it trains."""

    step: Step
    inputs: tuple[Stored, ...]
    output: Stored
    kept: tuple[Stored, ...] = ()
    trained: Weights = ()
    function: Function = _NO_FUNCTION


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

    @property
    def forward(self) -> Forward:
        """The tables of the family; they must be there."""
        forward = forward_of(self.variant.model_type)
        assert forward is not None  # noqa: S101 - asked for only where there is one
        return forward

    @property
    def documented(self) -> bool:
        """Whether attention is fused and has dropout, which no CPU computes."""
        return SDPA in self.conditions and any(
            step.kind == "fused attention" and step.when != (SDPA,) and step.holds(self.conditions)
            for step in self.forward.layer
        )

    def function(self, step: Step) -> str:
        """The activation function of *step*: that of the config's key, or the step's own."""
        return dict(self.functions).get(step.function, step.function)


@cache
def embedding_nodes(case: Circumstances) -> tuple[tuple[Node, ...], Stored]:
    """The nodes of the embeddings, and the tensor that the first layer reads."""
    steps = case.forward.embeddings
    if case.variant.embedding == "factorized":
        steps = (*steps, projected(PROJECTION, "hidden", "projected", "H"))
    return _laid_out(steps, {}, case)


@cache
def layer_nodes(case: Circumstances, hidden: Stored, layer: int) -> tuple[tuple[Node, ...], Stored]:
    """The nodes of one run of the stored layer *layer* on *hidden*, and what it makes."""
    hidden = Stored("hidden", (*TOKENS, "H"), hidden.dtype, hidden.grad)
    prefix = family(case.variant.model_type).layer_name
    return _laid_out(case.forward.layer, {"hidden": hidden}, case, prefix, layer)


@cache
def top_nodes(case: Circumstances, hidden: Stored) -> tuple[Node, ...]:
    """The nodes of what stands on the last layer, which made *hidden*."""
    forward = case.forward
    pooler = forward.pooler if has_pooler(case.variant) else ()
    steps = (*forward.outside, *pooler, *forward.heads[case.variant.head])
    return _laid_out(steps, {"encoded" if forward.outside else "hidden": hidden}, case)[0]


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
            # Under these conditions another step may have made it.
            if step.inputs:
                tensors.setdefault(step.output, tensors[step.inputs[0]])
            continue
        for part, its_weights in _with_adapters(step, weights, case):
            nodes += _nodes_of(part, its_weights, tensors, case, layer)
    return tuple(nodes), tensors[steps[-1].output if steps else "hidden"]


@cache
def _modules(variant: Variant) -> Mapping[str, Weights]:
    """The tensors of each module of *variant*."""
    found: dict[str, Weights] = {}
    for tensor in tensor_table(variant):
        module = tensor.name.rpartition(".")[0]
        found[module] = (*found.get(module, ()), tensor)
    return found


def _exists(step: Step, weights: Weights, case: Circumstances) -> bool:
    if step.kind == "function" and case.function(step) not in FUNCTIONS:
        return False
    return (not step.module or bool(weights)) and step.holds(case.conditions)


def _nodes_of(
    step: Step, weights: Weights, tensors: dict[str, Stored], case: Circumstances, layer: int
) -> list[Node]:
    """The node of *step*, after those in which autocast casts what it reads.

    What it makes is put into *tensors*.
    """
    sources = [tensors[name] for name in step.inputs]
    if step.kind == "view" or (step.kind == "cast" and sources[0].dtype == step.dtype):
        tensors[step.output] = sources[0]
        return [Node(step, (sources[0],), sources[0])] if step.kind == "view" else []
    casts = []
    wanted = _cast_to(step, case)
    for i, source in enumerate(sources):
        if wanted and source.dtype != wanted:
            sources[i] = Stored(f"{source.name} in {wanted}", source.shape, wanted, source.grad)
            cast = Step("cast", sources[i].name, (source.name,), source.shape, dtype=wanted)
            casts.append(Node(cast, (source,), sources[i]))
    trained = tuple(
        original(weight, case.variant) for weight in weights if _has_gradient(weight, case, layer)
    )
    output = Stored(
        step.output,
        step.shape,
        _dtype(step, sources, case),
        bool(trained) or any(source.grad for source in sources),
    )
    tensors[step.output] = output
    named = dict(zip(step.inputs, sources, strict=True)) | {step.output: output}
    kept = [
        _stored(entry, named, step, case)
        for entry in _keeps(step, case)
        if _is_kept(entry, named, output, trained)
    ]
    if case.autocast and step.kind == "linear" and sources[0].grad:
        matrix = next(weight for weight in weights if weight.kind == "matrix")
        kept.append(Stored("weight cast", matrix.shape, case.autocast, copy_of=matrix.name))
    function = FUNCTIONS.get(case.function(step), _NO_FUNCTION)
    once = tuple(dict.fromkeys(kept))
    return [*casts, Node(step, tuple(sources), output, once, trained, function)]


def _keeps(step: Step, case: Circumstances) -> tuple[Kept, ...]:
    """What autograd can keep of *step*: its entries, or those of its activation function."""
    if step.kind != "function":
        return step.keeps
    function = FUNCTIONS[case.function(step)]
    source = (Kept(step.inputs[0]),) if function.input else ()
    output = (Kept(step.output),) if function.output else ()
    inside = (Kept(f"inside {step.output} {i + 1}", "", step.shape) for i in range(function.others))
    return (*source, *output, *inside)


def _is_kept(kept: Kept, named: Mapping[str, Stored], output: Stored, trained: Weights) -> bool:
    """Whether a gradient is asked for that needs *kept*."""
    if kept.wanted == WEIGHT:
        return any(weight.kind != "vector" for weight in trained)
    return named[kept.wanted].grad if kept.wanted else output.grad


def _stored(kept: Kept, named: Mapping[str, Stored], step: Step, case: Circumstances) -> Stored:
    """The tensor of *kept*: one that the step reads or makes, or one of its own.

    The statistics of a norm have the dtype of its weights.
    """
    if kept.shape is None:
        return named[kept.tensor]
    own = case.dtype if step.kind == "norm" else named[step.output].dtype
    return Stored(kept.tensor, kept.shape, kept.dtype or own)


def _dtype(step: Step, sources: list[Stored], case: Circumstances) -> str:
    """The dtype of what *step* makes."""
    dtypes = {source.dtype for source in sources}
    return step.dtype or (dtypes.pop() if len(dtypes) == 1 else case.dtype)


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


def _has_gradient(tensor: Tensor, case: Circumstances, layer: int) -> bool:
    return tensor.name.endswith(_ADAPTERS) or is_trained(tensor, case.variant, case.trained, layer)


def _with_adapters(
    step: Step, weights: Weights, case: Circumstances
) -> Iterator[tuple[Step, Weights]]:
    """*step*, and if its matrix is adapted, the adapter beside it: two matrices of low rank.

    Their product is scaled and added to what the matrix makes, as PEFT does it; adapters of
    16-bit weights are float32, and so is what they read.
    """
    matrix = next((weight for weight in weights if weight.kind != "vector"), None)
    if matrix is None or not is_adapted(matrix, case.variant, case.trained):
        yield step, weights
        return
    rank, rows, (height, width) = case.trained.lora_rank, step.shape[:-1], matrix.shape
    down, up = matrix._replace(shape=(rank, width)), matrix._replace(shape=(height, rank))
    if matrix.kind == "table":
        down, up = matrix._replace(shape=(height, rank)), matrix._replace(shape=(rank, width))
    base, low = f"{step.output} before adapting", f"{step.output} of low rank"
    wide, scaled = f"{step.output} of the adapter", f"{step.output} scaled"
    yield step._replace(output=base), weights
    for source in step.inputs:
        exact = f"float32 {source}"
        yield Step("cast", exact, (source,), (*rows, width), dtype="float32"), ()
        step = step._replace(inputs=(exact,), keeps=(Kept(exact, WEIGHT),))
    lower = step._replace(output=low, shape=(*rows, rank), dtype="float32")
    yield lower, (down._replace(name=f"{step.module}.lora_A.weight"),)
    upper = Step("linear", wide, (low,), step.shape, (Kept(low, WEIGHT),))
    yield upper, (up._replace(name=f"{step.module}.lora_B.weight", kind="matrix"),)
    yield Step("scale", scaled, (wide,), step.shape), ()
    yield Step("add", step.output, (base, scaled), step.shape), ()
