"""Sweeps over what models cost: figures of memory and work, also for several batches."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import islice, product
from typing import Any, NamedTuple

from albert_calc.config.model_config import ModelConfig
from albert_calc.config.values import symbols
from albert_calc.costs.activations import kept_activations
from albert_calc.costs.circumstances import unknown
from albert_calc.costs.cost import training_flops
from albert_calc.costs.files import executed_parameters
from albert_calc.costs.flops import Flops, count_flops
from albert_calc.costs.memory import weights_bytes
from albert_calc.costs.peak import inference_peak, training_peak
from albert_calc.costs.trainable import trainable_of, trained_problems
from albert_calc.costs.trained import Trained
from albert_calc.costs.workload import BATCH_KEYS, Workload
from albert_calc.counting.counts import component_formulas, count
from albert_calc.counting.tensors import Blueprint
from albert_calc.families.sizes import SYMBOLS
from albert_calc.search.grid import Grid, Tally, follow, stretches
from albert_calc.search.sweep import Row, is_part, variant_at

Costing = Callable[[ModelConfig, Blueprint, Workload], int | None]
"""How a cost of a model under a workload is worked out; ``None`` where it is unknown."""


def _activations(config: ModelConfig, model: Blueprint, workload: Workload) -> int | None:
    return kept_activations(config, model, workload).bytes


def _weights(_: ModelConfig, model: Blueprint, workload: Workload) -> int:
    return weights_bytes(count(model).total, workload.dtypes[0])


def _forward(_: ModelConfig, model: Blueprint, workload: Workload) -> int:
    return _flops(model, workload).forward


def _training(_: ModelConfig, model: Blueprint, workload: Workload) -> int | None:
    return training_flops(_flops(model, workload), trainable_of(model, workload.trained))


def _executed(_: ModelConfig, model: Blueprint, __: Workload) -> int:
    return executed_parameters(model.variant).evaluate(model.values)


def _trainable(_: ModelConfig, model: Blueprint, workload: Workload) -> int:
    return trainable_of(model, workload.trained).trainable


COSTS: Mapping[str, Costing] = {
    "training_peak_bytes": training_peak,
    "activation_bytes": _activations,
    "inference_peak_bytes": inference_peak,
    "weights_bytes": _weights,
    "forward_flops": _forward,
    "training_flops": _training,
    "executed_parameters": _executed,
    "trainable": _trainable,
}
"""The columns that are costs, and how each is worked out."""

MEMORY = frozenset({"training_peak_bytes", "activation_bytes", "inference_peak_bytes"})
"""The costs that are unknown where no table describes a forward pass."""


_AT_ONCE = 100
"""How many batches are costed before their rows are handed on."""


class Batches(NamedTuple):
    """The batches that every combination is costed at: how, and the values of B and S."""

    workload: Workload
    sizes: Mapping[str, Collection[int]]

    @property
    def varied(self) -> tuple[str, ...]:
        """Which of B and S vary."""
        return tuple(key for key, values in self.sizes.items() if len(values) > 1)

    @property
    def workloads(self) -> Iterator[Workload]:
        """The batches, S varying fastest."""
        for values in product(*self.sizes.values()):
            sizes: dict[str, Any] = dict(zip(self.sizes, values, strict=True))
            yield self.workload._replace(**sizes)


def costed_rows(
    grid: Grid, batches: Batches, columns: Sequence[str], tally: Tally
) -> Iterator[list[Row]]:
    """A row of *columns* for each possible combination of *grid* at each of *batches*."""
    for stretch in stretches(grid, tally):
        for value in stretch.values:
            if stretch.inner:
                stretch.keys[stretch.inner] = value
                follow(grid, stretch.keys)
            variant = variant_at(grid, stretch)
            model = Blueprint(variant, symbols(grid.family, stretch.keys))
            workloads = batches.workloads
            while some := list(islice(workloads, _AT_ONCE)):
                yield [tuple(_cell(grid, model, w, c) for c in columns) for w in some]


def untrainable(grid: Grid, trained: Trained) -> Iterator[str]:
    """What is wrong with training models of *grid* so: *trained* must do for every head."""
    if not trained.everything:
        for variant, _ in _kinds(grid):
            yield from trained_problems(variant, trained)


def _kinds(grid: Grid) -> Iterator[Blueprint]:
    """A model of *grid* of each way of sharing and each head, if any is possible."""
    for share, head in product(grid.shares, grid.heads):
        one = grid._replace(shares=(share,), heads=(head,))
        for stretch in islice(stretches(one, Counter()), 1):
            yield Blueprint(variant_at(one, stretch), symbols(grid.family, stretch.keys))


def unknown_reasons(grid: Grid, workload: Workload) -> Iterator[str]:
    """Why the memory of models of *grid* is unknown, each reason once."""
    reasons = dict.fromkeys(unknown(grid.base, model, workload) for model in _kinds(grid))
    yield from filter(None, reasons)


def _cell(grid: Grid, model: Blueprint, workload: Workload, column: str) -> str | int | None:
    if column in COSTS:
        return COSTS[column](grid.base, model, workload)
    if column in BATCH_KEYS:
        value: int = getattr(workload, column)
        return value
    if column in ("share", "head"):
        return model.variant.share if column == "share" else model.variant.head
    symbol = SYMBOLS.get(column, "")
    if symbol:
        known = column in grid.sizes or column in grid.followers
        return model.values[symbol] if known else None
    return sum(
        f.terms.evaluate(model.values)
        for f in component_formulas(model.variant)
        if is_part(f.component, column)
    )


def _flops(model: Blueprint, workload: Workload) -> Flops:
    return count_flops(model, workload.batch_size, workload.sequence_length, workload.predicted)
