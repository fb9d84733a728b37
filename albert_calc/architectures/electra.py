"""ELECTRA (Clark et al., ICLR 2020): factorized embedding, BERT's layers, no pooler.

Names and shapes are those of transformers' ``ElectraModel`` and its heads. May import
only ``albert_calc.architectures.base`` and ``albert_calc.architectures.bert``.
"""

from albert_calc.architectures.base import (
    EMBEDDING_LAYER_NORM,
    EMBEDDING_PROJECTION,
    EMBEDDING_PROJECTION_BIAS,
    OUTPUT_EMBEDDING,
    POSITION_EMBEDDING,
    PREDICTION_HEAD,
    SEQUENCE_CLASSIFIER,
    TOKEN_CLASSIFIER,
    TOKEN_EMBEDDING,
    TOKEN_TYPE_EMBEDDING,
    Head,
    Tensor,
    dense_classifier,
    linear,
    norm,
    table,
    task_heads,
)
from albert_calc.architectures.bert import BERT

_TOKENS = "embeddings.word_embeddings"

_EMBEDDINGS = (
    *table(_TOKENS, "V", "E", TOKEN_EMBEDDING),
    *table("embeddings.position_embeddings", "P", "E", POSITION_EMBEDDING),
    *table("embeddings.token_type_embeddings", "T", "E", TOKEN_TYPE_EMBEDDING),
    *norm("embeddings.LayerNorm", "E", EMBEDDING_LAYER_NORM),
    Tensor(
        "embeddings_project.weight", ("H", "E"), EMBEDDING_PROJECTION, "matrix",
        factorized_only=True,
    ),
    Tensor(
        "embeddings_project.bias", ("H",), EMBEDDING_PROJECTION_BIAS, "vector",
        factorized_only=True,
    ),
)  # fmt: skip

# The generator's output has one bias whether its matrix is tied or not.
_GENERATOR = (
    *norm("generator_predictions.LayerNorm", "E", PREDICTION_HEAD),
    *linear("generator_predictions.dense", "H", "E", PREDICTION_HEAD),
    Tensor("generator_lm_head.bias", ("V",), PREDICTION_HEAD, "vector"),
    Tensor("generator_lm_head.weight", ("V", "E"), OUTPUT_EMBEDDING, "matrix", f"{_TOKENS}.weight"),
)

_DISCRIMINATOR = (
    *linear("discriminator_predictions.dense", "H", "H", TOKEN_CLASSIFIER),
    *linear("discriminator_predictions.dense_prediction", "H", 1, TOKEN_CLASSIFIER),
)

_PRETRAINING = Head(("ElectraForPreTraining",), pooler=False, tensors=_DISCRIMINATOR)
_MASKED_LM = Head(("ElectraForMaskedLM",), pooler=False, tensors=_GENERATOR)

ELECTRA = BERT._replace(
    model_type="electra",
    config_class="ElectraConfig",
    prefix="electra.",
    defaults={"embedding_size": 128, "max_position_embeddings": 512, "type_vocab_size": 2},
    fixed={
        "summary_use_proj": (True, None),
        "summary_proj_to_labels": (False, None),
        "summary_type": ("first", "last", "mean", "cls_index", None),
    },
    embeddings={"transformers": _EMBEDDINGS},
    pooler=(),
    heads={
        "model": Head(("ElectraModel",), pooler=False),
        "encoder": Head(("ElectraModel",), pooler=False),
        "discriminator": _PRETRAINING,
        "generator": _MASKED_LM,
        "pretraining": _PRETRAINING,
        "masked-lm": _MASKED_LM,
        "causal-lm": Head(("ElectraForCausalLM",), pooler=False, tensors=_GENERATOR),
        **task_heads("Electra"),
        "sequence-classification": Head(
            ("ElectraForSequenceClassification",), pooler=False, tensors=dense_classifier("C")
        ),
        "multiple-choice": Head(
            ("ElectraForMultipleChoice",),
            pooler=False,
            tensors=(
                *linear("sequence_summary.summary", "H", "H", SEQUENCE_CLASSIFIER),
                *linear("classifier", "H", 1, SEQUENCE_CLASSIFIER),
            ),
        ),
    },
)
