"""``verify``: a checkpoint is a config's, or every difference is named."""

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result
from headers import Shapes, checkpoint_of, random_model, stored_shapes, write_tensors
from support import DATA

from albert_calc.checkpoints.candidates import candidates
from albert_calc.checkpoints.files import read_checkpoint
from albert_calc.checkpoints.matching import Expected, disagreement, match
from albert_calc.checkpoints.names import inventory, view
from albert_calc.checkpoints.verification import Verification, verify
from albert_calc.checkpoints.words import difference_lines
from albert_calc.config.model_config import ModelConfig
from albert_calc.counting.counts import count_parameters
from albert_calc.families import FAMILIES, family
from albert_calc.render import Canvas

CHECKPOINTS = DATA / "checkpoints"

# The first number is what the real model of each checkpoint has, as the issue gives it.
REAL = {
    "albert-pretraining": (3_918, "pretraining", {"F32": 3_918}),
    "albert-unshared-fp16": (8_080, "model", {"F16": 8_080}),
    "albert-untied": (4_512, "masked-lm", {"F32": 4_512}),
    "bert-masked-lm-sharded": (9_060, "masked-lm", {"F32": 9_060}),
    "bert-with-buffers": (8_962, "sequence-classification", {"F32": 8_962}),
    "bert-legacy-names": (9_366, "pretraining", {"F32": 9_366}),
}

Run = Callable[..., Result]


def shapes_of(name: str) -> Shapes:
    tensors = read_checkpoint(CHECKPOINTS / name).tensors
    return {n: list(t.shape) for n, t in tensors.items()}


def compared(config: ModelConfig, shapes: Shapes, head: str | None = None) -> Verification:
    return verify(config, checkpoint_of(shapes), head)


def named(found: Verification) -> set[str]:
    """The names of all tensors that are missing, unexpected, or of another shape."""
    return {name for different in found.match.differences for name in different.names()}


@pytest.mark.parametrize("name", REAL)
def test_real_checkpoints_match_their_configs(run: Run, name: str) -> None:
    """Checkpoints that transformers wrote hold what the real model has."""
    total, head, dtypes = REAL[name]
    result = run("verify", CHECKPOINTS / name, "-f", "json")
    data = json.loads(result.stdout)
    assert result.exit_code == 0
    assert (data["expected"], data["stored"], data["head"]) == (total, total, head)
    assert data["dtypes"] == dtypes
    assert data["verdict"] == "match"
    assert not data["missing"] + data["unexpected"] + data["mismatched"]


@pytest.mark.parametrize("path", ["model.safetensors.index.json", ""])
def test_an_index_is_as_good_as_its_directory(run: Run, path: str) -> None:
    """The config beside an index is found."""
    assert run("verify", CHECKPOINTS / "bert-masked-lm-sharded" / path).exit_code == 0


def test_buffers_are_listed_and_not_counted(run: Run) -> None:
    """Of the 8,982 numbers stored 20 are position ids, which are no parameters."""
    result = run("verify", CHECKPOINTS / "bert-with-buffers", "-f", "json")
    data = json.loads(result.stdout)
    assert data["buffers"] == ["bert.embeddings.position_ids"]
    assert data["stored"] == 8_962


CASES = json.loads((DATA / "tensors.json").read_text())["cases"]


@pytest.mark.parametrize("case", CASES, ids=[f"{c['case']}, {c['head']}" for c in CASES])
def test_names_and_shapes_are_those_of_the_real_classes(case: dict[str, object]) -> None:
    """The table written out is what the real class lists, name by name."""
    config = ModelConfig.from_dict(case["config"])  # type: ignore[arg-type]  # from JSON
    assert stored_shapes(config, str(case["head"])) == case["tensors"]


# ---------------------------------------------------------------- changes, each caught by name


def without_first_bias(shapes: Shapes) -> str:
    name = next(n for n in shapes if n.endswith(".bias"))
    del shapes[name]
    return name


def with_one_more(shapes: Shapes) -> str:
    shapes["some.other.weight"] = [3, 3]
    return "some.other.weight"


def with_one_transposed(shapes: Shapes) -> str:
    name = next(n for n, s in shapes.items() if len(s) == 2 and s[0] != s[1] and "ids" not in n)
    shapes[name] = shapes[name][::-1]
    return name


def with_one_wider(shapes: Shapes) -> str:
    name = next(n for n, s in shapes.items() if len(s) == 2 and "ids" not in n)
    shapes[name] = [shapes[name][0], shapes[name][1] + 1]
    return name


CHANGES = [without_first_bias, with_one_more, with_one_transposed, with_one_wider]


@pytest.mark.parametrize("change", CHANGES, ids=[c.__name__ for c in CHANGES])
@pytest.mark.parametrize("name", REAL)
def test_a_changed_tensor_is_caught_by_name(
    run: Run, tmp_path: Path, name: str, change: Callable[[Shapes], str]
) -> None:
    """One tensor less, more, transposed or wider is a mismatch that names it."""
    shapes = shapes_of(name)
    culprit = change(shapes)
    path = write_tensors(tmp_path / "model.safetensors", shapes)
    result = run("verify", path, "--config", CHECKPOINTS / name, "-f", "csv")
    assert result.exit_code == 1
    rows = result.stdout.splitlines()[1:]
    bad = [r for r in rows if r.split(",")[0] in ("missing", "unexpected", "shape")]
    assert [r.split(",")[1].replace("'", "") for r in bad] == [culprit]


CONFIG_CHANGES = [
    ("albert-pretraining", "--vocab-size=101", "albert.embeddings.word_embeddings.weight"),
    ("bert-legacy-names", "--vocab-size=99", "bert.embeddings.word_embeddings.weight"),
    ("bert-masked-lm-sharded", "-L4", "bert.encoder.layer.3.output.dense.weight"),
    ("bert-masked-lm-sharded", "-L2", "bert.encoder.layer.2.output.dense.weight"),
    ("albert-pretraining", "--num-hidden-groups=2",
     "albert.encoder.albert_layer_groups.1.albert_layers.0.ffn.weight"),
    ("albert-unshared-fp16", "--num-hidden-groups=2",
     "encoder.albert_layer_groups.2.albert_layers.0.ffn.weight"),
    ("albert-untied", "--inner-group-num=2",
     "albert.encoder.albert_layer_groups.0.albert_layers.1.ffn.weight"),
    ("albert-untied", "--tie-word-embeddings", None),
    ("albert-pretraining", "--no-tie-word-embeddings", "predictions.decoder.weight"),
    ("bert-with-buffers", "--num-labels=3", "classifier.bias"),
    ("bert-with-buffers", "--type-vocab-size=0", "bert.embeddings.token_type_embeddings.weight"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "change", "culprit"), CONFIG_CHANGES)
def test_another_config_is_caught_by_name(
    run: Run, name: str, change: str, culprit: str | None
) -> None:
    """What the tensors show about a config is checked; tied tensors may be stored twice."""
    result = run("verify", CHECKPOINTS / name, change, "-f", "csv")
    assert result.exit_code == (1 if culprit else 0)
    assert culprit is None or f",{culprit}," in result.stdout


def test_executed_layers_that_are_shared_cannot_be_checked(run: Run) -> None:
    """One more turn of a shared layer stores nothing more, and verify says so."""
    result = run("verify", CHECKPOINTS / "albert-pretraining", "-L", "4")
    assert result.exit_code == 0
    assert "num_hidden_layers: 4 cannot be checked" in result.stderr
    bert = run("verify", CHECKPOINTS / "bert-with-buffers")
    assert "cannot be checked" not in bert.stderr


def test_expected_shapes_have_symbols_and_numbers(run: Run) -> None:
    """A wrong shape shows what it is made of, what that comes to, and what was found."""
    result = run("verify", CHECKPOINTS / "albert-pretraining", "-V", "30000", "-f", "csv")
    row = 'shape,albert.embeddings.word_embeddings.weight,"V × E = 30,000 × 8",100 × 8'
    assert row in result.stdout
    data = json.loads(
        run("verify", CHECKPOINTS / "albert-pretraining", "-V", "30000", "-f", "json").stdout
    )
    assert data["mismatched"][0] == {
        "name": "albert.embeddings.word_embeddings.weight",
        "expected": [30_000, 8],
        "formula": "V × E",
        "found": [100, 8],
    }


# ---------------------------------------------------------------- names


def tiny(model_type: str, **more: object) -> ModelConfig:
    return ModelConfig.from_dict(
        {"model_type": model_type, "vocab_size": 11, "hidden_size": 6, "embedding_size": 6,
         "num_hidden_layers": 2, "intermediate_size": 5, **more}
    )  # fmt: skip


@pytest.mark.parametrize("model_type", ARCHITECTURES)
@pytest.mark.parametrize("head", ["encoder", "model", "masked-lm", "question-answering"])
def test_a_prefix_may_be_there_or_not(model_type: str, head: str) -> None:
    """The encoder's names are understood with the prefix and without, a head's only without."""
    config, prefix = tiny(model_type), ARCHITECTURES[model_type].prefix
    shapes = stored_shapes(config, head)
    tops = {t.name for t in ARCHITECTURES[model_type].heads[head].tensors}
    bare = {n.removeprefix(prefix): s for n, s in shapes.items()}
    full = {n if n in tops else prefix + n: s for n, s in bare.items()}
    assert compared(config, bare, head).holds
    assert compared(config, full, head).holds
    if tops:
        wrong = compared(config, {prefix + n: s for n, s in bare.items()}, head)
        assert {f.name for f in wrong.match.unexpected} == {prefix + n for n in bare if n in tops}


def test_missing_tensors_are_named_in_the_checkpoint_s_own_style() -> None:
    """With a prefix where the others have it, and without where they do not."""
    config = tiny("bert")
    shapes = stored_shapes(config, "model")
    del shapes["pooler.dense.bias"]
    assert named(compared(config, shapes)) == {"pooler.dense.bias"}
    prefixed = {f"bert.{n}": s for n, s in shapes.items()}
    assert named(compared(config, prefixed)) == {"bert.pooler.dense.bias"}


@pytest.mark.parametrize("model_type", ARCHITECTURES)
def test_legacy_names_of_layer_norms_are_understood(model_type: str) -> None:
    """``gamma`` and ``beta`` are a LayerNorm's weight and bias, and nothing else's."""
    config = tiny(model_type)
    old = {}
    for name, shape in stored_shapes(config, "masked-lm").items():
        if "norm" in name.lower():
            name = name.replace(".weight", ".gamma").replace(".bias", ".beta")
        old[name] = shape
    assert sum(n.endswith("gamma") for n in old) > 2
    assert compared(config, old).holds
    wrong = {
        n.replace("word_embeddings.weight", "word_embeddings.gamma"): s for n, s in old.items()
    }
    assert not compared(config, wrong).holds


def test_the_same_tensor_under_two_names_is_unexpected() -> None:
    """An old and a new name for one tensor cannot both be right."""
    config = tiny("bert")
    shapes = stored_shapes(config, "model")
    shapes["embeddings.LayerNorm.gamma"] = [6]
    shapes["bert.pooler.dense.bias"] = [6]
    found = compared(config, shapes)
    assert named(found) == {"embeddings.LayerNorm.gamma", "bert.pooler.dense.bias"}


@pytest.mark.parametrize("index", ["2", "00", "-1", "1.0", "x", "{}", "9" * 5000, "٣"])
def test_an_index_beyond_the_layers_is_unexpected(index: str) -> None:
    """Only the layers that the config has are expected, written plainly."""
    config = tiny("bert")
    name = f"encoder.layer.{index}.output.dense.bias"
    found = compared(config, {**stored_shapes(config, "model"), name: [6]})
    assert named(found) == {name}


def test_a_layer_has_one_way_to_be_numbered() -> None:
    """Layer ``00`` is not layer 0."""
    config = tiny("bert")
    shapes = stored_shapes(config, "model")
    odd = {n.replace("layer.0.", "layer.00."): s for n, s in shapes.items()}
    found = compared(config, odd).match
    assert found.missing_count == len(found.unexpected) == 16


@pytest.mark.parametrize("model_type", ARCHITECTURES)
def test_buffers_are_understood_with_and_without_prefix(model_type: str) -> None:
    """Position and segment ids are no parameters, wherever they are stored."""
    config, architecture = tiny(model_type), ARCHITECTURES[model_type]
    for prefix in ("", architecture.prefix):
        buffers: Shapes = {prefix + b: [1, 512] for b in architecture.buffers}
        found = compared(config, {**stored_shapes(config, "model"), **buffers})
        assert found.holds
        assert [f.name for f in found.buffers] == list(buffers)
        assert found.stored == found.expected


# ---------------------------------------------------------------- tied tensors


@pytest.mark.parametrize("model_type", ARCHITECTURES)
def test_tied_tensors_may_be_stored_once_or_twice(model_type: str) -> None:
    """A second copy is not counted; alone, it stands for its original; its shape must fit."""
    config = tiny(model_type)
    once = stored_shapes(config, "masked-lm")
    untied = stored_shapes(tiny(model_type, tie_word_embeddings=False), "masked-lm")
    copies = {n: s for n, s in untied.items() if n not in once}
    assert copies
    twice = compared(config, untied)
    assert twice.holds
    assert twice.stored == twice.expected == count_parameters(config, "masked-lm").total
    assert {f.name for f in twice.match.copies} == set(copies)
    tied = [t for t in ARCHITECTURES[model_type].heads["masked-lm"].tensors if t.tied_to]
    originals = tuple(t.tied_to for t in tied)
    alone = compared(config, {n: s for n, s in untied.items() if not n.endswith(originals)})
    assert alone.holds
    assert alone.stored == alone.expected
    wrong = compared(config, {**once, **{n: [11, 7] for n in copies}}, "masked-lm")
    assert named(wrong) == set(copies)


# ---------------------------------------------------------------- verdicts


def test_without_the_pooler_is_told_from_damaged() -> None:
    """A pooler that is absent as a whole is another thing than one tensor less."""
    config = tiny("bert")
    shapes = stored_shapes(config, "encoder")
    found = compared(config, shapes, "model")
    assert (found.verdict, found.summary) == (
        "without_pooler", "the complete encoder, without its pooler",
    )  # fmt: skip
    shapes["pooler.dense.bias"] = [6]
    assert compared(config, shapes, "model").verdict == "damaged"
    assert compared(config, stored_shapes(config, "encoder")).head == "encoder"


def test_an_extra_head_is_told_from_other_tensors() -> None:
    """Known tensors on top are a head, unknown ones are not."""
    config = tiny("albert")
    shapes = stored_shapes(config, "pretraining")
    assert compared(config, shapes, "model").verdict == "extra_head"
    pooled = stored_shapes(config, "model")
    assert compared(config, pooled, "encoder").verdict == "extra_head"
    found = compared(config, {**pooled, "adapter.weight": [1]})
    assert (found.head, found.verdict) == ("model", "other_tensors")


def test_a_missing_head_is_told_from_damaged() -> None:
    """The encoder alone, where a head was asked for."""
    config = tiny("albert")
    found = compared(config, stored_shapes(config, "encoder"), "token-classification")
    assert (found.verdict, found.summary) == (
        "without_head", "the complete encoder, without its head",
    )  # fmt: skip


def test_the_class_that_the_config_names_decides_between_equals() -> None:
    """Classifiers share their names: the pooler and the named class tell them apart."""
    for name, head in (
        ("BertForMultipleChoice", "multiple-choice"),
        ("BertForSequenceClassification", "sequence-classification"),
    ):
        config = tiny("bert", architectures=[name], num_labels=1)
        assert compared(config, stored_shapes(config, head)).head == head
    config = tiny("bert", architectures=["BertForSequenceClassification"])
    found = compared(config, stored_shapes(config, "token-classification"))
    assert (found.head, found.verdict) == ("sequence-classification", "without_pooler")
    assert compared(tiny("bert"), stored_shapes(config, "token-classification")).holds


def test_the_tensors_decide_against_the_class_that_the_config_names(run: Run) -> None:
    """A config that names another class than the checkpoint holds is noted, not believed."""
    result = run("verify", CHECKPOINTS / "albert-pretraining", "--head", "encoder")
    assert result.exit_code == 1
    assert "the config names AlbertForPreTraining, compared with the head encoder" in result.stderr


# ---------------------------------------------------------------- models drawn at random


@pytest.mark.parametrize("seed", range(40))
def test_a_header_made_from_the_table_matches_and_no_change_passes(seed: int) -> None:
    """For any legal model: its own tensors match, and a changed one is named."""
    chance = random.Random(seed)
    config, head = random_model(chance)
    shapes = stored_shapes(config, head)
    found = compared(config, shapes)
    assert found.holds
    assert found.stored == found.expected == count_parameters(config, head).total
    classes = ARCHITECTURES[config.model_type].heads[found.head].classes
    assert classes == ARCHITECTURES[config.model_type].heads[head].classes
    for name in chance.sample(sorted(shapes), 6):
        others = {n: s for n, s in shapes.items() if n != name}
        assert named(compared(config, others)) == {name}
        wider = [*shapes[name][:-1], shapes[name][-1] + 1]
        assert named(compared(config, {**others, name: wider})) == {name}
        turned = shapes[name][::-1]
        if turned != shapes[name]:
            assert named(compared(config, {**others, name: turned})) == {name}
        assert named(compared(config, {**shapes, f"{name}.more": [1]})) == {f"{name}.more"}


def test_a_billion_layers_cost_nothing() -> None:
    """What is missing is counted exactly, and only its beginning is named."""
    config = tiny("bert", num_hidden_layers=10**9)
    found = compared(config, stored_shapes(tiny("bert"), "model"))
    assert found.match.missing_count == 16 * (10**9 - 2)
    assert len(found.match.missing) == 1_000
    assert found.match.missing[0].name == "encoder.layer.2.attention.self.query.weight"


# ---------------------------------------------------------------- the command


def test_missing_tensors_beyond_the_first_are_counted(run: Run) -> None:
    """A table stays readable, and its last row says how many more there are."""
    result = run("verify", CHECKPOINTS / "bert-with-buffers", "-L", "1000", "-f", "csv")
    assert result.exit_code == 1
    rows = [r for r in result.stdout.splitlines() if r.startswith("missing,")]
    assert len(rows) == 1_001
    assert rows[-1] == 'missing,"and 14,952 more",,'


@pytest.mark.parametrize("format", ["table", "json", "csv", "markdown"])
def test_hostile_names_stay_harmless(run: Run, tmp_path: Path, format: str) -> None:
    """A name from a file is neither markup, nor terminal control, nor a formula."""
    shapes = shapes_of("bert-with-buffers")
    shapes |= {"\x1b[31m[red]x[/red]": [1], "=cmd|x": [2], "a\u202eb\ud800": [3]}
    path = write_tensors(tmp_path / "model.safetensors", shapes)
    result = run("verify", path, "--config", CHECKPOINTS / "bert-with-buffers", "-f", format)
    assert result.exit_code == 1
    assert "\x1b" not in result.output
    assert "\u202e" not in result.output
    assert "red" in result.stdout


def test_the_table_has_exact_numbers(run: Run) -> None:
    """Expected and stored parameters, per dtype, with thousands separators."""
    result = run("verify", CHECKPOINTS / "albert-unshared-fp16")
    assert "8,080     8,080" in result.stdout
    assert "F16" in result.stdout


@pytest.mark.parametrize("width", [20, 30, 40, 80, 160])
def test_no_name_is_cut_on_a_narrow_terminal(
    run: Run, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    """A long name is broken over lines; put together again, it is whole."""
    monkeypatch.setattr("albert_calc.cli.output.canvas", lambda: Canvas(width))
    result = run("verify", CHECKPOINTS / "bert-masked-lm-sharded", "-L", "2")
    assert "…" not in result.stdout
    if width < 80:
        joined = "".join(line.strip().removeprefix("name") for line in result.stdout.splitlines())
        assert "bert.encoder.layer.2.attention.output.LayerNorm.weight" in joined.replace(" ", "")


def test_a_preset_can_be_the_config(run: Run, tmp_path: Path) -> None:
    """Without a config.json beside it, a checkpoint is compared with the preset named."""
    config = ModelConfig.from_preset("albert-base-v2")
    path = write_tensors(tmp_path / "model.safetensors", stored_shapes(config, "model"))
    result = run("verify", path, "--preset", "albert-base-v2", "-f", "json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["expected"] == 11_683_584
    assert run("verify", path, "--preset", "albert-large-v2").exit_code == 1


CANNOT = {
    "no such path": (["{tmp}/none"], "none: cannot be read: No such file or directory"),
    "no config": (["{tmp}/model.safetensors"], "no config.json in"),
    "empty": (["{tmp}/empty.safetensors", "--preset", "base"], "has 0 bytes"),
    "pickle": (["{tmp}/model.bin", "--preset", "base"], "convert it to safetensors"),
    "no such head": (
        ["{tmp}/model.safetensors", "--preset", "base", "--head", "causal-lm"], "head: must be one"
    ),
    "two configs": (["{tmp}", "--preset", "base", "--config", "x"], "contradict each other"),
    "bad config": (["{tmp}/model.safetensors", "--config", "{tmp}/empty.safetensors"], "empty"),
}  # fmt: skip


@pytest.mark.parametrize(("arguments", "reason"), CANNOT.values(), ids=CANNOT)
def test_what_cannot_be_read_exits_with_two(
    run: Run, tmp_path: Path, arguments: list[str], reason: str
) -> None:
    """A message on stderr, nothing on stdout, and exit code 2."""
    write_tensors(tmp_path / "model.safetensors", {"a": [1]})
    (tmp_path / "empty.safetensors").touch()
    result = run("verify", *(a.format(tmp=tmp_path) for a in arguments))
    assert result.exit_code == 2
    assert result.stdout == ""
    assert reason in result.stderr
