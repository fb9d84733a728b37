"""What autograd keeps for the backward pass of a training step, to the byte.

A tensor counts once, whatever keeps it; parameters and buffers do not count. Exact against
``torch.autograd.graph.saved_tensors_hooks`` on the classes of transformers 5.24, on a CPU:
dropout masks take a byte an element there as on a GPU, and in 16 bits LayerNorm's statistics
too have 16 bits, where a GPU keeps them in float32.
"""

from __future__ import annotations

from typing import NamedTuple

from albert_calc.algebra import Dim, Dims, Polynomial, times
from albert_calc.config.model_config import ModelConfig
from albert_calc.costs.circumstances import batch_values, circumstances, unknown
from albert_calc.costs.memory import WIDTHS
from albert_calc.costs.segments import held_by, segments
from albert_calc.costs.workload import Workload
from albert_calc.counting.tensors import Blueprint


class KeptTensor(NamedTuple):
    """Tensors that autograd keeps, one like the other.

    ``part`` is ``embeddings``, ``layers`` or ``top`` (the pooler and the head). ``times`` is
    how many there are, in symbols; ``copies`` in number, and ``bytes`` those of all of them.
    """

    part: str
    name: str
    shape: Dims
    dtype: str
    times: Polynomial
    copies: int
    bytes: int

    @property
    def formula(self) -> Polynomial:
        """The bytes of all of them in symbols."""
        return self.times.times(*self.shape, WIDTHS[self.dtype])


class Activations(NamedTuple):
    """What a training step keeps, tensor by tensor; ``reason`` says why it is unknown.

    With ``documented`` the fused kernel's tensors are those that its documentation names,
    since the CPU has no such kernel with dropout. What autocast keeps is an estimate.
    """

    tensors: tuple[KeptTensor, ...] = ()
    reason: str = ""
    documented: bool = False

    @property
    def bytes(self) -> int | None:
        """All of them; ``None`` if unknown."""
        return None if self.reason else sum(tensor.bytes for tensor in self.tensors)

    def formula(self, part: str) -> Polynomial:
        """The bytes of all tensors of *part* in symbols."""
        return Polynomial.sum(tensor.formula for tensor in self.tensors if tensor.part == part)


def kept_activations(config: ModelConfig, model: Blueprint, workload: Workload) -> Activations:
    """What training *model*, which *config* describes, keeps of one batch of *workload*."""
    reason = unknown(config, model, workload)
    if reason:
        return Activations(reason=reason)
    case = circumstances(config, model, workload)
    values = batch_values(model, workload)
    # Steps of all families are written with E, which not all have.
    own: dict[str, Dim] = {} if config.family.has("embedding_size") else {"E": "H"}
    tensors = []
    for segment in segments(case, values):
        for tensor in held_by(segment, workload):
            # Autocast casts shared weights once.
            often = times(segment.order.stored) if tensor.copy_of else segment.runs
            copies = often.evaluate(values)
            size = copies * tensor.elements.evaluate(values) * WIDTHS[tensor.dtype]
            shape = tuple(times(dim).substitute(own) for dim in tensor.shape)
            tensors.append(
                KeptTensor(segment.part, tensor.name, shape, tensor.dtype, often, copies, size)
            )
    return Activations(tuple(tensors), documented=case.documented)
