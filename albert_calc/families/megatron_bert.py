"""Megatron-BERT (Shoeybi et al., 2019): BERT with LayerNorms before the blocks.

Names and shapes are those of transformers' ``MegatronBertModel`` and its heads.
"""

from albert_calc.families.base import ATTENTION, ENCODER_LAYER_NORM, FEED_FORWARD
from albert_calc.families.bert import (
    ATTENTION_TENSORS,
    BERT,
    FEED_FORWARD_TENSORS,
    lookup_tables,
    predictions,
    pretrained_heads,
)
from albert_calc.families.heads import base_heads, task_heads
from albert_calc.families.tensors import norm

MEGATRON_BERT = BERT._replace(
    model_type="megatron-bert",
    config_class="MegatronBertConfig",
    prefix="bert.",
    defaults={
        **{key: value for key, value in BERT.defaults.items() if key != "classifier_dropout"},
        "vocab_size": 29056,
        "hidden_size": 1024,
        "num_hidden_layers": 24,
        "num_attention_heads": 16,
        "intermediate_size": 4096,
    },
    embeddings={"transformers": lookup_tables()},
    layer=(
        *norm("attention.ln", "H", ATTENTION),
        *ATTENTION_TENSORS,
        *norm("ln", "H", FEED_FORWARD),
        *FEED_FORWARD_TENSORS,
    ),
    outside=norm("encoder.ln", "H", ENCODER_LAYER_NORM),
    heads={
        **base_heads("MegatronBert"),
        **pretrained_heads("MegatronBert", predictions()),
        **task_heads("MegatronBert"),
    },
    buffers=("embeddings.position_ids",),
    sdpa=False,
)
