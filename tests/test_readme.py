"""The README tells the truth: every example is run and its output compared."""

import doctest
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from support import ROOT

from albert_calc.cli import NAMES
from albert_calc.families import FAMILIES

# One process runs them all, since they may rewrite the file.
pytestmark = pytest.mark.xdist_group("readme")

README = ROOT / "README.md"
TEXT = README.read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\S+)(?: (\S+))?\n(.*?)^```$", TEXT, re.S | re.M)
CONSOLE = [body for kind, _, body in BLOCKS if kind == "console"]
COMMAND = re.compile(r"^\$ (.*(?:\\\n.*)*)\n", re.M)


def commands(block: str) -> list[tuple[str, str]]:
    """The commands of a console block, each with the output shown after it."""
    _, *parts = COMMAND.split(block)
    return list(zip(parts[::2], parts[1::2], strict=True))


def output_of(command: str, folder: Path) -> str:
    """What a person sees: standard output and standard error of *command* together."""
    binaries = Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{binaries}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-c", command], cwd=folder, env=environment, text=True, check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    return done.stdout


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder that looks like the checkout, with the README's own files in it."""
    for name in ("configs", "tests"):
        (tmp_path / name).symlink_to(ROOT / name)
    for _, name, body in BLOCKS:
        if name:
            (tmp_path / name).write_text(body, encoding="utf-8")
    return tmp_path


def test_other_commands_work(checkout: Path) -> None:
    """What is shown without its output, in blocks of ``sh`` and in sentences, exits 0."""
    blocks = [line for kind, _, body in BLOCKS[2:] if kind == "sh" for line in body.splitlines()]
    plain = re.sub(r"^```.*?^```$", "", TEXT, flags=re.S | re.M)
    spans = re.findall(r"`(albert-calc [^`]+)`", plain)
    assert len(blocks) > 4 and len(spans) > 2
    for command in (*blocks, *spans):
        status = output_of(f"{{ {command} ; }} >&2; echo; echo $?", checkout).split()[-1]
        assert status == "0", command


@pytest.mark.parametrize("number", range(len(CONSOLE)))
def test_examples(number: int, checkout: Path) -> None:
    """Each command prints what the README shows; ``ALBERT_CALC_REGENERATE=1`` rewrites it."""
    shown = CONSOLE[number]
    for command, expected in commands(shown):
        if "jq" in command and shutil.which("jq") is None:
            pytest.skip("jq is not installed")
        found = output_of(command, checkout)
        if os.environ.get("ALBERT_CALC_REGENERATE") == "1":
            text = README.read_text(encoding="utf-8")
            old, new = f"$ {command}\n{expected}", f"$ {command}\n{found}"
            README.write_text(text.replace(old, new, 1), encoding="utf-8")
            continue
        assert found.rstrip("\n") == expected.rstrip("\n")


def test_set_up_is_two_commands() -> None:
    """The first two code blocks are one command each: the main job, then the tests."""
    (first_kind, _, first), (second_kind, _, second) = BLOCKS[:2]
    assert (first_kind, second_kind) == ("sh", "sh")
    assert len(first.splitlines()) == len(second.splitlines()) == 1
    assert first.rstrip().endswith("albert-calc compare --preset xxlarge")
    assert "pytest" in second


def test_python_examples() -> None:
    """The examples of the Python API do what they show."""
    results = doctest.testfile(str(README), module_relative=False, encoding="utf-8")
    assert results.attempted > 3
    assert results.failed == 0


def test_links_lead_somewhere() -> None:
    """Every relative link and picture in the README exists."""
    targets = re.findall(r"\]\((?!https?://|#)([^)]+)\)", TEXT)
    assert [t for t in targets if not (ROOT / t).exists()] == []


def test_the_table_of_commands_is_complete() -> None:
    """Each command stands in the README's table, and nothing else does."""
    table = TEXT.partition("| command | answers |")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \|", table, re.M)
    assert sorted(re.findall(r"\w+", " ".join(rows))) == sorted(NAMES)


def test_the_list_of_families_is_complete() -> None:
    """Every family stands in the README, and their number is right wherever it is said."""
    listed = TEXT.partition("- *Families*: ")[2].partition(", each by its own")[0]
    names = re.split(r",? and |,\s+", " ".join(listed.split()))
    assert sorted(names) == sorted(FAMILIES)
    assert set(re.findall(r"\b(\d+) families", TEXT)) == {str(len(FAMILIES))}


def test_the_picture_is_what_compare_draws(tmp_path: Path) -> None:
    """The picture says what the command draws today; ``ALBERT_CALC_REGENERATE=1`` redraws it."""
    picture = ROOT / "tests/golden/pictures/readme.svg"
    regenerate = os.environ.get("ALBERT_CALC_REGENERATE") == "1"
    drawn = picture if regenerate else tmp_path / "drawn.svg"
    output_of(f"albert-calc compare --chart --save {drawn}", tmp_path)
    assert said(drawn) == said(picture)


def said(path: Path) -> list[str]:
    """The texts of an SVG file, without those that say which program wrote it."""
    root = ElementTree.fromstring(path.read_text(encoding="utf-8"))
    texts = [e.text for e in root.iter("{http://www.w3.org/2000/svg}text")]
    return [text for text in texts if text]
