"""The command line as its users meet it: output, exit status, messages."""

import csv
import io
import json
import re
from collections.abc import Callable
from typing import Any

import click
import pytest
from conftest import Run
from support import BASE, DATA, oracle

import albert_calc
from albert_calc.cli import COMMANDS, main, output
from albert_calc.render import Canvas
from albert_calc.render.markdown import escape

Golden = Callable[[str, str], None]

SHOWN = {
    "compare": "compare",
    "compare-xxlarge": "compare --preset xxlarge",
    "compare-two": "compare --preset base --preset bert-base-uncased --layout handbook",
    "compare-ablation": "compare --preset large --ablation",
    "compare-groups": "compare --preset base --num-hidden-groups 3",
    "compare-ffn": "compare -V 30522 -E 64 -H 512 -L 8 --share ffn",
    "embedding": "embedding -V 30522 -E 128 -H 768",
    "layers": "layers -H 768 -L 12 --share attention",
    "presets": "presets",
    "count": "count --preset albert-base-v2 --head pretraining",
    "count-bert": "count --preset bert-base-uncased --head masked-lm --no-tie-word-embeddings",
}
"""Every table that people look at."""


def digits(text: str) -> set[str]:
    """All numbers with thousands separators in *text*."""
    return set(re.findall(r"\d{1,3}(?:,\d{3})+", text))


@pytest.mark.parametrize("name", SHOWN)
def test_tables(name: str, run: Run, golden: Golden, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables look as in the golden files in a pipe and at 80 columns, and lose no digit at 40."""
    args = SHOWN[name].split()
    piped = run(*args).stdout
    golden(f"tables/{name}.txt", piped)
    for width in (40, 80):
        monkeypatch.setattr(output, "canvas", lambda width=width: Canvas(width))
        shown = run(*args).stdout
        if width == 80:
            golden(f"tables/{name}-80.txt", shown)
        assert max(len(line) for line in shown.splitlines()) <= width
        assert digits(piped) <= digits(shown)


@pytest.mark.parametrize("name", SHOWN)
@pytest.mark.parametrize("format", ["json", "csv", "markdown"])
def test_machine_formats(name: str, format: str, run: Run) -> None:
    """Every command writes JSON, CSV and Markdown without escapes, even if colour is forced."""
    args = [*SHOWN[name].split(), "-f", format]
    result = run(*args, env={"FORCE_COLOR": "1"})
    assert result.exit_code == 0
    assert "\x1b" not in result.stdout
    if format == "json":
        assert json.loads(result.stdout)
    if format == "csv":
        rows = list(csv.reader(io.StringIO(result.stdout)))
        assert len(rows) > 1
        assert {len(row) for row in rows} == {len(rows[0])}
    if format == "markdown":
        table = [ln for ln in result.stdout.splitlines() if ln.startswith("|")]
        assert len({len(re.findall(r"(?<!\\)\|", ln)) for ln in table}) == 1


def test_rows_of_the_table_add_up(run: Run) -> None:
    """Both columns of compare, read back from the printed table, sum to their totals."""
    lines = run("compare", "--preset", "xxlarge").stdout.splitlines()
    cells = [re.findall(r"[\d,]{9,}", line) for line in lines if "%" in line]
    *rows, total = [[int(n.replace(",", "")) for n in row] for row in cells if len(row) == 2]
    assert len(rows) == 3
    other = (2_113_536, 70_144)  # the one row whose second number is shorter
    sums = [sum(side) for side in zip(*rows, other, strict=True)]
    assert sums == total == [2_560_471_040, 222_662_400]


def loads(run: Run, *args: str) -> Any:
    """The JSON that a command prints."""
    return json.loads(run(*args, "-f", "json").stdout)


def test_the_books_table(run: Run) -> None:
    """Without a model: the five rows of the book's embedding table, -2.5% included."""
    book = oracle("handbook")["embedding_table"]
    rows = loads(run, "compare")
    for row, printed in zip(rows, book, strict=True):
        assert row["config"]["hidden_size"] == printed["H"]
        assert row["config"]["embedding_size"] == printed["E"]
        assert row["embedding"]["factorized"] == printed["parameters"]
        assert round(row["embedding"]["reduction"] * 100, 1) == printed["reduction_percent"]
    xxlarge = rows[-1]
    assert xxlarge["embedding"]["standard"] == 125_018_112
    assert xxlarge["embedding"]["factorized"] == 4_431_104


def test_the_books_encoder(run: Run) -> None:
    """The handbook layout gives the chapter's totals and its 89.8%."""
    book = oracle("handbook")["encoder"]
    (row,) = loads(run, "compare", "--preset", "base", "--layout", "handbook")
    assert row["total"]["bert_style"] == book["bert_base"]
    assert row["total"]["albert_style"] == book["albert_base"]
    assert round(row["total"]["reduction"] * 100, 1) == book["reduction_percent"]
    assert row["layers"] == {
        "per_layer": 7_087_872,
        "unshared": 85_054_464,
        "shared": 7_087_872,
        "reduction": pytest.approx(11 / 12),
        "ratio": 12.0,
    }


def test_ablation(run: Run) -> None:
    """Four totals, whose differences are what each technique saves."""
    (row,) = loads(run, "compare", "--preset", "base", "--ablation")
    totals = {(c["embedding"], c["layers"]): c["total"] for c in row["combinations"]}
    assert totals["standard", "unshared"] == row["total"]["bert_style"]
    assert totals["factorized", "shared"] == row["total"]["albert_style"]
    saved = row["layers"]["unshared"] - row["layers"]["shared"]
    for embedding in ("standard", "factorized"):
        assert totals[embedding, "unshared"] - totals[embedding, "shared"] == saved


def test_ablation_against_the_real_class(run: Run) -> None:
    """Factorized and unshared is the real ALBERT with twelve groups (counts.json)."""
    (row,) = loads(run, "compare", "--preset", "albert-base-v2", "--ablation")
    totals = {(c["embedding"], c["layers"]): c["total"] for c in row["combinations"]}
    assert totals["factorized", "unshared"] == 89_650_176


@pytest.mark.parametrize(
    ("options", "head"),
    [
        ((), "ALBERT-style: factorized, shared layers"),
        (("--share", "none"), "ALBERT-style: factorized, unshared layers"),
        (("--share", "attention"), "ALBERT-style: factorized, shared attention"),
        (("--num-hidden-groups", "3"), "ALBERT-style: factorized, 3 stored layers"),
        (("--num-hidden-groups", "12"), "ALBERT-style: factorized, unshared layers"),
        (("--share", "ffn", "--num-hidden-groups", "2"), "shared feed-forward in 2 groups"),
    ],
)
def test_column_heads_are_true(options: tuple[str, ...], head: str, run: Run) -> None:
    """The heads say what is shared under the options given."""
    shown = run("compare", "--preset", "base", *options, "-f", "markdown").stdout
    assert head in shown


@pytest.mark.parametrize(
    ("args", "size"),
    [(("--preset", "bert-base-uncased"), 128), (("--preset", "bert-base-uncased", "-E", "64"), 64),
     (("--preset", "albert-base-v2"), 128), (("-V", "100", "-H", "8", "-L", "2"), 128)],
)  # fmt: skip
def test_assumed_embedding_size(args: tuple[str, ...], size: int, run: Run) -> None:
    """A model without E is compared at 128 unless -E says otherwise; table and stderr say so."""
    assert loads(run, "compare", *args)[0]["config"]["embedding_size"] == size
    result = run("compare", *args)
    assumed = size == 128 and "albert-base-v2" not in args
    assert ("E = 128 (assumed)" in result.stdout) == assumed
    assert ("embedding_size" in result.stderr) == assumed


def test_embedding_json(run: Run) -> None:
    """The book's example: 23,440,896 against 3,906,816 + 98,304 = 4,005,120 (handbook.json)."""
    book = oracle("handbook")["embedding_example"]
    data = loads(run, "embedding", "-V", "30522", "-E", "128", "-H", "768")
    assert data == {
        "standard": book["standard"],
        "factorized": book["factorized"],
        "token_table": book["token_matrix"],
        "projection": book["projection"],
        "reduction": (book["standard"] - book["factorized"]) / book["standard"],
        "ratio": book["standard"] / book["factorized"],
        "break_even_embedding_size": 30522 * 768 / (30522 + 768),
    }


@pytest.mark.parametrize(
    ("options", "unshared", "shared"),
    [
        ("", 85_054_464, 7_087_872),
        ("-I 3072", 85_054_464, 7_087_872),
        ("--share attention", 85_054_464, 2_363_904 + 12 * 4_723_968),
        ("--share ffn", 85_054_464, 12 * 2_363_904 + 4_723_968),
        ("--share none", 85_054_464, 85_054_464),
        ("--num-hidden-groups 3", 85_054_464, 3 * 7_087_872),
        ("--num-hidden-groups 3 --inner-group-num 2", 85_054_464, 6 * 7_087_872),
    ],
)
def test_layers_json(options: str, unshared: int, shared: int, run: Run) -> None:
    """One layer's blocks as in DESIGN, stored as often as the options say."""
    data = loads(run, "layers", "-H", "768", "-L", "12", *options.split())
    assert (data["attention"], data["feed_forward"]) == (2_363_904, 4_723_968)
    assert (data["per_layer"], data["unshared"], data["shared"]) == (7_087_872, unshared, shared)
    assert data["reduction"] == pytest.approx(1 - shared / unshared)
    assert data["ratio"] == unshared / shared


def test_layers_says_that_it_assumed_i(run: Run) -> None:
    """I = 4H is marked in the table and noted on stderr, and only if it was assumed."""
    assumed, given = run("layers", "-H", "8", "-L", "2"), run("layers", "-H8", "-L2", "-I32")
    assert "I = 32 (4 × H)" in assumed.stdout
    assert "intermediate_size: not given" in assumed.stderr
    assert "I = 32 " in given.stdout
    assert given.stderr == ""


def test_presets_json(run: Run) -> None:
    """Every published model is listed with its exact count, printed figure and difference."""
    rows = {row["preset"]: row for row in loads(run, "presets")}
    for model in oracle("published")["models"]:
        row = rows[model["name"]]
        assert row["parameters"] == model["model_with_pooler"]
        assert row["source"]
        for printed in row["published"]:
            assert printed["figure"] in model["published"]
            millions = int(printed["figure"].rstrip("M"))
            assert printed["difference"] == row["parameters"] - millions * 10**6
        wrong = "wrong for this vocabulary" in (model["published"] or "")
        assert any(p["note"] for p in row["published"]) == wrong
    assert list(rows)[:4] == ["base", "large", "xlarge", "xxlarge"]


def test_count_json(run: Run) -> None:
    """The breakdown has a formula for each component, and the total is their sum."""
    data = loads(run, "count", "--preset", "albert-base-v2")
    assert list(data) == ["model", "model_type", "head", "layout", "config", "components", "total"]
    assert data["total"] == 11_683_584 == sum(c["parameters"] for c in data["components"])
    assert data["components"][0] == {
        "name": "token_embedding",
        "formula": "V × E",
        "parameters": 3_840_000,
    }


@pytest.mark.parametrize(
    ("args", "total"),
    [
        ("--preset bert-base-uncased --head causal-lm", 109_514_298),
        ("--preset base --head masked-lm", 11_289_018),
        ("--preset albert-base-v2 --share none", 89_650_176),
        ("--preset albert-base-v2 --share attention", 63_647_232),
        ("--preset base --layout handbook", 11_161_088),
        ("--preset albert-base-v2 -V 30,522", 11_750_400),
        ("-V 30K -E 128 -H 768 -L 12 -A 12", 11_683_584),
        ("-V 30522 -H 768 -L 12 --model-type bert", 109_482_240),
        ("-V 30522 -H 768 -L 12", 109_482_240),
        ("--preset bert-base-uncased --num-labels 5 --head sequence-classification", 109_486_085),
    ],
)
def test_count_total(args: str, total: int, run: Run) -> None:
    """--total prints the bare integer and nothing else."""
    result = run("count", *args.split(), "--total")
    assert (result.exit_code, result.stdout) == (0, f"{total}\n")


@pytest.mark.parametrize(
    ("classes", "head", "note"),
    [
        (["AlbertForMaskedLM"], "model", "not the head model; the head masked-lm is that class"),
        (["AlbertModel"], "masked-lm", "the head model is that class"),
        (["AlbertForMaskedLM"], "masked-lm", None),
        (["AlbertModel"], "encoder", None),
        (["My\x1b[31mClass"], "model", r"names My\x1b[31mClass, which is no known class"),
        ([], "model", None),
    ],
)
def test_architectures(
    classes: list[str], head: str, note: str | None, run: Run, tmp_path: Any
) -> None:
    """A config that names a class with another head gets a note on stderr."""
    config = {**json.loads(run("count", "--preset", "base", "-f", "json").stdout)["config"]}
    (tmp_path / "config.json").write_text(json.dumps({**config, "architectures": classes}))
    result = run("count", "--config", tmp_path, "--head", head)
    assert result.exit_code == 0
    assert (note in result.stderr) if note else (result.stderr == "")


@pytest.mark.parametrize(
    ("line", "note"),
    [
        ("compare --preset base --layout handbook", "ALBERT-style total has none"),
        ("compare --preset base -E 768 --layout paper", "no projection where E = H (base)"),
        ("solve --preset base --budget 12M --vary num-hidden-layers", "any value fits, since"),
        (
            "solve -E 1 -H 1 -L 1 --budget 999_999T --vary vocab-size",
            "vocab_size: 1,000,000,000,000,000 is the largest size that is allowed at all",
        ),
        ("explain --preset base -f latex", ""),
        ("embedding -V 10 -E 9 -H 3", "factorizing saves nothing at this E"),
        ("layers -H 8 -L 4 --inner-group-num 2", "make 8 executed layers, against 4"),
        ("compare --preset base --inner-group-num 2", "make 24 executed layers, against 12"),
        ("count --preset base --layout handbook", "albert has no pooler there"),
    ],
)
def test_notes(line: str, note: str, run: Run) -> None:
    """What a reader could misunderstand is said on standard error."""
    result = run(*line.split())
    assert result.exit_code == 0
    assert note in result.stderr


WRONG = {
    "count": "no model: give --preset, --config, or sizes",
    "count --preset nope": "preset: must be a known name (see albert-calc presets), got 'nope'",
    "count --preset ../base": "preset: must be a known name",
    "count --preset alberto-base-v2": "did you mean albert-base-v2",
    "count --preset base --config x.json": "--preset and --config contradict each other",
    "count --preset base --head nope": "'nope' is not one of",
    "count --preset base --head causal-lm": "head: must be one of encoder, model",
    "count --preset base -f xml": "'xml' is not one of",
    "count --preset base --total -f json": "--total and --format contradict each other",
    "count --preset base --share none --num-hidden-groups 3": "num_hidden_groups: must be left out",
    "count --preset base --share ffn --inner-group-num 2": "inner_group_num: must be 1 unless",
    "count --preset base -H 0": "hidden_size: must be at least 1, got 0",
    "count --preset base -H -5": "hidden_size: must be a positive whole number, got '-5'",
    "count --preset base -H 1.5": "hidden_size: must be a positive whole number, got '1.5'",
    "count --preset base -A 10": "num_attention_heads: must divide hidden_size (768), got 10",
    "count --preset base -V 99999T": "vocab_size: must be at most 1,000,000,000,000,000",
    "count -V 100": "hidden_size: required",
    "count -H": "requires an argument",
    "compare --preset": "requires an argument",
    "compare --layout book": "'book' is not one of",
    "compare --bogus": "No such option '--bogus'",
    "embedding -V 30522 -E 128": "hidden_size: required (H, width of the encoder), but missing",
    "embedding -V x -E y -H z": "embedding_size: must be a positive whole number, got 'y'",
    "layers -L 12": "hidden_size: required",
    "layers -H 768 -L 0": "num_hidden_layers: must be at least 1, got 0",
    "nonsense": "No such command 'nonsense'",
}


@pytest.mark.parametrize("line", WRONG)
def test_wrong_command_lines(line: str, run: Run) -> None:
    """Exit 2, what is wrong on stderr, nothing on stdout."""
    result = run(*line.split())
    assert (result.exit_code, result.stdout) == (2, "")
    assert WRONG[line] in result.stderr
    assert "internal error" not in result.stderr


ALL_AT_ONCE = {
    "count -V abc -H -3 -L 2.5 -A true": "vocab_size hidden_size num_hidden_layers"
    " num_attention_heads",
    "count --preset nope -H 0": "preset hidden_size",
    "count --config none.json -H 0": "none.json hidden_size",
    "count --preset base -H 0 --head causal-lm": "hidden_size head",
    "explain --preset base -V 0 --head causal-lm": "vocab_size head",
    "compare --preset nope --preset nope2": "preset preset",
    "layers -H 0 -L 2 --num-hidden-groups 0": "hidden_size num_hidden_groups",
    "layers -L 0": "hidden_size num_hidden_layers",
    "layers -H 8 -L 2 --share none --num-hidden-groups 3 --inner-group-num 2":
        "num_hidden_groups inner_group_num",
    "check --preset nope --equals x": "preset equals",
    "check --preset base --head causal-lm --at-most x -V 0": "vocab_size head at_most",
    "cost --preset base --head causal-lm -B 0": "batch_size head",
    "cost --preset nope1 --preset nope2 -B 0": "preset preset batch_size",
    "compare --cost -S =cmd": "sequence_length",
    "solve --preset nope --vary vocab-size --budget x": "preset budget",
    "solve --preset base -L 0 --vary vocab-size --budget x --head causal-lm":
        "budget num_hidden_layers head",
    "sweep --preset nope -E x --share some": "preset embedding_size share",
    "compare --preset base --cost -B 0 -H 770": "batch_size num_attention_heads",
    "compare --preset base --preset xlarge -H 770": "num_attention_heads num_attention_heads",
}  # fmt: skip


@pytest.mark.parametrize("line", ALL_AT_ONCE)
def test_all_problems_of_a_command_line_at_once(line: str, run: Run) -> None:
    """Whatever is wrong is named in one go, once, and nothing is invented."""
    result = run(*line.split())
    assert result.exit_code == 2
    named = [text.split(": ")[1] for text in result.stderr.splitlines()]
    assert sorted(named) == sorted(ALL_AT_ONCE[line].split())


def test_without_arguments_there_is_help(run: Run) -> None:
    """A bare program name shows the help on standard error, line by line."""
    result = run()
    assert (result.exit_code, result.stdout) == (2, "")
    assert "  compare    Compare a shape" in result.stderr


@pytest.mark.parametrize(
    "line",
    ["count --preset base --preset large", "check --config a --config b --at-most 1",
     "sweep --preset base -E 1 -E 2", "compare --share all --share none"],
)  # fmt: skip
def test_an_option_counts_once(line: str, run: Run) -> None:
    """A repeated option is refused, where click alone would take the last."""
    result = run(*line.split())
    assert (result.exit_code, result.stdout) == (2, "")
    assert "given more than once: --" in result.stderr


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_documented(name: str, run: Run) -> None:
    """-h and --help show what a command does, an example, and a line for every option."""
    result = run(name, "-h")
    assert result.exit_code == 0
    assert result.stdout == run(name, "--help").stdout
    assert f"  albert-calc {name}" in result.stdout
    command = main.get_command(click.Context(main), name)
    assert command is not None
    assert command.get_short_help_str(200)[:30] in run("-h").stdout
    for param in command.params:
        assert isinstance(param, click.Argument) or getattr(param, "help", None)


def test_version(run: Run) -> None:
    """--version prints the version of the package."""
    assert run("--version").stdout.split() == ["albert-calc,", "version", albert_calc.__version__]


def test_only_compared_sizes_are_options_of_compare(run: Run) -> None:
    """What would change neither column is no option."""
    for option in ("--model-type=bert", "--no-tie-word-embeddings", "--num-labels=3"):
        assert run("compare", "--preset", "base", option).exit_code == 2


def test_heads_where_nothing_is_factorized(run: Run) -> None:
    """The paper's layout has no projection at E = H, and then nothing is called factorized."""
    args = ("compare", "--preset", "base", "-E", "768", "--layout", "paper")
    assert "factorized" not in run(*args).stdout
    rows = run(*args, "--ablation", "-f", "csv").stdout.splitlines()[1:]
    assert [row.split(",")[1:3] for row in rows] == [
        ["standard", "unshared layers"], ["standard", "shared layers"],
    ]  # fmt: skip


def test_compare_warns_of_a_key_that_bert_ignores(run: Run, tmp_path: Any) -> None:
    """An E in a BERT config is ignored with a warning; one from -E is what is compared."""
    (tmp_path / "config.json").write_text(
        json.dumps({**BASE, "model_type": "bert", "embedding_size": 64})
    )
    warned = run("compare", "--config", tmp_path)
    assert "warning: embedding_size: ignored, since bert has none" in warned.stderr
    assert "E = 128 (assumed)" in warned.stdout
    given = run("compare", "--config", tmp_path, "-E", "32")
    assert "E = 32 " in given.stdout
    assert "warning" not in given.stderr


def test_an_ablation_of_nothing(run: Run) -> None:
    """Combinations that are the same model are shown once."""
    rows = run("compare", "--preset", "base", "--share", "none", "--ablation", "-f", "csv").stdout
    assert len(rows.splitlines()) == 1 + 2


def test_nothing_fits_whatever_the_value(run: Run) -> None:
    """A count that does not depend on the size, but is too large, is not called any value."""
    args = [
        "solve",
        "--budget",
        "1M",
        "--vary",
        "num-hidden-layers",
        "--preset",
        "base",
        "-f",
        "csv",
    ]
    result = run(*args)
    assert result.exit_code == 1
    assert result.stdout.splitlines()[1].startswith("no_value,")


@pytest.mark.parametrize(
    "line",
    ["reproduce paper", "infer {c}/albert-pretraining -L 1000000000000000 -f table",
     "verify {c}/albert-pretraining --vocab-size 101000000"],
)  # fmt: skip
def test_numbers_within_text_are_not_broken(
    line: str, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At any width a number stays on one line, also where it stands in a column of text."""
    args = line.format(c=DATA / "checkpoints").split()
    wide = digits(run(*args).stdout)
    assert wide
    for width in (9, 20, 30, 40):
        monkeypatch.setattr(output, "canvas", lambda width=width: Canvas(width))
        assert wide <= digits(run(*args).stdout)


def test_an_empty_preset_is_no_preset(run: Run) -> None:
    """A variable of a script that is empty does not go unnoticed."""
    result = run("count", "--preset", "", "--total")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "preset: must be a known name" in result.stderr


@pytest.mark.parametrize("text", ["+ x", "- x", "1. x", "22) x", "= x", "# x", "  - x"])
def test_names_are_no_markdown_lists(text: str) -> None:
    """A name at the beginning of a line stays text, and digits alone are left alone."""
    assert re.match(r" *[0-9]*\\[-+.)=#]", escape(text))
    assert escape("12 layers") == "12 layers"
    assert escape("11.5") == "11.5"


def test_a_width_without_a_projection_may_fit_alone(run: Run) -> None:
    """In the paper's layout E = H can fit where every smaller E that is near does not."""
    args = ("--preset", "base", "--layout", "paper")
    budget = run("count", *args, "-E", "768", "--total").stdout.strip()
    result = run("solve", *args, "--vary", "embedding-size", "--budget", budget)
    assert "embedding_size: 767 does not fit; at E = H there is no projection" in result.stderr


def test_a_checkpoint_without_any_config(run: Run, tmp_path: Any) -> None:
    """Sizes from the command line alone can be verified, too; with nothing it is refused."""
    path = tmp_path / "model.safetensors"
    path.write_bytes((DATA / "checkpoints/bert-with-buffers/model.safetensors").read_bytes())
    sizes = ["-V", "100", "-H", "16", "-L", "3", "-I", "32", "--max-position-embeddings", "20"]
    assert run("verify", path, *sizes).exit_code == 0
    refused = run("verify", path)
    assert refused.exit_code == 2
    assert "no config.json in" in refused.stderr
