"""``albert-calc sweep``: a row for every combination of sizes, sharing and heads."""

from collections import Counter
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from albert_calc.architectures import ARCHITECTURES, HEADS, SHARES
from albert_calc.cli.command import command
from albert_calc.cli.options import (
    Source,
    format_choice,
    layout_option,
    one_requested,
    source_options,
)
from albert_calc.cli.output import canvas, emit, progress, say, say_about, write_chunks
from albert_calc.cli.pictures import picture_options, refuse_contradictions, show
from albert_calc.cli.shape import sizes_line
from albert_calc.config import ModelConfig
from albert_calc.errors import ConfigError, Problems
from albert_calc.render.stream import stream
from albert_calc.report import Column, Report, Section
from albert_calc.search.grid import Grid, Tally, broken_rules, grid_over
from albert_calc.search.ranges import parse_names, parse_sizes
from albert_calc.search.sweep import COLUMNS, Row, batches
from albert_calc.sizes import SYMBOLS, checked_sizes

if TYPE_CHECKING:
    from albert_calc.picture import Chart

_LARGEST_TABLE = 1_000
_LARGEST_CHART = 200


@command()
@source_options(lists=True)
@click.option(
    "--head",
    default="model",
    show_default=True,
    metavar="NAMES",
    help=f"What stands on the encoder: {', '.join(HEADS)}.",
)
@click.option(
    "--share", metavar="NAMES", help=f"Which blocks the layers share: {', '.join(SHARES)}."
)
@layout_option
@click.option(
    "--columns",
    metavar="NAMES",
    help="The columns, such as hidden_size,layers,total; by default what varies, and the total.",
)
@click.option("--strict", is_flag=True, help="Exit with 2 if a combination is impossible.")
@picture_options("--chart", "Draw the totals as bars, where only one size varies.")
@format_choice("table", "csv", "json", "jsonl", "markdown")
def sweep(
    columns: str | None, strict: bool, chart: bool, save: str | None, format: str,
    **options: Any,
) -> None:  # fmt: skip
    """Count every combination of sizes, a row each.

    The combinations may also be of ways of sharing and of heads.

    Each size takes values and ranges: 64,128 or 256:1024:64 (the end is included). Write
    30_000 here, not 30,000. Names are lists too: --share all,none. The last size varies
    fastest. When -H varies and -I is not given, I follows as 4 × H. A combination that
    cannot be built is skipped and reported. Rows are written as they come, in any number,
    except those of a table.

    \b
    Examples:
      albert-calc sweep --preset albert-base-v2 -E 64,128,256,768 --share all,none
      albert-calc sweep --preset base -H 256:1024:64 -A 1 --columns hidden_size,layers,total
      albert-calc sweep -V 1000:1_000_000 -E 128 -H 768 -L 12 -f csv
      albert-calc sweep --preset base -E 64,128,256,768 --chart
    """
    refuse_contradictions("--chart", chart, save, "columns")
    asked = _asked(columns, options)
    grid = asked.grid
    if chart and len(grid.varied) != 1:
        varied = ", ".join(grid.varied) or "none"
        raise click.UsageError(f"--chart needs one size that varies, got {varied}")
    say_about([asked.base])
    say("note", asked.notes)
    if strict:
        _refuse(_fatal(broken_rules(grid)), grid)
    tally: Tally = Counter()
    rows = _watched(grid, asked.columns, tally)
    described = [_described(name) for name in asked.columns]
    if chart:
        show(_chart(asked, rows), save)
    elif format == "table":
        emit(_table(asked, described, rows), format)
    elif not write_chunks(stream(format, described, rows, canvas())):
        return
    skipped = _fatal(tally)
    say("note", (f"skipped {text}" for text in _counted(skipped, grid)))
    say("warning", _counted(tally - skipped, grid))


class _Asked(NamedTuple):
    """What a command line asks for; *base* holds what all combinations have in common."""

    name: str
    base: ModelConfig
    grid: Grid
    columns: tuple[str, ...]
    notes: tuple[str, ...]


def _asked(columns: str | None, options: dict[str, Any]) -> _Asked:
    """The grid and the columns; ``ConfigError`` with everything that is wrong with them."""
    problems = Problems()
    sizes: dict[str, Collection[int]] = {}
    names: tuple[str, ...] = ()
    lists: dict[str, tuple[str, ...]] = {"share": (), "head": ()}
    for key in SYMBOLS:
        if options[key] is not None:
            with problems.collected():
                sizes[key] = parse_sizes(key, options[key])
    for key, known in (("head", HEADS), ("share", SHARES)):
        if options[key] is not None:
            with problems.collected():
                lists[key] = parse_names(key, options[key], known)
    if columns is not None:
        with problems.collected():
            names = _column_names(columns)
    # The first of each size stands for all; 1 for those that cannot be read.
    first = {k: next(iter(sizes.get(k, (1,)))) for k in SYMBOLS if options[k] is not None}
    follows = len(sizes.get("hidden_size", ())) > 1 and "intermediate_size" not in sizes
    with problems.collected():
        source = one_requested({**options, **first, "share": ",".join(lists["share"])})
        base, single = _base(source, follows)
        shares = lists["share"] or (ARCHITECTURES[base.model_type].default_share,)
        grid = grid_over(
            base, {**single, **sizes}, shares=shares, heads=lists["head"],
            layout=options["layout"], intermediate_follows=follows,
        )  # fmt: skip
    problems.raise_any()
    notes = ("intermediate_size: follows hidden_size, 4 × H",) if follows else ()
    return _Asked(source.name, base, grid, names or (*grid.varied, "total"), notes)


def _base(source: Source, follows: bool) -> tuple[ModelConfig, dict[str, Collection[int]]]:
    """The config of *source*, unshared, and apart from it the sizes that must fit others.

    So that its first combination is not asked what is asked of every single one.
    """
    keys = {**source.mapping, **source.overrides}
    if follows:
        # Any I will do, since none of the base's is counted.
        keys["intermediate_size"] = 1
    problems = Problems()
    single: dict[str, Collection[int]] = {}
    for key, neutral in (("num_attention_heads", None), ("inner_group_num", 1)):
        if keys.get(key) is not None:
            with problems.collected():
                single[key] = (checked_sizes(keys, key)[key],)
            keys[key] = neutral
    with problems.collected():
        base = ModelConfig.from_dict(keys, "none")
    problems.raise_any()
    return (base if follows else source.annotated(base)), single


def _column_names(text: str) -> tuple[str, ...]:
    """The columns that *text* lists: keys, with either dash, or symbols."""
    keys = {symbol: key for key, symbol in SYMBOLS.items()}
    names = [name.strip() for name in text.split(",")]
    listed = ",".join(keys.get(name, name.replace("-", "_")) for name in names)
    return parse_names("columns", listed, COLUMNS)


def _watched(grid: Grid, columns: tuple[str, ...], tally: Tally) -> Iterator[list[Row]]:
    """The rows in batches, with a progress bar; ``ConfigError`` if there are none at all."""
    written = 0
    with progress(grid.combinations) as reach:
        for rows in batches(grid, columns, tally):
            yield rows
            written += len(rows)
            reach(written + _fatal(tally).total())
    if not written:
        _refuse(_fatal(tally), grid)


def _fatal(tally: Tally) -> Tally:
    return Counter({rule: n for rule, n in tally.items() if rule.fatal})


def _counted(tally: Tally, grid: Grid) -> Iterator[str]:
    for rule, count in tally.items():
        yield f"{count:,} of {grid.combinations:,} combinations: {rule.text}"


def _refuse(skipped: Tally, grid: Grid) -> None:
    if skipped:
        raise ConfigError(f"impossible, {text}" for text in _counted(skipped, grid))


def _described(name: str) -> Column:
    if name in ("share", "head"):
        return Column(name, name, "text")
    if name in SYMBOLS:
        return Column(name, SYMBOLS[name], "count")
    return Column(name, name.replace("_", " "), "count")


def _table(asked: _Asked, columns: list[Column], batches: Iterator[list[Row]]) -> Report:
    rows = _collected(batches, "format: a table", _LARGEST_TABLE)
    title, line = _title(asked, len(rows))
    return Report((Section(title, tuple(columns), tuple(rows), (line,)),), rows)


def _chart(asked: _Asked, batches: Iterator[list[Row]]) -> "Chart":
    from albert_calc.cli.drawings import totals_chart

    rows = _collected(batches, "chart: a picture", _LARGEST_CHART)
    varied = asked.grid.varied[0]
    return totals_chart(*_title(asked, len(rows)), SYMBOLS.get(varied, varied), rows)


def _collected(batches: Iterator[list[Row]], what: str, most: int) -> list[Row]:
    rows: list[Row] = []
    for batch in batches:
        rows += batch
        if len(rows) > most:
            raise ConfigError(
                f"{what} must have at most {most:,} rows; give -f csv, or another format, for more"
            )
    return rows


def _title(asked: _Asked, count: int) -> tuple[str, str]:
    """What is counted, and what all rows have in common."""
    grid = asked.grid
    fixed = {k: next(iter(v)) for k, v in grid.sizes.items() if len(v) == 1}
    common = [sizes_line(fixed, asked.base.assumed)]
    common += [f"share {s}" for s in grid.shares if len(grid.shares) == 1]
    common += [f"head {h}" for h in grid.heads if len(grid.heads) == 1]
    return (
        f"{asked.name}: {count:,} combination{'' if count == 1 else 's'}, layout {grid.layout}",
        ", ".join(common),
    )
