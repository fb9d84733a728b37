"""BERT (Devlin et al., NAACL 2019): standard embedding, every layer its own.

Names and shapes are those of transformers' ``BertModel`` and its heads.
"""

from albert_calc.algebra import Dim
from albert_calc.families.base import (
    ATTENTION,
    EMBEDDING_LAYER_NORM,
    FEED_FORWARD,
    POOLER,
    POSITION_EMBEDDING,
    PREDICTION_HEAD,
    SEQUENCES,
    TOKEN_EMBEDDING,
    TOKEN_TYPE_EMBEDDING,
    Family,
    Head,
    Tensor,
)
from albert_calc.families.heads import base_heads, output_embedding, sequence_classifier, task_heads
from albert_calc.families.tensors import linear, norm, table

TOKENS_NAME = "embeddings.word_embeddings"


def lookup_tables(positions: Dim = "E") -> tuple[Tensor, ...]:
    """Tokens, positions and segments."""
    return (
        *table(TOKENS_NAME, "V", "E", TOKEN_EMBEDDING),
        *table("embeddings.position_embeddings", "P", positions, POSITION_EMBEDDING),
        *table("embeddings.token_type_embeddings", "T", positions, TOKEN_TYPE_EMBEDDING),
    )


def embeddings(positions: Dim = "E", normed: Dim = "E") -> tuple[Tensor, ...]:
    """Tokens, positions and segments, and the LayerNorm over their sum."""
    return (
        *lookup_tables(positions),
        *norm("embeddings.LayerNorm", normed, EMBEDDING_LAYER_NORM),
    )


def predictions(norm_name: str = "LayerNorm") -> tuple[Tensor, ...]:
    """BERT's prediction of masked tokens: a dense layer, a LayerNorm, the output."""
    return (
        *linear("cls.predictions.transform.dense", "H", "E", PREDICTION_HEAD),
        *norm(f"cls.predictions.transform.{norm_name}", "E", PREDICTION_HEAD),
        *output_embedding(
            "cls.predictions.bias", "cls.predictions.decoder", "E", f"{TOKENS_NAME}.weight"
        ),
    )


# BERT's next-sentence classifier has two outputs whatever num_labels says.
NEXT_SENTENCE = sequence_classifier(2, "cls.seq_relationship")

ATTENTION_TENSORS = (
    *linear("attention.self.query", "H", "H", ATTENTION),
    *linear("attention.self.key", "H", "H", ATTENTION),
    *linear("attention.self.value", "H", "H", ATTENTION),
    *linear("attention.output.dense", "H", "H", ATTENTION),
)

FEED_FORWARD_TENSORS = (
    *linear("intermediate.dense", "H", "I", FEED_FORWARD),
    *linear("output.dense", "I", "H", FEED_FORWARD),
)


def pretrained_heads(names: str, tensors: tuple[Tensor, ...]) -> dict[str, Head]:
    """BERT's own heads over *tensors* that predict tokens; *names* begins the classes' names."""
    return {
        "masked-lm": Head((f"{names}ForMaskedLM",), pooler=False, tensors=tensors),
        "causal-lm": Head(
            (f"{names}LMHeadModel", f"{names}ForCausalLM"), pooler=False, tensors=tensors
        ),
        "pretraining": Head(
            (f"{names}ForPreTraining",), pooler=True, tensors=(*tensors, *NEXT_SENTENCE)
        ),
        "next-sentence-prediction": Head(
            (f"{names}ForNextSentencePrediction",), pooler=True, tensors=NEXT_SENTENCE
        ),
    }


BERT = Family(
    model_type="bert",
    config_class="BertConfig",
    prefix="bert.",
    defaults={
        "vocab_size": 30522,
        "hidden_size": 768,
        "num_hidden_layers": 12,
        "num_attention_heads": 12,
        "intermediate_size": 3072,
        "max_position_embeddings": 512,
        "type_vocab_size": 2,
        "tie_word_embeddings": True,
        "problem_type": None,
        "hidden_act": "gelu",
        "hidden_dropout_prob": 0.1,
        "attention_probs_dropout_prob": 0.1,
        "classifier_dropout": None,
    },
    embeddings={
        "transformers": embeddings(),
        "handbook": embeddings(normed="H"),
        "paper": embeddings("H", "H"),
    },
    layer_name="encoder.layer.{}.",
    layer=(
        *ATTENTION_TENSORS,
        *norm("attention.output.LayerNorm", "H", ATTENTION),
        *FEED_FORWARD_TENSORS,
        *norm("output.LayerNorm", "H", FEED_FORWARD),
    ),
    pooler=linear("pooler.dense", "H", "H", POOLER, applied=SEQUENCES),
    heads={
        **base_heads("Bert"),
        **pretrained_heads("Bert", predictions()),
        **task_heads("Bert"),
    },
)
