"""ELECTRA's forward pass: generator, discriminator, and a summary of each sequence."""

from albert_calc.families.base import SEQUENCES, TOKENS
from albert_calc.passes.bert import BERT
from albert_calc.passes.common import (
    choice_loss,
    dense_classifier_pass,
    embeddings_pass,
    language_heads,
    pooled_heads,
    sequence_loss,
)
from albert_calc.passes.steps import (
    Kept,
    Step,
    activated,
    binary_cross_entropy,
    projected,
)

_GENERATOR = language_heads(
    "generator_predictions.dense",
    "generator_predictions.LayerNorm",
    "generator_lm_head",
    "gelu",
)

_DISCRIMINATOR = (
    projected("discriminator_predictions.dense", "hidden", "dense output", "H"),
    activated("hidden_act", "dense output", "activated dense", "H"),
    projected("discriminator_predictions.dense_prediction", "activated dense", "logits", 1),
    binary_cross_entropy("logits", TOKENS),
)

# The vector of a sequence is a token's, the mean of all, or one that an index picks.
_SUMMARIES = (
    Step("mean", "first token", ("hidden",), (*SEQUENCES, "H"), when=("summary_mean",)),
    Step(
        "index", "first token", ("hidden",), (*SEQUENCES, "H"),
        (Kept("hidden"), Kept("index", "", (*SEQUENCES, "H"), "int64")),
        when=("summary_index",),
    ),
)  # fmt: skip

_VIEW, *_SUMMARY = dense_classifier_pass(
    1,
    "summary_activation",
    dense="sequence_summary.summary",
    out="classifier",
    dropouts=("", "summary_last_dropout"),
)

ELECTRA = BERT._replace(
    embeddings=(
        *embeddings_pass(output="dropped embeddings"),
        projected("embeddings_project", "dropped embeddings", "hidden", "H"),
    ),
    pooler=(),
    heads={
        **pooled_heads(),
        **_GENERATOR,
        "generator": _GENERATOR["masked-lm"],
        "pretraining": _DISCRIMINATOR,
        "discriminator": _DISCRIMINATOR,
        "sequence-classification": (*dense_classifier_pass("C", "gelu"), *sequence_loss()),
        "multiple-choice": (
            _VIEW._replace(unless=("summary_mean", "summary_index")),
            *_SUMMARIES,
            *_SUMMARY,
            *choice_loss(),
        ),
    },
)
