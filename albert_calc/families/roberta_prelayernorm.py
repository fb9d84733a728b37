"""RoBERTa-PreLayerNorm (as fairseq trains it): RoBERTa with LayerNorms before the blocks.

Names and shapes are those of transformers' ``RobertaPreLayerNormModel`` and its heads.
"""

from albert_calc.families.base import ATTENTION, ENCODER_LAYER_NORM, FEED_FORWARD, norm
from albert_calc.families.bert import ATTENTION_TENSORS, BERT, FEED_FORWARD_TENSORS
from albert_calc.families.passes import layer_pass
from albert_calc.families.roberta import ROBERTA_FORWARD, roberta_heads
from albert_calc.families.steps import normalized

ROBERTA_PRELAYERNORM = BERT._replace(
    model_type="roberta-prelayernorm",
    config_class="RobertaPreLayerNormConfig",
    reserved_positions=2,
    prefix="roberta_prelayernorm.",
    defaults={**BERT.defaults, "vocab_size": 50265},
    embeddings={"transformers": BERT.embeddings["transformers"]},
    layer=(
        *ATTENTION_TENSORS,
        *norm("attention.LayerNorm", "H", ATTENTION),
        *norm("intermediate.LayerNorm", "H", FEED_FORWARD),
        *FEED_FORWARD_TENSORS,
    ),
    outside=norm("LayerNorm", "H", ENCODER_LAYER_NORM),
    heads=roberta_heads("RobertaPreLayerNorm"),
    forward=ROBERTA_FORWARD._replace(
        layer=layer_pass(
            "attention.self.query",
            "attention.self.key",
            "attention.self.value",
            "attention.output.dense",
            "attention.LayerNorm",
            "intermediate.dense",
            "output.dense",
            "intermediate.LayerNorm",
            norms_first=True,
        ),
        outside=(normalized("LayerNorm", "encoded", "hidden", "H"),),
    ),
)
