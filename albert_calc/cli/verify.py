"""``albert-calc verify``: is this checkpoint this config."""

import os
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

import click

from albert_calc.architectures import ARCHITECTURES, HEADS
from albert_calc.checkpoints.files import Checkpoint, read_checkpoint
from albert_calc.checkpoints.matching import MOST_NAMED, Found, formula, shape_formula, shape_text
from albert_calc.checkpoints.verification import Verification, shows_layers
from albert_calc.checkpoints.verification import verify as verified
from albert_calc.cli.command import command
from albert_calc.cli.options import InputPath, format_option, one_requested, source_options
from albert_calc.cli.output import emit, say, say_about
from albert_calc.cli.shape import shape_line
from albert_calc.config import ModelConfig
from albert_calc.configfile import quoted
from albert_calc.errors import ConfigError
from albert_calc.report import Cell, Column, Report, Section
from albert_calc.text import printable

FALSE = 1

Row = tuple[Cell, ...]


@command()
@click.argument("path", type=InputPath())
@source_options()
@click.option(
    "--head", type=click.Choice(HEADS),
    help="What stands on the encoder; by default what the tensors show.",
)  # fmt: skip
@format_option
def verify(path: str, head: str | None, format: str, **options: Any) -> int:
    """Check that the checkpoint in PATH is the model of a config.

    PATH is a .safetensors file, a model.safetensors.index.json, or a directory with
    either; only the headers are read. The config is the config.json beside it, unless
    --preset or --config names another. Exits with 0 if every tensor is there and has its
    shape, with 1 if not, and with 2 if something cannot be read.

    \b
    Examples:
      albert-calc verify path/to/checkpoint
      albert-calc verify model.safetensors --preset albert-base-v2 --head masked-lm
    """
    checkpoint = read_checkpoint(path)
    config = one_requested(_with_config_beside(checkpoint.path, options)).config()
    found = verified(config, checkpoint.tensors, head)
    say_about([config])
    say("note", [*checkpoint.notes, *_remarks(config, found.head)])
    emit(_report(checkpoint, config, found), format)
    return 0 if found.holds else FALSE


def _with_config_beside(path: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """*options*, with the ``config.json`` beside the file *path* if they name no config."""
    if options["preset"] or options["config"] is not None:
        return dict(options)
    folder = os.path.dirname(path) or os.curdir
    beside = os.path.join(folder, "config.json")
    if os.path.exists(beside):
        return {**options, "config": beside}
    if any(value is not None for value in options.values()):
        return dict(options)
    raise ConfigError(f"config: no config.json in {quoted(folder)}: give --config or --preset")


def _remarks(config: ModelConfig, head: str) -> Iterator[str]:
    """What a reader could take for checked or agreed, though it is not."""
    if not shows_layers(config, head):
        yield (
            f"num_hidden_layers: {config.num_hidden_layers} cannot be checked, since shared"
            " layers are stored alike however often they are executed"
        )
    classes = ARCHITECTURES[config.model_type].heads[head].classes
    if config.architectures and not set(classes) & set(config.architectures):
        named = ", ".join(printable(n, 60) for n in config.architectures[:5])
        yield f"architectures: the config names {named}, compared with the head {head}"


def _report(checkpoint: Checkpoint, config: ModelConfig, found: Verification) -> Report:
    difference = found.stored - found.expected
    section = Section(
        title=f"{quoted(checkpoint.path)}: {config.model_type}, head {found.head}",
        lines=(
            shape_line(config),
            found.summary,
            *([f"stored − expected = {difference:+,} parameters"] if difference else []),
        ),
        columns=(
            Column("kind", "kind", "text"),
            Column("name", "name", "text"),
            Column("expected", "expected", "text"),
            Column("found", "found", "text"),
        ),
        rows=tuple(_rows(found)),
    )
    agreed = found.match
    data = {
        "model": checkpoint.path,
        "model_type": config.model_type,
        "head": found.head,
        "verdict": found.verdict,
        "summary": found.summary,
        "expected": found.expected,
        "stored": found.stored,
        "difference": difference,
        "dtypes": found.dtypes,
        "buffers": [f.name for f in found.buffers],
        "stored_twice": [f.name for f in agreed.copies],
        "missing": [m.name for m in agreed.missing],
        "missing_count": agreed.missing_count,
        "unexpected": [f.name for f in agreed.unexpected],
        "mismatched": [
            {
                "name": m.found.name,
                "expected": list(m.expected),
                "formula": formula(m.symbols),
                "found": list(m.found.stored.shape),
            }
            for m in agreed.mismatched
        ],
    }
    return Report((section,), data)


def _rows(found: Verification) -> Iterator[Row]:
    agreed = found.match
    yield "parameters", "", found.expected, found.stored
    for dtype, count in found.dtypes.items():
        yield "dtype", dtype, None, count
    for kind, several in (("buffer", found.buffers), ("stored twice", agreed.copies)):
        for one in several:
            yield kind, one.name, None, _shape(one)
    yield from _named(
        (
            ("shape", m.found.name, shape_formula(m.symbols, m.expected), _shape(m.found))
            for m in agreed.mismatched
        ),
        len(agreed.mismatched),
    )
    yield from _named(
        (("missing", m.name, shape_formula(m.symbols, m.expected), None) for m in agreed.missing),
        agreed.missing_count,
    )
    yield from _named(
        (("unexpected", f.name, None, _shape(f)) for f in agreed.unexpected),
        len(agreed.unexpected),
    )


def _named(rows: Iterable[Row], total: int) -> Iterator[Row]:
    """The first *rows* of a kind, and how many more there are in all."""
    kind: Cell = None
    for row in islice(rows, MOST_NAMED):
        kind = row[0]
        yield row
    if total > MOST_NAMED:
        yield kind, f"and {total - MOST_NAMED:,} more", None, None


def _shape(found: Found) -> str:
    return shape_text(found.stored.shape)
