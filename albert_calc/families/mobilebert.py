"""MobileBERT (Sun et al., ACL 2020): narrow embedding, layers with a bottleneck, stacked FFNs.

Names and shapes are those of transformers' ``MobileBertModel`` and its heads. A layer works
at width U between a bottleneck that enters it and one that leaves it, or at H without them.
"""

from albert_calc.algebra import Dim, Dims, minus, times
from albert_calc.families.base import (
    ATTENTION,
    BOTTLENECK,
    EMBEDDING_LAYER_NORM,
    EMBEDDING_PROJECTION,
    EMBEDDING_PROJECTION_BIAS,
    FACTORIZED,
    FEED_FORWARD,
    OUTPUT_EMBEDDING,
    POOLER,
    POSITION_EMBEDDING,
    PREDICTION_HEAD,
    SEQUENCES,
    TOKEN_EMBEDDING,
    TOKEN_TYPE_EMBEDDING,
    Component,
    Family,
    Head,
    Product,
    Rule,
    Tensor,
)
from albert_calc.families.bert import NEXT_SENTENCE, TOKENS_NAME
from albert_calc.families.heads import base_heads, output_embedding, task_heads
from albert_calc.families.keys import choice, flag, given
from albert_calc.families.sizes import Size
from albert_calc.families.tensors import linear, matrix, norm, only, table, vector

_PROJECTION = "embeddings.embedding_transformation"


def _projection(inputs: Dim) -> tuple[Tensor, ...]:
    return matrix(_PROJECTION, inputs, "H", EMBEDDING_PROJECTION)


def _unused(tensors: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """*tensors* that are built, but that a forward pass does not apply."""
    return tuple(t._replace(applied=(0,)) for t in tensors)


def _normed(name: str, inputs: Dim, outputs: Dim, component: Component) -> tuple[Tensor, ...]:
    """A dense layer and a norm over its output; what is called NoNorm scales and shifts too."""
    return (
        *linear(f"{name}.dense", inputs, outputs, component),
        *norm(f"{name}.LayerNorm", outputs, component),
    )


def _feed_forward(width: Dim, prefix: str = "", repeat: Dims = ()) -> tuple[Tensor, ...]:
    tensors = (
        *linear(f"{prefix}intermediate.dense", width, "I", FEED_FORWARD),
        *_normed(f"{prefix}output", "I", width, FEED_FORWARD),
    )
    return tuple(t._replace(repeat=repeat) for t in tensors)


def _blocks(width: Dim, values: Dim) -> tuple[Tensor, ...]:
    """A layer's blocks at *width*; what the attention takes as values is *values* wide."""
    return (
        *linear("attention.self.query", width, width, ATTENTION),
        *linear("attention.self.key", width, width, ATTENTION),
        *linear("attention.self.value", values, width, ATTENTION),
        *_normed("attention.output", width, width, ATTENTION),
        *_feed_forward(width),
        *_feed_forward(width, "ffn.{}.", (minus("F", 1),)),
    )


_TO_QUERIES = _normed("bottleneck.attention", "H", "U", BOTTLENECK)

_BOTTLENECKS = (
    *_normed("output.bottleneck", "U", "H", BOTTLENECK),
    *_normed("bottleneck.input", "H", "U", BOTTLENECK),
    *only(_TO_QUERIES, when=("shared_query",), unless=("bottleneck_attention",)),
    *only(_unused(_TO_QUERIES), when=("shared_query", "bottleneck_attention")),
)

# The output matrix is H wide: E columns of the token table, and the rest of its own.
_PREDICTIONS = (
    *linear("cls.predictions.transform.dense", "H", "H", PREDICTION_HEAD),
    *norm("cls.predictions.transform.LayerNorm", "H", PREDICTION_HEAD),
    *matrix("cls.predictions.dense", "V", minus("H", "E"), OUTPUT_EMBEDDING),
    *output_embedding(
        "cls.predictions.bias", "cls.predictions.decoder", "E", f"{TOKENS_NAME}.weight"
    ),
)

_NARROW_TABLE = Rule(
    "must be at most {hidden_size}, the width of the output matrix",
    ("embedding_size", "hidden_size"),
    lambda narrow, width: narrow <= width,
)

MOBILEBERT = Family(
    model_type="mobilebert",
    config_class="MobileBertConfig",
    prefix="mobilebert.",
    defaults={
        "vocab_size": 30522,
        "embedding_size": 128,
        "hidden_size": 512,
        "num_hidden_layers": 24,
        "num_attention_heads": 4,
        "intermediate_size": 512,
        "max_position_embeddings": 512,
        "type_vocab_size": 2,
        "trigram_input": True,
        "use_bottleneck": True,
        "intra_bottleneck_size": 128,
        "use_bottleneck_attention": False,
        "key_query_shared_bottleneck": True,
        "num_feedforward_networks": 4,
        "normalization_type": "no_norm",
        "classifier_activation": True,
        "true_hidden_size": None,
        "tie_word_embeddings": True,
        "hidden_act": "relu",
        "hidden_dropout_prob": 0.0,
        "attention_probs_dropout_prob": 0.1,
        "classifier_dropout": None,
    },
    sizes=(
        Size("U", "intra_bottleneck_size", "width inside a bottleneck"),
        Size("F", "num_feedforward_networks", "feed-forward blocks in a layer"),
    ),
    switches=(
        flag("trigram_input"),
        flag("use_bottleneck"),
        flag("use_bottleneck_attention"),
        flag("key_query_shared_bottleneck"),
        flag("classifier_activation"),
        choice("normalization_type", "no_norm", "layer_norm"),
    ),
    features={
        "factorized": FACTORIZED,
        "trigram": given("trigram_input"),
        "bottleneck": given("use_bottleneck"),
        "bottleneck_attention": given("use_bottleneck_attention"),
        "shared_query": given("key_query_shared_bottleneck"),
        "classifier_activation": given("classifier_activation"),
    },
    rules=(
        Rule(
            "must divide {intra_bottleneck_size}",
            ("num_attention_heads", "intra_bottleneck_size", "use_bottleneck"),
            lambda heads, width, bottleneck: not bottleneck or width % heads == 0,
        ),
        Rule(
            "must divide {hidden_size}",
            ("num_attention_heads", "hidden_size", "use_bottleneck"),
            lambda heads, width, bottleneck: bottleneck or width % heads == 0,
        ),
        Rule(
            "must be true, or {intra_bottleneck_size} equal to {hidden_size}, for such a model to"
            " run; counted as built",
            (
                "key_query_shared_bottleneck",
                "intra_bottleneck_size",
                "hidden_size",
                "use_bottleneck",
                "use_bottleneck_attention",
            ),
            lambda shared, inner, width, used, attention: (
                shared or inner == width or not used or attention
            ),
            fatal=False,
        ),
    ),
    stated=(
        Rule(
            "must be intra_bottleneck_size with use_bottleneck, and hidden_size without",
            ("true_hidden_size", "use_bottleneck", "intra_bottleneck_size", "hidden_size"),
            lambda told, used, inner, width: (
                isinstance(told, int) and told == (inner if used else width)
            ),
        ),
    ),
    marks=(
        "trigram_input",
        "intra_bottleneck_size",
        "use_bottleneck",
        "use_bottleneck_attention",
        "key_query_shared_bottleneck",
        "num_feedforward_networks",
    ),
    assumes_heads=True,
    embeddings={
        "transformers": (
            *table(TOKENS_NAME, "V", "E", TOKEN_EMBEDDING),
            *table("embeddings.position_embeddings", "P", "H", POSITION_EMBEDDING),
            *table("embeddings.token_type_embeddings", "T", "H", TOKEN_TYPE_EMBEDDING),
            *only(_projection(times(3, "E")), when=("trigram",)),
            *only(_projection("E"), when=("factorized",), unless=("trigram",)),
            *only(_unused(_projection("E")), unless=("trigram", "factorized")),
            *vector(f"{_PROJECTION}.bias", "H", EMBEDDING_PROJECTION_BIAS),
            *norm("embeddings.LayerNorm", "H", EMBEDDING_LAYER_NORM),
        ),
    },
    layer_name="encoder.layer.{}.",
    layer=(
        *only(_blocks("U", "H"), when=("bottleneck",), unless=("bottleneck_attention",)),
        *only(_blocks("U", "U"), when=("bottleneck", "bottleneck_attention")),
        *only(_blocks("H", "H"), unless=("bottleneck",)),
        *only(_BOTTLENECKS, when=("bottleneck",)),
    ),
    products=(
        Product("attention_scores", (2, "B", "S", "S", "U"), when=("bottleneck",)),
        Product("attention_scores", (2, "B", "S", "S", "H"), unless=("bottleneck",)),
    ),
    pooler=linear(
        "pooler.dense", "H", "H", POOLER, applied=SEQUENCES, when=("classifier_activation",)
    ),
    heads={
        **base_heads("MobileBert"),
        "masked-lm": Head(
            ("MobileBertForMaskedLM",),
            pooler=False,
            tensors=_PREDICTIONS,
            rules=(_NARROW_TABLE,),
        ),
        "pretraining": Head(
            ("MobileBertForPreTraining",),
            pooler=True,
            tensors=(*_PREDICTIONS, *NEXT_SENTENCE),
            rules=(_NARROW_TABLE,),
        ),
        "next-sentence-prediction": Head(
            ("MobileBertForNextSentencePrediction",), pooler=True, tensors=NEXT_SENTENCE
        ),
        **task_heads("MobileBert"),
    },
    buffers=("embeddings.position_ids",),
)
