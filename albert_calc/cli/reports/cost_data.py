"""What a model costs, for machines: JSON, and the rows of CSV."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from albert_calc.cli.reports.costed import Costed
from albert_calc.costs.assumptions import ACCURACY, assumptions
from albert_calc.costs.cost import Cost
from albert_calc.costs.flops import flops_formulas
from albert_calc.report import Column, Section


def cost_data(one: Costed) -> dict[str, Any]:
    """*one* as JSON reports carry it."""
    cost, workload = one.cost, one.workload
    spent, state = cost.flops, cost.state
    formulas = flops_formulas(one.model.variant, workload.masked is not None)
    data: dict[str, Any] = {
        "batch_size": workload.batch_size,
        "sequence_length": workload.sequence_length,
        "optimizer": workload.optimizer,
        "attention": workload.attention,
        "parameters": cost.parameters,
        "trainable": cost.trainable.trainable,
        "all": cost.trainable.all,
        "executed_parameters": cost.executed_parameters,
        "executed_ratio": cost.executed_ratio,
        "executed_layers": cost.executed_layers,
        "weights_bytes": cost.weights_bytes,
        "training_dtype": workload.training_dtype,
        "training_bytes": None if state is None else state.parts,
        "training_state_bytes": None if state is None else state.bytes,
        "activation_bytes_per_layer": _per_layer(cost),
        "activation_bytes": cost.activation_bytes,
        "activations": activations_data(cost),
        "activations_unknown": cost.activations.reason or None,
        "activations_documented": cost.activations.documented,
        "training_peak_bytes": cost.training_peak_bytes,
        "training_moments": {m.name: m.bytes for m in cost.moments},
        "inference_peak_bytes": cost.inference_peak_bytes,
        "files": cost.files._asdict(),
        "flops": {
            "forward": spent.forward,
            "training": cost.training_flops,
            "macs": spent.macs,
            "per_token": spent.per_token,
            "layer": spent.layer,
            "layer_share": spent.layer_share,
            "breakdown": spent.breakdown,
            "shares": spent.shares,
            "formulas": {term: formula.formula() for term, formula in formulas.items()},
        },
        "assumptions": [ACCURACY, *assumptions(workload)],
    }
    if one.memory is not None:
        data |= {
            "memory_bytes": one.memory.bytes,
            "fits": one.fits,
            "left_bytes": one.left,
            "largest_batch_size": one.largest_batch,
            "largest_sequence_length": one.largest_length,
        }
    return data


def _per_layer(cost: Cost) -> int | float | None:
    """The mean of what one run of a layer keeps."""
    if cost.activation_bytes is None:
        return None
    kept = sum(t.bytes for t in cost.activations.tensors if t.part == "layers")
    whole, rest = divmod(kept, cost.executed_layers)
    return kept / cost.executed_layers if rest else whole


def activations_data(cost: Cost) -> list[dict[str, Any]] | None:
    """Every kept tensor as JSON carries it; ``None`` where they are unknown."""
    if cost.activation_bytes is None:
        return None
    return [
        {
            "part": tensor.part,
            "name": tensor.name,
            "dtype": tensor.dtype,
            "copies": tensor.copies,
            "bytes": tensor.bytes,
            "formula": tensor.formula.formula(),
        }
        for tensor in cost.activations.tensors
    ]


def cost_rows(costs: Sequence[Costed], columns: Sequence[Column]) -> Section:
    """A row for each figure and one of *columns* for each of *costs*, exact, for machines alone."""
    found = [dict(_figures(one)) for one in costs]
    names = dict.fromkeys(name for figures in found for name in figures)
    return Section(
        columns=(
            Column("component", "", "text", "machines"),
            *(column._replace(only="machines") for column in columns),
        ),
        rows=tuple((name, *(figures.get(name) for figures in found)) for name in names),
    )


def _figures(one: Costed) -> Iterator[tuple[str, Any]]:
    """Every figure by a name that says what it counts in."""
    cost = one.cost
    state: Mapping[str, int] = cost.state.parts if cost.state else {}
    yield "parameters", cost.parameters
    yield "trainable", cost.trainable.trainable
    yield "all", cost.trainable.all
    yield "executed_parameters", cost.executed_parameters
    yield "executed_ratio", cost.executed_ratio
    yield from ((f"{dtype}_weights_bytes", size) for dtype, size in cost.weights_bytes.items())
    for part, size in state.items():
        yield f"{'training_' if part == 'weights' else ''}{part}_bytes", size
    yield "training_state_bytes", cost.state.bytes if cost.state else None
    yield "activation_bytes_per_layer", _per_layer(cost)
    yield "activation_bytes", cost.activation_bytes
    yield "training_peak_bytes", cost.training_peak_bytes
    yield "inference_peak_bytes", cost.inference_peak_bytes
    yield from ((f"file_{name}_bytes", size) for name, size in cost.files._asdict().items())
    yield "forward_flops", cost.flops.forward
    yield from ((f"{term}_flops", spent) for term, spent in cost.flops.breakdown.items())
    yield "training_flops", cost.training_flops
    yield "forward_flops_per_token", cost.flops.per_token
    if one.memory is not None:
        yield "memory_bytes", one.memory.bytes
        yield "fits", one.fits
        yield "left_bytes", one.left
        yield "largest_batch_size", one.largest_batch
        yield "largest_sequence_length", one.largest_length
