"""RoBERTa-PreLayerNorm (as fairseq trains it): RoBERTa with LayerNorms before the blocks.

Names and shapes are those of transformers' ``RobertaPreLayerNormModel`` and its heads.
"""

from albert_calc.families.base import ATTENTION, ENCODER_LAYER_NORM, FEED_FORWARD, norm
from albert_calc.families.bert import ATTENTION_TENSORS, BERT, FEED_FORWARD_TENSORS
from albert_calc.families.roberta import roberta_heads

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
    forward=None,
)
