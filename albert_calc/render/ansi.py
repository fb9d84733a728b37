"""Colours on a terminal, by rich, which knows what each terminal can show."""

import io
from collections.abc import Iterable

from rich.console import Console
from rich.text import Text

from albert_calc.render.lines import Line, Style
from albert_calc.render.theme import BEFORE, LIMIT, PARTS, ROLES

_WIDTH = 100_000

_SIXTEEN = {
    **dict(zip(PARTS, ("blue", "yellow", "green", "magenta", "cyan", "red"), strict=True)),
    BEFORE: "bright_black",
    LIMIT: "red",
}
"""The colours of bars and lines where there are but sixteen."""


def coloured(lines: Iterable[Line]) -> str:
    """*lines* as text with escape sequences, each with a newline."""
    out = io.StringIO()
    console = Console(
        file=out, width=_WIDTH, height=100, force_terminal=True,
        highlight=False, emoji=False, markup=False,
    )  # fmt: skip
    has_many = console.color_system in ("256", "truecolor")
    for one in lines:
        text = Text.assemble(*((span.text, _rich(span.style, has_many)) for span in one))
        console.print(text, no_wrap=True, overflow="ignore", crop=False)
    return out.getvalue()


def _rich(style: Style, has_many: bool) -> str:
    """*style* as rich says it. Of sixteen colours two boxes would share one, so they get none."""
    ink, paper = style.ink, style.paper
    if not has_many:
        ink, paper = _SIXTEEN.get(ink, ""), _SIXTEEN.get(paper, "")
    said = [ROLES[style.role].terminal] if style.role else []
    said += [ink] if ink else []
    said += [f"on {paper}"] if paper else []
    return " ".join(said)
