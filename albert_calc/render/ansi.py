"""Colours on a terminal, by rich, which knows what each terminal can show."""

import io
from collections.abc import Iterable
from functools import cache

from rich.color import ColorSystem
from rich.console import Console
from rich.style import Style as Look

from albert_calc.render.lines import Line, Style
from albert_calc.render.theme import BEFORE, LIMIT, PARTS, ROLES

_SYSTEMS = {"256": ColorSystem.EIGHT_BIT, "truecolor": ColorSystem.TRUECOLOR}

_SIXTEEN = {
    **dict(zip(PARTS, ("blue", "yellow", "green", "magenta", "cyan", "red"), strict=True)),
    BEFORE: "bright_black",
    LIMIT: "red",
}
"""The colours of bars and lines where there are but sixteen."""


def coloured(lines: Iterable[Line]) -> str:
    """*lines* as text with escape sequences, each with a newline."""
    console = Console(file=io.StringIO(), width=80, height=25, force_terminal=True)
    system = _SYSTEMS.get(console.color_system or "", ColorSystem.STANDARD)
    return "".join(
        "".join(_look(style, system).render(text, color_system=system) for text, style in line)
        + "\n"
        for line in lines
    )


@cache
def _look(style: Style, system: ColorSystem) -> Look:
    """*style* for rich. Of sixteen colours two boxes would share one, so they get none."""
    ink, paper = style.ink, style.paper
    if system == ColorSystem.STANDARD:
        ink, paper = _SIXTEEN.get(ink, ""), _SIXTEEN.get(paper, "")
    said = [ROLES[style.role].terminal] if style.role else []
    said += [ink] if ink else []
    said += [f"on {paper}"] if paper else []
    return Look.parse(" ".join(said))
