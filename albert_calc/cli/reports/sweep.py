"""The rows of a sweep as a table, as a grid, and as a picture."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from albert_calc.cli.reports.cost import batch_line
from albert_calc.cli.shape import sizes_line
from albert_calc.costs.circumstances import attention_of
from albert_calc.costs.workload import BATCH, BATCH_KEYS
from albert_calc.errors import ConfigError
from albert_calc.families.sizes import SYMBOLS
from albert_calc.models.model import Model
from albert_calc.named_tuple import NamedTuple
from albert_calc.report import Column, Kind, Report, Section
from albert_calc.search.costs import COSTS, Batches
from albert_calc.search.grid import Grid
from albert_calc.search.sweep import Row

if TYPE_CHECKING:
    from albert_calc.pictures.picture import Picture

_LARGEST_TABLE = 1_000
_LARGEST_CHART = 10_000
_WIDEST_GRID = 8


class Wanted(NamedTuple):
    """What a command line asks for; *base* is what all combinations have in common."""

    base: Model
    grid: Grid
    batches: Batches
    columns: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def varied(self) -> tuple[str, ...]:
        """The columns that vary by themselves, slowest first."""
        return (*self.grid.varied, *self.batches.varied)

    @property
    def costed(self) -> bool:
        """Whether a column depends on a batch."""
        return any(c in COSTS or c in BATCH_KEYS for c in self.columns)


def described(name: str) -> Column:
    """The column of the rows that is called *name*."""
    if name in ("share", "head"):
        return Column(name, name, "text")
    if name in SYMBOLS:
        return Column(name, SYMBOLS[name], "count")
    batch = {size.key: size.symbol for size in BATCH}
    if name in batch:
        return Column(name, batch[name], "count")
    kind: Kind = "bytes" if name.endswith("_bytes") else "count"
    kind = "flops" if name.endswith("_flops") else kind
    return Column(name, name.replace("_", " "), kind)


def sweep_table(wanted: Wanted, pieces: Iterator[list[Row]]) -> Report:
    """The rows of *pieces* as a table; raises ``ConfigError`` if they are too many for one."""
    rows = _collected(pieces, "format: a table", _LARGEST_TABLE)
    headline, line = _title(wanted, len(rows))
    columns = tuple(described(name) for name in wanted.columns)
    section = _as_grid(wanted, columns, rows) or Section(columns, tuple(rows))
    lines = [line]
    if wanted.costed:
        workload = next(wanted.batches.workloads)
        model_type = wanted.base.config.model_type
        workload = workload._replace(attention=attention_of(model_type, workload))
        lines.append(batch_line(workload, without=wanted.batches.varied))
    return Report((section._replace(lines=tuple(filter(None, lines))),), headline=headline)


def _as_grid(wanted: Wanted, columns: tuple[Column, ...], rows: Sequence[Row]) -> Section | None:
    """Two sizes and one figure as a grid, a row for each value of the first size."""
    if len(columns) != 3 or wanted.columns[:2] != wanted.varied:
        return None
    if any(name in ("share", "head") for name in wanted.varied):
        return None
    across = list(dict.fromkeys(row[1] for row in rows))
    if len(across) > _WIDEST_GRID:
        return None
    first, second, figure = columns
    cells = {(row[0], row[1]): row[2] for row in rows}
    return Section(
        (
            Column(first.key, f"{first.heading} \\ {second.heading}", first.kind),
            *(Column(str(value), f"{value:,}", figure.kind) for value in across),
        ),
        tuple(
            (value, *(cells.get((value, other)) for other in across))
            for value in dict.fromkeys(row[0] for row in rows)
        ),
        title=figure.heading,
    )


def sweep_picture(wanted: Wanted, pieces: Iterator[list[Row]]) -> "Picture":
    """The rows of *pieces* over the one size that varies, as a picture.

    Raises ``ConfigError`` if they are too many for one.
    """
    from albert_calc.pictures.charts import sweep_chart

    rows = _collected(pieces, "chart: a picture", _LARGEST_CHART)
    varied = wanted.varied[0]
    model_type = wanted.base.config.model_type
    return sweep_chart(*_title(wanted, len(rows)), varied, rows, model_type)


def _collected(pieces: Iterator[list[Row]], what: str, most: int) -> list[Row]:
    rows: list[Row] = []
    for piece in pieces:
        rows += piece
        if len(rows) > most:
            raise ConfigError(
                f"{what} must have at most {most:,} rows; give -f csv, or another format, for more"
            )
    return rows


def _title(wanted: Wanted, count: int) -> tuple[str, str]:
    """What is counted, and what all rows have in common."""
    grid = wanted.grid
    counted = [key for key in grid.sizes if grid.family.has(key)]
    counted += ["embedding_size"] if grid.embedding == "factorized" else []
    fixed = {k: next(iter(v)) for k, v in grid.sizes.items() if k in counted and len(v) == 1}
    common = [sizes_line(fixed, wanted.base.assumed)]
    own = grid.family.default_share
    common += [f"share {s}" for s in grid.shares if len(grid.shares) == 1 and s != own]
    common += [f"head {h}" for h in grid.heads if len(grid.heads) == 1 and h != "model"]
    common += [f"layout {grid.layout}"] if grid.layout != "transformers" else []
    return (
        f"{wanted.base.name}: {count:,} combination{'' if count == 1 else 's'}",
        "  ".join(filter(None, common)),
    )
