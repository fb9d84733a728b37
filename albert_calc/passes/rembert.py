"""RemBERT's forward pass: the embeddings are projected to H, and tokens predicted at O."""

from albert_calc.families.base import TOKENS
from albert_calc.passes.bert import BERT, LAYER_MODULES
from albert_calc.passes.common import embeddings_pass, language_heads, layer_pass, pooled_heads
from albert_calc.passes.steps import projected

REMBERT = BERT._replace(
    embeddings=(
        *embeddings_pass(output="dropped embeddings", segments=TOKENS),
        projected("encoder.embedding_hidden_mapping_in", "dropped embeddings", "hidden", "H"),
    ),
    layer=layer_pass(*LAYER_MODULES),
    heads={
        **pooled_heads("classifier_dropout_prob"),
        **language_heads(
            "cls.predictions.dense",
            "cls.predictions.LayerNorm",
            "cls.predictions.decoder",
            width="O",
        ),
    },
)
