"""What sharing does not save: FLOPs, memory and executed parameters.

``flops.json`` and ``flops_more.json`` (made by ``make_flops.py``) were measured with torch's
own counter on the classes of transformers.
"""

import csv
import io
import json
from collections.abc import Iterator
from typing import Any

import pytest
from albert_calc.architectures import ARCHITECTURES
from albert_calc.architectures.base import FEED_FORWARD, Tensor
from albert_calc.cli.cost_report import cost_section
from conftest import Run
from support import BASE, oracle

from albert_calc import ModelConfig, count_parameters
from albert_calc.algebra import Polynomial
from albert_calc.costs.cost import Cost, Workload, assumptions, cost_of
from albert_calc.costs.flops import TERMS, count_flops
from albert_calc.costs.memory import BITS, activation_formula, weights_bytes
from albert_calc.errors import ConfigError
from albert_calc.render import Canvas, render
from albert_calc.report import Column, Quantity, Report

MEASURED = [*oracle("flops")["cases"], *oracle("flops_more")["cases"]]


def cost(workload: Workload | None = None, head: str = "model", **changes: Any) -> Cost:
    """What albert-base-v2 with *changes* costs."""
    share = changes.pop("share", None)
    config = ModelConfig.from_dict({**BASE, **changes}, share)
    return cost_of(config, head, "transformers", workload or Workload())


def rows_of(text: str) -> dict[str, dict[str, str]]:
    """The rows of a CSV by their first cell."""
    return {row["component"]: row for row in csv.DictReader(io.StringIO(text))}


@pytest.mark.parametrize(
    "row", MEASURED, ids=lambda r: "-".join(str(r[k]) for k in ("case", "head", "sequence_length"))
)
def test_measured_flops(row: dict[str, Any]) -> None:
    """Forward FLOPs are those that torch measures on the real class."""
    config = ModelConfig.from_dict(row["config"])
    flops = count_flops(config, row["head"], "transformers", row["batch"], row["sequence_length"])
    assert flops.forward == row["flops"]
    assert flops.training == 3 * row["flops"]
    assert list(flops.breakdown) == list(TERMS)


def test_every_head_is_measured() -> None:
    """No head of either architecture is without a measured row."""
    measured = {(row["config"]["model_type"], row["head"]) for row in MEASURED}
    assert measured == {(a.model_type, h) for a in ARCHITECTURES.values() for h in a.heads}


@pytest.mark.parametrize("share", ["all", "attention", "ffn", "none"])
def test_sharing_saves_no_flops(share: str) -> None:
    """A BERT whose layers are shared runs every one of them all the same."""
    sizes = {**{k: v for k, v in BASE.items() if k != "embedding_size"}, "model_type": "bert"}
    plain, shared = (ModelConfig.from_dict(sizes, s) for s in (None, share))
    flops = [count_flops(c, "model", "transformers", 2, 64).forward for c in (plain, shared)]
    assert flops[0] == flops[1]


def test_flops_and_counts_read_one_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """A new architecture with one more matrix costs more without a second description."""
    gate = Tensor("gate.weight", ("I", "H"), FEED_FORWARD, "matrix")
    gated = ARCHITECTURES["bert"]._replace(
        model_type="gated", layer=(*ARCHITECTURES["bert"].layer, gate)
    )
    monkeypatch.setitem(ARCHITECTURES, "gated", gated)
    sizes = {k: v for k, v in BASE.items() if k != "embedding_size"}
    plain, more = (ModelConfig.from_dict({**sizes, "model_type": m}) for m in ("bert", "gated"))
    matrix = 12 * 768 * 3072
    assert count_parameters(more).total - count_parameters(plain).total == matrix
    before, after = (count_flops(c, "model", "transformers", 2, 64) for c in (plain, more))
    assert after.breakdown["feed_forward"] - before.breakdown["feed_forward"] == (
        2 * 2 * 64 * matrix
    )
    assert after.forward - before.forward == 2 * 2 * 64 * matrix


def test_per_token() -> None:
    """FLOPs a token are an integer where the division is whole, else the unrounded fraction."""
    whole = cost(Workload(8, 512)).flops
    assert isinstance(whole.per_token, int)
    assert whole.per_token * 8 * 512 == whole.forward == 773908856832
    broken = cost(Workload(1, 7)).flops
    assert isinstance(broken.per_token, float)
    assert broken.per_token == broken.forward / 7


def test_shares_add_up() -> None:
    """The terms add up to the forward pass, and their shares to one."""
    flops = cost(head="masked-lm").flops
    assert sum(flops.breakdown.values()) == flops.forward
    assert sum(flops.shares.values()) == pytest.approx(1)
    assert flops.breakdown["attention_scores"] == 12 * 4 * 512**2 * 768
    assert flops.breakdown["projections"] == 12 * 2 * 512 * 4 * 768**2
    assert flops.breakdown["feed_forward"] == 12 * 2 * 512 * 2 * 768 * 3072
    assert flops.breakdown["embedding_projection"] == 2 * 512 * 128 * 768
    assert flops.breakdown["head"] == 2 * 512 * (768 * 128 + 128 * 30000)


LAYER = 7087872


@pytest.mark.parametrize(
    ("changes", "stored_layers", "executed_layers"),
    [
        ({}, 1, 12),
        ({"share": "none"}, 12, 12),
        ({"num_hidden_groups": 12}, 12, 12),
        ({"num_hidden_groups": 5}, 5, 12),
        ({"inner_group_num": 2}, 2, 24),
        ({"num_hidden_layers": 2, "num_hidden_groups": 3}, 3, 2),
    ],
)
def test_executed_parameters(
    changes: dict[str, Any], stored_layers: int, executed_layers: int
) -> None:
    """Each layer is counted as often as it runs, everything else once."""
    found = cost(**changes)
    rest = 11683584 - LAYER
    assert found.parameters == rest + stored_layers * LAYER
    assert found.executed_parameters == rest + executed_layers * LAYER
    assert found.executed_layers == executed_layers
    assert found.executed_ratio == found.executed_parameters / found.parameters


@pytest.mark.parametrize("share", ["attention", "ffn"])
def test_partly_shared_layers_run_as_often(share: str) -> None:
    """Sharing one block changes what is stored and nothing of what runs."""
    some, none = cost(share=share), cost(share="none")
    assert some.parameters < none.parameters
    assert some.executed_parameters == none.executed_parameters
    assert some.flops == none.flops
    assert some.activation_bytes == none.activation_bytes


def test_a_tied_output_matrix_is_stored_once_and_multiplied() -> None:
    """Tying the output saves parameters, executed ones too, and no FLOPs."""
    tied, untied = (cost(head="masked-lm", tie_word_embeddings=t) for t in (True, False))
    own = 30000 * 128 + 30000
    assert untied.parameters - tied.parameters == own
    assert untied.executed_parameters - tied.executed_parameters == own
    assert untied.flops == tied.flops


@pytest.mark.parametrize(
    ("dtype", "size"),
    [("float32", 28), ("float16", 14), ("bfloat16", 14), ("int8", 7), ("int4", 4)],
)
def test_weights_bytes(dtype: str, size: int) -> None:
    """Bytes are parameters × width; int4 stores two in a byte, rounded up."""
    assert weights_bytes(7, dtype) == size
    assert weights_bytes(10**30 + 1, "int4") == 5 * 10**29 + 1


N = 11683584


@pytest.mark.parametrize(
    ("dtypes", "optimizer", "expected"),
    [
        (("float32",), "adamw", (4, 4, 8, 0)),
        (("float32",), "sgd", (4, 4, 4, 0)),
        (("float32",), "none", (4, 4, 0, 0)),
        (("float16",), "adamw", (2, 2, 8, 4)),
        (("bfloat16",), "sgd", (2, 2, 4, 4)),
        (("int8", "bfloat16", "float32"), "none", (2, 2, 0, 4)),
        (("int8", "int4"), "adamw", None),
    ],
)
def test_training_state(
    dtypes: tuple[str, ...], optimizer: str, expected: tuple[int, ...] | None
) -> None:
    """The first dtype that can be trained is, in mixed precision if it has 16 bits."""
    found = cost(Workload(dtypes=dtypes, optimizer=optimizer))
    if expected is None:
        assert found.training_bytes is None
        assert found.training_state_bytes is None
        assert found.activation_bytes is None
        return
    parts = ("weights", "gradients", "optimizer_moments", "master_weights")
    assert found.training_bytes == {p: n * N for p, n in zip(parts, expected, strict=True)}
    assert found.training_state_bytes == sum(expected) * N
    assert list(found.weights_bytes) == list(dtypes)


def test_activations_in_the_paper() -> None:
    """In 16 bits with I = 4·H a layer keeps sbh·(34 + 5·a·s/h) bytes, as the paper prints."""
    s, b, h, a = 2048, 3, 12288, 96
    values = {"S": s, "B": b, "H": h, "I": 4 * h, "A": a}
    for dtype in ("float16", "bfloat16"):
        assert activation_formula(dtype).evaluate(values) == s * b * h * 34 + 5 * a * s * s * b


def test_activations_of_any_width() -> None:
    """Elements take their width, dropout masks a byte, and I need not be 4·H."""
    assert activation_formula("float32") == Polynomial.sum(
        (
            Polynomial.product(34, "B", "S", "H"),
            Polynomial.product(9, "B", "A", "S", "S"),
            Polynomial.product(8, "B", "S", "I"),
        )
    )
    found = cost(Workload(2, 64, ("float32",)), intermediate_size=1000, share="none")
    layer = 2 * 64 * (34 * 768 + 9 * 12 * 64 + 8 * 1000)
    assert found.activation_bytes_per_layer == layer
    assert found.activation_bytes == 12 * layer


def test_sharing_does_not_shrink_activations() -> None:
    """Activations are kept for every layer run: shared or not, and twice with N = 2."""
    shared, unshared, inner = cost(), cost(share="none"), cost(inner_group_num=2)
    layer = 512 * (34 * 768 + 9 * 12 * 512 + 8 * 3072)
    assert shared.activation_bytes == unshared.activation_bytes == 12 * layer
    assert inner.activation_bytes == 24 * layer


def test_xxlarge_disappoints() -> None:
    """ALBERT-xxlarge has fewer parameters than BERT-large, more activations, far more FLOPs."""
    large, xxlarge = (
        cost_of(ModelConfig.from_preset(name), workload=Workload(8, 512))
        for name in ("bert-large-uncased", "albert-xxlarge-v2")
    )
    assert xxlarge.parameters < large.parameters
    assert (xxlarge.activation_bytes or 0) > 1.9 * (large.activation_bytes or 0)
    assert (xxlarge.training_memory_bytes or 0) > 1.5 * (large.training_memory_bytes or 0)
    assert xxlarge.flops.forward > 7 * large.flops.forward


def test_workload_problems() -> None:
    """All that is wrong with a workload is said at once."""
    wrong = Workload(0, True, ("float32", "fp8"), "adam")
    with pytest.raises(ConfigError) as caught:
        cost_of(ModelConfig.from_dict(BASE), workload=wrong)
    assert caught.value.problems == (
        "batch_size: must be at least 1, got 0",
        "sequence_length: must be a positive whole number, got true",
        "dtype: must be one of float32, float16, bfloat16, int8, int4, got 'fp8'",
        "optimizer: must be one of adamw, sgd, none, got 'adam'",
    )


@pytest.mark.parametrize("dtype", BITS)
@pytest.mark.parametrize("optimizer", ["adamw", "sgd", "none"])
def test_assumptions(dtype: str, optimizer: str) -> None:
    """The formula, its source, and what is counted are said wherever they are used."""
    said = " ".join(assumptions(Workload(dtypes=(dtype,), optimizer=optimizer)))
    assert "2 a multiply-add, matrix products only" in said
    assert "3 × forward" in said
    trained = dtype in ("float32", "float16", "bfloat16")
    assert ("Korthikanti et al." in said and "arXiv 2205.05198" in said) == trained
    assert (activation_formula(dtype).formula() in said) == trained
    assert (f"{dtype} cannot be trained" in said) != trained


def test_json(run: Run) -> None:
    """JSON has one object a model, with exact integers under the names agreed on."""
    result = run(
        "cost", "--preset", "bert-large-uncased", "--preset", "albert-xxlarge-v2",
        "-B", "8", "-S", "128", "--dtype", "bf16", "--dtype", "int4", "-f", "json",
    )  # fmt: skip
    assert (result.exit_code, result.stderr) == (0, "")
    large, xxlarge = json.loads(result.stdout)
    assert xxlarge["model"] == "albert-xxlarge-v2"
    assert (xxlarge["batch_size"], xxlarge["sequence_length"]) == (8, 128)
    assert xxlarge["parameters"] == 222595584
    assert xxlarge["executed_parameters"] == 222595584 + 11 * 201379840
    assert xxlarge["weights_bytes"] == {"bfloat16": 445191168, "int4": 111297792}
    assert xxlarge["training_dtype"] == "bfloat16"
    assert xxlarge["training_bytes"] == {
        "weights": 445191168,
        "gradients": 445191168,
        "optimizer_moments": 1780764672,
        "master_weights": 890382336,
    }
    layer = 8 * 128 * 4096 * 34 + 5 * 64 * 128**2 * 8
    assert xxlarge["activation_bytes_per_layer"] == layer
    assert xxlarge["activation_bytes"] == 12 * layer
    flops = xxlarge["flops"]
    assert sum(flops["breakdown"].values()) == flops["forward"] == flops["training"] // 3
    assert flops["per_token"] * 8 * 128 == flops["forward"]
    assert flops["formulas"]["attention_scores"] == "4 × N × L × B × S² × H"
    assert xxlarge["assumptions"] == large["assumptions"] != []


def test_table(run: Run) -> None:
    """Models stand in columns; bytes are exact, with MiB and GiB and what those are."""
    result = run("cost", "--preset", "bert-large-uncased", "--preset", "albert-xxlarge-v2")
    assert (result.exit_code, result.stderr) == (0, "")
    lines = {line[:26].strip(): line[26:].split() for line in result.stdout.splitlines()}
    assert lines["parameters"] == ["335,141,888", "222,595,584"]
    assert lines["executed ratio"] == ["1.0×", "11.0×"]
    assert lines["float32 weights bytes"] == [
        "(1.2", "GiB)", "1,340,567,552", "(849.1", "MiB)", "890,382,336",
    ]  # fmt: skip
    assert "MiB is 2^20 bytes, GiB 2^30 bytes" in result.stdout
    assert "an estimate" in result.stdout
    assert "arXiv 2205.05198" in result.stdout
    assert "matrix products only" in result.stdout


def test_printed_rows_add_up(run: Run) -> None:
    """The parts in the table add up to the sums in it."""
    result = run("cost", "--preset", "base", "--head", "pretraining", "-B", "3", "-f", "csv")
    rows = {key: int(row["base"]) for key, row in rows_of(result.stdout).items() if key in SUMS}
    assert rows["training_state_bytes"] == sum(rows[key] for key in STATE)
    assert rows["training_memory_bytes"] == rows["training_state_bytes"] + rows["activation_bytes"]
    assert rows["forward_flops"] == sum(rows[f"{term}_flops"] for term in TERMS)
    assert rows["activation_bytes"] == 12 * rows["activation_bytes_per_layer"]


STATE = (
    "training_weights_bytes",
    "gradients_bytes",
    "optimizer_moments_bytes",
    "master_weights_bytes",
)
SUMS = {
    *STATE, "training_state_bytes", "activation_bytes_per_layer", "activation_bytes",
    "training_memory_bytes", "forward_flops", *(f"{term}_flops" for term in TERMS),
}  # fmt: skip


@pytest.mark.parametrize("width", [8, 24, 40, 60, 80, 120])
@pytest.mark.parametrize("ascii_only", [False, True])
def test_no_digit_is_lost(width: int, ascii_only: bool) -> None:
    """However narrow the terminal, every figure of every model is there whole."""
    names = ("bert-large-uncased", "albert-xxlarge-v2")
    workload = Workload(1024, 512)
    costs = [cost_of(ModelConfig.from_preset(name), workload=workload) for name in names]
    columns = [Column(name, name, "count") for name in names]
    section = cost_section("Cost", columns, costs, workload)
    text = render(Report((section,), None), "table", Canvas(width, ascii_only))
    found = text.split()
    for row in section.rows:
        for cell in row[1:]:
            value = cell.value if isinstance(cell, Quantity) else cell
            if isinstance(value, int):
                assert f"{value:,}" in found
    if width >= 40 and not ascii_only:
        assert max(map(len, text.splitlines())) <= width


@pytest.mark.parametrize(
    ("given", "canonical"),
    [("fp32", "float32"), ("fp16", "float16"), ("bf16", "bfloat16"), ("int8", "int8")],
)
def test_spellings(run: Run, given: str, canonical: str) -> None:
    """A short spelling and the long one are the same dtype, named once."""
    result = run("cost", "--preset", "base", "--dtype", given, "--dtype", canonical, "-f", "json")
    assert list(json.loads(result.stdout)[0]["weights_bytes"]) == [canonical]


INTEGERS = ("int8", "int4", "int8")


def test_integers_are_not_trained(run: Run) -> None:
    """With integers alone there is no training state: null, no rows, and a sentence."""
    arguments = ("cost", "--preset", "base", *(a for d in INTEGERS for a in ("--dtype", d)))
    data = json.loads(run(*arguments, "-f", "json").stdout)[0]
    assert data["training_dtype"] is None
    assert data["training_bytes"] is None
    assert data["activation_bytes"] is None
    shown = run(*arguments).stdout
    assert "int8 and int4 cannot be trained" in shown
    assert "gradients" not in shown
    assert "estimate" not in shown


def test_unknown_heads(run: Run) -> None:
    """Without A the activations are unknown, which is said and not guessed."""
    text = "cost --model-type albert -V 100 -E 8 -H 16 -L 2 -I 64"
    sizes = text.split(" ")
    result = run(*sizes, "-f", "json")
    data = json.loads(result.stdout)[0]
    assert result.exit_code == 0
    assert data["activation_bytes"] is data["training_memory_bytes"] is None
    assert data["training_state_bytes"] == 16 * data["parameters"]
    note = "note: num_attention_heads: not given, so no activations are estimated for sizes\n"
    assert note in result.stderr
    assert "num_attention_heads: not given" not in run(*sizes, "-A", "4").stderr


def test_long_sequences(run: Run) -> None:
    """S above P is warned of, for the models that have that P, and counted all the same."""
    exact = run("cost", "--preset", "base", "-S", "512")
    assert (exact.exit_code, exact.stderr) == (0, "")
    longer = run("cost", "--preset", "base", "-S", "513", "-f", "json")
    assert longer.exit_code == 0
    assert longer.stderr == (
        "warning: sequence_length: 513 is more than max_position_embeddings (512) of base;"
        " such a batch cannot be run, and its cost is what it would be\n"
    )
    assert json.loads(longer.stdout)[0]["sequence_length"] == 513
    short = run("cost", "--preset", "base", "--max-position-embeddings", "128")
    assert "512 is more than max_position_embeddings (128) of base" in short.stderr


@pytest.mark.parametrize(
    ("arguments", "messages"),
    [
        ((), ["error: no model: give --preset, --config, or sizes (-V -H -L ...)"]),
        (("--preset", "base", "-B", "0"), ["error: batch_size: must be at least 1, got 0"]),
        (
            ("--preset", "base", "-B", "x", "-S", "-3", "-A", "7"),
            [
                "error: batch_size: must be a positive whole number, got 'x'",
                "error: sequence_length: must be a positive whole number, got '-3'",
                "error: num_attention_heads: must divide hidden_size (768), got 7",
            ],
        ),
        (("--preset", "base", "--dtype", "fp8"), ["error: Invalid value for '--dtype'"]),
        (("--preset", "base", "--optimizer", "lamb"), ["error: Invalid value for '--optimizer'"]),
        (("--preset", "base", "--head", "causal-lm"), ["error: head: must be one of"]),
        (("--preset", "nonsense"), ["error: preset: must be a known name"]),
    ],
)
def test_bad_input(run: Run, arguments: tuple[str, ...], messages: list[str]) -> None:
    """What cannot be done exits 2 with all its problems and nothing on standard output."""
    result = run("cost", *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    for message in messages:
        assert message in result.stderr
    assert "Traceback" not in result.stderr


def test_quantities(run: Run) -> None:
    """A batch may be typed as any other quantity."""
    result = run("cost", "--preset", "base", "-B", "1,024", "-S", "0.5K", "-f", "json")
    data = json.loads(result.stdout)[0]
    assert (data["batch_size"], data["sequence_length"]) == (1024, 500)


@pytest.mark.parametrize("layout", ["transformers", "handbook", "paper"])
def test_compare_cost(run: Run, layout: str) -> None:
    """Each style costs what its total in the same comparison says, in every layout."""
    result = run("compare", "--preset", "xxlarge", "--cost", "--layout", layout, "-f", "json")
    assert result.exit_code == 0
    data = json.loads(result.stdout)[0]
    for style in ("bert_style", "albert_style"):
        assert data["cost"][style]["parameters"] == data["total"][style]
        assert data["cost"][style]["weights_bytes"] == {"float32": 4 * data["total"][style]}
    bert, albert = data["cost"]["bert_style"], data["cost"]["albert_style"]
    assert bert["activation_bytes"] == albert["activation_bytes"]


def cost_lines(text: str) -> Iterator[str]:
    """The lines of the cost sections of a table."""
    return (line for line in text.splitlines() if line.startswith(("executed", "forward flops  ")))


def test_compare_cost_table(run: Run) -> None:
    """The cost of every model is added under the comparison, its assumptions once."""
    result = run("compare", "--cost", "-B", "8")
    assert (result.exit_code, result.stderr) == (0, "")
    assert len(list(cost_lines(result.stdout))) == 3 * 5
    assert result.stdout.count("arXiv 2205.05198") == 1
    assert "base: cost at B = 8, S = 512" in result.stdout


@pytest.mark.parametrize(
    "arguments", [(), ("--preset", "base"), ("--preset", "base", "--ablation")]
)
def test_compare_cost_csv(run: Run, arguments: tuple[str, ...]) -> None:
    """CSV stays one rectangle, whichever tables the cost is added to."""
    result = run("compare", *arguments, "--cost", "-f", "csv")
    rows = list(csv.reader(io.StringIO(result.stdout)))
    assert len({len(row) for row in rows}) == 1
    costs = [row for row in csv.DictReader(io.StringIO(result.stdout)) if row["preset"] == "base"]
    forward = next(row for row in costs if row["component"] == "forward_flops")
    assert forward["bert_style"] == "96637943808"
    assert forward["albert_style"] == "96738607104"


@pytest.mark.parametrize(
    "option", [("-B", "1"), ("-S", "512"), ("--dtype", "int8"), ("--optimizer", "sgd")]
)
def test_compare_without_cost_has_no_batch(run: Run, option: tuple[str, str]) -> None:
    """A batch without ``--cost`` would be ignored, so it is refused."""
    result = run("compare", "--preset", "base", *option)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "belongs to --cost" in result.stderr


def test_a_batch_needs_both_its_sizes() -> None:
    """A workload without a size is refused, with all that it lacks."""
    nothing: Any = None
    with pytest.raises(ConfigError) as error:
        cost(Workload(batch_size=nothing, sequence_length=nothing))
    assert [p.split(" (")[0] for p in error.value.problems] == [
        "batch_size: required", "sequence_length: required",
    ]  # fmt: skip
