"""What is said beside costs: what is unknown and why, and what classes refuse."""

from collections.abc import Collection, Iterator, Sequence

from albert_calc.cli.reports.costed import Costed
from albert_calc.costs.assumptions import PARTLY_TRAINED, TOO_LOW
from albert_calc.costs.circumstances import attention_of
from albert_calc.costs.fit import usable_length
from albert_calc.costs.trainable import trained_notes
from albert_calc.costs.workload import Workload
from albert_calc.models.model import Model
from albert_calc.search.costs import MEMORY, unknown_reasons
from albert_calc.search.grid import Grid
from albert_calc.writing.numbers import binary_size


def length_warnings(models: Sequence[Model], workload: Workload) -> Iterator[str]:
    """Which models could not run sequences of this length."""
    length = workload.sequence_length
    for model in models:
        most = usable_length(model.config)
        if length > most:
            yield (
                f"sequence_length: {length} is more than the {most} positions of {model.name};"
                " such a batch cannot be run, and its cost is what it would be"
            )


def support_warnings(models: Sequence[Model], workload: Workload) -> Iterator[str]:
    """What is asked of classes that refuse it."""
    for model in models:
        if workload.checkpointing and not model.config.family.checkpointing:
            yield (
                f"checkpointing: the classes of {model.config.model_type} in transformers 5.24"
                f" refuse it, {model.name}; its cost is what it would be"
            )


def batch_warnings(models: Sequence[Model], workload: Workload) -> tuple[str, ...]:
    """Why *models* cannot be trained on such a batch, or in such a way."""
    return (*length_warnings(models, workload), *support_warnings(models, workload))


def close_warnings(costs: Sequence[Costed]) -> Iterator[str]:
    """Which models fit by less than the estimate may be off."""
    for one in costs:
        peak = one.cost.training_peak_bytes
        if one.fits and peak and one.left is not None and one.left < TOO_LOW * (peak + one.left):
            yield (
                f"{one.name}: fits with only {binary_size(one.left)} to spare, and the estimate"
                f" may be up to {TOO_LOW:.0%} too low"
            )


def cost_notes(costs: Sequence[Costed], workload: Workload) -> Iterator[str]:
    """What of *costs*, asked for under *workload*, is unknown and why, or is not as asked."""
    for one in costs:
        reason = one.cost.activations.reason
        if reason and one.memory is None:
            yield unknown_memory(one.name, reason)
        elif not reason:
            yield from attention_notes(one.name, one.config.model_type, workload)
    if any(one.cost.training_flops is None for one in costs):
        yield PARTLY_TRAINED
    for one in costs:
        told = trained_notes(one.model, one.workload.trained)
        yield from (f"{one.name}: {note}" if len(costs) > 1 else note for note in told)


def attention_notes(name: str, model_type: str, workload: Workload) -> Iterator[str]:
    """That the model *name* has no such attention as *workload* asks for."""
    attention = attention_of(model_type, workload)
    if attention != workload.attention:
        yield (
            f"{name}: transformers 5.24 has no {workload.attention} for {model_type},"
            f" so {attention}"
        )


def unknown_memory(name: str, reason: str) -> str:
    """That the training memory of the model *name* is unknown, and why."""
    return f"{name}: {reason}, so its training memory is unknown"


def unknown_fits(costs: Sequence[Costed]) -> Iterator[str]:
    """Of which models it cannot be told whether they fit, and why."""
    for one in costs:
        if one.memory is not None and one.fits is None:
            reason = one.cost.activations.reason
            yield f"memory: {unknown_memory(one.name, reason)}, and whether it fits"


def sweep_notes(
    name: str, grid: Grid, columns: Collection[str], workload: Workload
) -> Iterator[str]:
    """What of *columns* is unknown in a sweep over the model *name*, or is not as asked."""
    if not MEMORY.isdisjoint(columns):
        reasons = list(unknown_reasons(grid, workload))
        yield from (unknown_memory(name, reason) for reason in reasons)
        if not reasons:
            yield from attention_notes(name, grid.base.model_type, workload)
    if "training_flops" in columns and not workload.trained.everything:
        yield PARTLY_TRAINED
