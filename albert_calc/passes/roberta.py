"""RoBERTa's forward pass, and that of its kin: BERT's under other heads."""

from albert_calc.families.base import TOKENS
from albert_calc.passes.bert import BERT
from albert_calc.passes.common import (
    HIDDEN_DROPOUT,
    dense_classifier_pass,
    embeddings_pass,
    language_heads,
    pooled_heads,
    sequence_loss,
)

# Positions are counted from the tokens, so that their ids are kept too.
ROBERTA = BERT._replace(
    embeddings=embeddings_pass(segments=TOKENS, positions=TOKENS),
    heads={
        **pooled_heads(choice_dropout=HIDDEN_DROPOUT),
        **language_heads("lm_head.dense", "lm_head.layer_norm", "lm_head.decoder", "gelu"),
        "sequence-classification": (*dense_classifier_pass("C", "tanh"), *sequence_loss()),
    },
)
