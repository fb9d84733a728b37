"""The vocabulary in which a family of models is described: sizes, features, tensors, heads."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal

from albert_calc.algebra import Dim, Dims, Polynomial
from albert_calc.families.sizes import Size
from albert_calc.named_tuple import NamedTuple

Part = Literal["embeddings", "layers", "encoder", "pooler", "head"]
TensorKind = Literal["table", "matrix", "vector"]
Layout = Literal["transformers", "handbook", "paper"]

LAYOUTS: tuple[Layout, ...] = ("transformers", "handbook", "paper")
"""Which model a whole-model total describes: the published code, the chapter, the paper."""

TOKENS: Dims = ("B", "S")
SEQUENCES: Dims = ("B",)
"""The rows of a batch in a forward pass: one for every token, or one for every sequence."""


class Component(NamedTuple):
    """A row of the breakdown: tensors that are counted and shown together.

    ``flops`` names the term of the FLOPs that its matrices belong to; empty, its own name.
    """

    name: str
    part: Part
    flops: str = ""


TOKEN_EMBEDDING = Component("token_embedding", "embeddings")
EMBEDDING_PROJECTION = Component("embedding_projection", "embeddings")
EMBEDDING_PROJECTION_BIAS = Component("embedding_projection_bias", "embeddings")
POSITION_EMBEDDING = Component("position_embedding", "embeddings")
TOKEN_TYPE_EMBEDDING = Component("token_type_embedding", "embeddings")
TASK_TYPE_EMBEDDING = Component("task_type_embedding", "embeddings")
EMBEDDING_LAYER_NORM = Component("embedding_layer_norm", "embeddings")
ATTENTION = Component("attention", "layers", "projections")
FEED_FORWARD = Component("feed_forward", "layers")
BOTTLENECK = Component("bottleneck", "layers")
RELATIVE_POSITIONS = Component("relative_positions", "encoder")
CONVOLUTION = Component("convolution", "encoder")
ENCODER_LAYER_NORM = Component("encoder_layer_norm", "encoder")
POOLER = Component("pooler", "pooler")
PREDICTION_HEAD = Component("prediction_head", "head", "head")
OUTPUT_EMBEDDING = Component("output_embedding", "head", "head")
TOKEN_CLASSIFIER = Component("token_classifier", "head", "head")
SEQUENCE_CLASSIFIER = Component("sequence_classifier", "head", "head")

PROJECTIONS = (EMBEDDING_PROJECTION, EMBEDDING_PROJECTION_BIAS)
"""What takes a token embedding of width E to H."""

SHARED_BLOCKS: Mapping[str, tuple[Component, ...]] = {
    "all": (ATTENTION, FEED_FORWARD, BOTTLENECK),
    "attention": (ATTENTION,),
    "ffn": (FEED_FORWARD,),
    "none": (),
}
"""Which blocks of a layer each value of ``share`` shares across the layers."""

SHARES: tuple[str, ...] = tuple(SHARED_BLOCKS)


class Tensor(NamedTuple):
    """One parameter tensor, declared once; counts, formulas and checks all read it.

    ``name`` has one ``{}`` for each entry of ``repeat``; ``shape`` is in the order in which
    PyTorch stores it, and E in it is the width of the token embedding also where the family
    has no E of its own. A ``table`` is looked up, a ``matrix`` multiplied, a ``vector`` added
    or scaled by. The tensor exists only where the config has every feature of ``when`` and
    none of ``unless``. One that is ``tied_to`` another is the same parameter unless
    ``tie_word_embeddings`` is false. ``applied`` says to how many rows a forward pass applies
    a matrix each time its layer runs. ``repeat`` says how many copies are stored, of which
    the first ``skip`` layers have none, and ``runs`` how often a forward pass applies a copy,
    over all copies; for the tensors of a layer they are completed when a model is put
    together.
    """

    name: str
    shape: Dims
    component: Component
    kind: TensorKind
    when: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()
    tied_to: str = ""
    applied: Dims = TOKENS
    repeat: Dims = ()
    skip: int = 0
    runs: Dims = ()

    def exists(self, features: frozenset[str]) -> bool:
        """Whether a model with *features* has this tensor."""
        return features.issuperset(self.when) and features.isdisjoint(self.unless)

    @property
    def elements(self) -> Polynomial:
        """The parameters of one copy."""
        return Polynomial.product(*self.shape)


class Product(NamedTuple):
    """Multiplications of a forward pass that have no parameters of their own.

    ``flops`` names the term that they belong to, ``multiply_adds`` says how many there are:
    in each layer that runs, or once if not ``layered``. ``when`` and ``unless`` are those of
    a tensor.
    """

    flops: str
    multiply_adds: Dims
    layered: bool = True
    when: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()

    def exists(self, features: frozenset[str]) -> bool:
        """Whether a model with *features* has this product."""
        return features.issuperset(self.when) and features.isdisjoint(self.unless)


def attention_products(width: Dim = "H") -> tuple[Product, ...]:
    """Scores of every token with every other, and the weighted sum of the values."""
    return (Product("attention_scores", (2, "B", "S", "S", width)),)


class Rule(NamedTuple):
    """What sizes must keep among each other.

    ``keys`` begin with the one at fault; ``must`` may name the others in braces. A model
    that breaks a rule that is not ``fatal`` can be built but not run. ``share`` may stand
    among the keys.
    """

    must: str
    keys: tuple[str, ...]
    holds: Callable[..., bool]
    fatal: bool = True


HEADS_DIVIDE_WIDTH = Rule(
    "must divide {hidden_size}",
    ("num_attention_heads", "hidden_size"),
    lambda heads, width: width % heads == 0,
)


class Head(NamedTuple):
    """What stands on the encoder: its tensors, and whether it needs the pooler.

    ``classes`` are the names that ``architectures`` of a ``config.json`` may give, and
    ``rules`` what this head demands beside the rules of the family.
    """

    classes: tuple[str, ...]
    pooler: bool
    tensors: tuple[Tensor, ...] = ()
    products: tuple[Product, ...] = ()
    rules: tuple[Rule, ...] = ()


class Same(NamedTuple):
    """A default that is whatever another key is."""

    key: str


class Computed(NamedTuple):
    """A default that follows from other keys; there is none where one of them is unknown."""

    keys: tuple[str, ...]
    value: Callable[..., object]


class Switch(NamedTuple):
    """A key that is no size but changes which tensors there are.

    ``read`` gives the value that features see, and raises ``ValueError`` for one that breaks
    ``rule``. A config that is worked out from tensors has true, false, the default, or one of
    the ``likely`` values, which are tried before the default.
    """

    key: str
    rule: str
    read: Callable[[object], object]
    likely: tuple[object, ...] = ()


class Feature(NamedTuple):
    """Something that a config has or has not: a predicate over the values of its keys."""

    keys: tuple[str, ...]
    holds: Callable[..., bool]


FACTORIZED: Feature = Feature(("embedding_size", "hidden_size"), lambda e, h: bool(e != h))
"""E differs from H."""


class Derived(NamedTuple):
    """A symbol whose value follows from keys and from symbols before it.

    It has no value where one of *keys* has none. ``shown_by`` is the key that says it, for
    configs that are worked out from tensors.
    """

    symbol: str
    meaning: str
    keys: tuple[str, ...]
    value: Callable[..., int]
    shown_by: str = ""


class Family(NamedTuple):
    """A family of models as tables.

    ``defaults`` are the keys that its config class reads and what they are by default, a
    ``Same`` or ``Computed`` where that follows from other keys. ``names`` are its own names of
    sizes, by the usual key, and ``aliases`` other spellings that are read, each with the usual
    key; ``alias_notes`` say of some what a reader should know. ``sizes`` are sizes that only this
    family has. ``marks`` are keys by which a config without a ``model_type``
    is known; with ``embedding_size_alone`` an E and nothing else fits this family too. With
    ``assumes_heads`` an A that is missing is the default whatever that breaks, since the class
    then builds other tensors; elsewhere A is left unknown where its default breaks a rule, or
    where there is no ``model_type``. With ``uneven_heads`` the class takes an A that does not
    divide H, and builds attention of another width, which no table describes.
    ``reserved_positions`` are rows of the position table that no token of a sequence takes.
    ``refused`` are keys that the class reads in a way that no table describes,
    each with the values that are harmless and the reason; ``harmless`` are keys of public
    configs that the class does not read, and that say nothing of its tensors. ``stated`` are
    rules of keys on which no tensor depends, for the class refuses a file that breaks them;
    they say nothing of sizes that are put over those of the file.

    ``embeddings`` has one table a layout; ``layer`` has the tensors of one layer, named
    within it, ``layer_name`` one ``{}`` an index, and ``outside`` the tensors of the encoder
    that belong to no layer. ``shared`` and ``unshared`` say how many copies of a block are
    stored, ``runs`` how many layers are executed. ``prefix`` stands before the encoder's
    tensor names where a head is on top. ``buffers`` may be stored in a checkpoint but are no
    parameters. ``stored`` are names that checkpoints have instead of those of the tables, each
    with the tensors that lie in it, one below the other. ``checkpointing`` and ``sdpa`` say
    whether the classes of transformers 5.24 take gradient checkpointing and a fused attention
    (``supports_gradient_checkpointing``, ``_supports_sdpa``).
    """

    model_type: str
    config_class: str
    prefix: str
    defaults: Mapping[str, Any]
    embeddings: Mapping[str, tuple[Tensor, ...]]
    layer_name: str
    layer: tuple[Tensor, ...]
    heads: Mapping[str, Head]
    pooler: tuple[Tensor, ...] = ()
    outside: tuple[Tensor, ...] = ()
    products: tuple[Product, ...] = attention_products()
    shared: Dims = (1,)
    unshared: Dims = ("L",)
    runs: Dims = ("L",)
    default_share: str = "none"
    names: Mapping[str, str] = {}
    aliases: Mapping[str, str] = {}
    alias_notes: Mapping[str, str] = {}
    sizes: tuple[Size, ...] = ()
    derived: tuple[Derived, ...] = ()
    switches: tuple[Switch, ...] = ()
    features: Mapping[str, Feature] = {}
    rules: tuple[Rule, ...] = (HEADS_DIVIDE_WIDTH,)
    marks: tuple[str, ...] = ()
    embedding_size_alone: bool = False
    reserved_positions: int = 0
    assumes_heads: bool = False
    uneven_heads: bool = False
    refused: Mapping[str, tuple[tuple[object, ...], str]] = {}
    harmless: tuple[str, ...] = ()
    stated: tuple[Rule, ...] = ()
    buffers: tuple[str, ...] = ("embeddings.position_ids", "embeddings.token_type_ids")
    stored: Mapping[str, tuple[str, ...]] = {}
    checkpointing: bool = True
    sdpa: bool = True

    def name_of(self, key: str) -> str:
        """How this family's configs spell the size *key*."""
        return self.names.get(key, key)

    def has(self, key: str) -> bool:
        """Whether the size *key* means anything here."""
        return self.name_of(key) in self.defaults or key == "num_labels"


def all_tensors(family: Family) -> Iterable[Tensor]:
    """Every tensor that a model of *family* can have, as its tables declare it."""
    for table in family.embeddings.values():
        yield from table
    yield from (*family.layer, *family.outside, *family.pooler)
    for head in family.heads.values():
        yield from head.tensors
