"""The cost of a model, and what of it fits in the memory that is asked about."""

from collections.abc import Sequence

from albert_calc.config.model_config import ModelConfig
from albert_calc.costs.circumstances import attention_of
from albert_calc.costs.cost import Cost, cost_of
from albert_calc.costs.fit import Memory, largest_batch, largest_length, usable_length
from albert_calc.costs.trained import with_targets
from albert_calc.costs.workload import Workload
from albert_calc.counting.tensors import Blueprint
from albert_calc.errors import Problems
from albert_calc.models.model import Model
from albert_calc.named_tuple import NamedTuple


class Costed(NamedTuple):
    """A model in a column of the table: its cost, and what fits in the memory asked about."""

    name: str
    config: ModelConfig
    model: Blueprint
    workload: Workload
    cost: Cost
    memory: Memory | None = None
    largest_batch: int | None = None
    largest_length: int | None = None

    @property
    def fits(self) -> bool | None:
        """Whether a training step fits; ``None`` if that is not asked, or unknown."""
        peak = self.cost.training_peak_bytes
        return None if self.memory is None or peak is None else peak <= self.memory.bytes

    @property
    def left(self) -> int | None:
        """The bytes of the memory that a training step does not use."""
        peak = self.cost.training_peak_bytes
        return None if peak is None or self.memory is None else self.memory.bytes - peak


def costs_of(
    models: Sequence[Model], workload: Workload, memory: Memory | None = None
) -> list[Costed]:
    """What each of *models* costs; raises ``ConfigError`` with the problems of all."""
    problems = Problems()
    costs = []
    for model in models:
        with problems.collected():
            costs.append(costed(model.name, model.config, model.blueprint, workload, memory))
    problems.raise_any()
    return costs


def costed(
    name: str,
    config: ModelConfig,
    model: Blueprint,
    workload: Workload,
    memory: Memory | None = None,
) -> Costed:
    """What *model*, which *config* describes, costs, and what of it fits in *memory*."""
    workload = workload._replace(
        trained=with_targets(workload.trained, config.model_type),
        attention=attention_of(config.model_type, workload),
    )
    cost = cost_of(config, model, workload)
    found = Costed(name, config, model, workload, cost, memory)
    if memory is None or cost.training_peak_bytes is None:
        return found
    return found._replace(
        largest_batch=largest_batch(config, model, workload, memory.bytes),
        largest_length=largest_length(config, model, workload, memory.bytes, usable_length(config)),
    )
