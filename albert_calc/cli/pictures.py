"""The options that ask for a picture in place of a table, and where it is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from albert_calc.cli.options import Decorator, Function, typed
from albert_calc.cli.output import canvas, say, write, write_file
from albert_calc.configfile import quoted
from albert_calc.text import shown

if TYPE_CHECKING:
    from albert_calc.picture import Picture


def picture_options(flag: str, help: str) -> Decorator:
    """*flag*, which draws a picture in place of the table, and ``--save``."""

    def decorate(command: Function) -> Function:
        for option in (
            click.option(
                "--save", type=click.Path(), metavar="FILE",
                help=f"With {flag}: write the picture to FILE (.svg, .html or .txt), 100 columns"
                " wide, and nothing to standard output. A file that is there is replaced.",
            ),
            click.option(flag, is_flag=True, help=help),
        ):  # fmt: skip
            command = option(command)
        return command

    return decorate


def refuse_contradictions(flag: str, drawn: bool, save: str | None, *others: str) -> None:
    """Raise ``click.UsageError`` if the options given do not fit together.

    *drawn* says whether *flag* was given; it contradicts ``--format`` and the options
    with the names *others*.
    """
    if not drawn and save is not None:
        raise click.UsageError(f"--save writes a picture: give {flag} as well")
    for option in typed("format", *others) if drawn else ():
        raise click.UsageError(f"{flag} and {option} contradict each other: give one of them")
    if save is not None:
        _ending(save)


def show(picture: Picture, save: str | None) -> None:
    """Write *picture* to standard output, or to the file *save* and nothing there."""
    from albert_calc.render.export import export, render

    if save is None:
        write(render(picture, canvas()))
    else:
        write_file(save, export(picture, _ending(save)))
        say("note", [f"saved {quoted(save)}"])


def _ending(path: str) -> str:
    from albert_calc.render.export import ENDINGS

    for ending in ENDINGS:
        if path.lower().endswith(ending):
            return ending
    *others, last = ENDINGS
    raise click.UsageError(f"--save: must end in {', '.join(others)} or {last}, got {shown(path)}")
