"""Megatron-BERT's forward pass: LayerNorms before the blocks and after the last layer."""

from albert_calc.families.base import TOKENS
from albert_calc.passes.bert import BERT
from albert_calc.passes.common import HIDDEN_DROPOUT, embeddings_pass, layer_pass, pooled_heads
from albert_calc.passes.steps import normalized

MEGATRON_BERT = BERT._replace(
    embeddings=embeddings_pass(segments=TOKENS, norm=""),
    layer=layer_pass(
        "attention.self.query",
        "attention.self.key",
        "attention.self.value",
        "attention.output.dense",
        "attention.ln",
        "intermediate.dense",
        "output.dense",
        "ln",
        norms_first=True,
    ),
    outside=(normalized("encoder.ln", "encoded", "hidden", "H"),),
    heads={**BERT.heads, **pooled_heads(HIDDEN_DROPOUT)},
)
