"""Tables, Markdown and CSV: what they say, how they fit, and what they never do to a number."""

import re
import unicodedata
from collections.abc import Callable
from typing import Any

import pytest
from conftest import Run
from support import Faults

from albert_calc.render import Canvas, render
from albert_calc.render.console import wrapped
from albert_calc.render.stream import stream
from albert_calc.report import Column, Figure, Quantity, Report, Section, figures_section

Golden = Callable[[str, str], None]

LINES = {
    "compare": "compare",
    "compare-xxlarge": "compare xxlarge",
    "compare-bert": "compare bert-base-uncased",
    "compare-two": "compare bert-large-uncased albert-xxlarge-v2",
    "ablation": "compare large --ablation",
    "count": "count albert-base-v2",
    "count-bert": "count bert-base-uncased",
    "embedding": "embedding base",
    "layers": "layers base",
    "explain": "explain base",
    "check": "check albert-base-v2 --at-most 11M",
}
"""Commands whose tables somebody has looked at, by the names of their golden files."""


@pytest.fixture
def shown(run: Run, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """What a command prints as a table on a terminal of a given width, or into a pipe."""

    def show(line: str, width: int | None, ascii_only: bool = False) -> str:
        canvas = Canvas(width, ascii_only)
        monkeypatch.setattr("albert_calc.cli.output.canvas", lambda: canvas)
        result = run(*line.split())
        assert result.exit_code in (0, 1), result.stderr
        return result.stdout

    return show


def cells(line: str) -> int:
    """The width of a line on a terminal."""
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)


def numbers(text: str) -> set[str]:
    """The numbers that stand in *text*."""
    return set(re.findall(r"\d[\d,]*(?:\.\d+)?", text))


@pytest.mark.parametrize("name", LINES)
@pytest.mark.parametrize("width", [None, 60, 80, 120])
def test_as_somebody_saw_them(
    name: str, width: int | None, shown: Callable[..., str], golden: Golden
) -> None:
    """Tables stay as they were in a pipe and at three widths."""
    golden(f"tables/{name}-{width or 'pipe'}.txt", shown(LINES[name], width))


def test_at_any_width(shown: Callable[..., str]) -> None:
    """Nothing is wider than the terminal, no number is lost and no term of a formula broken."""
    faults = Faults()
    for name, command in LINES.items():
        whole = numbers(shown(command, None))
        for width in (44, 47, 54, 61, 70, 80, 99, 120, 200):
            lines = shown(command, width).splitlines()
            faults.expect((name, width, "too wide"), [s for s in lines if cells(s) > width], [])
            faults.expect((name, width, "lost"), whole - numbers("\n".join(lines)), set())
            broken = [s for s in lines if re.search(r" [×=−+](  |$)|^ *× |  × ", s)]
            faults.expect((name, width, "broken"), broken, [])
    faults.none()


def test_no_word_is_cut(shown: Callable[..., str]) -> None:
    """A text that is set in needs room for its longest word beside that."""
    faults = Faults()
    for command in ("reproduce paper", "reproduce gpu", "compare bert-tiny albert-base-v2", *LINES):
        for width in (30, 37, 45, 60, 80):
            faults.expect((command, width), "…" in shown(LINES.get(command, command), width), False)
    faults.none()


def test_too_narrow_for_a_number(shown: Callable[..., str]) -> None:
    """On a terminal narrower than a number the number sticks out, whole."""
    whole = numbers(shown("compare xxlarge -q", None))
    for width in (1, 9, 17):
        assert numbers(shown("compare xxlarge -q", width)) == whole


def test_in_ascii(shown: Callable[..., str]) -> None:
    """Signs are spelled before anything is measured: columns stay in line, nothing is escaped."""
    faults = Faults()
    for name, command in LINES.items():
        text = shown(command, 70, ascii_only=True)
        faults.expect(name, (text.isascii(), "\\" in text, max(map(len, text.splitlines())) <= 70),
                      (True, False, True))  # fmt: skip
        faults.expect((name, "numbers"), numbers(text), numbers(shown(command, 70)))
    faults.none()


@pytest.mark.parametrize(
    ("words", "width", "expected"),
    [
        ("4 × H² + 9 × H + I", 10, ["4 × H²", "+ 9 × H", "+ I"]),
        ("= 30,522 × 128 − 1", 9, ["= 30,522 × 128", "− 1"]),
        ("1,000,000,000,000 of them", 5, ["1,000,000,000,000", "of them"]),
        ("V = 30,522 tokens  E = 128", 20, ["V = 30,522 tokens", "E = 128"]),
        ("one thing · another thing", 20, ["one thing", "another thing"]),
        ("one thing · another thing", 40, ["one thing · another thing"]),
        ("bert-large-uncased", 12, ["bert-large-", "uncased"]),
        ("abcdefghij", 4, ["abcd", "efgh", "ij"]),
        ("模型模型 x", 5, ["模型", "模型", "x"]),
    ],
)  # fmt: skip
def test_where_lines_are_broken(words: str, width: int, expected: list[str]) -> None:
    """Between parts, then between terms; within a name that is too long, within no number."""
    assert wrapped(words, width) == expected


SHARES = Section(
    columns=(
        Column("name", "component", "name"),
        Column("formula", "formula", "text"),
        Column("parameters", "parameters", "count"),
        Column("share", "share", "share"),
        Column("tensors", "tensors", "data"),
        Column("words", "words", "text", "people"),
        Column("bytes", "bytes", "bytes", "machines"),
    ),
    rows=(
        ("token_embedding", "V × E", 996_000, 0.996, ["a"], "first", 4096),
        ("attention", "4 × H² + 6 × H", 3_996, 0.003996, ["b"], "", 12),
        ("bias", "H", 4, 0.000004, [], None, 4),
    ),
    key="components",
    total=("total", "", 1_000_000, None, None, "", None),
    lines=("V = 30,000 tokens  E = 128", ""),
    notes=("a note",),
)


def text_of(section: Section, **canvas: Any) -> str:
    """*section* as a table."""
    return render(Report((section,)), "table", Canvas(**canvas))


def test_decimals_are_in_line() -> None:
    """A share of 0.0004% moves no other decimal point."""
    rows = [s for s in text_of(SHARES).splitlines() if "%" in s]
    assert len({s.index(".") for s in rows}) == 1
    assert [re.findall(r"\S+%", s) for s in rows] == [["99.6%"], ["0.4%"], ["0.0004%"]]


def test_bars_fill_what_is_free() -> None:
    """Bars beside shares are in proportion, none is invisible, and without room there are none."""
    assert "█" not in text_of(SHARES, width=60)
    for width in (80, 120, 200):
        drawn = [re.search("[█▏▎▍▌▋▊▉]+", s) for s in text_of(SHARES, width=width).splitlines()]
        lengths = [len(match[0]) for match in drawn if match]
        assert len(lengths) == 3
        assert lengths[0] > 10 * lengths[1] >= 10 * lengths[2]
    assert "#" in text_of(SHARES, ascii_only=True)


def test_parts_of_a_section() -> None:
    """Machines' columns are not shown; what is under the table comes in its order."""
    lines = text_of(SHARES).splitlines()
    assert "tensors" not in lines[0] and "bytes" not in lines[0] and "words" in lines[0]
    assert lines[-4:] == ["", "V = 30,000 tokens  E = 128", "", "a note"]
    assert lines[-5].split() == ["total", "1,000,000"]


HEADLINE = "albert-xxlarge-v2: 222.7M parameters, 11.5× fewer (−2.56B, 24 GiB)\nB = 8"


def test_headline() -> None:
    """One sentence above the table, its figures bold, but not the digits of names."""
    report = Report((SHARES,), headline=HEADLINE)
    assert render(report, "table", Canvas()).startswith(f"{HEADLINE}\n\ncomponent")
    coloured = render(report, "table", Canvas(colour=True)).splitlines()
    assert re.findall("\x1b\\[1m(.*?)\x1b", coloured[0]) == ["222.7M", "11.5×", "−2.56B", "24 GiB"]
    assert coloured[1] == "\x1b[2mB = 8\x1b[0m"
    assert render(report, "markdown", Canvas()).startswith("albert-xxlarge-v2: 222.7M parameters,")
    assert "222.7M" not in render(report, "csv", Canvas()) + render(report, "json", Canvas())


MEANT = Section(
    columns=(Column("s", "saved", "saving"), Column("v", "result", "verdict"),
             Column("n", "count", "count")),
    rows=((0.965, True, 5), (-0.0252, False, 6), (0.0, "odd", Quantity(True, "verdict")),
          (None, None, Quantity(False, "verdict"))),
)  # fmt: skip


def test_colours_mean_something(monkeypatch: pytest.MonkeyPatch) -> None:
    """Savings and ok are green, costs and FAILED red, numbers plain; the text is the same."""
    monkeypatch.setenv("TERM", "xterm-256color")
    coloured = text_of(MEANT, colour=True)
    assert [s.strip() for s in re.findall("\x1b\\[32m(.*?)\x1b", coloured)] == [
        "96.5%",
        "ok",
        "yes",
    ]
    assert [s.strip() for s in re.findall("\x1b\\[31m(.*?)\x1b", coloured)] == [
        "2.5% more", "FAILED", "no",
    ]  # fmt: skip
    assert "\x1b[2m──" in coloured
    assert not re.search("\x1b\\[[0-9;]*m *[56]\x1b", coloured)
    plain = re.sub("\x1b\\[[0-9;]*m", "", coloured)
    assert [s.rstrip() for s in plain.splitlines()] == text_of(MEANT).splitlines()


def test_groups() -> None:
    """Rows stand under their heading; a heading that is a row's name is that row."""
    figures = [
        Figure("V", "count", (1, 2)),
        Figure("stored", "count", (335, 222), group="parameters"),
        Figure("memory", "bytes", (2**30, 2**31), group="memory"),
        Figure("weights", "bytes", (2**20, None), group="memory"),
        Figure("fits", "verdict", (True, False)),
    ]
    section = figures_section(figures, [Column(n, n, "count") for n in ("one", "two")])
    assert text_of(section) == (
        "                one       two\n"
        "─────────────────────────────\n"
        "V                 1         2\n"
        "parameters\n"
        "  stored        335       222\n"
        "memory      1.0 GiB   2.0 GiB\n"
        "  weights   1.0 MiB\n"
        "─────────────────────────────\n"
        "fits            yes        no\n"
    )
    markdown = render(Report((section,)), "markdown", Canvas())
    assert "| **parameters** |  |  |\n| stored | 335 | 222 |\n| memory | 1.0 GiB |" in markdown


def test_one_row_is_one_line_in_a_pipe() -> None:
    """Without a terminal a table is as wide as it needs."""
    long = "4 × H² + " * 60 + "H"
    section = Section((Column("a", "a", "text"), Column("b", "b", "count")), ((long, 1), ("x", 2)))
    assert text_of(section).splitlines()[2] == f"{long}   1"


def test_long_tables() -> None:
    """However long it is, a table has one heading, and every row stands in the same columns."""
    columns = (Column("a", "name", "text"), Column("b", "n", "count"))
    rows = tuple((f"row {'x' * 50 if i == 300 else i}", 10**i) for i in range(1_203 // 3))
    for width in (None, 700):
        lines = text_of(Section(columns, rows * 3), width=width).splitlines()
        assert len(lines) == 2 + 3 * len(rows)
        assert len({cells(line) for line in lines}) == 1


def test_a_text_of_several_lines() -> None:
    """A cell may have its lines; the number beside it stands at the first."""
    section = Section((Column("a", "a", "text"), Column("b", "b", "count")), ((("V", "= 5"), 5),))
    assert text_of(section).splitlines()[2:] == ["V     5", "= 5"]
    assert "| V = 5 | 5 |" in render(Report((section,)), "markdown", Canvas())


HOSTILE = Section(
    columns=(Column("name", "na|me", "text"), Column("n", "n", "count")),
    rows=(
        ("\u2212" + "1+cmd|x", 1),
        ("a\u2502b`*[l](x)", 2),
        ("\x1b[31mred\x1b[0m\u202e\n", 3),
        ("[red]bold[/red] :boom:", 4),
        ("@SUM(1)", 5),
    ),
    title="a|b\x07",
)


@pytest.mark.parametrize("ascii_only", [False, True])
def test_escaping_is_last(ascii_only: bool) -> None:
    """Whatever the letters of the output: no formula, no column of its own, no escape sequence."""
    report = Report((HOSTILE,), headline="h|\x1b")
    canvas = Canvas(ascii_only=ascii_only)
    first = render(report, "csv", canvas).splitlines()[1]
    assert first == ("'-1+cmd|x,1" if ascii_only else "\u22121+cmd|x,1")
    assert "'@SUM(1),5" in render(report, "csv", canvas)
    for line in render(report, "markdown", canvas).splitlines():
        if line.startswith("| "):
            assert len(re.findall(r"(?<!\\)\|", line)) == 3
    for kind in ("table", "markdown", "csv", "json"):
        text = render(report, kind, canvas)
        assert text.replace("\n", "").isprintable()
        assert text.isascii() or not ascii_only
    assert "[red]bold[/red] :boom:" in render(report, "table", Canvas(colour=True))


def test_csv() -> None:
    """Raw values, the columns of machines, no data and no total."""
    assert render(Report((SHARES,)), "csv", Canvas()) == (
        "name,formula,parameters,share,bytes\n"
        "token_embedding,V × E,996000,0.996,4096\n"
        "attention,4 × H² + 6 × H,3996,0.003996,12\n"
        "bias,H,4,4e-06,4\n"
    )
    verdicts = render(Report((MEANT,)), "csv", Canvas()).splitlines()
    assert verdicts[1:] == ["0.965,true,5", "-0.0252,false,6", "0.0,odd,true", ",,false"]


def test_csv_of_several_sections() -> None:
    """One header; each section's label before its rows, and nothing under columns it lacks."""
    one = Section((Column("a", "a", "count"),), ((1,),), label=("model", "x"))
    two = Section((Column("b", "b", "count"), Column("a", "a", "count")), ((2, 3),),
                  label=("model", "=y"))  # fmt: skip
    assert render(Report((one, two)), "csv", Canvas()) == "model,a,b\nx,1,\n'=y,3,2\n"


def test_json_is_the_data_of_the_report() -> None:
    """Facts, and the rows of sections under their keys, with what only JSON shows."""
    report = Report((SHARES,), {"model": "a\u202eb"})
    text = render(report, "json", Canvas())
    assert '"model": "a\\u202eb"' in text
    assert '"tensors": [' in text
    assert "words" not in text


ROWS = [("−1", 1, None), ("b", 2, 3)]
STREAMED = (Column("k", "k", "text"), Column("a", "a", "count"), Column("b", "b", "count"))


@pytest.mark.parametrize("ascii_only", [False, True])
@pytest.mark.parametrize("format", ["csv", "markdown"])
def test_streams_are_the_same_text(format: str, ascii_only: bool) -> None:
    """Rows written as they come are what a table of them all would be."""
    canvas = Canvas(ascii_only=ascii_only)
    for columns, rows in ((STREAMED, ROWS), (STREAMED[1:], [row[1:] for row in ROWS]),
                          (STREAMED[1:], [(1, 2), (3, 4)])):  # fmt: skip
        streamed = "".join(stream(format, columns, ([row] for row in rows), canvas))
        assert streamed == render(Report((Section(tuple(columns), tuple(rows)),)), format, canvas)
    assert not list(stream(format, STREAMED, [], canvas))


def test_a_table_that_does_not_fit_goes_on_below() -> None:
    """Columns that have no room stand in a second table, beside the names of the rows."""
    columns = (Column("n", "model", "text"),
               *(Column(str(i), f"column {i}", "count") for i in range(4)))  # fmt: skip
    section = Section(columns, (("one", *[10**9] * 4), ("two", *[7] * 4)))
    assert text_of(section, width=40) == (
        "model        column 0        column 1\n"
        "─────────────────────────────────────\n"
        "one     1,000,000,000   1,000,000,000\n"
        "two                 7               7\n"
        "\n"
        "model        column 2        column 3\n"
        "─────────────────────────────────────\n"
        "one     1,000,000,000   1,000,000,000\n"
        "two                 7               7\n"
    )
