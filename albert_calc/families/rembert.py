"""RemBERT (Chung et al., ICLR 2021): narrow input embedding, wide output embedding, not tied.

Names and shapes are those of transformers' ``RemBertModel`` and its heads.
"""

from albert_calc.families.base import (
    EMBEDDING_PROJECTION,
    EMBEDDING_PROJECTION_BIAS,
    HEADS_DIVIDE_WIDTH,
    OUTPUT_EMBEDDING,
    PREDICTION_HEAD,
    Head,
    Rule,
)
from albert_calc.families.bert import BERT, embeddings
from albert_calc.families.heads import base_heads, task_heads
from albert_calc.families.keys import flag
from albert_calc.families.sizes import Size
from albert_calc.families.tensors import linear, matrix, norm, vector

_PROJECTION = "encoder.embedding_hidden_mapping_in"

_PREDICTIONS = (
    *linear("cls.predictions.dense", "H", "O", PREDICTION_HEAD),
    *matrix("cls.predictions.decoder", "O", "V", OUTPUT_EMBEDDING),
    *vector("cls.predictions.decoder.bias", "V", PREDICTION_HEAD),
    *norm("cls.predictions.LayerNorm", "O", PREDICTION_HEAD),
)

REMBERT = BERT._replace(
    model_type="rembert",
    config_class="RemBertConfig",
    prefix="rembert.",
    defaults={
        "vocab_size": 250300,
        "input_embedding_size": 256,
        "output_embedding_size": 1664,
        "hidden_size": 1152,
        "num_hidden_layers": 32,
        "num_attention_heads": 18,
        "intermediate_size": 4608,
        "max_position_embeddings": 512,
        "type_vocab_size": 2,
        "tie_word_embeddings": False,
        "problem_type": None,
        "hidden_act": "gelu",
        "hidden_dropout_prob": 0.0,
        "attention_probs_dropout_prob": 0.0,
        "classifier_dropout_prob": 0.1,
    },
    names={"embedding_size": "input_embedding_size"},
    sizes=(Size("O", "output_embedding_size", "width of the output embedding"),),
    switches=(flag("tie_word_embeddings"),),
    marks=("input_embedding_size", "output_embedding_size"),
    rules=(
        HEADS_DIVIDE_WIDTH,
        Rule(
            "must be false, since RemBERT's classes tie nothing; counted as built",
            ("tie_word_embeddings",),
            lambda tied: not tied,
            fatal=False,
        ),
    ),
    harmless=("embedding_size", "embedding_dropout_prob"),
    embeddings={
        "transformers": (
            *embeddings(),
            *matrix(_PROJECTION, "E", "H", EMBEDDING_PROJECTION),
            *vector(f"{_PROJECTION}.bias", "H", EMBEDDING_PROJECTION_BIAS),
        ),
    },
    heads={
        **base_heads("RemBert"),
        "masked-lm": Head(("RemBertForMaskedLM",), pooler=False, tensors=_PREDICTIONS),
        "causal-lm": Head(("RemBertForCausalLM",), pooler=False, tensors=_PREDICTIONS),
        **task_heads("RemBert"),
    },
    buffers=("embeddings.position_ids",),
    sdpa=False,
)
