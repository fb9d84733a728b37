"""What a model costs: bytes stored and in use, and the work of a batch."""

from collections.abc import Mapping
from typing import NamedTuple

from albert_calc.algebra import times
from albert_calc.config.model_config import DTYPE, ModelConfig
from albert_calc.costs.activations import Activations, kept_activations
from albert_calc.costs.files import Files, executed_parameters, files_of
from albert_calc.costs.flops import Flops, count_flops
from albert_calc.costs.memory import BITS, weights_bytes
from albert_calc.costs.peak import Moment, inference_peak, training_moments
from albert_calc.costs.state import State, training_state
from albert_calc.costs.trainable import Trainable, count_trainable, trained_problems
from albert_calc.costs.workload import USUAL, Workload
from albert_calc.counting.counts import count
from albert_calc.counting.tensors import Blueprint, executed_layers
from albert_calc.errors import ConfigError


class Cost(NamedTuple):
    """What one model costs under a workload; bytes, parameters and FLOPs are integers.

    ``weights_bytes`` has a number a dtype. ``state`` is ``None`` without a dtype that can be
    trained. ``moments`` are those of a training step, and none where ``activations`` are
    unknown; the peaks are estimates, everything else is exact.
    """

    parameters: int
    trainable: Trainable
    executed_parameters: int
    executed_layers: int
    weights_bytes: Mapping[str, int]
    files: Files
    state: State | None
    activations: Activations
    moments: tuple[Moment, ...]
    inference_peak_bytes: int | None
    flops: Flops

    @property
    def executed_ratio(self) -> float:
        """How many times the stored parameters the executed ones are."""
        return self.executed_parameters / self.parameters

    @property
    def activation_bytes(self) -> int | None:
        """What a step keeps for its backward pass; ``None`` if unknown."""
        return self.activations.bytes

    @property
    def training_flops(self) -> int | None:
        """The FLOPs of a training pass; ``None`` where not all is trained, which takes fewer."""
        return training_flops(self.flops, self.trainable)

    @property
    def peak(self) -> Moment | None:
        """The moment at which a training step takes most memory; ``None`` if unknown."""
        return max(self.moments, key=lambda moment: moment.bytes, default=None)

    @property
    def training_peak_bytes(self) -> int | None:
        """The most bytes in use at once in a training step; ``None`` if unknown."""
        return None if self.peak is None else self.peak.bytes


def training_flops(flops: Flops, trainable: Trainable) -> int | None:
    """The FLOPs of a training pass; ``None`` unless every parameter is trained."""
    return flops.training if trainable.trainable == trainable.all else None


def cost_of(config: ModelConfig, model: Blueprint, workload: Workload = USUAL) -> Cost:
    """What *model*, which *config* describes, costs under *workload*.

    Raises ``ConfigError`` for a head or layout that the model type does not have, for a
    workload that is none, and for adapters that fit no module.
    """
    problems = [*workload.problems(), *trained_problems(model.variant, workload.trained)]
    if problems:
        raise ConfigError(problems)
    parameters = count(model).total
    state = beside = None
    if workload.training_dtype is not None:
        state = training_state(model, workload)
        adapters = state.weights - weights_bytes(parameters, workload.training_dtype)
        beside = adapters + state.optimizer_moments
    layers = times(*executed_layers(model.variant))
    # The dtype in which its checkpoint is, if the config says so.
    stored = config.setting(DTYPE)
    return Cost(
        parameters=parameters,
        trainable=count_trainable(model, workload.trained),
        executed_parameters=executed_parameters(model.variant).evaluate(model.values),
        executed_layers=layers.evaluate(model.values),
        weights_bytes={d: weights_bytes(parameters, d) for d in workload.dtypes},
        files=files_of(
            model,
            stored if isinstance(stored, str) and stored in BITS else workload.dtypes[0],
            beside,
        ),
        state=state,
        activations=kept_activations(config, model, workload),
        moments=training_moments(config, model, workload),
        inference_peak_bytes=inference_peak(config, model, workload),
        flops=count_flops(model, workload.batch_size, workload.sequence_length, workload.predicted),
    )
