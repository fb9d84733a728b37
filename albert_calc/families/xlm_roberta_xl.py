"""XLM-RoBERTa-XL (Goyal et al., 2021): RoBERTa with LayerNorms before the blocks.

Names and shapes are those of transformers' ``XLMRobertaXLModel`` and its heads.
"""

from albert_calc.families.base import ATTENTION, ENCODER_LAYER_NORM, FEED_FORWARD, norm
from albert_calc.families.bert import ATTENTION_TENSORS, BERT, FEED_FORWARD_TENSORS, lookup_tables
from albert_calc.families.passes import HIDDEN_DROPOUT, embeddings_pass, layer_pass
from albert_calc.families.roberta import ROBERTA_FORWARD, roberta_heads
from albert_calc.families.steps import ALL_TOKENS, normalized

XLM_ROBERTA_XL = BERT._replace(
    model_type="xlm-roberta-xl",
    config_class="XLMRobertaXLConfig",
    reserved_positions=2,
    prefix="roberta.",
    defaults={
        **BERT.defaults,
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
    # There is no dropout after the feed-forward block.
    forward=ROBERTA_FORWARD._replace(
        embeddings=embeddings_pass(segments=ALL_TOKENS, positions=ALL_TOKENS, norm=""),
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
    ),
)
