"""Colours on a terminal, by rich, which knows what each terminal can show."""

import io
from collections.abc import Iterable

from rich.console import Console
from rich.text import Text

from albert_calc.render.lines import Line, Style
from albert_calc.render.theme import ROLES

_WIDTH = 100_000


def coloured(lines: Iterable[Line]) -> str:
    """*lines* as text with escape sequences, each with a newline."""
    out = io.StringIO()
    console = Console(
        file=out, width=_WIDTH, height=100, force_terminal=True,
        highlight=False, emoji=False, markup=False,
    )  # fmt: skip
    for one in lines:
        text = Text.assemble(*((span.text, _rich(span.style)) for span in one))
        console.print(text, no_wrap=True, overflow="ignore", crop=False)
    return out.getvalue()


def _rich(style: Style) -> str:
    said = [ROLES[style.role].terminal] if style.role else []
    said += [style.ink] if style.ink else []
    said += [f"on {style.paper}"] if style.paper else []
    return " ".join(said)
