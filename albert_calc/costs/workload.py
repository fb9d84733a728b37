"""What a model is used for: a batch, and how it is trained on it."""

from collections.abc import Iterator, Mapping

from albert_calc.costs.memory import BITS, HALVES, OPTIMIZERS, TRAINABLE
from albert_calc.costs.trained import EVERYTHING, Trained
from albert_calc.families.sizes import Size, size_problems
from albert_calc.named_tuple import NamedTuple
from albert_calc.passes.conditions import ATTENTIONS, SDPA
from albert_calc.writing.harmless import shown

BATCH: tuple[Size, ...] = (
    Size("B", "batch_size", "sequences in a batch"),
    Size("S", "sequence_length", "tokens in a sequence"),
)
"""The sizes of a batch."""

BATCH_KEYS: tuple[str, ...] = tuple(size.key for size in BATCH)


class Workload(NamedTuple):
    """B sequences of S tokens, in each of ``dtypes``; trained in the first that can be.

    ``dtypes`` are those of ``model.to(dtype)``: weights, gradients, activations and moments.
    With ``master_weights`` the weights and the moments of the update are float32 beside
    them; with ``autocast``, a 16-bit dtype, all of these are float32 and only what autocast
    casts is not. ``attention`` is ``eager`` or ``sdpa``. Without ``labels`` the loss is the
    sum of what the model puts out. With ``accumulate`` gradients of earlier batches are there
    when a step begins; with ``checkpointing`` a layer keeps only its input. ``trained`` says
    what has gradients. Sequences of multiple choice come ``choices`` to an example. ``masked``
    is the fraction of tokens, as numerator and denominator, that a head which predicts tokens
    does so for; it changes FLOPs alone.
    """

    batch_size: int = 1
    sequence_length: int = 512
    dtypes: tuple[str, ...] = ("float32",)
    optimizer: str = "adamw"
    attention: str = SDPA
    labels: bool = True
    accumulate: bool = False
    checkpointing: bool = False
    autocast: str | None = None
    master_weights: bool = False
    trained: Trained = EVERYTHING
    choices: int = 2
    masked: tuple[int, int] | None = None

    @property
    def predicted(self) -> int | None:
        """How many tokens a head predicts; ``None`` for all."""
        if self.masked is None:
            return None
        numerator, denominator = self.masked
        return -(-self.batch_size * self.sequence_length * numerator // denominator)

    @property
    def training_dtype(self) -> str | None:
        """The dtype of the weights in training; ``None`` if only integers are asked for."""
        return next((d for d in self.dtypes if d in TRAINABLE), None)

    def problems(self) -> Iterator[str]:
        """Every rule that this workload breaks, one line each."""
        for size in BATCH:
            yield from size_problems(size, getattr(self, size.key))
        for dtype in self.dtypes:
            yield from _problem("dtype", dtype, BITS)
        yield from _problem("optimizer", self.optimizer, OPTIMIZERS)
        yield from _problem("attention", self.attention, ATTENTIONS)
        if self.autocast is not None:
            yield from _problem("autocast", self.autocast, HALVES)
            if self.training_dtype not in (None, "float32"):
                yield (
                    "autocast: must go with float32 weights (dtype float32), got"
                    f" {self.training_dtype}"
                )
        if self.master_weights and self.training_dtype == "float32":
            yield "master_weights: must go with a 16-bit dtype, got float32"


def _problem(name: str, value: object, known: Mapping[str, object] | tuple[str, ...]) -> list[str]:
    if isinstance(value, str) and value in known:
        return []
    return [f"{name}: must be one of {', '.join(known)}, got {shown(value)}"]


USUAL = Workload()
"""One sequence of 512 tokens in float32, trained whole with AdamW."""
