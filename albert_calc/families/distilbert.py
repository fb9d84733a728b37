"""DistilBERT (Sanh et al., 2019): BERT with half the layers, no segments and no pooler.

Names and shapes are those of transformers' ``DistilBertModel`` and its heads.
"""

from albert_calc.algebra import Dim
from albert_calc.families.base import (
    ATTENTION,
    EMBEDDING_LAYER_NORM,
    FEED_FORWARD,
    OUTPUT_EMBEDDING,
    POSITION_EMBEDDING,
    PREDICTION_HEAD,
    TOKEN_EMBEDDING,
    Family,
    Head,
    Rule,
    Tensor,
)
from albert_calc.families.bert import TOKENS_NAME
from albert_calc.families.heads import base_heads, sequence_classifier, task_heads, token_classifier
from albert_calc.families.tensors import linear, matrix, norm, table, vector

# The output has one bias whether its matrix is tied or not.
_PREDICTIONS = (
    *linear("vocab_transform", "H", "E", PREDICTION_HEAD),
    *norm("vocab_layer_norm", "E", PREDICTION_HEAD),
    *matrix("vocab_projector", "E", "V", OUTPUT_EMBEDDING, tied_to=f"{TOKENS_NAME}.weight"),
    *vector("vocab_projector.bias", "V", PREDICTION_HEAD),
)


def _classifier(outputs: Dim) -> tuple[Tensor, ...]:
    """A classifier of two layers over the first token."""
    return (*sequence_classifier("H", "pre_classifier"), *sequence_classifier(outputs))


DISTILBERT = Family(
    model_type="distilbert",
    config_class="DistilBertConfig",
    prefix="distilbert.",
    defaults={
        "vocab_size": 30522,
        "dim": 768,
        "n_layers": 6,
        "n_heads": 12,
        "hidden_dim": 3072,
        "max_position_embeddings": 512,
        "tie_word_embeddings": True,
        "problem_type": None,
        "sinusoidal_pos_embds": False,
        "activation": "gelu",
        "dropout": 0.1,
        "attention_dropout": 0.1,
        "qa_dropout": 0.1,
        "seq_classif_dropout": 0.2,
    },
    names={
        "hidden_size": "dim",
        "num_hidden_layers": "n_layers",
        "num_attention_heads": "n_heads",
        "intermediate_size": "hidden_dim",
    },
    aliases={
        "hidden_size": "hidden_size",
        "num_hidden_layers": "num_hidden_layers",
        "num_attention_heads": "num_attention_heads",
    },
    harmless=("tie_weights_",),
    # dim, n_layers, n_heads and hidden_dim are also keys of LLaMA's and Mistral's own files.
    marks=("sinusoidal_pos_embds", "seq_classif_dropout", "qa_dropout"),
    embeddings={
        "transformers": (
            *table(TOKENS_NAME, "V", "E", TOKEN_EMBEDDING),
            *table("embeddings.position_embeddings", "P", "E", POSITION_EMBEDDING),
            *norm("embeddings.LayerNorm", "E", EMBEDDING_LAYER_NORM),
        ),
    },
    layer_name="transformer.layer.{}.",
    layer=(
        *linear("attention.q_lin", "H", "H", ATTENTION),
        *linear("attention.k_lin", "H", "H", ATTENTION),
        *linear("attention.v_lin", "H", "H", ATTENTION),
        *linear("attention.out_lin", "H", "H", ATTENTION),
        *norm("sa_layer_norm", "H", ATTENTION),
        *linear("ffn.lin1", "H", "I", FEED_FORWARD),
        *linear("ffn.lin2", "I", "H", FEED_FORWARD),
        *norm("output_layer_norm", "H", FEED_FORWARD),
    ),
    heads={
        **base_heads("DistilBert", pooler=False),
        "masked-lm": Head(("DistilBertForMaskedLM",), pooler=False, tensors=_PREDICTIONS),
        **task_heads("DistilBert", classifier=_classifier("C")),
        "multiple-choice": Head(
            ("DistilBertForMultipleChoice",), pooler=False, tensors=_classifier(1)
        ),
        "question-answering": Head(
            ("DistilBertForQuestionAnswering",),
            pooler=False,
            tensors=token_classifier(name="qa_outputs"),
            rules=(
                Rule(
                    "must be 2 for question-answering: its class is built with no other",
                    ("num_labels",),
                    lambda labels: labels == 2,
                ),
            ),
        ),
    },
    buffers=("embeddings.position_ids",),
)
