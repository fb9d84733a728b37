"""``cost``: what models need, beside each other, for people and for machines."""

import csv
import io
import json
from typing import Any

import pytest
from conftest import Run
from support import BASE, Faults, oracle

from albert_calc import ModelConfig
from albert_calc.costs.assumptions import assumptions
from albert_calc.costs.cost import Cost, cost_of
from albert_calc.costs.flops import TERMS
from albert_calc.costs.memory import BITS, OPTIMIZERS, weights_bytes
from albert_calc.costs.workload import Workload
from albert_calc.counting.tensors import blueprint
from albert_calc.errors import ConfigError
from albert_calc.families import families

TWO = ("bert-large-uncased", "albert-xxlarge-v2")


def cost(workload: Workload) -> Cost:
    """What albert-base-v2 costs."""
    config = ModelConfig.from_dict(BASE)
    return cost_of(config, blueprint(config, "model", "transformers"), workload)


def loads(run: Run, *args: object, status: int = 0) -> Any:
    """The JSON of ``cost``."""
    result = run("cost", *args, "-f", "json")
    assert result.exit_code == status, result.stderr
    return json.loads(result.stdout)


def rows_of(text: str, column: str) -> dict[str, str]:
    """The cells of *column* of a CSV, by the first cell of their rows."""
    return {row["component"]: row[column] for row in csv.DictReader(io.StringIO(text))}


def lines_of(text: str) -> dict[str, list[str]]:
    """The cells of a table of two models, by their label."""
    found = {}
    for line in text.splitlines():
        label, *cells = [part for part in line.strip().split("  ") if part.strip()] or [""]
        found[label.strip()] = [cell.strip() for cell in cells]
    return found


@pytest.mark.parametrize(
    ("dtype", "size"),
    [("float32", 28), ("float16", 14), ("bfloat16", 14), ("int8", 7), ("int4", 4)],
)
def test_weights_bytes(dtype: str, size: int) -> None:
    """Bytes are parameters × width; int4 stores two in a byte, rounded up."""
    assert weights_bytes(7, dtype) == size
    assert weights_bytes(10**30 + 1, "int4") == 5 * 10**29 + 1


N = 11_683_584

STATES: list[tuple[dict[str, Any], tuple[int, int, int, int] | None]] = [
    ({}, (4, 4, 8, 0)),
    ({"optimizer": "sgd"}, (4, 4, 4, 0)),
    ({"optimizer": "none"}, (4, 4, 0, 0)),
    ({"dtypes": ("float16",)}, (2, 2, 4, 0)),
    ({"dtypes": ("bfloat16",), "optimizer": "sgd"}, (2, 2, 2, 0)),
    ({"dtypes": ("float16",), "master_weights": True}, (2, 2, 8, 4)),
    ({"dtypes": ("int8", "bfloat16", "float32"), "optimizer": "none"}, (2, 2, 0, 0)),
    ({"autocast": "float16"}, (4, 4, 8, 0)),
    ({"dtypes": ("int8", "int4")}, None),
]


def test_training_state() -> None:
    """Bytes a parameter: weights, gradients, moments, and float32 weights beside 16-bit ones."""
    faults = Faults()
    parts = ("weights", "gradients", "optimizer_moments", "master_weights")
    for options, wanted in STATES:
        found = cost(Workload(**options))
        if wanted is None:
            faults.expect(options, (found.state, found.activation_bytes), (None, None))
            continue
        assert found.state is not None
        bytes_of = {p: n * N for p, n in zip(parts, wanted, strict=True)}
        faults.expect(options, found.state.parts, bytes_of)
        faults.expect(options, found.state.bytes, sum(wanted) * N)
    faults.none()


def test_workload_problems() -> None:
    """All that is wrong with a workload is said at once."""
    with pytest.raises(ConfigError) as caught:
        cost(Workload(0, True, ("float32", "fp8"), "adam"))
    assert caught.value.problems == (
        "batch_size: must be at least 1, got 0",
        "sequence_length: must be a positive whole number, got true",
        f"dtype: must be one of {', '.join(BITS)}, got 'fp8'",
        f"optimizer: must be one of {', '.join(OPTIMIZERS)}, got 'adam'",
    )
    nothing: Any = None
    with pytest.raises(ConfigError) as caught:
        cost(Workload(batch_size=nothing, sequence_length=nothing))
    assert [p.split(" (")[0] for p in caught.value.problems] == [
        "batch_size: required", "sequence_length: required",
    ]  # fmt: skip


@pytest.mark.parametrize("dtype", BITS)
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_assumptions(dtype: str, optimizer: str) -> None:
    """What is counted is said, and of what cannot be trained, that it cannot."""
    said = " ".join(assumptions(Workload(dtypes=(dtype,), optimizer=optimizer)))
    assert "2 a multiply-add, matrix products only" in said
    assert "3 × forward" in said
    trained = dtype in ("float32", "float16", "bfloat16")
    assert ("exact to the byte" in said) == trained
    assert (f"{dtype} cannot be trained" in said) != trained


def test_json(run: Run) -> None:
    """JSON has one object a model, with exact integers under the names agreed on."""
    large, xxlarge = loads(
        run, *TWO, "-B", "8", "-S", "128", "--dtype", "bf16", "--dtype", "int4",
        "--master-weights",
    )  # fmt: skip
    assert xxlarge["model"] == "albert-xxlarge-v2"
    assert (xxlarge["batch_size"], xxlarge["sequence_length"]) == (8, 128)
    assert xxlarge["parameters"] == xxlarge["trainable"] == xxlarge["all"] == 222_595_584
    assert xxlarge["executed_parameters"] == 222_595_584 + 11 * 201_379_840
    assert xxlarge["weights_bytes"] == {"bfloat16": 445_191_168, "int4": 111_297_792}
    assert xxlarge["training_dtype"] == "bfloat16"
    assert xxlarge["training_bytes"] == {
        "weights": 445_191_168,
        "gradients": 445_191_168,
        "optimizer_moments": 1_780_764_672,
        "master_weights": 890_382_336,
    }
    for one in (large, xxlarge):
        kept = one["activations"]
        assert sum(t["bytes"] for t in kept) == one["activation_bytes"]
        in_layers = sum(t["bytes"] for t in kept if t["part"] == "layers")
        assert one["activation_bytes_per_layer"] * one["executed_layers"] == in_layers
        assert max(one["training_moments"].values()) == one["training_peak_bytes"]
        assert one["training_peak_bytes"] > one["training_bytes"]["weights"]
        flops = one["flops"]
        assert sum(flops["breakdown"].values()) == flops["forward"] == flops["training"] // 3
        assert flops["per_token"] * 8 * 128 == flops["forward"] == 2 * flops["macs"]
    assert xxlarge["flops"]["formulas"]["attention_scores"] == "4 × N × L × B × S² × H"
    assert xxlarge["assumptions"] == large["assumptions"] != []


def test_cases_of_the_oracles(run: Run, tmp_path: Any) -> None:
    """Some measured cases are the same through the command line, from a config file."""
    faults = Faults()
    for case in oracle("activations")["cases"][::9]:
        path = tmp_path / "config.json"
        path.write_text(json.dumps(case["config"]), encoding="utf-8")
        (found,) = loads(
            run, path, "--head", case["head"], "-B", case["batch"], "-S", case["sequence_length"],
            "--dtype", case["dtype"], "--attention", case["attention"],
        )  # fmt: skip
        name = case["class"], case["dtype"], case["attention"]
        faults.expect(name, found["activation_bytes"], case["bytes"])
    faults.none()


def test_table(run: Run) -> None:
    """Models stand in columns; sizes are short, or exact with ``--exact``."""
    result = run("cost", *TWO)
    assert (result.exit_code, result.stderr) == (0, "")
    lines = lines_of(result.stdout)
    assert lines["stored"] == ["335,141,888", "222,595,584"]
    assert lines["executed / stored"] == ["1.0×", "11.0×"]
    assert lines["checkpoint"] == ["1.3 GB, 1.2 GiB", "890.4 MB, 849.1 MiB"]
    assert "an estimate" in result.stdout
    assert "matrix products only" not in result.stdout
    exact = run("cost", *TWO, "--exact", "--notes")
    assert lines_of(exact.stdout)["checkpoint"] == ["1,340,567,552", "890,382,336"]
    assert "matrix products only" in exact.stdout


def test_one_model_is_short(run: Run) -> None:
    """The answer is on the first line, and everything on one screen of thirty."""
    lines = run("cost", "bert-base-uncased", "--memory", "16GiB").stdout.splitlines()
    assert lines[0].startswith("bert-base-uncased needs ")
    assert "fits in 16 GiB; the largest batch is " in lines[0]
    assert len(lines) <= 30


def test_csv(run: Run) -> None:
    """CSV has every figure exact, and its parts add up to its sums."""
    result = run("cost", "base", "--head", "pretraining", "-B", "3", "-f", "csv")
    rows = rows_of(result.stdout, "base")
    figures = {key: int(value) for key, value in rows.items() if value.isdecimal()}
    assert figures["training_state_bytes"] == sum(figures[key] for key in STATE)
    assert figures["forward_flops"] == sum(figures[f"{term}_flops"] for term in TERMS)
    (data,) = loads(run, "base", "--head", "pretraining", "-B", "3")
    for key in ("activation_bytes", "training_peak_bytes", "inference_peak_bytes", "parameters"):
        assert figures[key] == data[key]
    assert figures["file_checkpoint_bytes"] == data["files"]["checkpoint"]


STATE = ("training_weights_bytes", "gradients_bytes", "optimizer_moments_bytes",
         "master_weights_bytes")  # fmt: skip


@pytest.mark.parametrize("width", [24, 40, 60, 80, 120])
def test_no_digit_is_lost(width: int, run: Run) -> None:
    """However narrow the terminal, every figure of every model is there whole."""
    shown = run("cost", *TWO, "--exact", env={"COLUMNS": str(width), "FORCE_COLOR": "1"}).stdout
    for one in loads(run, *TWO):
        for key in ("parameters", "executed_parameters", "training_peak_bytes",
                    "activation_bytes", "inference_peak_bytes"):  # fmt: skip
            assert f"{one[key]:,}" in shown


@pytest.mark.parametrize(
    ("given", "canonical"),
    [("fp32", "float32"), ("fp16", "float16"), ("bf16", "bfloat16"), ("int8", "int8")],
)
def test_spellings(run: Run, given: str, canonical: str) -> None:
    """A short spelling and the long one are the same dtype, named once."""
    (data,) = loads(run, "base", "--dtype", given, "--dtype", canonical)
    assert list(data["weights_bytes"]) == [canonical]


def test_integers_are_not_trained(run: Run) -> None:
    """With integers alone there is no training: null, no rows, and a sentence."""
    args = ("base", "--dtype", "int8", "--dtype", "int4", "--dtype", "int8")
    (data,) = loads(run, *args)
    for key in ("training_dtype", "training_bytes", "activation_bytes", "training_peak_bytes"):
        assert data[key] is None
    shown = run("cost", *args, "--notes").stdout
    assert "int8 and int4 cannot be trained" in shown
    assert "gradients" not in shown
    assert "estimate" not in shown


def test_unknown_heads(run: Run) -> None:
    """Without A the activations are unknown, which is said and not guessed."""
    sizes = "--model-type albert -V 100 -E 8 -H 16 -L 2 -I 64".split()
    (data,) = loads(run, *sizes)
    assert data["activation_bytes"] is data["training_peak_bytes"] is None
    assert data["training_state_bytes"] == 16 * data["parameters"]
    said = "sizes: num_attention_heads: not given, so its training memory is unknown"
    assert said in run("cost", *sizes).stderr
    assert "unknown" not in run("cost", *sizes, "-A", "4").stderr


LENGTHS = [("base", 512), ("bert-base-uncased", 512), ("roberta-base", 512), ("mpnet-base", 512),
           ("camembert-base", 512)]  # fmt: skip


@pytest.mark.parametrize(("name", "most"), LENGTHS)
def test_long_sequences(name: str, most: int, run: Run) -> None:
    """A length without positions is warned of, RoBERTa's two reserved ones counted off."""
    exact = run("cost", name, "-S", most)
    assert (exact.exit_code, "positions" in exact.stderr) == (0, False)
    longer = run("cost", name, "-S", most + 1, "-f", "json")
    assert longer.exit_code == 0
    warning = f"warning: sequence_length: {most + 1} is more than the {most} positions of {name};"
    assert warning in longer.stderr
    assert json.loads(longer.stdout)[0]["sequence_length"] == most + 1


REFUSING = {"albert", "mpnet", "squeezebert"}
WITHOUT_SDPA = {"deberta", "deberta-v2", "megatron-bert", "mpnet", "rembert", "roformer",
                "squeezebert"}  # fmt: skip


def test_what_families_support() -> None:
    """As the classes of transformers 5.24 say: supports_gradient_checkpointing, _supports_sdpa."""
    assert {f.model_type for f in families() if not f.checkpointing} == REFUSING
    assert {f.model_type for f in families() if not f.sdpa} == WITHOUT_SDPA


def test_checkpointing_that_is_refused(run: Run) -> None:
    """Each model whose classes refuse it is warned of, and no other."""
    names = ("base", "bert-base-uncased", "squeezebert-uncased", "mpnet-base")
    result = run("cost", *names, "--checkpointing")
    assert result.exit_code == 0
    warned = [line for line in result.stderr.splitlines() if line.startswith("warning")]
    assert len(warned) == 3
    assert not any("bert-base-uncased" in line for line in warned)
    for line in ("sweep base -B 1 --columns training_peak_bytes", "solve base --gpu T4 --vary B"):
        assert "warning: checkpointing: " in run(*line.split(), "--checkpointing").stderr


def test_families_without_sdpa(run: Run) -> None:
    """They are costed as eager, in every command, and that is said."""
    note = "note: rembert: transformers 5.24 has no sdpa for rembert, so eager\n"
    result = run("cost", "rembert", "bert-base-uncased", "-f", "json")
    rembert, bert = json.loads(result.stdout)
    assert (rembert["attention"], bert["attention"], result.stderr) == ("eager", "sdpa", note)
    (eager,) = loads(run, "rembert", "--attention", "eager")
    assert rembert == eager
    assert ", eager or sdpa\n" in run("cost", "rembert", "bert-base-uncased").stdout
    swept = run("sweep", "rembert", "-B", "1", "--columns", "training_peak_bytes", "-f", "csv")
    assert swept.stdout.split()[1] == str(rembert["training_peak_bytes"])
    assert swept.stderr == note
    solved = run("solve", "rembert", "--gpu", "T4", "--vary", "B")
    assert note in solved.stderr
    assert "\nS = 512, float32, adamw, eager\n" in solved.stdout


def test_whether_the_unknown_fits(run: Run) -> None:
    """Exit 2 and the reason, with everything else written; one that does not fit is not hidden."""
    for args in (("modernbert-base",), ("base", "--dtype", "int8")):
        result = run("cost", *args, "--memory", "16GiB", "-f", "json")
        assert (result.exit_code, json.loads(result.stdout)[0]["fits"]) == (2, None)
        assert result.stderr.startswith(f"error: memory: {args[0]}: ")
        assert result.stderr.endswith(", so its training memory is unknown, and whether it fits\n")
    both = run("cost", "modernbert-base", "bert-base-uncased", "--memory", "1GiB")
    assert both.exit_code == 2
    assert lines_of(both.stdout)["fits in 1 GiB"] == ["unknown", "no"]
    second = both.stdout.splitlines()[1]
    assert second == "does not fit in 1 GiB: bert-base-uncased; unknown: modernbert-base"


def test_checkpoints_to_go_on_from(run: Run) -> None:
    """They have adapters, and the moments of what is trained; none is none."""
    for args in (
        (), ("--optimizer", "none"), ("--optimizer", "sgd"), ("--optimizer", "adamw-8bit"),
        ("--lora", "8"), ("--freeze", "layers"),
    ):  # fmt: skip
        (data,) = loads(run, "bert-base-uncased", *args)
        moments = data["training_bytes"]["optimizer_moments"]
        files = data["files"]
        adapters = data["training_bytes"]["weights"] - files["checkpoint"]
        assert files["with_optimizer"] == files["checkpoint"] + adapters + moments, args
        assert (adapters > 0) == (args[:1] == ("--lora",))
    (data,) = loads(run, "bert-base-uncased", "--dtype", "int8")
    assert data["files"]["with_optimizer"] is None
    assert "with the optimizer" not in run("cost", "bert-base-uncased", "--dtype", "int8").stdout


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("--lora", "8"), "LoRA of rank 8 on query, value"),
        (("--freeze", "embeddings,layers:0-9"), "frozen: embeddings, layers:0-9"),
    ],
)
def test_training_of_a_part(args: tuple[str, str], words: str, run: Run) -> None:
    """It is named; its FLOPs are unknown, which is said once; adapters are counted beside."""
    result = run("cost", "bert-base-uncased", "bert-large-uncased", *args)
    lines = lines_of(result.stdout)
    assert f", sdpa; {words}\n" in result.stdout
    assert "training" not in lines
    assert ("with adapters" in lines) == (args[0] == "--lora")
    assert result.stderr.count("the FLOPs of training are unknown") == 1
    (data,) = loads(run, "bert-base-uncased", *args)
    assert data["flops"]["training"] is None
    columns = ("--columns", "training_flops", "-f", "json")
    assert json.loads(run("sweep", "bert-base-uncased", *args, *columns).stdout) == [
        {"training_flops": None}
    ]


def test_names_of_cards(run: Run) -> None:
    """A card may go without its RTX; a part of a name is answered with those that have it."""
    (data,) = loads(run, "base", "--gpu", "3090")
    assert data["memory_bytes"] == 24_268 * 2**20
    for typed, meant in (("2080", "RTX 2080 Ti"), ("409", "RTX 4090"), ("A10", "")):
        result = run("cost", "base", "--gpu", typed)
        said = f"error: gpu: must be the name of a card, got '{typed}'; did you mean {meant}?"
        assert (said in result.stderr) == bool(meant)
        assert "--memory" not in result.stderr
    for part in ("V100-1", "A100-4"):
        result = run("cost", "base", "--gpu", part)
        assert f"did you mean {part[:4]}" in result.stderr
    for name, size in (("a100", 40_339), ("A100 80gb", 81_038), ("rtx4060ti", 16_380)):
        assert loads(run, "base", "--gpu", name)[0]["memory_bytes"] == size * 2**20


def test_cards_that_torch_has_not_told(run: Run) -> None:
    """They are shown as such, and their size is said to be nvidia-smi's."""
    result = run("cost", "--gpu", "list")
    assert lines_of(result.stdout)["A10"] == ["unknown", "23,028"]
    assert lines_of(result.stdout)["T4"] == ["15,110", "15,360"]
    assert "where torch's figure is unknown, nvidia-smi's" in result.stdout
    assert "fits in A10 (22.5 GiB by nvidia-smi)" in run("cost", "base", "--gpu", "A10").stdout


def test_the_first_line_about_a_memory(run: Run) -> None:
    """It has both units, the largest batch also where this one does not fit, and which fit."""
    (fit, misses, never, two) = (
        run("cost", *line.split()).stdout.partition("\n\n")[0]
        for line in (
            "base --memory 16GB", "base --memory 16GB -B 900", "base --memory 1MB",
            "bert-large-uncased albert-xxlarge-v2 -B 8 --memory 24GiB",
        )
    )  # fmt: skip
    (data,) = loads(run, "base", "--memory", "16GB")
    largest = f"{data['largest_batch_size']:,}"
    assert fit.endswith(f", and fits in 16 GB (14.9 GiB); the largest batch is {largest}")
    assert misses.endswith(
        f", and does not fit in 16 GB (14.9 GiB); the largest batch that does is {largest}"
    )
    assert never.endswith(", and does not fit in 1 MB (976.6 KiB); no batch does")
    assert two.endswith("\nfits in 24 GiB: bert-large-uncased; does not fit: albert-xxlarge-v2")


def test_what_the_rows_of_a_peak_are(run: Run) -> None:
    """They are more than the peak together, which is said under the table."""
    (data,) = loads(run, "bert-base-uncased")
    together = data["training_state_bytes"] + data["activation_bytes"]
    assert together > data["training_peak_bytes"]
    shown = run("cost", "bert-base-uncased").stdout
    assert "the rows of training memory are not all there at once" in shown
    assert "taken from the documentation of its kernel, and was not measured" in shown


BAD: list[tuple[str, list[str]]] = [
    ("", ["error: no model: give a MODEL, or sizes (-V -H -L ...)"]),
    ("base -B 0", ["error: batch_size: must be at least 1, got 0"]),
    (
        "base -B x -S -3 -A 7",
        [
            "error: batch_size: must be a positive whole number, got 'x'",
            "error: sequence_length: must be a positive whole number, got '-3'",
            "error: num_attention_heads: must divide hidden_size (768), got 7",
        ],
    ),
    (
        "base -S 64,128 -B 1,000",
        [
            "error: sequence_length: must be one number (write 30_000, not 30,000), got '64,128';"
            " albert-calc sweep takes several",
            "error: batch_size: must be one number (write 30_000, not 30,000), got '1,000';"
            " albert-calc sweep takes several",
        ],
    ),
    ("base --dtype fp8", ["error: Invalid value for '--dtype'"]),
    ("base --optimizer lamb", ["error: Invalid value for '--optimizer'"]),
    ("base --head causal-lm", ["error: head: must be one of"]),
    ("nonsense", ["error: model: must be a file, a directory with config.json, or a known name"]),
    ("base --memory 16", ["error: memory: must be a size with a unit, such as 16GiB or 16GB"]),
    ("base --memory 1.5", ["error: memory: must be a size with a unit"]),
    ("base --gpu Z9", ["error: gpu: must be one of "]),
    ("base --memory 1GB --gpu T4", ["error: memory: give --memory or --gpu, not both"]),
    ("base --masked-fraction 120%", ["error: masked_fraction: must be like 15% or 0.15"]),
    ("base --lora 8", ["error: lora_targets: must be given, since PEFT has no default for albert"]),
    ("base --freeze nose", ["error: freeze: must be among embeddings, projection, layers"]),
]


@pytest.mark.parametrize(("line", "messages"), BAD)
def test_bad_input(line: str, messages: list[str], run: Run) -> None:
    """What cannot be done exits 2 with all its problems and nothing on standard output."""
    result = run("cost", *line.split())
    assert (result.exit_code, result.stdout) == (2, "")
    for message in messages:
        assert message in result.stderr
    assert "Traceback" not in result.stderr


def test_quantities(run: Run) -> None:
    """A batch may be typed with a suffix or underscores."""
    (data,) = loads(run, "base", "-B", "1_024", "-S", "0.5K")
    assert (data["batch_size"], data["sequence_length"]) == (1024, 500)


def test_what_fits(run: Run) -> None:
    """The largest batch and length fit, and one more of either does not."""
    asked = ("bert-base-uncased", "--gpu", "T4")
    (data,) = loads(run, *asked, "-S", "384", "-B", "4")
    assert data["fits"] is True
    assert data["left_bytes"] == data["memory_bytes"] - data["training_peak_bytes"]
    batch, length = data["largest_batch_size"], data["largest_sequence_length"]
    assert loads(run, *asked, "-S", "384", "-B", batch)[0]["fits"]
    assert not loads(run, *asked, "-S", "384", "-B", batch + 1, status=1)[0]["fits"]
    assert loads(run, *asked, "-S", length, "-B", "4")[0]["fits"]
    assert length == 512 or not loads(run, *asked, "-S", length + 1, "-B", "4", status=1)[0]["fits"]


def test_units_of_memory(run: Run) -> None:
    """GB is 10^9 and GiB 2^30, and a card is what torch can allocate on it."""
    for text, size in (("16GB", 16 * 10**9), ("16GiB", 2**34), ("16 gib", 2**34)):
        assert loads(run, "base", "--memory", text)[0]["memory_bytes"] == size
    listed = json.loads(run("cost", "--gpu", "list", "-f", "json").stdout)
    cards = {one["card"]: one["bytes"] for one in listed}
    assert loads(run, "base", "--gpu", "t4")[0]["memory_bytes"] == cards["T4"] < 16 * 10**9


def test_one_that_does_not_fit(run: Run) -> None:
    """Exit 1 if one of several does not fit, with the whole table all the same."""
    result = run("cost", *TWO, "-B", "8", "--memory", "24GiB")
    assert result.exit_code == 1
    assert lines_of(result.stdout)["fits in 24 GiB"] == ["yes", "no"]


def test_the_dtype_of_a_checkpoint(run: Run, tmp_path: Any) -> None:
    """A file is as wide as the config says that it is; the rest stays at ``--dtype``."""
    path = tmp_path / "config.json"
    for key in ("torch_dtype", "dtype"):
        path.write_text(json.dumps({**BASE, key: "float16"}), encoding="utf-8")
        (data,) = loads(run, path)
        assert data["files"]["checkpoint"] == 2 * N
        assert data["weights_bytes"] == {"float32": 4 * N}


@pytest.mark.parametrize("layout", ["transformers", "handbook", "paper"])
def test_compare_cost(run: Run, layout: str) -> None:
    """Each style costs what its total in the same comparison says, in every layout."""
    result = run("compare", "xxlarge", "--cost", "--layout", layout, "-f", "json")
    assert result.exit_code == 0
    (data,) = json.loads(result.stdout)
    for style in ("bert_style", "albert_style"):
        assert data["cost"][style]["parameters"] == data["total"][style]
        assert data["cost"][style]["weights_bytes"] == {"float32": 4 * data["total"][style]}


def test_compare_cost_table(run: Run) -> None:
    """The cost of every model is added under the comparison."""
    result = run("compare", "--cost", "-B", "8")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.count("executed in a pass") == 5
    assert "ALBERT-Base: cost" in result.stdout


@pytest.mark.parametrize("args", [(), ("base",), ("base", "bert-base-uncased")])
def test_compare_cost_csv(args: tuple[str, ...], run: Run) -> None:
    """CSV stays one rectangle, whichever tables the cost is added to."""
    text = run("compare", *args, "--cost", "-f", "csv").stdout
    assert len({len(row) for row in csv.reader(io.StringIO(text))}) == 1
    rows = [r for r in csv.DictReader(io.StringIO(text)) if r["component"] == "forward_flops"]
    assert len(rows) == (1 if args else 5)
    if args == ("base",):
        assert rows[0]["bert_style"] == "96637943808"
        assert rows[0]["albert_style"] == "96738607104"


TOLD = {
    "compare megatron-bert-uncased-345m --cost": "note: megatron-bert-uncased-345m: transformers"
    " 5.24 has no sdpa for megatron-bert, so eager",
    "compare megatron-bert-uncased-345m base --cost": "has no sdpa for megatron-bert, so eager",
    "compare deberta-v3-base --cost": "forward pass of deberta-v2 is not described; those of",
    "compare base --cost -S 1000": "warning: sequence_length: 1000 is more than the 512 positions",
    "compare --cost -S 1000": "warning: sequence_length: 1000 is more than the 512 positions",
    "compare base --cost --checkpointing": "warning: checkpointing: the classes of albert",
}


@pytest.mark.parametrize("line", TOLD)
def test_compare_says_of_costs_what_cost_says(line: str, run: Run) -> None:
    """What is not as it was asked for, and what is unknown and why."""
    result = run(*line.split())
    assert result.exit_code == 0
    assert TOLD[line] in result.stderr


POSITIONS = {
    ("roberta-base", "514"): 512,
    ("roberta-base", "3"): 1,
    ("roberta-base", "2"): 0,
    ("roberta-base", "1"): 0,
    ("bert-base-uncased", "1"): 1,
    ("bert-base-uncased", "0"): 0,
}
"""A model, its positions, and the longest sequence that can be run."""


def test_few_positions(run: Run) -> None:
    """Those that are kept for padding are no positions, and none at all is none."""
    faults = Faults()
    for (model, positions), most in POSITIONS.items():
        line = (model, "--max-position-embeddings", positions, "--memory", "1TB")
        longer = run("cost", *line, "-S", str(most + 1), "-f", "json")
        warned = f"{most + 1} is more than the {most} positions of {model}"
        faults.expect((model, positions), warned in longer.stderr, True)
        (data,) = json.loads(longer.stdout)
        faults.expect((model, positions), data["largest_sequence_length"], most)
        if most:
            faults.expect((model, positions), run("cost", *line, "-S", str(most)).stderr, "")
    faults.none()


def test_a_fit_that_is_closer_than_the_estimate(run: Run) -> None:
    """It is warned of: of what steps on GPUs took, up to 4% was not in the estimate."""
    peak = json.loads(run("cost", "base", "-f", "json").stdout)[0]["training_peak_bytes"]
    for share, warned in ((1.0, True), (1.0416, True), (1.0417, False), (0.99, False)):
        result = run("cost", "base", "--memory", f"{int(peak * share)}B")
        assert result.exit_code == (share < 1)
        assert ("base: fits with " in result.stderr) is warned, share


def test_short_names_of_dtypes(run: Run) -> None:
    """They are taken wherever a dtype is."""
    for option, short, whole in (
        ("--dtype", "bf16", "bfloat16"),
        ("--autocast", "fp16", "float16"),
    ):
        both = [run("cost", "base", option, name).stdout for name in (short, whole)]
        assert both[0] == both[1] != ""


@pytest.mark.parametrize(
    "option", [("-B", "1"), ("-S", "512"), ("--dtype", "int8"), ("--optimizer", "sgd")]
)
def test_compare_without_cost_has_no_batch(run: Run, option: tuple[str, str]) -> None:
    """A batch without ``--cost`` would be ignored, so it is refused."""
    result = run("compare", "base", *option)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "belongs to --cost" in result.stderr


@pytest.mark.parametrize(
    "line",
    [
        "bert-tiny --inner-group-num 2 -L 1 --head sequence-classification",
        "bert-tiny --num-hidden-groups 2 --inner-group-num 3 -L 2",
        "albert-base-v2 --num-hidden-groups 3 --inner-group-num 2 -L 6",
        "bert-base-uncased --inner-group-num 100 -L 1000000 -E 3",
    ],
)
def test_compare_cost_of_groups(line: str, run: Run) -> None:
    """Groups of any number and size have a cost, beside layers that are stored one by one."""
    result = run("compare", *line.split(), "--cost", "-f", "json")
    assert result.exit_code == 0, result.stderr
    (data,) = json.loads(result.stdout)
    for style in ("bert_style", "albert_style"):
        assert data["cost"][style]["activation_bytes"] > 0
