"""MPNet (Song et al., NeurIPS 2020): BERT's encoder with a bias for relative positions.

Names and shapes are those of transformers' ``MPNetModel`` and its heads.
"""

from albert_calc.families.base import (
    ATTENTION,
    EMBEDDING_LAYER_NORM,
    FEED_FORWARD,
    HEADS_DIVIDE_WIDTH,
    POSITION_EMBEDDING,
    RELATIVE_POSITIONS,
    TOKEN_EMBEDDING,
    Head,
    Rule,
)
from albert_calc.families.bert import BERT, FEED_FORWARD_TENSORS, TOKENS_NAME
from albert_calc.families.heads import base_heads, dense_classifier, task_heads
from albert_calc.families.roberta import PREDICTIONS
from albert_calc.families.sizes import Size
from albert_calc.families.tensors import linear, norm, table


def _with_padding(key: str) -> Rule:
    return Rule("must be at least 2: row 1 is that of padding", (key,), lambda rows: rows > 1)


MPNET = BERT._replace(
    model_type="mpnet",
    config_class="MPNetConfig",
    reserved_positions=2,
    prefix="mpnet.",
    defaults={
        "vocab_size": 30527,
        "hidden_size": 768,
        "num_hidden_layers": 12,
        "num_attention_heads": 12,
        "intermediate_size": 3072,
        "max_position_embeddings": 512,
        "relative_attention_num_buckets": 32,
        "tie_word_embeddings": True,
        "hidden_act": "gelu",
        "hidden_dropout_prob": 0.1,
        "attention_probs_dropout_prob": 0.1,
    },
    sizes=(Size("R", "relative_attention_num_buckets", "buckets of relative positions"),),
    marks=("relative_attention_num_buckets",),
    rules=(
        HEADS_DIVIDE_WIDTH,
        _with_padding("vocab_size"),
        _with_padding("max_position_embeddings"),
        Rule(
            "must be at least 32, since the class sorts positions into 32 buckets whatever this"
            " says, for such a model to run; counted as built",
            ("relative_attention_num_buckets",),
            lambda buckets: buckets >= 32,
            fatal=False,
        ),
    ),
    embeddings={
        "transformers": (
            *table(TOKENS_NAME, "V", "E", TOKEN_EMBEDDING),
            *table("embeddings.position_embeddings", "P", "E", POSITION_EMBEDDING),
            *norm("embeddings.LayerNorm", "E", EMBEDDING_LAYER_NORM),
        ),
    },
    layer=(
        *linear("attention.attn.q", "H", "H", ATTENTION),
        *linear("attention.attn.k", "H", "H", ATTENTION),
        *linear("attention.attn.v", "H", "H", ATTENTION),
        *linear("attention.attn.o", "H", "H", ATTENTION),
        *norm("attention.LayerNorm", "H", ATTENTION),
        *FEED_FORWARD_TENSORS,
        *norm("output.LayerNorm", "H", FEED_FORWARD),
    ),
    outside=table("encoder.relative_attention_bias", "R", "A", RELATIVE_POSITIONS),
    heads={
        **base_heads("MPNet"),
        "masked-lm": Head(("MPNetForMaskedLM",), pooler=False, tensors=PREDICTIONS),
        **task_heads("MPNet", classifier=dense_classifier()),
    },
    buffers=("embeddings.position_ids",),
    checkpointing=False,
    sdpa=False,
)
