"""Keys of a ``config.json``: those that any may have, and those that no table describes."""

from collections.abc import Iterator, Mapping
from typing import Any

from albert_calc.families.base import Family, Same
from albert_calc.families.sizes import SIZES, SYMBOLS
from albert_calc.named_tuple import NamedTuple
from albert_calc.writing.harmless import printable, shown

GENERAL: frozenset[str] = frozenset(
    """
    _attn_implementation_autoset _commit_hash _name_or_path adapters add_cross_attention
    architectures attn_implementation auto_map bad_words_ids begin_suppress_tokens bos_token_id
    chunk_size_feed_forward classifier_dropout cls_token_id cross_attention_hidden_size
    decoder_start_token_id directionality diversity_penalty do_sample down_scale_factor dtype
    early_stopping encoder_no_repeat_ngram_size eos_token_id eos_token_ids
    exponential_decay_length_penalty export_model_type finetuning_task forced_bos_token_id
    forced_eos_token_id gap_size gradient_checkpointing id2label initializer_range is_decoder
    is_encoder_decoder label2id language layer_norm_eps layers_to_keep length_penalty ln_type
    mask_token_id max_length max_memory min_length model_type net_structure_type
    no_repeat_ngram_size num_beam_groups num_beams num_labels num_memory_blocks
    num_return_sequences output_attentions output_hidden_states output_past output_scores
    pad_token_id pooler_fc_size pooler_num_attention_heads pooler_num_fc_layers
    pooler_size_per_head pooler_type position_embedding_type prefix problem_type pruned_heads
    quantization_config remove_invalid_values repetition_penalty return_dict
    return_dict_in_generate sentence_transformers sep_token_id summary_activation
    summary_last_dropout summary_type summary_use_proj suppress_tokens task_specific_params
    temperature tf_legacy_loss tie_encoder_decoder tie_word_embeddings tokenizer_class top_k
    top_p torch_dtype torchscript transformers.js_config transformers_version typical_p
    unk_token_id use_bfloat16 use_cache vocab_type xla_device
    """.split()
)
"""Keys that the config of any family may have, and that count nothing by themselves."""

OF_PRESETS = ("source", "published", "hub", "aliases")
"""Keys that only the files of presets have."""

_OFF: tuple[object, ...] = (False, None, 0, "", {}, [])


class Refusal(NamedTuple):
    """A key whose count no table describes: the values that change nothing, and why not.

    A ``Same`` among the values is that of another key. It is harmless too where *unless*
    another key has one of these values, and in families whose own class reads the key or
    whose tables say what it means.
    """

    keys: tuple[str, ...]
    reason: str
    harmless: tuple[object, ...] = _OFF
    unless: tuple[str, tuple[object, ...]] | None = None


_NO_CROSS_ATTENTION = ("add_cross_attention", (False,))

REFUSALS: tuple[Refusal, ...] = (
    Refusal(
        ("add_cross_attention",),
        "asks for a decoder with cross-attention in every layer, and only encoders are counted",
    ),
    Refusal(
        ("fusion_layer",),
        "adds cross-attention from that layer on (ALBEF), which is not counted",
        unless=_NO_CROSS_ATTENTION,
    ),
    Refusal(
        ("encoder_width",),
        "adds cross-attention to another encoder of that width (BLIP), which is not counted",
        unless=_NO_CROSS_ATTENTION,
    ),
    Refusal(
        ("cross_attention_freq", "query_length"),
        "adds cross-attention and a second feed-forward block (Q-Former), which are not counted",
    ),
    Refusal(
        ("position_embedding_type",),
        "relative positions add tensors in transformers up to 4.57 and in its checkpoints, and"
        " where they are rotary or ALiBi there is no position table; transformers 5 builds"
        " absolute positions whatever this says",
        ("absolute", None),
    ),
    Refusal(
        ("pruned_heads",),
        "a checkpoint with pruned heads has smaller attention matrices;"
        " transformers 5 builds whole ones whatever this says",
    ),
    Refusal(
        ("quantization_config",),
        "quantized weights are stored packed and with scales, so that a checkpoint has other"
        " tensors than the model counted here",
    ),
    Refusal(
        ("use_relative_position",),
        "relative positions take the place of the position table (NEZHA), which is not counted",
    ),
    Refusal(
        ("alibi_starting_size",),
        "ALiBi takes the place of the position table, and feed-forward blocks are gated"
        " (MosaicBERT), which is not counted",
    ),
    Refusal(
        ("feed_forward_type",),
        "gated feed-forward blocks (JinaBERT) are not counted",
        (None, "original", "mlp"),
    ),
    Refusal(
        ("v_hidden_size", "bi_hidden_size", "v_num_hidden_layers", "bi_num_attention_heads",
         "v_biattention_id", "t_biattention_id"),
        "a second stream for images (ViLBERT) is not counted",
    ),
    Refusal(
        ("img_feature_dim", "img_feature_type", "visual_embedding_dim"),
        "a projection of image features is not counted",
    ),
    Refusal(
        ("word_embed_dim", "add_layers"),
        "attention over words (LEBERT) is not counted",
    ),
    Refusal(
        ("hidden_size_aug", "pals", "houlsby", "adapter_size", "adapter_config",
         "lora_rank", "lora_r", "lora_adaptations"),
        "adapters in every layer are not counted",
    ),
    Refusal(
        ("pre_seq_len", "prefix_projection", "prefix_hidden_size"),
        "a trained prefix (P-tuning v2) is not counted",
    ),
    Refusal(
        ("attention_window",),
        "windows with projections of their own (Longformer) are not counted",
    ),
    Refusal(
        ("use_task_id", "task_type_vocab_size"),
        "a table of task types is counted for model_type ernie only",
    ),
    Refusal(
        ("max_2d_position_embeddings", "coordinate_size", "shape_size"),
        "tables of two-dimensional positions (LayoutLM) are not counted",
    ),
    Refusal(
        ("relative_attention", "max_relative_positions", "pos_att_type", "position_buckets",
         "talking_head", "conv_kernel_size"),
        "disentangled attention is counted for model_type deberta and deberta-v2 only",
        (*_OFF, -1),
    ),
    Refusal(
        ("use_bottleneck", "trigram_input", "intra_bottleneck_size"),
        "bottlenecks are counted for model_type mobilebert only",
    ),
    Refusal(
        ("vocab_size_or_config_json_file",),
        "an old name of vocab_size, which no class reads now; give vocab_size",
        (None, Same("vocab_size")),
    ),
    Refusal(
        ("tie_weights_",),
        "an old name of tie_word_embeddings, which no class reads now; give that",
        (True, None),
    ),
    Refusal(
        ("input_embedding_size", "output_embedding_size"),
        "widths of their own for input and output are counted for model_type rembert only",
        (*_OFF, Same("hidden_size")),
    ),
    Refusal(
        ("qkv_size",),
        "attention of another width than hidden_size (AutoTinyBERT) is not counted",
        (*_OFF, Same("hidden_size")),
    ),
    Refusal(
        ("use_bias",),
        "layers without biases (RoFormer 2) are not counted",
        (True, None),
    ),
    Refusal(
        ("num_qkv",),
        "several sets of query, key and value in a layer (UniLM) are not counted",
        (*_OFF, 1),
    ),
    Refusal(
        ("seg_emb",),
        "a table of segments in every layer (UniLM) is not counted",
    ),
    Refusal(
        ("rel_pos_bins", "rel_2d_pos_bins"),
        "a learned bias by distance (UniLM 2, LayoutLM 2) is not counted",
    ),
    Refusal(
        ("type_vocab_sizes",),
        "a table for each kind of segment (TAPAS) is not counted",
    ),
    Refusal(
        ("num_hidden_word_layers",),
        "a second encoder, of n-grams (ZEN), is not counted",
    ),
    Refusal(
        ("moe", "num_experts", "num_local_experts"),
        "layers with several experts are not counted",
        (*_OFF, 1),
    ),
)  # fmt: skip
"""Keys of public configs that change a count in ways that only other code builds."""

ACTIVATION_KEYS = (
    "hidden_act",
    "activation",
    "hidden_activation",
    "classifier_activation",
    "summary_activation",
)
"""Keys that name an activation function which becomes a part of the model."""

LEARNED_ACTIVATIONS: Mapping[str, str] = {
    "prelu": "a slope for each place where it stands",
    "xielu": "two slopes for each place where it stands",
}
"""Functions of transformers that have parameters, and which: all others have none."""

_ELSEWHERE: Mapping[str, str] = {
    "num_layers": "num_hidden_layers",
    "n_layers": "num_hidden_layers",
    "num_heads": "num_attention_heads",
    "n_heads": "num_attention_heads",
    "hidden_dim": "hidden_size",
    "d_model": "hidden_size",
    "ffn_dim": "intermediate_size",
    "max_seq_length": "max_position_embeddings",
    "num_classes": "num_labels",
}
"""What other configs call sizes."""

_MOST_MEANT = 200
"""The most keys of a config whose unknown ones are compared with those that there are."""

# A config that has one of these and is not refused has a value that changes nothing.
_REFUSABLE = frozenset(key for refusal in REFUSALS for key in refusal.keys)


def refused(tables: Family, given: Mapping[str, Any]) -> Iterator[str]:
    """What keys of *given* change in ways that no table describes, one line each."""
    for key, (harmless, reason) in tables.refused.items():
        if key in given and not _among(given[key], harmless):
            yield f"{printable(key)}: {reason}, got {shown(given[key])}"
    for key in ACTIVATION_KEYS:
        learned = LEARNED_ACTIVATIONS.get(given[key]) if isinstance(given.get(key), str) else None
        if learned and key in tables.defaults:
            yield (
                f"{key}: this function is learned ({learned}), and such parameters are not"
                f" counted, got {shown(given[key])}"
            )
    for refusal in REFUSALS:
        if given.keys().isdisjoint(refusal.keys):
            continue
        if refusal.unless and _among(given.get(refusal.unless[0]), refusal.unless[1]):
            continue
        harmless = tuple(given.get(v.key) if isinstance(v, Same) else v for v in refusal.harmless)
        for key in refusal.keys:
            own = key in tables.defaults and key not in GENERAL
            known = own or key in tables.harmless or key in tables.refused
            if key in given and not known and not _among(given[key], harmless):
                yield f"{key}: {refusal.reason}, got {shown(given[key])}"
    if isinstance(given.get("type_vocab_size"), list):
        yield (
            "type_vocab_size: a list is a table for each of its entries (TAPAS), which is not"
            f" counted, got {shown(given['type_vocab_size'])}"
        )


def _among(value: object, values: tuple[object, ...]) -> bool:
    """Whether *value* is one of *values*, where 0 is no false and 1 no true."""
    return any(type(value) is type(v) and value == v for v in values)


def key_warnings(tables: Family, given: Mapping[str, Any]) -> Iterator[str]:
    """Keys of *given* that the family's class does not know, and code of the config's own."""
    known = {
        *tables.defaults,
        *tables.aliases,
        *tables.alias_notes,
        *tables.refused,
        *tables.harmless,
        *_REFUSABLE,
        *GENERAL,
        *OF_PRESETS,
    }
    for key in given:
        if key == "embedding_size" and not tables.has(key):
            if given[key] != given.get(tables.name_of("hidden_size"), given[key]):
                yield (
                    f"embedding_size: ignored, since {tables.model_type} has no projection and"
                    f" embeds at hidden_size, got {shown(given[key])}"
                )
        elif key in SYMBOLS and not tables.has(key) and key not in known:
            if not _is_neutral(key, given[key]):
                yield f"{key}: ignored, since {tables.model_type} has none, got {shown(given[key])}"
        elif key not in known:
            meant = _meant(key, tables) if len(given) <= _MOST_MEANT else ""
            hint = f"; did you mean {meant}?" if meant else ""
            yield f"{printable(key, 80)}: unknown to {tables.config_class}, which ignores it{hint}"
    if not _among(given.get("auto_map"), _OFF):
        yield (
            "auto_map: the config names code of its own; what is counted is the class of"
            " transformers for this model_type"
        )


def _meant(key: str, tables: Family) -> str:
    """The key of the family that an unknown *key* is a slip of, or another name of."""
    from difflib import get_close_matches

    usual = tables.names.get(key) or tables.names.get(_ELSEWHERE.get(key, ""))
    if usual or key in _ELSEWHERE:
        return usual or _ELSEWHERE[key]
    near = get_close_matches(key.lower()[:60], tables.defaults, n=1, cutoff=0.85)
    return near[0] if near else ""


def _is_neutral(key: str, value: object) -> bool:
    return any(s.key == key and s.neutral is not None and s.neutral == value for s in SIZES)
