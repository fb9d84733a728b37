"""The vocabulary in which an architecture is described: tensors, heads, and their groups.

May import ``albert_calc.algebra``.
"""

from collections.abc import Mapping
from typing import Literal, NamedTuple

from albert_calc.algebra import Dim, Dims

Part = Literal["embeddings", "layers", "pooler", "head"]
TensorKind = Literal["table", "matrix", "vector"]


class Component(NamedTuple):
    """A row of the breakdown: tensors that are counted and shown together.

    ``per`` says what a matrix of this component is applied to once in a forward
    pass: every token, or every sequence.
    """

    name: str
    part: Part
    per: Literal["token", "sequence"] = "token"


TOKEN_EMBEDDING = Component("token_embedding", "embeddings")
EMBEDDING_PROJECTION = Component("embedding_projection", "embeddings")
EMBEDDING_PROJECTION_BIAS = Component("embedding_projection_bias", "embeddings")
POSITION_EMBEDDING = Component("position_embedding", "embeddings")
TOKEN_TYPE_EMBEDDING = Component("token_type_embedding", "embeddings")
EMBEDDING_LAYER_NORM = Component("embedding_layer_norm", "embeddings")
ATTENTION = Component("attention", "layers")
FEED_FORWARD = Component("feed_forward", "layers")
POOLER = Component("pooler", "pooler", per="sequence")
PREDICTION_HEAD = Component("prediction_head", "head")
OUTPUT_EMBEDDING = Component("output_embedding", "head")
TOKEN_CLASSIFIER = Component("token_classifier", "head")
SEQUENCE_CLASSIFIER = Component("sequence_classifier", "head", per="sequence")

SHARED_BLOCKS: Mapping[str, tuple[Component, ...]] = {
    "all": (ATTENTION, FEED_FORWARD),
    "attention": (ATTENTION,),
    "ffn": (FEED_FORWARD,),
    "none": (),
}
"""Which blocks of a layer each value of ``share`` shares across the layers."""


class Tensor(NamedTuple):
    """One parameter tensor, declared once; counts, formulas and checks all read it.

    ``name`` has one ``{}`` for each entry of ``repeat``, ``shape`` holds symbols and
    whole numbers in the order in which PyTorch stores them. A ``table`` is looked up,
    a ``matrix`` multiplied, a ``vector`` added or scaled by. A tensor that is
    ``tied_to`` another is the same parameter unless ``tie_word_embeddings`` is false.
    One that is ``factorized_only`` does not exist where E = H.
    ``repeat`` says how many copies are stored and ``runs`` how many times a forward
    pass applies one of them; both are filled in when a model is put together.
    """

    name: str
    shape: Dims
    component: Component
    kind: TensorKind
    tied_to: str = ""
    factorized_only: bool = False
    repeat: Dims = ()
    runs: Dims = ()


class Head(NamedTuple):
    """What stands on the encoder: its tensors, and whether it needs the pooler.

    ``classes`` are the names that ``architectures`` of a ``config.json`` may give.
    """

    classes: tuple[str, ...]
    pooler: bool
    tensors: tuple[Tensor, ...] = ()


class Architecture(NamedTuple):
    """A model family as tables of tensors.

    ``prefix`` stands before the encoder's tensor names where a head is on top.
    ``defaults`` are the sizes that transformers' config class assumes.
    ``embeddings`` has one table a layout; ``poolerless`` names the layouts without
    a pooler. ``layer_name`` has one ``{}`` an index; ``shared`` and ``unshared`` say
    how many copies of a block are stored, ``runs`` how many layers are executed.
    ``layer`` has the tensors of one layer, named within it. ``fixed`` are keys of a
    config that would change the count, with the values that do not.
    ``buffers`` may be stored in a checkpoint but are no parameters.
    """

    model_type: str
    config_class: str
    prefix: str
    defaults: Mapping[str, int]
    default_share: str
    embeddings: Mapping[str, tuple[Tensor, ...]]
    layer_name: str
    shared: Dims
    unshared: Dims
    runs: Dims
    layer: tuple[Tensor, ...]
    pooler: tuple[Tensor, ...]
    heads: Mapping[str, Head]
    fixed: Mapping[str, tuple[object, ...]] = {}
    poolerless: tuple[str, ...] = ()
    buffers: tuple[str, ...] = ()

    def has(self, key: str) -> bool:
        """Whether the size *key* means anything here: only some are not every model's."""
        return key in self.defaults or key not in PARTICULAR


PARTICULAR: tuple[str, ...] = (
    "embedding_size",
    "type_vocab_size",
    "num_hidden_groups",
    "inner_group_num",
)
"""The sizes that a model type has only if its defaults name them."""


def table(name: str, rows: Dim, width: Dim, component: Component) -> tuple[Tensor, ...]:
    """A lookup table of *rows* × *width*."""
    return (Tensor(f"{name}.weight", (rows, width), component, "table"),)


def linear(name: str, inputs: Dim, outputs: Dim, component: Component) -> tuple[Tensor, ...]:
    """A dense layer: a matrix stored as *outputs* × *inputs*, and a bias."""
    return (
        Tensor(f"{name}.weight", (outputs, inputs), component, "matrix"),
        Tensor(f"{name}.bias", (outputs,), component, "vector"),
    )


def norm(name: str, width: Dim, component: Component) -> tuple[Tensor, ...]:
    """A LayerNorm over *width*: a scale and a shift."""
    return (
        Tensor(f"{name}.weight", (width,), component, "vector"),
        Tensor(f"{name}.bias", (width,), component, "vector"),
    )


def dense_classifier(outputs: Dim) -> tuple[Tensor, ...]:
    """A classifier of two layers over the first token, as RoBERTa and ELECTRA have it."""
    return (
        *linear("classifier.dense", "H", "H", SEQUENCE_CLASSIFIER),
        *linear("classifier.out_proj", "H", outputs, SEQUENCE_CLASSIFIER),
    )


def task_heads(family: str) -> dict[str, Head]:
    """The heads for tasks that families have alike; *family* begins their classes' names."""
    return {
        "sequence-classification": Head(
            (f"{family}ForSequenceClassification",),
            pooler=True,
            tensors=linear("classifier", "H", "C", SEQUENCE_CLASSIFIER),
        ),
        "multiple-choice": Head(
            (f"{family}ForMultipleChoice",),
            pooler=True,
            tensors=linear("classifier", "H", 1, SEQUENCE_CLASSIFIER),
        ),
        "token-classification": Head(
            (f"{family}ForTokenClassification",),
            pooler=False,
            tensors=linear("classifier", "H", "C", TOKEN_CLASSIFIER),
        ),
        "question-answering": Head(
            (f"{family}ForQuestionAnswering",),
            pooler=False,
            tensors=linear("qa_outputs", "H", "C", TOKEN_CLASSIFIER),
        ),
    }


def output_embedding(bias: str, decoder: str, width: Dim, tied_to: str) -> tuple[Tensor, ...]:
    """The output over the vocabulary: a bias, and a decoder tied to the token table.

    Untied, transformers keeps the decoder's matrix and a second bias of its own.
    """
    return (
        Tensor(bias, ("V",), PREDICTION_HEAD, "vector"),
        Tensor(f"{decoder}.weight", ("V", width), OUTPUT_EMBEDDING, "matrix", tied_to),
        Tensor(f"{decoder}.bias", ("V",), OUTPUT_EMBEDDING, "vector", bias),
    )
