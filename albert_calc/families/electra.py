"""ELECTRA (Clark et al., ICLR 2020): factorized embedding, BERT's layers, no pooler.

Names and shapes are those of transformers' ``ElectraModel`` and its heads.
"""

from albert_calc.families.base import (
    EMBEDDING_PROJECTION,
    EMBEDDING_PROJECTION_BIAS,
    FACTORIZED,
    OUTPUT_EMBEDDING,
    PREDICTION_HEAD,
    SEQUENCE_CLASSIFIER,
    SEQUENCES,
    TOKEN_CLASSIFIER,
    Feature,
    Head,
    Tensor,
)
from albert_calc.families.bert import BERT, TOKENS_NAME, embeddings
from albert_calc.families.heads import base_heads, dense_classifier, sequence_classifier, task_heads
from albert_calc.families.keys import choice, flag, given
from albert_calc.families.tensors import linear, matrix, norm, vector

PROJECTION = (
    *matrix("embeddings_project", "E", "H", EMBEDDING_PROJECTION, when=("factorized",)),
    *vector("embeddings_project.bias", "H", EMBEDDING_PROJECTION_BIAS, when=("factorized",)),
)
"""From E to H, where they differ."""

# The generator's output has one bias whether its matrix is tied or not.
_GENERATOR = (
    *norm("generator_predictions.LayerNorm", "E", PREDICTION_HEAD),
    *linear("generator_predictions.dense", "H", "E", PREDICTION_HEAD),
    *vector("generator_lm_head.bias", "V", PREDICTION_HEAD),
    *matrix("generator_lm_head", "E", "V", OUTPUT_EMBEDDING, tied_to=f"{TOKENS_NAME}.weight"),
)

_DISCRIMINATOR = (
    *linear("discriminator_predictions.dense", "H", "H", TOKEN_CLASSIFIER),
    *linear("discriminator_predictions.dense_prediction", "H", 1, TOKEN_CLASSIFIER),
)

_PRETRAINING = Head(("ElectraForPreTraining",), pooler=False, tensors=_DISCRIMINATOR)
_MASKED_LM = Head(("ElectraForMaskedLM",), pooler=False, tensors=_GENERATOR)

SUMMARY_SWITCHES = (
    choice("summary_type", "first", "last", "mean", "cls_index"),
    flag("summary_use_proj"),
    flag("summary_proj_to_labels"),
)

SUMMARY_FEATURES = {
    "summary_mean": Feature(("summary_type",), lambda kind: kind == "mean"),
    "summary_index": Feature(("summary_type",), lambda kind: kind == "cls_index"),
    "summary": given("summary_use_proj"),
    "summary_to_labels": Feature(
        ("summary_use_proj", "summary_proj_to_labels"), lambda used, labels: used and labels
    ),
}


def summary(name: str) -> tuple[Tensor, ...]:
    """The vector that stands for a sequence: projected to H, to the labels, or not at all.

    A projection to the labels is built, but the classifier after it still reads H.
    """

    def projected(outputs: str, **condition: tuple[str, ...]) -> tuple[Tensor, ...]:
        return linear(name, "H", outputs, SEQUENCE_CLASSIFIER, applied=SEQUENCES, **condition)

    return (
        *projected("H", when=("summary",), unless=("summary_to_labels",)),
        *projected("C", when=("summary_to_labels",)),
    )


ELECTRA = BERT._replace(
    model_type="electra",
    config_class="ElectraConfig",
    prefix="electra.",
    defaults={
        **BERT.defaults,
        "embedding_size": 128,
        "hidden_size": 256,
        "num_attention_heads": 4,
        "intermediate_size": 1024,
        "summary_type": "first",
        "summary_use_proj": True,
        "summary_proj_to_labels": False,
        "summary_activation": "gelu",
        "summary_last_dropout": 0.1,
    },
    switches=SUMMARY_SWITCHES,
    embedding_size_alone=True,
    uneven_heads=True,
    features={"factorized": FACTORIZED, **SUMMARY_FEATURES},
    embeddings={"transformers": (*embeddings(), *PROJECTION)},
    pooler=(),
    heads={
        **base_heads("Electra", pooler=False),
        "pretraining": _PRETRAINING,
        "discriminator": _PRETRAINING,
        "masked-lm": _MASKED_LM,
        "generator": _MASKED_LM,
        "causal-lm": Head(("ElectraForCausalLM",), pooler=False, tensors=_GENERATOR),
        **task_heads("Electra", classifier=dense_classifier()),
        "multiple-choice": Head(
            ("ElectraForMultipleChoice",),
            pooler=False,
            tensors=(*summary("sequence_summary.summary"), *sequence_classifier(1)),
        ),
    },
)
