"""BERT (Devlin et al., NAACL 2019): standard embedding, every layer its own.

Names and shapes are those of transformers' ``BertModel`` and its heads. May import
only ``albert_calc.architectures.base``.
"""

from albert_calc.architectures.base import (
    ATTENTION,
    EMBEDDING_LAYER_NORM,
    FEED_FORWARD,
    POOLER,
    POSITION_EMBEDDING,
    PREDICTION_HEAD,
    SEQUENCE_CLASSIFIER,
    TOKEN_EMBEDDING,
    TOKEN_TYPE_EMBEDDING,
    Architecture,
    Head,
    linear,
    norm,
    output_embedding,
    table,
    task_heads,
)

_TOKENS = "embeddings.word_embeddings"

_EMBEDDINGS = (
    *table(_TOKENS, "V", "H", TOKEN_EMBEDDING),
    *table("embeddings.position_embeddings", "P", "H", POSITION_EMBEDDING),
    *table("embeddings.token_type_embeddings", "T", "H", TOKEN_TYPE_EMBEDDING),
    *norm("embeddings.LayerNorm", "H", EMBEDDING_LAYER_NORM),
)

_PREDICTIONS = (
    *linear("cls.predictions.transform.dense", "H", "H", PREDICTION_HEAD),
    *norm("cls.predictions.transform.LayerNorm", "H", PREDICTION_HEAD),
    *output_embedding("cls.predictions.bias", "cls.predictions.decoder", "H", f"{_TOKENS}.weight"),
)

# BERT's next-sentence classifier has two outputs whatever num_labels says.
_NEXT_SENTENCE = linear("cls.seq_relationship", "H", 2, SEQUENCE_CLASSIFIER)

BERT = Architecture(
    model_type="bert",
    config_class="BertConfig",
    prefix="bert.",
    defaults={"max_position_embeddings": 512, "type_vocab_size": 2},
    default_share="none",
    embeddings={"transformers": _EMBEDDINGS, "handbook": _EMBEDDINGS, "paper": _EMBEDDINGS},
    layer_name="encoder.layer.{}.",
    shared=(1,),
    unshared=("L",),
    runs=("L",),
    layer=(
        *linear("attention.self.query", "H", "H", ATTENTION),
        *linear("attention.self.key", "H", "H", ATTENTION),
        *linear("attention.self.value", "H", "H", ATTENTION),
        *linear("attention.output.dense", "H", "H", ATTENTION),
        *norm("attention.output.LayerNorm", "H", ATTENTION),
        *linear("intermediate.dense", "H", "I", FEED_FORWARD),
        *linear("output.dense", "I", "H", FEED_FORWARD),
        *norm("output.LayerNorm", "H", FEED_FORWARD),
    ),
    pooler=linear("pooler.dense", "H", "H", POOLER),
    heads={
        "encoder": Head(("BertModel",), pooler=False),
        "model": Head(("BertModel",), pooler=True),
        "masked-lm": Head(("BertForMaskedLM",), pooler=False, tensors=_PREDICTIONS),
        "causal-lm": Head(("BertLMHeadModel",), pooler=False, tensors=_PREDICTIONS),
        "pretraining": Head(
            ("BertForPreTraining",), pooler=True, tensors=(*_PREDICTIONS, *_NEXT_SENTENCE)
        ),
        "next-sentence-prediction": Head(
            ("BertForNextSentencePrediction",), pooler=True, tensors=_NEXT_SENTENCE
        ),
        **task_heads("Bert"),
    },
    buffers=("embeddings.position_ids", "embeddings.token_type_ids"),
)
