"""XLM-RoBERTa-XL's forward pass: LayerNorms before the blocks and after the last layer."""

from albert_calc.families.base import TOKENS
from albert_calc.passes.common import HIDDEN_DROPOUT, embeddings_pass, layer_pass
from albert_calc.passes.roberta import ROBERTA
from albert_calc.passes.steps import normalized

# There is no dropout after the feed-forward block.
XLM_ROBERTA_XL = ROBERTA._replace(
    embeddings=embeddings_pass(segments=TOKENS, positions=TOKENS, norm=""),
    layer=layer_pass(
        "attention.self.query",
        "attention.self.key",
        "attention.self.value",
        "attention.output.dense",
        "attention.self_attn_layer_norm",
        "intermediate.dense",
        "output.dense",
        "LayerNorm",
        dropouts=(HIDDEN_DROPOUT, ""),
        norms_first=True,
    ),
    outside=(normalized("encoder.LayerNorm", "encoded", "hidden", "H"),),
)
