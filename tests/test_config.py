"""Reading a config: what is refused, what is assumed, and what is told of it."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from conftest import Run
from support import BASE, Faults

from albert_calc import AlbertCalcError, ModelConfig, count_parameters
from albert_calc.config.followers import with_followers
from albert_calc.config.keys import ACTIVATION_KEYS
from albert_calc.config.reading import read_mapping
from albert_calc.families import FAMILIES, families, family
from albert_calc.families.sizes import LARGEST, SIZES

Keys = dict[str, Any]

BERT: Keys = {
    "model_type": "bert",
    "vocab_size": 30522,
    "hidden_size": 768,
    "num_hidden_layers": 12,
    "intermediate_size": 3072,
}

WRONG: list[tuple[Keys, str]] = [
    ({"hidden_size": 0}, "hidden_size: must be at least 1, got 0"),
    ({"hidden_size": -768}, "hidden_size: must be at least 1, got -768"),
    ({"hidden_size": 768.0}, "hidden_size: must be a positive whole number, got 768.0"),
    ({"hidden_size": "768"}, "hidden_size: must be a positive whole number, got '768'"),
    ({"hidden_size": True}, "hidden_size: must be a positive whole number, got true"),
    ({"hidden_size": [768]}, "hidden_size: must be a positive whole number, got a list of 1"),
    ({"hidden_size": None}, "hidden_size: must be a positive whole number, got null"),
    ({"intermediate_size": None}, "intermediate_size: must be a positive whole number, got null"),
    ({"vocab_size": LARGEST + 1}, "vocab_size: must be at most 1,000,000,000,000,000, got 1000"),
    ({"type_vocab_size": -1}, "type_vocab_size: must be at least 0, got -1"),
    ({"type_vocab_size": [3, 2]}, "type_vocab_size: a list is a table for each of its entries"),
    ({"num_labels": 0}, "num_labels: must be at least 1, got 0"),
    ({"id2label": {}}, "num_labels: must be at least 1, got 0"),
    ({"num_attention_heads": 10}, "num_attention_heads: must divide hidden_size (768), got 10"),
    ({"inner_group_num": 0}, "inner_group_num: must be at least 1, got 0"),
    ({"model_type": "gpt2"}, "model_type: must be one of albert, bert, electra, roberta"),
    ({"model_type": 5}, "got 5"),
    ({"tie_word_embeddings": "no"}, "tie_word_embeddings: must be true or false, got 'no'"),
    ({"add_cross_attention": True}, "add_cross_attention: asks for a decoder with cross-attention"),
    ({"position_embedding_type": "relative_key"}, "position_embedding_type: relative positions"),
    ({"pruned_heads": {"0": [1]}}, "pruned_heads: a checkpoint with pruned heads has smaller"),
    ({"quantization_config": {"bits": 4}}, "quantization_config: quantized weights are stored"),
    ({"model_type": "electra", "summary_use_proj": 1}, "summary_use_proj: must be true or false"),
    ({"model_type": "electra", "summary_type": "attn"}, "summary_type: must be one of first, last"),
    ({"model_type": "deberta", "pos_att_type": [1]}, "pos_att_type: must be names such as c2p"),
    ({"model_type": "deberta-v2", "conv_groups": 0}, "conv_groups: must be a positive whole"),
    ({"model_type": "deberta-v2", "position_buckets": 1.5}, "position_buckets: must be a whole"),
    ({"model_type": "mobilebert", "normalization_type": "rms"}, "normalization_type: must be one"),
    ({"model_type": "mpnet", "relative_attention_num_buckets": 0}, "must be at least 1, got 0"),
    ({"hidden_size": "\x1b[31m768"}, r"got '\\x1b[31m768'"),
]
"""What is changed in albert-base-v2, and a part of the message that it gets."""


def test_wrong_values_are_refused(run: Run, tmp_path: Path) -> None:
    """A message names the parameter, the rule and the value; nothing is on standard output."""
    faults = Faults()
    path = tmp_path / "config.json"
    for change, problem in WRONG:
        config = {**BASE, **change}
        try:
            faults.append(f"{change}: read as {ModelConfig.from_dict(config)}")
        except AlbertCalcError as error:
            faults.expect(change, (problem in str(error), str(error))[0], True)
        path.write_text(json.dumps(config))
        result = run("count", path)
        faults.expect(change, (result.exit_code, result.stdout), (2, ""))
        faults.expect(change, problem in result.stderr or result.stderr, True)
    faults.none()


def problems_of(config: Keys, **options: Any) -> list[str]:
    """What is wrong with *config*; empty if it is read."""
    try:
        read_mapping(config, **options)
    except AlbertCalcError as error:
        return list(error.problems)
    return []


def test_all_problems_at_once() -> None:
    """Everything that is wrong with a config is said in one error."""
    sizes = {"hidden_size": 10, "num_attention_heads": 3, "vocab_size": 1.5, "moe": True}
    assert {p.split(":")[0] for p in problems_of(sizes)} == {
        "moe", "vocab_size", "num_hidden_layers", "intermediate_size", "num_attention_heads",
    }  # fmt: skip
    # Rules among sizes are held against sizes that are sound.
    sound = {**sizes, "vocab_size": 5, "num_hidden_layers": 1, "intermediate_size": 1, "moe": 0}
    assert problems_of(sound) == ["num_attention_heads: must divide hidden_size (10), got 3"]


def test_an_unknown_type_is_one_line() -> None:
    """Nothing is said to be missing of a type that nobody knows."""
    assert len(problems_of({"model_type": "t5", "pruned_heads": {"0": [1]}})) == 1


NO_SIZES: tuple[object, ...] = (1.0, "1", False, [], {}, -1, 10**40)


def test_no_size_takes_anything_but_a_whole_number() -> None:
    """Every size of every family refuses every value that is no whole number from its least."""
    faults = Faults()
    for model_type in FAMILIES:
        tables = family(model_type)
        config = {"model_type": model_type, **small_sizes(model_type)}
        faults.expect(model_type, problems_of(config), [])
        for size in (*SIZES, *tables.sizes):
            key = tables.name_of(size.key)
            if key not in tables.defaults and key != "num_labels":
                continue
            for value in NO_SIZES:
                found = [p for p in problems_of({**config, key: value}) if p.startswith(key)]
                faults.expect((model_type, key, value), bool(found), True)
    faults.none()


def small_sizes(model_type: str) -> Keys:
    """Sizes that make a small model of *model_type*."""
    tables = family(model_type)
    sizes = {"vocab_size": 9, "hidden_size": 8, "num_hidden_layers": 2, "intermediate_size": 12,
             "num_attention_heads": 2}  # fmt: skip
    found = {tables.name_of(key): value for key, value in sizes.items()}
    return {**found, **({"embedding_size": 8} if model_type == "squeezebert" else {})}


SILENT: list[Keys] = [
    {"type_vocab_size": 0},
    {"embedding_size": 1024},
    {"embedding_size": 768},
    {"vocab_size": 2},
    {"intermediate_size": 1},
    {"max_position_embeddings": 514},
    {"num_hidden_groups": 5},
    {"num_attention_heads": 24},
    {"hidden_dropout_prob": 0.1, "net_structure_type": 0, "gap_size": 0, "layers_to_keep": []},
    {"position_embedding_type": "absolute", "pruned_heads": {}, "add_cross_attention": False},
    {"quantization_config": None, "moe": False, "adapter_size": 0},
    {"num_experts": 1, "cross_attention_freq": 0, "img_feature_dim": None},
]
"""What may be odd, but is legal in albert-base-v2 and changes nothing that is not counted."""


def test_odd_but_legal_configs() -> None:
    """What is legal is counted without a word."""
    faults = Faults()
    for change in SILENT:
        reading = read_mapping({**BASE, **change})
        said = (*reading.notes, *reading.key_warnings, *reading.oddities)
        faults.expect(change, said, ())
        faults.expect(change, count_parameters(reading.config).total > 0, True)
    faults.none()


def test_heads_may_be_missing() -> None:
    """A counts nothing where no tensor depends on it, so that it may be left out or unknown."""
    without = {k: v for k, v in BASE.items() if k != "num_attention_heads"}
    for config in (without, {**BASE, "num_attention_heads": None}):
        found = read_mapping(config).config
        assert count_parameters(found).total == 11_683_584
        # 64, the default of its class, divides 768.
        assert found.num_attention_heads == 64
    odd = read_mapping({**BERT, "hidden_size": 770})
    assert odd.config.num_attention_heads is None
    assert odd.notes[-1] == (
        "num_attention_heads: the default of BertConfig, 12, does not divide hidden_size (770),"
        " so it is left open"
    )
    # These classes build something else there, where the others build nothing.
    for model_type, width in (("albert", 770), ("electra", 258)):
        built = read_mapping({**without, "model_type": model_type, "hidden_size": width})
        assert built.config.num_attention_heads is None
        (warning,) = built.oddities
        assert warning.startswith("num_attention_heads: the default of ")
        assert warning.endswith(f"({width}): its class then builds attention of another width")
    assert problems_of({**BERT, "model_type": "mpnet", "hidden_size": 770}) == [
        "num_attention_heads: required (A, attention heads), since tensors depend on it,"
        " but missing"
    ]


ODD: list[tuple[Keys, str]] = [
    (
        {"num_hidden_groups": 13},
        "num_hidden_groups: must be at most num_hidden_layers (12) for such a model to run;"
        " counted as built, got 13",
    ),
    (
        {"num_hidden_groups": 5, "inner_group_num": 3},
        "inner_group_num: must be at most num_hidden_layers (12) / num_hidden_groups (5) for such"
        " a model to run; counted as built, got 3",
    ),
    (
        {"model_type": "bert"},
        "embedding_size: ignored, since bert has no projection and embeds at hidden_size, got 128",
    ),
    (
        {"model_type": "bert", "embedding_size": None, "num_hidden_groups": 2},
        "num_hidden_groups: ignored, since bert has none, got 2",
    ),
    ({"num_memory_tokens": 8}, "num_memory_tokens: unknown to AlbertConfig, which ignores it"),
    (
        {"pad_token_id": 30000},
        "pad_token_id: must be below vocab_size (30000) for such a model to be built;"
        " counted all the same, got 30000",
    ),
    ({"auto_map": {"AutoModel": "m.M"}}, "auto_map: the config names code of its own"),
    ({"evil\x1b[2J": 1}, r"evil\x1b[2J: unknown to AlbertConfig, which ignores it"),
]
"""What is changed in albert-base-v2, and the warning that it gets."""


MEANT = {
    ("albert", "embeding_size"): "embedding_size",
    ("albert", "num_hidden_group"): "num_hidden_groups",
    ("albert", "num_heads"): "num_attention_heads",
    ("bert", "Hidden_Size"): "hidden_size",
    ("bert", "d_model"): "hidden_size",
    ("distilbert", "intermediate_size"): "hidden_dim",
    ("distilbert", "num_layers"): "n_layers",
    ("bert", "num_memory_tokens"): "",
}
"""A model type, a key that it does not know, and the one that is meant."""


def test_unknown_keys_are_answered_with_the_one_that_is_meant() -> None:
    """A slip, another family's name, or nothing that anybody could guess."""
    faults = Faults()
    for (model_type, key), meant in MEANT.items():
        (told,) = read_mapping({"model_type": model_type, key: 8}).key_warnings
        hint = f"; did you mean {meant}?" if meant else ""
        faults.expect(key, told.partition("ignores it")[2], hint)
    faults.none()


def test_warnings(run: Run, tmp_path: Path) -> None:
    """What cannot run, or is ignored, gets a warning and is counted; --strict refuses keys."""
    faults = Faults()
    path = tmp_path / "config.json"
    for change, warning in ODD:
        reading = read_mapping({**BASE, **change})
        said = (*reading.key_warnings, *reading.oddities)
        faults.expect(change, [w[: len(warning)] for w in said], [warning])
        faults.expect(change, count_parameters(reading.config).total > 0, True)
        path.write_text(json.dumps({**BASE, **change}))
        result = run("count", path, "--total")
        faults.expect(change, result.exit_code, 0)
        faults.expect(change, f"warning: {warning}" in result.stderr or result.stderr, True)
        strict = run("count", path, "--total", "--strict")
        status = (2, "") if reading.key_warnings else (0, result.stdout)
        faults.expect(change, (strict.exit_code, strict.stdout), status)
    faults.none()


def test_missing_optional_keys_are_named() -> None:
    """Defaults are those of transformers' classes, and a note names every one taken."""
    reading = read_mapping({**BERT, "model_type": "albert"})
    assert reading.assumed == (
        "embedding_size",
        "num_attention_heads",
        "max_position_embeddings",
        "type_vocab_size",
        "num_hidden_groups",
        "inner_group_num",
    )
    assert reading.config.symbols["E"] == 128
    assert reading.notes == (
        "not given, so the default of AlbertConfig: embedding_size 128, num_attention_heads 64,"
        " max_position_embeddings 512, type_vocab_size 2, num_hidden_groups 1, inner_group_num 1",
    )
    everything = read_mapping({"model_type": "bert"})
    assert set(everything.assumed) == {
        "vocab_size", "hidden_size", "num_hidden_layers", "intermediate_size",
        "num_attention_heads", "max_position_embeddings", "type_vocab_size",
    }  # fmt: skip
    assert len(everything.notes) == 1
    # Without a type there is no class whose default could be taken for V, H, L and I.
    assert [p.split(":")[0] for p in problems_of({"hidden_size": 8})] == [
        "vocab_size", "num_hidden_layers", "intermediate_size",
    ]  # fmt: skip


ASSUMED: list[tuple[str, Keys, tuple[str, ...]]] = [
    ("deberta-v2", {}, ("position_biased_input",)),
    ("ernie", {}, ()),
    ("ernie", {"use_task_id": True}, ("task_type_vocab_size",)),
    ("mpnet", {}, ("relative_attention_num_buckets",)),
    ("rembert", {}, ("embedding_size", "output_embedding_size")),
    ("nomic_bert", {}, ()),
    ("roformer", {}, ()),
]
"""Own keys of a family beside all usual sizes, and those that take a default and are told."""


def test_own_keys_of_a_family_are_told_too() -> None:
    """A default that decides which tensors there are is in the note, under the family's name."""
    usual = {"max_position_embeddings": 7, "type_vocab_size": 2}
    faults = Faults()
    for model_type, keys, assumed in ASSUMED:
        reading = read_mapping(
            {**small_sizes(model_type), **usual, **keys, "model_type": model_type}
        )
        faults.expect((model_type, keys), reading.assumed, assumed)
    faults.none()
    (note,) = read_mapping({"model_type": "distilbert", "dim": 96, "n_heads": 4}).notes
    assert note == (
        "not given, so the default of DistilBertConfig: vocab_size 30522, n_layers 6,"
        " hidden_dim 3072, max_position_embeddings 512"
    )
    (note,) = read_mapping({"model_type": "mobilebert"}).notes
    assert "intra_bottleneck_size 128, num_feedforward_networks 4, trigram_input true" in note


def test_a_default_number_of_heads_that_does_not_fit(run: Run) -> None:
    """It is left open, and a note says why, under the family's own names."""
    for config, note in (
        (
            {"model_type": "bert", "hidden_size": 512},
            "num_attention_heads: the default of BertConfig, 12, does not divide hidden_size (512),"
            " so it is left open",
        ),
        (
            {"model_type": "distilbert", "dim": 512},
            "n_heads: the default of DistilBertConfig, 12, does not divide dim (512), so it is"
            " left open",
        ),
    ):
        reading = read_mapping(config)
        assert reading.config.num_attention_heads is None
        assert reading.notes[-1] == note
    assert "left open" not in " ".join(read_mapping({"model_type": "bert"}).notes)
    # The class of this family builds other tensors for a default that does not fit.
    assert problems_of({"model_type": "mobilebert", "intra_bottleneck_size": 10}) == [
        "num_attention_heads: must divide intra_bottleneck_size (10), got 4"
    ]
    assert "left open" not in run("count", "-H", "512", "-L", "2", "-V", "100").stderr


def test_learned_activation_functions_are_refused() -> None:
    """In every family, under the key that it reads; parameters of transformers 5.24."""
    faults = Faults()
    for tables in families():
        keys = [k for k in ACTIVATION_KEYS if k in tables.defaults]
        keys = [k for k in keys if not isinstance(tables.defaults[k], bool)]
        faults.expect(tables.model_type, bool(keys), True)
        for key in keys:
            config = {"model_type": tables.model_type, key: "gelu"}
            faults.expect((tables.model_type, key), problems_of(config), [])
            for name, learned in (("prelu", "a slope"), ("xielu", "two slopes")):
                problems = problems_of({**config, key: name})
                said = [p for p in problems if p.startswith(f"{key}: this function is learned")]
                faults.expect((tables.model_type, key), len(said), 1)
                faults.expect((tables.model_type, key), learned in str(said), True)
    faults.none()


LABELS: list[tuple[Keys, int]] = [
    ({}, 2),
    ({"num_labels": 7}, 7),
    ({"id2label": {"0": "a", "1": "b", "2": "c"}}, 3),
    ({"num_labels": 7, "id2label": {"0": "a"}}, 7),
    ({"num_labels": None, "id2label": {"0": "a"}}, 1),
    ({"id2label": None}, 2),
]


def test_number_of_labels() -> None:
    """num_labels, else the size of id2label, else 2."""
    faults = Faults()
    for keys, labels in LABELS:
        faults.expect(keys, ModelConfig.from_dict({**BASE, **keys}).num_labels, labels)
    faults.none()


def test_null_is_as_if_the_key_were_absent() -> None:
    """For every key but V, H, L and I."""
    nothing = dict.fromkeys((k for k in BASE if k not in BERT), None)
    found = read_mapping({**BERT, **nothing, "model_type": "albert"})
    assert found == read_mapping({**BERT, "model_type": "albert"})
    # Of those four it is a wrong value, and nothing is said to be missing.
    for key in ("vocab_size", "hidden_size", "num_hidden_layers", "intermediate_size"):
        untyped = {k: v for k, v in BERT.items() if k != "model_type"}
        assert problems_of({**untyped, key: None}) == [
            f"{key}: must be a positive whole number, got null"
        ]


def test_a_config_survives_its_own_dict() -> None:
    """to_dict gives keys, under the family's names, that are read back to an equal config."""
    faults = Faults()
    for mapping in (
        BASE,
        BERT,
        {**BASE, "num_labels": 5, "tie_word_embeddings": False},
        {"model_type": "distilbert", "dim": 96, "n_layers": 2, "n_heads": 4, "hidden_dim": 5},
        {"model_type": "rembert", "input_embedding_size": 8, "output_embedding_size": 24},
        {**BERT, "model_type": "deberta-v2", "relative_attention": True, "conv_kernel_size": 3},
    ):
        config = ModelConfig.from_dict(mapping)
        again = ModelConfig.from_dict(config.to_dict())
        faults.expect(mapping, again, config)
        written = config.to_dict()
        faults.expect(mapping, {k: written[k] for k in mapping}, mapping)
    faults.none()


def test_own_names_are_read_shown_and_written_back(run: Run) -> None:
    """DistilBERT's own names stand in messages and in JSON; the options stay -H, -L, -A and -I."""
    config = {"model_type": "distilbert", "dim": 96, "n_layers": 2, "n_heads": 5, "hidden_dim": 7}
    assert problems_of(config) == ["n_heads: must divide dim (96), got 5"]
    result = run("count", "-", "-H", "48", "-A", "4", "-f", "json", input=json.dumps(config))
    shown = json.loads(result.stdout)["config"]
    assert {k: shown[k] for k in config} == {**config, "dim": 48, "n_heads": 4}
    assert "hidden_size" not in shown


def test_names_that_mean_the_same_must_agree() -> None:
    """A size under two names is read if they agree, and refused where they do not."""
    sizes = {"model_type": "distilbert", "vocab_size": 9, "dim": 8, "n_heads": 2, "hidden_size": 8}
    assert ModelConfig.from_dict(sizes).hidden_size == 8
    assert problems_of({**sizes, "hidden_size": 16}) == [
        "dim: must agree with hidden_size (16), which means the same, got 8"
    ]
    nomic = {"model_type": "nomic_bert", "n_layer": 2, "n_embd": 64, "n_head": 4, "n_inner": 128}
    reading = read_mapping(nomic)
    assert (reading.config.num_hidden_layers, reading.config.hidden_size) == (2, 64)
    assert sum("transformers 5.24 ignores this key" in note for note in reading.notes) == 4
    both = read_mapping({**nomic, "num_hidden_layers": 2})
    assert not [note for note in both.notes if note.startswith("n_layer")]


FOLLOWING: list[tuple[Keys, int | None, bool]] = [
    ({"hidden_size": 5}, 20, True),
    ({"hidden_size": 1}, 4, True),
    ({"hidden_size": 5, "intermediate_size": 7}, 7, False),
    ({"hidden_size": 5, "intermediate_size": None}, 20, True),
    ({"hidden_size": 0}, 1, False),
    ({"hidden_size": -5}, 1, False),
    ({"hidden_size": True}, 1, False),
    ({"hidden_size": "5"}, 1, False),
    ({}, 1, False),
    ({"model_type": "bert"}, None, False),
    ({"model_type": "bert", "hidden_size": 5}, 20, True),
    ({"model_type": "bert", "hidden_size": 0}, 1, False),
]
"""Sizes as typed, the I that follows, and whether a note tells of it."""


def test_a_size_that_follows_another() -> None:
    """I is 4·H where nobody gives it; beside an H that is no size it breaks no rule of its own."""
    faults = Faults()
    for given, size, told in FOLLOWING:
        keys, notes = with_followers(given)
        faults.expect(given, keys.get("intermediate_size"), size)
        faults.expect(given, len(notes), int(told))
    faults.none()


def test_the_width_of_a_model_without_one() -> None:
    """Where a family has no E of its own it is H, in Python as in a formula."""
    config = ModelConfig.from_dict(BERT)
    assert (config.embedding_size, config.symbols["E"], config.symbols["A"]) == (768, 768, 12)
    assert config.keys["embedding_size"] is None


def test_construction_by_hand_is_checked() -> None:
    """A config built by hand keeps the same rules as one from a file."""
    with pytest.raises(AlbertCalcError, match="must divide"):
        ModelConfig(100, 10, 1, 40, num_attention_heads=3)
    with pytest.raises(AlbertCalcError, match="inner_group_num: must be 1"):
        ModelConfig(100, 10, 4, 40, share="none", inner_group_num=2)
    with pytest.raises(AlbertCalcError, match="share: must be one of all"):
        ModelConfig(100, 10, 4, 40, share="some")
    wrong: Any = None
    with pytest.raises(AlbertCalcError, match="vocab_size: required"):
        ModelConfig(wrong, 10, 4, 40)
    for wrong in ("A", [1], {"own": 1}):
        with pytest.raises(AlbertCalcError, match="architectures: must be names of classes"):
            ModelConfig(100, 10, 4, 40, architectures=wrong)
    with pytest.raises(AlbertCalcError, match="own: must be a mapping"):
        ModelConfig(100, 10, 4, 40, own=wrong["own"])
    assert hash(ModelConfig(100, 10, 4, 40, architectures=["A"]))  # type: ignore[arg-type]  # a list is made a tuple
    for wrong in (None, b"base", 5):
        with pytest.raises(AlbertCalcError, match="preset: must be a known name"):
            ModelConfig.from_preset(wrong)
    with pytest.raises(AlbertCalcError, match="must be a JSON object, got a list"):
        ModelConfig.from_dict([1])  # type: ignore[arg-type]  # the wrong type is the point


class Odd:
    """A value that can be neither compared nor asked whether it is true, as arrays cannot."""

    __hash__ = None  # type: ignore[assignment]  # a value that is no key either

    def __bool__(self) -> bool:
        """No answer."""
        raise ValueError("ambiguous")

    def __eq__(self, _: object) -> bool:
        """No answer."""
        raise ValueError("ambiguous")


def nested(kind: type) -> Any:
    """A list or a mapping, a hundred thousand deep."""
    whole: Any = kind()
    part = whole
    for _ in range(100_000):
        inner: Any = kind()
        if kind is list:
            part.append(inner)
        else:
            part["a"] = inner
        part = inner
    return whole


STRANGE: tuple[Any, ...] = (
    10**5000, -(10**5000), nested(list), nested(dict), Odd(), object(), float("nan"),
    float("inf"), b"x", {1, 2}, "x" * 10**5, 3 + 4j, int,
)  # fmt: skip
"""Values that no JSON has, and some that would take a processor or a stack with them."""

ANY_KEY = (
    "model_type", "architectures", "auto_map", "id2label", "num_labels", "dtype", "torch_dtype",
    "embedding_size", "quantization_config", "pruned_heads", "is_decoder", "share",
)  # fmt: skip
"""Keys of any family that are read in a way of their own."""


def test_strange_values_raise_errors_of_the_package_alone() -> None:
    """Under every key of every family, and in place of every argument."""
    faults = Faults()

    def tried(case: object, call: Callable[[], object]) -> None:
        try:
            call()
        except AlbertCalcError:
            return
        except Exception as error:
            faults.append(f"{case}: {type(error).__name__}: {str(error)[:60]}")

    for model_type in FAMILIES:
        tables = family(model_type)
        for key in {*tables.defaults, *tables.aliases, *tables.refused, *ANY_KEY}:
            for place, value in enumerate(STRANGE):
                config = {"model_type": model_type, key: value}
                tried((model_type, key, place), partial(ModelConfig.from_dict, config))
    good = ModelConfig(100, 12, 1, 4)
    for place, value in enumerate((*STRANGE, None, {}, [], "base", 3)):
        for call in (ModelConfig.from_dict, ModelConfig.from_file, count_parameters):
            tried((call, place), partial(call, value))
        tried(("head", place), partial(count_parameters, good, value))
        tried(("layout", place), partial(count_parameters, good, "model", value))
        for key in ("own", "architectures", "share", "model_type", "vocab_size"):
            keys = {"vocab_size": 9, "hidden_size": 4, "num_hidden_layers": 1,
                    "intermediate_size": 4, key: value}  # fmt: skip
            tried((key, place), partial(ModelConfig, **keys))
    faults.none()


def test_no_positions_at_all() -> None:
    """A DeBERTa without positions has no relative ones either, and is counted."""
    config = ModelConfig.from_dict({"model_type": "deberta-v2", "max_position_embeddings": 0})
    assert config.symbols["R"] == 0


def test_tied_or_not_is_never_null() -> None:
    """The classes of transformers refuse it, or take it for false: it is no default."""
    for model_type in ("bert", "albert", "nomic_bert"):
        with pytest.raises(AlbertCalcError, match="tie_word_embeddings: must be true or false"):
            ModelConfig.from_dict({"model_type": model_type, "tie_word_embeddings": None})
    untold = {name: ModelConfig.from_dict({"model_type": name}) for name in ("bert", "rembert")}
    assert untold["bert"].tie_word_embeddings is True
    assert untold["rembert"].tie_word_embeddings is False


def test_strict_names_unknown_keys_beside_wrong_sizes(run: Run, tmp_path: Path) -> None:
    """All that is wrong with a file is said at once."""
    path = tmp_path / "config.json"
    path.write_text(json.dumps({**BASE, "hidden_size": 0, "nonsense": 1}))
    result = run("count", path, "--strict")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "hidden_size: must be at least 1, got 0" in result.stderr
    assert "nonsense: unknown to AlbertConfig" in result.stderr
