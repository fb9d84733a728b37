"""Pictures: what they show, how they fit, and the files that they are saved to."""

import errno
import os
import re
import stat
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from click.testing import Result

from albert_calc.cli.drawings import layers_diagram
from albert_calc.comparison import layer_costs
from albert_calc.config import ModelConfig
from albert_calc.picture import TALLEST, Box, Diagram, eighths, stack
from albert_calc.render import Canvas

Run = Callable[..., Result]
Golden = Callable[[str, str], None]

PICTURES = {
    "compare-chart": "compare --chart",
    "layers-diagram": "layers -H 768 -L 12 --diagram",
    "sweep-chart": "sweep --preset albert-base-v2 -E 64,128,256,512,768 --chart",
}
"""The pictures of the README, by the names of their golden files, and the commands."""

OTHERS = {
    "one-model": "compare --preset base --chart --share ffn --num-hidden-groups 3",
    "mixed-vocabularies": "compare --preset base --preset albert-base-v2 --chart",
    "shared-attention": "layers -H 768 -L 24 --share attention --diagram",
    "groups": "layers -H 768 -L 5 --num-hidden-groups 3 --diagram",
    "inner-layers": "layers -H 8 -L 4 --num-hidden-groups 2 --inner-group-num 2 --diagram",
    "nothing-shared": "layers -H 768 -L 2 --share none --diagram",
    "too-many-groups": "layers -H 768 -L 2 --num-hidden-groups 5 --diagram",
    "long-names": "sweep --preset base --share all,attention,ffn,none --chart",
}
ALL = {**PICTURES, **OTHERS}


@pytest.fixture(autouse=True)
def without_forced_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the tests themselves run in colour, the commands do not."""
    monkeypatch.delenv("FORCE_COLOR", raising=False)


@pytest.fixture
def drawn(run: Run, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """What a command draws on a terminal of a given width."""

    def draw(command: str, width: int | None, ascii_only: bool = False) -> str:
        monkeypatch.setattr("albert_calc.cli.pictures.canvas", lambda: Canvas(width, ascii_only))
        result = run(*command.split())
        assert result.exit_code == 0, result.stderr
        return result.stdout

    return draw


def cells(line: str) -> int:
    """The width of a line on a terminal."""
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)


def numbers(text: str) -> list[str]:
    """The numbers of four digits and more that stand in *text*."""
    return sorted(re.findall(r"\d{1,3}(?:,\d{3})+", text))


@pytest.mark.parametrize("name", PICTURES)
@pytest.mark.parametrize("width", [40, 60, 80, 160])
def test_on_terminals(name: str, width: int, drawn: Callable[..., str], golden: Golden) -> None:
    """What somebody has looked at stays as it was, at four widths."""
    golden(f"pictures/{name}-{width}.txt", drawn(PICTURES[name], width))


@pytest.mark.parametrize("name", OTHERS)
def test_with_other_options(name: str, drawn: Callable[..., str], golden: Golden) -> None:
    """Labels are true for the options, whatever is shared."""
    golden(f"pictures/{name}.txt", drawn(OTHERS[name], 80))


@pytest.mark.parametrize("name", ALL)
def test_a_pipe_is_80_columns_wide(name: str, drawn: Callable[..., str]) -> None:
    """Without a terminal a picture is as on one of 80 columns."""
    assert drawn(ALL[name], None) == drawn(ALL[name], 80)


@pytest.mark.parametrize("name", ALL)
def test_nothing_overflows_and_nothing_is_cut(name: str, drawn: Callable[..., str]) -> None:
    """No line is wider than the terminal, and every number is there whole at every width."""
    whole = numbers(drawn(ALL[name], 160))
    for width in (*range(30, 90, 3), 120, 200):
        text = drawn(ALL[name], width)
        assert max(map(cells, text.splitlines())) <= width
        assert numbers(text) == whole


@pytest.mark.parametrize("name", ALL)
def test_numbers_are_never_broken(name: str, drawn: Callable[..., str]) -> None:
    """On a terminal that is too narrow for a number, the number sticks out."""
    for width in (1, 9, 17):
        assert numbers(drawn(ALL[name], width)) == numbers(drawn(ALL[name], 160))


@pytest.mark.parametrize("width", [1, 9, 17])
def test_boxes_are_never_broken(width: int, drawn: Callable[..., str]) -> None:
    """On a terminal that is too narrow for a box, the box is as wide as its longest word."""
    text = drawn("layers -H 768 -L 1B --share attention --diagram", width)
    boxes = [line for line in text.splitlines() if line.startswith(("┌", "│", "├", "└"))]
    assert {len(re.split("(?<=[┐│┤┘])", line[1:])[0]) + 1 for line in boxes} == {17}


@pytest.mark.parametrize("name", ALL)
def test_in_ascii(name: str, drawn: Callable[..., str]) -> None:
    """In ASCII nothing is escaped or out of line: as many cells, all fitting."""
    text = drawn(ALL[name], 60, ascii_only=True)
    assert text.isascii()
    assert "\\" not in text
    assert max(map(len, text.splitlines())) <= 60
    boxes = [line for line in text.splitlines() if line.startswith(("|", "+"))]
    assert {line[0] for line in boxes} <= {"|", "+"}
    assert len({line.index("+", 1) for line in boxes if line.startswith("+-")}) <= 1
    assert numbers(text) == numbers(drawn(ALL[name], 60))


@pytest.mark.parametrize("name", ALL)
def test_colour_carries_nothing(name: str, run: Run) -> None:
    """Without its colours a picture is the same text, and a pipe gets no colours."""
    plain = run(*ALL[name].split())
    coloured = run(*ALL[name].split(), env={"FORCE_COLOR": "1", "TERM": "xterm-256color"})
    assert "\x1b" not in plain.stdout
    assert "\x1b[" in coloured.stdout
    shown = re.sub(r"\x1b\[[0-9;]*m", "", coloured.stdout)
    assert [s.rstrip() for s in shown.splitlines()] == plain.stdout.splitlines()


def test_bars_of_a_panel_have_one_scale(drawn: Callable[..., str]) -> None:
    """Each bar is as long as its number is large, to an eighth of a cell."""
    parts = "▏▎▍▌▋▊▉"
    for panel in drawn("compare --chart", 120).split("\n\n")[1:]:
        found = []
        for line in panel.splitlines()[1:]:
            bar = re.search(r"([█▏▎▍▌▋▊▉]+) +([\d,]+)", line)
            assert bar is not None
            length = sum(8 if c == "█" else 1 + parts.index(c) for c in bar[1])
            found.append((length, int(bar[2].replace(",", ""))))
        longest, largest = max(found)
        assert len(found) == 10
        assert longest == 8 * 63
        for length, value in found:
            assert abs(length * largest - value * longest) <= largest


@pytest.mark.parametrize(
    ("value", "largest", "cells", "expected"),
    [
        (0, 10, 5, 0), (10, 10, 5, 40), (5, 10, 5, 20), (1, 16, 1, 1), (1, 10**30, 5, 1),
        (3, 16, 1, 2), (10**30, 10**30, 3, 24), (0, 0, 5, 0), (10**30 - 1, 10**30, 3, 24),
    ],
)  # fmt: skip
def test_eighths(value: int, largest: int, cells: int, expected: int) -> None:
    """Lengths are rounded to eighths of a cell; what is not nothing has at least one."""
    assert eighths(value, largest, cells) == expected


@pytest.mark.parametrize("count", [1, 11, 12, 13, 24, 10**15])
def test_stack(count: int) -> None:
    """A stack shows every box or says how many it leaves out."""
    boxes = stack(count, lambda i: Box(str(i), hue=i))
    left_out = [int(re.sub(r"\D", "", b.label)) for b in boxes if b.hue is None]
    assert len(boxes) <= TALLEST
    assert len(boxes) - len(left_out) + sum(left_out) == count
    assert (boxes[0].label, boxes[-1].label) == ("0", str(count - 1))
    assert bool(left_out) == (count > TALLEST)


def diagram(share: str = "all", **sizes: int) -> Diagram:
    """The diagram of layers with *sizes*."""
    rest: dict[str, Any] = {"vocab_size": 1, "hidden_size": 8, "intermediate_size": 32}
    config = ModelConfig(**{**rest, **sizes}, share=share)
    return layers_diagram(config, layer_costs(config), "")


@pytest.mark.parametrize("layers", range(1, 13))
@pytest.mark.parametrize("groups", range(1, 13))
def test_the_turns_of_all_groups_are_all_layers(layers: int, groups: int) -> None:
    """Turn i of L applies group i × G // L, as the code of transformers has it."""
    side = diagram(num_hidden_layers=layers, num_hidden_groups=groups).sides[1]
    turns = [i * groups // layers for i in range(layers)]
    for index, box in enumerate(side.stacks[0]):
        times = turns.count(index)
        said = {1: "", 0: "never applied"}.get(times, f"applied {times} times")
        assert box.remark == said


@pytest.mark.parametrize(
    ("share", "left", "right"),
    [("all", [3], [1]), ("none", [3], [3]), ("attention", [3, 3], [1, 3]), ("ffn", [3, 3], [3, 1])],
)
def test_what_is_stored(share: str, left: list[int], right: list[int]) -> None:
    """A box stands for what is stored once: L of each beside one that is applied L times."""
    sides = diagram(share, num_hidden_layers=3).sides
    assert [[len(boxes) for boxes in side.stacks] for side in sides] == [left, right]
    for stacks, distinct in zip(sides[1].stacks, right, strict=True):
        assert all(box.remark == ("applied 3 times" if distinct == 1 else "") for box in stacks)


@pytest.mark.parametrize("share", ["all", "attention", "ffn", "none"])
def test_any_number_of_layers(share: str, drawn: Callable[..., str]) -> None:
    """10^15 layers are drawn at once, with exact figures."""
    text = drawn(f"layers -H 768 -L 1000T --share {share} --diagram", 80)
    assert len(text.splitlines()) < 120
    assert "7,087,872,000,000,000,000,000" in text


@pytest.mark.parametrize("name", PICTURES)
def test_svg_of_the_readme(name: str, run: Run, golden: Golden, tmp_path: Path) -> None:
    """The pictures of the README are those that the commands make."""
    file = tmp_path / "picture.svg"
    result = run(*PICTURES[name].split(), "--save", file)
    assert (result.exit_code, result.stdout) == (0, "")
    assert f"note: saved {file}" in result.stderr.replace("\n", "")
    golden(f"pictures/{name}.svg", file.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("ending", ["svg", "html", "txt", "SVG"])
def test_files_are_self_contained(name: str, ending: str, run: Run, tmp_path: Path) -> None:
    """A file has all numbers, and refers to nothing outside it."""
    file = tmp_path / f"picture.{ending}"
    assert run(*ALL[name].split(), "--save", file).exit_code == 0
    text = file.read_text(encoding="utf-8")
    outside = text.replace('xmlns="http://www.w3.org/2000/svg"', "")
    assert "://" not in outside
    assert not re.search(r"@import|@font-face|<script|href=|src=|url\((?!#)", outside)
    assert "\x1b" not in text
    if ending.lower() == "svg":
        root = ElementTree.fromstring(text)
        text = " ".join(root.itertext()).replace("\xa0", " ")
        assert (root[0].text or "").strip()
    assert set(numbers(run(*ALL[name].split()).stdout)) <= set(numbers(text))


def test_text_files_are_100_columns_wide(
    run: Run, drawn: Callable[..., str], tmp_path: Path
) -> None:
    """A file's width depends on no terminal, and its letters on no locale."""
    for name, command in ALL.items():
        file = tmp_path / f"{name}.txt"
        run(*command.split(), "--save", file)
        saved = [line.rstrip() for line in file.read_text(encoding="utf-8").splitlines()]
        assert saved == drawn(command, 100).splitlines()


@pytest.mark.parametrize("env", [{"NO_COLOR": "1"}, {"TERM": "dumb"}, {"FORCE_COLOR": "1"}])
def test_files_do_not_depend_on_the_terminal(
    env: dict[str, str], run: Run, golden: Golden, tmp_path: Path
) -> None:
    """Settings about a terminal's colours do not reach into a file."""
    file = tmp_path / "picture.svg"
    run(*PICTURES["layers-diagram"].split(), "--save", file, env=env)
    golden("pictures/layers-diagram.svg", file.read_text(encoding="utf-8"))


@pytest.mark.parametrize("ending", ["svg", "html"])
def test_titles_are_escaped(ending: str, run: Run, tmp_path: Path) -> None:
    """A name from the outside is text in a file, whatever it looks like."""
    name = "<b>&{x}'%s[red].json"
    config = tmp_path / name
    config.write_text('{"vocab_size": 9, "hidden_size": 8, "num_hidden_layers": 2,'
                      ' "intermediate_size": 32, "embedding_size": 4}')  # fmt: skip
    file = tmp_path / f"picture.{ending}"
    result = run("sweep", "--config", config, "-L", "1,2", "--chart", "--save", file)
    assert result.exit_code == 0, result.stderr
    text = file.read_text(encoding="utf-8")
    assert "<b>" not in text
    title = re.search("<title>(.*)</title>", text)
    assert title is not None
    assert "&lt;b&gt;&amp;{x}&#x27;%s[red].json: 2 combinations" in title[1]


def test_mode_of_a_replaced_file(run: Run, tmp_path: Path) -> None:
    """A file that is replaced stays as private as it was."""
    path = tmp_path / "picture.svg"
    path.write_text("old")
    path.chmod(0o600)
    assert run("compare", "--chart", "--save", path).exit_code == 0
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.read_text() != "old"


def test_mode_follows_the_umask(run: Run, tmp_path: Path) -> None:
    """A file that is made may be read by whom the umask lets read it."""
    for mask, mode in ((0o022, 0o644), (0o077, 0o600)):
        before = os.umask(mask)
        try:
            file = tmp_path / f"{mask}.svg"
            assert run("compare", "--chart", "--save", file).exit_code == 0
        finally:
            os.umask(before)
        assert stat.S_IMODE(file.stat().st_mode) == mode


def test_a_file_that_is_there_is_replaced(run: Run, tmp_path: Path) -> None:
    """Saving twice leaves the new picture alone; a link goes on pointing to it."""
    file, link = tmp_path / "a.txt", tmp_path / "link.txt"
    file.write_text("old" * 10_000)
    link.symlink_to("a.txt")
    assert run("compare", "--chart", "--save", link).exit_code == 0
    assert link.is_symlink()
    assert file.read_text(encoding="utf-8").startswith("BERT-style against ALBERT-style")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.txt", "link.txt"]


@pytest.mark.parametrize("target", ["gone/a.svg", "folder.svg", "pipe.svg", "file/a.svg", "null"])
def test_impossible_targets(target: str, run: Run, tmp_path: Path) -> None:
    """What cannot be written is refused in a line, and nothing is left behind."""
    (tmp_path / "folder.svg").mkdir()
    (tmp_path / "file").touch()
    os.mkfifo(tmp_path / "pipe.svg")
    before = sorted(tmp_path.rglob("*"))
    path = "a\0.svg" if target == "null" else str(tmp_path / target)
    result = run("compare", "--chart", "--save", path)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.count("\n") == result.stderr.count("error: ") == 1
    assert sorted(tmp_path.rglob("*")) == before


def test_read_only_targets(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A file that may not be written is not replaced, though its folder would allow it."""
    file = tmp_path / "a.svg"
    file.write_text("old")
    monkeypatch.setattr("os.access", lambda _, mode: mode != os.W_OK)
    result = run("compare", "--chart", "--save", file)
    assert result.exit_code == 2
    assert result.stderr.endswith("a.svg: cannot be written: Permission denied\n")
    assert file.read_text() == "old"


FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize(
    ("failure", "status", "message"),
    [(FULL, 2, "cannot be written: No space left"), (KeyboardInterrupt(), 130, "interrupted")],
)
@pytest.mark.parametrize("old", [None, "old"])
def test_a_failure_leaves_no_half_written_file(
    failure: BaseException, status: int, message: str, old: str | None,
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
) -> None:  # fmt: skip
    """A full disk or Ctrl-C half-way leaves what was there before, and no other file."""
    file = tmp_path / "a.svg"
    if old is not None:
        file.write_text(old)

    def fail(source: str, _: str) -> None:
        assert os.path.getsize(source) > 1_000
        raise failure

    monkeypatch.setattr("os.replace", fail)
    result = run("compare", "--chart", "--save", file)
    assert (result.exit_code, result.stdout) == (status, "")
    assert message in result.stderr
    assert [p.read_text() for p in tmp_path.iterdir()] == [old or ""] * (old is not None)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ("compare --save a.svg", "--save writes a picture: give --chart as well"),
        ("layers -H 8 -L 2 --save a.svg", "--save writes a picture: give --diagram as well"),
        ("compare --chart --save a.png", "--save: must end in .svg, .html or .txt, got 'a.png'"),
        ("compare --chart --save svg", "--save: must end in .svg, .html or .txt, got 'svg'"),
        ("compare --chart -f json", "--chart and --format contradict each other"),
        ("compare --chart --ablation", "--chart and --ablation contradict each other"),
        ("compare --chart --cost", "--chart and --cost contradict each other"),
        ("layers -H 8 -L 2 --diagram -f csv", "--diagram and --format contradict each other"),
        ("sweep --preset base -E 1,2 --chart -f jsonl", "--chart and --format contradict"),
        ("sweep --preset base -E 1,2 --chart --columns total", "--chart and --columns contradict"),
        ("sweep --preset base --chart", "--chart needs one size that varies, got none"),
        ("sweep --preset base -E 1,2 -L 1,2 --chart", "got embedding_size, num_hidden_layers"),
        ("sweep --preset base -E 1:201 --chart", "a picture must have at most 200 rows"),
    ],
)
def test_contradictions(args: str, message: str, run: Run, tmp_path: Path,
                        monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    """Options that do not fit a picture are refused, and nothing is written anywhere."""
    monkeypatch.chdir(tmp_path)
    result = run(*args.split())
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
    assert not list(tmp_path.iterdir())
