"""Nomic BERT (Nussbaum et al., 2024): rotary positions, gated feed-forward, no biases.

Names and shapes are those of transformers' ``NomicBertModel`` and its heads. Public configs
are often written for the code of nomic-ai/contrastors, which names sizes as GPT-2 does and
can build other models too; the keys and their meaning are those of its
``configuration_hf_nomic_bert.py``.
"""

from albert_calc.algebra import times
from albert_calc.families.base import (
    ATTENTION,
    EMBEDDING_LAYER_NORM,
    FEED_FORWARD,
    POOLER,
    SEQUENCES,
    TOKEN_EMBEDDING,
    TOKEN_TYPE_EMBEDDING,
    Computed,
    Family,
    Head,
    Rule,
    attention_products,
)
from albert_calc.families.bert import TOKENS_NAME, predictions
from albert_calc.families.heads import base_heads, sequence_classifier, token_classifier
from albert_calc.families.sizes import Size
from albert_calc.families.tensors import linear, matrix, norm, table

_ALIASES = {
    "n_embd": "hidden_size",
    "n_layer": "num_hidden_layers",
    "n_head": "num_attention_heads",
    "n_inner": "intermediate_size",
}

_OFF: tuple[object, ...] = (False, None)

_WIDTH = times("A", "D")
"""All heads of attention together."""

# Checkpoints have the names of the original code, and so has what save_pretrained writes.
_STORED = {
    "emb_ln.weight": ("embeddings.LayerNorm.weight",),
    "emb_ln.bias": ("embeddings.LayerNorm.bias",),
    **{
        f"encoder.layers.{{}}.{original}": tuple(f"layers.{{}}.{name}" for name in names.split())
        for original, names in {
            "attn.Wqkv.weight": (
                "self_attn.q_proj.weight self_attn.k_proj.weight self_attn.v_proj.weight"
            ),
            "attn.out_proj.weight": "self_attn.o_proj.weight",
            "mlp.fc11.weight": "mlp.up_proj.weight",
            "mlp.fc12.weight": "mlp.gate_proj.weight",
            "mlp.fc2.weight": "mlp.down_proj.weight",
            "norm1.weight": "post_attention_layernorm.weight",
            "norm1.bias": "post_attention_layernorm.bias",
            "norm2.weight": "post_mlp_layernorm.weight",
            "norm2.bias": "post_mlp_layernorm.bias",
        }.items()
    },
}

NOMIC_BERT = Family(
    model_type="nomic_bert",
    config_class="NomicBertConfig",
    prefix="nomic_bert.",
    defaults={
        "vocab_size": 30528,
        "hidden_size": 768,
        "num_hidden_layers": 12,
        "num_attention_heads": 12,
        "intermediate_size": 3072,
        "max_position_embeddings": 2048,
        "type_vocab_size": 2,
        "head_dim": Computed(
            ("hidden_size", "num_attention_heads"), lambda width, heads: width // heads
        ),
        "tie_word_embeddings": True,
        "rope_parameters": None,
        "rope_scaling": None,
        "rope_theta": None,
        "hidden_act": "silu",
        "hidden_dropout_prob": 0.0,
        "attention_probs_dropout_prob": 0.0,
        "classifier_dropout": None,
    },
    aliases=_ALIASES,
    alias_notes={
        **{
            alias: f"read as {key}; transformers 5.24 ignores this key and takes its default"
            for alias, key in _ALIASES.items()
        },
        "n_positions": "ignored; transformers 5.24 reads max_position_embeddings alone",
    },
    sizes=(Size("D", "head_dim", "width of an attention head"),),
    rules=(
        Rule(
            "must be a positive even number, as rotary positions need"
            " (hidden_size // num_attention_heads unless it is given)",
            ("head_dim",),
            lambda width: width > 0 and (width in (1, 3) or width % 2 == 0),
        ),
        Rule(
            "must be even for such a model to run; counted as built",
            ("head_dim",),
            lambda width: width % 2 == 0,
            fatal=False,
        ),
    ),
    refused={
        "qkv_proj_bias": (_OFF, "biases in the attention are not counted"),
        "mlp_fc1_bias": (_OFF, "biases in the feed-forward block are not counted"),
        "mlp_fc2_bias": (_OFF, "biases in the feed-forward block are not counted"),
        "use_rms_norm": (_OFF, "norms without a shift are not counted"),
        "norm_mlp": (_OFF, "a norm inside the feed-forward block is not counted"),
        "layer_scale": (_OFF, "scales of the blocks' outputs are not counted"),
        "prenorm": (_OFF, "a model that is normed before its blocks is not counted"),
        "parallel_block": (_OFF, "a model with its blocks side by side is not counted"),
        "parallel_block_tied_norm": (_OFF, "a norm that two blocks share is not counted"),
        "activation_function": (
            (None, "swiglu", "geglu", "glu"),
            "a feed-forward block without a gate is not counted",
        ),
        "rotary_emb_fraction": (
            (None, 1, 1.0),
            "learned positions, or rotary ones in a part of each head, are not counted",
        ),
        "num_heads_kv": ((None,), "keys and values of fewer heads are not counted"),
        "num_experts": ((None, 0), "layers with several experts are not counted"),
        "img_size": ((None,), "an encoder of images is not counted"),
        "patch_size": ((None,), "an encoder of images is not counted"),
    },
    harmless=(
        "add_pooling_layer",
        "attn_pdrop",
        "causal",
        "dense_seq_output",
        "embd_pdrop",
        "fused_bias_fc",
        "fused_dropout_add_ln",
        "layer_norm_epsilon",
        "max_trained_positions",
        "pad_vocab_size_multiple",
        "reorder_and_upcast_attn",
        "resid_pdrop",
        "rotary_emb_base",
        "rotary_emb_interleaved",
        "rotary_emb_scale_base",
        "rotary_scaling_factor",
        "scale_attn_by_inverse_layer_idx",
        "scale_attn_weights",
        "summary_first_dropout",
        "summary_proj_to_labels",
        "use_flash_attn",
        "use_xentropy",
    ),
    embeddings={
        "transformers": (
            *table(TOKENS_NAME, "V", "E", TOKEN_EMBEDDING),
            *table("embeddings.token_type_embeddings", "T", "E", TOKEN_TYPE_EMBEDDING),
            *norm("embeddings.LayerNorm", "E", EMBEDDING_LAYER_NORM),
        ),
    },
    layer_name="layers.{}.",
    layer=(
        *norm("post_attention_layernorm", "H", ATTENTION),
        *matrix("mlp.gate_proj", "H", "I", FEED_FORWARD),
        *matrix("mlp.up_proj", "H", "I", FEED_FORWARD),
        *matrix("mlp.down_proj", "I", "H", FEED_FORWARD),
        *matrix("self_attn.q_proj", "H", _WIDTH, ATTENTION),
        *matrix("self_attn.k_proj", "H", _WIDTH, ATTENTION),
        *matrix("self_attn.v_proj", "H", _WIDTH, ATTENTION),
        *matrix("self_attn.o_proj", _WIDTH, "H", ATTENTION),
        *norm("post_mlp_layernorm", "H", FEED_FORWARD),
    ),
    products=attention_products(_WIDTH),
    pooler=linear("pooler.dense", "H", "H", POOLER, applied=SEQUENCES),
    heads={
        **base_heads("NomicBert", pooler=False),
        "masked-lm": Head(
            ("NomicBertForMaskedLM",), pooler=False, tensors=predictions("layer_norm")
        ),
        "sequence-classification": Head(
            ("NomicBertForSequenceClassification",), pooler=True, tensors=sequence_classifier()
        ),
        "token-classification": Head(
            ("NomicBertForTokenClassification",), pooler=False, tensors=token_classifier()
        ),
    },
    buffers=(
        "embeddings.position_ids",
        "embeddings.token_type_ids",
        "rotary_emb.inv_freq",
        "rotary_emb.original_inv_freq",
    ),
    stored=_STORED,
)
