"""What sharing does not save: the memory and the work of a model at a batch.

May import ``albert_calc.algebra``, ``albert_calc.config``, ``albert_calc.costs.flops``,
``albert_calc.costs.memory``, ``albert_calc.counts``, ``albert_calc.errors``,
``albert_calc.sizes``, ``albert_calc.tensors`` and ``albert_calc.text``.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from albert_calc.algebra import Polynomial
from albert_calc.config import ModelConfig
from albert_calc.costs.flops import TRAINING_PASSES, Flops, count_flops, executed_layers
from albert_calc.costs.memory import (
    BITS,
    OPTIMIZERS,
    TRAINABLE,
    activation_formula,
    is_mixed,
    training_bytes,
    weights_bytes,
)
from albert_calc.counts import count_parameters
from albert_calc.errors import ConfigError
from albert_calc.sizes import Size, size_problems
from albert_calc.tensors import Variant, is_counted, tensor_table, variant_of
from albert_calc.text import shown

BATCH: tuple[Size, ...] = (
    Size("B", "batch_size", "sequences in a batch", required=True),
    Size("S", "sequence_length", "tokens in a sequence", required=True),
)


class Workload(NamedTuple):
    """What a model is used for: B sequences of S tokens, in each of ``dtypes``.

    The model is trained in the first of ``dtypes`` that can be trained, with
    ``optimizer``: ``adamw``, ``sgd`` (with momentum) or ``none`` (no state).
    """

    batch_size: int = 1
    sequence_length: int = 512
    dtypes: tuple[str, ...] = ("float32",)
    optimizer: str = "adamw"

    @property
    def training_dtype(self) -> str | None:
        """The dtype trained in; ``None`` if only integers are asked for."""
        return next((d for d in self.dtypes if d in TRAINABLE), None)

    def problems(self) -> Iterator[str]:
        """Every rule that this workload breaks, one line each."""
        for size in BATCH:
            yield from size_problems(size, self._asdict(), size.required)
        for dtype in self.dtypes:
            if dtype not in BITS:
                yield f"dtype: must be one of {', '.join(BITS)}, got {shown(dtype)}"
        if self.optimizer not in OPTIMIZERS:
            known = ", ".join(OPTIMIZERS)
            yield f"optimizer: must be one of {known}, got {shown(self.optimizer)}"


USUAL = Workload()
"""One sequence of 512 tokens in float32, trained with AdamW."""


class Cost(NamedTuple):
    """What one model costs; numbers are exact but for the activations, an estimate.

    ``weights_bytes`` has a number a dtype, ``training_bytes`` one a part of the training
    state, or is ``None`` without a dtype that can be trained. The activations are in bytes
    and ``None`` also where A is unknown.
    """

    parameters: int
    executed_parameters: int
    executed_layers: int
    weights_bytes: Mapping[str, int]
    training_bytes: Mapping[str, int] | None
    activation_bytes_per_layer: int | None
    flops: Flops

    @property
    def executed_ratio(self) -> float:
        """How many times the stored parameters the executed ones are."""
        return self.executed_parameters / self.parameters

    @property
    def activation_bytes(self) -> int | None:
        """The activations of all executed layers: sharing does not shrink them."""
        each = self.activation_bytes_per_layer
        return None if each is None else each * self.executed_layers

    @property
    def training_state_bytes(self) -> int | None:
        """All parts of the training state."""
        return None if self.training_bytes is None else sum(self.training_bytes.values())

    @property
    def training_memory_bytes(self) -> int | None:
        """The training state and the activations."""
        state, activations = self.training_state_bytes, self.activation_bytes
        return None if state is None or activations is None else state + activations


def cost_of(
    config: ModelConfig,
    head: str = "model",
    layout: str = "transformers",
    workload: Workload = USUAL,
) -> Cost:
    """What the model that *config* describes costs under *workload*.

    Raises ``ConfigError`` for a head or layout that the model type does not have and for a
    workload that is none.
    """
    problems = list(workload.problems())
    if problems:
        raise ConfigError(problems)
    variant = variant_of(config, head, layout)
    parameters = count_parameters(config, head, layout).total
    batch, length = workload.batch_size, workload.sequence_length
    dtype, heads = workload.training_dtype, config.num_attention_heads
    state = per_layer = None
    if dtype is not None:
        state = training_bytes(parameters, dtype, workload.optimizer)
        if heads is not None:
            sizes = {**config.symbols, "B": batch, "S": length}
            per_layer = activation_formula(dtype).evaluate(sizes)
    return Cost(
        parameters=parameters,
        executed_parameters=_executed_parameters(variant).evaluate(config.symbols),
        executed_layers=Polynomial.product(*executed_layers(variant)).evaluate(config.symbols),
        weights_bytes={d: weights_bytes(parameters, d) for d in workload.dtypes},
        training_bytes=state,
        activation_bytes_per_layer=per_layer,
        flops=count_flops(config, head, layout, batch, length),
    )


def _executed_parameters(variant: Variant) -> Polynomial:
    return Polynomial.sum(
        Polynomial.product(*tensor.shape, *tensor.runs)
        for tensor in tensor_table(variant)
        if is_counted(tensor, variant.traits.tied)
    )


def assumptions(workload: Workload) -> list[str]:
    """What the numbers of ``cost_of`` under *workload* mean, in sentences."""
    sentences = [
        "Executed parameters: each layer counted as often as it runs, everything else once;"
        " a tied output matrix is one with the token table.",
        "Weights: parameters × width; int4 two in a byte, rounded up, without scales.",
        "FLOPs: 2 a multiply-add, matrix products only. A matrix m × n takes 2 × m × n for"
        " every token (pooler, sequence classifier: every sequence) each time its layer runs;"
        " attention scores take 4 × B × S² × H in every layer run. B sequences go through the"
        " encoder (multiple-choice: examples × choices); an output over V is computed at"
        " every token.",
        f"Training FLOPs: {TRAINING_PASSES} × forward.",
    ]
    dtype = workload.training_dtype
    if dtype is None:
        return [*sentences, f"Training: none, {' and '.join(workload.dtypes)} cannot be trained."]
    update = OPTIMIZERS[workload.optimizer].words
    copy = "a float32 master copy of the weights" if is_mixed(dtype) else "no master copy"
    return [
        *sentences,
        f"Training state in {dtype}: gradients as wide as the weights;"
        f" {update}; {copy} (Rajbhandari et al., ZeRO, arXiv 1910.02054).",
        f"Activations are an estimate, in bytes a layer: {activation_formula(dtype).formula()},"
        f" in {dtype}, after B × S × H × (34 + 5 × A × S / H) in 16-bit with I = 4 × H"
        " (Korthikanti et al., Reducing Activation Recomputation in Large Transformer"
        " Models, arXiv 2205.05198). They are kept for every layer run, shared or not;"
        " assumed are dropout masks of a byte an element, stored attention scores, no"
        " recomputation, one device; embeddings, pooler and head are left out.",
    ]
