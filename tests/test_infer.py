"""``infer``: the config of a checkpoint, from the shapes of its tensors alone."""

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result
from headers import Shapes, checkpoint_of, random_model, stored_shapes, write_tensors
from support import DATA, Faults

from albert_calc.checkpoints.files import read_checkpoint
from albert_calc.checkpoints.inference import Inference, infer_config
from albert_calc.checkpoints.stored import StoredTensor
from albert_calc.checkpoints.verification import verify
from albert_calc.config.model_config import ModelConfig
from albert_calc.config.reading import read_mapping
from albert_calc.counting.counts import component_formulas
from albert_calc.counting.tensors import variant_of
from albert_calc.errors import AlbertCalcError, CheckpointError, ConfigError
from albert_calc.families import FAMILIES, family
from albert_calc.families.sizes import SIZES

CHECKPOINTS = DATA / "checkpoints"
NAMES = ["albert-pretraining", "albert-unshared-fp16", "albert-untied", "albert-bin",
         "bert-legacy-names", "bert-masked-lm-sharded", "bert-with-buffers", "bert-bin-legacy",
         "bert-bin-sharded", "module-prefix", "compiled-prefix"]  # fmt: skip

Run = Callable[..., Result]


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
    assert ModelConfig.from_dict(printed).to_dict() == beside.to_dict()
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
        {"model_type": "albert", "vocab_size": 9, "embedding_size": 4, "hidden_size": 64,
         "num_hidden_layers": 24, "intermediate_size": 5, "num_hidden_groups": groups,
         "inner_group_num": inner}
    )  # fmt: skip
    found = infer_config(checkpoint_of(stored_shapes(config, "model")))
    assert found.config.num_hidden_layers == groups * inner
    assert read_mapping(found.content).oddities == ()


def named(found: Inference) -> set[str]:
    """The models that a note names, the one taken and those that would have the same tensors."""
    (note,) = [n for n in found.notes if n.startswith("model: ")] or [""]
    taken, _, others = note.removeprefix("model: ").partition(" is taken; ")
    return {taken, *others.removesuffix(" would have the same tensors").split(", ")}


def same_class(config: ModelConfig, head: str) -> set[str]:
    """The model, and those of its family under whose heads the same class stands.

    One of them stands for all: ``ElectraModel`` is the head ``model`` and the head ``encoder``.
    """
    heads = config.family.heads
    classes = heads[head].classes[:1]
    return {f"{config.model_type} {h}" for h in heads if heads[h].classes[:1] == classes}


@pytest.mark.parametrize("seed", range(60))
def test_any_model_is_recognized_by_its_shapes(seed: int) -> None:
    """For any legal model: its own tensors, and what is written is a file that has them."""
    config, head = random_model(random.Random(seed))
    shapes = stored_shapes(config, head)
    stored = checkpoint_of(shapes)
    found = infer_config(stored)
    own = same_class(config, head)
    assert f"{found.config.model_type} {found.head}" in own or named(found) & own
    read = ModelConfig.from_dict(found.content)
    assert verify(read, stored, found.head).holds


@pytest.mark.parametrize("seed", range(60))
def test_every_size_that_shapes_show_comes_back(seed: int) -> None:
    """Under the names of the family that is taken, and nothing is made up."""
    config, head = random_model(random.Random(seed))
    found = infer_config(checkpoint_of(stored_shapes(config, head)))
    tables = found.config.family
    assert found.content.keys() <= {
        *tables.defaults, "architectures", "model_type", "num_labels", "tie_word_embeddings",
    }  # fmt: skip
    read = ModelConfig.from_dict(found.content)
    variant = variant_of(config, head, "transformers")
    shown = {s for one in component_formulas(variant) for s in one.terms.symbols}
    heads = tables.name_of("num_attention_heads")
    if any(note.startswith(f"{heads}: ") for note in found.notes):
        # What follows from a guess may be another one.
        guesses = {"num_attention_heads", "head_dim", "attention_head_size"}
    else:
        guesses = set()
        shown.add("A")
    # A head that has the same tensors may show labels where this one has none.
    unshown = {*guesses, "num_hidden_layers", *(["num_labels"] if found.head != head else [])}
    faults = Faults()
    for size in (s for s in (*SIZES, *tables.sizes) if tables.has(s.key)):
        if size.symbol in shown and size.key not in guesses:
            faults.expect(size.key, read.keys[size.key], config.keys[size.key])
        elif size.symbol not in shown and size.key not in unshown:
            faults.expect(size.key, found.content.get(tables.name_of(size.key)), None)
    faults.none()


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
        found = infer_config(checkpoint_of(stored_shapes(config, "token-classification")))
        assert found.content.get("num_labels", 2) == labels
        assert ("num_labels" in found.content) == (labels != 2)


def test_an_output_layer_of_its_own_is_untied() -> None:
    """Both tensors of the decoder: untied, and said to be; one of them: a tied copy."""
    untied = stored_shapes(masked_lm(tie_word_embeddings=False), "masked-lm")
    found = infer_config(checkpoint_of(untied))
    assert found.content["tie_word_embeddings"] is False
    assert any("a tied model that was stored twice looks the same" in n for n in found.notes)
    table, decoder = "bert.embeddings.word_embeddings.weight", "cls.predictions.decoder.weight"
    for shared in ({decoder: table}, {table: decoder}):
        assert "tie_word_embeddings" not in infer_config(checkpoint_of(untied, **shared)).content
    del untied["cls.predictions.decoder.bias"]
    assert "tie_word_embeddings" not in infer_config(checkpoint_of(untied)).content
    del untied["bert.embeddings.word_embeddings.weight"]
    assert "tie_word_embeddings" not in infer_config(checkpoint_of(untied)).content


HEADS = {
    "sixty-four each": ("bert", {"hidden_size": 128}, 2, "is a guess"),
    "not divisible": ("bert", {"hidden_size": 100}, None, "left out, since no shape shows it"),
    "own name": ("distilbert", {"dim": 192}, 3, "n_heads: 3 is a guess"),
    "shown by a bias": ("mpnet", {"hidden_size": 128, "num_attention_heads": 4}, 4, ""),
    "shown by the angles": ("roformer", {"hidden_size": 128, "num_attention_heads": 8}, 8, ""),
    "needed by shapes": ("nomic_bert", {"hidden_size": 128, "num_attention_heads": 4}, 2, "guess"),
    "needed, not divisible": ("nomic_bert", {"hidden_size": 20, "num_attention_heads": 5}, 1, "is"),
    "against a rule": (
        "mobilebert", {"hidden_size": 192, "intra_bottleneck_size": 32, "embedding_size": 8}, None,
        "left out",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", HEADS.values(), ids=HEADS)
def test_attention_heads_are_shown_guessed_or_left_out(
    case: tuple[str, dict[str, int], int | None, str],
) -> None:
    """A guess is marked as one, and its want never makes a checkpoint unreadable."""
    model_type, keys, heads, note = case
    config = ModelConfig.from_dict({"model_type": model_type, **SMALL[model_type], **keys})
    found = infer_config(checkpoint_of(stored_shapes(config, "model")))
    name = family(model_type).name_of("num_attention_heads")
    assert found.content.get(name) == heads
    told = [n for n in found.notes if n.startswith(name)]
    assert bool(told) == bool(note)
    assert all(note in n for n in told)


SMALL: dict[str, dict[str, int]] = {
    **{
        model_type: {"vocab_size": 9, "num_hidden_layers": 2, "intermediate_size": 7}
        for model_type in ("bert", "mpnet", "roformer", "nomic_bert", "mobilebert")
    },
    "distilbert": {"vocab_size": 9, "n_layers": 2, "hidden_dim": 7},
}

OWN_KEYS = {
    "distilbert": {"architectures", "model_type", "vocab_size", "dim", "n_layers", "hidden_dim",
                   "n_heads", "max_position_embeddings"},
    "nomic_bert": {"architectures", "model_type", "vocab_size", "hidden_size", "num_hidden_layers",
                   "intermediate_size", "num_attention_heads", "type_vocab_size"},
}  # fmt: skip


@pytest.mark.parametrize("model_type", OWN_KEYS)
def test_keys_are_the_family_s_own_and_none_is_made_up(model_type: str) -> None:
    """No P for a family without positions, no ``intermediate_size`` for one that reads another."""
    width = "dim" if model_type == "distilbert" else "hidden_size"
    heads = family(model_type).name_of("num_attention_heads")
    keys = {"model_type": model_type, **SMALL[model_type], width: 128, heads: 2}
    found = infer_config(checkpoint_of(stored_shapes(ModelConfig.from_dict(keys), "model")))
    assert found.content.keys() == OWN_KEYS[model_type]


FEATURES: dict[str, tuple[str, dict[str, object]]] = {
    "relative": ("deberta", {"relative_attention": True, "pos_att_type": "c2p|p2c",
                             "max_relative_positions": 17}),
    "positions of contents": ("deberta", {"relative_attention": True, "pos_att_type": "p2c"}),
    "no positions": ("deberta", {"position_biased_input": False}),
    "talking heads": ("deberta", {"talking_head": True, "num_attention_heads": 2}),
    "buckets": ("deberta-v2", {"relative_attention": True, "pos_att_type": "c2p|p2c",
                               "share_att_key": True, "position_buckets": 16,
                               "norm_rel_ebd": "layer_norm"}),
    "a convolution": ("deberta-v2", {"conv_kernel_size": 3, "conv_groups": 2}),
    "biases": ("modernbert", {"attention_bias": True, "norm_bias": True}),
    "task types": ("ernie", {"use_task_id": True, "task_type_vocab_size": 5}),
    "no bottleneck": ("mobilebert", {"use_bottleneck": False, "num_feedforward_networks": 2}),
    "no trigrams": ("mobilebert", {"trigram_input": False}),
    "attention inside": ("mobilebert", {"use_bottleneck_attention": True}),
    "one feed-forward block": ("mobilebert", {"num_feedforward_networks": 1}),
    "groups": ("squeezebert", {"q_groups": 2, "output_groups": 8, "post_attention_groups": 4}),
}  # fmt: skip


@pytest.mark.parametrize(("model_type", "keys"), FEATURES.values(), ids=FEATURES)
def test_features_are_those_whose_tensors_are_there(
    model_type: str, keys: dict[str, object]
) -> None:
    """Or, where they change shapes alone, those with which the shapes agree."""
    sizes: dict[str, object] = {
        "vocab_size": 90, "hidden_size": 48, "num_hidden_layers": 2, "intermediate_size": 64,
        "num_attention_heads": 4, "max_position_embeddings": 20,
    }  # fmt: skip
    if model_type == "mobilebert":
        sizes |= {"embedding_size": 12, "intra_bottleneck_size": 16}
    if model_type == "squeezebert":
        sizes |= {"embedding_size": 48}
    config = ModelConfig.from_dict({"model_type": model_type, **sizes, **keys})
    found = infer_config(checkpoint_of(stored_shapes(config, "model")))
    assert {k: found.content.get(k, v) for k, v in keys.items()} == keys
    assert ModelConfig.from_dict(found.content).features == config.features


@pytest.mark.parametrize("name", ["bert-base-uncased", "roberta-base", "xlm-roberta-base"])
def test_sizes_of_a_published_model_tell_families_apart(name: str) -> None:
    """RoBERTa's bare encoder has BERT's tensors; the other families are named."""
    config = ModelConfig.from_preset(name)
    found = infer_config(checkpoint_of(stored_shapes(config, "model")))
    assert found.config.model_type == config.model_type
    assert any(n.startswith(f"model: {config.model_type} model is taken") for n in found.notes)


def test_the_layout_of_the_paper_is_recognized(run: Run) -> None:
    """A note says that transformers has other tensors."""
    result = run("infer", CHECKPOINTS / "paper-layout")
    assert result.exit_code == 0
    assert "in the layout of the paper, as the code of albert_zh stores them" in result.stderr


@pytest.mark.parametrize("model_type", FAMILIES)
def test_every_head_of_every_family_is_found(model_type: str) -> None:
    """Or another that has the same tensors is, and then it is named."""
    tables = family(model_type)
    for head in tables.heads:
        config = ModelConfig.from_dict({"model_type": model_type})
        found = infer_config(checkpoint_of(stored_shapes(config, head)))
        own = same_class(config, head)
        assert f"{found.config.model_type} {found.head}" in own or named(found) & own, head


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
    "a gap": (_with("bert.encoder.layer.9.output.dense.bias", 16), "bert.encoder.layer.3 … 9: 7"),
    "a far gap": (
        _with("bert.encoder.layer.999999999.output.dense.bias", 16), "and 15,999,998,",
    ),
    "added": (_with("extra.weight", 3), "extra.weight: unexpected"),
    "empty": (lambda shapes: shapes.clear(), "of no known family: there are none"),
}  # fmt: skip


@pytest.mark.parametrize(("change", "reason"), UNFIT.values(), ids=UNFIT)
def test_tensors_that_fit_no_model_are_named(
    run: Run, tmp_path: Path, change: Callable[[Shapes], object], reason: str
) -> None:
    """Shapes that contradict each other exit with 2, and the odd one is named."""
    shapes = stored_shapes(masked_lm(), "masked-lm")
    change(shapes)
    with pytest.raises(CheckpointError) as caught:
        infer_config(checkpoint_of(shapes))
    assert caught.value.problems[0].startswith(("the tensors fit no known", "the tensors are"))
    assert len(caught.value.problems) <= 22
    path = write_tensors(tmp_path / "model.safetensors", shapes)
    result = run("infer", path)
    assert (result.exit_code, result.stdout) == (2, "")
    if not reason.startswith("and"):
        assert reason in result.stderr


def test_every_mutation_of_a_real_checkpoint_is_refused_or_another_model() -> None:
    """A changed tensor never gives the unchanged config."""
    stored = read_checkpoint(CHECKPOINTS / "albert-pretraining")
    unchanged = infer_config(stored).content
    for name, tensor in stored.tensors.items():
        for shape in ((*tensor.shape, 2), (tensor.shape[0] + 1, *tensor.shape[1:])):
            changed = {**stored.tensors, name: StoredTensor("F32", shape)}
            try:
                assert infer_config(stored._replace(tensors=changed)).content != unchanged, name
            except AlbertCalcError as error:
                assert name in str(error)


def test_a_given_size_must_not_contradict_the_tensors(run: Run) -> None:
    """BERT's layers are counted, heads must divide H, and sizes must be sizes."""
    with pytest.raises(ConfigError, match="num_hidden_layers: the tensors show 3, got 4"):
        infer_config(read_checkpoint(CHECKPOINTS / "bert-legacy-names"), {"num_hidden_layers": 4})
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
