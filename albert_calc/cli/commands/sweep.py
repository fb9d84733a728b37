"""``albert-calc sweep``: a row for every combination of sizes, sharing and heads."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from math import prod
from typing import TYPE_CHECKING, Any

import click

from albert_calc.cli.asked import Asked
from albert_calc.cli.command import model_command, option
from albert_calc.cli.options import BATCH_HEADING, TRAINED_HEADING, NameType, typed, under
from albert_calc.cli.output import LONG, canvas, progress, say, write_chunks
from albert_calc.cli.reports.cost_notes import batch_warnings, sweep_notes
from albert_calc.cli.reports.sweep import Wanted, described, sweep_picture, sweep_table
from albert_calc.cli.trained import trained_options
from albert_calc.cli.workload import batch_lists, training_options, workload_of
from albert_calc.config.followers import follow_note, followers_of, put_followers
from albert_calc.costs.trained import read_trained, with_targets
from albert_calc.costs.workload import BATCH, BATCH_KEYS, USUAL
from albert_calc.errors import ConfigError, Problems
from albert_calc.families import HEADS
from albert_calc.families.base import SHARES, Rule
from albert_calc.families.sizes import LARGEST, SYMBOLS
from albert_calc.models.model import Model, Request, followers_in, read_model
from albert_calc.render.stream import STREAMED, stream
from albert_calc.report import Report
from albert_calc.search.costs import COSTS, Batches, costed_rows, untrainable
from albert_calc.search.grid import Grid, Tally, broken_rules, grid_over
from albert_calc.search.ranges import ends_of, parse_names, parse_sizes
from albert_calc.search.sweep import Row, all_columns, columns_of, counted_rows

if TYPE_CHECKING:
    from albert_calc.pictures.picture import Picture

_LONG = 2_000
"""Rows of costs that take long enough for somebody to wonder."""


# Sizes that must fit others: a base is not asked what is asked of every combination.
_FITTING = ("num_attention_heads", "inner_group_num")

_UNSHARED = Rule(
    "must be left out with --share none",
    ("num_hidden_groups", "share"),
    lambda _, share: share != "none",
)
"""Asked where groups are typed, as of any command."""


@model_command(
    "sweep",
    formats=("table", *STREAMED),
    lists=True,
    picture="--chart",
    undrawn=("columns",),
)
@option(
    "--head",
    default="model",
    show_default=True,
    metavar="NAMES",
    help="What stands on the encoder; several heads with commas between them.",
)
@option(
    "--share",
    metavar="NAMES",
    help=f"Which blocks the layers share: {', '.join(SHARES)}; several with commas.",
)
@option(
    "--columns",
    type=NameType(lambda: (*all_columns(), *BATCH_KEYS, *COSTS), several=True),
    metavar="NAMES",
    help="The columns, such as hidden_size,layers,total; by default what varies, and the total.",
)
@option("--chart", is_flag=True, help="Draw the totals, where only one size varies.")
@batch_lists
@trained_options
@training_options
def command(
    asked: Asked, *, head: str, share: str | None, columns: str | None, chart: bool,
    **options: Any,
) -> "Report | Picture | None":  # fmt: skip
    """Count every combination of sizes, a row each.

    The combinations may also be of ways of sharing and of heads.

    Each size takes values and ranges: 64,128 or 256:1024:64 (the end is included). Write
    30_000 here, not 30,000. Names are lists too: --share all,none. The last size varies
    fastest. When -H varies and -I is not given, I follows as 4 × H where it does
    in the model. A combination that cannot be built is skipped and reported; with --strict it
    is an error. Rows are written as they come, in any number, except those of a table.

    Columns are sizes, share, head, total, parts and components of the count, and costs:
    training_peak_bytes, activation_bytes, inference_peak_bytes, weights_bytes, forward_flops,
    training_flops, executed_parameters, trainable. A table of two sizes and one column is a
    grid.

    \b
    Examples:
      albert-calc sweep albert-base-v2 -E 64,128,256,768 --share all,none
      albert-calc sweep base -H 256:1024:64 -A 1 --columns hidden_size,layers,total
      albert-calc sweep bert-base-uncased -L 2:12 -f csv
      albert-calc sweep -V 1000:1_000_000 -E 128 -H 768 -L 12 -f csv
      albert-calc sweep base -E 64,128,256,768 --chart
      albert-calc sweep base -B 1,2,4,8,16 -S 128,512 --columns training_peak_bytes
    """
    drawn = chart or asked.save is not None
    wanted = _wanted(asked, head, share, columns, options)
    grid = wanted.grid
    if drawn and len(wanted.varied) != 1:
        varied = ", ".join(wanted.varied) or "none"
        raise click.UsageError(f"--chart needs one size that varies, got {varied}")
    if asked.request.strict:
        _refuse(_fatal(broken_rules(grid)), grid)
    tally: Tally = Counter()
    rows = _watched(wanted, tally)
    result: Report | Picture | None = None
    if drawn:
        result = sweep_picture(wanted, rows)
    elif asked.format == "table":
        result = sweep_table(wanted, rows)
    else:
        shown = [described(name) for name in wanted.columns]
        if not write_chunks(stream(asked.format, shown, rows, canvas())):
            return None
    skipped = _fatal(tally)
    left_out = (f"skipped {text}" for text in _counted(skipped, grid))
    workload = wanted.batches.workload
    said = sweep_notes(wanted.base.name, grid, wanted.columns, workload)
    notes = (*wanted.notes, *said, *left_out)
    longest = workload._replace(sequence_length=max(wanted.batches.sizes["sequence_length"]))
    refused = batch_warnings([wanted.base], longest) if wanted.costed else ()
    warnings = (*_counted(tally - skipped, grid), *refused)
    if isinstance(result, Report):
        return result._replace(remarks=notes, warnings=warnings)
    if not asked.quiet:
        say("note", notes)
    say("warning", warnings)
    return result


def _wanted(
    asked: Asked, head: str, share: str | None, columns: str | None, options: Mapping[str, Any]
) -> Wanted:
    """The grid and the columns; ``ConfigError`` with everything that is wrong with them."""
    problems = Problems()
    sizes: dict[str, Collection[int]] = {}
    heads: tuple[str, ...] = ()
    shares: tuple[str, ...] = ()
    typed_sizes = asked.options
    for key in SYMBOLS:
        if typed_sizes[key] is not None:
            with problems.collected():
                sizes[key] = parse_sizes(key, typed_sizes[key])
    of_batch: dict[str, Collection[int]] = {}
    for key in BATCH_KEYS:
        if options[key] is not None:
            with problems.collected():
                of_batch[key] = parse_sizes(key, options[key])
    workload = USUAL
    with problems.collected():
        usual = {key: getattr(USUAL, key) for key in BATCH_KEYS}
        workload = workload_of({**options, **usual})
    with problems.collected():
        workload = workload._replace(trained=read_trained(options))
    with problems.collected():
        heads = parse_names("head", head, HEADS)
    if share is not None:
        with problems.collected():
            shares = parse_names("share", share, SHARES)
    # Sizes that cannot be read are 1, and nobody is told of what that makes.
    ends = {k: ends_of(sizes.get(k, (1,))) for k in SYMBOLS if typed_sizes[k] is not None}
    followers: tuple[str, ...] = ()
    base = grid = None
    names: tuple[str, ...] = ()
    with problems.collected():
        varied = [key for key, values in sizes.items() if len(values) > 1]
        followers = followers_of(varied, sizes, followers_in(asked.found[0]))
        base, single = _base(asked, ends, followers)
        grid = grid_over(
            base.config, {**single, **sizes},
            shares=shares or (base.config.family.default_share,), heads=heads,
            layout=asked.request.layout, followers=followers,
        )  # fmt: skip
        if "num_hidden_groups" in sizes and shares:
            grid = grid._replace(rules=(_UNSHARED,))
    if columns is not None and grid is not None:
        with problems.collected():
            names = _column_names(columns, (*columns_of(grid), *BATCH_KEYS, *COSTS))
    problems.raise_any()
    assert base is not None and grid is not None  # noqa: S101 - their problems were raised
    notes = tuple(map(follow_note, followers))
    if grid.embedding == "factorized":
        notes += (f"embedding_size: {base.name} has none of its own, so factorized at each E",)
    batches = Batches(
        workload._replace(trained=with_targets(workload.trained, base.config.model_type)),
        {key: of_batch.get(key, (getattr(workload, key),)) for key in BATCH_KEYS},
    )
    idle = typed(*under(BATCH_HEADING), *under(TRAINED_HEADING))
    if idle and not any(name in COSTS for name in names):
        raise click.UsageError(
            f"{idle[0]} changes costs alone: give --columns, such as training_peak_bytes"
        )
    Problems(untrainable(grid, batches.workload.trained)).raise_any()
    # A row of costs says which batch it is of.
    names = (*(key for key in batches.varied if key not in names), *names)
    return Wanted(base, grid, batches, names or (*grid.varied, "total"), notes)


def _base(
    asked: Asked, ends: Mapping[str, tuple[int, int]], followers: tuple[str, ...]
) -> tuple[Model, dict[str, Collection[int]]]:
    """What all combinations have in common, and apart from it the sizes that must fit others.

    It is the model with the largest of all values, since rules ask for a size that is large
    enough, or else with the smallest, whose problems are told if that is none either.
    """
    least = {key: low for key, (low, _) in ends.items()}
    try:
        return _base_at(asked, {key: high for key, (_, high) in ends.items()}, followers)
    except ConfigError:
        return _base_at(asked, least, followers)


def _base_at(
    asked: Asked, given: Mapping[str, int], followers: tuple[str, ...]
) -> tuple[Model, dict[str, Collection[int]]]:
    """The model with the sizes *given*, and apart from it those that must fit others.

    So that it is not asked what is asked of every single combination. An E is left out where
    the family has none: it is that of a factorized embedding then.
    """
    found = asked.found[0]
    others = {k: v for k, v in asked.request.overrides.items() if k not in SYMBOLS}
    request = Request(
        others, layout=asked.request.layout, strict=asked.request.strict,
        headless=bool(typed("head")),
    )  # fmt: skip
    sizes = dict(given)
    put_followers(sizes, followers)
    sizes = {key: min(size, LARGEST) for key, size in sizes.items()}
    if found.origin != "sizes":
        try:
            own = read_model(found, request).config
        except ConfigError:
            # The sizes may be what the file lacks.
            own = read_model(found, request._replace(overrides={**others, **sizes})).config
        had = [k for k in _FITTING if own.family.has(k) and own.keys[k] and k not in given]
        fitting = {k: own.keys[k] for k in had}
        if not own.family.has("embedding_size"):
            sizes.pop("embedding_size", None)
    else:
        fitting = {}
    single = {k: (v,) for k, v in {**fitting, **given}.items() if k in _FITTING}
    base = read_model(
        found, request._replace(overrides={**others, **sizes, **dict.fromkeys(single, 1)})
    )
    lost = [
        f"{key}: ignored, since {base.config.model_type} has none, got {size}"
        for key, (size,) in single.items()
        if size > 1 and not base.config.family.has(key)
    ]
    base = base._replace(warnings=(*base.warnings, *lost))
    asked.remember(base)
    return base, {k: v for k, v in single.items() if base.config.family.has(k)}


def _column_names(text: str, known: Collection[str]) -> tuple[str, ...]:
    """The columns that *text* lists: keys, with either dash, or symbols."""
    keys = {symbol: key for key, symbol in SYMBOLS.items()} | {s.symbol: s.key for s in BATCH}
    names = [name.strip() for name in text.split(",")]
    listed = ",".join(keys.get(name, name.replace("-", "_")) for name in names)
    return parse_names("columns", listed, known)


def _watched(wanted: Wanted, tally: Tally) -> Iterator[list[Row]]:
    """The rows in pieces, with a progress bar; ``ConfigError`` if there are none at all."""
    grid, columns = wanted.grid, wanted.columns
    found = counted_rows(grid, columns, tally)
    if wanted.costed:
        found = costed_rows(grid, wanted.batches, columns, tally)
    written = 0
    # A combination that is skipped has no batches.
    each = prod(map(len, wanted.batches.sizes.values())) if wanted.costed else 1
    with progress(each * grid.combinations, _LONG if wanted.costed else LONG) as reach:
        for rows in found:
            yield rows
            written += len(rows)
            reach(written + each * _fatal(tally).total())
    if not written:
        _refuse(_fatal(tally), grid)


def _fatal(tally: Tally) -> Tally:
    return Counter({told: n for told, n in tally.items() if told[1]})


def _counted(tally: Tally, grid: Grid) -> Iterator[str]:
    for (text, _), count in tally.items():
        yield f"{count:,} of {grid.combinations:,} combinations: {text}"


def _refuse(skipped: Tally, grid: Grid) -> None:
    if skipped:
        raise ConfigError(f"impossible, {text}" for text in _counted(skipped, grid))
