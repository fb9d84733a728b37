"""Writing: results to standard output, everything else to standard error.

The only module that writes.
"""

import codecs
import errno
import os
import re
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import IO, Any

import click

from albert_calc.config.files import quoted
from albert_calc.errors import AlbertCalcError
from albert_calc.render import SIGNS, Canvas, render, to_ascii
from albert_calc.report import Report
from albert_calc.writing.harmless import printable

_WIDEST = 1_000
LONG = 200_000
"""Steps that take long enough for somebody to wonder."""

_STYLES = {"error": "red", "warning": "yellow"}


def canvas() -> Canvas:
    """What standard output can hold: as wide as its terminal, or unlimited in a pipe."""
    width = terminal_width() if sys.stdout.isatty() else None
    return Canvas(width, not _holds(sys.stdout, SIGNS), _has_colours(sys.stdout))


def _has_colours(stream: IO[Any]) -> bool:
    """Whether *stream* shows colours: as a terminal does, unless the environment says else."""
    environ = os.environ
    if environ.get("NO_COLOR") or environ.get("TERM", "").lower() in ("dumb", "unknown"):
        return False
    return bool(environ.get("FORCE_COLOR")) or stream.isatty()


def terminal_width() -> int:
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
    shown = canvas()
    write(render(report, format, shown._replace(width=shown.width or report.widest)))


def write(text: str) -> None:
    """Write *text* to standard output as it is; a reader that is gone is no error."""
    write_chunks([text])


def write_chunks(chunks: Iterable[str]) -> bool:
    """Write each of *chunks* to standard output as soon as it is there.

    Stops, and returns ``False``, when the reader has gone.
    """
    try:
        for chunk in chunks:
            _write_all(sys.stdout, chunk)
    except OSError as error:
        if not is_closed_pipe(error):
            raise
        return False
    return True


def _write_all(stream: IO[Any], text: str) -> None:
    """Write all of *text*, also where a stream takes a part at a time or nothing for now.

    Without a buffer, as under ``PYTHONUNBUFFERED``, a write may be short and nobody tells.
    """
    raw = getattr(stream, "buffer", None)
    if raw is None:
        stream.write(text)
        stream.flush()
        return
    stream.flush()
    data = memoryview(_encoder(stream).encode(text))
    while data:
        data = data[_written(raw, data) :]
    while True:
        try:
            raw.flush()
            return
        except BlockingIOError:
            _wait(raw)


@cache
def _encoder(stream: IO[Any]) -> codecs.IncrementalEncoder:
    """What turns text into the bytes of *stream*; a byte-order mark stands at its start alone."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    return codecs.getincrementalencoder(encoding)("backslashreplace")


def _written(raw: Any, data: memoryview) -> int:
    """How many bytes of *data* could be written now."""
    try:
        count = raw.write(data)
    except BlockingIOError as error:
        count = error.characters_written or None
    if count is None:
        _wait(raw)
        return 0
    return int(count)


def _wait(raw: Any) -> None:
    """Wait until *raw* takes more."""
    import select

    select.select([], [raw], [])


@contextmanager
def progress(length: int, long: int = LONG) -> Iterator[Callable[[int], None]]:
    """A bar on standard error for *length* steps; what this gives is told the steps done.

    *long* is how many steps take so long that somebody wonders.

    There is no bar for work that is done at once, where nobody would see it, or where it
    would stand in the way of the result.
    """
    there = sys.stderr is not None and sys.stderr.isatty()
    if not (length >= long and there and not sys.stdout.isatty()):
        yield lambda _: None
        return
    with click.progressbar(length=length, file=sys.stderr, update_min_steps=long // 10) as bar:
        steps = 0

        def reach(done: int) -> None:
            nonlocal steps
            bar.update(done - steps)
            steps = done

        yield reach


def write_file(path: str, content: str | bytes) -> None:
    """Write *content* to the file *path*, whole or not at all; a file that is there is replaced.

    Raises ``AlbertCalcError`` with the reason if that cannot be done.
    """
    try:
        target = os.path.realpath(path)
        if os.path.exists(target) and not os.path.isfile(target):
            raise AlbertCalcError(f"{quoted(path)}: must be a regular file to be replaced")
        if os.path.exists(target) and not os.access(target, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        _replace(target, content.encode() if isinstance(content, str) else content)
    except OSError as error:
        raise AlbertCalcError(f"{quoted(path)}: cannot be written: {error.strerror}") from None


def append_file(path: str, text: str) -> None:
    """Add *text* to the end of the file *path*; raises ``AlbertCalcError`` if that fails."""
    if os.path.exists(path) and not os.path.isfile(path):
        raise AlbertCalcError(f"{quoted(path)}: must be a regular file")
    try:
        with open(path, "a", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise AlbertCalcError(f"{quoted(path)}: cannot be written: {error.strerror}") from None


def _replace(target: str, content: bytes) -> None:
    """Put a finished file in the place of *target*, so that no half-written one is ever there."""
    unfinished = os.path.join(os.path.dirname(target), f".albert-calc-{os.urandom(6).hex()}.tmp")
    try:
        with open(unfinished, "xb") as file:
            file.write(content)
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
    if sys.stderr is None:
        return
    for message in dict.fromkeys(messages):
        line = printable(message, 2000)
        if not _holds(sys.stderr, line):
            line = to_ascii(line)
        label = f"{kind}: " if kind else ""
        if kind in _STYLES and _has_colours(sys.stderr):
            label = click.style(label, fg=_STYLES[kind])
        try:
            _write_all(sys.stderr, f"{label}{line}\n")
        except (OSError, ValueError):
            # Nobody reads standard error, and there is nowhere else to complain.
            return


def _holds(stream: IO[Any], text: str) -> bool:
    try:
        text.encode(getattr(stream, "encoding", None) or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
