"""Write ``families.json``: parameters of every head of every family but ALBERT and BERT.

``PUBLISHED`` are the shapes of published models and some near them, whose config is as
``save_pretrained`` writes it; ``SMALL`` are small ones that depart from a family's defaults in
one key after the other. Made with transformers 5.24.0 and torch 2.13.0+cpu:
``python tests/data/make_families.py``.
"""

import json
from collections.abc import Mapping
from typing import Any

import torch
from real import BUILT, build, classes_of, parameters, settings, write

Config = dict[str, Any]

# What save_pretrained writes and nobody counts by.
IDLE = (
    "transformers_version", "label2id", "bos_token_id", "eos_token_id", "pad_token_id",
    "cls_token_id", "sep_token_id", "initializer_range",
)  # fmt: skip


def sized(model_type: str, V: int, H: int, L: int, A: int, I: int, **more: Any) -> Config:  # noqa: E741, N803 - symbols
    """A config of these sizes."""
    sizes = {
        "vocab_size": V, "hidden_size": H, "num_hidden_layers": L, "num_attention_heads": A,
        "intermediate_size": I,
    }  # fmt: skip
    return {"model_type": model_type, **sizes, **more}


def distilbert(vocab_size: int, **more: Any) -> Config:
    """A DistilBERT of the usual sizes, under its own keys."""
    sizes = {"dim": 768, "n_layers": 6, "n_heads": 12, "hidden_dim": 3072}
    return {"model_type": "distilbert", "vocab_size": vocab_size, **sizes, **more}


BIASED_ONCE = {
    "type_vocab_size": 0, "relative_attention": True, "max_relative_positions": -1,
    "position_biased_input": False,
}  # fmt: skip
"""Positions that count for the attention only, as in every published DeBERTa."""

V3 = {
    **BIASED_ONCE, "position_buckets": 256, "norm_rel_ebd": "layer_norm", "share_att_key": True,
    "pos_att_type": ["p2c", "c2p"],
}  # fmt: skip
"""What the second and third DeBERTa have alike."""

PUBLISHED: Mapping[str, Config] = {
    "distilbert-base-uncased": distilbert(30522, max_position_embeddings=512),
    "distilbert-base-multilingual-cased": distilbert(119547),
    "distilroberta-like distilbert": distilbert(28996, tie_word_embeddings=False, num_labels=5),
    "mpnet-base": sized("mpnet", 30527, 768, 12, 12, 3072, max_position_embeddings=514),
    "mpnet, buckets 64": sized(
        "mpnet", 30527, 384, 4, 6, 1536,
        max_position_embeddings=514, relative_attention_num_buckets=64,
    ),
    "deberta-base": sized(
        "deberta", 50265, 768, 12, 12, 3072, **BIASED_ONCE,
        max_position_embeddings=512, pos_att_type=["c2p", "p2c"], pooler_hidden_size=768,
    ),
    "deberta, content only": sized(
        "deberta", 50265, 768, 2, 12, 3072, relative_attention=False, type_vocab_size=2
    ),
    "deberta, c2p only": sized(
        "deberta", 1000, 96, 2, 4, 200, type_vocab_size=0,
        relative_attention=True, pos_att_type=["c2p"], max_relative_positions=40,
    ),
    "deberta-v3-base": sized(
        "deberta-v2", 128100, 768, 12, 12, 3072, **V3,
        max_position_embeddings=512, pooler_hidden_size=768,
    ),
    "deberta-v3-large": sized(
        "deberta-v2", 128100, 1024, 24, 16, 4096, **V3,
        max_position_embeddings=512, pooler_hidden_size=1024,
    ),
    "deberta-v3-small": sized("deberta-v2", 128100, 768, 6, 12, 3072, **V3),
    "deberta-v2-xlarge": sized(
        "deberta-v2", 128100, 1536, 24, 24, 6144, **V3,
        max_position_embeddings=512, conv_kernel_size=3, conv_act="gelu", pooler_hidden_size=1536,
    ),
    "deberta-v2, own keys for positions": sized(
        "deberta-v2", 2000, 96, 3, 4, 128,
        type_vocab_size=2, relative_attention=True, pos_att_type=["p2c"], share_att_key=False,
        max_relative_positions=20, position_biased_input=True, embedding_size=48,
    ),
    "mobilebert-uncased": sized(
        "mobilebert", 30522, 512, 24, 4, 512,
        embedding_size=128, intra_bottleneck_size=128, num_feedforward_networks=4,
    ),
    "mobilebert, no trigram, no classifier activation": sized(
        "mobilebert", 30522, 512, 6, 4, 512,
        embedding_size=128, trigram_input=False, classifier_activation=False,
    ),
    "mobilebert, no bottleneck": sized(
        "mobilebert", 5000, 128, 3, 4, 256,
        embedding_size=128, use_bottleneck=False, num_feedforward_networks=2,
    ),
    "mobilebert, keys and queries not shared": sized(
        "mobilebert", 5000, 256, 3, 4, 256, embedding_size=64,
        key_query_shared_bottleneck=False, intra_bottleneck_size=64,
        normalization_type="layer_norm",
    ),
    "rembert": sized(
        "rembert", 250300, 1152, 32, 18, 4608, input_embedding_size=256, output_embedding_size=1664
    ),
    "rembert, small": sized(
        "rembert", 5000, 96, 3, 4, 200,
        input_embedding_size=32, output_embedding_size=160, type_vocab_size=1, num_labels=4,
    ),
    "modernbert-base": sized("modernbert", 50368, 768, 22, 12, 1152),
    "modernbert-large": sized("modernbert", 50368, 1024, 28, 16, 2624),
    "modernbert, with biases": sized(
        "modernbert", 5000, 96, 4, 4, 160,
        attention_bias=True, mlp_bias=True, norm_bias=True, classifier_bias=True,
        decoder_bias=False, num_labels=7,
    ),
    "modernbert, one layer, untied": sized(
        "modernbert", 5000, 96, 1, 4, 160, tie_word_embeddings=False
    ),
    "nomic-embed-text-v1": sized(
        "nomic_bert", 30528, 768, 12, 12, 3072, type_vocab_size=2, max_position_embeddings=2048
    ),
    "ernie-1.0": sized("ernie", 18000, 768, 12, 12, 3072, max_position_embeddings=513),
    "ernie-3.0-base": sized(
        "ernie", 40000, 768, 12, 12, 3072, max_position_embeddings=2048,
        type_vocab_size=4, use_task_id=True, task_type_vocab_size=3,
    ),
    "xlm-roberta-xl": sized(
        "xlm-roberta-xl", 250880, 2560, 36, 32, 10240,
        max_position_embeddings=514, type_vocab_size=1,
    ),
    "xlm-roberta-xxl": sized(
        "xlm-roberta-xl", 250880, 4096, 48, 32, 16384,
        max_position_embeddings=514, type_vocab_size=1,
    ),
    "megatron-bert-345m": sized("megatron-bert", 29056, 1024, 24, 16, 4096),
    "megatron-bert, 3.9B": sized("megatron-bert", 30592, 2560, 48, 40, 10240),
    "roformer-chinese-base": sized(
        "roformer", 50000, 768, 12, 12, 3072, embedding_size=768, max_position_embeddings=1536
    ),
    "roformer-chinese-small": sized(
        "roformer", 50000, 384, 6, 6, 1536, embedding_size=384, max_position_embeddings=512
    ),
    "roformer, E below H, rotary values": sized(
        "roformer", 5000, 96, 2, 4, 200,
        embedding_size=32, max_position_embeddings=64, rotary_value=True,
    ),
    "roberta-prelayernorm": sized(
        "roberta-prelayernorm", 50265, 768, 12, 12, 3072,
        max_position_embeddings=514, type_vocab_size=1,
    ),
    "electra-small": sized("electra", 30522, 256, 12, 4, 1024, embedding_size=128),
    "electra-base": sized("electra", 30522, 768, 12, 12, 3072, embedding_size=768),
    "roberta-base": sized(
        "roberta", 50265, 768, 12, 12, 3072, max_position_embeddings=514, type_vocab_size=1
    ),
    "xlm-roberta-base": sized(
        "xlm-roberta", 250002, 768, 12, 12, 3072, max_position_embeddings=514, type_vocab_size=1
    ),
    "camembert-base": sized(
        "camembert", 32005, 768, 12, 12, 3072, max_position_embeddings=514, type_vocab_size=1
    ),
    "squeezebert-uncased": sized("squeezebert", 30528, 768, 12, 12, 3072),
}  # fmt: skip

RELATIVE = {"relative_attention": True, "pos_att_type": ["c2p", "p2c"]}
TO_LABELS = {"summary_use_proj": True, "summary_proj_to_labels": True, "num_labels": 7}
UNTIED = {"tie_word_embeddings": False}
ONE_SEGMENT = {"type_vocab_size": 1, "num_labels": 7}
NO_SEGMENT = {"type_vocab_size": 0}

SMALL: Mapping[str, tuple[Config, tuple[Config, ...]]] = {
    "electra": (
        {"embedding_size": 8},
        (
            {"embedding_size": 24}, {"embedding_size": 40}, UNTIED, ONE_SEGMENT, NO_SEGMENT,
            {"summary_use_proj": False}, TO_LABELS, {"summary_type": "mean"},
            {"summary_type": "cls_index"},
        ),
    ),
    "roberta": ({}, (UNTIED, ONE_SEGMENT, NO_SEGMENT)),
    "xlm-roberta": ({}, (UNTIED, ONE_SEGMENT)),
    "camembert": ({}, (UNTIED, ONE_SEGMENT)),
    "distilbert": ({}, (UNTIED, {"sinusoidal_pos_embds": True}, {"num_labels": 7})),
    "mpnet": ({}, (UNTIED, {"relative_attention_num_buckets": 33, "num_labels": 7})),
    "deberta": (
        {},
        (
            UNTIED, ONE_SEGMENT, RELATIVE, {**RELATIVE, "pos_att_type": "p2c|x"},
            {**RELATIVE, "pos_att_type": ["c2p"], "max_relative_positions": 7},
            {"position_biased_input": False}, {"embedding_size": 8}, {"talking_head": True},
            {"pooler_hidden_size": 16}, {"legacy": False}, {**UNTIED, "legacy": False},
        ),
    ),
    "deberta-v2": (
        {},
        (
            UNTIED, ONE_SEGMENT, RELATIVE, {**RELATIVE, "share_att_key": True},
            {**RELATIVE, "pos_att_type": "p2c|x"}, {**RELATIVE, "pos_att_type": ["c2p"]},
            {**RELATIVE, "max_relative_positions": 7}, {**RELATIVE, "position_buckets": 5},
            {**RELATIVE, "norm_rel_ebd": "Layer_Norm | x"}, {"position_biased_input": False},
            {"embedding_size": 8}, {"conv_kernel_size": 3},
            {"conv_kernel_size": 5, "conv_groups": 4}, {"attention_head_size": 5},
            {"pooler_hidden_size": 16}, {"legacy": False}, {**UNTIED, "legacy": False},
        ),
    ),
    "rembert": (
        {"input_embedding_size": 8, "output_embedding_size": 28},
        ({"input_embedding_size": 24}, {"tie_word_embeddings": True}, ONE_SEGMENT),
    ),
    "roformer": (
        {},
        (
            UNTIED, ONE_SEGMENT, {"embedding_size": 8}, {"rotary_value": True},
            {"summary_use_proj": True}, TO_LABELS, {"summary_type": "first"},
            {"summary_type": "mean"}, {"summary_type": "cls_index"},
        ),
    ),
    "mobilebert": (
        {"embedding_size": 8, "intra_bottleneck_size": 12},
        (
            UNTIED, ONE_SEGMENT, {"trigram_input": False},
            {"trigram_input": False, "embedding_size": 24}, {"use_bottleneck": False},
            {"use_bottleneck_attention": True}, {"key_query_shared_bottleneck": False},
            {"key_query_shared_bottleneck": False, "use_bottleneck_attention": True},
            {"num_feedforward_networks": 1}, {"classifier_activation": False},
            {"normalization_type": "layer_norm"},
        ),
    ),
    "modernbert": (
        {},
        (
            UNTIED, {"num_hidden_layers": 1, "num_labels": 7}, {"attention_bias": True},
            {"mlp_bias": True}, {"norm_bias": True}, {"classifier_bias": True},
            {"decoder_bias": False}, {"classifier_pooling": "mean"},
        ),
    ),
    "nomic_bert": ({}, (UNTIED, ONE_SEGMENT, {"head_dim": 6}, {"num_attention_heads": 4})),
    "ernie": (
        {},
        (
            UNTIED, ONE_SEGMENT, {"use_task_id": True},
            {"use_task_id": True, "task_type_vocab_size": 5},
        ),
    ),
    "xlm-roberta-xl": ({}, (UNTIED, ONE_SEGMENT)),
    "megatron-bert": ({}, (UNTIED, ONE_SEGMENT)),
    "roberta-prelayernorm": ({}, (UNTIED, ONE_SEGMENT)),
    "squeezebert": (
        {"embedding_size": 24},
        (
            UNTIED, ONE_SEGMENT, {"q_groups": 1}, {"k_groups": 2}, {"v_groups": 3},
            {"post_attention_groups": 6}, {"intermediate_groups": 1}, {"output_groups": 2},
        ),
    ),
}  # fmt: skip
"""What each family's small model has beside the usual sizes, and what is changed in it."""


def small(model_type: str, changes: Config) -> Config:
    """The small model of a family with *changes*; no two sizes are equal."""
    config = sized(model_type, 50, 24, 4, 3, 20, max_position_embeddings=40)
    if model_type == "distilbert":
        names = {"hidden_size": "dim", "num_hidden_layers": "n_layers",
                 "num_attention_heads": "n_heads", "intermediate_size": "hidden_dim"}  # fmt: skip
        config = {names.get(key, key): value for key, value in config.items()}
    return {**config, **SMALL[model_type][0], **changes}


def small_shapes() -> dict[str, Config]:
    """Every small model under a name that says what was changed."""
    shapes = {}
    for model_type, (_, several) in SMALL.items():
        for changes in ({}, *several):
            said = ", ".join(f"{key} {value}" for key, value in changes.items())
            shapes[f"{model_type}: {said or 'small'}"] = small(model_type, changes)
    return shapes


def written(config: Config) -> Config:
    """*config* as ``save_pretrained`` writes it, without what says nothing of a count."""
    keys: Config = json.loads(settings(config).to_json_string(use_diff=True))
    return {key: value for key, value in keys.items() if key not in IDLE}


def totals(config: Config) -> dict[str, dict[str, int]]:
    """The parameters of every head that can be built, and the tensors that they are in."""
    found: dict[str, dict[str, int]] = {"totals": {}, "tensors": {}}
    for head in classes_of(config["model_type"]):
        asks = config["model_type"] == "distilbert" and head == "question-answering"
        if asks and config.get("num_labels", 2) != 2:
            continue  # its class refuses other numbers
        model = build(config, head)
        found["totals"][head] = parameters(model)
        found["tensors"][head] = len(list(model.parameters()))
    return found


def selected(config: Config) -> dict[str, dict[str, int]]:
    """Parameters of the bare model, and of the one that predicts tokens, in part.

    Without embedding tables, and without biases and norms. The first is what
    ``num_parameters(exclude_embeddings=True)`` gives, but for tokens predicted by XLM-RoBERTa
    and CamemBERT: it looks for tables by name, and there the decoder's comes first.
    """
    found: dict[str, dict[str, int]] = {"without_embeddings": {}, "matrices": {}}
    for head in ("model", "masked-lm"):
        model = build(config, head)
        tables = {id(m.weight) for m in model.modules() if isinstance(m, torch.nn.Embedding)}
        others = [p for p in model.parameters() if id(p) not in tables]
        by_decoder = head == "masked-lm" and config["model_type"] in ("xlm-roberta", "camembert")
        left = sum(int(p.numel()) for p in others)
        assert by_decoder or left == model.num_parameters(exclude_embeddings=True)
        found["without_embeddings"][head] = left
        found["matrices"][head] = sum(int(p.numel()) for p in model.parameters() if p.dim() > 1)
    return found


def main() -> None:
    """Count every head of every shape."""
    shapes = [(name, written(config), config) for name, config in PUBLISHED.items()]
    shapes += [(name, config, config) for name, config in small_shapes().items()]
    cases = [
        {"case": name, "config": told, **totals(config), **selected(config)}
        for name, told, config in shapes
    ]
    write("families.json", BUILT, cases)


if __name__ == "__main__":
    main()
