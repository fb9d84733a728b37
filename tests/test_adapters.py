"""Adapters of PEFT: what they are, how large, and which model they belong on."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from headers import write_tensors
from support import DATA, Faults

from albert_calc.checkpoints.adapters import Adapter, adapter_folder, misfits, read_adapter
from albert_calc.config.model_config import ModelConfig
from albert_calc.errors import AlbertCalcError

REAL = DATA / "checkpoints" / "adapter-lora"
"""Written by PEFT 0.21: rank 4 on query and value of a BERT with H = 32 and 3 layers."""

Run = Callable[..., Result]
Sizes = dict[str, list[int]]


def adapter(folder: Path, tensors: Sizes, **keys: Any) -> Path:
    config = {"peft_type": "LORA", "r": 8, "base_model_name_or_path": "bert-base-uncased", **keys}
    (folder / "adapter_config.json").write_text(json.dumps(config))
    write_tensors(folder / "adapter_model.safetensors", tensors)
    return folder


def lora(modules: dict[str, tuple[int, int]], layers: int, rank: int = 8) -> Sizes:
    """The tensors that LoRA adds to *modules*, of so many outputs and inputs, in each layer."""
    return {
        f"base_model.model.{name.format(layer)}.{kind}.weight": shape
        for layer in range(layers)
        for name, (rows, columns) in modules.items()
        for kind, shape in (("lora_A", [rank, columns]), ("lora_B", [rows, rank]))
    }


BERT = {"bert.encoder.layer.{}.attention.self.query": (768, 768)}


def test_an_adapter_of_peft_is_understood() -> None:
    """Its kind, rank, targets and parameters, as PEFT counts what it trains."""
    found = read_adapter(str(REAL))
    assert (found.kind, found.base, found.rank) == ("LORA", "", 4)
    assert found.targets == ("query", "value")
    assert found.parameters == 1_602
    assert found.parts == {"lora_A": 768, "lora_B": 768, "classifier": 66}
    assert found.bases[0].model_type == "bert"
    assert found.bases[0].sizes == {"hidden_size": 32, "num_hidden_layers": 3}


def test_the_report_says_what_it_is_and_what_it_fits(run: Run, tmp_path: Path) -> None:
    """A base that is named and known is held against it."""
    result = run("verify", adapter(tmp_path, lora(BERT, 12)))
    assert result.exit_code == 0
    assert "an adapter of PEFT (LORA, rank 8) for bert-base-uncased" in result.stdout
    assert "it belongs on bert-base-uncased" in result.stdout
    assert "missing" not in result.output
    data = json.loads(run("verify", tmp_path, "-f", "json").stdout)
    assert data["parameters"] == 12 * 2 * 8 * 768
    assert data["rank"] == 8
    assert "bert-base-cased" in data["presets"]
    assert "bert-large-uncased" not in data["presets"]


def test_a_base_that_it_does_not_fit_exits_with_one(run: Run, tmp_path: Path) -> None:
    """Named by the adapter, or on the command line."""
    folder = adapter(tmp_path, lora(BERT, 12), base_model_name_or_path="bert-large-uncased")
    for more in ((), ("--preset", "bert-large-uncased")):
        result = run("verify", folder, *more)
        assert result.exit_code == 1
        assert "it does not belong on bert-large-uncased:" in result.stdout
        assert "hidden_size: the adapter shows 768, got 1024" in result.stdout
    assert run("verify", folder, "--preset", "bert-base-cased").exit_code == 0
    other = run("verify", folder, "--preset", "albert-base-v2")
    assert other.exit_code == 1
    assert "the adapter's modules are those of bert" in other.stdout


def test_infer_says_that_it_is_no_model(run: Run) -> None:
    """It has no config of its own."""
    result = run("infer", REAL)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "an adapter of PEFT (LORA), and no model" in result.stderr


KINDS: dict[str, tuple[Sizes, dict[str, Any], str, dict[str, int]]] = {
    "both sides of a matrix": (
        lora({"albert.encoder.albert_layer_groups.0.albert_layers.0.ffn": (64, 16)}, 1), {},
        "albert", {"hidden_size": 16, "intermediate_size": 64},
    ),
    "embeddings": (
        {
            "base_model.model.roberta.embeddings.word_embeddings.lora_embedding_A": [8, 50],
            "base_model.model.roberta.embeddings.word_embeddings.lora_embedding_B": [16, 8],
        }, {}, "roberta", {"vocab_size": 50, "hidden_size": 16},
    ),
    "three matrices in one": (
        lora({"model.layers.{}.attn.Wqkv": (48, 16)}, 2), {}, "modernbert",
        {"hidden_size": 16, "num_hidden_layers": 2},
    ),
    "some layers": (
        lora(BERT, 2), {"layers_to_transform": [0, 1]}, "bert", {"hidden_size": 768},
    ),
    "a pattern of names": (
        lora(BERT, 12), {"target_modules": ".*query"}, "bert", {"hidden_size": 768},
    ),
    "vectors": (
        {"base_model.model.bert.encoder.layer.0.attention.self.key.ia3_l": [16, 1],
         "base_model.model.bert.encoder.layer.0.output.dense.ia3_l": [1, 64]},
        {"peft_type": "IA3"}, "bert", {"hidden_size": 16, "num_hidden_layers": 1},
    ),
    "products of products": (
        {f"base_model.model.bert.encoder.layer.0.attention.self.query.hada_w{i}_{half}": shape
         for i in (1, 2) for half, shape in (("a", [16, 2]), ("b", [2, 16]))},
        {"peft_type": "LOHA"}, "bert", {"hidden_size": 16, "num_hidden_layers": 1},
    ),
    "rotations": (
        {"base_model.model.bert.encoder.layer.0.attention.self.query.oft_R.weight": [2, 28]},
        {"peft_type": "OFT"}, "bert", {"num_hidden_layers": 1},
    ),
    "a prompt": (
        {"prompt_embeddings": [20, 16]},
        {"peft_type": "PROMPT_TUNING", "token_dim": 16, "num_layers": 3}, "",
        {"hidden_size": 16, "num_hidden_layers": 3},
    ),
    "modules trained whole": (
        {"base_model.model.classifier.weight": [3, 16], "base_model.model.classifier.bias": [3],
         "base_model.model.classifier.modules_to_save.bias": [3],
         "base_model.model.classifier.original_module.bias": [3],
         **lora({"bert.encoder.layer.{}.output.dense.base_layer": (16, 64)}, 2)},
        {}, "bert", {"hidden_size": 16, "intermediate_size": 64, "num_hidden_layers": 2},
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", KINDS.values(), ids=KINDS)
def test_shapes_show_which_base_it_is(
    tmp_path: Path, case: tuple[Sizes, dict[str, Any], str, dict[str, int]]
) -> None:
    """The family, by the names of its modules, and the sizes on which they agree."""
    tensors, keys, model_type, expected = case
    found = read_adapter(str(adapter(tmp_path, tensors, **keys)))
    base = next(b for b in found.bases if b.model_type == model_type)
    assert base.sizes == {**expected, **({"num_hidden_groups": 1, "inner_group_num": 1}
                                         if model_type == "albert" else {})}  # fmt: skip


def test_modules_of_no_family_and_shapes_that_disagree(tmp_path: Path) -> None:
    """They fit nothing, and nothing is said against a base."""
    for tensors in (
        lora({"gpt.h.{}.attn.c_attn": (48, 16)}, 2),
        {**lora(BERT, 1), **lora({"bert.encoder.layer.1.attention.self.query": (99, 768)}, 1)},
    ):
        found = read_adapter(str(adapter(tmp_path, tensors)))
        assert found.bases == ()
        assert found.presets == ()
        (told,) = misfits(found, ModelConfig.from_preset("bert-base-uncased"))
        assert told.endswith("so it cannot be told")


def without(end: str, tensors: Sizes) -> Sizes:
    """*tensors* without those whose names end with *end*."""
    return {name: shape for name, shape in tensors.items() if not name.endswith(end)}


TWO = {**BERT, "bert.encoder.layer.{}.attention.self.value": (768, 768)}
QUERY, VALUE = {"target_modules": ["query"]}, {"target_modules": ["query", "value"]}
FAULTY: dict[str, tuple[Sizes, dict[str, Any], str]] = {
    "sound": (lora(TWO, 12), VALUE, ""),
    "sound, with biases of its own": (
        {**lora(BERT, 12), **{f"base_model.model.bert.encoder.layer.{i}.attention.self.query.lora_B"
                              ".bias": [768] for i in range(12)}},
        {**QUERY, "lora_bias": True}, "",
    ),
    "sound, of some layers": (
        without("9.attention.self.query.lora_A.weight",
                without("9.attention.self.query.lora_B.weight", lora(BERT, 12))),
        {**QUERY, "layers_to_transform": [i for i in range(12) if i != 9]}, "",
    ),
    "sound, ranks of their own": (lora(BERT, 12), {"r": 4, "rank_pattern": {"query": 8}}, ""),
    "half of a pair": (
        without("5.attention.self.query.lora_A.weight", lora(BERT, 12)), QUERY,
        "bert.encoder.layer.5.attention.self.query: lora_B without lora_A",
    ),
    "a layer left out": (
        without("5.attention.self.query.lora_A.weight",
                without("5.attention.self.query.lora_B.weight", lora(BERT, 12))), QUERY,
        "layer 5: left out, though layers after it are there",
    ),
    "a module left out of a layer": (
        without("11.attention.self.value.lora_A.weight",
                without("11.attention.self.value.lora_B.weight", lora(TWO, 12))), VALUE,
        "bert.encoder.layer.11.attention.self.value: left out, though other layers have it",
    ),
    "a target without a module": (
        lora(BERT, 12), VALUE, "target_modules: there is no tensor of value",
    ),
    "a module that is no target": (
        lora(TWO, 12), QUERY, "target_modules: bert.encoder.layer.0.attention.self.value is none",
    ),
    "another rank": (lora(BERT, 12), {"r": 4}, "rank: the config says 4, the tensors have 8"),
    "three sizes": (
        {name: [*shape, 1] for name, shape in lora(BERT, 1).items()}, QUERY,
        "bert.encoder.layer.0.attention.self.query: lora_A must have two sizes, got 3",
    ),
    "another kind": (lora(BERT, 12), {"peft_type": "IA3"}, "peft_type: IA3, but there are tensors"),
    "no such tensors": (
        {"base_model.model.classifier.weight": [2, 768]}, {},
        "peft_type: LORA, but there are no tensors of LORA",
    ),
    "no magnitudes": (lora(BERT, 12), {"use_dora": True}, "no lora_magnitude_vector"),
    "nothing trained whole": (
        lora(BERT, 12), {"modules_to_save": ["classifier", "score"]},
        "modules_to_save: there is no tensor of classifier or score",
    ),
}  # fmt: skip
"""Adapters for bert-base-uncased, and what is wrong with each."""


@pytest.mark.parametrize("case", FAULTY.values(), ids=FAULTY)
def test_an_adapter_that_is_not_whole(
    run: Run, tmp_path: Path, case: tuple[Sizes, dict[str, Any], str]
) -> None:
    """What PEFT could not load, or what its config promises and the file has not, exits with 1."""
    tensors, keys, fault = case
    result = run("verify", adapter(tmp_path, tensors, **keys), "-f", "json")
    problems = json.loads(result.stdout)["problems"]
    assert any(fault in problem for problem in problems) if fault else problems == []
    assert result.exit_code == bool(fault)
    shown = run("verify", tmp_path)
    assert ("it is not what its config says:" in shown.stdout) == bool(fault)


PROMPTS: dict[str, tuple[str, list[int], dict[str, Any], list[str]]] = {
    "as wide as the config says": ("PROMPT_TUNING", [20, 768], {}, []),
    "a width that the config does not say": ("P_TUNING", [20, 768], {"token_dim": None}, []),
    "keys and values of all layers": ("PREFIX_TUNING", [20, 2 * 12 * 768], {}, []),
    "another width": ("PROMPT_TUNING", [20, 1024], {}, ["hidden_size"]),
    "another width that is told": (
        "PROMPT_TUNING",
        [20, 1024],
        {"token_dim": 1024},
        ["hidden_size"],
    ),
    "another depth": ("PREFIX_TUNING", [20, 2 * 6 * 768], {"num_layers": 6}, ["num_hidden_layers"]),
    "another prefix": ("PREFIX_TUNING", [20, 2 * 12 * 512], {}, ["hidden_size"]),
}
"""Trained prompts: their kind, their shape, other keys, and what bert-base-uncased has not."""


def test_the_width_of_a_prompt_is_that_of_its_base(run: Run, tmp_path: Path) -> None:
    """What is stored counts, and a config that says something else is noted."""
    faults = Faults()
    base = ModelConfig.from_preset("bert-base-uncased")
    for case, (kind, shape, more, wrong) in PROMPTS.items():
        keys: dict[str, Any] = {"peft_type": kind, "token_dim": 768, "num_layers": 12, **more}
        (tmp_path / case).mkdir()
        folder = adapter(tmp_path / case, {"prompt_embeddings": shape}, **keys)
        found = read_adapter(str(folder))
        faults.expect(case, [m.split(":")[0] for m in misfits(found, base)], wrong)
        noted = any("token_dim: the config says" in note for note in found.notes)
        shown = shape[1] // (2 * keys["num_layers"]) if kind == "PREFIX_TUNING" else shape[1]
        faults.expect((case, "noted"), noted, keys["token_dim"] not in (None, shown))
        result = run("verify", folder, "--preset", "bert-base-uncased")
        faults.expect((case, "status"), result.exit_code, int(bool(wrong)))
    faults.none()


def test_where_an_adapter_is_found(tmp_path: Path) -> None:
    """Its directory or a file in it; where there is a whole model too, the directory is its."""
    folder = adapter(tmp_path, lora(BERT, 1))
    assert adapter_folder(str(folder)) == str(folder)
    for name in ("adapter_config.json", "adapter_model.safetensors"):
        assert adapter_folder(str(folder / name)) == str(folder)
    write_tensors(folder / "model.safetensors", {"a": [1]})
    assert adapter_folder(str(folder)) is None
    assert adapter_folder(str(folder / "model.safetensors")) is None
    assert adapter_folder(str(folder / "adapter_model.safetensors")) == str(folder)


ODD: dict[str, dict[str, Any]] = {
    "numbers for names": {"peft_type": 5, "base_model_name_or_path": 7, "target_modules": 3},
    "lists": {"peft_type": [], "target_modules": [[1], {"a": 2}, "query"], "r": [8]},
    "a huge rank": {"r": 10**30, "token_dim": "x"},
    "control characters": {"peft_type": "\x1b[31m", "base_model_name_or_path": "a\u202eb"},
}


@pytest.mark.parametrize("keys", ODD.values(), ids=ODD)
def test_odd_configs_are_harmless(run: Run, tmp_path: Path, keys: dict[str, Any]) -> None:
    """What is no name is none, and nothing in it reaches the terminal."""
    result = run("verify", adapter(tmp_path, lora(BERT, 1), **keys))
    assert result.exit_code in (0, 1)
    assert "\x1b" not in result.output
    assert "\u202e" not in result.output


@pytest.mark.parametrize("tensors", [{}, {"a": [1]}, {"base_model.model.x.lora_A.weight": []}])
def test_odd_tensors_are_harmless(tmp_path: Path, tensors: Sizes) -> None:
    """An adapter may hold anything."""
    found = read_adapter(str(adapter(tmp_path, tensors)))
    assert isinstance(found, Adapter)
    assert found.bases == ()


def test_an_adapter_without_its_file_or_config_exits_with_two(run: Run, tmp_path: Path) -> None:
    """A message says what is missing, or what is wrong."""
    folder = adapter(tmp_path, lora(BERT, 1))
    (folder / "adapter_model.safetensors").unlink()
    result = run("verify", folder)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "an adapter without adapter_model.safetensors or adapter_model.bin" in result.stderr
    (folder / "adapter_config.json").write_text("{")
    with pytest.raises(AlbertCalcError, match="not valid JSON"):
        read_adapter(str(folder))


def test_a_fifo_is_not_waited_for(run: Run, tmp_path: Path) -> None:
    """The config of an adapter is a regular file."""
    os.mkfifo(tmp_path / "adapter_config.json")
    result = run("verify", tmp_path)
    assert result.exit_code == 2
    assert "adapter_config.json: must be a regular file" in result.stderr


@pytest.mark.parametrize("line", ["-V 0", "--head masked-lm", "--strict", "--layout paper"])
def test_a_model_that_is_not_there_has_no_sizes(run: Run, line: str) -> None:
    """Where the base is not known nothing can be said of it."""
    result = run("verify", DATA / "checkpoints" / "adapter-lora", *line.split())
    assert (result.exit_code, result.stdout) == (2, "")
    assert "says nothing of this adapter, whose base is not known" in result.stderr
