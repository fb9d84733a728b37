"""BERT's forward pass, of which others are made."""

from albert_calc.families.base import SEQUENCES
from albert_calc.passes.common import (
    Steps,
    embeddings_pass,
    language_heads,
    layer_pass,
    pooled_heads,
    pooler_pass,
)
from albert_calc.passes.steps import Forward, cross_entropy, projected

LAYER_MODULES = (
    "attention.self.query",
    "attention.self.key",
    "attention.self.value",
    "attention.output.dense",
    "attention.output.LayerNorm",
    "intermediate.dense",
    "output.dense",
    "output.LayerNorm",
)
"""The modules of a layer in the order in which ``layer_pass`` takes them."""

_PREDICTIONS = language_heads(
    "cls.predictions.transform.dense",
    "cls.predictions.transform.LayerNorm",
    "cls.predictions.decoder",
)

_NEXT_SENTENCE: Steps = (
    projected("cls.seq_relationship", "pooled", "sequence logits", 2, SEQUENCES),
    *cross_entropy("sequence logits", SEQUENCES, 2, "next_sentence_label"),
)

BERT = Forward(
    embeddings=embeddings_pass(),
    layer=layer_pass(*LAYER_MODULES),
    pooler=pooler_pass("pooler.dense"),
    heads={
        **pooled_heads(),
        **_PREDICTIONS,
        "pretraining": (*_PREDICTIONS["masked-lm"], *_NEXT_SENTENCE),
        "next-sentence-prediction": _NEXT_SENTENCE,
    },
    dropouts={"classifier_dropout": "hidden_dropout_prob"},
)
