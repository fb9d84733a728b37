"""``check``: true is 0, false is 1, and what cannot be told is 2."""

import json
from pathlib import Path

import pytest
from conftest import Run
from support import BASE

from albert_calc.checks.bounds import Tolerance, read_bounds
from albert_calc.errors import AlbertCalcError

# albert-base-v2 has 11,683,584 parameters (counts.json).
CASES = [
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
    ("--equals 11683584 --at-most 11M", 1, ["equals", "at most"]),
]


@pytest.mark.parametrize(("options", "status", "rules"), CASES)
def test_bounds(options: str, status: int, rules: list[str], run: Run) -> None:
    """Each bound is held against the count; one that fails makes the status 1."""
    args = ("check", "--preset", "albert-base-v2", *options.split())
    data = json.loads(run(*args, "-f", "json").stdout)
    assert [c["rule"] for c in data["checks"]] == rules
    assert {c["found"] for c in data["checks"]} == {11_683_584}
    assert data["ok"] == (status == 0)
    shown = run(*args)
    assert shown.exit_code == status
    assert "11,683,584" in shown.stdout
    assert ("FAILED" in shown.stdout) == (status == 1)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("--preset base", "no bound: give equals, at_most or at_least"),
        ("--preset base --tolerance 1%", "tolerance: goes with equals only"),
        ("--preset base --equals x", "equals: must be a whole number from 0, such as 12M, got 'x'"),
        (
            "--preset base --equals -1",
            "equals: must be a whole number from 0, such as 12M, got '-1'",
        ),
        ("--preset base --equals 1 --tolerance 1/2", "tolerance: must be like 1%"),
        ("--preset base --at-least 2 --at-most 1", "at_least: must not be above at_most (1)"),
        ("--equals 1", "no model"),
        ("--preset nope --equals 1", "preset: must be a known name"),
        ("--config none.json --equals 1", "cannot be read"),
        ("--checks none.toml", "cannot be read"),
        ("--checks none.toml --preset base -E 3", "contradicts --preset, --embedding-size"),
        ("--checks none.toml --share all", "--checks contradicts --share"),
        ("--checks none.toml --at-most 3", "--checks contradicts --at-most"),
        ("--checks none.toml --head masked-lm", "--checks contradicts --head"),
        ("--checks none.toml --layout paper", "--checks contradicts --layout"),
        ("--checks none.toml --type-vocab-size 0", "--checks contradicts --type-vocab-size"),
        ("--checks none.toml --no-tie-word-embeddings", "contradicts --tie-word-embeddings"),
    ],
)
def test_what_cannot_be_told(line: str, problem: str, run: Run) -> None:
    """Exit 2 with the reason and an empty stdout: a broken check never looks like a false one."""
    result = run("check", *line.split())
    assert (result.exit_code, result.stdout) == (2, "")
    assert problem in result.stderr


def test_percentages_are_exact() -> None:
    """A tolerance is held to the last parameter, also where a float would round."""
    big = 10**18
    one = read_bounds({"equals": big, "tolerance": "0.1%"}).tolerance
    assert one == Tolerance(numerator=1, denominator=1000)
    assert one is not None
    assert one.allows(big, big + big // 1000)
    assert not one.allows(big, big + big // 1000 + 1)
    assert not one.allows(big, big - big // 1000 - 1)


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
"""


def write(folder: Path, text: str) -> Path:
    """A checks file beside a folder with a config."""
    (folder / "model").mkdir(exist_ok=True)
    (folder / "model" / "config.json").write_text(json.dumps(BASE))
    path = folder / "checks.toml"
    path.write_bytes(text.encode())
    return path


def test_a_file_of_checks(run: Run, tmp_path: Path) -> None:
    """All checks are reported; paths are relative to the file; one failure fails all."""
    path = write(tmp_path, FILE)
    result = run("check", "--checks", path, "-f", "json")
    rows = json.loads(result.stdout)["checks"]
    assert result.exit_code == 0
    assert [r["name"] for r in rows] == ["base", "masked", "masked", "check 3"]
    assert [r["found"] for r in rows] == [11_683_584, 11_221_680, 11_221_680, 11_161_088]
    path = write(tmp_path, FILE.replace("11_683_584", "1"))
    result = run("check", "--checks", path, "-f", "json")
    assert result.exit_code == 1
    assert [r["ok"] for r in json.loads(result.stdout)["checks"]] == [False, True, True, True]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "has no [[check]] table"),
        ("check = 1", "has no [[check]] table"),
        ("[check]\npreset = 'base'", "check: must stand in double brackets"),
        ("check = [1]", "check 1: must be a table, got 1"),
        ("x = [", "not valid TOML"),
        ("x = " + "[" * 50_000, "nested too deeply"),
        ("x = " + "9" * 9000, "not valid TOML"),
        ("x = '\udc80'", "not UTF-8"),
        ("y = 1\n" + FILE, "'y': is no key here"),
        (FILE + "typo = 1", "check 3: 'typo': must be one of name, preset"),
        (FILE + "config = 'model'", "check 3: must name either a preset or a config"),
        ("[[check]]\nequals = 1", "check 1: must name either a preset or a config"),
        ("[[check]]\npreset = 'base'", "check 1: no bound"),
        ("[[check]]\npreset = 5\nequals = 1", "check 1: preset: must be text, got 5"),
        (
            "[[check]]\npreset = 'base'\nequals = 1.5",
            "equals: must be a whole number from 0, such as 12M, got 1.5",
        ),
        (
            "[[check]]\npreset = 'base'\nequals = true",
            "equals: must be a whole number from 0, such as 12M, got true",
        ),
        ("[[check]]\npreset = 'base'\nhead = 'x'\nequals = 1", "check 1: head: must be one of"),
        ("[[check]]\nconfig = 'none'\nequals = 1", "cannot be read"),
        ("[[check]]\nconfig = 'a\\u0000b'\nequals = 1", "cannot be read"),
        ("[[check]]\nconfig = '-'\nequals = 1", "must be a file or a directory"),
        ("[[check]]\nname = '\\u001b[2J'\npreset = 'base'\nequals = 1", None),
    ],
)
def test_bad_files_of_checks(text: str, problem: str | None, run: Run, tmp_path: Path) -> None:
    """A file with anything wrong is refused whole, and names are shown harmless."""
    path = tmp_path / "checks.toml"
    write(tmp_path, "")
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    result = run("check", "--checks", path)
    assert "\x1b" not in result.stdout + result.stderr
    if problem:
        assert (result.exit_code, result.stdout) == (2, "")
        assert problem in result.stderr
    else:
        assert result.exit_code == 1


def test_all_problems_of_one_check_at_once(run: Run, tmp_path: Path) -> None:
    """Head, layout, sharing and bounds of a check are all looked at."""
    wrong = "preset = 'base'\nhead = 'x'\nlayout = 'y'\nshare = 'z'\nat_most = '12 M'\n"
    stderr = run("check", "--checks", write(tmp_path, f"[[check]]\n{wrong}")).stderr
    assert [ln.split(": ")[3] for ln in stderr.splitlines()] == [
        "share", "head", "layout", "at_most",
    ]  # fmt: skip


def test_all_problems_of_a_file_at_once(run: Run, tmp_path: Path) -> None:
    """The problems of every check are said in one go."""
    path = write(tmp_path, "[[check]]\nequals = 'x'\n[[check]]\npreset = 'nope'\nat_most = 1\n")
    stderr = run("check", "--checks", path).stderr
    assert "check 1: must name either" in stderr
    assert "check 1: equals: must be" in stderr
    assert "check 2: preset: must be a known name" in stderr


def test_a_key_of_many_dots_is_refused_at_once(run: Run, tmp_path: Path) -> None:
    """A dotted key, on which a reader of TOML works quadratically, is not even read."""
    path = write(tmp_path, "a." * 20_000 + "b = 1")
    result = run("check", "--checks", path)
    assert result.exit_code == 2
    assert "a line with 20,000 dots" in result.stderr


def test_bounds_from_python() -> None:
    """Bounds with problems raise the package's error with all of them."""
    with pytest.raises(AlbertCalcError) as error:
        read_bounds({"equals": -1, "tolerance": []})
    assert len(error.value.problems) == 2
