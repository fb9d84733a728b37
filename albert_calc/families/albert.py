"""ALBERT (Lan et al., ICLR 2020): factorized embedding, layers shared across groups.

Names and shapes are those of transformers' ``AlbertModel`` and its heads.
"""

from albert_calc.families.base import (
    ATTENTION,
    EMBEDDING_PROJECTION,
    EMBEDDING_PROJECTION_BIAS,
    FACTORIZED,
    FEED_FORWARD,
    HEADS_DIVIDE_WIDTH,
    POOLER,
    PREDICTION_HEAD,
    SEQUENCES,
    Family,
    Head,
    Rule,
)
from albert_calc.families.bert import TOKENS_NAME, embeddings
from albert_calc.families.heads import base_heads, output_embedding, sequence_classifier, task_heads
from albert_calc.families.tensors import linear, matrix, norm, vector

_PROJECTION = "encoder.embedding_hidden_mapping_in"
_PROJECTION_MATRIX = matrix(_PROJECTION, "E", "H", EMBEDDING_PROJECTION)
_PROJECTION_BIAS = vector(f"{_PROJECTION}.bias", "H", EMBEDDING_PROJECTION_BIAS)

_PREDICTIONS = (
    *linear("predictions.dense", "H", "E", PREDICTION_HEAD),
    *norm("predictions.LayerNorm", "E", PREDICTION_HEAD),
    *output_embedding("predictions.bias", "predictions.decoder", "E", f"{TOKENS_NAME}.weight"),
)

ALBERT = Family(
    model_type="albert",
    config_class="AlbertConfig",
    prefix="albert.",
    defaults={
        "vocab_size": 30000,
        "embedding_size": 128,
        "hidden_size": 4096,
        "num_hidden_layers": 12,
        "num_attention_heads": 64,
        "intermediate_size": 16384,
        "max_position_embeddings": 512,
        "type_vocab_size": 2,
        "num_hidden_groups": 1,
        "inner_group_num": 1,
        "tie_word_embeddings": True,
        "problem_type": None,
        "hidden_act": "gelu_new",
        "hidden_dropout_prob": 0.0,
        "attention_probs_dropout_prob": 0.0,
        "classifier_dropout_prob": 0.1,
    },
    marks=(
        "num_hidden_groups",
        "inner_group_num",
        "net_structure_type",
        "gap_size",
        "down_scale_factor",
    ),
    embedding_size_alone=True,
    uneven_heads=True,
    features={"factorized": FACTORIZED},
    rules=(
        HEADS_DIVIDE_WIDTH,
        Rule(
            "must be 1 unless all blocks are shared",
            ("inner_group_num", "share"),
            lambda inner, share: inner == 1 or share == "all",
        ),
        Rule(
            "must be at most {num_hidden_layers} for such a model to run; counted as built",
            ("num_hidden_groups", "num_hidden_layers", "share"),
            lambda groups, layers, share: groups <= layers or share == "none",
            fatal=False,
        ),
        Rule(
            "must be at most {num_hidden_layers} / {num_hidden_groups} for such a model to run;"
            " counted as built",
            ("inner_group_num", "num_hidden_layers", "num_hidden_groups", "share"),
            lambda inner, layers, groups, share: (
                inner <= layers // groups or groups > layers or share == "none"
            ),
            fatal=False,
        ),
    ),
    default_share="all",
    embeddings={
        "transformers": (*embeddings(), *_PROJECTION_MATRIX, *_PROJECTION_BIAS),
        "handbook": (*embeddings(normed="H"), *_PROJECTION_MATRIX, *_PROJECTION_BIAS),
        "paper": (
            *embeddings("H", "H"),
            *matrix(_PROJECTION, "E", "H", EMBEDDING_PROJECTION, when=("factorized",)),
        ),
    },
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
    pooler=linear("pooler", "H", "H", POOLER, applied=SEQUENCES),
    heads={
        **base_heads("Albert"),
        "masked-lm": Head(("AlbertForMaskedLM",), pooler=False, tensors=_PREDICTIONS),
        "pretraining": Head(
            ("AlbertForPreTraining",),
            pooler=True,
            tensors=(*_PREDICTIONS, *sequence_classifier(name="sop_classifier.classifier")),
        ),
        **task_heads("Albert"),
    },
    checkpointing=False,
)
