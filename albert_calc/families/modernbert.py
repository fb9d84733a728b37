"""ModernBERT (Warner et al., 2024): rotary positions, gated feed-forward, biases by choice.

Names and shapes are those of transformers' ``ModernBertModel`` and its heads.
"""

from typing import Any

from albert_calc.algebra import Dim, Dims, times
from albert_calc.families.base import (
    ATTENTION,
    EMBEDDING_LAYER_NORM,
    ENCODER_LAYER_NORM,
    FEED_FORWARD,
    HEADS_DIVIDE_WIDTH,
    OUTPUT_EMBEDDING,
    PREDICTION_HEAD,
    SEQUENCE_CLASSIFIER,
    SEQUENCES,
    TOKEN_CLASSIFIER,
    TOKEN_EMBEDDING,
    TOKENS,
    Component,
    Family,
    Head,
    Rule,
    Tensor,
)
from albert_calc.families.heads import base_heads
from albert_calc.families.keys import choice, flag, given
from albert_calc.families.tensors import linear, matrix, table, vector

TOKENS_NAME = "embeddings.tok_embeddings"


def _linear(
    name: str, inputs: Dim, outputs: Dim, component: Component, bias: str, **more: Any
) -> tuple[Tensor, ...]:
    """A dense layer with a bias if the config has the feature *bias*."""
    return (
        *matrix(name, inputs, outputs, component, **more),
        *vector(f"{name}.bias", outputs, component, when=(bias,), **more),
    )


def _norm(name: str, width: Dim, component: Component, skip: int = 0) -> tuple[Tensor, ...]:
    """A LayerNorm, with a shift if the config asks for one."""
    return (
        *vector(f"{name}.weight", width, component, skip=skip),
        *vector(f"{name}.bias", width, component, when=("norm_bias",), skip=skip),
    )


def _transformed(width: Dim, component: Component, applied: Dims = TOKENS) -> tuple[Tensor, ...]:
    """What every head begins with: a dense layer to *width* and a LayerNorm."""
    return (
        *_linear("head.dense", "H", width, component, "classifier_bias", applied=applied),
        *_norm("head.norm", width, component),
    )


def _classifier(task: str, component: Component, applied: Dims, outputs: Dim = "C") -> Head:
    """A head that classifies every token or every sequence."""
    return Head(
        (f"ModernBertFor{task}",),
        pooler=False,
        tensors=(
            *_transformed("H", component, applied),
            *linear("classifier", "H", outputs, component, applied=applied),
        ),
    )


MODERNBERT = Family(
    model_type="modernbert",
    config_class="ModernBertConfig",
    prefix="model.",
    defaults={
        "vocab_size": 50368,
        "hidden_size": 768,
        "num_hidden_layers": 22,
        "num_attention_heads": 12,
        "intermediate_size": 1152,
        "max_position_embeddings": 8192,
        "attention_bias": False,
        "mlp_bias": False,
        "norm_bias": False,
        "classifier_bias": False,
        "decoder_bias": True,
        "tie_word_embeddings": True,
        "layer_types": None,
        "global_attn_every_n_layers": 3,
        "local_attention": 128,
        "head_dim": None,
        "rope_parameters": None,
        "rope_scaling": None,
        "rope_theta": None,
        "global_rope_theta": 160000.0,
        "local_rope_theta": 10000.0,
        "hidden_activation": "gelu",
        "attention_dropout": 0.0,
        "embedding_dropout": 0.0,
        "mlp_dropout": 0.0,
        "classifier_dropout": 0.0,
        "classifier_activation": "gelu",
        "classifier_pooling": "cls",
        "norm_eps": 1e-5,
        "initializer_cutoff_factor": 2.0,
        "deterministic_flash_attn": False,
        "sparse_prediction": False,
        "sparse_pred_ignore_index": -100,
    },
    switches=(
        flag("attention_bias"),
        flag("mlp_bias"),
        flag("norm_bias"),
        flag("classifier_bias"),
        flag("decoder_bias"),
        choice("classifier_pooling", "cls", "mean"),
    ),
    features={
        "attention_bias": given("attention_bias"),
        "mlp_bias": given("mlp_bias"),
        "norm_bias": given("norm_bias"),
        "classifier_bias": given("classifier_bias"),
        "decoder_bias": given("decoder_bias"),
    },
    rules=(
        HEADS_DIVIDE_WIDTH,
        Rule(
            "must divide {hidden_size} into heads of an even width, as rotary positions need, for"
            " such a model to run; counted as built",
            ("num_attention_heads", "hidden_size"),
            lambda heads, width: width // heads % 2 == 0,
            fatal=False,
        ),
    ),
    stated=(
        Rule(
            "must be a list of full_attention and sliding_attention, one for each of"
            " {num_hidden_layers}",
            ("layer_types", "num_hidden_layers"),
            lambda types, layers: (
                isinstance(types, list)
                and len(types) == layers
                and all(t in ("full_attention", "sliding_attention", "attention") for t in types)
            ),
        ),
        Rule(
            "must be a positive whole number",
            ("global_attn_every_n_layers",),
            lambda every: isinstance(every, int) and every >= 1,
        ),
        Rule(
            "must be an even number, as rotary positions need",
            ("head_dim",),
            lambda width: isinstance(width, int) and (width in (1, 3) or width % 2 == 0),
        ),
    ),
    # There are no learned positions, whatever position_embedding_type says.
    harmless=("position_embedding_type", "reference_compile", "repad_logits_with_grad"),
    embeddings={
        "transformers": (
            *table(TOKENS_NAME, "V", "E", TOKEN_EMBEDDING),
            *_norm("embeddings.norm", "E", EMBEDDING_LAYER_NORM),
        ),
    },
    layer_name="layers.{}.",
    layer=(
        *_norm("attn_norm", "H", ATTENTION, skip=1),
        *_linear("attn.Wqkv", "H", times(3, "H"), ATTENTION, "attention_bias"),
        *_linear("attn.Wo", "H", "H", ATTENTION, "attention_bias"),
        *_norm("mlp_norm", "H", FEED_FORWARD),
        *_linear("mlp.Wi", "H", times(2, "I"), FEED_FORWARD, "mlp_bias"),
        *_linear("mlp.Wo", "I", "H", FEED_FORWARD, "mlp_bias"),
    ),
    outside=_norm("final_norm", "H", ENCODER_LAYER_NORM),
    heads={
        **base_heads("ModernBert", pooler=False),
        "masked-lm": Head(
            ("ModernBertForMaskedLM",),
            pooler=False,
            tensors=(
                *_transformed("E", PREDICTION_HEAD),
                *vector("decoder.bias", "V", PREDICTION_HEAD, when=("decoder_bias",)),
                *matrix("decoder", "E", "V", OUTPUT_EMBEDDING, tied_to=f"{TOKENS_NAME}.weight"),
            ),
        ),
        "sequence-classification": _classifier(
            "SequenceClassification", SEQUENCE_CLASSIFIER, SEQUENCES
        ),
        "multiple-choice": _classifier("MultipleChoice", SEQUENCE_CLASSIFIER, SEQUENCES, 1),
        "token-classification": _classifier("TokenClassification", TOKEN_CLASSIFIER, TOKENS),
        "question-answering": _classifier("QuestionAnswering", TOKEN_CLASSIFIER, TOKENS),
    },
    buffers=(
        "rotary_emb.full_attention_inv_freq",
        "rotary_emb.full_attention_original_inv_freq",
        "rotary_emb.sliding_attention_inv_freq",
        "rotary_emb.sliding_attention_original_inv_freq",
        "layers.{}.attn.rotary_emb.inv_freq",
    ),
)
