"""The vocabulary in which a family describes its forward pass, and what autograd keeps of it.

A forward pass is a sequence of steps. Each step names the tensors that it reads and the one
that it makes, and has one entry for each tensor that is kept for its backward pass. What an
operation keeps is what PyTorch's ``tools/autograd/derivatives.yaml`` saves for it; the tables
were checked against torch 2.13 and transformers 5.24 with ``saved_tensors_hooks``.
"""

from collections.abc import Mapping
from typing import Literal

from albert_calc.algebra import Dim, Dims
from albert_calc.families.base import SEQUENCES, TOKENS
from albert_calc.named_tuple import NamedTuple
from albert_calc.passes.conditions import EAGER, LABELS, SDPA

Kind = Literal[
    "embedding",
    "linear",
    "norm",
    "dropout",
    "function",
    "add",
    "scores",
    "scale",
    "softmax",
    "mix",
    "merge",
    "fused attention",
    "view",
    "mean",
    "index",
    "cast",
    "cross entropy",
    "mean squared error",
    "binary cross entropy",
]

LOSSES: tuple[Kind, ...] = ("cross entropy", "mean squared error", "binary cross entropy")

WEIGHT = "weight"
"""A tensor is kept for the gradient of the step's own weights, and only for it."""


class Kept(NamedTuple):
    """A tensor that autograd keeps for the backward pass of a step.

    ``tensor`` is the name of one that the step reads or makes, or, if it has a ``shape``, of
    one that is there for this alone; its ``dtype`` is that of the step's output if empty.
    ``wanted`` is the input for whose gradient it is kept, or ``WEIGHT``; empty, it is kept
    whenever a gradient goes through the step.
    """

    tensor: str
    wanted: str = ""
    shape: Dims | None = None
    dtype: str = ""


class Step(NamedTuple):
    """One operation of a forward pass.

    ``output`` names the tensor of ``shape`` that it makes of ``inputs``, and ``keeps`` what
    autograd keeps of it. ``module`` names the module whose weights it applies; without such
    a module in the model there is no such step. Nor is there unless all of ``when`` hold and
    none of ``unless``: features of the config, dropout keys (which hold above 0), one of
    ``ATTENTIONS``, ``LABELS``, one of ``PROBLEMS``. A missing step passes its first input on.
    ``function`` is the activation function, or the key that names it. ``dtype`` is that of the
    output, if not that of what is read.
    """

    kind: Kind
    output: str
    inputs: tuple[str, ...]
    shape: Dims
    keeps: tuple[Kept, ...] = ()
    module: str = ""
    when: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()
    function: str = ""
    dtype: str = ""

    def holds(self, conditions: frozenset[str]) -> bool:
        """Whether there is such a step under *conditions*."""
        return conditions.issuperset(self.when) and conditions.isdisjoint(self.unless)


class Forward(NamedTuple):
    """The forward pass of a family, from ``input_ids`` to the loss of each head.

    ``embeddings`` make ``hidden``, each run of ``layer`` makes ``hidden`` of ``hidden``, and
    ``pooler`` makes ``pooled`` of it. Where something stands between the last layer and these,
    ``outside`` makes ``hidden`` of ``encoded``. A head's steps read these. ``dropouts`` are
    keys that, not given, are what another key is.
    """

    embeddings: tuple[Step, ...]
    layer: tuple[Step, ...]
    heads: Mapping[str, tuple[Step, ...]]
    pooler: tuple[Step, ...] = ()
    outside: tuple[Step, ...] = ()
    dropouts: Mapping[str, str] = {}


class Function(NamedTuple):
    """What an activation function keeps: its input, its output, and further tensors.

    ``others`` are as large as its input. ``forward`` and ``backward`` are how many tensors of
    that size a pass without gradients, and a backward pass, make at once: all that there are
    beside the input, and beside what is kept and the gradient that comes in. ``masks`` of a
    byte an element are there beside them in a backward pass.
    """

    input: bool
    output: bool = False
    others: int = 0
    forward: int = 1
    backward: int = 1
    masks: int = 0


FUNCTIONS: Mapping[str, Function] = {
    "gelu": Function(input=True),
    "gelu_10": Function(input=True, others=1, forward=2, masks=2),
    "gelu_accurate": Function(input=True, others=3, forward=3, backward=2),
    "gelu_fast": Function(input=True, others=6, forward=4, backward=2),
    "gelu_new": Function(input=True, others=3, forward=3, backward=2),
    "gelu_python": Function(input=False, others=3, forward=3, backward=4),
    "gelu_python_tanh": Function(input=True, others=3, forward=3, backward=2),
    "gelu_pytorch_tanh": Function(input=True),
    "hardswish": Function(input=True),
    "laplace": Function(input=False, others=1, forward=3, backward=5),
    "leaky_relu": Function(input=True),
    "mish": Function(input=True),
    "quick_gelu": Function(input=True, others=1, forward=2, backward=2),
    "relu": Function(input=False, output=True),
    "relu2": Function(input=False, others=1, forward=2, backward=3),
    "relu6": Function(input=True),
    "sigmoid": Function(input=False, output=True),
    "silu": Function(input=True),
    "sqrtsoftplus": Function(input=True, output=True, forward=2, backward=2),
    "swish": Function(input=True),
    "tanh": Function(input=False, output=True),
}
"""What each function of transformers' ``ACT2FN`` keeps, as measured on each of them.

``linear`` is no step at all; ``prelu`` and ``xielu`` have parameters and are not described.
"""


def embedded(
    module: str, ids: str, output: str, width: Dim, ids_shape: Dims | None = TOKENS
) -> Step:
    """Rows looked up in a table; *ids* are kept, unless they are a buffer of the model."""
    kept = (Kept(ids, WEIGHT, ids_shape, "int64"),) if ids_shape is not None else ()
    return Step("embedding", output, (), (*TOKENS, width), kept, module)


def projected(module: str, source: str, output: str, width: Dim, rows: Dims = TOKENS) -> Step:
    """A dense layer: its input is kept for the gradient of its matrix."""
    return Step("linear", output, (source,), (*rows, width), (Kept(source, WEIGHT),), module)


def normalized(module: str, source: str, output: str, width: Dim) -> Step:
    """A LayerNorm: its input, and the mean and the deviation of each row."""
    kept = (Kept(source), Kept("mean", "", TOKENS), Kept("reciprocal deviation", "", TOKENS))
    return Step("norm", output, (source,), (*TOKENS, width), kept, module)


def dropped(key: str, source: str, output: str, width: Dim, rows: Dims = TOKENS) -> Step:
    """Dropout with the probability *key*: a mask of one byte an element."""
    shape = (*rows, width)
    mask = Kept("dropout mask", "", shape, "bool")
    return Step("dropout", output, (source,), shape, (mask,), when=(key,))


def activated(function: str, source: str, output: str, width: Dim, rows: Dims = TOKENS) -> Step:
    """An activation function; what it keeps stands in ``FUNCTIONS``."""
    return Step("function", output, (source,), (*rows, width), function=function)


def summed(first: str, second: str, output: str, width: Dim) -> Step:
    """Two tensors added, of which nothing is kept."""
    return Step("add", output, (first, second), (*TOKENS, width))


def first_token(source: str, output: str) -> Step:
    """The first token of each sequence: a view, which keeps the whole of *source*."""
    return Step("view", output, (source,), (*SEQUENCES, "H"))


def attended(key: str) -> tuple[Step, ...]:
    """``query``, ``key`` and ``value`` to ``context``, with the dropout *key* of the scores.

    In one kernel, query, key, value, the output and the logarithm of the sum of exponentials
    of each row are kept; with dropout also the seed and the offset of its random numbers.
    That is what ``aten::_scaled_dot_product_flash_attention`` declares to save, since the
    CPU has no fused kernel with dropout.
    """
    whole, scores = (*TOKENS, "H"), ("B", "A", "S", "S")
    probabilities, mask = "dropped probabilities", Kept("dropout mask", "", scores, "bool")
    eager = (
        Step(
            "scores", "scores", ("query", "key"), scores,
            (Kept("query", "key"), Kept("key", "query")),
        ),
        Step("scale", "scaled scores", ("scores",), scores),
        Step(
            "softmax", "probabilities", ("scaled scores",), scores, (Kept("probabilities"),)
        ),
        Step("dropout", probabilities, ("probabilities",), scores, (mask,), when=(key,)),
        Step(
            "mix", "mixed", (probabilities, "value"), whole,
            (Kept(probabilities, "value"), Kept("value", probabilities)),
        ),
        Step("merge", "context", ("mixed",), whole),
    )  # fmt: skip
    inputs = ("query", "key", "value")
    kept = (
        *map(Kept, (*inputs, "context")),
        Kept("logarithm of the sum", "", ("B", "A", "S"), "float32"),
    )
    seeds = (Kept("seed", "", (), "int64"), Kept("offset", "", (), "int64"))
    return (
        Step("fused attention", "context", inputs, whole, kept, when=(SDPA,), unless=(key,)),
        Step("fused attention", "context", inputs, whole, kept + seeds, when=(SDPA, key)),
        *(step._replace(when=(EAGER, *step.when)) for step in eager),
    )


def cross_entropy(
    logits: str,
    rows: Dims,
    classes: Dim,
    labels: str = "labels",
    *,
    upcast: bool = False,
    when: tuple[str, ...] = (),
) -> tuple[Step, ...]:
    """A cross entropy: log-probabilities, labels, and the weight of all labels.

    With *upcast* the logits are taken to float32 first.
    """
    shape, conditions = (*rows, classes), (LABELS, *when)
    kept = (
        Kept("log-probabilities", "", shape),
        Kept(labels, "", rows, "int64"),
        Kept("total weight", "", ()),
    )
    loss = Step("cross entropy", f"loss of {labels}", (logits,), (), kept, when=conditions)
    if not upcast:
        return (loss,)
    exact = f"float32 {logits}"
    return (
        Step("cast", exact, (logits,), shape, when=conditions, dtype="float32"),
        loss._replace(inputs=(exact,)),
    )


def squared_error(logits: str, shape: Dims, when: tuple[str, ...] = ()) -> Step:
    """The mean squared error of a regression: the outputs and what they should be."""
    kept = (Kept(logits), Kept("labels", "", shape, "float32"))
    return Step("mean squared error", "loss", (logits,), (), kept, when=(LABELS, *when))


def binary_cross_entropy(logits: str, shape: Dims, when: tuple[str, ...] = ()) -> Step:
    """A binary cross entropy of every output: the outputs and the labels as fractions."""
    kept = (Kept(logits), Kept("labels", "", shape, "float32"))
    return Step("binary cross entropy", "loss", (logits,), (), kept, when=(LABELS, *when))
