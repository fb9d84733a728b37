"""From a config and a workload to the circumstances of a forward pass, or why there are none."""

from collections.abc import Iterator, Mapping
from typing import Any

from albert_calc.config.model_config import ModelConfig
from albert_calc.costs.flops import with_batch
from albert_calc.costs.forward import Circumstances
from albert_calc.costs.workload import Workload
from albert_calc.counting.tensors import Blueprint
from albert_calc.families import family
from albert_calc.passes import PASSES, forward_of
from albert_calc.passes.conditions import (
    EAGER,
    LABELS,
    ONE_LABEL,
    ONE_SEQUENCE,
    PROBLEMS,
    REGRESSION,
)
from albert_calc.passes.steps import FUNCTIONS, Forward, Step
from albert_calc.writing.harmless import shown


def unknown(config: ModelConfig, model: Blueprint, workload: Workload) -> str:
    """Why it cannot be told what training *model* keeps; empty if it can."""
    variant = model.variant
    forward = forward_of(variant.model_type)
    if workload.training_dtype is None:
        return f"{' and '.join(workload.dtypes)} cannot be trained"
    if forward is None:
        known = ", ".join(PASSES)
        return f"the forward pass of {variant.model_type} is not described; those of {known} are"
    if variant.head not in forward.heads:
        return f"the head {variant.head} of {variant.model_type} is not described"
    if variant.layout != "transformers":
        return f"layout {variant.layout}: only models of transformers have been measured"
    if not model.values["A"]:
        return f"{config.family.name_of('num_attention_heads')}: not given"
    return next(_unreadable(config, forward, variant.head), "")


def circumstances(config: ModelConfig, model: Blueprint, workload: Workload) -> Circumstances:
    """What of *config* and *workload* decides how the forward pass of *model* goes.

    To be asked only where it is not ``unknown``.
    """
    variant = model.variant
    forward = forward_of(variant.model_type)
    assert forward is not None  # noqa: S101 - otherwise it is unknown
    conditions = {attention_of(variant.model_type, workload), _problem(config)}
    conditions |= {
        key for key in _dropouts(forward, variant.head) if _probability(config, forward, key)
    }
    conditions |= {LABELS} if workload.labels else set()
    conditions |= {ONE_SEQUENCE} if workload.batch_size == 1 else set()
    functions = _functions(forward, variant.head)
    return Circumstances(
        variant,
        variant.features | conditions,
        tuple((key, config.setting(key)) for key in functions),
        workload.training_dtype or "",
        workload.autocast,
        workload.trained,
    )


def attention_of(model_type: str, workload: Workload) -> str:
    """How attention is computed: as *workload* says, or eagerly where there is no sdpa."""
    return workload.attention if family(model_type).sdpa else EAGER


def batch_values(model: Blueprint, workload: Workload) -> Mapping[str, int]:
    """The values of all symbols at a batch; M is the number of examples of several choices."""
    batch = workload.batch_size
    values = with_batch(model, batch, workload.sequence_length)
    return {**values, "M": -(-batch // workload.choices)}


def _steps(forward: Forward, head: str) -> tuple[Step, ...]:
    outside = (*forward.embeddings, *forward.outside, *forward.pooler, *forward.heads[head])
    return (*outside, *forward.layer)


def _dropouts(forward: Forward, head: str) -> list[str]:
    """The keys of dropout on which steps depend."""
    conditions = {c for s in _steps(forward, head) for c in (*s.when, *s.unless)}
    return sorted(c for c in conditions if "dropout" in c)


def _functions(forward: Forward, head: str) -> list[str]:
    """The keys that name an activation function."""
    named = {s.function for s in _steps(forward, head) if s.function}
    return sorted(named - set(FUNCTIONS))


def _probability(config: ModelConfig, forward: Forward, key: str) -> Any:
    """The value of a key of dropout: its own, or that of the key it follows."""
    value = config.setting(key)
    if value is None and key in forward.dropouts:
        return config.setting(forward.dropouts[key])
    return value


def _problem(config: ModelConfig) -> str:
    """The kind of loss of a sequence classifier: what a config says, or by its labels."""
    told = config.setting("problem_type")
    if told in PROBLEMS:
        return str(told)
    return REGRESSION if config.num_labels == 1 else ONE_LABEL


def _unreadable(config: ModelConfig, forward: Forward, head: str) -> Iterator[str]:
    """The keys whose values say nothing that a table describes."""
    for key in _dropouts(forward, head):
        value = _probability(config, forward, key)
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or not 0 <= value <= 1:
            yield f"{key}: must be a number from 0 to 1, got {shown(value)}"
    for key in _functions(forward, head):
        value = config.setting(key)
        if value != "linear" and not (isinstance(value, str) and value in FUNCTIONS):
            yield f"{key}: the activation function {shown(value)} is not described"
