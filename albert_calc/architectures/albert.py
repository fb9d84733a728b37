"""ALBERT (Lan et al., ICLR 2020): factorized embedding, layers shared across groups.

Names and shapes are those of transformers' ``AlbertModel`` and its heads. May import
only ``albert_calc.architectures.base`` and ``albert_calc.algebra``.
"""

from albert_calc.algebra import Dim
from albert_calc.architectures.base import (
    ATTENTION,
    EMBEDDING_LAYER_NORM,
    EMBEDDING_PROJECTION,
    EMBEDDING_PROJECTION_BIAS,
    FEED_FORWARD,
    POOLER,
    POSITION_EMBEDDING,
    PREDICTION_HEAD,
    SEQUENCE_CLASSIFIER,
    TOKEN_EMBEDDING,
    TOKEN_TYPE_EMBEDDING,
    Architecture,
    Head,
    Tensor,
    linear,
    norm,
    output_embedding,
    table,
    task_heads,
)

_TOKENS = "embeddings.word_embeddings"
_PROJECTION = "encoder.embedding_hidden_mapping_in"


def _embeddings(positions: Dim, normed: Dim) -> tuple[Tensor, ...]:
    return (
        *table(_TOKENS, "V", "E", TOKEN_EMBEDDING),
        *table("embeddings.position_embeddings", "P", positions, POSITION_EMBEDDING),
        *table("embeddings.token_type_embeddings", "T", positions, TOKEN_TYPE_EMBEDDING),
        *norm("embeddings.LayerNorm", normed, EMBEDDING_LAYER_NORM),
    )


_PROJECTION_MATRIX = Tensor(f"{_PROJECTION}.weight", ("H", "E"), EMBEDDING_PROJECTION, "matrix")
_PROJECTION_BIAS = Tensor(f"{_PROJECTION}.bias", ("H",), EMBEDDING_PROJECTION_BIAS, "vector")

_PREDICTIONS = (
    *linear("predictions.dense", "H", "E", PREDICTION_HEAD),
    *norm("predictions.LayerNorm", "E", PREDICTION_HEAD),
    *output_embedding("predictions.bias", "predictions.decoder", "E", f"{_TOKENS}.weight"),
)

ALBERT = Architecture(
    model_type="albert",
    config_class="AlbertConfig",
    prefix="albert.",
    defaults={
        "embedding_size": 128,
        "max_position_embeddings": 512,
        "type_vocab_size": 2,
        "num_hidden_groups": 1,
        "inner_group_num": 1,
    },
    default_share="all",
    embeddings={
        "transformers": (*_embeddings("E", "E"), _PROJECTION_MATRIX, _PROJECTION_BIAS),
        "handbook": (*_embeddings("E", "H"), _PROJECTION_MATRIX, _PROJECTION_BIAS),
        "paper": (
            *_embeddings("H", "H"),
            _PROJECTION_MATRIX._replace(factorized_only=True),
        ),
    },
    poolerless=("handbook",),
    layer_name="encoder.albert_layer_groups.{}.albert_layers.{}.",
    shared=("G", "N"),
    unshared=("L", 1),
    runs=("L", "N"),
    layer=(
        *linear("attention.query", "H", "H", ATTENTION),
        *linear("attention.key", "H", "H", ATTENTION),
        *linear("attention.value", "H", "H", ATTENTION),
        *linear("attention.dense", "H", "H", ATTENTION),
        *norm("attention.LayerNorm", "H", ATTENTION),
        *linear("ffn", "H", "I", FEED_FORWARD),
        *linear("ffn_output", "I", "H", FEED_FORWARD),
        *norm("full_layer_layer_norm", "H", FEED_FORWARD),
    ),
    pooler=linear("pooler", "H", "H", POOLER),
    heads={
        "encoder": Head(("AlbertModel",), pooler=False),
        "model": Head(("AlbertModel",), pooler=True),
        "masked-lm": Head(("AlbertForMaskedLM",), pooler=False, tensors=_PREDICTIONS),
        "pretraining": Head(
            ("AlbertForPreTraining",),
            pooler=True,
            tensors=(
                *_PREDICTIONS,
                *linear("sop_classifier.classifier", "H", "C", SEQUENCE_CLASSIFIER),
            ),
        ),
        **task_heads("Albert"),
    },
    buffers=("embeddings.position_ids", "embeddings.token_type_ids"),
)
