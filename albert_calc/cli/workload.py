"""The options that say what a model is used for: a batch, and how it is trained on it."""

import re
from collections.abc import Mapping
from typing import Any

import click

from albert_calc.cli.command import Function, with_parameters
from albert_calc.cli.options import (
    BATCH_HEADING,
    NUMBER,
    Once,
    Option,
    dashed,
    one_of,
)
from albert_calc.costs.memory import BITS, HALVES, OPTIMIZERS, SHORT_DTYPES
from albert_calc.costs.workload import BATCH, USUAL, Workload
from albert_calc.errors import ConfigError, Problems
from albert_calc.passes.conditions import ATTENTIONS
from albert_calc.writing.harmless import shown

_SHORT_HALVES = [short for short, dtype in SHORT_DTYPES.items() if dtype in HALVES]


def batch_options(function: Function) -> Function:
    """``-B`` and ``-S``."""
    options: list[click.Parameter] = [
        Once(
            [f"-{size.symbol}", f"--{dashed(size.key)}", size.key], type=NUMBER,
            default=getattr(USUAL, size.key), show_default=True, metavar="N",
            heading=BATCH_HEADING, help=f"{size.symbol}: {size.meaning}.",
        )
        for size in BATCH
    ]  # fmt: skip
    return with_parameters(function, options)


def batch_lists(function: Function) -> Function:
    """``-B`` and ``-S`` as lists of values and ranges."""
    options: list[click.Parameter] = [
        Once(
            [f"-{size.symbol}", f"--{dashed(size.key)}", size.key], metavar="VALUES",
            heading=BATCH_HEADING, help=f"{size.symbol}: {size.meaning}.",
        )
        for size in BATCH
    ]  # fmt: skip
    return with_parameters(function, options)


def workload_options(function: Function) -> Function:
    """A batch, its dtype, and how the model is trained on it."""
    return batch_options(training_options(function))


def training_options(function: Function) -> Function:
    """The dtype of a model, and how it is trained."""
    options: list[click.Parameter] = [
        Option(
            ["--dtype"], type=one_of([*BITS, *SHORT_DTYPES]), multiple=True,
            default=USUAL.dtypes, show_default=True, heading=BATCH_HEADING,
            help="The type of the weights, as model.to(dtype) makes it. Training uses the first"
            " float type given. Repeatable.",
        ),
        Once(
            ["--optimizer"], type=one_of(list(OPTIMIZERS)), default=USUAL.optimizer,
            show_default=True, heading=BATCH_HEADING,
            help="The optimizer; sgd has momentum, none has no state.",
        ),
        Once(
            ["--attention"], type=one_of(ATTENTIONS), default=USUAL.attention,
            show_default=True, heading=BATCH_HEADING, help="How attention is computed.",
        ),
        Option(
            ["--labels/--no-labels"], default=True, heading=BATCH_HEADING,
            help="Use the head's own loss; with --no-labels, the sum of its outputs.",
        ),
        Option(
            ["--accumulate"], is_flag=True, heading=BATCH_HEADING,
            help="Gradient accumulation: gradients stay in memory between batches.",
        ),
        Option(
            ["--checkpointing"], is_flag=True, heading=BATCH_HEADING,
            help="Gradient checkpointing: keep only the input of each layer, recompute the rest.",
        ),
        Once(
            ["--autocast"], type=one_of([*HALVES, *_SHORT_HALVES]), heading=BATCH_HEADING,
            help="Train float32 weights with 16-bit products.",
        ),
        Option(
            ["--master-weights"], is_flag=True, heading=BATCH_HEADING,
            help="Keep float32 weights and moments beside those of a 16-bit --dtype.",
        ),
        Once(
            ["--masked-fraction"], metavar="F", heading=BATCH_HEADING,
            help="Count the FLOPs of the head for this part of the tokens only, such as 15%.",
        ),
    ]  # fmt: skip
    return with_parameters(function, options)


def workload_of(options: Mapping[str, Any]) -> Workload:
    """The workload that the parameters of ``workload_options`` describe.

    Raises ``ConfigError`` with every problem.
    """
    dtypes = (SHORT_DTYPES.get(name, name) for name in options["dtype"])
    problems = Problems()
    masked = None
    with problems.collected():
        masked = _fraction(options["masked_fraction"])
    workload = Workload(
        batch_size=options["batch_size"],
        sequence_length=options["sequence_length"],
        dtypes=tuple(dict.fromkeys(dtypes)),
        optimizer=options["optimizer"],
        attention=options["attention"],
        labels=options["labels"],
        accumulate=options["accumulate"],
        checkpointing=options["checkpointing"],
        autocast=SHORT_DTYPES.get(options["autocast"], options["autocast"]),
        master_weights=options["master_weights"],
        masked=masked,
    )
    listed = [s.key for s in BATCH if isinstance(options[s.key], str) and "," in options[s.key]]
    problems += [
        f"{key}: must be one number (write 30_000, not 30,000), got {shown(options[key])};"
        " albert-calc sweep takes several"
        for key in listed
    ]
    problems += [p for p in workload.problems() if p.partition(":")[0] not in listed]
    problems.raise_any()
    return workload


def _fraction(text: str | None) -> tuple[int, int] | None:
    """``15%`` or ``0.15`` as a fraction of whole numbers."""
    if text is None:
        return None
    match = re.fullmatch(r"([0-9]{1,3})(?:\.([0-9]{1,9}))?(%?)", text.strip())
    if match:
        decimals = match[2] or ""
        numerator = int(match[1] + decimals)
        denominator = 10 ** len(decimals) * (100 if match[3] else 1)
        if 0 < numerator <= denominator:
            return numerator, denominator
    raise ConfigError(f"masked_fraction: must be like 15% or 0.15, got {shown(text)}")
