"""How large the files of a model are: what a checkpoint or an export stores."""

from typing import NamedTuple

from albert_calc.algebra import Polynomial, times
from albert_calc.costs.memory import weights_bytes
from albert_calc.counting.counts import count
from albert_calc.counting.tensors import Blueprint, Variant, is_counted, tensor_table


class Files(NamedTuple):
    """The bytes of a model's tensors as files store them; headers are left out.

    ``checkpoint`` has the weights in a dtype, ``with_optimizer`` adapters and the optimizer's
    moments beside them, to go on training from; it is ``None`` where nothing is trained.
    ``int8`` has the matrices of dense layers in 8 bits and the rest in float32, as torch's
    ``quantize_dynamic`` leaves them: tables stay whole, and an output matrix is no longer tied
    to one. ``unrolled`` has the weights of a layer once for each time that it runs, as ONNX
    stores a shared layer (microsoft/onnxruntime#10340).
    """

    checkpoint: int
    with_optimizer: int | None
    int8: int
    unrolled: int


def files_of(model: Blueprint, dtype: str = "float32", beside: int | None = None) -> Files:
    """The files of *model* with weights of *dtype*, and *beside* them bytes to train on from."""
    parameters = count(model).total
    dense = dense_parameters(model.variant).evaluate(model.values)
    tied = tied_parameters(model.variant).evaluate(model.values)
    rest = parameters + tied - dense
    executed = executed_parameters(model.variant).evaluate(model.values)
    checkpoint = weights_bytes(parameters, dtype)
    return Files(
        checkpoint=checkpoint,
        with_optimizer=None if beside is None else checkpoint + beside,
        int8=weights_bytes(dense, "int8") + weights_bytes(rest, "float32"),
        unrolled=weights_bytes(executed, dtype),
    )


def executed_parameters(variant: Variant) -> Polynomial:
    """The parameters of *variant*, those of a layer as often as it runs."""
    return Polynomial.sum(
        tensor.elements.times(*tensor.runs)
        for tensor in tensor_table(variant)
        if is_counted(tensor, variant.tied)
    )


def dense_parameters(variant: Variant) -> Polynomial:
    """The elements of the matrices of dense layers, those of a tied output included."""
    return Polynomial.sum(
        tensor.elements.times(*tensor.repeat)
        for tensor in tensor_table(variant)
        if tensor.kind == "matrix"
    )


def tied_parameters(variant: Variant) -> Polynomial:
    """The elements of output matrices that are tied, and so count nothing."""
    return Polynomial.sum(
        times(tensor.elements)
        for tensor in tensor_table(variant)
        if tensor.kind == "matrix" and not is_counted(tensor, variant.tied)
    )
