"""What is trained, against PEFT and the real classes."""

import json
import re
from pathlib import Path

import pytest
from conftest import Run
from support import Faults, lora, oracle

from albert_calc import ModelConfig
from albert_calc.costs.trainable import count_trainable, matrix_names, trained_notes
from albert_calc.costs.trained import DEFAULT_TARGETS, EVERYTHING, Trained, freeze
from albert_calc.counting.tensors import Blueprint, blueprint
from albert_calc.errors import ConfigError
from albert_calc.families import FAMILIES

DATA = oracle("trainable")
TRAINING = [case for case in oracle("training")["cases"] if "trainable" in case]


def model_of(config: dict[str, object], head: str = "model") -> Blueprint:
    """The model of *head* that *config* describes."""
    return blueprint(ModelConfig.from_dict(config), head, "transformers")


def bert(head: str = "sequence-classification") -> Blueprint:
    """bert-base, whose keys are all defaults."""
    return model_of({"model_type": "bert"}, head)


def test_adapters_of_peft() -> None:
    """Trainable and all parameters are those that PEFT counts."""
    faults = Faults()
    for case in DATA["lora"]:
        model = model_of(case["config"], case["head"])
        targets, modules = tuple(case["lora_targets"]), tuple(case["also_trained"])
        trained = lora(model.variant, case["lora_rank"], targets, modules)
        wanted = (case["trainable"], case["all"])
        faults.expect(case["case"], count_trainable(model, trained), wanted)
    faults.none()


def test_frozen_parts_of_the_real_classes() -> None:
    """Freezing a part leaves as much as freezing its parameters does."""
    faults = Faults()
    for case in DATA["frozen"]:
        model = model_of(case["config"], case["head"])
        lower = model.values["L"] - 3
        parts = {
            "all but the embeddings": "embeddings",
            "the head alone": "embeddings,projection,layers,pooler",
            "the last 2 layers, the pooler and the head": f"embeddings,projection,layers:0-{lower}",
        }[case["trained"]]
        wanted = (case["trainable"], case["all"])
        faults.expect((case["case"], parts), count_trainable(model, freeze(parts)), wanted)
    faults.none()


def test_random_models() -> None:
    """So it is for random models, with adapters, with frozen parts, and whole."""
    faults = Faults()
    for case in TRAINING:
        model = model_of(case["config"], case["head"])
        trained = EVERYTHING
        if "freeze" in case:
            trained = freeze(",".join(case["freeze"]))
        elif "lora_rank" in case:
            trained = Trained(
                case["lora_rank"], tuple(case["lora_targets"]), tuple(case["train_modules"])
            )
        found = count_trainable(model, trained)
        faults.expect(case, found, (case["trainable"], case["all"]))
    faults.none()


def test_default_targets() -> None:
    """Without targets PEFT's are taken; where it has none, the matrices are named."""
    for model_type, targets in DEFAULT_TARGETS.items():
        assert model_type in FAMILIES
        variant = model_of({"model_type": model_type}).variant
        assert lora(variant, 8).lora_targets == targets
    albert = model_of({"model_type": "albert"}).variant
    with pytest.raises(ConfigError) as raised:
        lora(albert, 8)
    (problem,) = raised.value.problems
    assert "no default for albert" in problem
    assert "attention.query, attention.key" in problem


def test_targets_are_the_ends_of_names() -> None:
    """A target matches at a dot: ``ffn`` is not ``ffn_output``, ``dense`` is four matrices."""
    model = model_of({"model_type": "albert", "hidden_size": 64, "intermediate_size": 128})
    assert count_trainable(model, lora(model.variant, 1, ("ffn",))).trainable == 64 + 128
    names = list(matrix_names(bert().variant))
    ends = [name for name in names if name.endswith("dense")]
    assert len(ends) == 4
    for wrong in ("uery", "LayerNorm", "encoder"):
        with pytest.raises(ConfigError, match="must be the end of a matrix's module name"):
            lora(bert().variant, 8, (wrong,))
    with pytest.raises(ConfigError, match="train: must be the end"):
        lora(bert().variant, 8, (), ("classifer",))


def test_ranges_of_layers() -> None:
    """Ranges may touch, overlap, and reach beyond the last layer; a lacking part is no error."""
    model = bert()
    layer = 7_087_872
    everything = count_trainable(model).trainable
    for parts, layers in (
        ("layers:0-0", 1),
        ("layers:3", 1),
        ("layers:0-3,layers:2-5,layers:6-7", 8),
        ("layers:10-99", 2),
        ("layers:12-99", 0),
        ("layers", 12),
        ("projection", 0),
        ("", 0),
    ):
        found = count_trainable(model, freeze(parts))
        assert everything - found.trainable == layers * layer, parts
        assert found.all == everything


def test_tied_weights_go_with_the_table() -> None:
    """The output matrix is the token table: frozen with the embeddings, not with the head."""
    model = bert("masked-lm")
    without_head = count_trainable(model, freeze("head")).trainable
    without_tables = count_trainable(model, freeze("embeddings")).trainable
    head = 768 * 768 + 768 + 2 * 768 + 30522
    assert count_trainable(model).trainable - without_head == head
    assert count_trainable(model).trainable - without_tables == 23_837_184


@pytest.mark.parametrize(
    "parts", ["layer", "layers:", "layers:1-", "layers:3-1", "layers:-1", "head:1-2", "encoder"]
)
def test_parts_that_are_none(parts: str) -> None:
    """What names no part is refused, and all parts are named."""
    with pytest.raises(ConfigError) as raised:
        freeze(f"embeddings,{parts},nothing")
    assert len(raised.value.problems) == 2
    assert all(problem.startswith("freeze: ") for problem in raised.value.problems)


def test_a_module_of_another_head() -> None:
    """A module that the head lacks is refused with the heads that have it."""
    with pytest.raises(ConfigError) as raised:
        lora(bert("model").variant, 8, (), ("classifier",))
    (problem,) = raised.value.problems
    assert problem.endswith(
        "; the heads that have it: sequence-classification, multiple-choice, token-classification"
    )


@pytest.mark.parametrize(
    ("head", "modules", "said"),
    [
        ("sequence-classification", (), "classifier: not trained, .* SEQ_CLS"),
        ("token-classification", (), "classifier: not trained, .* TOKEN_CLS"),
        ("question-answering", (), "qa_outputs: not trained, .* QUESTION_ANS"),
        ("sequence-classification", ("classifier",), ""),
        ("multiple-choice", (), ""),
        ("masked-lm", (), ""),
    ],
)
def test_a_new_classifier(head: str, modules: tuple[str, ...], said: str) -> None:
    """Adapters alone leave it as it is, which is told where PEFT's task type trains it."""
    model = bert(head)
    notes = list(trained_notes(model, lora(model.variant, 8, (), modules)))
    assert len(notes) == bool(said)
    assert all(re.match(said, note) for note in notes)
    assert not list(trained_notes(model, EVERYTHING))


FROZEN = {
    "bert-base-uncased --freeze layers:0-11": [],
    "bert-base-uncased --freeze embeddings,pooler": [],
    "bert-base-uncased --head masked-lm --freeze head": [],
    "bert-base-uncased --freeze layers:12": ["layers:12-12 is more than the stored layers"],
    "bert-base-uncased --freeze layers:0-3,layers:8-30": ["layers:8-30 is more than the stored"],
    "bert-base-uncased --freeze head,projection": ["no part head here", "no part projection here"],
    "albert-base-v2 --freeze layers:0,projection": [],
    "albert-base-v2 --freeze layers:0-1": ["layers:0-1 is more than the stored layers, which are"],
    "distilbert-base-uncased --freeze pooler": ["no part pooler here"],
}
"""Parts to freeze, and what is said of those that the model has not."""


@pytest.mark.parametrize("line", FROZEN)
def test_parts_that_are_not_there_are_told(line: str, run: Run) -> None:
    """By every command that says what is trained."""
    for command in ("count", "cost", "solve --memory 1TB --vary batch-size"):
        result = run(*command.split(), *line.split())
        told = [text for text in result.stderr.splitlines() if text.startswith("note: freeze:")]
        assert len(told) == len(FROZEN[line]), told
        assert all(part in text for part, text in zip(FROZEN[line], told, strict=True)), told


def test_words() -> None:
    """What is trained is said in few words."""
    for trained, words in (
        (EVERYTHING, ""),
        (Trained(8, ("query", "value")), "LoRA of rank 8 on query, value"),
        (Trained(8, ("query",), ("pooler",)), "LoRA of rank 8 on query; pooler trained whole"),
        (freeze("embeddings,layers:0-9"), "frozen: embeddings, layers:0-9"),
    ):
        assert trained.words == words


LORA = ("count", "bert-base-uncased", "--lora", "8")


def test_a_count_says_what_is_trained(run: Run) -> None:
    """Under the table as PEFT prints it, also without the headline; in CSV rows of their own."""
    said = "\ntrainable 294,912 of 109,777,152 (0.2686%): LoRA of rank 8 on query, value\n"
    for quiet in ((), ("-q",)):
        assert said in run(*LORA, *quiet).stdout
    rows = run(*LORA, "-f", "csv").stdout.splitlines()
    assert rows[-2:] == ["trainable,,294912,", "all,,109777152,"]
    data = json.loads(run(*LORA, "-f", "json").stdout)
    assert (data["trainable"], data["all"]) == (294_912, 109_777_152)
    assert {"trainable", "all"}.isdisjoint(c["name"] for c in data["components"])
    assert "trainable" not in run(*LORA[:2], "-f", "csv").stdout
    frozen = run(*LORA[:2], "--freeze", "embeddings,layers:0-9").stdout
    assert "): frozen: embeddings, layers:0-9\n" in frozen


@pytest.mark.parametrize("shown", [("--total",), ("--chart",), ("--save", "x.svg")])
@pytest.mark.parametrize("trained", [("--lora", "8"), ("--freeze", "layers")])
def test_what_is_trained_is_not_dropped(
    shown: tuple[str, ...],
    trained: tuple[str, str],
    run: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A bare number and a picture show nothing of it, so they are refused."""
    monkeypatch.chdir(tmp_path)
    result = run("count", "bert-base-uncased", *trained, *shown)
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"and {trained[0]} contradict each other" in result.stderr


def test_notes_of_adapters(run: Run) -> None:
    """A classifier that adapters leave is told of once, in a count and in a cost."""
    for command in ("count", "cost"):
        args = (command, "bert-base-uncased", "--head", "sequence-classification", "--lora", "8")
        assert run(*args).stderr.count("note: classifier: not trained") == 1
        assert "not trained" not in run(*args, "--train", "classifier").stderr


def test_a_size_that_counts_nothing(run: Run) -> None:
    """It is told with the heads that it counts in; one that no head counts is left alone."""
    result = run("count", "bert-base-uncased", "--num-labels", "5")
    assert result.stderr == (
        "note: num_labels: counts nothing here, as it would with --head sequence-classification"
        " or token-classification or question-answering\n"
    )
    others = run("count", "bert-base-uncased", "-A", "6", "-L", "2")
    classifier = run("count", "bert-base-uncased", "--num-labels", "5", "--head", "qa")
    assert "counts nothing" not in others.stderr + classifier.stderr
