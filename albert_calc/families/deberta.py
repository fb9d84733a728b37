"""DeBERTa (He et al., ICLR 2021): attention to contents and relative positions apart.

Names and shapes are those of transformers' ``DebertaModel`` and its heads.
"""

from albert_calc.algebra import times
from albert_calc.families.base import (
    ATTENTION,
    EMBEDDING_LAYER_NORM,
    EMBEDDING_PROJECTION,
    FACTORIZED,
    FEED_FORWARD,
    HEADS_DIVIDE_WIDTH,
    POSITION_EMBEDDING,
    PREDICTION_HEAD,
    RELATIVE_POSITIONS,
    SEQUENCES,
    TOKEN_EMBEDDING,
    TOKEN_TYPE_EMBEDDING,
    Component,
    Derived,
    Family,
    Feature,
    Head,
    Product,
    Rule,
    Same,
    Switch,
    Tensor,
    attention_products,
)
from albert_calc.families.bert import FEED_FORWARD_TENSORS, TOKENS_NAME, predictions
from albert_calc.families.heads import base_heads, sequence_classifier, task_heads
from albert_calc.families.keys import flag, given, whole
from albert_calc.families.sizes import Size
from albert_calc.families.tensors import linear, matrix, norm, table, vector

# The pooler belongs to the classes that classify sequences, and not to the encoder.
CONTEXT_POOLER = Component("context_pooler", "head", "pooler")

_POOLER = linear("pooler.dense", "Q", "Q", CONTEXT_POOLER, applied=SEQUENCES)

# Only the relative positions that a sequence reaches are projected.
_REACHED = (times(2, "X"),)

# Values of a key that ask for nothing.
OFF = (None, False, 0, -1)

# The later head multiplies by the token table itself and has no matrix of its own.
_PREDICTIONS = (
    *(t._replace(when=("legacy",)) for t in predictions()),
    *vector("lm_predictions.lm_head.bias", "V", PREDICTION_HEAD, unless=("legacy",)),
    *linear("lm_predictions.lm_head.dense", "H", "H", PREDICTION_HEAD, unless=("legacy",)),
    *norm("lm_predictions.lm_head.LayerNorm", "H", PREDICTION_HEAD, unless=("legacy",)),
)

_OUTPUT_PRODUCT = Product("head", ("B", "S", "V", "H"), layered=False, unless=("legacy",))


def pooled_head(name: str, outputs: str | int) -> Head:
    """A classifier of sequences, with the pooler that it brings along."""
    return Head((name,), pooler=False, tensors=(*_POOLER, *sequence_classifier(outputs)))


def deberta_heads(names: str) -> dict[str, Head]:
    """The heads that both versions have; *names* begins the names of their classes."""
    tasks = task_heads(names)
    del tasks["multiple-choice"]
    return {
        **base_heads(names, pooler=False),
        "masked-lm": Head(
            (f"{names}ForMaskedLM",),
            pooler=False,
            tensors=_PREDICTIONS,
            products=(_OUTPUT_PRODUCT,),
        ),
        **tasks,
        "sequence-classification": pooled_head(f"{names}ForSequenceClassification", "C"),
    }


def _attention_types(value: object) -> tuple[str, ...]:
    """What attends to what: a list as it stands, or a string such as ``c2p|p2c``."""
    if value is None:
        return ()
    if isinstance(value, str):
        return tuple(name.strip() for name in value.lower().split("|"))
    if isinstance(value, list | tuple) and all(isinstance(name, str) for name in value):
        return tuple(value)
    raise ValueError


def _attends(name: str) -> Feature:
    return Feature(
        ("relative_attention", "pos_att_type"),
        lambda relative, types: relative and name in types,
    )


def relative_products(reach: str) -> tuple[Product, ...]:
    """Scores of every token with 2 × *reach* positions, as keys and as queries."""
    multiply_adds = ("B", "S", times(2, reach), "H")
    return (
        Product("attention_scores", multiply_adds, when=("content_to_position",)),
        Product("attention_scores", multiply_adds, when=("position_to_content",)),
    )


def _talking(name: str) -> tuple[Tensor, ...]:
    """A mixture of the heads, for every pair of tokens."""
    return matrix(name, "A", "A", ATTENTION, when=("talking_heads",), applied=("B", "S", "S"))


EMBEDDINGS = (
    *table(TOKENS_NAME, "V", "E", TOKEN_EMBEDDING),
    *table("embeddings.position_embeddings", "P", "E", POSITION_EMBEDDING, when=("positions",)),
    *table(
        "embeddings.token_type_embeddings", "T", "E", TOKEN_TYPE_EMBEDDING, when=("token_types",)
    ),
    *matrix("embeddings.embed_proj", "E", "H", EMBEDDING_PROJECTION, when=("factorized",)),
    *norm("embeddings.LayerNorm", "H", EMBEDDING_LAYER_NORM),
)

OUTPUT_TENSORS = (
    *linear("attention.output.dense", "H", "H", ATTENTION),
    *norm("attention.output.LayerNorm", "H", ATTENTION),
    *FEED_FORWARD_TENSORS,
    *norm("output.LayerNorm", "H", FEED_FORWARD),
)

RELATIVE_TABLE = table(
    "encoder.rel_embeddings", times(2, "R"), "H", RELATIVE_POSITIONS, when=("relative",)
)

DEBERTA = Family(
    model_type="deberta",
    config_class="DebertaConfig",
    prefix="deberta.",
    defaults={
        "vocab_size": 50265,
        "embedding_size": Same("hidden_size"),
        "hidden_size": 768,
        "num_hidden_layers": 12,
        "num_attention_heads": 12,
        "intermediate_size": 3072,
        "max_position_embeddings": 512,
        "type_vocab_size": 0,
        "relative_attention": False,
        "max_relative_positions": -1,
        "pos_att_type": None,
        "position_biased_input": True,
        "talking_head": False,
        "pooler_hidden_size": Same("hidden_size"),
        "legacy": True,
        "tie_word_embeddings": True,
        "hidden_act": "gelu",
        "hidden_dropout_prob": 0.1,
        "attention_probs_dropout_prob": 0.1,
        "pooler_dropout": 0.0,
        "pooler_hidden_act": "gelu",
        "cls_dropout": None,
    },
    sizes=(Size("Q", "pooler_hidden_size", "width of the pooler"),),
    switches=(
        flag("relative_attention"),
        whole("max_relative_positions"),
        Switch(
            "pos_att_type",
            "names such as c2p, as a list or as c2p|p2c",
            _attention_types,
            likely=("c2p|p2c", "c2p", "p2c"),
        ),
        flag("position_biased_input"),
        flag("talking_head"),
        flag("legacy"),
    ),
    derived=(
        Derived(
            "R",
            "relative positions to either side",
            ("max_relative_positions", "P"),
            lambda most, positions: most if most > 0 else positions,
            shown_by="max_relative_positions",
        ),
        Derived("X", "relative positions within a sequence, min(S, R)", ("S", "R"), min),
    ),
    features={
        "factorized": FACTORIZED,
        "positions": given("position_biased_input"),
        "token_types": given("type_vocab_size"),
        "relative": given("relative_attention"),
        "content_to_position": _attends("c2p"),
        "position_to_content": _attends("p2c"),
        "talking_heads": given("talking_head"),
        "legacy": given("legacy"),
    },
    rules=(
        HEADS_DIVIDE_WIDTH,
        Rule(
            "must be {hidden_size} for a head with a pooler to run; counted as built",
            ("pooler_hidden_size", "hidden_size"),
            lambda pooler, width: pooler == width,
            fatal=False,
        ),
        Rule(
            "must be true where {embedding_size} is not {hidden_size}, for masked-lm to run;"
            " counted as built",
            ("legacy", "embedding_size", "hidden_size"),
            lambda legacy, embedding, width: legacy or embedding == width,
            fatal=False,
        ),
    ),
    marks=("talking_head",),
    refused={
        "position_buckets": (OFF, "buckets of positions are counted for deberta-v2 only"),
        "conv_kernel_size": (OFF, "a convolution is counted for deberta-v2 only"),
    },
    embeddings={"transformers": EMBEDDINGS},
    layer_name="encoder.layer.{}.",
    layer=(
        *vector("attention.self.q_bias", "H", ATTENTION),
        *vector("attention.self.v_bias", "H", ATTENTION),
        *matrix("attention.self.in_proj", "H", times(3, "H"), ATTENTION),
        *_talking("attention.self.head_logits_proj"),
        *_talking("attention.self.head_weights_proj"),
        *matrix(
            "attention.self.pos_proj",
            "H",
            "H",
            ATTENTION,
            when=("content_to_position",),
            applied=_REACHED,
        ),
        *linear(
            "attention.self.pos_q_proj",
            "H",
            "H",
            ATTENTION,
            when=("position_to_content",),
            applied=_REACHED,
        ),
        *OUTPUT_TENSORS,
    ),
    outside=RELATIVE_TABLE,
    products=(*attention_products(), *relative_products("X")),
    heads=deberta_heads("Deberta"),
    buffers=("embeddings.position_ids",),
    sdpa=False,
)
