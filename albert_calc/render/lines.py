# TO looks, FROM the founder: tables and terminal pictures must be laid out and drawn by Rich
# (rich.table.Table, Text, Console, box, export_html), not by a layout engine of our own: the rule
# is 'Rich draws and exports; a well-kept library beats our own code, even a slower one'. rich may
# be imported whenever a table or picture is asked for, in pipes too. Keep what you decided about
# looks; replace lines.py/bars.py/ansi.py by Rich. Remove this note when done.
"""Lines of styled text: what tables and pictures are made of before anybody colours them."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from albert_calc.render import Canvas
from albert_calc.render.theme import Role


class Style(NamedTuple):
    """How text looks: by its role, or in colours of its own (``#rrggbb``)."""

    role: Role = ""
    ink: str = ""
    paper: str = ""


PLAIN = Style()
DIM, STRONG = Style("dim"), Style("strong")


class Span(NamedTuple):
    """A piece of a line in one style."""

    text: str
    style: Style = PLAIN


Line = tuple[Span, ...]

EMPTY: Line = ()


def line(text: str, style: Style = PLAIN) -> Line:
    """*text* as a line in one style."""
    return (Span(text, style),)


def written(lines: Iterable[Line], canvas: Canvas) -> str:
    """*lines* as text, each with a newline, in colour if the canvas has colours."""
    stripped = map(_stripped, lines)
    if canvas.colour:
        from albert_calc.render.ansi import coloured  # late: rich takes 60 ms to import

        return coloured(stripped)
    return "".join(f"{text_of(one)}\n" for one in stripped)


def text_of(one: Line) -> str:
    """The text of a line, without its styles."""
    return "".join(span.text for span in one)


def _stripped(one: Line) -> Line:
    """*one* without spaces at its end that nobody sees."""
    spans = list(one)
    while spans and not spans[-1].style.paper:
        text = spans[-1].text.rstrip(" ")
        if text:
            spans[-1] = spans[-1]._replace(text=text)
            break
        spans.pop()
    return tuple(spans)


def cells(text: str) -> int:
    """The width of *text* on a terminal."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


def width_of(one: Line) -> int:
    """The width of a line on a terminal."""
    return sum(cells(span.text) for span in one)


def widest(texts: Iterable[str]) -> int:
    """The width of the longest of *texts*; 0 of none."""
    return max(map(cells, texts), default=0)


def padded(text: str, width: int, right: bool = False) -> str:
    """*text* with spaces up to *width* cells, after it or before it."""
    spaces = " " * (width - cells(text))
    return spaces + text if right else text + spaces


def filled(one: Line, width: int) -> Line:
    """*one* with spaces up to *width* cells."""
    missing = width - width_of(one)
    return (*one, Span(" " * missing)) if missing > 0 else one


def beside(blocks: Sequence[Sequence[Line]], widths: Sequence[int], gap: int) -> list[Line]:
    """The lines of *blocks* beside each other; they stand on one ground."""
    height = max(map(len, blocks))
    joined = []
    for row in range(height):
        spans: list[Span] = []
        for block, width in zip(blocks, widths, strict=True):
            place = row - (height - len(block))
            spans += filled(block[place] if place >= 0 else EMPTY, width + gap)
        joined.append(tuple(spans))
    return joined


_WORD = re.compile(r"\S+")
_BINDS_BOTH = {"×", "=", "<", "≤", "x", "*", "<="}
_BINDS_NEXT = {"+", "−", "-", "↺"}
_GAPS = ("  ", " · ")
_NUMBER = re.compile(r"[-+−(=]*[0-9][0-9,._]*[%×x)MBKT]*[.,;:]*")


def pieces(text: str) -> Iterator[str]:
    """*text* in the pieces between which a line may be broken: words, and terms of formulas."""
    words = _WORD.findall(text)
    piece: list[str] = []
    for index, word in enumerate(words):
        piece.append(word)
        following = words[index + 1] if index + 1 < len(words) else ""
        if following in _BINDS_BOTH or word in _BINDS_BOTH or word in _BINDS_NEXT:
            continue
        yield " ".join(piece)
        piece = []
    if piece:
        yield " ".join(piece)


def unbroken(text: str, foldable: int) -> int:
    """The least width for *text* without a broken number or term.

    A single word that is no number may be folded where it has more than *foldable* letters.
    """
    widths = (
        cells(p) if " " in p or _NUMBER.fullmatch(p) else min(cells(p), foldable)
        for p in pieces(text)
    )
    return max(widths, default=0)


def wrapped(text: str, width: int | None) -> list[str]:
    """*text* in lines of at most *width* cells, unless a number or a term alone is wider.

    Where two spaces or a dot stand, as between the sizes of a model, it is broken first.
    """
    if width is None or cells(text) <= width:
        return [text]
    for gap in _GAPS:
        if gap in text.strip():
            parts = [part.strip() for part in text.split(gap) if part.strip()]
            return [one for part in _packed(parts, width, gap) for one in _broken(part, width)]
    return _broken(text, width)


def _broken(text: str, width: int) -> list[str]:
    if cells(text) <= width:
        return [text]
    indent = text[: len(text) - len(text.lstrip())]
    found = [f for p in pieces(text) for f in _folded(p, max(width - len(indent), 1))]
    return [indent + one for one in _packed(found, max(width - len(indent), 1), " ")]


def _packed(parts: Iterable[str], width: int, gap: str) -> list[str]:
    """*parts* with *gap* between them, as many on a line as fit."""
    lines: list[str] = []
    for part in parts:
        if lines and cells(lines[-1]) + len(gap) + cells(part) <= width:
            lines[-1] += gap + part
        else:
            lines.append(part)
    return lines or [""]


def _folded(piece: str, width: int) -> Iterator[str]:
    """*piece* cut where it is too wide for a line, unless it is a number or a term."""
    if " " in piece or _NUMBER.fullmatch(piece):
        yield piece
        return
    while cells(piece) > width:
        cut = 1
        while cells(piece[: cut + 1]) <= width:
            cut += 1
        yield piece[:cut]
        piece = piece[cut:]
    yield piece
