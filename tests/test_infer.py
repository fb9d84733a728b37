"""``infer``: the config of a checkpoint, from the shapes of its tensors alone."""

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result
from headers import Shapes, random_model, stored_shapes, write_tensors

from albert_calc.architectures import ARCHITECTURES
from albert_calc.checkpoints.files import read_checkpoint
from albert_calc.checkpoints.inference import infer_config
from albert_calc.checkpoints.safetensors import StoredTensor
from albert_calc.checkpoints.verification import verify
from albert_calc.config import ModelConfig
from albert_calc.errors import AlbertCalcError, CheckpointError, ConfigError
from albert_calc.sizes import SIZES

CHECKPOINTS = Path(__file__).parent / "data" / "checkpoints"
NAMES = sorted(p.name for p in CHECKPOINTS.iterdir())

Run = Callable[..., Result]


def stored(shapes: Shapes) -> dict[str, StoredTensor]:
    return {n: StoredTensor("F32", tuple(s)) for n, s in shapes.items()}


def masked_lm(**more: object) -> ModelConfig:
    return ModelConfig.from_dict(
        {"model_type": "bert", "vocab_size": 100, "hidden_size": 16, "num_hidden_layers": 3,
         "intermediate_size": 32, "max_position_embeddings": 20, **more}
    )  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_the_real_checkpoints_give_back_their_configs(run: Run, name: str) -> None:
    """What is printed equals the config beside the checkpoint, A and shared layers given."""
    result = run("infer", CHECKPOINTS / name, "-A", 2, "-L", 3)
    assert result.exit_code == 0
    printed = json.loads(result.stdout)
    beside = ModelConfig.from_file(CHECKPOINTS / name)
    assert ModelConfig.from_dict(printed) == beside
    assert printed["architectures"] == list(beside.architectures)


@pytest.mark.parametrize("name", NAMES)
def test_the_printed_config_verifies(run: Run, tmp_path: Path, name: str) -> None:
    """With nothing given, the config is a valid file and the checkpoint's own."""
    result = run("infer", CHECKPOINTS / name)
    (tmp_path / "config.json").write_text(result.stdout)
    assert run("verify", CHECKPOINTS / name, "--config", tmp_path).exit_code == 0
    assert "num_attention_heads" not in result.stdout
    assert "note: num_attention_heads: left out" in result.stderr


def test_executed_layers_are_exact_for_bert_and_a_guess_for_shared_layers(run: Run) -> None:
    """A guess is the least that can run, G × N, and is said to be one."""
    bert = run("infer", CHECKPOINTS / "bert-legacy-names")
    assert json.loads(bert.stdout)["num_hidden_layers"] == 3
    assert "warning" not in bert.stderr
    albert = run("infer", CHECKPOINTS / "albert-unshared-fp16")
    assert json.loads(albert.stdout)["num_hidden_layers"] == 3
    assert "warning: num_hidden_layers: 3 is a guess" in albert.stderr
    given = run("infer", CHECKPOINTS / "albert-unshared-fp16", "-L", "12")
    assert json.loads(given.stdout)["num_hidden_layers"] == 12
    assert given.stderr.count("warning") == 0


@pytest.mark.parametrize(("groups", "inner"), [(1, 1), (1, 3), (3, 1), (2, 3)])
def test_the_guess_can_run(groups: int, inner: int) -> None:
    """No more layers inside a group than a group has turns, so no warning of the config."""
    config = ModelConfig.from_dict(
        {"model_type": "albert", "vocab_size": 9, "embedding_size": 4, "hidden_size": 6,
         "num_hidden_layers": 24, "intermediate_size": 5, "num_hidden_groups": groups,
         "inner_group_num": inner}
    )  # fmt: skip
    found = infer_config(stored(stored_shapes(config, "model"))).config
    assert found.num_hidden_layers == groups * inner
    assert found.warnings == ()


@pytest.mark.parametrize("seed", range(60))
def test_any_model_is_recognized_by_its_shapes(seed: int) -> None:
    """For any legal model: every size that shapes show comes back, and the result verifies."""
    config, head = random_model(random.Random(seed))
    tensors = stored(stored_shapes(config, head))
    albert = config.model_type == "albert"
    found = infer_config(
        tensors, config.num_hidden_layers if albert else None, config.num_attention_heads
    )
    definition = ARCHITECTURES[config.model_type].heads[head]
    # RoBERTa's kin store the same tensors, so they are at least named.
    assert config.model_type in f"{found.config.model_type} {found.notes}"
    shown = {d for t in definition.tensors for d in t.shape}
    for size in SIZES:
        if size.symbol != "C" or "C" in shown:
            assert getattr(found.config, size.key) == getattr(config, size.key), size.key
    if any(t.tied_to for t in definition.tensors):
        assert found.config.tie_word_embeddings == config.tie_word_embeddings
    assert verify(ModelConfig.from_dict(found.to_dict()), tensors).holds
    assert [t.name for t in ARCHITECTURES[found.config.model_type].heads[found.head].tensors] == [
        t.name for t in definition.tensors
    ]


def test_heads_with_the_same_tensors_are_named(run: Run) -> None:
    """A causal model stores what a masked one does, so the other is mentioned."""
    result = run("infer", CHECKPOINTS / "bert-masked-lm-sharded")
    assert json.loads(result.stdout)["architectures"] == ["BertForMaskedLM"]
    assert (
        "model: bert masked-lm is taken; bert causal-lm would have the same tensors"
        in result.stderr
    )


def test_a_number_of_labels_other_than_two_is_printed() -> None:
    """``num_labels`` stands in the config only where it is not the default."""
    for labels in (1, 2, 42):
        config = masked_lm(num_labels=labels)
        found = infer_config(stored(stored_shapes(config, "token-classification")))
        assert found.to_dict().get("num_labels", 2) == labels
        assert ("num_labels" in found.to_dict()) == (labels != 2)


def test_an_output_layer_of_its_own_is_untied() -> None:
    """Both tensors of the decoder: untied, and said to be; one of them: a tied copy."""
    untied = stored_shapes(masked_lm(tie_word_embeddings=False), "masked-lm")
    found = infer_config(stored(untied))
    assert found.to_dict()["tie_word_embeddings"] is False
    assert any("a tied model that was stored twice looks the same" in n for n in found.notes)
    del untied["cls.predictions.decoder.bias"]
    assert "tie_word_embeddings" not in infer_config(stored(untied)).to_dict()
    del untied["bert.embeddings.word_embeddings.weight"]
    assert "tie_word_embeddings" not in infer_config(stored(untied)).to_dict()


def _without(name: str) -> Callable[[Shapes], object]:
    return lambda shapes: shapes.pop(name)


def _with(name: str, *shape: int) -> Callable[[Shapes], object]:
    return lambda shapes: shapes.update({name: shape})


LAYER = "bert.encoder.layer.1."
UNFIT = {
    "another width": (
        _with(f"{LAYER}output.dense.weight", 16, 33),
        f"{LAYER}output.dense.weight: must be H × I = 16 × 32, as",
    ),
    "transposed": (_with(f"{LAYER}output.dense.weight", 32, 16), "must be H × I = 16 × 32"),
    "another vocabulary": (_with("cls.predictions.bias", 90), "must be V = 100"),
    "another rank": (_with(f"{LAYER}output.dense.bias", 16, 1), "must be H = 16"),
    "another rank, seen first": (
        _with("bert.embeddings.word_embeddings.weight", 100, 16, 1),
        "must be V × H = 100 × 16, as cls.predictions.bias shows, got 100 × 16 × 1",
    ),
    "removed": (_without(f"{LAYER}output.dense.bias"), f"{LAYER}output.dense.bias: missing"),
    "no positions": (
        _without("bert.embeddings.position_embeddings.weight"),
        "bert.embeddings.position_embeddings.weight: missing",
    ),
    "a gap": (_with("bert.encoder.layer.9.output.dense.bias", 16), "bert.encoder.layer.3."),
    "a far gap": (
        _with("bert.encoder.layer.999999999.output.dense.bias", 16), "and 15,999,998,",
    ),
    "added": (_with("extra.weight", 3), "extra.weight: unexpected"),
    "empty": (lambda shapes: shapes.clear(), "the tensors fit no known model"),
}  # fmt: skip


@pytest.mark.parametrize(("change", "reason"), UNFIT.values(), ids=UNFIT)
def test_tensors_that_fit_no_model_are_named(
    run: Run, tmp_path: Path, change: Callable[[Shapes], object], reason: str
) -> None:
    """Shapes that contradict each other exit with 2, and the odd one is named."""
    shapes = stored_shapes(masked_lm(), "masked-lm")
    change(shapes)
    with pytest.raises(CheckpointError) as caught:
        infer_config(stored(shapes))
    assert caught.value.problems[0].startswith("the tensors fit no known model; the nearest is")
    assert len(caught.value.problems) <= 22
    path = write_tensors(tmp_path / "model.safetensors", shapes)
    result = run("infer", path)
    assert (result.exit_code, result.stdout) == (2, "")
    if not reason.startswith("and"):
        assert reason in result.stderr


def test_every_mutation_of_a_real_checkpoint_is_refused_or_another_model() -> None:
    """A changed tensor never gives the unchanged config."""
    tensors = read_checkpoint(CHECKPOINTS / "albert-pretraining").tensors
    unchanged = infer_config(tensors).to_dict()
    for name, tensor in tensors.items():
        for shape in ((*tensor.shape, 2), (tensor.shape[0] + 1, *tensor.shape[1:])):
            with_change = {**tensors, name: StoredTensor("F32", shape)}
            try:
                assert infer_config(with_change).to_dict() != unchanged, name
            except AlbertCalcError as error:
                assert name in str(error)


def test_a_given_size_must_not_contradict_the_tensors(run: Run) -> None:
    """BERT's layers are counted, heads must divide H, and sizes must be sizes."""
    with pytest.raises(ConfigError, match="num_hidden_layers: the tensors show 3, got 4"):
        infer_config(read_checkpoint(CHECKPOINTS / "bert-legacy-names").tensors, 4)
    for given, reason in ((("-A", 3), "must divide hidden_size"), (("-A", "x"), "got 'x'")):
        result = run("infer", CHECKPOINTS / "bert-legacy-names", *given)
        assert (result.exit_code, result.stdout) == (2, "")
        assert reason in result.stderr


def test_the_table_names_every_symbol(run: Run) -> None:
    """For people: each size with its symbol and key, and the head."""
    result = run("infer", CHECKPOINTS / "albert-untied", "-f", "csv")
    rows = result.stdout.splitlines()
    assert rows[0] == "symbol,key,value"
    for row in (",head,masked-lm", "V,vocab_size,100", "E,embedding_size,8",
                "N,inner_group_num,1", ",tie_word_embeddings,false"):  # fmt: skip
        assert row in rows


def test_an_unreadable_checkpoint_exits_with_two(run: Run, tmp_path: Path) -> None:
    """A message on stderr and nothing on stdout."""
    result = run("infer", tmp_path)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "has no model.safetensors" in result.stderr
