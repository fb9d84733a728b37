"""The command line as its users meet it: models, output, exit status, messages."""

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import click
import pytest
from conftest import Run
from support import BASE, DATA, ROOT, Faults, oracle

import albert_calc
from albert_calc.cli import NAMES, main
from albert_calc.cli.guesses import GUESSES
from albert_calc.cli.options import HEADINGS, OWN_HEADING
from albert_calc.config.presets import load_preset
from albert_calc.families import FAMILIES, family
from albert_calc.families.sizes import SIZES
from albert_calc.render import FORMATS

SHOWN = (
    "compare",
    "compare xxlarge",
    "compare base --layout handbook",
    "compare bert-base-uncased albert-base-v2",
    "compare base large xlarge --cost",
    "compare large --ablation",
    "compare base --num-hidden-groups 3",
    "compare -V 30522 -E 64 -H 512 -L 8 --share ffn",
    "embedding -V 30522 -E 128 -H 768",
    "embedding bert-base-uncased",
    "layers -H 768 -L 12 --share attention",
    "layers modernbert-base",
    "presets",
    "count albert-base-v2 --head pretraining",
    "count bert-base-uncased --head masked-lm --no-tie-word-embeddings",
    "cost albert-xxlarge-v2 -B 8",
    "sweep base -E 64,128",
    "solve base --budget 12M --vary hidden-size",
    "check base --at-most 12M",
    "reproduce handbook",
)
"""Lines whose results every format can write."""


def loads(run: Run, *args: str) -> Any:
    """The JSON that a command prints."""
    return json.loads(run(*args, "-f", "json").stdout)


@pytest.mark.parametrize("line", SHOWN)
def test_machine_formats(line: str, run: Run) -> None:
    """JSON, CSV and Markdown have no escapes, even if colour is forced, and no headline in CSV."""
    for kind in FORMATS:
        result = run(*line.split(), "-f", kind, env={"FORCE_COLOR": "1"})
        assert result.exit_code == 0, result.stderr
        assert result.stdout.strip()
        assert kind == "table" or "\x1b" not in result.stdout
        if kind == "json":
            assert json.loads(result.stdout)
        if kind == "csv":
            rows = list(csv.reader(io.StringIO(result.stdout)))
            assert len(rows) > 1
            assert {len(row) for row in rows} == {len(rows[0])}
        if kind == "markdown":
            table = [ln for ln in result.stdout.splitlines() if ln.startswith("|")]
            assert table


def test_quiet_leaves_out_the_headline_and_notes(run: Run) -> None:
    """-q keeps the result and what is wrong with it, and nothing else."""
    plain, quiet = run("count", "base"), run("count", "base", "-q")
    assert plain.stdout.startswith("base: 11,750,400 parameters\n")
    assert quiet.stdout == plain.stdout.partition("\n\n")[2]
    typed = ("count", "-V", "100", "-H", "8", "-L", "2")
    assert "note: " in run(*typed).stderr
    assert run(*typed, "-q").stderr == ""
    odd = ("count", "base", "--num-hidden-groups", "20")
    warned = "warning: num_hidden_groups: must be at most num_hidden_layers (12)"
    assert run(*odd, "-q").stderr.startswith(warned)


def test_quiet_saves_without_a_word(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a picture and of a page."""
    monkeypatch.chdir(tmp_path)
    for line in ("count base --chart --save x.txt", "compare base --save page.html"):
        assert "saved" in run(*line.split()).stderr
        assert run(*line.split(), "-q").stderr == ""


def test_a_chart_says_what_it_counts(run: Run) -> None:
    """A selection of the tensors is no model."""
    for option, words in (
        ("--without-embeddings", "7,777,792 parameters without embedding tables"),
        ("--matrices", "parameters in matrices and tables"),
    ):
        assert words in run("count", "base", option, "--chart").stdout.splitlines()[0]


def test_the_file_that_is_wrong_is_named(run: Run, tmp_path: Path) -> None:
    """Of several models each problem begins with the model's name, and all are told."""
    good, bad, foreign = (tmp_path / f"{name}.json" for name in ("good", "bad", "foreign"))
    good.write_text('{"model_type": "bert"}', encoding="utf-8")
    bad.write_text('{"model_type": "bert", "num_attention_heads": 7}', encoding="utf-8")
    foreign.write_text('{"n_embd": 4, "n_layer": 2, "n_head": 3}', encoding="utf-8")
    heads = f"error: {bad}: num_attention_heads: must divide hidden_size (768), got 7"
    for line in ((good, bad), (good, bad, "--ablation"), (bad, "bert-bse", foreign)):
        for command in ("compare", "cost") if "--ablation" not in line else ("compare",):
            result = run(command, *line)
            assert (result.exit_code, result.stdout) == (2, "")
            assert heads in result.stderr.splitlines()
            assert (f"error: {foreign}: config: " in result.stderr) == (foreign in line)
    alone = run("count", bad)
    assert alone.stderr == heads.replace(f"{bad}: ", "") + "\n"


def test_the_books_table(run: Run) -> None:
    """Without a model: the five rows of the book's embedding table, -2.5% included."""
    book = oracle("handbook")["embedding_table"]
    rows = loads(run, "compare")
    for row, printed in zip(rows, book, strict=True):
        assert row["config"]["hidden_size"] == printed["H"]
        assert row["config"]["embedding_size"] == printed["E"]
        assert row["embedding"]["factorized"] == printed["parameters"]
        assert round(row["embedding"]["reduction"] * 100, 1) == printed["reduction_percent"]
    assert rows[-1]["embedding"]["standard"] == 125_018_112
    assert rows[-1]["embedding"]["factorized"] == 4_431_104


def test_the_books_encoder(run: Run) -> None:
    """The handbook layout gives the chapter's totals and its 89.8%."""
    book = oracle("handbook")["encoder"]
    (row,) = loads(run, "compare", "base", "--layout", "handbook")
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


def test_rows_of_the_table_add_up(run: Run) -> None:
    """Both columns of compare, read back from the printed table, sum to their totals."""
    lines = run("compare", "xxlarge", "-q").stdout.splitlines()
    cells = [re.findall(r"\d[\d,]{3,}", line) for line in lines if line[:1].islower()]
    *rows, total = [[int(n.replace(",", "")) for n in row] for row in cells if len(row) == 2]
    assert len(rows) == 4
    assert [sum(side) for side in zip(*rows, strict=True)] == total
    assert total == [2_560_471_040, 222_662_400]


def test_ablation(run: Run) -> None:
    """Four totals, whose differences are what each technique saves."""
    (row,) = loads(run, "compare", "base", "--ablation")
    totals = {(c["embedding"], c["layers"]): c["total"] for c in row["combinations"]}
    assert totals["standard", "unshared"] == row["total"]["bert_style"]
    assert totals["factorized", "shared"] == row["total"]["albert_style"]
    saved = row["layers"]["unshared"] - row["layers"]["shared"]
    for embedding in ("standard", "factorized"):
        assert totals[embedding, "unshared"] - totals[embedding, "shared"] == saved
    several = loads(run, "compare", "base", "bert-tiny", "--ablation")
    assert [len(one["combinations"]) for one in several] == [4, 4]


@pytest.mark.parametrize(
    ("args", "size"),
    [("bert-base-uncased", 128), ("bert-base-uncased -E 64", 64), ("albert-base-v2", 128),
     ("-V 100 -H 8 -L 2", 128), ("modernbert-base", 128), ("roformer_chinese_base -E 96", 96)],
)  # fmt: skip
def test_the_width_compared_at(args: str, size: int, run: Run) -> None:
    """A model without a factorized embedding is compared at E = 128 unless -E says otherwise."""
    (row,) = loads(run, "compare", *args.split())
    assert row["config"]["embedding_size"] == size
    noted = "has none of its own, so compared at E = 128" in run("compare", *args.split()).stderr
    assert noted == ("-E" not in args and args != "albert-base-v2")


def test_a_model_type_alone_is_its_class_by_default(run: Run, tmp_path: Path) -> None:
    """Typed or in a file, a type without sizes is the model that its class builds."""
    faults = Faults()
    commands = ("count", "explain", "compare", "sweep", "cost",
                "solve --budget 10B --vary num-hidden-layers")  # fmt: skip
    for model_type in FAMILIES:
        path = tmp_path / f"{model_type}.json"
        path.write_text(json.dumps({"model_type": model_type}), encoding="utf-8")
        for command in commands:
            typed = run(*command.split(), "--model-type", model_type)
            read = run(*command.split(), path, "--head", "model")
            faults.expect((model_type, command), typed.exit_code, 0)
            found = [
                re.findall(r"[0-9][0-9,.]+", done.stdout.replace(str(path), ""))
                for done in (typed, read)
            ]
            faults.expect((model_type, command), *found)
        (row,) = loads(run, "check", "--model-type", model_type, "--at-least", "1")["checks"]
        faults.expect(model_type, row["found"], loads(run, "count", str(path))["total"])
    faults.none()


STAYS = {
    "bert-base-uncased -H 1024 -A 16": "stays 3072; 4 × hidden_size would be 4096",
    "distilbert-base-uncased -H 384": "hidden_dim: stays 3072; 4 × dim would be 1536",
    "bert-base-uncased -H 768": "",
    "bert-base-uncased -H 1024 -A 16 -I 4096": "",
    "modernbert-base -H 384 -A 6": "",
    "-V 100 -H 8 -L 2": "",
}
"""An H that is put over a model's, and what is said of its I."""


@pytest.mark.parametrize("line", STAYS)
def test_a_size_that_followed_another_is_told_to_stay(line: str, run: Run) -> None:
    """Only where it was 4 × H and is not any more."""
    for command in ("count", "cost", "sweep"):
        result = run(command, *line.split())
        assert result.exit_code == 0, result.stderr
        assert (": stays " in result.stderr) == bool(STAYS[line])
        assert STAYS[line] in result.stderr


def test_several_models(run: Run) -> None:
    """Two models stand side by side: their components, and what differs from the first."""
    first, second = loads(run, "compare", "bert-base-uncased", "albert-base-v2")
    assert first["total"] == 109_482_240 == sum(first["components"].values())
    assert second["total"] == 11_683_584 == sum(second["components"].values())
    assert "difference" not in first
    assert second["difference"] == second["total"] - first["total"]
    assert second["ratio"] == second["total"] / first["total"]
    assert second["changed"]["vocab_size"] == [30522, 30000]
    assert second["changed"]["embedding_size"] == [None, 128]
    assert "hidden_size" not in second["changed"]
    assert second["components"]["token_embedding"] == 30000 * 128
    assert "embedding_projection" not in first["components"]


def test_two_versions_of_one_config(run: Run, tmp_path: Path) -> None:
    """What changed, under the family's own names; identical models say so; - works."""
    old = {"model_type": "distilbert", "vocab_size": 100, "dim": 8, "n_layers": 2, "n_heads": 2,
           "hidden_dim": 16, "max_position_embeddings": 10}  # fmt: skip
    for name, config in (("old", old), ("new", {**old, "n_layers": 3})):
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text(json.dumps(config))
    _, new = loads(run, "compare", str(tmp_path / "old"), str(tmp_path / "new" / "config.json"))
    assert new["changed"] == {"n_layers": [2, 3]}
    per_layer = 4 * (8 * 8 + 8) + 2 * 8 + 2 * 8 * 16 + 16 + 8 + 2 * 8
    assert new["difference"] == per_layer
    same = run("compare", "-", tmp_path / "old", input=json.dumps(old))
    assert same.stdout.startswith(
        f"standard input and {tmp_path}/old have the same sizes: 2,096 parameters"
    )


def test_embedding_json(run: Run) -> None:
    """The book's example: 23,440,896 against 3,906,816 + 98,304 = 4,005,120 (handbook.json)."""
    book = oracle("handbook")["embedding_example"]
    expected = {
        "standard": book["standard"],
        "factorized": book["factorized"],
        "token_table": book["token_matrix"],
        "projection": book["projection"],
        "reduction": (book["standard"] - book["factorized"]) / book["standard"],
        "ratio": book["standard"] / book["factorized"],
        "break_even_embedding_size": 30522 * 768 / (30522 + 768),
    }
    for line in ("-V 30522 -E 128 -H 768", "base", "bert-base-uncased", "bert-large -H 768"):
        data = loads(run, "embedding", *line.split())
        assert data.pop("model") == ("sizes" if line.startswith("-") else data_name(line))
        assert data == expected


def data_name(line: str) -> str:
    """The preset that a line begins with."""
    return {"bert-large": "bert-large-uncased"}.get(line.split()[0], line.split()[0])


def test_an_e_that_a_family_has_not_is_what_is_compared(run: Run, tmp_path: Path) -> None:
    """It is used and not warned about; where a family has an E of its own it is that."""
    result = run("embedding", "bert-base-uncased", "-E", "64")
    assert "E × H               49,152" in result.stdout
    assert result.stderr == ""
    path = tmp_path / "config.json"
    path.write_text(json.dumps({"model_type": "albert"}))
    result = run("embedding", path, "-E", "64")
    assert "1,920,000" in result.stdout
    assert "embedding_size" not in result.stderr
    result = run("embedding", "bert-base-uncased", "-E", "0")
    assert result.stderr == "error: embedding_size: must be at least 1, got 0\n"


@pytest.mark.parametrize(
    ("options", "unshared", "shared"),
    [
        ("-H 768 -L 12", 85_054_464, 7_087_872),
        ("-H 768 -L 12 -I 3072", 85_054_464, 7_087_872),
        ("-H 768 -L 12 --share attention", 85_054_464, 2_363_904 + 12 * 4_723_968),
        ("-H 768 -L 12 --share ffn", 85_054_464, 12 * 2_363_904 + 4_723_968),
        ("-H 768 -L 12 --share none", 85_054_464, 85_054_464),
        ("-H 768 -L 12 --num-hidden-groups 3", 85_054_464, 3 * 7_087_872),
        ("-H 768 -L 12 --num-hidden-groups 3 --inner-group-num 2", 85_054_464, 6 * 7_087_872),
        ("albert-base-v2", 85_054_464, 7_087_872),
        ("bert-base-uncased", 85_054_464, 7_087_872),
        ("bert-base-uncased --share ffn", 85_054_464, 12 * 2_363_904 + 4_723_968),
    ],
)
def test_layers_json(options: str, unshared: int, shared: int, run: Run) -> None:
    """One layer's blocks, stored as often as the options say, for sizes and for models."""
    data = loads(run, "layers", *options.split())
    assert (data["attention"], data["feed_forward"]) == (2_363_904, 4_723_968)
    assert (data["per_layer"], data["unshared"], data["shared"]) == (7_087_872, unshared, shared)
    assert data["reduction"] == pytest.approx(1 - shared / unshared)
    assert data["ratio"] == unshared / shared
    assert data["model"] == ("sizes" if options[0] == "-" else options.split()[0])


GROUPS = {
    "layers bert-base-uncased --num-hidden-groups 3": "3 stored layers: 21,263,616 parameters",
    "layers bert-base-uncased --num-hidden-groups 20": "1.7× more than the 85,054,464 of unshared",
    "layers base --num-hidden-groups 20": "1.7× more than the 85,054,464 of unshared",
    "compare base --num-hidden-groups 20": "base: 146,419,968 parameters, 1.3× more than built",
    "compare bert-base-uncased --num-hidden-groups 20": "with both techniques, 1.3× more",
}


@pytest.mark.parametrize("line", GROUPS)
def test_groups_of_layers(line: str, run: Run) -> None:
    """They are those of the technique, are never said to be ignored, and have ALBERT's rules."""
    result = run(*line.split())
    assert result.exit_code == 0
    assert GROUPS[line] in result.stdout
    assert "ignored" not in result.stderr
    warned = "num_hidden_groups: must be at most num_hidden_layers (12) for such a model to run"
    assert result.stderr.count(warned) == int("20" in line)


def test_presets(run: Run) -> None:
    """Every published model has its exact count, printed figure and difference; one line each."""
    rows = {row["preset"]: row for row in loads(run, "presets")}
    for model in oracle("published")["models"]:
        row = rows[model["name"]]
        assert row["parameters"] == model["model_with_pooler"]
        assert row["source"]
        for printed in row["published"]:
            assert printed["figure"] in model["published"]
            millions = int(printed["figure"].rstrip("M"))
            assert printed["difference"] == row["parameters"] - millions * 10**6
    assert list(rows)[:4] == ["base", "large", "xlarge", "xxlarge"]
    assert len(rows) >= 50
    table = run("presets").stdout.splitlines()
    assert max(map(len, table)) <= 100
    (line,) = [ln for ln in table if ln.startswith("albert-xxlarge-v2 ")]
    assert "222,595,584" in line
    named = run("presets", "modernbert", "electra-small", "-f", "csv").stdout
    assert {row[0] for row in csv.reader(io.StringIO(named))} == {
        "preset", "modernbert-base", "modernbert-large", "electra-small-discriminator",
        "electra-small-generator",
    }  # fmt: skip
    assert run("presets", "nope").exit_code == 2


def test_count_json(run: Run) -> None:
    """The breakdown has a formula and the tensors of each component; the total is their sum."""
    data = loads(run, "count", "albert-base-v2")
    assert list(data) == ["model", "model_type", "head", "layout", "config", "components", "total"]
    assert data["total"] == 11_683_584 == sum(c["parameters"] for c in data["components"])
    first = data["components"][0]
    assert (first["name"], first["formula"], first["parameters"]) == (
        "token_embedding", "V × E", 3_840_000,
    )  # fmt: skip
    assert first["tensors"] == [
        {"name": "embeddings.word_embeddings.weight", "shape": [30000, 128], "copies": 1}
    ]
    head = loads(run, "count", "albert-base-v2", "--head", "masked-lm")
    tensors = {t["name"]: t for c in head["components"] for t in c["tensors"]}
    assert tensors["albert.encoder.embedding_hidden_mapping_in.weight"]["shape"] == [768, 128]
    assert tensors["predictions.decoder.weight"]["tied_to"] == "embeddings.word_embeddings.weight"


@pytest.mark.parametrize(
    ("line", "total"),
    [
        ("bert-base-uncased --head causal-lm", 109_514_298),
        ("base --head masked-lm", 11_289_018),
        ("albert-base-v2 --share none", 89_650_176),
        ("albert-base-v2 --share attention", 63_647_232),
        ("base --layout handbook", 11_161_088),
        ("albert-base-v2 -V 30,522", 11_750_400),
        ("--preset albert-base-v2", 11_683_584),
        ("ALBERT-xxLarge", 222_662_400),
        ("bert-base", 109_482_240),
        ("google-bert/bert-base-uncased", 109_482_240),
        ("configs/roberta-base.json", 124_645_632),
        ("roberta-base", 124_645_632),
        ("-V 30K -E 128 -H 768 -L 12 -A 12", 11_683_584),
        ("-V 30522 -H 768 -L 12 --model-type bert", 109_482_240),
        ("-V 30522 -H 768 -L 12", 109_482_240),
        ("bert-base-uncased --num-labels 5 --head sequence-classification", 109_486_085),
        ("bert-base-uncased --without-embeddings", 85_646_592),
        ("albert-base-v2 --without-embeddings", 7_777_792),
        ("bert-base-uncased --matrices", 109_360_128),
    ],
)
def test_count_total(line: str, total: int, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """--total prints the bare integer and nothing else, however the model is named."""
    monkeypatch.chdir(ROOT)
    result = run("count", *line.split(), "--total")
    assert (result.exit_code, result.stdout) == (0, f"{total}\n")


@pytest.mark.parametrize(
    ("classes", "options", "title", "note"),
    [
        (["AlbertForMaskedLM"], "", "head masked-lm", None),
        (["AlbertForMaskedLM"], "--head model", "", None),
        (["AlbertModel"], "", "", None),
        (["AlbertModel"], "--head masked-lm", "head masked-lm", None),
        (["BertForMaskedLM"], "", "", "the config names BertForMaskedLM, of bert"),
        (["AlbertModel"], "--head encoder", "head encoder", None),
        (["My\x1b[31mClass"], "", "", r"names My\x1b[31mClass, which is no known class"),
        ([], "", "", None),
    ],
)
def test_the_head_of_a_file(
    classes: list[str], options: str, title: str, note: str | None, run: Run, tmp_path: Path
) -> None:
    """A file is counted with the head of its class, which the title says, unless --head is."""
    path = tmp_path / "config.json"
    path.write_text(json.dumps({**BASE, "architectures": classes}))
    result = run("count", path, *options.split())
    assert result.exit_code == 0
    assert result.stdout.split(":")[0] == f"{path}{', ' if title else ''}{title}"
    assert (note in result.stderr) if note else (result.stderr == "")


@pytest.mark.parametrize(
    ("line", "note"),
    [
        ("compare base --layout handbook", "ALBERT-style total has none"),
        ("compare base -E 768 --layout paper", "no projection where E = H (base)"),
        ("solve base --budget 12M --vary num-hidden-layers", "any value fits, since"),
        (
            "solve -E 1 -H 1 -L 1 --budget 999_999T --vary vocab-size",
            "vocab_size: 1,000,000,000,000,000 is the largest that is allowed at all",
        ),
        ("explain base --layout handbook -f latex", "albert has no pooler there"),
        ("embedding -V 10 -E 9 -H 3", "factorizing saves nothing at this E"),
        ("layers -H 8 -L 4 --inner-group-num 2", "make 8 executed layers, against 4"),
        ("compare base --inner-group-num 2", "make 24 executed layers, against 12"),
        ("count base --layout handbook", "albert has no pooler there"),
        ("count ALBERT-Base", "albert-base-v2 is the published model"),
        ("count -V 100 -E 4 -H 8 -L 2", "model_type: not given, so albert"),
    ],
)
def test_notes(line: str, note: str, run: Run) -> None:
    """What a reader could misunderstand is said on standard error."""
    result = run(*line.split())
    assert result.exit_code == 0
    assert note in result.stderr


WRONG = {
    "count": "no model: give a MODEL, or sizes (-V -H -L ...)",
    "count nope": "model: must be a file, a directory with config.json, or a known name",
    "count base large": "one model at a time; albert-calc compare base large sets them side",
    "count --preset nope": "preset: must be a known name (see albert-calc presets), got 'nope'",
    "count --preset ../base": "preset: must be a known name",
    "count alberto-base-v2": "did you mean albert-base-v2",
    "count some/model": "some/model is not in the local cache",
    "count base --head nope": "'nope' is not one of",
    "count base --head causal-lm": "head: must be one of model, encoder",
    "count base -f xml": "'xml' is not one of",
    "count base --total -f json": "--total and --format contradict each other",
    "count base --share none --num-hidden-groups 3": "num_hidden_groups: must be left out",
    "count base --share ffn --inner-group-num 2": "inner_group_num: must be 1 unless",
    "count base -H 0": "hidden_size: must be at least 1, got 0",
    "count base -H -5": "hidden_size: must be a positive whole number, got '-5'",
    "count base -H 1.5": "hidden_size: must be a positive whole number, got '1.5'",
    "count base -A 10": "num_attention_heads: must divide hidden_size (768), got 10",
    "count base -V 99999T": "vocab_size: must be at most 1,000,000,000,000,000",
    "count base -V 0,500": "vocab_size: must be a positive whole number, got '0,500'",
    "count -V 100": "hidden_size: required",
    "count -H": "requires an argument",
    "compare --preset": "requires an argument",
    "compare --layout book": "'book' is not one of",
    "compare --bogus": "no such option: --bogus",
    "embedding -V 30522 -E 128": "hidden_size: required (H, width of the encoder), but missing",
    "embedding -V x -E y -H z": "embedding_size: must be a positive whole number, got 'y'",
    "layers -L 12": "hidden_size: required",
    "layers -H 768 -L 0": "num_hidden_layers: must be at least 1, got 0",
    "presets nope": "no preset has such a name or type",
    "nonsense": "no such command: nonsense",
    "count base --chart -f json": "--chart and --format contradict each other",
    "cost base --chart -f csv": "--chart and --format contradict each other",
    "explain base --diagram -f json": "--diagram and --format contradict each other",
    "layers base --diagram -f json": "--diagram and --format contradict each other",
    "embedding base --diagram -f csv": "--diagram and --format contradict each other",
    "compare base --chart -f json": "--chart and --format contradict each other",
    "sweep base -E 64,128 --chart -f json": "--chart and --format contradict each other",
    "compare base --save page.html -f json": "--save and --format contradict each other",
    "explain base --activations -f latex": "--format and --activations contradict each other",
    "count base --total --save x.svg": "--save and --total contradict each other",
    "count base --total --lora 8": "--total and --lora contradict each other",
    "count base --matrices --without-embeddings": "contradict each other: give one of them",
    "compare base --ablation --cost": "--ablation and --cost contradict each other",
    "compare --ablation --cost": "--ablation and --cost contradict each other",
    "compare base --cost --save x.png": "--save and --cost contradict each other",
    "compare base large --cost --save x.svg": "--save and --cost contradict each other",
    "compare base -B 3": "--batch-size belongs to --cost: give both or none",
    "compare bert-tiny --share none --num-hidden-groups 2": "num_hidden_groups: must be left out",
    "layers bert-tiny --share none --num-hidden-groups 2": "num_hidden_groups: must be left out",
    "compare bert-tiny --share attention --inner-group-num 9": "inner_group_num: must be 1 unless",
    "layers bert-tiny --share attention --inner-group-num 9": "inner_group_num: must be 1 unless",
    "count base --head Mlm": "error: Invalid value for '--head': no head has this name, got 'Mlm'\n"
    "try: albert-calc count base --head masked-lm\n",
}


@pytest.mark.parametrize("line", WRONG)
def test_wrong_command_lines(line: str, run: Run) -> None:
    """Exit 2, what is wrong on stderr, nothing on stdout."""
    result = run(*line.split())
    assert (result.exit_code, result.stdout) == (2, "")
    assert WRONG[line] in result.stderr
    assert "internal error" not in result.stderr


PICTURES = {
    "count base --chart": "",
    "compare base --chart": "",
    "cost base --chart": "--memory 1GiB --gpu T4",
    "explain base --diagram": "",
    "embedding base --diagram": "",
    "layers base --diagram": "--share none",
    "sweep base -H 96:960:96 --chart": "--head masked-lm --share none --columns total",
}
"""A picture of each command that draws one, and values of its own options."""


def test_a_picture_shows_what_is_asked_for_or_refuses_it(run: Run) -> None:
    """Beside a picture every option of the command changes it, or contradicts it."""
    faults = Faults()
    assert {line.split()[0] for line in PICTURES} == {
        name for name in NAMES if any("--save" in p.opts for p in command_of(name).params)
    }
    for line, values in PICTURES.items():
        name, *_, flag = line.split()
        words = iter(values.split())
        given = dict(zip(words, words, strict=True))
        plain = run(*line.split())
        assert plain.exit_code == 0, plain.stderr
        for parameter in command_of(name).params:
            option = max(parameter.opts, key=len)
            if getattr(parameter, "heading", "") != OWN_HEADING or option == flag:
                continue
            value = [] if getattr(parameter, "is_flag", False) else [given[option]]
            result = run(*line.split(), option, *value)
            refused = "contradict each other" in result.stderr and not result.stdout
            changed = result.exit_code < 2 and result.stdout != plain.stdout
            faults.expect((line, option), refused or changed, True)
    faults.none()


def command_of(name: str) -> click.Command:
    """The command *name*."""
    found = main.get_command(click.Context(main), name)
    assert found is not None
    return found


@pytest.mark.parametrize("name", NAMES)
def test_no_option_is_there_twice(name: str) -> None:
    """Where click looks for doubles it warns of none, and of one that is put there."""
    command = command_of(name)
    context = click.Context(command)
    assert command.get_params(context) == click.Command.get_params(command, context)
    command.params.append(click.Option(["--quiet"]))
    try:
        with pytest.warns(UserWarning, match="--quiet is used more than once"):
            click.Command.get_params(command, context)
    finally:
        command.params.pop()


ALL_AT_ONCE = {
    "count base --head foo --share bar --layout baz -H abc -L -3":
        "'--head' '--share' '--layout' hidden_size num_hidden_layers",
    "compare base --share foo -H abc": "'--share' hidden_size",
    "cost nope --dtype foo": "'--dtype' model",
    "sweep nope --layout foo": "'--layout' model",
    "solve base --memory 12 --vary H -B 0 --lora 0": "memory batch_size lora",
    "sweep base --lora 0 --columns trainable --masked-fraction 2": "lora masked_fraction",
    "solve base --budget 1 --vary foo -L 0": "'--vary' num_hidden_layers",
    "count -V abc -H -3 -L 2.5 -A true": "vocab_size hidden_size num_hidden_layers"
    " num_attention_heads",
    "count nope -H 0": "model hidden_size",
    "count --config none.json -H 0": "none.json hidden_size",
    "count base -H 0 --head causal-lm": "hidden_size head",
    "explain base -V 0 --head causal-lm": "vocab_size head",
    "compare nope nope2": "model model",
    "layers -H 0 -L 2 --num-hidden-groups 0": "hidden_size num_hidden_groups",
    "layers -L 0": "hidden_size num_hidden_layers",
    "check nope --equals x": "model equals",
    "check base --head causal-lm --at-most x -V 0": "vocab_size head at_most",
    "cost base --head causal-lm -B 0": "batch_size head",
    "cost nope1 nope2 -B 0": "model model batch_size",
    "compare --cost -S =cmd": "sequence_length",
    "solve nope --vary vocab-size --budget x": "model budget",
    "solve base -L 0 --vary vocab-size --budget x --head causal-lm":
        "budget num_hidden_layers head",
    "sweep nope -E x --share some": "model embedding_size share",
    "compare base --cost -B 0 -H 770": "batch_size num_attention_heads",
    "compare base xlarge -H 770": "base xlarge",
    "compare bert-bse xlarge -H 0": "model hidden_size",
    "verify nofile --preset nopreset -V abc": "nofile preset vocab_size",
}  # fmt: skip


@pytest.mark.parametrize("line", ALL_AT_ONCE)
def test_all_problems_of_a_command_line_at_once(line: str, run: Run) -> None:
    """Whatever is wrong is named in one go, once, and nothing is invented."""
    result = run(*line.split())
    assert result.exit_code == 2
    errors = [text for text in result.stderr.splitlines() if text.startswith("error: ")]
    told = [re.sub("^error: (Invalid value for )?", "", text) for text in errors]
    named = [text.split(": ")[0].split(".json")[0] for text in told]
    expected = [name.split(".json")[0] for name in ALL_AT_ONCE[line].split()]
    assert sorted(named) == sorted(expected)


def test_first_guesses(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every guess in the table is answered, at exit 2, with a line that then works."""
    monkeypatch.chdir(ROOT)
    values = {"SIZE": "16GB", "NAMES": "base,large", "N": "8", "HEAD": "BertForMaskedLM"}
    wrong = []
    for guess in GUESSES:
        typed = " ".join(values.get(word, word) for word in guess.typed.split())
        result = run(*guess.example.format(typed).split())
        lines = [ln for ln in result.stderr.splitlines() if ln.startswith("try: albert-calc ")]
        if (result.exit_code, result.stdout) != (2, "") or len(lines) != 1:
            wrong.append((guess, result.stderr))
            continue
        meant = run(*lines[0].removeprefix("try: albert-calc ").split())
        if meant.exit_code > 1:
            wrong.append((guess, lines[0] + "\n" + meant.stderr))
    assert wrong == []


MEANT = {
    "cuont base": "count base",
    "Compare base": "compare base",
    "emebdding base": "embedding base",
    "-V 30000 -H 768": "count -V 30000 -H 768",
    "-H 768 -V 30000": "count -H 768 -V 30000",
    "--preset base": "count --preset base",
    "bert_large": "count bert_large",
    "sweep base -E 64 128": "sweep base -E 64,128",
    "sweep base -E 64 128 256 -H 1 2": "sweep base -E 64,128,256 -H 1,2",
    "count bert-base-uncased --head mlm": "count bert-base-uncased --head masked-lm",
    "count bert-base-uncased --head QA": "count bert-base-uncased --head question-answering",
    "count base --head AlbertForPreTraining": "count base --head pretraining",
    "cost base --max-length 128 -b 8": "cost base -S 128 -B 8",
    "count base -V=40000": "count base -V 40000",
    "count base --num_labels 5 --head mlm": "count base --num-labels 5 --head masked-lm",
    "count bert-base-uncased --head MaskedLM": "count bert-base-uncased --head masked-lm",
    "count base --head ForTokenClassification": "count base --head token-classification",
    "count base --heads 8": "count base --num-attention-heads 8",
    # What another command would take is no answer, nor what is merely alike.
    "count base --max-length 128": "",
    "count base --max 110M": "",
    # No ALBERT has such a head.
    "count albert-base-v2 --head nsp": "",
    "nonsense base": "",
    "encode base": "",
    "count base large -E 64 128": "",
    "-q base": "",
}
"""Lines that cannot work, and what is answered: one line, or nothing."""


def test_what_a_line_seems_to_mean(run: Run, tmp_path: Path) -> None:
    """Slips of a command, no command at all, lists with spaces: each has its answer."""
    (tmp_path / "config.json").write_text(json.dumps(BASE))
    lines = {**MEANT, str(tmp_path): f"count {tmp_path}", str(tmp_path.parent): ""}
    faults = Faults()
    for line, meant in lines.items():
        result = run(*line.split())
        faults.expect(line, (result.exit_code, result.stdout), (2, ""))
        tried = [x for x in result.stderr.splitlines() if x.startswith("try: ")]
        faults.expect(line, tried, [f"try: albert-calc {meant}"] if meant else [])
    faults.none()


def test_the_default_of_a_head_is_told(run: Run) -> None:
    """The help of --head says what each command counts without it."""
    for command in NAMES:
        text = " ".join(run(command, "-h").stdout.split())
        of_the_class = "By default that of the class which a config file names, else model" in text
        assert of_the_class == (command in ("count", "explain", "cost", "check")), command
        assert ("By default model." in text) == (command in ("compare", "solve")), command


SIMPLY_WORK = {
    "help": "Usage: albert-calc",
    "help count": "Usage: albert-calc count",
    "-V": "albert-calc, version",
    "": "Usage: albert-calc",
    "solve base --budget 12M --vary H": "largest hidden_size",
    "solve base --budget 12M --vary hidden_size": "largest hidden_size",
    "sweep bert-base-uncased -E 64,128": "87,681,408",
    "count base -f JSON": '"total": 11750400',
    "count base --share NONE --layout Paper --head Masked-LM": "head masked-lm, layout paper,"
    " share none: 89,585,082",
    "cost base --dtype BF16 --optimizer SGD --attention Eager": "bfloat16",
    "reproduce Paper -f CSV": "printed,computed,unit",
    "count bert_large": "335,141,888",
}


@pytest.mark.parametrize("line", SIMPLY_WORK)
def test_first_guesses_that_simply_work(line: str, run: Run) -> None:
    """Some need no answer; without arguments there is help on standard output."""
    result = run(*line.split())
    assert result.exit_code == 0
    assert SIMPLY_WORK[line] in result.stdout


@pytest.mark.parametrize(
    ("line", "named", "others"),
    [
        ("count roberta-bse", "roberta-base", "albert|xlm"),
        ("count bert-bse-uncased", "bert-base-uncased", "albert|roberta"),
        ("count albert-bse-v2", "albert-base-v2", r"\bbert-|roberta"),
        ("count base --formt json", "--format", "--lora"),
    ],
)
def test_suggestions_stay_in_the_family(line: str, named: str, others: str, run: Run) -> None:
    """A suggestion names the nearest of the family that was typed, and none of another."""
    result = run(*line.split())
    assert result.exit_code == 2
    assert named in result.stderr
    assert not re.search(others, result.stderr.replace(line.split()[1], ""))


def test_an_option_that_is_none_suggests_nothing(run: Run) -> None:
    """An option that no other is a slip of gets no suggestion."""
    assert "did you mean" not in run("embedding", "base", "--lora", "8").stderr


@pytest.mark.parametrize(
    "line",
    ["count --preset base --preset large", "count base -f json -f csv",
     "sweep base -E 1 -E 2", "compare --share all --share none"],
)  # fmt: skip
def test_an_option_counts_once(line: str, run: Run) -> None:
    """A repeated option is refused, where click alone would take the last."""
    result = run(*line.split())
    assert (result.exit_code, result.stdout) == (2, "")
    assert "given more than once: --" in result.stderr


def test_every_command_is_documented(run: Run) -> None:
    """-h and --help show what each command does, an example, and a line for every option."""
    general = run("-h").stdout
    wrong = []
    for name in NAMES:
        result = run(name, "-h")
        command = main.get_command(click.Context(main), name)
        assert command is not None
        options = [p for p in command.params if isinstance(p, click.Option)]
        sound = (
            result.exit_code == 0
            and result.stdout == run(name, "--help").stdout
            and f"  albert-calc {name}" in result.stdout
            and command.get_short_help_str(200)[:30] in general
            and all(p.help for p in options)
        )
        wrong += [] if sound else [name]
        # The command's own options come first, the sizes last.
        headings = re.findall(r"^(\w.*):$", result.stdout, re.M)
        assert headings == [h for h in HEADINGS if h in headings]
        assert not re.search(r"[a-z]-\n", result.stdout)
    assert wrong == []


def test_the_help_groups_commands(run: Run) -> None:
    """Commands stand under headings, in the order in which people need them."""
    text = run("-h").stdout
    places = [text.index(f"\n{h}:\n") for h in ("Count", "Compare", "Check", "Explore")]
    assert places == sorted(places)


def test_version(run: Run) -> None:
    """--version and -V print the version of the package."""
    for option in ("--version", "-V"):
        assert run(option).stdout.split() == ["albert-calc,", "version", albert_calc.__version__]


def test_heads_where_nothing_is_factorized(run: Run) -> None:
    """The paper's layout has no projection at E = H, and then nothing is called factorized."""
    args = ("compare", "base", "-E", "768", "--layout", "paper")
    rows = run(*args, "--ablation", "-f", "csv").stdout.splitlines()[1:]
    assert [row.split(",")[1:3] for row in rows] == [
        ["standard", "unshared layers"], ["standard", "shared layers"],
    ]  # fmt: skip


def test_an_ablation_of_nothing(run: Run) -> None:
    """Combinations that are the same model are shown once."""
    rows = run("compare", "base", "--share", "none", "--ablation", "-f", "csv").stdout
    assert len(rows.splitlines()) == 1 + 2


def test_nothing_fits_whatever_the_value(run: Run) -> None:
    """A count that does not depend on the size, but is too large, is not called any value."""
    args = "solve base --budget 1M --vary num-hidden-layers -f csv"
    result = run(*args.split())
    assert result.exit_code == 1
    assert result.stdout.splitlines()[1].startswith("no_value,")


def test_an_empty_value_is_none(run: Run) -> None:
    """A variable of a script that is not set does not go unnoticed, whatever option it is for."""
    faults = Faults()
    for name in NAMES:
        for parameter in command_of(name).params:
            if isinstance(parameter, click.Option) and not parameter.is_flag:
                option = max(parameter.opts, key=len)
                result = run(name, "base", option, "")
                faults.expect((name, option), (result.exit_code, result.stdout), (2, ""))
                told = f"error: an empty value: {option}" in result.stderr
                told = told or "is not one of" in result.stderr
                faults.expect((name, option, result.stderr), told, True)
    assert run("count", "").exit_code == 2
    for line in (
        "--freeze ,",
        "--lora 8 --lora-targets ,",
        "--lora 8 --train , --lora-targets key",
    ):
        result = run("count", "bert-tiny", *line.split())
        faults.expect(line, (result.exit_code, "must be names" in result.stderr), (2, True))
    faults.none()


OF_COMMANDS = {
    "count": "", "explain": "", "embedding": "", "layers": "", "compare": "", "cost": "",
    "sweep": "", "check": "--at-least 1", "solve": "--budget 120M --vary hidden-size",
}  # fmt: skip
"""The commands that take sizes, and what each needs besides."""

OF_FAMILIES = ("base", "bert-base-uncased", "distilbert-base-uncased", "modernbert-base",
               "mobilebert-uncased", "squeezebert-uncased", "deberta-base")  # fmt: skip
"""A model of each kind: with and without an E, groups, segments, or names of its own."""


@pytest.mark.parametrize("command", OF_COMMANDS)
def test_no_size_is_anything_but_a_whole_number(command: str, run: Run) -> None:
    """Of any model, whether its family has such a size or not."""
    faults = Faults()
    taken = {p.name for p in command_of(command).params}
    for model in OF_FAMILIES:
        own = family(load_preset(model).content["model_type"])
        for value in ("abc", "-1", "1.5", "9" * 40, "0"):
            wrong = [s for s in SIZES if s.key in taken and not (value == "0" and s.least == 0)]
            options = {f"--{s.key.replace('_', '-')}": s for s in wrong}
            for needed in OF_COMMANDS[command].split():
                options.pop(f"--{needed}", None)
            words = [word for option in options for word in (option, value)]
            result = run(command, model, *words, *OF_COMMANDS[command].split())
            found = (result.exit_code, result.stdout, "internal error" in result.stderr)
            faults.expect((command, model, value), found, (2, "", False))
            for size in options.values():
                told = [n for n in (size.key, own.name_of(size.key)) if f"{n}: " in result.stderr]
                faults.expect((command, model, value, size.key, "is told"), bool(told), True)
    faults.none()


ALONE = {
    "compare --head masked-lm": "--head needs a MODEL",
    "compare --share ffn": "--share needs a MODEL",
    "cost base --gpu list": "--gpu list prints the cards that are known, and goes alone",
    "cost --gpu list --memory 1GB": "and goes alone",
    "cost --gpu list -B 3": "and goes alone",
}
"""What goes with a model, or with nothing."""


@pytest.mark.parametrize("line", ALONE)
def test_what_says_nothing_here_is_refused(line: str, run: Run) -> None:
    """Rather than passed over."""
    result = run(*line.split())
    assert (result.exit_code, result.stdout) == (2, "")
    assert ALONE[line] in result.stderr


def test_a_projection_that_is_another(run: Run) -> None:
    """Where V × E + E × H is not what the model has, that is told."""
    for preset, told in (("mobilebert-uncased", True), ("base", False), ("rembert", False)):
        result = run("embedding", preset)
        assert ("its own projection is another" in result.stderr) is told
    total = loads(run, "compare", "mobilebert-uncased")[0]
    assert total["embedding"]["factorized"] == 3_972_352
    assert "4,103,424 parameters in all" in run("embedding", "mobilebert-uncased").stderr


def test_a_width_without_a_projection_may_fit_alone(run: Run) -> None:
    """In the paper's layout E = H can fit where every smaller E that is near does not."""
    args = ("base", "--layout", "paper")
    budget = run("count", *args, "-E", "768", "--total").stdout.strip()
    result = run("solve", *args, "--vary", "embedding-size", "--budget", budget)
    assert "embedding_size: 767 does not fit; at E = H there is no projection" in result.stderr


def test_a_model_with_a_presets_name_that_is_a_file(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file wins, and a note says so."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "base").write_text(json.dumps({**BASE, "vocab_size": 100}))
    result = run("count", "base")
    assert "note: base: the file of that name, not the preset" in result.stderr
    assert result.stdout != run("count", "--preset", "base").stdout


def test_the_local_cache(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cached file wins over a preset of the same id, is said to, and is counted as a model."""
    monkeypatch.setenv("HF_HUB_CACHE", str(DATA / "checkpoints" / "hub"))
    result = run("count", "albert/albert-base-v2", "--total")
    assert result.stdout == "3632\n"
    assert "read from the local Hugging Face cache, not from the preset" in result.stderr
    assert run("count", "albert-base-v2", "--total").stdout == "11683584\n"


def test_strict_keys(run: Run, tmp_path: Path) -> None:
    """A key that nobody knows is warned about, and with --strict refused."""
    path = tmp_path / "config.json"
    path.write_text(json.dumps({**BASE, "num_memory_tokens": 8}))
    assert "warning: num_memory_tokens: unknown" in run("count", path).stderr
    result = run("count", path, "--strict")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "error: num_memory_tokens: unknown" in result.stderr


def test_csv_of_two_models_has_their_totals(run: Run) -> None:
    """What the last line of the table says stands in CSV as well."""
    rows = list(csv.DictReader(io.StringIO(run("compare", "base", "large", "-f", "csv").stdout)))
    total, ratio = rows[-2:]
    assert (total["component"], total["base"], total["large"]) == ("total", "11750400", "17750784")
    assert total["difference"] == str(17_750_784 - 11_750_400)
    assert float(ratio["large"]) == pytest.approx(17_750_784 / 11_750_400)


@pytest.mark.parametrize("command", ["compare", "cost"])
def test_csv_keeps_models_of_one_name_apart(command: str, run: Run) -> None:
    """The same model twice has two columns."""
    header = run(command, "base", "base", "-f", "csv").stdout.splitlines()[0].split(",")
    assert header[:3] == ["component", "base", "base (2)"]


@pytest.mark.parametrize("model_type", FAMILIES)
def test_a_size_that_counts_nothing_refuses_nothing(model_type: str, run: Run) -> None:
    """What another head would make of it is told, where it can have that head."""
    result = run("count", "--model-type", model_type, "--num-labels", "9")
    assert (result.exit_code, "counts nothing here" in result.stderr) == (0, True)


def test_every_name_of_presets_is_known(run: Run) -> None:
    """One that is not is told, and not passed over beside others."""
    result = run("presets", "nonsuch", "albert")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.endswith("no preset has such a name or type, got 'nonsuch'\n")


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("count base xlarge --lora 0", ["lora: ", "one model at a time; "]),
        ("cost -B 0 --lora 0", ["batch_size: ", "lora: ", "no model: "]),
        ("check --equals x --lora 0", ["equals: ", "lora: ", "no model: "]),
        ("solve --budget x --vary H", ["no model: ", "budget: "]),
    ],
)
def test_a_model_that_lacks_is_told_beside_the_rest(line: str, told: list[str], run: Run) -> None:
    """As any other problem, and where help is."""
    result = run(*line.split())
    assert (result.exit_code, result.stdout) == (2, "")
    errors = result.stderr.splitlines()
    assert [e for e, start in zip(errors, told, strict=True) if f"error: {start}" not in e] == []
    name = line.split()[0]
    assert "no model: " not in told or f"'albert-calc {name} -h' has examples" in result.stderr


def test_an_option_that_is_needed(run: Run) -> None:
    """Without it the line is refused, with its name."""
    result = run("solve", "base", "--budget", "12M")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "error: Missing option '--vary'" in result.stderr
