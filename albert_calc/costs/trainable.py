"""How many parameters are trained, by PEFT's rule for adapters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from albert_calc.algebra import Polynomial, times
from albert_calc.costs.order import Order, stored_layers
from albert_calc.costs.trained import EVERYTHING, TASKS, Trained, with_targets
from albert_calc.counting.counts import count
from albert_calc.counting.tensors import (
    Blueprint,
    Variant,
    is_counted,
    name_pattern,
    tensor_table,
    variant_problems,
)
from albert_calc.errors import ConfigError
from albert_calc.families import family
from albert_calc.families.base import PROJECTIONS, Tensor
from albert_calc.writing.harmless import shown


class Trainable(NamedTuple):
    """How many parameters are trained, of how many in all.

    ``all`` has the adapters too, and both copies of a module that is trained whole beside
    adapters, as PEFT keeps them.
    """

    trainable: int
    all: int


def trained_problems(variant: Variant, trained: Trained) -> Iterator[str]:
    """What is wrong with training *trained* of *variant*, one line each."""
    matrices = ", ".join(dict.fromkeys(matrix_names(variant)))
    if trained.lora_rank and not trained.lora_targets:
        yield (
            f"lora_targets: must be given, since PEFT has no default for {variant.model_type};"
            f" its matrices are {matrices}"
        )
    for target in trained.lora_targets:
        if not any(_is_target(t, variant, (target,)) for t in _matrices(variant)):
            yield (
                "lora_targets: must be the end of a matrix's module name"
                f" ({matrices}), got {shown(target)}"
            )
    for module in trained.train_modules:
        if not any(_is_whole(t, variant, (module,)) for t in tensor_table(variant)):
            having = ", ".join(_heads_with(module, variant))
            yield (
                "train: must be the end of a module's name"
                f" ({matrices}, ...), got {shown(module)}"
                + (f"; the heads that have it: {having}" if having else "")
            )


def _heads_with(module: str, variant: Variant) -> Iterator[str]:
    """The heads of the family with a module whose name ends with *module*."""
    for head in family(variant.model_type).heads:
        other = variant._replace(head=head)
        if not variant_problems(variant.model_type, head, variant.layout) and any(
            _is_whole(tensor, other, (module,)) for tensor in tensor_table(other)
        ):
            yield head


def trained_notes(model: Blueprint, trained: Trained) -> Iterator[str]:
    """What a reader should know of training *trained* of *model*: what is not as it may seem."""
    yield from _adapter_notes(model.variant, trained)
    parts = {_part(tensor) for tensor in tensor_table(model.variant)}
    for part in trained.frozen:
        if part not in parts:
            yield f"freeze: there is no part {part} here, so that it freezes nothing"
    stored = stored_layers(model.variant, model.values)
    for first, last in trained.frozen_layers:
        if last >= stored:
            last_layer = f"layers:0-{stored - 1}"
            yield (
                f"freeze: layers:{first}-{last} is more than the stored layers, which are"
                f" {last_layer if stored > 1 else 'layers:0'}"
            )


def _adapter_notes(variant: Variant, trained: Trained) -> Iterator[str]:
    """That adapters leave a new classifier as it is, which PEFT would train for the task."""
    task, modules = TASKS.get(variant.head, ("", ()))
    if not trained.lora_rank or not task:
        return
    for module in modules:
        of_task = [
            tensor
            for tensor in tensor_table(variant)
            if module in _full(tensor, variant).split(".")
        ]
        if of_task and not any(_is_whole(t, variant, trained.train_modules) for t in of_task):
            yield (
                f"{module}: not trained, as PEFT without a task_type leaves it; its task_type"
                f" {task} trains it, and so does --train {module}"
            )


def trainable_of(model: Blueprint, trained: Trained) -> Trainable:
    """How many parameters of *model* are trained; raises ``ConfigError`` if that cannot be."""
    trained = with_targets(trained, model.variant.model_type)
    problems = list(trained_problems(model.variant, trained))
    if problems:
        raise ConfigError(problems)
    return count_trainable(model, trained)


def matrix_names(variant: Variant) -> Iterator[str]:
    """The module of each matrix and table of *variant*, as short as a target may be."""
    for tensor in _matrices(variant):
        module = tensor.name.removesuffix(".weight").rpartition("{}.")[2]
        yield module


def count_trainable(model: Blueprint, trained: Trained = EVERYTHING) -> Trainable:
    """The parameters of *model* that are trained, and all that there are then."""
    base = count(model).total
    trainable = sum(size * copies for size, copies in trained_tensors(model, trained))
    return Trainable(trainable, base + trainable if trained.lora_rank else base)


def trained_tensors(model: Blueprint, trained: Trained = EVERYTHING) -> Iterator[tuple[int, int]]:
    """The parameters of each tensor that is trained, and how many such tensors there are.

    An adapter beside a matrix is two matrices of its rank, one as wide as each of its sides.
    """
    variant, values = model
    for tensor in tensor_table(variant):
        copies = times(*tensor.repeat).evaluate(values)
        if not trained.lora_rank:
            if is_counted(tensor, variant.tied):
                yield tensor.elements.evaluate(values), trained_copies(tensor, model, trained)
        elif _is_whole(tensor, variant, trained.train_modules):
            yield tensor.elements.evaluate(values), copies
        elif is_adapted(tensor, variant, trained):
            for side in tensor.shape:
                yield times(trained.lora_rank, side).evaluate(values), copies


def is_adapted(tensor: Tensor, variant: Variant, trained: Trained) -> bool:
    """Whether *tensor* has an adapter beside it.

    A target matches the end of a module's name, at a dot; what is trained whole has none.
    Source: ``check_target_module_exists`` in PEFT's ``tuners/tuners_utils.py``.
    """
    inside = any(f".{module}." in f".{_full(tensor, variant)}." for module in trained.train_modules)
    return not inside and _is_target(tensor, variant, trained.lora_targets)


def is_trained(tensor: Tensor, variant: Variant, trained: Trained, layer: int = 0) -> bool:
    """Whether *tensor* itself is trained, in a layer the one that is stored as *layer*."""
    tensor = original(tensor, variant)
    if trained.lora_rank:
        return _is_whole(tensor, variant, trained.train_modules)
    frozen = any(first <= layer <= last for first, last in trained.frozen_layers)
    if tensor.component.part == "layers" and frozen:
        return False
    return _part(tensor) not in trained.frozen


def trained_copies(tensor: Tensor, model: Blueprint, trained: Trained) -> int:
    """How many of the stored copies of *tensor* are trained, nothing being adapted."""
    copies = Polynomial.product(*tensor.repeat).evaluate(model.values)
    if _part(tensor) in trained.frozen:
        return 0
    if tensor.component.part != "layers" or not trained.frozen_layers:
        return copies
    indices = family(model.variant.model_type).layer_name.count("{}")
    stored = Polynomial.product(*tensor.repeat[:indices]).evaluate(model.values)
    # Copies of a tensor that the first layers lack are numbered from the first that has it.
    start = tensor.skip
    frozen = sum(
        max(0, min(last, start + stored - 1) - max(first, start) + 1)
        for first, last in trained.frozen_layers
    )
    return copies // stored * (stored - frozen) if stored else 0


class LayerRuns(NamedTuple):
    """How often layers run that are frozen, and that are trained.

    ``below`` are the runs before the first run of a trained layer, ``above`` the other runs of
    frozen layers. ``frozen_layer`` and ``trained_layer`` are examples of each kind.
    """

    below: int
    trained: int
    above: int
    frozen_layer: int
    trained_layer: int


def layer_runs(order: Order, trained: Trained) -> LayerRuns:
    """Which of the runs of layers are of frozen ones."""
    ranges = trained.frozen_layers
    frozen = sum(order.runs_below(last + 1) - order.runs_below(first) for first, last in ranges)
    lowest = ranges[0][1] + 1 if ranges and ranges[0][0] == 0 else 0
    below = order.first_run(lowest) if lowest < order.stored else order.runs
    example = ranges[0][0] if ranges else 0
    return LayerRuns(below, order.runs - frozen, frozen - below, example, lowest)


def _matrices(variant: Variant) -> Iterator[Tensor]:
    return filter(_is_matrix, tensor_table(variant))


def _is_matrix(tensor: Tensor) -> bool:
    """Whether *tensor* is one that an adapter can stand beside: a matrix or a table."""
    return tensor.kind != "vector" and len(tensor.shape) == 2


def _full(tensor: Tensor, variant: Variant) -> str:
    """The name of the module of *tensor* in the whole model."""
    return name_pattern(variant, tensor).rpartition(".")[0]


def _is_target(tensor: Tensor, variant: Variant, targets: tuple[str, ...]) -> bool:
    if not _is_matrix(tensor):
        return False
    name = f".{_full(tensor, variant)}"
    return any(name.endswith(f".{target}") for target in targets)


def _is_whole(tensor: Tensor, variant: Variant, modules: tuple[str, ...]) -> bool:
    """Whether a module that holds *tensor* has a name that ends with one of *modules*.

    At any letter, not at a dot alone: ``_set_trainable`` in PEFT's ``utils/other.py``.
    """
    path = _full(tensor, variant).split(".")
    names = [".".join(path[: i + 1]) for i in range(len(path))]
    return any(name.endswith(module) for name in names for module in modules)


def original(tensor: Tensor, variant: Variant) -> Tensor:
    """The tensor that *tensor* is tied to, or itself."""
    if is_counted(tensor, variant.tied):
        return tensor
    return next(t for t in tensor_table(variant) if t.name == tensor.tied_to)


def _part(tensor: Tensor) -> str:
    """The part that freezes *tensor*; what belongs to all layers goes with them."""
    if tensor.component in PROJECTIONS:
        return "projection"
    return "layers" if tensor.component.part == "encoder" else tensor.component.part
