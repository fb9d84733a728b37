"""Reading a config: what is refused, what is assumed, and what is ignored."""

from typing import Any

import pytest
from support import BASE

from albert_calc import AlbertCalcError, ModelConfig, count_parameters
from albert_calc.sizes import LARGEST, SIZES

BERT = {
    "model_type": "bert",
    "vocab_size": 30522,
    "hidden_size": 768,
    "num_hidden_layers": 12,
    "intermediate_size": 3072,
}

WRONG: list[tuple[dict[str, Any], str]] = [
    ({"hidden_size": 0}, "hidden_size: must be at least 1, got 0"),
    ({"hidden_size": -768}, "hidden_size: must be at least 1, got -768"),
    ({"hidden_size": 768.0}, "hidden_size: must be a positive whole number, got 768.0"),
    ({"hidden_size": "768"}, "hidden_size: must be a positive whole number, got '768'"),
    ({"hidden_size": True}, "hidden_size: must be a positive whole number, got true"),
    ({"hidden_size": [768]}, "hidden_size: must be a positive whole number, got a list of 1"),
    ({"hidden_size": None}, "hidden_size: required (H, width of the encoder), but missing"),
    ({"vocab_size": LARGEST + 1}, "vocab_size: must be at most 1,000,000,000,000,000"),
    ({"type_vocab_size": -1}, "type_vocab_size: must be at least 0, got -1"),
    ({"num_labels": 0}, "num_labels: must be at least 1, got 0"),
    ({"id2label": {}}, "num_labels: must be at least 1, got 0"),
    ({"num_attention_heads": 10}, "num_attention_heads: must divide hidden_size (768), got 10"),
    ({"model_type": "gpt2"}, "model_type: must be one of albert, bert"),
    ({"model_type": 5}, "got 5"),
    ({"tie_word_embeddings": "no"}, "tie_word_embeddings: must be true or false, got 'no'"),
    ({"add_cross_attention": True}, "add_cross_attention: must be false"),
    ({"position_embedding_type": "relative_key"}, "position_embedding_type: must be 'absolute'"),
    ({"pruned_heads": {"0": [1]}}, "pruned_heads: must be"),
    ({"quantization_config": {"bits": 4}}, "quantization_config: must be an empty object"),
    ({"model_type": "electra", "summary_use_proj": False}, "summary_use_proj: must be true"),
    ({"model_type": "electra", "summary_proj_to_labels": True}, "summary_proj_to_labels: must be"),
    ({"model_type": "electra", "summary_type": "attn"}, "summary_type: must be 'first' or"),
    ({"hidden_size": "\x1b[31m768"}, r"got '\\x1b[31m768'"),
]


@pytest.mark.parametrize(("change", "problem"), WRONG, ids=[str(c[0])[:40] for c in WRONG])
def test_wrong_values_are_refused(change: dict[str, Any], problem: str) -> None:
    """A message names the parameter, the rule and the value."""
    with pytest.raises(AlbertCalcError) as error:
        ModelConfig.from_dict({**BASE, **change})
    assert problem in str(error.value)


def test_all_problems_at_once() -> None:
    """Everything that is wrong with a config is said in one error."""
    with pytest.raises(AlbertCalcError) as error:
        ModelConfig.from_dict({"hidden_size": 10, "num_attention_heads": 3, "vocab_size": 1.5})
    found = {p.split(":")[0] for p in error.value.problems}
    assert found == {
        "vocab_size",
        "num_hidden_layers",
        "intermediate_size",
        "num_attention_heads",
    }


@pytest.mark.parametrize("size", SIZES, ids=lambda s: s.key)
@pytest.mark.parametrize("value", [1.0, "1", False, [], {}, -1, 10**40])
def test_no_size_takes_anything_but_a_whole_number(size: Any, value: object) -> None:
    """Every size refuses every kind of value that is no whole number of at least its least."""
    with pytest.raises(AlbertCalcError, match=size.key):
        ModelConfig.from_dict({**BASE, size.key: value})


@pytest.mark.parametrize(
    "change",
    [
        {"type_vocab_size": 0},
        {"embedding_size": 1024},
        {"embedding_size": 768},
        {"vocab_size": 2},
        {"intermediate_size": 1},
        {"max_position_embeddings": 514},
        {"num_hidden_groups": 5},
        {"num_attention_heads": None},
        {
            "model_type": "electra",
            "summary_use_proj": True,
            "summary_type": "first",
            "num_hidden_groups": None,
            "inner_group_num": None,
        },
        {"hidden_dropout_prob": 0.1, "net_structure_type": 0, "gap_size": 0, "layers_to_keep": []},
        {"position_embedding_type": "absolute", "pruned_heads": {}, "add_cross_attention": False},
    ],
)
def test_odd_but_legal_configs(change: dict[str, Any]) -> None:
    """What DESIGN calls legal is counted without a word."""
    config = ModelConfig.from_dict({**BASE, **change})
    assert count_parameters(config).total > 0
    assert (config.notes, config.warnings) == ((), ())


@pytest.mark.parametrize(
    ("change", "warning"),
    [
        ({"num_hidden_groups": 13}, "num_hidden_groups: 13 is more than num_hidden_layers (12)"),
        ({"num_hidden_groups": 5, "inner_group_num": 3}, "inner_group_num: 3 is more than the 2"),
        (
            {"model_type": "bert"},
            "embedding_size: ignored, since bert has none (albert, electra have)",
        ),
    ],
)
def test_warnings(change: dict[str, Any], warning: str) -> None:
    """A model that cannot run, or a key that is ignored, gets a warning and is counted."""
    config = ModelConfig.from_dict({**BASE, **change})
    assert [w for w in config.warnings if w.startswith(warning)]
    assert count_parameters(config).total > 0


def test_missing_model_type() -> None:
    """Without model_type an embedding_size means ALBERT, and a note says so."""
    without = {k: v for k, v in BASE.items() if k != "model_type"}
    albert = ModelConfig.from_dict(without)
    bert = ModelConfig.from_dict({k: v for k, v in without.items() if k != "embedding_size"})
    assert (albert.model_type, bert.model_type) == ("albert", "bert")
    assert "so albert" in albert.notes[0]
    assert "so bert" in bert.notes[0]


def test_missing_optional_keys_are_named() -> None:
    """Defaults are those of transformers' classes, and a note names every one taken."""
    config = ModelConfig.from_dict({**BERT, "model_type": "albert"})
    assert config.assumed == (
        "embedding_size",
        "max_position_embeddings",
        "type_vocab_size",
        "num_hidden_groups",
        "inner_group_num",
    )
    assert config.symbols["E"] == 128
    assert "embedding_size 128, max_position_embeddings 512" in config.notes[0]
    electra = ModelConfig.from_dict({**BERT, "model_type": "electra"})
    assert "embedding_size 128, max_position_embeddings 512, type_vocab_size 2" in electra.notes[0]
    assert ModelConfig.from_dict(BERT).assumed == ("max_position_embeddings", "type_vocab_size")


@pytest.mark.parametrize(
    ("keys", "labels"),
    [({}, 2), ({"num_labels": 7}, 7), ({"id2label": {"0": "a", "1": "b", "2": "c"}}, 3),
     ({"num_labels": 7, "id2label": {"0": "a"}}, 7)],
)  # fmt: skip
def test_number_of_labels(keys: dict[str, Any], labels: int) -> None:
    """num_labels, else the size of id2label, else 2."""
    assert ModelConfig.from_dict({**BASE, **keys}).num_labels == labels


def test_a_config_survives_its_own_dict() -> None:
    """to_dict gives keys that from_dict reads back to an equal config."""
    for mapping in (BASE, BERT, {**BASE, "num_labels": 5, "tie_word_embeddings": False}):
        config = ModelConfig.from_dict(mapping)
        assert ModelConfig.from_dict(config.to_dict()) == config


def test_direct_construction_is_checked() -> None:
    """A config built by hand keeps the same rules as one from a file."""
    with pytest.raises(AlbertCalcError, match="must divide"):
        ModelConfig(100, 10, 1, 40, num_attention_heads=3)
    with pytest.raises(AlbertCalcError, match="inner_group_num: must be 1"):
        ModelConfig(100, 10, 4, 40, share="none", inner_group_num=2)
    with pytest.raises(AlbertCalcError, match="share: must be one of all"):
        ModelConfig(100, 10, 4, 40, share="some")
    nothing: Any = None
    for key in ("max_position_embeddings", "type_vocab_size", "num_hidden_groups", "num_labels",
                "inner_group_num", "tie_word_embeddings", "vocab_size"):  # fmt: skip
        with pytest.raises(AlbertCalcError, match=key):
            ModelConfig(**{**BASE, key: nothing})
    assert hash(ModelConfig(100, 10, 4, 40, architectures=["A"]))  # type: ignore[arg-type]  # a list is made a tuple
    wrong: Any
    for wrong in (nothing, b"base", 5):
        with pytest.raises(AlbertCalcError, match="preset: must be a known name"):
            ModelConfig.from_preset(wrong)
    with pytest.raises(AlbertCalcError, match="must be a JSON object, got a list"):
        ModelConfig.from_dict([1])  # type: ignore[arg-type]  # the wrong type is the point
