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

# The first number is what the real model of each checkpoint has.
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


OWN: dict[str, dict[str, object]] = {
    "mobilebert": {"intra_bottleneck_size": 6},
    "mpnet": {"relative_attention_num_buckets": 4},
    "squeezebert": {f"{n}_groups": 1 for n in
                    ("q", "k", "v", "post_attention", "intermediate", "output")},
}  # fmt: skip
"""Keys that make a family's model small."""


def tiny(model_type: str, **more: object) -> ModelConfig:
    tables = family(model_type)
    sizes = {"vocab_size": 11, "hidden_size": 6, "embedding_size": 6, "num_hidden_layers": 2,
             "intermediate_size": 5, "num_attention_heads": 3}  # fmt: skip
    usual = {tables.name_of(key): value for key, value in sizes.items() if tables.has(key)}
    return ModelConfig.from_dict(
        {"model_type": model_type, **usual, **OWN.get(model_type, {}), **more}
    )


@pytest.mark.parametrize("model_type", FAMILIES)
def test_a_prefix_may_be_there_or_not(model_type: str) -> None:
    """The encoder's names are understood with the prefix and without, a head's only without."""
    config, tables = tiny(model_type), family(model_type)
    for head in tables.heads:
        shapes = stored_shapes(config, head)
        tops = {t.name for t in tables.heads[head].tensors}
        bare = {n.removeprefix(tables.prefix): s for n, s in shapes.items()}
        full = {n if n in tops else tables.prefix + n: s for n, s in bare.items()}
        assert compared(config, bare, head).holds
        assert compared(config, full, head).holds
        half = {n if n in tops or i % 2 else tables.prefix + n: s
                for i, (n, s) in enumerate(bare.items())}  # fmt: skip
        assert compared(config, half, head).holds
        for name in sorted(tops & bare.keys())[:1]:
            wrong = {(tables.prefix + n if n == name else n): s for n, s in full.items()}
            assert named(compared(config, wrong, head)) == {name, tables.prefix + name}


def test_missing_tensors_are_named_in_the_checkpoint_s_own_style() -> None:
    """With a prefix where the others have it, and without where they do not."""
    config = tiny("bert")
    shapes = stored_shapes(config, "model")
    del shapes["pooler.dense.bias"]
    assert named(compared(config, shapes)) == {"pooler.dense.bias"}
    prefixed = {f"bert.{n}": s for n, s in shapes.items()}
    assert named(compared(config, prefixed)) == {"bert.pooler.dense.bias"}


@pytest.mark.parametrize("model_type", ["albert", "bert", "electra", "roberta", "ernie"])
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
    assert sum(d.size for d in found.of("missing")) == 16
    assert sum(d.size for d in found.of("unexpected")) == 16


@pytest.mark.parametrize("model_type", FAMILIES)
def test_buffers_are_understood_with_and_without_prefix(model_type: str) -> None:
    """Position and segment ids are no parameters, wherever they are stored."""
    config, tables = tiny(model_type), family(model_type)
    for prefix in ("", tables.prefix):
        buffers: Shapes = {prefix + b.format(1): [1, 512] for b in tables.buffers}
        found = compared(config, {**stored_shapes(config, "model"), **buffers})
        assert found.holds
        assert [f.name for f in found.buffers] == list(buffers)
        assert found.stored == found.expected


# ---------------------------------------------------------------- tied tensors


TYING = [f for f in FAMILIES if any(t.tied_to for t in family(f).heads["masked-lm"].tensors)]


@pytest.mark.parametrize("model_type", TYING)
def test_tied_tensors_may_be_stored_once_or_twice(model_type: str) -> None:
    """A second copy is not counted; alone, it stands for its original; its shape must fit."""
    config = tiny(model_type)
    once = stored_shapes(config, "masked-lm")
    untied = stored_shapes(tiny(model_type, tie_word_embeddings=False), "masked-lm")
    copies = {n: s for n, s in untied.items() if n not in once}
    assert copies
    twice = compared(config, untied, "masked-lm")
    assert twice.holds
    assert twice.stored == twice.expected == count_parameters(config, "masked-lm").total
    assert {f.name for f in twice.match.copies} == set(copies)
    tied = [t for t in family(model_type).heads["masked-lm"].tensors if t.tied_to]
    originals = tuple(t.tied_to for t in tied)
    kept = {n: s for n, s in untied.items() if not n.endswith(originals)}
    alone = compared(config, kept, "masked-lm")
    assert alone.holds
    assert alone.stored == alone.expected
    wrong = compared(config, {**once, **{n: [11, 7] for n in copies}}, "masked-lm")
    assert named(wrong) == set(copies)
    assert wrong.match.copies == ()
    assert wrong.stored == wrong.expected + 77 * len(copies)


def test_a_decoder_of_another_size_is_no_copy_and_counts_for_itself(run: Run) -> None:
    """A table that was resized, and an output layer that was not."""
    result = run("verify", CHECKPOINTS / "decoder-not-resized")
    assert result.exit_code == 1
    assert "got 97 × 16: no copy of bert.embeddings.word_embeddings.weight" in result.stdout
    data = json.loads(run("verify", CHECKPOINTS / "decoder-not-resized", "-f", "json").stdout)
    assert data["stored_twice"] == []
    assert data["difference"] == 97 * 16 - 3


def test_numbers_that_two_tensors_share_are_one_parameter() -> None:
    """Tied, as they should be; or two tensors that the config counts apart."""
    config = tiny("bert")
    untied = tiny("bert", tie_word_embeddings=False)
    shapes = stored_shapes(untied, "masked-lm")
    table, decoder = "bert.embeddings.word_embeddings.weight", "cls.predictions.decoder.weight"
    for shared in ({decoder: table}, {table: decoder}):
        stored = checkpoint_of(shapes, **shared)
        assert verify(config, stored, "masked-lm").holds
        assert verify(config, stored, "masked-lm").stored == 11 * 6 + 11 + len(shapes) * 0 + (
            count_parameters(config, "masked-lm").total - 11 * 6 - 11
        )
        apart = verify(untied, stored, "masked-lm")
        assert apart.verdict == "other_sizes"
        assert named(apart) == set(shared)
        assert apart.expected - apart.stored == 11 * 6


# ---------------------------------------------------------------- verdicts


def test_without_the_pooler_is_told_from_damaged() -> None:
    """A pooler that is absent as a whole is another thing than one tensor less."""
    config = tiny("bert")
    shapes = stored_shapes(config, "encoder")
    found = compared(config, shapes, "model")
    assert (found.verdict, found.summary) == (
        "without_pooler", "this is not the head model, whose pooler is missing; the tensors are"
        " those of encoder",
    )  # fmt: skip
    shapes["pooler.dense.bias"] = [6]
    found = compared(config, shapes, "model")
    assert (found.verdict, found.summary) == (
        "damaged", "another model, or damaged: 1 tensor missing",
    )  # fmt: skip
    assert compared(config, stored_shapes(config, "encoder")).head == "encoder"
    found = compared(config, stored_shapes(config, "encoder"), "sequence-classification")
    assert (found.verdict, found.summary) == (
        "without_head", "this is not the head sequence-classification, whose classifier and"
        " pooler are missing; the tensors are those of encoder",
    )  # fmt: skip


def test_other_heads_are_no_difference_and_other_tensors_are() -> None:
    """A checkpoint with all of a head's tensors and those of others besides is a match."""
    config = tiny("albert")
    found = compared(config, stored_shapes(config, "pretraining"), "masked-lm")
    assert found.holds
    assert [f.name for f in found.match.more] == [
        "albert.pooler.weight", "albert.pooler.bias",
        "sop_classifier.classifier.weight", "sop_classifier.classifier.bias",
    ]  # fmt: skip
    assert any(n.startswith("stored beside the head masked-lm: ") for n in found.notes)
    assert found.stored > found.expected
    pooled = stored_shapes(config, "model")
    assert compared(config, pooled, "encoder").holds
    found = compared(config, {**pooled, "adapter.weight": [1]})
    assert (found.head, found.verdict) == ("model", "other_tensors")


def test_the_head_is_that_of_the_class_which_the_config_names() -> None:
    """Whatever other head the tensors would fit."""
    for name, head in (
        ("BertForMultipleChoice", "multiple-choice"),
        ("BertForSequenceClassification", "sequence-classification"),
    ):
        config = tiny("bert", architectures=[name], num_labels=1)
        found = compared(config, stored_shapes(config, head))
        assert (found.head, found.holds) == (head, True)
    config = tiny("bert", architectures=["BertForSequenceClassification"])
    found = compared(config, stored_shapes(config, "token-classification"))
    assert (found.head, found.verdict) == ("sequence-classification", "without_pooler")
    assert found.summary == (
        "the config names BertForSequenceClassification, whose pooler is missing; the tensors"
        " are those of token-classification"
    )
    # Both heads are of that class, which has a pooler or not.
    config = tiny("bert", architectures=["BertModel"])
    for head in ("model", "encoder"):
        assert compared(config, stored_shapes(config, head)).head == head


def test_without_a_known_class_the_tensors_tell_the_head() -> None:
    """And a note says so."""
    for more in ({}, {"architectures": ["MyModel"]}, {"architectures": ["RobertaModel"]}):
        config = tiny("bert", **more)
        found = compared(config, stored_shapes(config, "token-classification"))
        assert (found.head, found.holds) == ("token-classification", True)
        assert found.notes == (
            "head: the config names no class of bert, and token-classification fits best",
        )


def test_the_head_that_was_asked_for_goes_first(run: Run) -> None:
    """Also where the config names another."""
    result = run("verify", CHECKPOINTS / "bert-masked-lm-sharded", "--head", "model")
    assert result.exit_code == 1
    assert "whose pooler is missing; the tensors are those of masked-lm" in result.stdout


INSTEAD = {
    "another family": (
        "bert", {}, "roberta", {}, "the tensors are those of roberta, head masked-lm, not of bert",
    ),
    "fewer layers": (
        "bert", {"num_hidden_layers": 12}, "bert", {},
        "the tensors are those of bert with num_hidden_layers 2, not 12",
    ),
    "another vocabulary, another width": (
        "bert", {"vocab_size": 12, "intermediate_size": 6}, "bert", {},
        "the tensors are those of bert with vocab_size 11, not 12, intermediate_size 5, not 6",
    ),
    "own keys": (
        "distilbert", {"hidden_dim": 7}, "distilbert", {},
        "the tensors are those of distilbert with hidden_dim 5, not 7",
    ),
    "a feature": (
        "deberta", {"relative_attention": True, "pos_att_type": ["c2p"]}, "deberta", {},
        "the tensors are those of deberta with relative_attention false, not true",
    ),
    "untied": (
        "albert", {}, "albert", {"tie_word_embeddings": False}, "match",
    ),
    "tied": (
        "albert", {"tie_word_embeddings": False}, "albert", {},
        "the tensors are those of albert with tie_word_embeddings true, not false",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", INSTEAD.values(), ids=INSTEAD)
def test_what_the_tensors_are_instead_is_said_first(
    case: tuple[str, dict[str, object], str, dict[str, object], str],
) -> None:
    """In one line: a family, a layout, a head or sizes that they fit better."""
    said, keys, stored, more, line = case
    shapes = stored_shapes(tiny(stored, **more), "masked-lm")
    found = compared(tiny(said, **keys), shapes, "masked-lm")
    assert found.summary.startswith(line)


def test_the_layout_of_the_paper_is_recognized(run: Run) -> None:
    """It matches where it is asked for, and is named where it is not."""
    assert run("verify", CHECKPOINTS / "paper-layout", "--layout", "paper").exit_code == 0
    result = run("verify", CHECKPOINTS / "paper-layout", "-f", "json")
    assert result.exit_code == 1
    data = json.loads(result.stdout)
    assert data["verdict"] == "other_layout"
    assert "as the code of albert_zh stores them" in data["summary"]
    assert "--layout paper" in data["summary"]
    transformers = run("verify", CHECKPOINTS / "albert-pretraining", "--layout", "paper")
    assert transformers.exit_code == 1
    assert "the tensors are those of the layout transformers, not of paper" in transformers.stdout


CASES_OF_PEOPLE = {
    "module-prefix": (0, "every name begins with module., which was taken off"),
    "compiled-prefix": (0, "every name begins with _orig_mod., which was taken off"),
    "masked-lm-under-a-classifier-config": (1, "beside the head token-classification"),
    "roberta-without-type": (0, "model_type: not given; the tensors are those of roberta"),
    "albert-without-type": (0, "show what the config leaves open: embedding_size 8, num_hidden"),
    "paper-layout": (1, ""),
    "albert-bin": (0, ""),
    "bert-bin-half": (0, ""),
    "bert-bin-sharded": (0, ""),
    "bert-bin-legacy": (0, ""),
    "hostile-bin": (2, "refused: the pickle names posix.system"),
}
"""What people have: the exit status, and a note."""


@pytest.mark.parametrize(("name", "expected"), CASES_OF_PEOPLE.items())
def test_checkpoints_as_people_have_them(run: Run, name: str, expected: tuple[int, str]) -> None:
    """Wrapped, pickled, or with a config that leaves things open."""
    status, note = expected
    result = run("verify", CHECKPOINTS / name)
    assert result.exit_code == status
    assert note in result.stderr
    assert (status == 2) == (result.stdout == "")


def test_a_state_dict_inside_a_training_checkpoint(run: Run) -> None:
    """Its config is given."""
    path = CHECKPOINTS / "training-checkpoint.bin"
    result = run("verify", path, "--config", CHECKPOINTS / "bert-bin-half")
    assert result.exit_code == 0
    assert "the tensors are those under state_dict" in result.stderr


def test_a_model_in_the_local_cache(run: Run) -> None:
    """It is named by its id; one that is not there is not fetched."""
    env = {"HF_HUB_CACHE": str(CHECKPOINTS / "hub")}
    result = run("verify", "albert/albert-base-v2", env=env)
    assert result.exit_code == 0
    assert "read from the local Hugging Face cache" in result.stderr
    assert run("infer", "albert/albert-base-v2", env=env).exit_code == 0
    missing = run("verify", "albert/albert-large-v2", env=env)
    assert (missing.exit_code, missing.stdout) == (2, "")
    assert "nothing is fetched: hf download albert/albert-large-v2 does that" in missing.stderr


@pytest.mark.parametrize("prefix", ["module.", "_orig_mod.", "module._orig_mod.", "0.auto_model."])
@pytest.mark.parametrize("model_type", FAMILIES)
def test_any_prefix_of_all_names_is_taken_off(model_type: str, prefix: str) -> None:
    """Wrappers put it there."""
    config = tiny(model_type)
    shapes = {prefix + n: s for n, s in stored_shapes(config, "masked-lm").items()}
    found = compared(config, shapes, "masked-lm")
    assert found.holds
    assert f"every name begins with {prefix}, which was taken off" in found.notes
    assert found.stored == found.expected


def test_lines_put_layers_together() -> None:
    """Copies of one tensor on a line, and the tensors of whole layers too."""
    config = tiny("bert", num_hidden_layers=12)
    shapes = stored_shapes(config, "model")
    without = {n: s for n, s in shapes.items() if "attention.self.query.weight" not in n}
    assert difference_lines(compared(config, without, "model").match) == [
        "encoder.layer.0 … 11: 12 × attention.self.query.weight missing"
    ]
    holes = {n: s for n, s in shapes.items() if ".1." not in n and ".5." not in n}
    assert difference_lines(compared(config, holes, "model").match) == [
        "encoder.layer.1, 5: all 16 tensors missing"
    ]
    wider = {n: [7] if "output.dense.bias" in n and "attention" not in n else s
             for n, s in shapes.items()}  # fmt: skip
    assert difference_lines(compared(config, wider, "model").match) == [
        "encoder.layer.0 … 11: 12 × output.dense.bias must be H = 6, got 7"
    ]


def test_people_get_ten_lines_and_all_on_request(run: Run, tmp_path: Path) -> None:
    """The others are counted."""
    shapes = {**shapes_of("bert-with-buffers"), **{f"odd{i}": [1] for i in range(30)}}
    path = write_tensors(tmp_path / "model.safetensors", shapes)
    short = run("verify", path, "--config", CHECKPOINTS / "bert-with-buffers")
    assert short.stdout.count("unexpected") == 10
    assert "and 20 more lines; --all lists them" in short.stdout
    whole = run("verify", path, "--config", CHECKPOINTS / "bert-with-buffers", "--all")
    assert whole.stdout.count("unexpected") == 30


# ---------------------------------------------------------------- models drawn at random


@pytest.mark.parametrize("seed", range(20))
def test_a_header_made_from_the_table_matches_and_no_change_passes(seed: int) -> None:
    """For any legal model: its own tensors match, and a changed one is named."""
    chance = random.Random(seed)
    config, head = random_model(chance)
    shapes = stored_shapes(config, head)
    found = compared(config, shapes)
    assert found.holds
    assert found.stored == found.expected == count_parameters(config, found.head).total
    assert config.family.heads[found.head].classes[:1] == config.family.heads[head].classes[:1]
    for name in chance.sample(sorted(shapes), min(6, len(shapes))):
        others = {n: s for n, s in shapes.items() if n != name}
        assert named(compared(config, others, head)) == {name}
        wider = [*shapes[name][:-1], shapes[name][-1] + 1]
        assert named(compared(config, {**others, name: wider}, head)) == {name}
        turned = shapes[name][::-1]
        if turned != shapes[name]:
            assert named(compared(config, {**others, name: turned}, head)) == {name}
        assert named(compared(config, {**shapes, f"{name}.more": [1]}, head)) == {f"{name}.more"}


@pytest.mark.parametrize("seed", range(30))
def test_the_fast_count_of_differences_is_the_slow_one(seed: int) -> None:
    """Which of many models fits best is decided by the one, and told by the other."""
    chance = random.Random(seed)
    config, head = random_model(chance)
    shapes = stored_shapes(config, head)
    for name in chance.sample(sorted(shapes), min(8, len(shapes))):
        kind = chance.randrange(4)
        if kind == 0:
            del shapes[name]
        elif kind == 1:
            shapes[name] = [*shapes[name], 2]
        elif kind == 2:
            shapes[name.replace(".0.", f".{chance.randrange(9)}.")] = shapes[name]
        else:
            shapes[f"{name}.more"] = [1]
    for candidate in candidates(inventory(checkpoint_of(shapes).tensors)):
        seen = view(candidate.seen.found, candidate.seen.model_type)
        symbols = {s for t in candidate.table for s in t.elements.times(*t.repeat).symbols}
        values = {**dict.fromkeys(symbols, 2), **config.symbols}
        expected = Expected(candidate.table, values, candidate.tied)
        agreed = match(seen, expected)
        assert disagreement(seen, expected) == (agreed.problems, len(agreed.more))


def test_a_billion_layers_cost_nothing() -> None:
    """What is missing is counted exactly, and only its beginning is named."""
    config = tiny("bert", num_hidden_layers=10**9)
    found = compared(config, stored_shapes(tiny("bert"), "model"))
    assert found.match.problems == 16 * (10**9 - 2)
    first = next(found.match.of("missing")[0].names())
    assert first == "encoder.layer.2.attention.self.query.weight"
    assert difference_lines(found.match) == ["encoder.layer.2 … 999999999: all 16 tensors missing"]


# ---------------------------------------------------------------- the command


def test_missing_tensors_beyond_the_first_are_counted(run: Run) -> None:
    """CSV has a row a tensor of the table, JSON the first names and their number."""
    result = run("verify", CHECKPOINTS / "bert-with-buffers", "-L", "1000", "-f", "csv")
    assert result.exit_code == 1
    rows = [r for r in result.stdout.splitlines() if r.startswith("missing,")]
    assert len(rows) == 16
    assert rows[0].startswith("missing,bert.encoder.layer.3 … 999: 997 × attention.self.query.")
    data = json.loads(
        run("verify", CHECKPOINTS / "bert-with-buffers", "-L", "1000", "-f", "json").stdout
    )
    assert (len(data["missing"]), data["missing_count"]) == (1_000, 15_952)


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
    assert "8,080      8,080" in result.stdout
    assert "F16" in result.stdout


@pytest.mark.parametrize("width", [20, 30, 40, 80, 160])
def test_no_name_is_cut_on_a_narrow_terminal(
    run: Run, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    """A long name is broken over lines; put together again, it is whole."""
    monkeypatch.setattr("albert_calc.cli.output.canvas", lambda: Canvas(width))
    result = run("verify", CHECKPOINTS / "bert-masked-lm-sharded", "-V", "101")
    assert "…" not in result.stdout
    if width < 80:
        joined = "".join(line.strip().removeprefix("name") for line in result.stdout.splitlines())
        assert "bert.embeddings.word_embeddings.weight:must" in joined.replace(" ", "")


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
    "no pickle": (["{tmp}/model.bin", "--preset", "base"], "no file of torch.save"),
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
    (tmp_path / "model.bin").write_text("hello")
    result = run("verify", *(a.format(tmp=tmp_path) for a in arguments))
    assert result.exit_code == 2
    assert result.stdout == ""
    assert reason in result.stderr


def test_labels_that_are_as_usual_are_named(run: Run) -> None:
    """Another number of labels is what is wrong, also where the tensors have the usual one."""
    result = run("verify", CHECKPOINTS / "albert-pretraining", "--num-labels", "7")
    assert result.exit_code == 1
    assert "the tensors are those of albert with num_labels 2, not 7" in result.stdout
