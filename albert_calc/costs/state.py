"""The state of a training: what is in memory from one step to the next."""

from typing import NamedTuple

from albert_calc.costs.memory import OPTIMIZERS, WIDTHS, moments_bytes, weights_bytes
from albert_calc.costs.trainable import trained_tensors
from albert_calc.costs.workload import Workload
from albert_calc.counting.counts import count
from albert_calc.counting.tensors import Blueprint


class State(NamedTuple):
    """The bytes of each part of the state; ``temporaries`` are there during an update alone.

    Gradients are as wide as the weights, and so are the moments, but float32 beside master
    weights: Rajbhandari et al., ZeRO, arXiv 1910.02054, section 3.1. Adapters of 16-bit
    weights are float32, as PEFT makes them.
    """

    weights: int
    gradients: int
    optimizer_moments: int
    master_weights: int
    temporaries: int

    @property
    def parts(self) -> dict[str, int]:
        """The parts that stay, by name."""
        parts = self._asdict()
        del parts["temporaries"]
        return parts

    @property
    def bytes(self) -> int:
        """All that stays, gradients included."""
        return sum(self.parts.values())

    @property
    def without_gradients(self) -> int:
        """What is there when a step begins, gradients having been set to ``None``."""
        return self.bytes - self.gradients


def training_state(model: Blueprint, workload: Workload) -> State:
    """The state in which *workload* trains *model*.

    The optimizer goes from one parameter to the next (``foreach=False``), so that its
    temporaries are those of the largest one.
    """
    dtype, trained = workload.training_dtype or "", workload.trained
    own_dtype = "float32" if trained.lora_rank else dtype
    update_dtype = "float32" if workload.master_weights else own_dtype
    tensors = tuple(trained_tensors(model, trained))
    trainable = sum(size * copies for size, copies in tensors)
    adapters = trainable if trained.lora_rank else 0
    largest = max((size for size, copies in tensors if copies), default=0)
    optimizer = OPTIMIZERS[workload.optimizer]
    return State(
        weights=weights_bytes(count(model).total, dtype) + weights_bytes(adapters, own_dtype),
        gradients=weights_bytes(trainable, own_dtype),
        optimizer_moments=moments_bytes(tensors, workload.optimizer, update_dtype),
        master_weights=WIDTHS["float32"] * trainable * workload.master_weights,
        temporaries=optimizer.temporaries * largest * WIDTHS[update_dtype],
    )
