"""``check``: true is 0, false is 1, and what cannot be told is 2."""

import csv
import io
import json
import os
import re
import tomllib
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
from conftest import Run
from support import BASE, Faults

from albert_calc.checks.bounds import Bounds, Measured, Tolerance, outcomes, read_bounds
from albert_calc.checks.file import read_checks
from albert_calc.checks.run import _other
from albert_calc.errors import AlbertCalcError
from albert_calc.models.lookup import Found, find_model
from albert_calc.writing.harmless import printable

# albert-base-v2 has 11,683,584 parameters: 46,734,336 bytes in float32 (counts.json).
BOUNDS: list[tuple[str, int, list[str]]] = [
    ("--equals 11683584", 0, ["equals"]),
    ("--equals 11,683,584", 0, ["equals"]),
    ("--equals 11683585", 1, ["equals"]),
    ("--equals 12M --tolerance 3%", 0, ["equals"]),
    ("--equals 12M --tolerance 2%", 1, ["equals"]),
    ("--equals 11683583 --tolerance 1", 0, ["equals"]),
    ("--equals 11683582 --tolerance 1", 1, ["equals"]),
    ("--equals 11683584 --tolerance 0%", 0, ["equals"]),
    ("--at-most 11683584", 0, ["at most"]),
    ("--at-most 11683583", 1, ["at most"]),
    ("--at-least 11683584", 0, ["at least"]),
    ("--at-least 11683585", 1, ["at least"]),
    ("--at-least 11M --at-most 12M", 0, ["at most", "at least"]),
    ("--at-least 11683584 --at-most 11683584", 0, ["at most", "at least"]),
    ("--at-least 0", 0, ["at least"]),
    (f"--at-most {10**24}", 0, ["at most"]),
    ("--equals 11683584 --at-most 11M", 1, ["equals", "at most"]),
    ("--at-most-bytes 46734336", 0, ["bytes in float32 at most"]),
    ("--at-most-bytes 46734335", 1, ["bytes in float32 at most"]),
    ("--at-most-bytes 23,367,168 --dtype float16", 0, ["bytes in float16 at most"]),
    ("--at-most-bytes 23.3MB --dtype bfloat16", 1, ["bytes in bfloat16 at most"]),
    ("--at-most-bytes 23.3MB --dtype FP16", 1, ["bytes in float16 at most"]),
    ("--same-as albert-base-v1", 0, ["same as albert-base-v1"]),
    ("--same-as albert-base-v1 --exactly", 0, ["same as albert-base-v1"]),
    ("--same-as albert/albert-base-v2", 0, ["same as albert/albert-base-v2"]),
    ("--same-as base --tolerance 1%", 0, ["same as base"]),
    ("--same-as base", 1, ["same as base"]),
    ("--same-as base --exactly", 1, ["same as base", "same as base: token embedding"]),
    ("--without-embeddings --equals 7777792", 0, ["equals"]),
]
"""Options beside albert-base-v2, the exit status, and the rules that are held."""


def test_bounds(run: Run) -> None:
    """Each bound is held against the count; one that fails makes the status 1."""
    faults = Faults()
    for options, status, rules in BOUNDS:
        args = ("check", "albert-base-v2", *options.split())
        result = run(*args, "-f", "json")
        data = json.loads(result.stdout)
        faults.expect(options, result.exit_code, status)
        faults.expect(options, [c["rule"] for c in data["checks"]], rules)
        faults.expect(options, data["ok"], status == 0)
        for check in data["checks"]:
            faults.expect(options, check["found"] - check["expected"], check["difference"])
        shown = run(*args)
        faults.expect(options, shown.exit_code, status)
        faults.expect(options, "FAILED" in shown.stdout, status == 1)
        quiet = run(*args, "-q")
        faults.expect(options, quiet.stdout, f"{data['summary']}\n")
        # A format that was asked for is what is written.
        for written in FORMATS[1:]:
            line = (*args, "-f", written)
            faults.expect((options, written), run(*line, "-q").stdout, run(*line).stdout)
    faults.none()


CANNOT: list[tuple[str, str]] = [
    ("base", "no bound: give equals, at_most, at_least, at_most_bytes or same_as"),
    ("base --tolerance 1%", "tolerance: goes with equals and same_as only"),
    ("base --equals x", "equals: must be a whole number from 0, such as 12M, got 'x'"),
    ("base --equals -1", "equals: must be a whole number from 0, such as 12M, got '-1'"),
    ("base --equals 1 --tolerance 1/2", "tolerance: must be like 1% or a whole number, got '1/2'"),
    ("base --at-least 2 --at-most 1", "at_least: must not be above at_most (1), got "),
    (f"base --equals {10**24 + 1}", "equals: must be a whole number from 0, such as 12M"),
    ("base --at-most-bytes 1x", "at_most_bytes: must be a whole number from 0, such as 500MB"),
    ("base --at-most 1 --dtype int8", "dtype: goes with at_most_bytes only"),
    ("base --at-most 1 --exactly", "exactly: goes with same_as only"),
    ("base --at-most 1 --dtype float32", "dtype: goes with at_most_bytes only"),
    ("--equals 1", "no model"),
    ("nope --equals 1", "model: must be a file, a directory with config.json, or a known name"),
    ("--preset nope --equals 1", "preset: must be a known name"),
    ("--config none.json --equals 1", "cannot be read"),
    ("base --equals 1 --same-as nope", "model: must be a file"),
    ("--checks none.toml", "cannot be read"),
    ("--checks none.toml base -E 3", "--checks contradicts --embedding-size"),
    ("--checks none.toml --share all", "--checks contradicts --share"),
    ("--checks none.toml --at-most 3", "--checks contradicts --at-most"),
    ("--checks none.toml --head masked-lm", "--checks contradicts --head"),
    ("--checks none.toml --layout paper", "--checks contradicts --layout"),
    ("--checks none.toml --type-vocab-size 0", "--checks contradicts --type-vocab-size"),
    ("--checks none.toml --no-tie-word-embeddings", "contradicts --tie-word-embeddings"),
    ("--checks none.toml --without-embeddings", "--checks contradicts --without-embeddings"),
    ("base --record --at-most 3", "--record contradicts --at-most"),
    ("base --record --checks x", "--record contradicts --checks"),
    ("base --record -f json", "--record contradicts --format"),
    ("--record", "no model"),
    ("bert-tiny --at-most 1 --trainable --without-embeddings", "without_embeddings: goes without"),
    ("bert-tiny --same-as base --exactly --trainable", "exactly: goes without trainable"),
]
"""Command lines that cannot be told true or false, and a part of the reason."""


def test_what_cannot_be_told(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit 2 with the reason and an empty stdout: a broken check never looks like a false one."""
    monkeypatch.chdir(tmp_path)
    faults = Faults()
    for line, problem in CANNOT:
        result = run("check", *line.split())
        faults.expect(line, (result.exit_code, result.stdout), (2, ""))
        faults.expect(line, problem in result.stderr or result.stderr, True)
    faults.none()


def test_percentages_are_exact() -> None:
    """A tolerance is held to the last parameter, also where a float would round."""
    big = 10**18
    one = read_bounds({"equals": big, "tolerance": "0.1%"}).tolerance
    assert one == Tolerance(numerator=1, denominator=1000)
    assert one.allows(big, big + big // 1000)
    assert not one.allows(big, big + big // 1000 + 1)
    assert not one.allows(big, big - big // 1000 - 1)


def test_outcomes_from_python() -> None:
    """What a bound says, without a command: rule, expected, found, difference."""
    found = Measured(100, {"a": 60, "b": 40}, 400)
    same = Measured(100, {"a": 50, "c": 50}, 400)
    bounds = Bounds(at_most=99, at_most_bytes=400, same_as="x", exactly=True)
    results = outcomes(found, bounds, same)
    assert [(o.rule, o.difference, o.holds) for o in results] == [
        ("at most", 1, False),
        ("bytes in float32 at most", 0, True),
        ("same as x", 0, True),
        ("same as x: a", 10, False),
        ("same as x: c", -50, False),
        ("same as x: b", 40, False),
    ]


def test_bounds_from_python() -> None:
    """Bounds with problems raise the package's error with all of them."""
    with pytest.raises(AlbertCalcError) as error:
        read_bounds({"equals": -1, "tolerance": [], "dtype": "float8", "exactly": 1, "same_as": 5})
    assert [p.split(":")[0] for p in error.value.problems] == [
        "equals", "tolerance", "dtype", "same_as", "exactly", "dtype",
    ]  # fmt: skip


def configs(folder: Path) -> Path:
    """A folder with three configs: two that can be read, and one that cannot."""
    (folder / "model").mkdir(exist_ok=True)
    (folder / "model" / "config.json").write_text(json.dumps(BASE))
    (folder / "small.json").write_text(json.dumps({**BASE, "vocab_size": 100}))
    (folder / "broken.json").write_text("{")
    return folder


def test_several_models(run: Run, tmp_path: Path) -> None:
    """Every result that can be told is written; one that cannot is a row that says so."""
    folder = configs(tmp_path)
    line = ("check", folder / "small.json", folder / "broken.json", "albert-base-v2")
    result = run(*line, "--at-most", "8M", "-f", "json")
    data = json.loads(result.stdout)
    assert result.exit_code == 2
    assert [c["ok"] for c in data["checks"]] == [True, None, False]
    assert "not valid JSON" in data["checks"][1]["error"]
    assert data["summary"] == "3 checks: 1 holds, 1 does not, 1 cannot be checked"
    assert data["ok"] is False
    shown = run(*line, "--at-most", "8M")
    assert shown.stdout.count("FAILED") == 1
    assert data["summary"] in shown.stdout
    good = run("check", folder / "small.json", folder / "model", "--at-most", "12M")
    assert (good.exit_code, "2 checks: 2 hold" in good.stdout) == (0, True)


FILE = """
[[check]]
name = "base"
preset = "albert-base-v2"
equals = 11_683_584

[[check]]
name = "masked"
config = "model"
head = "masked-lm"
at_most = "12M"
at_least = 11_000_000

[[check]]
preset = "base"
layout = "handbook"
share = "all"
equals = 11_000_000
tolerance = "2%"

[[check]]
config = "[ms]*.json"
same_as = "albert-base-v2"
tolerance = "4M"

[[check]]
preset = "bert-base-uncased"
without_embeddings = true
equals = 85_646_592
"""


def write(folder: Path, text: str) -> Path:
    """A checks file beside a folder with configs."""
    configs(folder)
    path = folder / "checks.toml"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    return path


def rows_of(run: Run, *line: object) -> list[dict[str, Any]]:
    """The rows that a check writes as JSON."""
    rows: list[dict[str, Any]] = json.loads(run("check", *line, "-f", "json").stdout)["checks"]
    return rows


def test_a_file_of_checks(run: Run, tmp_path: Path) -> None:
    """All checks are reported; paths and patterns are relative to the file; one fails all."""
    path = write(tmp_path, FILE)
    rows = rows_of(run, "--checks", path)
    assert run("check", "--checks", path).exit_code == 0
    assert [r["name"] for r in rows] == [
        "base", "masked", "masked", "check 3", "check 4", "check 5",
    ]  # fmt: skip
    assert [r["found"] for r in rows] == [
        11_683_584, 11_221_680, 11_221_680, 11_161_088, 7_856_384, 85_646_592,
    ]  # fmt: skip
    path = write(tmp_path, FILE.replace("11_683_584", "1"))
    assert run("check", "--checks", path).exit_code == 1
    assert [r["ok"] for r in rows_of(run, "--checks", path)] == [False, *[True] * 5]


def test_patterns(run: Run, tmp_path: Path) -> None:
    """A pattern stands for every file that fits it, each a row with its name; none is an error."""
    path = write(tmp_path, "[[check]]\nname = 'all'\nconfig = '*.json'\nat_most = '12M'\n")
    (tmp_path / "third.json").write_text(json.dumps(BASE))
    rows = rows_of(run, "--checks", path)
    assert [Path(r["name"].removeprefix("all: ")).name for r in rows] == [
        "broken.json", "small.json", "third.json",
    ]  # fmt: skip
    assert [r["ok"] for r in rows] == [None, True, True]
    assert run("check", "--checks", path).exit_code == 2
    result = run("check", "--checks", write(tmp_path, "[[check]]\nconfig = 'x*'\nequals = 1\n"))
    assert (result.exit_code, result.stdout) == (2, "")
    assert "config: no file fits the pattern 'x*'" in result.stderr


def test_the_class_of_a_config_in_a_file(run: Run, tmp_path: Path) -> None:
    """A config is counted with the head of its class, unless the check names another."""
    path = write(tmp_path, "[[check]]\nconfig = 'masked.json'\nequals = 11_221_680\n")
    masked = {**BASE, "architectures": ["AlbertForMaskedLM"]}
    (tmp_path / "masked.json").write_text(json.dumps(masked))
    (row,) = rows_of(run, "--checks", path)
    assert (row["head"], row["ok"]) == ("masked-lm", True)
    path.write_text(path.read_text() + "head = 'model'\n")
    (row,) = rows_of(run, "--checks", path)
    assert (row["head"], row["found"], row["ok"]) == ("model", 11_683_584, False)


def test_a_pipe_in_a_file_is_not_read(run: Run, tmp_path: Path) -> None:
    """A checks file may come from anybody, and nobody may be writing into the pipe."""
    os.mkfifo(tmp_path / "pipe.json")
    path = write(tmp_path, "[[check]]\nconfig = 'pipe.json'\nequals = 1\n")
    result = run("check", "--checks", path)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "must be a regular file" in result.stderr


def test_checks_that_concern_a_model(run: Run, tmp_path: Path) -> None:
    """With a MODEL only its own checks of the file are carried out, as a hook asks for it."""
    path = write(tmp_path, FILE)
    for model, names in (
        ("albert-base-v2", ["base"]),
        (tmp_path / "model" / "config.json", ["masked", "masked"]),
        (tmp_path / "model", ["masked", "masked"]),
        (tmp_path / "small.json", ["check 4"]),
        (tmp_path / "broken.json", []),
    ):
        assert [r["name"] for r in rows_of(run, model, "--checks", path)] == names
    both = rows_of(run, "albert-base-v2", tmp_path / "small.json", "--checks", path)
    assert [r["name"] for r in both] == ["base", "check 4"]


def test_models_of_other_names(run: Run, tmp_path: Path) -> None:
    """An alias, a title, a hub id and a link are the model that a check is of."""
    path = write(
        tmp_path,
        "[[check]]\npreset = 'bert-base-uncased'\nequals = 109_482_240\n"
        "[[check]]\npreset = 'albert/albert-base-v2'\nat_most = '12M'\n"
        "[[check]]\npreset = 'ALBERT-Large'\nat_most = '20M'\n"
        "[[check]]\nconfig = './model/../small.json'\nat_most = '12M'\n"
        '[[check]]\nconfig = "a\\u0000b"\nequals = 1\n',
    )
    (tmp_path / "link.json").symlink_to(tmp_path / "small.json")
    for line, number in (
        ("bert-base", 1),
        ("google-bert/bert-base-uncased", 1),
        ("--preset BERT-Base", 1),
        ("albert-base-v2", 2),
        ("large", 3),
        (f"{tmp_path}/link.json", 4),
        (f"--config {tmp_path}/model/../link.json", 4),
    ):
        rows = rows_of(run, *line.split(), "--checks", path)
        assert [r["name"] for r in rows] == [f"check {number}"], line
        assert "warning" not in run("check", *line.split(), "--checks", path).stderr, line


def test_one_file_of_a_pattern(run: Run, tmp_path: Path) -> None:
    """Of the files that a pattern fits, only the one that was named is held."""
    path = write(tmp_path, "[[check]]\nname = 'all'\nconfig = '*.json'\nat_most = '12M'\n")
    (row,) = rows_of(run, tmp_path / "small.json", "--checks", path)
    assert row["name"].startswith("all: ")
    assert row["file"].endswith("small.json")
    broken = run("check", tmp_path / "broken.json", "--checks", path)
    assert (broken.exit_code, broken.stdout) == (2, "")
    assert "not valid JSON" in broken.stderr


def test_many_checks_against_one_model_read_it_once(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever a check is held against is read once for each head and layout."""
    configs(tmp_path)
    monkeypatch.chdir(tmp_path)
    text = "".join(
        f"[[check]]\npreset = 'albert-base-v{1 + i % 2}'\nsame_as = 'small.json'\n"
        for i in range(100)
    )
    Path("many.toml").write_text(text, encoding="utf-8")
    asked: list[str] = []

    def counting(name: str, *, near: bool) -> Found:
        asked.append(name)
        return find_model(name, near=near)

    monkeypatch.setattr("albert_calc.checks.run.find_model", counting)
    _other.cache_clear()
    assert len(rows_of(run, "--checks", "many.toml")) == 100
    assert asked == ["small.json"]
    _other.cache_clear()
    Path("small.json").write_text("{", encoding="utf-8")
    result = run("check", "--checks", "many.toml")
    assert (result.exit_code, result.stderr.count("not valid JSON")) == (2, 20)
    assert asked == ["small.json"] * 2


FORMATS = ("table", "markdown", "json", "csv", "github", "junit")


@pytest.mark.parametrize("format", FORMATS)
def test_models_that_no_check_concerns(
    format: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are no failure, but a warning each; a model that does not exist is an error."""
    path = write(tmp_path, "[[check]]\nname = 'one'\nconfig = 'small.json'\nat_most = '12M'\n")
    monkeypatch.chdir(tmp_path)
    line = ("--checks", path.name, "-f", format)
    other = run("check", "broken.json", "base", *line)
    assert other.exit_code == 0
    assert other.stderr.splitlines() == [
        "warning: broken.json: no check in checks.toml concerns it",
        "warning: base: no check in checks.toml concerns it",
    ]
    if format in ("table", "markdown"):
        assert other.stdout == "0 checks\n"
    elif format != "csv":
        assert "0 checks" in other.stdout or 'tests="0"' in other.stdout
    if format == "table":
        assert run("check", "base", *line, "-q").stdout == "0 checks\n"
    both = run("check", "base", "small.json", *line)
    assert (both.exit_code, "one" in both.stdout or format == "github") == (0, True)
    assert both.stderr == "warning: base: no check in checks.toml concerns it\n"
    for missing, reason in (("none.json", "got 'none.json'"), ("nope", "got 'nope'")):
        alone = run("check", missing, *line)
        told = format in ("github", "junit")
        assert (alone.exit_code, reason in alone.stdout) == (2, told), missing
        assert reason in alone.stderr
        beside = run("check", missing, "base", "small.json", *line)
        assert beside.exit_code == 2
        assert reason in beside.stderr
        assert "warning: base: no check" in beside.stderr
    for option in (("--preset", "nope"), ("--config", "none.json"), (tmp_path / "none",)):
        refused = run("check", *option, *line)
        assert (refused.exit_code, bool(refused.stdout)) == (2, told), option
    empty = write(tmp_path, "# nothing yet\n")
    result = run("check", "--checks", empty.name, "-f", format)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == "error: checks.toml: has no [[check]] table\n"
    assert run("check", "base", "--checks", empty.name, "-f", format).exit_code == 0


def test_many_models_that_no_check_concerns(run: Run, tmp_path: Path) -> None:
    """Twenty are named and the others counted."""
    path = write(tmp_path, "")
    for number in range(30):
        (tmp_path / f"{number}.json").write_text("{}")
    names = [tmp_path / f"{number}.json" for number in range(30)]
    said = run("check", *names, "--checks", path).stderr.splitlines()
    assert len(said) == 21
    assert said[-1] == "warning: and 10 more that no check concerns"


def test_short_names_of_dtypes(run: Run, tmp_path: Path) -> None:
    """A file may say fp16 as the option may."""
    text = "[[check]]\npreset = 'base'\nat_most_bytes = '24MB'\ndtype = '{}'\n"
    names = ("fp16", "float16", "bf16", "fp32", "FP32")
    rows = rows_of(run, "--checks", write(tmp_path, "".join(map(text.format, names))))
    assert [r["rule"].split()[2] for r in rows] == [
        "float16", "float16", "bfloat16", "float32", "float32",
    ]  # fmt: skip


def test_each_warning_once(run: Run, tmp_path: Path) -> None:
    """What is odd about a model is said once, however often it is read; of many, the first."""
    ignored = "embedding_size: ignored, since bert has no projection"
    for names in (["bert-base-uncased"], ["bert-base-uncased"] * 2, ["--preset", "bert-base"]):
        stderr = run("check", *names, "-E", 64, "--equals", 1).stderr
        assert stderr.count(ignored) == 1, names
        assert (f"warning: {ignored}" in stderr) == (len(set(names)) == len(names)), names
    odd = {**BASE, "surplus_size": 3}
    paths = [tmp_path / f"{number}.json" for number in range(30)]
    for path in paths:
        path.write_text(json.dumps({**odd, "model_type": "bert", "embedding_size": 64}))
    said = run("check", *paths, "--at-most", "1B").stderr.splitlines()
    assert len(said) == 21
    assert said[-1].startswith("warning: and ")


@pytest.mark.parametrize("format", FORMATS)
def test_many_that_fail_and_many_that_cannot_be_read(format: str, run: Run, tmp_path: Path) -> None:
    """Twenty are named on stderr and the others counted; what cannot be read decides."""
    false = "[[check]]\npreset = 'base'\nequals = 1\n"
    unread = "[[check]]\nconfig = 'none.json'\nequals = 1\n"
    path = write(tmp_path, (false + unread) * 700)
    result = run("check", "--checks", path, "-f", format)
    said = result.stderr.splitlines()
    assert (result.exit_code, len(said)) == (2, 21)
    assert said[-1] == "error: and 680 more that cannot be checked"
    assert run("check", "--checks", write(tmp_path, false * 1400), "-f", format).exit_code == 1
    names = [tmp_path / f"none-{number}.json" for number in range(30)]
    typed = run("check", "base", *names, "--equals", 1, "-f", format)
    assert (typed.exit_code, len(typed.stderr.splitlines())) == (2, 21)


def test_columns_for_people(run: Run, tmp_path: Path) -> None:
    """The result stands beside the check; a tolerance has a column where there is one."""
    with_one = "[[check]]\npreset = 'base'\nequals = '12M'\ntolerance = '5%'\n"
    path = write(tmp_path, with_one + "[[check]]\npreset = 'base'\nat_most = '12M'\n")
    table = run("check", "--checks", path).stdout.splitlines()
    assert table[0].split() == [
        "check", "result", "rule", "tolerance", "expected", "found", "difference",
    ]  # fmt: skip
    line = ("check", "base", "--at-most", "12M")
    assert "tolerance" not in run(*line).stdout + run(*line, "-f", "markdown").stdout
    keys = "name,head,layout,rule,tolerance,expected,found,difference,error,file,ok"
    assert run(*line, "-f", "csv").stdout.splitlines()[0] == keys
    assert ",".join(rows_of(run, *line[1:])[0]) == keys


BAD: list[tuple[str, str]] = [
    ("check = 1", "has no [[check]] table"),
    ("[check]\npreset = 'base'", "check: must stand in double brackets"),
    ("check = [1]", "check 1: must be a table, got 1"),
    ("x = [", "not valid TOML"),
    ("\n\n[[check]]\npreset = 'base'\nat_most = 110M", "(at line 5, column"),
    ("x = " + "[" * 1500, "1,500 brackets; at most 50 in a line"),
    ("x = " + "[" * 50_000, "a line of 50,004 characters; at most 2,000"),
    ("x = " + "9" * 1900, "'x': is no key here"),
    ("x = '\udc80'", "not UTF-8"),
    ("y = 1\n" + FILE, "'y': is no key here, only [[check]]"),
    (FILE + "typo = 1", "check 5: 'typo': must be one of name, preset"),
    (FILE + "equal = 1", "check 5: 'equal': is no key of a check; did you mean equals?"),
    (FILE + "tolerence = 1", "'tolerence': is no key of a check; did you mean tolerance?"),
    (FILE + "AT-MOST = 1", "'AT-MOST': is no key of a check; did you mean at_most?"),
    (FILE + "config = 'model'", "check 5: must name either a preset or a config"),
    ("[[check]]\nequals = 1", "check 1: must name either a preset or a config"),
    ("[[check]]\npreset = 'base'", "check 1: no bound"),
    ("[[check]]\npreset = 5\nequals = 1", "check 1: preset: must be text, got 5"),
    ("[[check]]\npreset = 'base'\nequals = 1.5", "such as 12M, got 1.5"),
    ("[[check]]\npreset = 'base'\nequals = true", "such as 12M, got true"),
    ("[[check]]\npreset = 'base'\nequals = 1\nwithout_embeddings = 1", "must be true or false"),
    ("[[check]]\nconfig = '-'\nequals = 1", "must be a file, a directory or a pattern, got '-'"),
    ("a." * 900 + "b = 1", "900 dots; at most 50 in a line"),
    ("x = {" * 60, "60 braces; at most 50 in a line"),
    ("x = [" + "1," * 60 + "]", "60 commas; at most 50 in a line"),
    ('x = """\n"""', "text over several lines"),
    ("[[check]]\n" + "a = 1\n" * 50, "a check of 51 lines; at most 40"),
    ("\n\n[[check]]\npreset = 'base'\nequals = ]", "at line 5"),
    ("[[check]]\n" * 100_001, "has 100,001 checks; at most 100,000 are read"),
]
"""Files of checks with something wrong, and a part of the reason."""


def test_bad_files_of_checks(run: Run, tmp_path: Path) -> None:
    """A file with anything wrong is refused whole, before the first of its checks is told."""
    faults = Faults()
    for text, problem in BAD:
        result = run("check", "--checks", write(tmp_path, text))
        faults.expect(text[:40], (result.exit_code, result.stdout), (2, ""))
        faults.expect(text[:40], problem in result.stderr or result.stderr[:200], True)
        faults.expect(text[:40], len(result.stderr.splitlines()) <= 21, True)
    faults.none()


UNREADABLE: list[tuple[str, str]] = [
    ("preset = 'base'\nhead = 'x'", "head: must be one of model"),
    ("preset = 'base'\nhead = 'mlm'", "for albert (did you mean masked-lm?), got 'mlm'"),
    ("preset = 'base'\nhead = 'Masked_LM'", "(did you mean masked-lm?), got 'Masked_LM'"),
    ("preset = 'base'\nlayout = 'x'", "layout: must be one of transformers"),
    ("preset = 'base'\nshare = 'x'", "share: must be one of all"),
    ("preset = 'nope'", "preset: must be a known name"),
    ("config = 'none'", "cannot be read"),
    ("config = 'a\\u0000b'", "cannot be read"),
    ("preset = 'base'\nsame_as = 'nope'", "model: must be a file"),
]
"""Checks whose model cannot be read, and what their row says."""


def test_checks_of_models_that_cannot_be_read(run: Run, tmp_path: Path) -> None:
    """The row says why, the others are told all the same, and the status is 2."""
    faults = Faults()
    good = "[[check]]\npreset = 'base'\nat_most = 10\n"
    for text, problem in UNREADABLE:
        path = write(tmp_path, f"[[check]]\n{text}\nequals = 1\n{good}")
        result = run("check", "--checks", path, "-f", "json")
        broken, other = json.loads(result.stdout)["checks"]
        faults.expect(text, (result.exit_code, broken["ok"], other["ok"]), (2, None, False))
        faults.expect(text, problem in broken["error"] or broken, True)
    faults.none()


def test_all_problems_of_one_check_at_once(run: Run, tmp_path: Path) -> None:
    """Whatever is wrong with a check's model is said in its row."""
    wrong = "[[check]]\npreset = 'base'\nhead = 'x'\nlayout = 'y'\nshare = 'z'\nat_most = '12M'\n"
    good = "[[check]]\npreset = 'base'\nat_most = '12M'\n"
    row, _ = rows_of(run, "--checks", write(tmp_path, wrong + good))
    assert [p.split(":")[0] for p in row["error"].split("; ")] == ["share", "head", "layout"]


def test_all_problems_of_a_file_at_once(run: Run, tmp_path: Path) -> None:
    """The problems of every check are said in one go, as far as one can read them."""
    path = write(tmp_path, "[[check]]\nequals = 'x'\n[[check]]\npreset = 'nope'\nat_most = -1\n")
    stderr = run("check", "--checks", path).stderr
    assert "check 1: must name either" in stderr
    assert "check 1: equals: must be" in stderr
    assert "check 2: at_most: must be" in stderr
    many = write(tmp_path, "[[check]]\n" * 1000)
    assert len(run("check", "--checks", many).stderr.splitlines()) <= 21


def test_names_are_made_harmless(run: Run, tmp_path: Path) -> None:
    """A name from a file is neither obeyed by a terminal nor taken for markup."""
    path = write(tmp_path, "[[check]]\nname = '\\u001b[2J[red]'\npreset = 'base'\nequals = 1")
    path = write(tmp_path, path.read_text().replace("'\\u", '"\\u').replace("]'", ']"'))
    result = run("check", "--checks", path)
    assert result.exit_code == 1
    assert "\x1b" not in result.stdout
    assert r"\x1b[2J[red]" in result.stdout


def test_a_file_may_be_long(run: Run, tmp_path: Path) -> None:
    """Two thousand checks are read and told; of a table only what does not hold is shown."""
    one = "[[check]]\npreset = 'base'\nequals = 11750400\n"
    path = write(tmp_path, one * 2_000 + one.replace("11750400", "1"))
    listed = list(read_checks(str(path)))
    assert (len(listed), listed[-1].number) == (2_001, 2_001)
    result = run("check", "--checks", path)
    assert result.exit_code == 1
    assert "2,001 checks: 2,000 hold, 1 does not" in result.stdout
    assert result.stdout.count("11,750,400") == 1
    assert len(rows_of(run, "--checks", path)) == 2_001


def test_what_is_not_a_file(run: Run, tmp_path: Path) -> None:
    """A directory, a device, a file that is too large: each is refused with its reason."""
    large = tmp_path / "large.toml"
    with large.open("wb") as file:
        file.truncate(17 * 2**20)
    for path, reason in (
        (tmp_path, "must be a regular file"),
        (Path("/dev/zero"), "must be a regular file"),
        (large, "larger than 16 MiB, so not a checks file"),
    ):
        result = run("check", "--checks", path)
        assert (result.exit_code, result.stdout) == (2, "")
        assert reason in result.stderr


def test_record_writes_a_file_that_holds(run: Run, tmp_path: Path) -> None:
    """Today's counts as checks: they are read back, hold, and fail once a config has changed."""
    folder = configs(tmp_path)
    odd = folder / 'odd "name"\x7f.json'
    odd.write_text(json.dumps({**BASE, "architectures": ["AlbertForMaskedLM"]}))
    models = (folder / "model", folder / "small.json", odd, "base")
    result = run("check", *models, "--record")
    assert result.exit_code == 0
    tables = tomllib.loads(result.stdout)["check"]
    assert [(t["head"], t["equals"]) for t in tables] == [
        ("model", 11_683_584), ("model", 7_856_384), ("masked-lm", 11_221_680),
        ("model", 11_750_400),
    ]  # fmt: skip
    path = folder / "recorded.toml"
    path.write_text(result.stdout)
    assert run("check", "--checks", path).exit_code == 0
    path.write_text(result.stdout.replace("7856384", "7856385"))
    assert run("check", "--checks", path).exit_code == 1
    paper = run("check", "base", "--layout", "paper", "--record").stdout
    assert tomllib.loads(paper)["check"][0]["layout"] == "paper"
    refused = run("check", "-", "base", "--record", input=json.dumps(BASE))
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "must be a preset or a file, which a check can name" in refused.stderr
    broken = run("check", folder / "broken.json", "--record")
    assert (broken.exit_code, broken.stdout) == (2, "")


HOSTILE = 'x"/><failure/>\n::error file=/etc/passwd::%0A]]>&'


def hostile(folder: Path) -> Path:
    """A file of a check that holds, one that does not, and one that cannot be read."""
    name = json.dumps(HOSTILE)
    return write(
        folder,
        f"[[check]]\nname = {name}\npreset = 'base'\nequals = 11750400\n"
        f"[[check]]\nname = {name}\npreset = 'base'\nequals = 1\ntolerance = '1%'\n"
        f"[[check]]\nname = {name}\nconfig = 'none.json'\nequals = 1\n",
    )


def test_annotations(run: Run, tmp_path: Path) -> None:
    """GitHub gets a line for each check that does not hold, with its file, and a summary."""
    result = run("check", "--checks", hostile(tmp_path), "-f", "github")
    assert result.exit_code == 2
    false, unread, summary = result.stdout.splitlines()
    assert false.startswith("::error title=albert-calc x")
    assert false.endswith("::equals 1 ± 1%25, found 11,750,400 (+11,750,399)")
    assert unread.startswith("::error file=")
    assert "none.json,title=albert-calc" in unread
    assert (
        summary == "::error title=albert-calc::3 checks: 1 holds, 1 does not, 1 cannot be checked"
    )
    assert "::error file=/etc/passwd" not in result.stdout
    good = run("check", "base", "--at-most", "12M", "-f", "github")
    assert good.stdout == "::notice title=albert-calc::1 check: 1 holds\n"


def test_a_summary_of_a_job(run: Run, tmp_path: Path) -> None:
    """Where GitHub names a file for it, the results are added to it as Markdown."""
    path = tmp_path / "summary.md"
    path.write_text("before\n")
    env = {"GITHUB_STEP_SUMMARY": str(path)}
    run("check", "base", "--at-most", "12M", "-f", "github", env=env)
    before, *lines = path.read_text().splitlines()
    assert before == "before"
    assert any(line.startswith("| base | ok | at most |") for line in lines)
    run("check", "base", "--at-most", "12M", "-f", "json", env=env)
    assert path.read_text().splitlines() == [before, *lines]


def test_junit(run: Run, tmp_path: Path) -> None:
    """JUnit XML has a case for each check: a failure where it is false, an error where unread."""
    result = run("check", "--checks", hostile(tmp_path), "-f", "junit")
    suite = ET.fromstring(result.stdout)
    assert suite.attrib["tests"] == "3"
    assert (suite.attrib["failures"], suite.attrib["errors"]) == ("1", "1")
    holds, false, unread = suite.iter("testcase")
    assert [len(list(case)) for case in (holds, false, unread)] == [0, 1, 1]
    assert holds.attrib["name"].startswith('x"/><failure/>')
    assert "found 11,750,400" in false[0].attrib["message"]
    assert (false[0].tag, unread[0].tag) == ("failure", "error")
    assert unread.attrib["file"].endswith("none.json")


NAMES = (
    "]]>",
    "</failure></testcase>",
    "a\x00\x1b[31m\x7f\x85\u2028\ufffe\ud800b",
    "::error::x",
    "\n::error::x",
    "a,file=/etc/passwd",
    "title=x::y",
    "100%0A::warning::x",
    "\r\n##[error]x",
    "<!-- x",
    "&lt;",
    "'\"",
)
"""Names of checks that a format could take for its own signs; every one must be read back."""


def written_by(run: Run, folder: Path, format: str) -> str:
    """A check that holds, one that does not, and one that cannot be read, for each of ``NAMES``."""
    names = [json.dumps(n).replace("\x7f", "\\u007f").replace("\\ud800", "") for n in NAMES]
    path = write(
        folder,
        "".join(
            f"[[check]]\nname = {name}\npreset = 'base'\nequals = 11750400\n"
            f"[[check]]\nname = {name}\npreset = 'base'\nequals = 1\n"
            f"[[check]]\nname = {name}\nconfig = 'no, %25::]]></error>&.json'\nequals = 1\n"
            for name in names
        ),
    )
    return run("check", "--checks", path, "-f", format).stdout


def seen(name: str) -> str:
    """*name* as every format shows it: what cannot be seen is escaped."""
    return printable(name.replace("\ud800", ""))


def test_junit_as_its_readers_need_it(run: Run, tmp_path: Path) -> None:
    """Suites hold suites hold cases, all named; the counts add up; no name is taken for markup."""
    suites = ET.fromstring(written_by(run, tmp_path, "junit"))
    cases = 3 * len(NAMES)
    counts = {"tests": cases, "failures": cases // 3, "errors": cases // 3}
    assert (suites.tag, [suite.tag for suite in suites]) == ("testsuites", ["testsuite"])
    (suite,) = suites
    for element in (suites, suite):
        assert element.attrib["name"]
        assert {key: int(element.attrib[key]) for key in counts} == counts
    assert (suite.attrib["skipped"], float(suite.attrib["time"])) == ("0", 0.0)
    found = []
    for case in suite:
        assert case.tag == "testcase"
        assert case.attrib["classname"] == "albert-calc.check"
        assert float(case.attrib["time"]) == 0.0
        for problem in case:
            assert set(problem.attrib) == {"message", "type"}
            assert problem.text == problem.attrib["message"]
            assert len(problem) == 0
        found.append((case.attrib["name"], [problem.tag for problem in case]))
    assert found == [
        (f"{seen(name)}{rule}", tags)
        for name in NAMES
        for rule, tags in ((" equals", []), (" equals", ["failure"]), ("", ["error"]))
    ]


COMMAND = re.compile(r"::(?P<name>[a-z]+)(?: (?P<properties>[^:]*(?::(?!:)[^:]*)*))?::(?P<data>.*)")
"""A workflow command as GitHub's runner takes a line apart: up to the first ``::``."""


def unescaped(text: str, signs: str) -> str:
    """*text* with the *signs* that the runner puts back, the per cent sign last."""
    for sign in f"{signs}%":
        text = text.replace(f"%{ord(sign):02X}", sign)
    return text


def test_annotations_as_the_runner_reads_them(run: Run, tmp_path: Path) -> None:
    """Each line is one command with the title and the file that were meant, and no other."""
    *lines, last = written_by(run, tmp_path, "github").split("\n")
    assert (len(lines), last) == (2 * len(NAMES) + 1, "")
    titles, files = [], set()
    for line in lines:
        match = COMMAND.fullmatch(line)
        assert match, line
        assert match["name"] == "error"
        pairs = [pair.split("=", 1) for pair in match["properties"].split(",")]
        properties = {key: unescaped(value, "\r\n:,") for key, value in pairs}
        assert set(properties) <= {"title", "file"}
        titles.append(properties["title"])
        files.add(properties.get("file", ""))
        assert "\n" not in unescaped(match["data"], "\r\n")
    assert titles[:-1] == [f"albert-calc {seen(name)}" for name in NAMES for _ in range(2)]
    assert files == {"", f"{tmp_path}/no, %25::]]></error>&.json"}


def test_formats_hold_the_same_rows(run: Run, tmp_path: Path) -> None:
    """JSON, CSV and Markdown tell the same of every check."""
    line = ("check", "--checks", write(tmp_path, FILE), "-f")
    data = json.loads(run(*line, "json").stdout)["checks"]
    table = list(csv.DictReader(io.StringIO(run(*line, "csv").stdout)))
    assert [(r["name"], int(r["found"])) for r in table] == [(r["name"], r["found"]) for r in data]
    markdown = run(*line, "markdown").stdout
    for row in data:
        assert f"{row['found']:,}" in markdown


def test_a_summary_must_be_a_file(run: Run, tmp_path: Path) -> None:
    """A FIFO as the summary of a workflow would block for ever."""
    os.mkfifo(tmp_path / "summary")
    env = {"GITHUB_STEP_SUMMARY": str(tmp_path / "summary")}
    result = run("check", "base", "--at-least", "1", "-f", "github", env=env)
    assert result.exit_code == 2
    assert "summary: must be a regular file" in result.stderr


def test_patterns_end(run: Run, tmp_path: Path) -> None:
    """``**`` finds what lies below, follows no loop of links, and stands once."""
    for place in ("a.json", "x/a.json", "x/y/a.json"):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_text(json.dumps(BASE), encoding="utf-8")
    (tmp_path / "x/loop").symlink_to(tmp_path)
    (tmp_path / "x/again").symlink_to(tmp_path)
    checks = tmp_path / "checks.toml"
    for pattern, wanted in (
        ("**/a.json", 3), ("x/**/a.json", 2), ("*.json", 1), ("x/*/a.json", 3),
        ("**/**/a.json", "** may stand once"), ("x/**", "** may stand once"),
        ("/".join(["*"] * 25), "at most 8 parts may have wildcards"),
    ):  # fmt: skip
        checks.write_text(f'[[check]]\nconfig = "{pattern}"\nat_least = 1\n', encoding="utf-8")
        result = run("check", "--checks", checks, "-f", "json")
        if isinstance(wanted, int):
            assert len(json.loads(result.stdout)["checks"]) == wanted, pattern
        else:
            assert (result.exit_code, wanted in result.stderr) == (2, True), pattern


MISSPELT = {
    "[[chekc]]": "'chekc': is no key here, only [[check]]",
    "[checks]": "'checks': is no key here, only [[check]]",
    "[other]": "'other': is no key here, only [[check]]",
    "[check]": "not valid TOML",
}
"""Headers that are none of a check."""


@pytest.mark.parametrize("header", MISSPELT)
def test_no_check_is_lost(header: str, run: Run, tmp_path: Path) -> None:
    """Before, between and after checks, another table is refused and passed over nowhere."""
    good = "[[check]]\npreset = 'base'\nat_least = 1\n"
    other = f"{header}\npreset = 'base'\nequals = 1\n"
    path = tmp_path / "checks.toml"
    for text in (other + good, good + other + good, good + other):
        path.write_text(text, encoding="utf-8")
        result = run("check", "--checks", path)
        assert (result.exit_code, result.stdout) == (2, "")
        if header != "[check]" or text.startswith("[[check]]"):
            assert MISSPELT[header] in result.stderr


def test_headers_that_are_spelled_otherwise(run: Run, tmp_path: Path) -> None:
    """In quotes or with spaces they are those of checks all the same."""
    headers = ('[["check"]]', "[[ check ]]", "[['check']]", '[[ "check" ]] # a remark')
    text = "".join(f"{header}\npreset = 'base'\nequals = {i}\n" for i, header in enumerate(headers))
    path = tmp_path / "checks.toml"
    for before in ("", "[[check]]\npreset = 'base'\nequals = 9\n"):
        path.write_text(before + text, encoding="utf-8")
        rows = rows_of(run, "--checks", path)
        expected = [*([9] if before else []), *range(len(headers))]
        assert [row["expected"] for row in rows] == expected


def test_same_as_is_relative_to_the_file(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a config is; a file of that name elsewhere is never taken for it."""
    inside = tmp_path / "inside"
    inside.mkdir()
    for folder, size in ((inside, 9), (tmp_path, 7)):
        for name in ("a.json", "twin.json"):
            text = json.dumps({**BASE, "vocab_size": size})
            (folder / name).write_text(text, encoding="utf-8")
    checks = inside / "checks.toml"
    checks.write_text("[[check]]\nconfig = 'a.json'\nsame_as = 'twin.json'\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert run("check", "--checks", checks).exit_code == 0
    (inside / "twin.json").unlink()
    _other.cache_clear()
    result = run("check", "--checks", checks)
    assert (result.exit_code, "no such file" in result.stderr) == (2, True)
    checks.write_text("[[check]]\npreset = 'base'\nsame_as = 'albert-base'\n", encoding="utf-8")
    assert run("check", "--checks", checks).exit_code == 0


def test_few_patterns_may_look_everywhere(run: Run, tmp_path: Path) -> None:
    """Each walks through all directories; the same one many times walks once."""
    path = tmp_path / "checks.toml"
    for text, status in (("**/{}.json", 2), ("**/*.json", 1)):
        checks = (f"[[check]]\nconfig = '{text.format(i)}'\nat_most = 1\n" for i in range(101))
        path.write_text("".join(checks), encoding="utf-8")
        (tmp_path / "0.json").write_text(json.dumps(BASE), encoding="utf-8")
        result = run("check", "--checks", path)
        assert result.exit_code == status
        assert ("at most 100 patterns may have **" in result.stderr) == (status == 2)


def test_names_in_any_letters_are_recorded(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In ASCII, so that every output holds them and no terminal obeys them."""
    monkeypatch.chdir(tmp_path)
    for name in ("é.json", "配置.json", "\U0001f600.json", "a\u202eb.json", "c\x9bd.json"):
        Path(name).write_text(json.dumps(BASE), encoding="utf-8")
        result = run("check", name, "--record")
        assert (result.exit_code, result.stdout.isascii()) == (0, True)
        assert tomllib.loads(result.stdout)["check"][0]["config"] == name
        Path("checks.toml").write_text(result.stdout, encoding="utf-8")
        assert run("check", "--checks", "checks.toml").exit_code == 0
    odd = os.fsdecode(b"bad\xff.json")
    Path(odd).write_text(json.dumps(BASE), encoding="utf-8")
    refused = run("check", odd, "--record")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "a name that is not UTF-8" in refused.stderr


def test_what_cannot_be_checked_keeps_its_file(run: Run, tmp_path: Path) -> None:
    """A reason that is no matter of reading is told with the file, and a name is no file."""
    path = tmp_path / "a.json"
    path.write_text(json.dumps(BASE), encoding="utf-8")
    line = (path, "nope", "base", "--at-most", "1", "--trainable", "--lora", "8",
            "--lora-targets", "none")  # fmt: skip
    rows = rows_of(run, *line)
    assert [row["file"] for row in rows] == [str(path), None, None]
    assert all(row["error"] for row in rows)
    text = run("check", *line, "-f", "github").stdout
    assert text.count("file=") == 1


def test_what_else_can_be_recorded(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another way of sharing, and a directory called as sizes alone are."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "sizes"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(BASE), encoding="utf-8")
    for line in (("bert-tiny", "--share", "all"), ("sizes",), ("sizes", "--share", "none")):
        result = run("check", *line, "--record")
        assert (result.exit_code, result.stderr) == (0, "")
        assert result.stdout.startswith("# Paths are relative to the directory of this file.\n\n[[")
        Path("recorded.toml").write_text(result.stdout, encoding="utf-8")
        again = run("check", "--checks", "recorded.toml")
        assert (again.exit_code, again.stdout.endswith("1 check: 1 holds\n")) == (0, True)


def test_what_cannot_be_recorded(run: Run) -> None:
    """A checks file has no key for a size that was typed beside the model."""
    result = run("check", "bert-tiny", "-L", "1", "--record")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "--record contradicts" in result.stderr


@pytest.mark.parametrize("format", ["github", "junit"])
def test_a_report_for_ci_says_what_cannot_be_read(run: Run, tmp_path: Path, format: str) -> None:
    """Also of the only model, which a file of results would otherwise lack."""
    path = write(tmp_path, "[[check]]\npreset = 'nope'\nequals = 1\n")
    for line in (("nope", "--equals", "1"), ("--checks", path)):
        result = run("check", *line, "-f", format)
        assert result.exit_code == 2
        assert "got 'nope'" in result.stdout and "got 'nope'" in result.stderr


@pytest.mark.parametrize("freeze", ["layers:50-60", "projection"])
def test_what_freezes_nothing_is_told(run: Run, tmp_path: Path, freeze: str) -> None:
    """A slip in a check would pass otherwise."""
    path = write(
        tmp_path,
        f"[[check]]\npreset = 'bert-tiny'\ntrainable = true\nfreeze = '{freeze}'\nat_least = 1\n",
    )
    for line in (
        ("bert-tiny", "--trainable", "--freeze", freeze, "--at-least", "1"),
        ("--checks", path),
    ):
        result = run("check", *line)
        assert result.exit_code == 0, result.stderr
        assert "freeze: " in result.stderr
        assert "freeze: " not in run("check", *line, "-q").stderr


def test_a_file_that_cannot_be_read_is_named_once(run: Run, tmp_path: Path) -> None:
    """Its problems begin with its name already."""
    path = tmp_path / "bad.json"
    path.write_text("{")
    result = run("check", path, "base", "--at-most", "12M")
    assert result.exit_code == 2
    assert result.stderr.startswith(f"error: {path}: not valid JSON")
