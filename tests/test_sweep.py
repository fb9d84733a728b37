"""Sweeps: ranges, rows against single counts, streaming, and what is skipped."""

import csv
import io
import itertools
import json
import os
import random
import signal
import subprocess
import sys
import time
import tracemalloc
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import Run
from support import BASE, ROOT, oracle

from albert_calc.architectures import ARCHITECTURES, HEADS, LAYOUTS, SHARES
from albert_calc.config import ModelConfig
from albert_calc.counts import count_parameters
from albert_calc.errors import ConfigError
from albert_calc.render import Canvas
from albert_calc.render.stream import STREAMED, stream
from albert_calc.report import Column
from albert_calc.search.grid import Tally, broken_rules, grid_over
from albert_calc.search.ranges import parse_names, parse_sizes
from albert_calc.search.sweep import COLUMNS, batches, sweep
from albert_calc.sizes import LARGEST, SIZES

Cases = dict[str, Any]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("64,128,256,768", [64, 128, 256, 768]),
        ("256:1024:256", [256, 512, 768, 1024]),
        ("1:10:4", [1, 5, 9]),
        ("3:5", [3, 4, 5]),
        ("7:7", [7]),
        ("1:3,5,4:6,1", [1, 2, 3, 5, 4, 6]),
        ("1K,1.5K:2_000:0.5K", [1000, 1500, 2000]),
        (" 5 , 6 ", [5, 6]),
    ],
)
def test_values_and_ranges_are_read(text: str, values: list[int]) -> None:
    """Lists and ranges, mixed, the end included, each value once in the order given."""
    parsed = parse_sizes("hidden_size", text)
    assert (list(parsed), len(parsed)) == (values, len(values))


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("", ["must be values and ranges such as 64,128 or 256:1024:64, got ''"]),
        ("1:2:3:4", ["must be values and ranges such as 64,128 or 256:1024:64, got '1:2:3:4'"]),
        ("30,000", ["a comma separates values here (30_000, not 30,000), got '000'"]),
        ("0", ["must be at least 1, got 0"]),
        ("9:3", ["a range must not end before it starts, got '9:3'"]),
        ("3:9:0", ["the step of a range must be at least 1, got '3:9:0'"]),
        (f"1:{LARGEST + 1}", [f"must be at most {LARGEST:,}, got {LARGEST + 1}"]),
        ("x,5:1,0", ["must be values", "a range must not end", "must be at least 1, got 0"]),
        ("1:1M,1:1M:7", ["ranges of so many values must not overlap"]),
        ("1," * 1000, ["must be at most 1,000 values and ranges"]),
    ],
)
def test_every_problem_of_a_list_is_named(text: str, problems: list[str]) -> None:
    """All that is wrong with a list is said at once, each by its rule and text."""
    with pytest.raises(ConfigError) as caught:
        parse_sizes("hidden_size", text)
    assert len(caught.value.problems) == len(problems)
    for problem, rule in zip(caught.value.problems, problems, strict=True):
        assert problem.startswith(f"hidden_size: {rule}")


def test_a_size_may_be_none() -> None:
    """Zero is a value for the size that may be zero."""
    assert list(parse_sizes("type_vocab_size", "0:2")) == [0, 1, 2]


def test_huge_ranges_are_never_listed() -> None:
    """The largest range, and a mixture of long ones, take no memory and no time."""
    assert len(parse_sizes("vocab_size", f"1:{LARGEST}")) == LARGEST
    mixture = parse_sizes("vocab_size", f"20M:{LARGEST},5,10:10M")
    assert len(mixture) == LARGEST - 20_000_000 + 1 + 1 + 10_000_000 - 9
    assert list(itertools.islice(mixture, 2)) == [20_000_000, 20_000_001]
    assert 15_000_000 not in mixture
    assert 5 in mixture


def test_names_are_read_once_each() -> None:
    """Names are separated by commas; unknown ones are refused together."""
    assert parse_names("share", "none, all,none", SHARES) == ("none", "all")
    with pytest.raises(ConfigError, match=r"share: must be one of all, .*, got 'x', 'y'"):
        parse_names("share", "x,all,y", SHARES)


def expected(
    base: ModelConfig,
    sizes: dict[str, Collection[int]],
    shares: tuple[str, ...],
    heads: tuple[str, ...],
    layout: str,
    follows: bool,
) -> Iterator[dict[str, Any]]:
    """Every row of a sweep, counted one by one; refused configs are left out."""
    keys = [s.key for s in SIZES if s.key in sizes]
    for share, head in itertools.product(shares, heads):
        for numbers in itertools.product(*(sizes[k] for k in keys)):
            values = {**base.to_dict(), **dict(zip(keys, numbers, strict=True))}
            if follows:
                values["intermediate_size"] = 4 * values["hidden_size"]
            try:
                config = ModelConfig.from_dict(values, share)
                counts = count_parameters(config, head, layout)
            except ConfigError:
                continue
            parts = {p: counts.of_part(p) for p in ("embeddings", "layers", "pooler")}
            components = Counter[str]()
            for count in counts.components:
                components[count.name] += count.parameters
            yield {
                **dict.fromkeys(COLUMNS, 0),
                **components,
                **parts,
                "head_parameters": counts.of_part("head"),
                **{s.key: getattr(config, s.key) for s in SIZES},
                "share": share,
                "head": head,
                "total": counts.total,
            }


POOL: dict[str, list[Collection[int]]] = {
    "vocab_size": [range(5, 8), (11,)],
    "embedding_size": [range(3, 9), (6, 12)],
    "hidden_size": [range(4, 13), (6, 12)],
    "num_hidden_layers": [range(1, 4), (12, 3)],
    "intermediate_size": [range(1, 3)],
    "num_attention_heads": [(1, 2, 5), (3,)],
    "max_position_embeddings": [(1, 514)],
    "type_vocab_size": [range(3)],
    "num_hidden_groups": [(1, 4)],
    "inner_group_num": [(1, 2)],
    "num_labels": [(2, 7)],
}


def test_rows_are_those_of_single_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every cell of a sweep is that of counting its config; what is refused is skipped."""
    generator = random.Random(2)
    for _ in range(150):
        # Small batches leave sizes to vary outside of them.
        monkeypatch.setattr("albert_calc.search.grid.BATCH", generator.choice((2, 5, 1000)))
        model_type = generator.choice(list(ARCHITECTURES))
        own = ARCHITECTURES[model_type].defaults
        foreign = [k for a in ARCHITECTURES.values() for k in a.defaults if k not in own]
        varied = generator.sample([k for k in POOL if k not in foreign], generator.randint(0, 3))
        sizes = {k: generator.choice(POOL[k]) for k in varied}
        base = ModelConfig(
            7, 6, 3, 5, model_type=model_type,
            embedding_size=None if "embedding_size" in foreign else generator.choice((4, 6)),
            tie_word_embeddings=generator.random() < 0.7,
        )  # fmt: skip
        shares = tuple(generator.sample(SHARES, generator.randint(1, 3)))
        heads = tuple(generator.sample(HEADS, generator.randint(1, 3)))
        layouts = [name for name in LAYOUTS if name in ARCHITECTURES[model_type].embeddings]
        layout = generator.choice(layouts)
        follows = "intermediate_size" not in sizes and generator.random() < 0.5
        grid = grid_over(
            base, sizes, shares=shares, heads=heads, layout=layout, intermediate_follows=follows
        )
        tally: Tally = Counter()
        rows = [dict(zip(COLUMNS, row, strict=True)) for row in sweep(grid, COLUMNS, tally)]
        assert rows == list(expected(base, sizes, shares, heads, layout, follows))
        skipped = sum(n for rule, n in tally.items() if rule.fatal)
        assert len(rows) + skipped == grid.combinations
        assert broken_rules(grid) == tally


def test_odd_combinations_are_counted_and_told() -> None:
    """Groups that have no room in the layers are counted, once for each combination."""
    base = ModelConfig.from_dict(BASE)
    sizes = {"num_hidden_layers": (2, 6), "num_hidden_groups": (1, 3, 6, 7)}
    tally: Tally = Counter()
    rows = list(sweep(grid_over(base, sizes, shares=("all", "none")), ("total",), tally))
    assert len(rows) == 16
    assert {rule.fatal: n for rule, n in tally.items()} == {False: 4}


def test_a_size_that_follows_stays_within_bounds() -> None:
    """Where 4·H is larger than any size may be, the combination is skipped."""
    base = ModelConfig.from_dict({**BASE, "num_attention_heads": 1})
    grid = grid_over(base, {"hidden_size": (12, LARGEST)}, intermediate_follows=True)
    tally: Tally = Counter()
    assert list(sweep(grid, ("hidden_size", "intermediate_size"), tally)) == [(12, 48)]
    assert [(rule.text, n) for rule, n in tally.items()] == [
        ("intermediate_size: must be at most 1,000,000,000,000,000", 1)
    ]


def test_sizes_that_a_model_lacks_are_not_varied() -> None:
    """Varying E changes nothing in BERT, and is refused rather than repeated."""
    base = ModelConfig.from_dict({**BASE, "model_type": "bert", "embedding_size": 768})
    with pytest.raises(ConfigError, match="embedding_size: must be a single value, since bert"):
        grid_over(base, {"embedding_size": (64, 128)})


def json_rows(run: Run, *arguments: object) -> list[dict[str, Any]]:
    result = run("sweep", *arguments, "-f", "json")
    assert result.exit_code == 0, result.stderr
    rows: list[dict[str, Any]] = json.loads(result.stdout)
    return rows


def test_sweeps_give_the_reference_figures_of_sharing(run: Run) -> None:
    """Both presets swept over E and sharing give the totals of the real classes."""
    cases = {
        (c["config"]["hidden_size"], c["config"]["embedding_size"], c["share"]): c["total"]
        for c in oracle("sharing")["cases"]
    }
    found = {}
    for preset, widths in (("albert-base-v2", "128,768"), ("albert-large-v2", "128")):
        columns = "hidden_size,embedding_size,share,total"
        options = ("--preset", preset, "-E", widths, "--columns", columns)
        for row in json_rows(run, *options, "--share", ",".join(SHARES)):
            found[row["hidden_size"], row["embedding_size"], row["share"]] = row["total"]
    assert found == cases


def test_sweeps_give_the_grids_of_the_paper(run: Run) -> None:
    """The paper's Tables 3 and 4, as printed: with the pooler where something is shared."""
    names = {"not-shared": "none", "all-shared": "all", "shared-attention": "attention"}
    printed = {
        (row["E"], names.get(row["sharing"], "ffn")): row["published_M"]
        for row in oracle("paper")["rows"]
        if row["table"] in ("3", "4")
    }
    rows = json_rows(
        run, "--preset", "albert-base-v2", "-E", "64,128,256,768", "--layout", "paper",
        "--share", ",".join(SHARES), "--head", "encoder,model",
    )  # fmt: skip
    found = {
        (r["embedding_size"], r["share"]): round(r["total"] / 10**6)
        for r in rows
        if (r["head"] == "encoder") == (r["share"] == "none")
    }
    assert len(printed) == 12
    assert {key: found[key] for key in printed} == printed


def test_columns_are_what_varies_and_the_total(run: Run) -> None:
    """By default a row has what varies, slowest first, and its total."""
    (first, *_, last) = json_rows(
        run, "--preset", "albert-base-v2", "-L", "1:2", "-E", "64,128", "--share", "none,all"
    )
    assert list(first) == ["share", "embedding_size", "num_hidden_layers", "total"]
    assert list(first.values())[:3] == ["none", 64, 1]
    assert list(last.values())[:3] == ["all", 128, 2]


def test_columns_can_be_chosen(run: Run) -> None:
    """Columns are keys with either dash, symbols, parts and components; others are refused."""
    options = ("sweep", "--preset", "albert-base-v2", "-L", "1,2", "-f", "csv", "--columns")
    result = run(*options, "total,hidden-size,L,layers,attention")
    assert result.stdout == (
        "total,hidden_size,num_hidden_layers,layers,attention\n"
        "11683584,768,1,7087872,2363904\n"
        "11683584,768,2,7087872,2363904\n"
    )
    result = run(*options, "total,nothing")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "columns: must be one of share, head, vocab_size" in result.stderr
    assert "got 'nothing'" in result.stderr


def test_intermediate_size_follows_a_swept_hidden_size(run: Run) -> None:
    """I is 4·H when H varies and -I is not given, and a note says so."""
    options = ("--preset", "albert-base-v2", "-H", "768,1536", "--columns", "H,I,total")
    assert [r["intermediate_size"] for r in json_rows(run, *options)] == [3072, 6144]
    assert run("sweep", *options).stderr == "note: intermediate_size: follows hidden_size, 4 × H\n"
    assert [r["intermediate_size"] for r in json_rows(run, *options, "-I", "5")] == [5, 5]
    assert run("sweep", *options, "-I", "5").stderr == ""
    single = ("--preset", "albert-base-v2", "-H", "1536", "--columns", "I")
    assert json_rows(run, *single) == [{"intermediate_size": 3072}]


def test_sizes_alone_are_swept_with_their_defaults_told(run: Run, tmp_path: Path) -> None:
    """Without a preset the notes are those of a single count, but for I, which follows H."""
    result = run("sweep", "-V", "9", "-H", "8,16", "-L", "2", "-f", "csv")
    assert result.stdout == "hidden_size,total\n8,6016\n16,15232\n"
    assert result.stderr == (
        "note: model_type: not given, so bert (there is no embedding_size)\n"
        "note: not given, so the default of BertConfig:"
        " max_position_embeddings 512, type_vocab_size 2\n"
        "note: intermediate_size: follows hidden_size, 4 × H\n"
    )
    config = tmp_path / "config.json"
    config.write_text('{"vocab_size": 9, "num_hidden_layers": 2}')
    assert run("sweep", "--config", config, "-H", "8,16", "-f", "csv").stdout == result.stdout


IMPOSSIBLE = ("sweep", "--preset", "albert-base-v2", "-A", "5,12", "--head", "model,causal-lm")


def test_impossible_combinations_are_skipped_and_counted(run: Run) -> None:
    """What cannot be built is left out, and standard error says how many and why."""
    result = run(*IMPOSSIBLE, "-f", "csv")
    assert result.exit_code == 0
    assert result.stdout == "head,num_attention_heads,total\nmodel,12,11683584\n"
    assert result.stderr == (
        "note: skipped 1 of 4 combinations: num_attention_heads: must divide hidden_size\n"
        "note: skipped 2 of 4 combinations: head: albert has no causal-lm\n"
    )


@pytest.mark.parametrize("format", ["table", *STREAMED])
def test_strict_refuses_impossible_combinations(run: Run, format: str) -> None:
    """With --strict one impossible combination leaves standard output empty."""
    result = run(*IMPOSSIBLE, "--strict", "-f", format)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.count("error: impossible, ") == 2
    assert run("sweep", "--preset", "albert-base-v2", "-A", "6,12", "--strict").exit_code == 0


@pytest.mark.parametrize("format", ["table", *STREAMED])
def test_nothing_possible_is_an_error(run: Run, format: str) -> None:
    """If every combination is impossible there is no result at all."""
    result = run("sweep", "--preset", "albert-base-v2", "-A", "5,7", "-f", format)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "impossible, 2 of 2 combinations: num_attention_heads" in result.stderr


def test_all_wrong_input_is_named_at_once(run: Run) -> None:
    """Lists, names, columns and the base are all checked before anything is said."""
    result = run(
        "sweep", "-V", "x", "-H", "768", "--share", "some", "--head", "tail", "--columns", "y",
        "--inner-group-num", "0",
    )  # fmt: skip
    assert (result.exit_code, result.stdout) == (2, "")
    named = [line.split(":")[1].strip() for line in result.stderr.splitlines()]
    assert named == [
        "vocab_size", "inner_group_num", "head", "share", "columns", "num_hidden_layers",
    ]  # fmt: skip


GRID = ("--preset", "albert-base-v2", "-E", "64,128", "-L", "1:700", "--share", "none,all")


def test_formats_hold_the_same_rows(run: Run) -> None:
    """CSV, JSON, JSON lines and Markdown agree, over several batches."""
    rows = json_rows(run, *GRID)
    assert len(rows) == 2800
    lines = run("sweep", *GRID, "-f", "jsonl").stdout.splitlines()
    assert [json.loads(line) for line in lines] == rows
    table = list(csv.DictReader(io.StringIO(run("sweep", *GRID, "-f", "csv").stdout)))
    assert table == [{k: str(v) for k, v in row.items()} for row in rows]
    head, rule, *others = run("sweep", *GRID, "-f", "markdown").stdout.splitlines()
    assert (head, rule) == ("| share | E | L | total |", "| --- | ---: | ---: | ---: |")
    cells = [line.strip("| ").replace(",", "").split(" | ") for line in others]
    assert cells == [[str(v) for v in row.values()] for row in rows]


def test_a_table_holds_only_so_many_rows(run: Run) -> None:
    """A table is shown whole, so a long one is refused with a hint."""
    result = run("sweep", *GRID)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "a table must have at most 1,000 rows; give -f csv" in result.stderr
    result = run("sweep", *GRID[:-4], "--share", "none,all")
    assert result.stdout.splitlines()[:2] == [
        "albert-base-v2: 4 combinations, layout transformers",
        "V = 30,000  H = 768  L = 12  I = 3,072  A = 12, head model",
    ]


@pytest.mark.parametrize("format", STREAMED)
def test_rows_are_written_as_they_come(format: str) -> None:
    """The first rows are there before the second batch has been worked out."""
    columns = [Column("vocab_size", "V", "count")]
    pieces = stream(format, columns, ([(n,)] for n in itertools.count(7)), Canvas())
    assert "7" in next(pieces)
    assert next(pieces).count("\n") >= 999


def test_memory_does_not_grow_with_the_rows() -> None:
    """Thirty times the rows take no more memory."""
    base = ModelConfig.from_dict(BASE)

    def peak(rows: int) -> int:
        grid = grid_over(base, {"vocab_size": range(1_000_000, 1_000_000 + rows)})
        columns = [Column(name, name, "count") for name in ("vocab_size", "total")]
        tracemalloc.start()
        for _ in stream("csv", columns, batches(grid, ("vocab_size", "total")), Canvas()):
            pass
        highest = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return highest

    few = peak(2_000)
    assert peak(60_000) < few * 1.5


ENDLESS = ("sweep", "-V", "1:1_000_000_000", "-E", "8", "-H", "16", "-L", "2", "-f", "csv")


def start(*arguments: str, **options: Any) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "albert_calc", *arguments], cwd=ROOT, text=True, **options
    )


def test_a_reader_that_leaves_is_no_error() -> None:
    """A closed pipe ends a sweep at once with success and no further word."""
    process = start(*ENDLESS, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.readline() == "vocab_size,total\n"
    process.stdout.close()
    errors = process.stderr.read()
    process.stderr.close()
    assert process.wait(10) == 0
    assert all(line.startswith("note: ") for line in errors.splitlines())


def test_an_interrupt_is_a_short_message() -> None:
    """Ctrl-C ends a sweep with 130 and one line, without a traceback."""
    process = start(*ENDLESS, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    while process.stdout.read(1_000_000):
        pass
    errors = process.stderr.read()
    process.stdout.close()
    process.stderr.close()
    assert process.wait(10) == 130
    assert errors.splitlines()[-1] == "error: interrupted"
    assert "Traceback" not in errors


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is full")
def test_a_full_disk_is_a_short_message() -> None:
    """Rows that cannot be written end a sweep with 2 and the reason."""
    with open("/dev/full", "w") as full:
        process = start(*ENDLESS, stdout=full, stderr=subprocess.PIPE)
        errors = process.communicate(timeout=10)[1]
    assert process.returncode == 2
    assert errors.splitlines()[-1].startswith("error: cannot write the result: ")
    assert "Traceback" not in errors


@pytest.mark.parametrize("stdout_is_terminal", [False, True])
def test_long_sweeps_show_their_progress_on_a_terminal(stdout_is_terminal: bool) -> None:
    """A bar on standard error, if that is a terminal and standard output is not."""
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    line = [word.replace("1_000_000_000", "200_000") for word in ENDLESS]
    out = theirs if stdout_is_terminal else subprocess.DEVNULL
    process = start(*line, stdout=out, stderr=theirs)
    os.close(theirs)
    shown = b""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            piece = os.read(ours, 65536)
        except OSError:
            break
        if not piece:
            break
        shown += piece
    os.close(ours)
    assert process.wait(10) == 0
    assert (b"100%" in shown) is not stdout_is_terminal
