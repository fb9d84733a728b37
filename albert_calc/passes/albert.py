"""ALBERT's forward pass: the embeddings are projected to H before the layers."""

from albert_calc.families.base import SEQUENCES
from albert_calc.passes.common import (
    HIDDEN_DROPOUT,
    embeddings_pass,
    layer_pass,
    pooled_classifier,
    pooled_heads,
    pooler_pass,
    predictions_pass,
)
from albert_calc.passes.steps import Forward, cross_entropy, projected

_PREDICTIONS = predictions_pass("predictions.dense", "predictions.LayerNorm", "predictions.decoder")

# There is no dropout after the feed-forward block.
ALBERT = Forward(
    embeddings=(
        *embeddings_pass(output="dropped embeddings"),
        projected("encoder.embedding_hidden_mapping_in", "dropped embeddings", "hidden", "H"),
    ),
    layer=layer_pass(
        "attention.query",
        "attention.key",
        "attention.value",
        "attention.dense",
        "attention.LayerNorm",
        "ffn",
        "ffn_output",
        "full_layer_layer_norm",
        dropouts=(HIDDEN_DROPOUT, ""),
    ),
    pooler=pooler_pass("pooler"),
    heads={
        **pooled_heads("classifier_dropout_prob"),
        "masked-lm": _PREDICTIONS,
        "pretraining": (
            *_PREDICTIONS,
            *pooled_classifier("C", "sop_classifier.classifier", "classifier_dropout_prob"),
            *cross_entropy("sequence logits", SEQUENCES, 2, "sentence_order_label"),
        ),
    },
)
