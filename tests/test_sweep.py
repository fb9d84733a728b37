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
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from conftest import Run
from support import BASE, ROOT, Faults, oracle

from albert_calc.config.model_config import ModelConfig
from albert_calc.costs.workload import USUAL
from albert_calc.counting.comparison import compare
from albert_calc.counting.counts import count_parameters
from albert_calc.counting.tensors import blueprint
from albert_calc.errors import ConfigError
from albert_calc.families import HEADS, families, family
from albert_calc.families.base import SHARES
from albert_calc.families.sizes import LARGEST, SIZES
from albert_calc.render import Canvas
from albert_calc.render.stream import STREAMED, stream
from albert_calc.report import Column
from albert_calc.search import grid
from albert_calc.search.costs import Batches, costed_rows
from albert_calc.search.grid import Grid, Tally, broken_rules, grid_over
from albert_calc.search.ranges import ends_of, parse_names, parse_sizes
from albert_calc.search.sweep import Row, all_columns, columns_of, counted_rows

Keys = dict[str, Any]

READ: dict[str, list[int]] = {
    "64,128,256,768": [64, 128, 256, 768],
    "256:1024:256": [256, 512, 768, 1024],
    "1:10:4": [1, 5, 9],
    "1:3:1": [1, 2, 3],
    "3:5": [3, 4, 5],
    "7:7": [7],
    "1:3,5,4:6,1": [1, 2, 3, 5, 4, 6],
    "1K,1.5K:2_000:0.5K": [1000, 1500, 2000],
    " 5 , 6 ": [5, 6],
}
"""Lists and ranges, and what they stand for."""

REFUSED: list[tuple[str, list[str]]] = [
    ("", ["must be values and ranges such as 64,128 or 256:1024:64, got ''"]),
    ("1:2:3:4", ["must be values and ranges such as 64,128 or 256:1024:64, got '1:2:3:4'"]),
    ("30,000", ["a comma separates values here (30_000, not 30,000), got '000'"]),
    ("0", ["must be at least 1, got 0"]),
    ("9:3", ["a range must not end before it starts, got '9:3'"]),
    ("3:9:0", ["the step of a range must be at least 1, got '3:9:0'"]),
    (f"1:{LARGEST + 1}", [f"must be at most {LARGEST:,}, got {LARGEST + 1}"]),
    ("x,5:1,0", ["must be values", "a range must not end", "must be at least 1, got 0"]),
    ("1:1M,1:1M:7", ["ranges of so many values must not overlap"]),
    ("20K:30K,1:20K", ["ranges of so many values must not overlap"]),
    ("1," * 1000, ["must be at most 1,000 values and ranges"]),
]
"""What is no list of sizes, and every problem of it."""


def test_values_and_ranges() -> None:
    """Lists and ranges, mixed, the end included, each value once; all problems at once."""
    faults = Faults()
    for text, values in READ.items():
        parsed = parse_sizes("hidden_size", text)
        faults.expect(text, (list(parsed), len(parsed)), (values, len(values)))
    for text, problems in REFUSED:
        try:
            faults.append(f"{text}: read as {parse_sizes('hidden_size', text)}")
        except ConfigError as error:
            wanted = [f"hidden_size: {rule}" for rule in problems]
            found = [p[: len(w)] for p, w in zip(error.problems, wanted, strict=False)]
            faults.expect(text[:20], (found, len(error.problems)), (wanted, len(wanted)))
    faults.none()


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


def rows_of(grid: Grid, columns: tuple[str, ...]) -> tuple[list[Row], Tally]:
    """All rows of *grid*, and how many combinations broke which rule."""
    tally: Tally = Counter()
    return [row for piece in counted_rows(grid, columns, tally) for row in piece], tally


def counted(
    given: Keys, sizes: dict[str, Collection[int]], grid: Grid, columns: tuple[str, ...]
) -> Iterator[Keys]:
    """Every row of a sweep, counted one by one; what cannot be built is left out."""
    tables = family(given["model_type"])
    keys = [s.key for s in SIZES if s.key in sizes]
    for share, head in itertools.product(grid.shares, grid.heads):
        for numbers in itertools.product(*(sizes[k] for k in keys)):
            values = dict(zip(keys, numbers, strict=True))
            written = {**given, **{tables.name_of(k): v for k, v in values.items()}}
            if "intermediate_size" in grid.followers:
                name = tables.name_of("intermediate_size")
                written[name] = 4 * written[tables.name_of("hidden_size")]
            try:
                config = ModelConfig.from_dict(written, share)
                counts = count_parameters(config, head, grid.layout)
            except ConfigError:
                continue
            components = Counter[str]()
            for component in counts.components:
                components[component.name] += component.parameters
            cells = {
                **dict.fromkeys(columns, 0),
                **components,
                **{p: counts.of_part(p) for p in ("embeddings", "layers", "encoder", "pooler")},
                "head_parameters": counts.of_part("head"),
                **{s.key: config.keys[s.key] for s in SIZES},
                "share": share,
                "head": head,
                "total": counts.total,
            }
            yield {column: cells[column] for column in columns}


POOL: dict[str, list[Collection[int]]] = {
    "vocab_size": [range(5, 8), (11,)],
    "embedding_size": [range(3, 9), (24, 12), (24,)],
    "hidden_size": [range(20, 31), (24, 48), (12,)],
    "num_hidden_layers": [range(1, 4), (12, 3)],
    "intermediate_size": [range(19, 22), (20, 40)],
    "num_attention_heads": [(1, 2, 5, 12), (3,)],
    "max_position_embeddings": [(41, 514)],
    "type_vocab_size": [range(3)],
    "num_hidden_groups": [(1, 4, 5)],
    "inner_group_num": [(1, 2)],
    "num_labels": [(2, 7)],
}
"""Values of each size, around those of the small models of every family."""

SMALL: list[Keys] = [
    case["config"] for case in oracle("families")["cases"] if ":" in case["case"]
] + [
    {"model_type": model_type, "vocab_size": 50, "hidden_size": 24, "num_hidden_layers": 4,
     "num_attention_heads": 3, "intermediate_size": 20, **more}
    for model_type, more in (
        ("albert", {"embedding_size": 8}), ("albert", {"num_hidden_groups": 2}),
        ("albert", {"embedding_size": 24, "tie_word_embeddings": False}), ("bert", {}),
        ("bert", {"tie_word_embeddings": False}),
    )
]  # fmt: skip
"""A small model of each family with each of its switches one way and the other."""


def test_rows_are_those_of_single_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every cell of a sweep is that of counting its config; what is refused is skipped."""
    generator = random.Random(2)
    faults = Faults()
    for given in [*SMALL, *generator.sample(SMALL, 10)]:
        # Small pieces leave sizes to vary outside of them.
        monkeypatch.setattr("albert_calc.search.grid.CHUNK", generator.choice((2, 5, 1000)))
        tables = family(given["model_type"])
        own = [key for key in POOL if tables.has(key)]
        varied = generator.sample(own, generator.randint(0, 3))
        sizes = {k: generator.choice(POOL[k]) for k in varied}
        base = ModelConfig.from_dict(given)
        follows = "intermediate_size" not in sizes and generator.random() < 0.5
        grid = grid_over(
            base, sizes,
            shares=tuple(generator.sample(SHARES, generator.randint(1, 2))),
            heads=tuple(generator.sample(HEADS, generator.randint(1, 3))),
            layout=generator.choice(list(tables.embeddings)),
            followers=("intermediate_size",) if follows else (),
        )  # fmt: skip
        columns = columns_of(grid)
        found, tally = rows_of(grid, columns)
        rows = [dict(zip(columns, row, strict=True)) for row in found]
        case = (given, sizes, grid.shares, grid.heads, grid.layout, follows)
        wanted = list(counted(given, sizes, grid, columns))
        if rows != wanted:
            first = next((p for p in zip(rows, wanted, strict=False) if p[0] != p[1]), None)
            faults.append(f"{case}: {len(rows)} rows, not {len(wanted)}; {first}")
        skipped = sum(n for (_, fatal), n in tally.items() if fatal)
        faults.expect(case, len(rows) + skipped, grid.combinations)
        faults.expect(case, broken_rules(grid), tally)
    faults.none()


def test_widths_of_models_that_have_none() -> None:
    """E is swept as a factorized embedding of a family that has no E of its own."""
    faults = Faults()
    for given in SMALL:
        config = ModelConfig.from_dict(given)
        if config.family.has("embedding_size"):
            continue
        for layout, share, head in itertools.product(
            config.family.embeddings, ("none", "all"), ("model", "masked-lm")
        ):
            # Once with E as the size that varies fastest, once with another.
            model = blueprint(config, head, layout)
            for labels in ((2,), (2, 3)):
                sizes = {"embedding_size": range(20, 23), "num_labels": labels}
                grid = grid_over(config, sizes, shares=(share,), heads=(head,), layout=layout)
                rows, _ = rows_of(grid, ("embedding_size", "total"))
                for width, total in rows:
                    built = compare(model, embedding_size=int(width or 0), share="all")
                    one = built.factorized_shared if share == "all" else built.factorized_unshared
                    faults.expect((given, layout, share, head, width), total, one.total)
                faults.expect((given, layout), len(rows), 3 * len(labels))
    faults.none()


def test_long_axes_are_worked_on_in_pieces() -> None:
    """Values come in pieces of a thousand, however they are given, and are all there."""
    base = ModelConfig.from_dict(BASE)
    for values, lengths in (
        (range(1, 2501), [1000, 1000, 500]),
        (parse_sizes("vocab_size", "1:15000,20000:20001"), [1000] * 15 + [2]),
        (range(1, 1001), [1000]),
        ((5, 7), [2]),
    ):
        grid = grid_over(base, {"vocab_size": values})
        found = list(counted_rows(grid, ("vocab_size",), Counter()))
        assert [len(rows) for rows in found] == lengths
        assert [row[0] for rows in found for row in rows] == list(values)


def test_columns_of_all_families() -> None:
    """Every row of any family can have its sizes, its parts and its components as columns."""
    columns = all_columns()
    assert len(columns) == len(set(columns))
    for tables in families():
        base = ModelConfig.from_dict({"model_type": tables.model_type})
        own = columns_of(grid_over(base, {}))
        assert set(own) <= set(columns)
        assert {"share", "head", "total", "layers", "head_parameters", "vocab_size"} <= set(own)
    assert "relative_positions" not in columns_of(grid_over(ModelConfig.from_dict(BASE), {}))


def test_odd_combinations_are_counted_and_told() -> None:
    """Groups that have no room in the layers are counted, once for each combination."""
    sizes = {"num_hidden_layers": (2, 6), "num_hidden_groups": (1, 3, 6, 7)}
    grid = grid_over(ModelConfig.from_dict(BASE), sizes, shares=("all", "none"))
    rows, tally = rows_of(grid, ("total",))
    assert len(rows) == 16
    assert {fatal: n for (_, fatal), n in tally.items()} == {False: 4}


def test_what_cannot_be_built_is_told_once() -> None:
    """A combination that breaks a rule is not also odd; a size that is fixed is named."""
    sizes = {"num_attention_heads": (5, 12), "num_hidden_groups": (1, 13)}
    rows, tally = rows_of(grid_over(ModelConfig.from_dict(BASE), sizes), ("total",))
    assert (len(rows), {fatal: n for (_, fatal), n in tally.items()}) == (2, {True: 2, False: 1})
    fixed = {"num_attention_heads": (5,), "hidden_size": (10, 12)}
    _, tally = rows_of(grid_over(ModelConfig.from_dict(BASE), fixed), ("total",))
    assert tally == {("num_attention_heads: must divide hidden_size, got 5", True): 1}


def test_a_grid_shares_as_its_model_does() -> None:
    """Without ways of sharing or heads of its own a grid has those of its base."""
    for share in SHARES:
        config = ModelConfig.from_dict(BASE, share)
        rows, _ = rows_of(grid_over(config, {}), ("share", "head", "total"))
        assert rows == [(share, "model", count_parameters(config).total)]


def test_a_size_that_follows_stays_within_bounds() -> None:
    """Where 4·H is larger than any size may be, the combination is skipped."""
    base = ModelConfig.from_dict({**BASE, "num_attention_heads": 1})
    widths = (12, LARGEST // 4, LARGEST // 4 + 1, LARGEST)
    grid = grid_over(base, {"hidden_size": widths}, followers=("intermediate_size",))
    rows, tally = rows_of(grid, ("hidden_size", "intermediate_size"))
    assert rows == [(12, 48), (LARGEST // 4, LARGEST)]
    assert tally == {("intermediate_size: must be at most 1,000,000,000,000,000", True): 2}


def test_sizes_that_a_model_lacks_are_not_varied() -> None:
    """Varying the groups of BERT changes nothing, and is refused rather than repeated."""
    base = ModelConfig.from_dict({**BASE, "model_type": "bert", "embedding_size": None})
    with pytest.raises(ConfigError, match="num_hidden_groups: must be a single value, since bert"):
        grid_over(base, {"num_hidden_groups": (1, 2)})
    single = grid_over(base, {"num_hidden_groups": (1,), "num_hidden_layers": (2, 3)})
    assert single.combinations == 2


def json_rows(run: Run, *arguments: object) -> list[Keys]:
    """The rows that the command writes as JSON."""
    result = run("sweep", *arguments, "-f", "json")
    assert result.exit_code == 0, result.stderr
    rows: list[Keys] = json.loads(result.stdout)
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
        options = (preset, "-E", widths, "--columns", columns)
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
        run, "albert-base-v2", "-E", "64,128,256,768", "--layout", "paper",
        "--share", ",".join(SHARES), "--head", "encoder,model",
    )  # fmt: skip
    found = {
        (r["embedding_size"], r["share"]): round(r["total"] / 10**6)
        for r in rows
        if (r["head"] == "encoder") == (r["share"] == "none")
    }
    assert len(printed) == 12
    assert {key: found[key] for key in printed} == printed


@pytest.mark.parametrize(
    "option",
    ["-B 4", "-S 8,16", "--dtype float16", "--lora 8 --lora-targets query", "--freeze head"],
)
def test_options_of_costs_need_a_column_of_costs(option: str, run: Run) -> None:
    """Without one they would say nothing."""
    line = ("sweep", "base", "-E", "64,128", *option.split())
    result = run(*line)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "changes costs alone: give --columns" in result.stderr
    assert run(*line, "--columns", "training_flops").exit_code == 0


def test_columns_are_what_varies_and_the_total(run: Run) -> None:
    """By default a row has what varies, slowest first, and its total."""
    (first, *_, last) = json_rows(
        run, "albert-base-v2", "-L", "1:2", "-E", "64,128", "--share", "none,all"
    )
    assert list(first) == ["share", "embedding_size", "num_hidden_layers", "total"]
    assert list(first.values())[:3] == ["none", 64, 1]
    assert list(last.values())[:3] == ["all", 128, 2]


def test_columns_can_be_chosen(run: Run) -> None:
    """Columns are keys with either dash, symbols, parts and components; others are refused."""
    options = ("sweep", "albert-base-v2", "-L", "1,2", "-f", "csv", "--columns")
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
    options = ("albert-base-v2", "-H", "768,1536", "--columns", "H,I,total")
    assert [r["intermediate_size"] for r in json_rows(run, *options)] == [3072, 6144]
    assert run("sweep", *options).stderr == "note: intermediate_size: follows hidden_size, 4 × H\n"
    assert [r["intermediate_size"] for r in json_rows(run, *options, "-I", "5")] == [5, 5]
    assert run("sweep", *options, "-I", "5").stderr == ""
    single = ("albert-base-v2", "-H", "1536", "--columns", "I")
    assert json_rows(run, *single) == [{"intermediate_size": 3072}]


def test_a_sweep_counts_as_count_does(run: Run) -> None:
    """Sizes that follow others in a model do so in a sweep, and others stay as in a count."""
    faults = Faults()
    for model, width in (
        ("deberta-base", "1536"), ("deberta-v3-base", "1536"), ("nomic-embed-text-v1", "1536"),
        ("roformer_chinese_base", "1536"), ("distilbert-base-uncased", "1536"),
        ("modernbert-base", "1536"), ("mobilebert-uncased", "1024"), ("rembert", "1800"),
    ):  # fmt: skip
        inner = str(4 * int(width))
        counted = run("count", model, "-H", width, "-I", inner, "--total").stdout
        rows = json_rows(run, model, "-H", f"{width},{2 * int(width)}", "-I", inner)
        faults.expect(model, f"{rows[0]['total']}\n", counted)
        own = ModelConfig.from_preset(model)
        if own.intermediate_size != 4 * own.hidden_size:
            counted = run("count", model, "-H", width, "--total").stdout
        follows = json_rows(run, model, "-H", f"{width},{2 * int(width)}")
        faults.expect(model, f"{follows[0]['total']}\n", counted)
    faults.none()


def test_rows_of_many_batches_are_handed_on_as_they_come() -> None:
    """However many batches there are of a combination, the first rows wait for few of them."""
    sizes = {"batch_size": range(1, 1_000_001), "sequence_length": (8,)}
    grid_of_one = grid_over(ModelConfig.from_preset("bert-tiny"), {})
    rows = costed_rows(
        grid_of_one, Batches(USUAL, sizes), ("batch_size", "forward_flops"), Counter()
    )
    first, second = next(rows), next(rows)
    assert len(first) == len(second) <= 1_000
    assert [row[0] for row in (*first, *second)] == list(range(1, 2 * len(first) + 1))


def test_costs_of_a_sweep_are_those_of_single_models(run: Run) -> None:
    """A column of FLOPs has what cost says of each combination, followers included."""
    columns = "hidden_size,intermediate_size,total,forward_flops"
    for model in ("deberta-base", "bert-base-uncased", "nomic-embed-text-v1"):
        line = ("-H", "768,1536", "-B", "2", "-S", "64", "--columns", columns)
        (*_, row) = json_rows(run, model, *line)
        sizes = ("-H", "1536", "-I", "6144")
        cost = json.loads(run("cost", model, *sizes, "-B", "2", "-S", "64", "-f", "json").stdout)
        (cost,) = cost if isinstance(cost, list) else (cost,)
        assert row == {
            "hidden_size": 1536,
            "intermediate_size": 6144,
            "total": int(run("count", model, *sizes, "--total").stdout),
            "forward_flops": cost["flops"]["forward"],
        }


def test_widths_of_a_model_without_one(run: Run) -> None:
    """With -E a sweep works for BERT as compare -E does: 64 and 128, both techniques off."""
    rows = json_rows(run, "bert-base-uncased", "-E", "64,128", "--share", "none,all")
    assert [(r["share"], r["embedding_size"], r["total"]) for r in rows] == [
        ("none", 64, 87_681_408), ("none", 128, 89_716_992),
        ("all", 64, 9_714_816), ("all", 128, 11_750_400),
    ]  # fmt: skip


def test_sizes_alone_are_swept_with_their_defaults_told(run: Run, tmp_path: Path) -> None:
    """Without a preset the notes are those of a single count, but for I, which follows H."""
    result = run("sweep", "-V", "9", "-H", "8,16", "-L", "2", "-f", "csv")
    assert result.stdout == "hidden_size,total\n8,6016\n16,15232\n"
    assert set(result.stderr.splitlines()) == {
        "note: model_type: not given, so bert (there is no embedding_size)",
        "note: not given, so the default of BertConfig:"
        " max_position_embeddings 512, type_vocab_size 2",
        "note: intermediate_size: follows hidden_size, 4 × H",
    }
    config = tmp_path / "config.json"
    config.write_text('{"vocab_size": 9, "num_hidden_layers": 2}')
    swept = run("sweep", config, "-H", "8,16", "-f", "csv")
    assert (swept.stdout, swept.stderr) == (result.stdout, result.stderr)


def test_groups_of_convolutions_are_swept(run: Run) -> None:
    """SqueezeBERT's E is its H, so that other combinations are skipped, and I follows."""
    result = run("sweep", "squeezebert-uncased", "-H", "768,1536", "-E", "768,1536", "-f", "csv")
    total = run("count", "squeezebert-uncased", "-H", "1536", "-E", "1536", "-I", "6144", "--total")
    assert result.stdout.splitlines()[2] == f"1536,1536,{total.stdout.strip()}"
    assert "note: skipped 2 of 4 combinations: embedding_size: must be hidden_size" in result.stderr


IMPOSSIBLE = ("sweep", "albert-base-v2", "-A", "5,12", "--head", "model,causal-lm")


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
    assert run("sweep", "albert-base-v2", "-A", "6,12", "--strict").exit_code == 0


@pytest.mark.parametrize("format", ["table", *STREAMED])
def test_nothing_possible_is_an_error(run: Run, format: str) -> None:
    """If every combination is impossible there is no result at all."""
    result = run("sweep", "albert-base-v2", "-A", "5,7", "-f", format)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "impossible, 2 of 2 combinations: num_attention_heads" in result.stderr


def test_a_search_for_one_possible_combination_ends(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where none of many is possible the sweep says so, and --strict looks through no more."""
    monkeypatch.setattr(grid, "MOST_IMPOSSIBLE", 5_000)
    endless = ("sweep", "base", "-H", "1:1000000000000", "-A", "999999937", "-f", "csv")
    result = run(*endless)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == (
        "error: none of the first 6,000 of 1,000,000,000,000 combinations is possible:"
        " num_attention_heads: must divide hidden_size, got 999999937\n"
    )
    # One that is possible comes late, and those after it are not counted against it.
    late = run("sweep", "base", "-H", "1:20000", "-A", "4000", "-f", "csv")
    assert [row.split(",")[0] for row in late.stdout.splitlines()[1:]] == [
        "4000", "8000", "12000", "16000", "20000",
    ]  # fmt: skip
    strict = run("sweep", "base", "-V", "1:5001", "--strict", "-f", "csv")
    assert (strict.exit_code, strict.stdout) == (2, "")
    assert "strict: at most 5,000 combinations" in strict.stderr
    assert run("sweep", "base", "-V", "1:5000", "--strict", "-f", "csv").exit_code == 0


UNLIKE = {
    "sweep base --num-hidden-groups 2 --share none": "impossible, 1 of 1 combinations: num_hidden",
    "sweep base --num-hidden-groups 2,6 --share none,all": "skipped 2 of 4 combinations: num",
    "sweep bert-tiny -L 1,2 --inner-group-num 2": "inner_group_num: ignored, since bert has none",
    "sweep bert-mini -E 64": "embedding_size: bert-mini has none of its own, so factorized",
    "sweep bert-mini -L 2": "",
}
"""Sweeps over sizes that a model has not, or has otherwise, and what is said."""


@pytest.mark.parametrize("line", UNLIKE)
def test_sweeps_say_what_other_commands_say(line: str, run: Run) -> None:
    """What is refused there, ignored there, or meant otherwise."""
    result = run(*line.split())
    assert (result.exit_code == 2) == ("impossible" in UNLIKE[line])
    assert UNLIKE[line] in result.stderr
    assert bool(result.stderr) == bool(UNLIKE[line])


TOO_SMALL = {
    "all-mpnet-base-v2 -V": "vocab_size: must be at least 2",
    "all-mpnet-base-v2 --max-position-embeddings": "max_position_embeddings: must be at least 2",
}


@pytest.mark.parametrize("line", TOO_SMALL)
def test_the_order_of_values_decides_nothing(line: str, run: Run) -> None:
    """A value that makes no model is skipped wherever it stands, and alone it is refused."""
    for values in ("1,16,64", "64,1,16", "16,64,1"):
        result = run("sweep", *line.split(), values, "-f", "csv")
        assert result.exit_code == 0
        rows = [row.split(",")[0] for row in result.stdout.splitlines()[1:]]
        assert rows == [v for v in values.split(",") if v != "1"]
        assert f"skipped 1 of 3 combinations: {TOO_SMALL[line]}" in result.stderr
    alone = run("sweep", *line.split(), "1", "-f", "csv")
    assert (alone.exit_code, alone.stdout) == (2, "")
    assert TOO_SMALL[line] in alone.stderr


def test_the_ends_of_values() -> None:
    """The smallest and the largest, also of ranges that nobody could count through."""
    for text, ends in {
        "7": (7, 7),
        "3,1,2": (1, 3),
        "5:10:2,1": (1, 9),
        "1:1000000000000": (1, 10**12),
        "50:20000,9,1:8": (1, 20_000),
    }.items():
        assert ends_of(parse_sizes("vocab_size", text)) == ends


def test_all_wrong_input_is_named_at_once(run: Run) -> None:
    """Lists, names and the base are all checked before anything is said."""
    result = run(
        "sweep", "-V", "x", "-H", "768", "--share", "some", "--head", "tail",
        "--inner-group-num", "0",
    )  # fmt: skip
    assert (result.exit_code, result.stdout) == (2, "")
    named = [line.split(":")[1].strip() for line in result.stderr.splitlines()]
    assert named == ["vocab_size", "inner_group_num", "head", "share", "num_hidden_layers"]


GRID = ("albert-base-v2", "-E", "64,128", "-L", "1:700", "--share", "none,all")


def test_formats_hold_the_same_rows(run: Run) -> None:
    """CSV, JSON, JSON lines and Markdown agree, over several pieces."""
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


def test_numbers_alone_are_written_as_other_rows_are(run: Run) -> None:
    """CSV of nothing but numbers, which is written in a shorter way, has the same cells."""
    line = ("sweep", "albert-base-v2", "-E", "64:80", "-f", "csv", "--columns")
    plain = run(*line, "embedding_size,total").stdout.splitlines()
    mixed = run(*line, "embedding_size,total,share").stdout.splitlines()
    assert [row.rpartition(",")[0] for row in mixed] == plain
    assert len(plain) == 18


def test_a_table_holds_only_so_many_rows(run: Run) -> None:
    """A table is shown whole, so a long one is refused with a hint."""
    result = run("sweep", *GRID)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "a table must have at most 1,000 rows; give -f csv" in result.stderr
    result = run("sweep", *GRID[:3], "--share", "none,all")
    shown = result.stdout.split()
    assert result.exit_code == 0
    assert {"64", "128", "none", "all", "9,681,408", "11,683,584"} <= set(shown)


@pytest.mark.parametrize("format", STREAMED)
def test_rows_are_written_as_they_come(format: str) -> None:
    """The first rows are there before the second piece has been worked out."""
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
        found = counted_rows(grid, ("vocab_size", "total"), Counter())
        tracemalloc.start()
        for _ in stream("csv", columns, found, Canvas()):
            pass
        highest = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return highest

    few = peak(2_000)
    assert peak(60_000) < few * 1.5


ENDLESS = ("sweep", "-V", "1:1_000_000_000", "-E", "8", "-H", "16", "-L", "2", "-f", "csv")


def start(*arguments: str, **options: Any) -> subprocess.Popen[str]:
    """The command in a process of its own."""
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
    pty = pytest.importorskip("pty", reason="needs a terminal to write to")
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


def test_costs_that_are_unknown(run: Run) -> None:
    """The reason is told once; of several heads, those that are known have no part in it."""
    line = ("sweep", "modernbert-base", "-L", "2,4", "-B", "1,2", "-f", "csv", "--columns")
    result = run(*line, "num_hidden_layers,training_peak_bytes")
    assert [row.split(",")[-1] for row in result.stdout.splitlines()[1:]] == ["", "", "", ""]
    (told,) = result.stderr.splitlines()
    assert told.startswith("note: modernbert-base: the forward pass of modernbert is not described")
    assert told.endswith(" are, so its training memory is unknown")
    assert run(*line, "forward_flops").stderr == ""


def test_what_all_rows_have_in_common(run: Run) -> None:
    """Sizes on one line, without those that the family lacks, and the batch on another."""
    line = ("sweep", "distilbert-base-uncased", "-L", "2,4")
    shown = run(*line, "-S", "64,128", "--columns", "L,training_peak_bytes").stdout
    assert shown.splitlines()[-2:] == [
        "V = 30,522  H = 768  I = 3,072  A = 12", "B = 1, float32, adamw, sdpa",
    ]  # fmt: skip
    alone = run(*line, "--head", "masked-lm")
    assert alone.stdout.splitlines()[-1].endswith("  A = 12  head masked-lm")
    factorized = run("sweep", "bert-base-uncased", "-L", "2,4", "-E", "128").stdout
    assert factorized.splitlines()[-1].startswith("V = 30,522  E = 128  H = 768  I = ")


def test_sweeps_of_costs_show_their_progress_sooner(
    monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    """A batch is a step of its own, and a row of costs takes longer than one of counts."""
    asked = []

    @contextmanager
    def progress(*length: int) -> Iterator[Callable[[int], None]]:
        asked.append(length)
        yield lambda done: asked.append((done,))

    monkeypatch.setattr("albert_calc.cli.commands.sweep.progress", progress)
    line = ("sweep", "bert-tiny", "-L", "1:3", "-B", "1:4", "-f", "csv", "--columns")
    assert run(*line, "training_peak_bytes").exit_code == 0
    (length, costly), *done = asked
    assert (length, done[-1]) == (12, (12,))
    asked.clear()
    run(*line[:4], "-f", "csv")
    assert asked[0][0] == 3
    assert asked[0][1] >= 100 * costly


def test_what_cannot_be_trained_is_refused_before_anything_is_written(run: Run) -> None:
    """Whichever head lacks it, and whichever cost is shown."""
    for line, lacking in (
        ("--head sequence-classification,model --lora 4 --train classifier --columns trainable",
         "got 'classifier'"),
        ("--lora 4 --lora-targets zzz --columns forward_flops", "got 'zzz'"),
    ):  # fmt: skip
        for shape in ("json", "csv", "table"):
            result = run("sweep", "bert-base-uncased", *line.split(), "-f", shape)
            assert (result.exit_code, result.stdout) == (2, ""), line
            assert lacking in result.stderr


def test_groups_that_a_family_lacks_are_ignored_as_anywhere(run: Run) -> None:
    """Only a share of none that was asked for contradicts them."""
    line = ("bert-base-uncased", "--num-hidden-groups", "2")
    counted = run("count", *line, "--total")
    swept = run("sweep", *line, "-f", "csv")
    assert swept.stdout == f"total\n{counted.stdout}"
    assert "ignored, since bert has none, got 2" in swept.stderr
    assert run("sweep", *line, "--share", "none").exit_code == 2


def test_batches_that_cannot_be_run_are_told(run: Run) -> None:
    """As any command tells that shows what they cost."""
    for line in (
        "sweep base -S 128,1024 --columns training_peak_bytes", "cost base -S 1024",
        "explain base --activations -S 1024", "compare base --cost -S 1024",
    ):  # fmt: skip
        result = run(*line.split())
        assert (result.exit_code, "than the 512 positions of base" in result.stderr) == (0, True)
    fitting = run("sweep", "base", "-S", "128,512", "--columns", "training_peak_bytes")
    assert "positions" not in fitting.stderr
