"""What a file is: its family, its head, keys that change a count, or no config at all."""

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import Run
from support import BASE, DATA, Faults, oracle

from albert_calc import AlbertCalcError, ModelConfig, count_parameters
from albert_calc.config.detection import detect
from albert_calc.config.keys import REFUSALS
from albert_calc.config.reading import read_mapping
from albert_calc.families import FAMILIES, families, family

Keys = dict[str, Any]

CASES = oracle("configs")["cases"]
SMALL: Keys = {"vocab_size": 9, "hidden_size": 8, "num_hidden_layers": 2, "intermediate_size": 12}
BERT: Keys = {"model_type": "bert", **SMALL}
MOST_LINES = 6


def file_of(case: Keys, folder: Path) -> Path:
    """The file of *case*, written into *folder*; for one in a directory, that directory."""
    path = folder / str(case["file"])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(case.get("text") or json.dumps(case["config"]))
    return path.parent if path.parent != folder else path


def test_files_that_people_have(run: Run, tmp_path: Path) -> None:
    """Each is counted as its class has it, or refused by name, in Python and by the command."""
    faults = Faults()
    for case in CASES:
        path = file_of(case, tmp_path)
        name = case["file"]
        if "refused" in case:
            try:
                faults.append(f"{name}: read as {ModelConfig.from_file(path)}")
            except AlbertCalcError as error:
                lacking = [w for w in case["refused"] if w not in str(error)]
                faults.expect((name, str(error)), lacking, [])
            result = run("count", path)
            faults.expect(name, (result.exit_code, result.stdout), (2, ""))
            lacking = [w for w in case["refused"] if w not in result.stderr]
            faults.expect((name, result.stderr), lacking, [])
            faults.expect(name, len(result.stderr.splitlines()) <= MOST_LINES, True)
            continue
        reading = read_mapping(case["config"])
        faults.expect(name, reading.config.model_type, case["model_type"])
        faults.expect(name, [w.split(":")[0] for w in reading.key_warnings], case.get("warned", []))
        if "assumed" in case:
            faults.expect(name, list(reading.assumed), case["assumed"])
            faults.expect(name, len(reading.notes), 1)
        result = run("count", path, "-f", "json")
        counted = json.loads(result.stdout)
        head = case.get("head", "model")
        faults.expect(name, (counted["head"], counted["total"]), (head, case["totals"][head]))
        for key in case.get("warned", []):
            faults.expect((name, key), f"warning: {key}: " in result.stderr, True)
        for head, total in case["totals"].items():
            faults.expect((name, head), count_parameters(reading.config, head).total, total)
            shown = run("count", path, "--head", head, "--total").stdout
            faults.expect((name, head), shown, f"{total}\n")
    faults.none()


def test_a_family_that_is_told(run: Run, tmp_path: Path) -> None:
    """--model-type settles what a file leaves open."""
    (case,) = [c for c in CASES if c["file"] == "embedding-size-no-type.json"]
    path = file_of(case, tmp_path)
    totals = {"albert": 3_659_008, "electra": 12_280_576, "roformer": 12_247_808}
    for model_type, total in totals.items():
        result = run("count", path, "--model-type", model_type, "--total")
        assert (result.exit_code, result.stdout) == (0, f"{total}\n")
    left_open = run("count", path).stderr
    assert (
        f": {', '.join(f'{name} {total:,}' for name, total in totals.items())}; give" in left_open
    )


TYPES: list[tuple[Keys, str]] = [
    ({"model_type": "electra"}, "electra"),
    ({"architectures": ["ElectraForPreTraining"], "num_hidden_groups": 1}, "electra"),
    ({"architectures": ["Unknown", "MPNetForMaskedLM"], "num_attention_heads": 2}, "mpnet"),
    ({"architectures": "BertModel"}, "bert"),
    ({"architectures": [None, 5]}, "bert"),
    ({"architectures": ["Unknown"], "num_hidden_groups": 1}, "albert"),
    ({"num_hidden_groups": 1}, "albert"),
    ({"inner_group_num": 1, "embedding_size": 4}, "albert"),
    ({"net_structure_type": 0}, "albert"),
    ({"gap_size": 0}, "albert"),
    ({"down_scale_factor": 1}, "albert"),
    ({"trigram_input": True, "num_attention_heads": 4}, "mobilebert"),
    ({"intra_bottleneck_size": 12, "num_attention_heads": 4}, "mobilebert"),
    ({"relative_attention_num_buckets": 32, "num_attention_heads": 2}, "mpnet"),
    ({"input_embedding_size": 4}, "rembert"),
    ({"rotary_value": False, "num_attention_heads": 2}, "roformer"),
    ({"position_buckets": 5}, "deberta-v2"),
    ({"seq_classif_dropout": 0.1, "hidden_dim": 12}, "distilbert"),
    ({}, "bert"),
    ({"embedding_size": None}, "bert"),
    ({"model_type": None}, "bert"),
]
"""Keys beside the usual sizes, and the family that they are of."""


def test_the_family_of_a_config() -> None:
    """The type, else a class, else a key that one family has, else BERT; a note says which."""
    faults = Faults()
    for keys, model_type in TYPES:
        reading = read_mapping({**SMALL, **keys})
        faults.expect(keys, reading.config.model_type, model_type)
        told = any(n.startswith(f"model_type: not given, so {model_type} (") for n in reading.notes)
        faults.expect(keys, told, not keys.get("model_type"))
    faults.none()


MARKS = {
    "albert": ("num_hidden_groups", "inner_group_num", "net_structure_type", "gap_size",
               "down_scale_factor"),
    "distilbert": ("sinusoidal_pos_embds", "seq_classif_dropout", "qa_dropout"),
    "mpnet": ("relative_attention_num_buckets",),
    "deberta": ("talking_head",),
    "deberta-v2": ("position_buckets", "norm_rel_ebd", "share_att_key"),
    "rembert": ("input_embedding_size", "output_embedding_size"),
    "roformer": ("rotary_value",),
    "mobilebert": ("trigram_input", "intra_bottleneck_size", "use_bottleneck",
                   "use_bottleneck_attention", "key_query_shared_bottleneck",
                   "num_feedforward_networks"),
    "squeezebert": ("q_groups", "k_groups", "v_groups", "post_attention_groups"),
}  # fmt: skip
"""The keys that only one family has."""


def test_marks_are_keys_of_one_family() -> None:
    """A key by which a family is known is a key of no other family, and gives that family."""
    faults = Faults()
    for model_type, marks in MARKS.items():
        for mark in marks:
            found = detect({**SMALL, mark: 1})
            faults.expect(mark, found.model_type, model_type)
            faults.expect(mark, f"only it has {mark}" in found.note, True)
            others = {f.model_type for f in families() if mark in f.defaults} - {model_type}
            faults.expect(mark, others, set())
    known = {f.model_type: f.marks for f in families() if f.marks}
    faults.expect("marks", known, MARKS)
    faults.none()


def test_sizes_that_are_typed_with_an_e_are_an_albert(run: Run) -> None:
    """There is no file that could say otherwise, and a note says so."""
    result = run("count", "-V", "30000", "-E", "128", "-H", "768", "-L", "12", "--total")
    assert result.stdout == "11683584\n"
    assert "note: model_type: not given, so albert (there is an embedding_size)" in result.stderr


def test_the_class_that_a_file_names_is_counted(run: Run, tmp_path: Path) -> None:
    """A file is counted with its class's head; a preset, --head and Python are not."""
    path = tmp_path / "config.json"
    config = {**ModelConfig.from_preset("bert-base-uncased").to_dict(),
              "architectures": ["BertForSequenceClassification"]}  # fmt: skip
    path.write_text(json.dumps(config))
    for line, total in (
        (("count", path), 109_483_778),
        (("count", path, "--head", "model"), 109_482_240),
        (("count", "bert-base-uncased"), 109_482_240),
    ):
        assert run(*line, "--total").stdout == f"{total}\n"
    assert count_parameters(ModelConfig.from_file(path)).total == 109_482_240
    assert "head sequence-classification: 109,483,778 parameters" in run("count", path).stdout
    # Only where nobody chose a head, and heads matter, is it said that this is another one.
    note = (
        "note: architectures: counted as the bare model; --head sequence-classification counts"
        " BertForSequenceClassification\n"
    )
    for words, told in (
        ("count", False), ("count --head masked-lm", False), ("layers", False),
        ("embedding", False), ("compare", True), ("compare --head model", False),
        ("solve --budget 90M --vary hidden-size", True), ("sweep -L 2,4", True),
        ("sweep -L 2,4 --head masked-lm", False),
    ):  # fmt: skip
        name, *options = words.split()
        assert (note in run(name, path, *options).stderr) == told, words
    for command in (("explain", "-f", "json"), ("check", "--equals", "109483778")):
        result = run(command[0], path, *command[1:])
        assert result.exit_code == 0
        assert "109483778" in result.stdout.replace(",", "")


CHANGING: dict[str, tuple[object, tuple[object, ...]]] = {
    "add_cross_attention": (True, (False, None)),
    "fusion_layer": (6, (0, None)),
    "encoder_width": (768, (0, None)),
    "cross_attention_freq": (2, (0, False)),
    "query_length": (32, (0,)),
    "position_embedding_type": ("relative_key", ("absolute", None)),
    "pruned_heads": ({"0": [1]}, ({}, None)),
    "quantization_config": ({"bits": 8}, (None, {})),
    "use_relative_position": (True, (False, None)),
    "alibi_starting_size": (512, (0, None)),
    "feed_forward_type": ("geglu", ("original", "mlp", None)),
    "v_hidden_size": (1024, (0,)),
    "bi_hidden_size": (1024, (0,)),
    "v_num_hidden_layers": (6, (0,)),
    "bi_num_attention_heads": (8, (None,)),
    "v_biattention_id": ([0, 1], ([],)),
    "t_biattention_id": ([0, 1], ([],)),
    "img_feature_dim": (2054, (0, None)),
    "img_feature_type": ("faster_r-cnn", ("", None)),
    "visual_embedding_dim": (512, (0,)),
    "word_embed_dim": (200, (0,)),
    "add_layers": ([0], ([],)),
    "hidden_size_aug": (204, (0,)),
    "pals": (True, (False,)),
    "houlsby": (True, (False,)),
    "adapter_size": (64, (0, None)),
    "adapter_config": ({"a": 1}, (None, {})),
    "lora_rank": (8, (0, None)),
    "lora_r": (8, (0,)),
    "lora_adaptations": (["query"], ([],)),
    "pre_seq_len": (20, (0, None)),
    "prefix_projection": (True, (False,)),
    "prefix_hidden_size": (512, (0, None)),
    "attention_window": ([512] * 12, ([], None)),
    "use_task_id": (True, (False,)),
    "task_type_vocab_size": (3, (0,)),
    "max_2d_position_embeddings": (1024, (0,)),
    "coordinate_size": (128, (0,)),
    "shape_size": (128, (0,)),
    "relative_attention": (True, (False,)),
    "max_relative_positions": (64, (-1, 0)),
    "pos_att_type": ("c2p|p2c", ("", None, [])),
    "position_buckets": (256, (-1,)),
    "talking_head": (True, (False,)),
    "conv_kernel_size": (3, (0,)),
    "vocab_size_or_config_json_file": (30522, (9, None)),
    "tie_weights_": (False, (True, None)),
    "input_embedding_size": (4, (8, None)),
    "output_embedding_size": (4, (8, None)),
    "qkv_size": (4, (8, None)),
    "use_bias": (False, (True, None)),
    "num_qkv": (2, (1, 0)),
    "seg_emb": (True, (False,)),
    "rel_pos_bins": (32, (0,)),
    "rel_2d_pos_bins": (64, (0,)),
    "type_vocab_sizes": ([3, 256], ([],)),
    "num_hidden_word_layers": (6, (0,)),
    "moe": (True, (False,)),
    "num_experts": (8, (1, None)),
    "num_local_experts": (8, (1,)),
    "use_bottleneck": (True, (False,)),
    "trigram_input": (True, (False,)),
    "intra_bottleneck_size": (128, (0,)),
}
"""Keys that other code builds other models for: a value that does, and values that do not.

H is 8 and V is 9 in the config that they stand in.
"""


def test_keys_that_change_a_count_are_refused_by_name() -> None:
    """In a BERT each of these is refused with its name and value, and off it is silent."""
    faults = Faults()
    assert set(CHANGING) == {key for refusal in REFUSALS for key in refusal.keys}
    for key, (value, harmless) in CHANGING.items():
        try:
            read_mapping({**BERT, key: value})
            faults.append(f"{key}: {value} was read")
        except AlbertCalcError as error:
            (problem,) = error.problems
            faults.expect(key, problem.startswith(f"{key}: ") and ", got " in problem, True)
        for nothing in harmless:
            reading = read_mapping({**BERT, key: nothing})
            faults.expect((key, nothing), reading.key_warnings, ())
    faults.none()


def test_a_key_of_other_code_does_nothing_where_it_is_switched_off() -> None:
    """A fusion layer is no layer where there is no cross-attention."""
    off = {"fusion_layer": 6, "encoder_width": 768, "add_cross_attention": False}
    assert read_mapping({**BERT, **off}).key_warnings == ()
    assert read_mapping({**BERT, "fusion_layer": 0}).key_warnings == ()


OWN = {
    "use_task_id": ("ernie", True),
    "task_type_vocab_size": ("ernie", 3),
    "relative_attention": ("deberta", True),
    "talking_head": ("deberta", True),
    "position_buckets": ("deberta-v2", 5),
    "conv_kernel_size": ("deberta-v2", 3),
    "trigram_input": ("mobilebert", False),
    "intra_bottleneck_size": ("mobilebert", 8),
    "input_embedding_size": ("rembert", 4),
    "output_embedding_size": ("rembert", 4),
}
"""Keys that are refused elsewhere, in the family that they belong to."""


def test_keys_that_a_family_reads_are_not_refused_there() -> None:
    """What another family's class would ignore counts in its own."""
    faults = Faults()
    for key, (model_type, value) in OWN.items():
        keys = {**SMALL, "num_attention_heads": 2, "model_type": model_type, key: value}
        faults.expect(key, read_mapping(keys).config.to_dict()[key], value)
    faults.none()


REFUSED_BY_FAMILIES: dict[str, dict[str, object]] = {
    "deberta": {"position_buckets": 256, "conv_kernel_size": 3},
    "deberta-v2": {"talking_head": True},
    "roformer": {"norm_type": "rms_norm", "use_bias": False},
    "nomic_bert": {
        "qkv_proj_bias": True, "mlp_fc1_bias": True, "mlp_fc2_bias": True, "use_rms_norm": True,
        "norm_mlp": True, "layer_scale": 0.1, "prenorm": True, "parallel_block": True,
        "parallel_block_tied_norm": True, "activation_function": "gelu", "rotary_emb_fraction": 0.5,
        "num_heads_kv": 4, "num_experts": 8, "img_size": 224, "patch_size": 16,
    },
}  # fmt: skip
"""Keys that a family's public configs have, and a value that builds another model."""


OFF: dict[str, list[tuple[str, object]]] = {
    "deberta": [(key, value) for key in ("position_buckets", "conv_kernel_size")
                for value in (None, False, 0, -1)],
    "nomic_bert": [("rotary_emb_fraction", 1), ("rotary_emb_fraction", 1.0), ("num_experts", 0)],
}  # fmt: skip
NEARLY_OFF: dict[str, list[tuple[str, object]]] = {
    "deberta": [("position_buckets", 1), ("position_buckets", -2), ("conv_kernel_size", 1)],
    "nomic_bert": [("rotary_emb_fraction", 2), ("rotary_emb_fraction", 0), ("num_experts", 1)],
}
"""Values of such keys that ask for nothing, and those beside them."""


def test_keys_that_a_family_refuses() -> None:
    """A family refuses its own keys where other code builds other tensors for them."""
    faults = Faults()
    assert {f.model_type: set(f.refused) for f in families() if f.refused} == {
        name: set(keys) for name, keys in REFUSED_BY_FAMILIES.items()
    }
    for model_type, keys in REFUSED_BY_FAMILIES.items():
        base = {**SMALL, "num_attention_heads": 2, "model_type": model_type}
        for key, value in keys.items():
            try:
                read_mapping({**base, key: value})
                faults.append(f"{model_type}, {key}: {value} was read")
            except AlbertCalcError as error:
                faults.expect((model_type, key), error.problems[0].split(":")[0], key)
        off = {key: values[0] for key, (values, _) in family(model_type).refused.items()}
        for key, value in NEARLY_OFF.get(model_type, ()):
            with pytest.raises(AlbertCalcError, match=f"^{key}: "):
                read_mapping({**base, key: value})
        for key, value in OFF.get(model_type, ()):
            off[key] = value
            faults.expect((key, value), read_mapping({**base, key: value}).key_warnings, ())
        faults.expect(model_type, read_mapping({**base, **off}).key_warnings, ())
    faults.none()


FOREIGN: list[tuple[Keys, str]] = [
    ({"peft_type": "LORA"}, "the config of a PEFT adapter, not of a model"),
    ({"encoder": {}, "decoder": {}}, "the config of an encoder-decoder"),
    ({"n_embd": 768, "n_layer": 2}, "a config with keys of GPT (n_embd, n_layer)"),
    ({"model_type": "gpt2", "n_embd": 768}, "a config with keys of GPT (n_embd)"),
    ({"weight_map": {}, "metadata": {}}, "the index of a checkpoint in several files"),
    ({"word_embedding_dimension": 384}, "a config of sentence-transformers"),
    ({"__version__": {}}, "a config of sentence-transformers"),
    ({"tokenizer_class": "BertTokenizer", "model_max_length": 512}, "the config of a tokenizer"),
]
"""Objects that are no encoder's config, and what they are."""


def test_objects_that_are_no_config() -> None:
    """One line says what the object is, and nothing is said to be missing."""
    faults = Faults()
    for keys, what in FOREIGN:
        try:
            read_mapping(keys)
            faults.append(f"{keys} was read")
        except AlbertCalcError as error:
            faults.expect(keys, [p[: len(what) + 8] for p in error.problems], [f"config: {what}"])
    faults.none()


def test_configs_that_only_look_foreign() -> None:
    """One key of such an object is not enough: the config beside it is read."""
    faults = Faults()
    for key, value in (
        ("encoder", {}), ("decoder", {}), ("weight_map", {}), ("metadata", {}),
        ("tokenizer_class", "BertTokenizer"), ("model_max_length", 512),
    ):  # fmt: skip
        config = read_mapping({**BERT, key: value}).config
        faults.expect(key, config, read_mapping(BERT).config)
    faults.none()


def test_an_unknown_type_names_those_that_are_known() -> None:
    """One line with every family, and no word on keys that are missing."""
    try:
        read_mapping({"model_type": "t5", "d_model": 512})
    except AlbertCalcError as error:
        (problem,) = error.problems
    assert problem == f"model_type: must be one of {', '.join(FAMILIES)}, got 't5'"


def test_strict_refuses_keys_that_are_only_warned_about(run: Run, tmp_path: Path) -> None:
    """Every command that reads a model takes --strict."""
    path = tmp_path / "config.json"
    path.write_text(json.dumps({**BASE, "num_memory_tokens": 8, "unheard": 1}))
    for command in (
        ("count",), ("explain",), ("check", "--at-most", "1B"), ("sweep", "-L", "1,2"),
        ("solve", "--vary", "L", "--budget", "1B"), ("compare",), ("cost",),
    ):  # fmt: skip
        result = run(command[0], path, *command[1:], "--strict")
        assert (command, result.exit_code, result.stdout) == (command, 2, "")
        named = [line.split(":")[1].strip() for line in result.stderr.splitlines()]
        assert named == ["num_memory_tokens", "unheard"]


def test_the_files_of_tests_are_configs_of_their_own() -> None:
    """Every config beside the checkpoints of the tests is read without a warning of keys."""
    faults = Faults()
    for name in ("albert-pretraining", "albert-untied", "bert-with-buffers"):
        config = json.loads((DATA / "checkpoints" / name / "config.json").read_text())
        faults.expect(name, read_mapping(config).key_warnings, ())
    faults.none()
