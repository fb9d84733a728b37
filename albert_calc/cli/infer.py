"""``albert-calc infer``: the config of a checkpoint that has none."""

from collections.abc import Iterator

import click

from albert_calc.checkpoints.files import read_checkpoint
from albert_calc.checkpoints.inference import Inference, infer_config
from albert_calc.cli.command import command
from albert_calc.cli.options import InputPath, format_choice, size_options
from albert_calc.cli.output import emit, say, say_about
from albert_calc.configfile import quoted
from albert_calc.render import FORMATS
from albert_calc.report import Cell, Column, Report, Section
from albert_calc.sizes import SYMBOLS, checked_sizes


@command()
@click.argument("path", type=InputPath())
@size_options("L", "A")
@format_choice("json", *(name for name in FORMATS if name != "json"))
def infer(path: str, format: str, **given: int | str | None) -> None:
    """Write the config.json of the checkpoint in PATH.

    Only the shapes of its tensors are used.

    PATH is a .safetensors file, a model.safetensors.index.json, or a directory with
    either; only the headers are read. No shape shows the number of attention heads, nor
    how many layers are executed where they are shared: give -A and -L to fill them in.

    \b
    Examples:
      albert-calc infer model.safetensors > config.json
      albert-calc infer path/to/checkpoint -L 12 -A 12
      albert-calc infer path/to/checkpoint -f table
    """
    sizes = checked_sizes(given, *(key for key, value in given.items() if value is not None))
    checkpoint = read_checkpoint(path)
    found = infer_config(checkpoint.tensors, **sizes)
    say("note", [*checkpoint.notes, *found.notes])
    say("warning", found.warnings)
    say_about([found.config])
    emit(_report(checkpoint.path, found), format)


def _report(path: str, found: Inference) -> Report:
    section = Section(
        title=f"{quoted(path)}: {found.config.model_type}, head {found.head}",
        columns=(
            Column("symbol", "symbol", "text"),
            Column("key", "key", "text"),
            Column("value", "value", "text"),
        ),
        rows=tuple(_rows(found)),
    )
    return Report((section,), found.to_dict())


def _rows(found: Inference) -> Iterator[tuple[Cell, ...]]:
    yield None, "head", found.head
    for key, value in found.to_dict().items():
        if isinstance(value, list):
            value = ", ".join(value)
        elif isinstance(value, bool):
            value = str(value).lower()
        yield SYMBOLS.get(key), key, value
