"""RoBERTa-PreLayerNorm (as fairseq trains it): RoBERTa with LayerNorms before the blocks.

Names and shapes are those of transformers' ``RobertaPreLayerNormModel`` and its heads.
"""

from albert_calc.families.base import ATTENTION, ENCODER_LAYER_NORM, FEED_FORWARD
from albert_calc.families.bert import ATTENTION_TENSORS, FEED_FORWARD_TENSORS
from albert_calc.families.roberta import ROBERTA, roberta_heads
from albert_calc.families.tensors import norm

ROBERTA_PRELAYERNORM = ROBERTA._replace(
    model_type="roberta-prelayernorm",
    config_class="RobertaPreLayerNormConfig",
    prefix="roberta_prelayernorm.",
    layer=(
        *ATTENTION_TENSORS,
        *norm("attention.LayerNorm", "H", ATTENTION),
        *norm("intermediate.LayerNorm", "H", FEED_FORWARD),
        *FEED_FORWARD_TENSORS,
    ),
    outside=norm("LayerNorm", "H", ENCODER_LAYER_NORM),
    heads=roberta_heads("RobertaPreLayerNorm"),
)
