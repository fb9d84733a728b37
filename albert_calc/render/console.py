"""Rich as it is used here: what its consoles know, and where a line may be broken."""

import io
import re
from collections.abc import Iterable, Sequence
from functools import cache

from rich.box import Box
from rich.cells import cell_len, chop_cells
from rich.console import Console, RenderableType
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text
from rich.theme import Theme

from albert_calc.render import Canvas
from albert_calc.render.theme import page_styles, terminal_styles

UNLIMITED = 1_000_000
"""A width that nothing reaches; the same number of columns for every reader of a pipe."""

# Rich breaks lines at white space only. Neither sign can stand in a text: both do not print.
_BOUND = "\ue000"
"""A space at which no line is broken."""
_BREAK = "\x1f"
"""Nothing, at which a line may be broken."""
_MEANT = str.maketrans({_BOUND: " ", _BREAK: None})

# Compiled where a line may have to be broken: that takes a part of the time of a short run.
_TERM = r"(?:[-+−↺=] )?\S+(?: (?:[×=<≤x*]|<=) (?:[-+−] )?\S+)*"
_WORD = r"\S+"
_NUMBER = r"[-+−(=]*[0-9][0-9,._]*[%×x)MBKT]*[.,;:]*"


def written(parts: Iterable[RenderableType], canvas: Canvas) -> str:
    """*parts* under each other as text; what cannot be as narrow as *canvas* sticks out, whole."""
    out = io.StringIO()
    _print(_console(out, canvas.colour), parts, canvas.width)
    return re.sub(" +$", "", out.getvalue().translate(_MEANT), flags=re.MULTILINE)


def exported(parts: Iterable[RenderableType], width: int | None = None) -> str:
    """*parts* as HTML with styles of its own, to stand in a page; no newline at its end."""
    console = _console(io.StringIO(), colour=False, record=True)
    console.push_theme(Theme(page_styles()))
    _print(console, parts, width)
    html = console.export_html(inline_styles=True, code_format="{code}").translate(_MEANT)
    return re.sub(" +$", "", html, flags=re.MULTILINE).rstrip("\n")


def _print(console: Console, parts: Iterable[RenderableType], width: int | None) -> None:
    for part in parts:
        least = console.measure(part).minimum
        console.print(part, width=max(width or UNLIMITED, least), crop=False)


def _console(file: io.StringIO, colour: bool, record: bool = False) -> Console:
    console = Console(
        file=file, width=UNLIMITED, height=25, force_terminal=colour, record=record,
        color_system="auto" if colour else None, no_color=False, force_jupyter=False,
        legacy_windows=False, markup=False, emoji=False, highlight=False,
    )  # fmt: skip
    console.push_theme(Theme(terminal_styles(few=console.color_system == "standard")))
    return console


@cache
def _measuring() -> Console:
    return _console(io.StringIO(), colour=False)


def measured(part: RenderableType) -> Measurement:
    """The least width of *part* with nothing broken that must not be, and the one it likes."""
    return _measuring().measure(part)


def beside(*rows: Sequence[RenderableType], gap: int, width: int | None = None) -> Table:
    """The parts of each of *rows* beside each other, on one ground."""
    grid = Table.grid(padding=(0, gap, 0, 0))
    for _ in rows[0]:
        grid.add_column(width=width, vertical="bottom")
    for row in rows:
        grid.add_row(*row)
    return grid


def box(kind: Box, canvas: Canvas) -> Box:
    """*kind* in the letters of *canvas*."""
    return Box(canvas.spelled(str(kind)), ascii=canvas.ascii_only)


def text(words: str, style: str = "", width: int | None = None) -> Text:
    """*words* that are broken between terms of formulas, and within no number.

    In lines of *width* a break stands between parts first: instead of a dot, or between two
    spaces, as between the sizes of a model.
    """
    longest = width or UNLIMITED
    if cell_len(words) > longest:
        parts = words.replace(" · ", "\n").split("  ")
        words = "  ".join(whole(part) if cell_len(part) <= longest else part for part in parts)
    return Text(breakable(words, longest), style)


def wrapped(words: str, width: int) -> list[str]:
    """*words* in lines of *width*."""
    found = text(words, "", width)
    lines = found.wrap(_measuring(), max(width, measured(found).minimum))
    return [line.plain.translate(_MEANT).rstrip() for line in lines]


def whole(words: str) -> str:
    """*words* that are never broken."""
    return words.replace(" ", _BOUND)


def breakable(words: str, longest: int = UNLIMITED) -> str:
    """*words* that are broken between terms, and within words wider than *longest*.

    Where nothing limits them they stay as they are, since no line is broken there.
    """
    if longest >= UNLIMITED:
        return words
    bound = re.sub(_TERM, lambda term: whole(term[0]), words)
    return re.sub(_WORD, lambda word: _foldable(word[0], longest), bound)


def _foldable(word: str, longest: int) -> str:
    if cell_len(word) <= longest or _BOUND in word or re.fullmatch(_NUMBER, word):
        return word
    parts = re.findall("[^-_/.]*[-_/.]|.+", word)
    return _BREAK.join(piece for part in parts for piece in chop_cells(part, longest))
