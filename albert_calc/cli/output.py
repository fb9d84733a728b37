"""Writing: results to standard output, everything else to standard error.

The only module that writes. May import click and ``albert_calc.render``.
"""

import errno
import os
import shutil
import sys
from collections.abc import Iterable
from typing import IO, Any

import click

from albert_calc.config import ModelConfig
from albert_calc.render import Canvas, render, to_ascii
from albert_calc.report import Report
from albert_calc.text import printable


def canvas() -> Canvas:
    """What standard output can hold: as wide as its terminal, or unlimited in a pipe."""
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    return Canvas(width, not _holds(sys.stdout, "×─²"))


def emit(report: Report, format: str) -> None:
    """Write *report* to standard output in *format*."""
    write(render(report, format, canvas()))


def write(text: str) -> None:
    """Write *text* to standard output as it is; a reader that is gone is no error."""
    try:
        click.echo(text, nl=False, color=True)
        sys.stdout.flush()
    except OSError as error:
        if not is_closed_pipe(error):
            raise
        silence(sys.stdout)


def is_closed_pipe(error: OSError) -> bool:
    """Whether *error* says that the reader of a pipe has gone."""
    return isinstance(error, BrokenPipeError) or error.errno == errno.EPIPE


def silence(stream: IO[Any]) -> None:
    """Send what *stream* still holds nowhere, so that closing it cannot fail."""
    try:
        descriptor = os.open(os.devnull, os.O_WRONLY)
        os.dup2(descriptor, stream.fileno())
        os.close(descriptor)
    except (OSError, ValueError):
        return


def say(kind: str, messages: Iterable[str]) -> None:
    """Write ``kind: message`` for each of *messages* to standard error."""
    for message in dict.fromkeys(messages):
        line = f"{kind}: {printable(message, 2000)}"
        if not _holds(sys.stderr, line):
            line = to_ascii(line)
        try:
            click.echo(line, err=True)
        except OSError:
            # Nobody reads standard error, and there is nowhere else to complain.
            silence(sys.stderr)
            return


def say_about(configs: Iterable[ModelConfig]) -> None:
    """Tell what was assumed about *configs*, and what is odd about them."""
    found = list(configs)
    say("note", (text for c in found for text in c.notes))
    say("warning", (text for c in found for text in c.warnings))


def _holds(stream: IO[Any], text: str) -> bool:
    try:
        text.encode(getattr(stream, "encoding", None) or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
