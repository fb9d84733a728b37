"""Writing: results to standard output, everything else to standard error.

The only module that writes.
"""

import errno
import os
import re
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import IO, Any

import click

from albert_calc.config import ModelConfig
from albert_calc.configfile import quoted
from albert_calc.errors import AlbertCalcError
from albert_calc.render import SIGNS, Canvas, render, to_ascii
from albert_calc.report import Report
from albert_calc.text import printable

_WIDEST = 1_000
_LONG = 200_000
"""Steps that take long enough for somebody to wonder."""


def canvas() -> Canvas:
    """What standard output can hold: as wide as its terminal, or unlimited in a pipe."""
    width = _terminal_width() if sys.stdout.isatty() else None
    return Canvas(width, not _holds(sys.stdout, SIGNS))


def _terminal_width() -> int:
    """The columns of the terminal: what ``COLUMNS`` says, else what it says itself, else 80."""
    columns = os.environ.get("COLUMNS", "")
    width = int(columns) if re.fullmatch("[0-9]{1,5}", columns) else 0
    try:
        width = width or os.get_terminal_size(sys.stdout.fileno()).columns
    except (OSError, ValueError):
        width = 0
    return min(width or 80, _WIDEST)


def emit(report: Report, format: str) -> None:
    """Write *report* to standard output in *format*."""
    write(render(report, format, canvas()))


def write(text: str) -> None:
    """Write *text* to standard output as it is; a reader that is gone is no error."""
    write_chunks([text])


def write_chunks(chunks: Iterable[str]) -> bool:
    """Write each of *chunks* to standard output as soon as it is there.

    Stops, and returns ``False``, when the reader has gone.
    """
    try:
        for chunk in chunks:
            click.echo(chunk, nl=False, color=True)
    except OSError as error:
        if not is_closed_pipe(error):
            raise
        return False
    return True


@contextmanager
def progress(length: int) -> Iterator[Callable[[int], None]]:
    """A bar on standard error for *length* steps; what this gives is told the steps done.

    There is no bar for work that is done at once, where nobody would see it, or where it
    would stand in the way of the result.
    """
    seen = length >= _LONG and sys.stderr.isatty() and not sys.stdout.isatty()
    with click.progressbar(
        length=length, file=sys.stderr, hidden=not seen, update_min_steps=_LONG // 10
    ) as bar:
        steps = 0

        def reach(done: int) -> None:
            nonlocal steps
            bar.update(done - steps)
            steps = done

        yield reach


def write_file(path: str, text: str) -> None:
    """Write *text* to the file *path*, whole or not at all; a file that is there is replaced.

    Raises ``AlbertCalcError`` with the reason if that cannot be done.
    """
    try:
        target = os.path.realpath(path)
        if os.path.exists(target) and not os.path.isfile(target):
            raise AlbertCalcError(f"{quoted(path)}: must be a regular file to be replaced")
        if os.path.exists(target) and not os.access(target, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        _replace(target, text)
    except OSError as error:
        raise AlbertCalcError(f"{quoted(path)}: cannot be written: {error.strerror}") from None


def _replace(target: str, text: str) -> None:
    """Put a finished file in the place of *target*, so that no half-written one is ever there."""
    unfinished = os.path.join(os.path.dirname(target), f".albert-calc-{os.urandom(6).hex()}.tmp")
    try:
        with open(unfinished, "x", encoding="utf-8", newline="\n") as file:
            file.write(text)
        if os.path.exists(target):
            os.chmod(unfinished, stat.S_IMODE(os.stat(target).st_mode))
        os.replace(unfinished, target)
    except BaseException:
        if os.path.exists(unfinished):
            os.unlink(unfinished)
        raise


def is_closed_pipe(error: OSError) -> bool:
    """Whether *error* says that the reader of a pipe has gone."""
    return isinstance(error, BrokenPipeError) or error.errno == errno.EPIPE


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
