"""Pictures: what they say, how they fit, and the files that they are saved to."""

import re
import subprocess
import sys
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from conftest import Run
from support import Faults

from albert_calc import ModelConfig, count_parameters
from albert_calc.counting.priced import layer_costs
from albert_calc.counting.tensors import blueprint
from albert_calc.errors import AlbertCalcError
from albert_calc.pictures.charts import cost_chart, models_chart, sweep_chart
from albert_calc.pictures.diagrams import layers_diagram, token_embedding_diagram
from albert_calc.pictures.picture import (
    FEW,
    TALLEST,
    Bar,
    BarGroup,
    Box,
    Chart,
    Curve,
    Diagram,
    Limit,
    Mark,
    Panel,
    Part,
    Picture,
    Remark,
    as_bars,
    is_wide,
    stack,
    value_texts,
)
from albert_calc.render import Canvas
from albert_calc.render.bars import eighths
from albert_calc.render.files import ENDINGS, content
from albert_calc.render.page import page
from albert_calc.render.terminal import render
from albert_calc.render.theme import shade_colour
from albert_calc.report import Column, Report, Section

Golden = Callable[[str, str], None]

LINES = {
    "compare": "compare --chart",
    "compare-one": "compare xxlarge --chart",
    "compare-two": "compare bert-large-uncased albert-xxlarge-v2 --chart",
    "count": "count albert-base-v2 --chart",
    "layers": "layers base --diagram",
    "layers-groups": "layers base --num-hidden-groups 3 --diagram",
    "layers-attention": "layers base --share attention --diagram",
    "embedding": "embedding base --diagram",
    "sweep": "sweep albert-base-v2 -E 64,128,256,512,768 --chart",
    "sweep-many": "sweep albert-base-v2 -H 256:4096:64 -A 1 --chart",
}
"""Commands whose pictures somebody has looked at, by the names of their golden files."""

GIB = 2**30
COST = cost_chart(
    "Training memory",
    [
        ("bert-large", {"weights": GIB, "activations": 13 * GIB, "nothing": 0}),
        ("albert-xxlarge", {"weights": GIB // 2, "activations": 26 * GIB}),
        ("tiny", {"weights": 4096}),
    ],
    ("B = 8, S = 512",),
    Limit(24 * GIB, "24 GiB"),
)

HOSTILE = "$x^2$ _a <b>&{x}'%s[red]\x1b[31m"


def config(**sizes: Any) -> ModelConfig:
    """An ALBERT of *sizes*."""
    keys = {"model_type": "albert", "vocab_size": 99, "embedding_size": 4, "hidden_size": 8,
            "num_attention_heads": 2, "intermediate_size": 32, "num_hidden_layers": 12}  # fmt: skip
    return ModelConfig.from_dict({**keys, **sizes})


def layers_of(share: str = "all", **sizes: Any) -> Diagram:
    """The diagram of layers that are shared as *share* says."""
    model = blueprint(config(**sizes), "model", "transformers")
    model = model._replace(variant=model.variant._replace(share=share))
    return layers_diagram("m", model, layer_costs(model))


CURVE = Curve(
    "a curve", ("V = 30,000",), "H", "width",
    tuple((h, 1_000_000 + h * h) for h in range(64, 4097, 64)),
    (Mark("base", 768, 1_000_000 + 768**2), Mark("large", 1024, 1_000_000 + 1024**2)),
)  # fmt: skip

PICTURES: dict[str, Picture] = {
    "cost": COST,
    "layers": layers_of(),
    "groups": layers_of(num_hidden_groups=3),
    "inner": layers_of(num_hidden_groups=2, inner_group_num=2),
    "ffn": layers_of("ffn", num_hidden_layers=24),
    "unshared": layers_of("none", num_hidden_layers=2),
    "deep": layers_of(num_hidden_layers=10**15),
    "embedding": token_embedding_diagram(30_522, 128, 768),
    "odd-embedding": token_embedding_diagram(100, 128, 4_096),
    "curve": CURVE,
    "few": CURVE._replace(points=CURVE.points[10:14]),
    "powers": Curve("powers", (), "V", "tokens", tuple((10**k, 10 ** (2 * k)) for k in range(20))),
    "names": sweep_chart("shares", "", "share", [("all", 10), ("none", 10**30), ("ffn", 0)]),
    "models": models_chart([("small", count_parameters(config())),
                            (HOSTILE, count_parameters(config(vocab_size=10**15)))]),
}  # fmt: skip


@pytest.fixture
def drawn(run: Run, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """What a command draws on a terminal of a given width."""

    def draw(line: str, width: int | None, ascii_only: bool = False) -> str:
        canvas = Canvas(width, ascii_only)
        monkeypatch.setattr("albert_calc.cli.drawing.canvas", lambda: canvas)
        result = run(*line.split())
        assert result.exit_code == 0, result.stderr
        return result.stdout

    return draw


def cells(line: str) -> int:
    """The width of a line on a terminal."""
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in line
    )


def lines(picture: Picture, canvas: Canvas) -> list[str]:
    """*picture* as it is drawn, line by line, without its colours."""
    return re.sub("\x1b\\[[0-9;]*m", "", render(picture, canvas)).splitlines()


def numbers(text: str) -> set[str]:
    """The numbers with more than two digits that stand in *text*, but for those of axes."""
    return set(re.findall(r"\d{1,3}(?:,\d{3})+|\d+\.\d+[MBT]|\d+\.\d+ GiB", text))


@pytest.mark.parametrize("name", LINES)
@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_as_somebody_saw_them(
    name: str, width: int, drawn: Callable[..., str], golden: Golden
) -> None:
    """Pictures stay as they were at four widths."""
    golden(f"pictures/{name}-{width}.txt", drawn(LINES[name], width))


def test_at_any_width() -> None:
    """No line is wider than the terminal, and every number is there whole at every width."""
    faults = Faults()
    for name, picture in PICTURES.items():
        whole = numbers(render(picture, Canvas(160)))
        for width in (40, 47, 60, 80, 99, 120, 200):
            text = render(picture, Canvas(width))
            too_wide = [s for s in text.splitlines() if cells(s) > width]
            faults.expect((name, width, "too wide"), too_wide, [])
            if name not in ("curve", "powers"):
                faults.expect((name, width, "lost"), whole - numbers(text), set())
    faults.none()


def test_a_pipe_is_80_columns_wide() -> None:
    """Without a terminal a picture is as on one of 80 columns."""
    for picture in PICTURES.values():
        assert render(picture, Canvas()) == render(picture, Canvas(80))


def test_in_ascii() -> None:
    """In ASCII everything is spelled and in line, and the numbers are the same."""
    faults = Faults()
    for name, picture in PICTURES.items():
        text = render(picture, Canvas(60, ascii_only=True))
        fits = max(map(len, text.splitlines())) <= 60
        faults.expect(name, (text.isascii(), text.replace("\n", "").isprintable(), fits),
                      (True, True, True))  # fmt: skip
        faults.expect((name, "numbers"), numbers(text), numbers(render(picture, Canvas(60))))
    faults.none()


def test_colour_says_nothing_that_text_does_not() -> None:
    """With and without colours the words and numbers are the same, in the same places."""
    drawing = re.compile("[█▓▒░▏▎▍▌▋▊▉■·]")
    for picture in PICTURES.values():
        plain = [drawing.sub(" ", one).split() for one in lines(picture, Canvas(80))]
        coloured = lines(picture, Canvas(80, colour=True))
        assert [drawing.sub(" ", one).split() for one in coloured] == plain


def chart(*values: tuple[int, ...], **panel: Any) -> Chart:
    """One panel of bars with *values* of two parts."""
    bars = tuple(Bar(f"bar {i}", v) for i, v in enumerate(values))
    parts = (Part("one", 0), Part("two", None))
    return Chart("t", (), (Panel("p", parts, (BarGroup("", "", bars),), **panel),))


def bar_cells(picture: Chart, canvas: Canvas) -> list[str]:
    """The bars of *picture* as they are drawn."""
    found = [re.search("bar . +([█▓▒░▏▎▍▌▋▊▉·]+)", one) for one in lines(picture, canvas)]
    return [match[1] for match in found if match]


def test_bars_have_one_scale() -> None:
    """Each bar is as long as its number is large, to an eighth of a cell."""
    values = [(1_000_000, 0), (200_000, 130_000), (0, 17_000), (77_777, 1)]
    eighth = " ▏▎▍▌▋▊▉█"
    for canvas in (Canvas(80, colour=True), Canvas(133, colour=True)):
        drawn = bar_cells(chart(*values), canvas)
        lengths = [8 * (len(b) - 1) + eighth.index(b[-1]) for b in drawn]
        for length, value in zip(lengths, values, strict=True):
            assert abs(length * 1_000_000 - sum(value) * lengths[0]) <= 1_000_000


def test_parts_of_a_bar_can_be_told_apart_without_colour() -> None:
    """Each part has a sign of its own, which the legend explains, and its share of the cells."""
    text = render(chart((750_000, 250_000), (500_000, 0)), Canvas(80))
    assert "█ one   ▒ two" in text
    (first, second), width = bar_cells(chart((750_000, 250_000), (500_000, 0)), Canvas(80)), 80
    assert abs(first.count("█") - 3 * first.count("▒")) <= 3
    assert abs(2 * len(second) - len(first)) <= 1
    assert len(first) < width


def test_no_bar_disappears() -> None:
    """What is too small to be drawn has a mark that the legend explains; nothing has nothing."""
    picture = chart((10**30, 0), (1, 0), (0, 0))
    for canvas in (Canvas(80), Canvas(80, colour=True), Canvas(40)):
        text = "\n".join(lines(picture, canvas))
        assert "· too small to draw" in text
        assert text.count("·") == 2
    assert "too small" not in render(chart((10, 0), (9, 0)), Canvas(80))


@pytest.mark.parametrize(
    ("value", "largest", "width", "expected"),
    [
        (0, 10, 5, 0), (10, 10, 5, 40), (5, 10, 5, 20), (1, 16, 1, 1), (1, 10**30, 5, 0),
        (3, 16, 1, 2), (10**30, 10**30, 3, 24), (0, 0, 5, 0), (10**30 - 1, 10**30, 3, 24),
    ],
)  # fmt: skip
def test_eighths(value: int, largest: int, width: int, expected: int) -> None:
    """Lengths are rounded to eighths of a cell, exactly."""
    assert eighths(value, largest, width) == expected


@pytest.mark.parametrize("colour", [False, True])
@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_the_limit_is_a_line(width: int, colour: bool) -> None:
    """It stands in the same column everywhere, at its place on the scale, under its name."""
    found = lines(COST, Canvas(width, colour=colour))
    places = {s.index("│") for s in found if "│" in s}
    label = next(s for s in found if "24 GiB ┐" in s)
    assert places == {label.index("┐")}
    assert sum("│" in s for s in found) == 3
    text = "\n".join(found)
    assert "14.0 GiB" in text and "fits" in text and "2.5 GiB too much" in text


def test_what_fits_is_good() -> None:
    """The remarks of a cost say whether it fits, in words and in colour."""
    remarks = [bar.remark for bar in COST.panels[0].bars]
    assert remarks == [Remark("fits", "good"), Remark("2.5 GiB too much", "bad"),
                       Remark("fits", "good")]  # fmt: skip
    assert [part.name for part in COST.panels[0].parts] == ["weights", "activations"]


def test_values_are_short_but_differ() -> None:
    """Two numbers that differ are never written alike."""
    assert value_texts([11_683_584, 222_662_400]) == {11_683_584: "11.7M", 222_662_400: "222.7M"}
    assert value_texts([4_005_120, 4_037_888]) == {4_005_120: "4.01M", 4_037_888: "4.04M"}
    assert list(value_texts([10**9, 10**9 + 1]).values()) == ["1,000,000,000", "1,000,000,001"]


@pytest.mark.parametrize("count", [1, 11, 12, 13, 24, 10**15])
def test_stack(count: int) -> None:
    """A stack shows every box in a colour of its own, or says how many it leaves out."""
    boxes = stack(count, lambda i, shade: Box(str(i), shade))
    shades = [box.shade for box in boxes if box.shade is not None]
    left_out = [int(re.sub(r"\D", "", b.label)) for b in boxes if b.shade is None]
    assert len(boxes) <= TALLEST
    assert len(shades) + sum(left_out) == count
    assert (boxes[0].label, boxes[-1].label) == ("0", str(count - 1))
    assert len({shade_colour(shade) for shade in shades}) == len(shades)


def test_the_turns_of_all_groups_are_all_layers() -> None:
    """Turn i of L applies group i × G // L, and a step has the colour of what it applies."""
    faults = Faults()
    for layers in range(1, 13):
        for groups in range(1, layers + 1):
            diagram = layers_of(num_hidden_layers=layers, num_hidden_groups=groups)
            boxes, runs = diagram.sides[1].stacks[0]
            turns = [i * groups // layers for i in range(layers)]
            applied = [box.applied for box in boxes]
            times = [turns.count(group) for group in range(groups)]
            case = (layers, groups)
            faults.expect(case, applied, times)
            faults.expect(case, [run.label for run in runs], [str(t + 1) for t in turns])
            faults.expect(case, [run.shade for run in runs], [boxes[t].shade for t in turns])
    faults.none()


def test_a_group_that_is_never_applied() -> None:
    """More groups than turns are stored all the same."""
    boxes = layers_of(num_hidden_layers=2, num_hidden_groups=5).sides[1].stacks[0].boxes
    assert [box.applied for box in boxes].count(0) == 3


@pytest.mark.parametrize(
    ("sizes", "drawn", "plotted"),
    [
        ({"num_hidden_layers": 12}, ["↺ 12 times"], ["12 times"]),
        ({"num_hidden_layers": 1}, [], []),
        (
            {"num_hidden_layers": 3, "num_hidden_groups": 2},
            ["↺ 2 times"],
            ["2 times"],
        ),
        ({"num_hidden_layers": 1, "num_hidden_groups": 2}, ["never applied"], ["never applied"]),
    ],
)
def test_how_often_is_written(sizes: dict[str, int], drawn: list[str], plotted: list[str]) -> None:
    """Characters have a sign before what is applied again, files an arrow beside it."""
    diagram = layers_of("all", **sizes)
    wanted = re.compile(r"(?:↺ )?[\d,]+ times|never applied")
    assert wanted.findall(render(diagram, Canvas(120))) == drawn
    svg = content("x.svg", picture=diagram).decode()
    assert wanted.findall(svg) == plotted


@pytest.mark.parametrize(
    ("share", "left", "right"),
    [("all", [3], [1]), ("none", [3], [3]), ("attention", [3, 3], [1, 3]), ("ffn", [3, 3], [1, 3])],
)
def test_what_is_stored(share: str, left: list[int], right: list[int]) -> None:
    """A box stands for what is stored once: L of each beside one that is applied L times."""
    sides = layers_of(share, num_hidden_layers=3).sides
    found = [[len(stack.boxes) for stack in side.stacks] for side in sides]
    assert found == [left, right]
    for boxes, distinct in zip((s.boxes for s in sides[1].stacks), right, strict=True):
        assert all(box.applied == (3 if distinct == 1 else 1) for box in boxes)


def test_any_number_of_layers() -> None:
    """10^15 layers are drawn at once, with exact figures."""
    text = render(PICTURES["deep"], Canvas(80))
    assert len(text.splitlines()) < 40
    assert f"{10**15:,}" in text.replace("\n", "")
    assert "↺ 1,000,000,000,000,000 times" in text


def test_the_formula_has_no_groups_where_there_is_one() -> None:
    """G × N stands where it is not 1."""
    assert "G" not in " ".join(layers_of().sides[1].captions)
    assert layers_of(num_hidden_groups=3).sides[1].captions[1].startswith("G × (")


def test_boxes_stand_on_one_ground() -> None:
    """Both sides end on the same line, the first layer at the bottom."""
    found = lines(PICTURES["layers"], Canvas(80))
    ground = next(s for s in found if "└" in s)
    assert ground.count("└") == 2
    above = found[found.index(ground) - 1]
    assert "layer 1 " in above and "one layer" in above and "↺ 12 times" in above


def test_rectangles_are_to_scale() -> None:
    """The cells of two matrices are as their sizes, on the same two scales."""
    found = lines(token_embedding_diagram(1_000, 250, 500), Canvas(80))
    place = next(i for i, s in enumerate(found) if "built ALBERT-style" in s)
    standard = [s for s in found[:place] if s.startswith("█")]
    factorized = [s for s in found[place:] if s.startswith("█")]
    (width,) = {len(s.rstrip()) for s in standard}
    assert len(standard) == 2 * len(factorized) == 12
    first, second = re.split(" +", factorized[0].rstrip())
    assert len(first) == width
    assert abs(4 * len(second) - width) <= 4
    assert sum("█" in s.split()[-1] for s in found[place:] if "█" in s) == 12


def test_a_matrix_thinner_than_a_cell_is_seen() -> None:
    """The projection is a hairline beside the table, not nothing."""
    for canvas, sign in ((Canvas(80), "▎"), (Canvas(80, ascii_only=True), "|")):
        assert render(PICTURES["embedding"], canvas).count(sign) == 12


def test_few_points_are_bars() -> None:
    """Up to a few points are bars, with the names of published models beside them."""
    few = as_bars(CURVE._replace(points=CURVE.points[10:14]))
    assert few is not None
    assert [bar.remark.text for bar in few.panels[0].bars] == ["", "◆ base", "", ""]
    assert as_bars(CURVE._replace(points=CURVE.points[:FEW])) is not None
    assert as_bars(CURVE._replace(points=CURVE.points[: FEW + 1])) is None


def test_a_curve() -> None:
    """It rises where numbers rise, its marks lie on it, and its axes say what they are."""
    found = lines(CURVE, Canvas(80))
    plot = [s.split("│" if "│" in s else "┤")[1] for s in found if re.search("[│┤]", s)]
    tops = [next((i for i, row in enumerate(plot) if row[c : c + 1].strip()), None)
            for c in range(len(plot[0]))]  # fmt: skip
    seen = [top for top in tops if top is not None]
    assert seen == sorted(seen, reverse=True)
    assert len(seen) > 60
    assert sum(row.count("◆") for row in plot) == 2
    text = "\n".join(found)
    assert "◆ base: H = 768, 1,589,824" in text
    assert "total parameters" in text and "H: width" in text and "powers" not in text


def test_powers() -> None:
    """Where values span more than two decades, axes go by powers and say so."""
    assert not is_wide([1, 100]) and is_wide([1, 101]) and not is_wide([0, 10**6])
    text = render(PICTURES["powers"], Canvas(80))
    assert text.count("by powers of 10") == 2


def test_published_models_are_on_a_sweep() -> None:
    """A point has the name of the model that has this size and this count."""
    sizes = config(vocab_size=30_000, embedding_size=128, hidden_size=768, intermediate_size=3072)
    rows = [(e, count_parameters(ModelConfig.from_dict({**sizes.to_dict(), "embedding_size": e}))
             .total) for e in (64, 128)]  # fmt: skip
    found = sweep_chart("t", "", "embedding_size", rows, "albert")
    assert isinstance(found, Curve)
    assert [(m.label, m.x, m.y) for m in found.marks] == [
        ("albert-base-v1, albert-base-v2", 128, 11_683_584)
    ]
    of_bert = sweep_chart("t", "", "embedding_size", rows, "bert")
    assert isinstance(of_bert, Curve)
    assert of_bert.marks == ()


MAGIC = {"png": b"\x89PNG", "pdf": b"%PDF", "svg": b"<?xml"}


EACH_KIND = ("cost", "groups", "embedding", "curve")
"""One picture of each kind."""


@pytest.mark.parametrize("name", PICTURES)
def test_figures(name: str) -> None:
    """Every picture can be a figure, twice the same, that refers to nothing outside it."""
    data = content("x.svg", picture=PICTURES[name])
    assert data.startswith(MAGIC["svg"])
    assert name not in EACH_KIND or data == content("x.svg", picture=PICTURES[name])
    assert not re.search(rb"<script|<image|@import|@font-face|url\((?!#)", data)
    assert not re.search(rb'href="(?!#)', data)


@pytest.mark.parametrize("kind", ["png", "pdf"])
@pytest.mark.parametrize("name", EACH_KIND)
def test_kinds_of_figures(name: str, kind: str) -> None:
    """Each kind of picture can be a file of each kind."""
    assert content(f"x.{kind}", picture=PICTURES[name]).startswith(MAGIC[kind])


def svg_text(picture: Picture) -> str:
    """The texts of *picture* as SVG, in their order."""
    root = ElementTree.fromstring(content("x.svg", picture=picture))
    return " ".join(" ".join(root.itertext()).split())


def test_figures_say_what_pictures_say() -> None:
    """The texts of a figure have the values, the names, the legend and the units."""
    text = svg_text(COST)
    for said in ("Training memory", "B = 8, S = 512", "bert-large", "14.0 GiB", "fits", "24 GiB",
                 "2.5 GiB too much", "weights", "activations", "10 GiB"):  # fmt: skip
        assert said in text
    text = svg_text(PICTURES["layers"])
    assert "12 times" in text and "layer 12" in text and "one layer" in text
    text = svg_text(PICTURES["embedding"])
    assert "V × E = 3,906,816" in text and "V = 30,522" in text and "−82.9%" in text
    text = svg_text(CURVE)
    assert "base: H = 768, 1.6M" in text and "total parameters" in text and "H: width" in text
    assert svg_text(PICTURES["powers"]).count("by powers of 10") == 2
    assert "parameters, by powers of 10" in svg_text(PICTURES["names"])


def test_names_are_text_in_figures() -> None:
    """A name is no formula and no markup, and a letter that no font has is no failure."""
    text = svg_text(PICTURES["models"])
    assert "$x^2$ _a <b>&{x}'%s[red]\\x1b[31m" in text
    strange = COST._replace(title="模型 \U0001f600 $\\frac{$")
    for kind in MAGIC:
        assert content(f"x.{kind}", picture=strange)


def test_settings_of_others_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    """A figure is the same whatever the settings of matplotlib are, and leaves them alone."""
    import matplotlib

    before = content("x.svg", picture=COST)
    with matplotlib.rc_context({"axes.facecolor": "black", "font.size": 30}):
        assert content("x.svg", picture=COST) == before
        assert matplotlib.rcParams["font.size"] == 30
    monkeypatch.setenv("NO_COLOR", "1")
    assert content("x.svg", picture=COST) == before


@pytest.mark.parametrize("kind", MAGIC)
def test_without_the_extra(kind: str, monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    """Without matplotlib the message has the command that installs it; the rest needs none."""
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(AlbertCalcError, match=re.escape("pip install matplotlib")):
        content(f"x.{kind}", picture=COST)
    result = run("compare", "--chart", "--save", f"x.{kind}")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"error: .{kind} needs matplotlib, which is not installed")
    assert content("x.html", picture=COST) and content("x.txt", picture=COST)


def test_endings() -> None:
    """An unknown ending is refused with those that are known, and so is a table as a picture."""
    for path in ("a.jpg", "svg", "a.svg.gz", ""):
        with pytest.raises(AlbertCalcError, match=r"must end in \.svg, .* or \.txt, got"):
            content(path, picture=COST)
    assert content("A.TXT", picture=COST)
    for ending in ENDINGS[:3]:
        with pytest.raises(AlbertCalcError, match="a table is written to"):
            content(f"a{ending}", Report())


def test_text_files_are_100_columns_wide() -> None:
    """A file's width depends on no terminal, and its letters on no locale."""
    for picture in PICTURES.values():
        assert content("a.txt", picture=picture).decode() == render(picture, Canvas(100))


REPORT = Report(
    sections=(
        Section(
            columns=(Column("name", "model", "text"), Column("n", "parameters", "count"),
                     Column("s", "share", "share"), Column("v", "ok", "verdict")),
            rows=((HOSTILE, 10, 1.0, True), ("b", 5, 0.5, False)),
            total=("total", 15, None, None),
            title="a <title>",
            groups={0: "group"},
            lines=("V = 30,522  E = 128",),
        ),
    ),
    headline="m & n: 222.7M parameters",
)  # fmt: skip


def test_a_page() -> None:
    """A page has the headline, the tables, and the picture; in the light and in the dark."""
    text = page(REPORT, COST)
    assert "<title>m &amp; n: 222.7M parameters</title>" in text
    assert 'm &amp; n: <span style="font-weight: bold">222.7M</span> parameters' in text
    assert "&lt;b&gt;&amp;{x}&#x27;%s[red]\\x1b[31m" in text
    assert text.count("<pre>") == 2
    for role, said in (("good", "ok"), ("bad", "FAILED"), ("bar", "█" * 20), ("dim", "─" * 20)):
        assert re.search(f"color: var\\(--{role}\\)[^<]*>{said}", text), role
    assert "prefers-color-scheme: dark" in text
    assert "14.0 GiB" in text and "too much" in text


def test_pages_are_self_contained() -> None:
    """A page needs no network, holds nothing that runs, and is text all through."""
    for picture in PICTURES.values():
        text = page(REPORT, picture)
        assert "://" not in text
        assert not re.search(
            r"<script|<link|<img|@import|@font-face|src=|href=|url\(|\bon\w+=", text
        )
        assert text.replace("\n", "").isprintable()


def test_pages_are_well_formed() -> None:
    """Every element of a page is closed in its turn."""
    faults = Faults()
    for name, picture in PICTURES.items():
        body = page(REPORT, picture).split("<body>")[1].split("</body>")[0]
        try:
            ElementTree.fromstring(f"<body>{body}</body>")
        except ElementTree.ParseError as error:
            faults.append(f"{name}: {error}")
    faults.none()


def test_colours_only_where_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """Text has escape sequences for a terminal alone; sixteen colours do not make two boxes one."""
    assert "\x1b" not in render(PICTURES["layers"], Canvas(80))
    monkeypatch.setenv("COLORTERM", "truecolor")
    monkeypatch.setenv("TERM", "xterm-256color")
    many = render(PICTURES["layers"], Canvas(80, colour=True))
    left = {c for line in many.splitlines() for c in re.findall(r"48;2;[\d;]+mlayer", line)}
    assert len(left) == 12
    monkeypatch.setenv("COLORTERM", "")
    monkeypatch.setenv("TERM", "screen")
    few = render(PICTURES["layers"], Canvas(80, colour=True))
    assert not re.search(r"\x1b\[[0-9;]*4[0-7]m ?layer", few)
    assert "\x1b[32m" in few


LOADED = """
import sys
from albert_calc.render import Canvas, render
from albert_calc.report import Column, Report, Section
report = Report((Section((Column("a", "a", "count"),), ((1,),)),))
for format in ("json", "csv", "markdown", "table"):
    render(report, format, Canvas())
    print(format, [m for m in ("rich", "matplotlib", "click") if m in sys.modules])
import albert_calc.render.terminal, albert_calc.render.page, albert_calc.render.files
print([m for m in ("rich", "matplotlib", "click") if m in sys.modules])
"""


def test_what_is_loaded() -> None:
    """Rich is loaded where a table or a picture is drawn, matplotlib where a figure is."""
    found = subprocess.run(
        [sys.executable, "-c", LOADED], capture_output=True, text=True, check=True
    )
    assert found.stdout.splitlines() == ["json []", "csv []", "markdown []", "table ['rich']",
                                         "['rich']"]  # fmt: skip


def test_saving(run: Run, tmp_path: Path) -> None:
    """A picture or a page is written to its file, and nothing to standard output."""
    for line, name in (
        ("compare --chart", "a.svg"), ("layers base --diagram", "b.png"),
        ("compare xxlarge", "c.html"), ("embedding base --diagram", "d.txt"),
    ):  # fmt: skip
        file = tmp_path / name
        result = run(*line.split(), "--save", file)
        assert (result.exit_code, result.stdout) == (0, "")
        assert f"note: saved {file}" in result.stderr.replace("\n", "")
        assert file.stat().st_size > 500
    whole = (tmp_path / "c.html").read_text(encoding="utf-8")
    assert whole.count("<pre>") == 2 and "222,662,400" in whole


def test_wide_letters() -> None:
    """Wide letters count as two, and combining ones as none."""
    titles = ("模型e\u0301", "ab")
    picture = layers_of()
    sides = [side._replace(title=t) for side, t in zip(picture.sides, titles, strict=True)]
    found = lines(picture._replace(sides=tuple(sides)), Canvas(80))
    (line,) = (one for one in found if "模型" in one)
    assert cells(line.split("ab")[0]) == next(s for s in found if "└" in s).rindex("└")
