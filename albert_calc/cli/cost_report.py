"""How the commands that show costs ask for a batch, and what they show of it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import click

from albert_calc.algebra import TEXT
from albert_calc.cli.options import SIZE, Function, typed
from albert_calc.cli.output import say
from albert_calc.comparison import Comparison
from albert_calc.config import ModelConfig
from albert_calc.costs.cost import BATCH, USUAL, Cost, Workload, assumptions, cost_of
from albert_calc.costs.flops import flops_formulas
from albert_calc.costs.memory import BITS, OPTIMIZERS
from albert_calc.format import binary_size, percent
from albert_calc.report import Cell, Column, Quantity, Section
from albert_calc.tensors import variant_of

_SHORT_DTYPES: Mapping[str, str] = {"fp32": "float32", "fp16": "float16", "bf16": "bfloat16"}

_WORKLOAD = ("batch_size", "sequence_length", "dtype", "optimizer")

_EXACT = "Exact figures; MiB is 2^20 bytes, GiB 2^30 bytes."
_ESTIMATE = (
    "The activations are an estimate, and so is the training memory, which is"
    " training state + activations."
)

_PART_ROWS: Mapping[str, str] = {
    "weights": "training_weights_bytes",
    "gradients": "gradients_bytes",
    "optimizer_moments": "optimizer_moments_bytes",
    "master_weights": "master_weights_bytes",
}


def cost_options(command: Function) -> Function:
    """``-B/--batch-size``, ``-S/--sequence-length``, ``--dtype`` and ``--optimizer``."""
    command = click.option(
        "--optimizer", type=click.Choice(list(OPTIMIZERS)), default=USUAL.optimizer,
        show_default=True, help="What trains the model; sgd has momentum, none no state.",
    )(command)  # fmt: skip
    command = click.option(
        "--dtype", type=click.Choice([*BITS, *_SHORT_DTYPES]), multiple=True,
        default=USUAL.dtypes, show_default=True,
        help="The type of the weights; the first that is no integer is trained in. Repeatable.",
    )(command)  # fmt: skip
    for size in reversed(BATCH):
        command = click.option(
            f"-{size.symbol}", f"--{size.key.replace('_', '-')}", size.key, type=SIZE,
            default=getattr(USUAL, size.key), show_default=True, metavar="N",
            help=f"{size.symbol}: {size.meaning}.",
        )(command)  # fmt: skip
    return command


def workload_of(options: Mapping[str, Any]) -> Workload:
    """The workload that the parameters of ``cost_options`` describe."""
    dtypes = (_SHORT_DTYPES.get(name, name) for name in options["dtype"])
    return Workload(
        options["batch_size"],
        options["sequence_length"],
        tuple(dict.fromkeys(dtypes)),
        options["optimizer"],
    )


def refuse_idle_workload() -> None:
    """Without ``--cost`` there is no batch: refuse the options that describe one."""
    for option in typed(*_WORKLOAD):
        raise click.UsageError(f"{option} belongs to --cost: give both or none")


def say_about_costs(models: Mapping[str, ModelConfig], workload: Workload) -> None:
    """Tell what cannot be told of *models*, and what they could not run."""
    say("note", _unknown(models, workload))
    say("warning", _too_long(models, workload))


def _too_long(models: Mapping[str, ModelConfig], workload: Workload) -> Iterator[str]:
    length = workload.sequence_length
    for name, config in models.items():
        if length > config.max_position_embeddings:
            yield (
                f"sequence_length: {length} is more than max_position_embeddings"
                f" ({config.max_position_embeddings}) of {name}; such a batch cannot be run,"
                " and its cost is what it would be"
            )


def _unknown(models: Mapping[str, ModelConfig], workload: Workload) -> Iterator[str]:
    if workload.training_dtype is not None:
        for name, config in models.items():
            if config.num_attention_heads is None:
                yield f"num_attention_heads: not given, so no activations are estimated for {name}"


def cost_section(
    title: str,
    columns: Sequence[Column],
    costs: Iterable[Cost],
    workload: Workload,
    lines: Sequence[str] = (),
) -> Section:
    """One table: a row a figure, one of *columns* for each of *costs*."""
    found = [_rows(cost) for cost in costs]
    return Section(
        title=f"{title} at B = {workload.batch_size:,}, S = {workload.sequence_length:,}",
        lines=(*lines, _EXACT, *_about_activations(workload, found)),
        columns=(Column("component", "figure", "name"), *columns),
        rows=tuple((key, *(rows[key] for rows in found)) for key in found[0]),
        notes=tuple(assumptions(workload)),
    )


def _about_activations(workload: Workload, found: list[dict[str, Cell]]) -> Iterator[str]:
    if workload.training_dtype is not None:
        yield _ESTIMATE
        if any(rows["activation_bytes"] is None for rows in found):
            yield "Without the number of attention heads (-A) the activations are unknown."


def compared_costs(
    compared: Sequence[Comparison],
    headings: Sequence[tuple[str, str]],
    options: Mapping[str, Any],
) -> tuple[list[Section], list[dict[str, Any]]]:
    """What both sides of each of *compared* cost: as tables, and as JSON reports carry it."""
    workload = workload_of(options)
    say_about_costs({c.name: c.albert_style for c in compared}, workload)
    sections, data = [], []
    for c, texts in zip(compared, headings, strict=True):
        sides = {"bert_style": c.bert_style, "albert_style": c.albert_style}
        costs = {key: cost_of(side, "model", c.layout, workload) for key, side in sides.items()}
        columns = [Column(key, text, "count") for key, text in zip(sides, texts, strict=True)]
        section = cost_section(f"{c.name}: cost", columns, costs.values(), workload)
        sections.append(section._replace(label=("preset", c.name), notes=()))
        data.append(
            {
                key: cost_data(costs[key], side, "model", c.layout, workload)
                for key, side in sides.items()
            }
        )
    # Said once, under the last table.
    sections[-1] = sections[-1]._replace(notes=tuple(assumptions(workload)))
    return sections, data


def _rows(cost: Cost) -> dict[str, Cell]:
    flops = cost.flops
    rows: dict[str, Cell] = {
        "parameters": cost.parameters,
        "executed_parameters": cost.executed_parameters,
        "executed_ratio": Quantity(cost.executed_ratio, "ratio"),
        **{f"{d}_weights_bytes": _bytes(n) for d, n in cost.weights_bytes.items()},
    }
    if cost.training_bytes is not None:
        rows |= {
            **{_PART_ROWS[part]: _bytes(n) for part, n in cost.training_bytes.items()},
            "training_state_bytes": _bytes(cost.training_state_bytes),
            "activation_bytes_per_layer": _bytes(cost.activation_bytes_per_layer),
            "activation_bytes": _bytes(cost.activation_bytes),
            "training_memory_bytes": _bytes(cost.training_memory_bytes),
        }
    per_token = flops.per_token
    return rows | {
        "forward_flops": flops.forward,
        **{
            f"{term}_flops": Quantity(flops.breakdown[term], "count", percent(share))
            for term, share in flops.shares.items()
        },
        "training_flops": flops.training,
        "forward_flops_per_token": Quantity(
            per_token, "count" if isinstance(per_token, int) else "number"
        ),
    }


def _bytes(size: int | None) -> Cell:
    if size is None:
        return None
    return Quantity(size, "count", binary_size(size) if size >= 2**10 else "")


def cost_data(
    cost: Cost, config: ModelConfig, head: str, layout: str, workload: Workload
) -> dict[str, Any]:
    """*cost* as JSON reports carry it."""
    flops = cost.flops
    formulas = flops_formulas(variant_of(config, head, layout))
    return {
        "batch_size": workload.batch_size,
        "sequence_length": workload.sequence_length,
        "optimizer": workload.optimizer,
        "parameters": cost.parameters,
        "executed_parameters": cost.executed_parameters,
        "executed_ratio": cost.executed_ratio,
        "executed_layers": cost.executed_layers,
        "weights_bytes": cost.weights_bytes,
        "training_dtype": workload.training_dtype,
        "training_bytes": cost.training_bytes,
        "activation_bytes_per_layer": cost.activation_bytes_per_layer,
        "activation_bytes": cost.activation_bytes,
        "training_state_bytes": cost.training_state_bytes,
        "training_memory_bytes": cost.training_memory_bytes,
        "flops": {
            "forward": flops.forward,
            "training": flops.training,
            "per_token": flops.per_token,
            "breakdown": flops.breakdown,
            "shares": flops.shares,
            "formulas": {term: formula.formula(TEXT) for term, formula in formulas.items()},
        },
        "assumptions": assumptions(workload),
    }
