"""XLM-RoBERTa-XL (Goyal et al., 2021): RoBERTa with LayerNorms before the blocks.

Names and shapes are those of transformers' ``XLMRobertaXLModel`` and its heads.
"""

from albert_calc.families.base import ATTENTION, ENCODER_LAYER_NORM, FEED_FORWARD
from albert_calc.families.bert import ATTENTION_TENSORS, FEED_FORWARD_TENSORS, lookup_tables
from albert_calc.families.roberta import ROBERTA, roberta_heads
from albert_calc.families.tensors import norm

XLM_ROBERTA_XL = ROBERTA._replace(
    model_type="xlm-roberta-xl",
    config_class="XLMRobertaXLConfig",
    defaults={
        **ROBERTA.defaults,
        "vocab_size": 250880,
        "hidden_size": 2560,
        "num_hidden_layers": 36,
        "num_attention_heads": 32,
        "intermediate_size": 10240,
        "max_position_embeddings": 514,
        "type_vocab_size": 1,
    },
    embeddings={"transformers": lookup_tables()},
    layer=(
        *ATTENTION_TENSORS,
        *norm("attention.self_attn_layer_norm", "H", ATTENTION),
        *FEED_FORWARD_TENSORS,
        *norm("LayerNorm", "H", FEED_FORWARD),
    ),
    outside=norm("encoder.LayerNorm", "H", ENCODER_LAYER_NORM),
    heads=roberta_heads("XLMRobertaXL"),
)
