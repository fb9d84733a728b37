"""From reports to text: one module a format, each with a ``render`` that returns text.

May import ``albert_calc.report``, ``albert_calc.format`` and ``albert_calc.text``; only
``table`` and the pictures import rich.
"""

from importlib import import_module
from typing import NamedTuple

from albert_calc.report import Report

FORMATS: tuple[str, ...] = ("table", "json", "csv", "markdown")
"""Each format, whose module here has the same name."""


class Canvas(NamedTuple):
    """Where text will be shown: its width (``None`` if nothing limits it) and its letters."""

    width: int | None = None
    ascii_only: bool = False


def render(report: Report, format: str, canvas: Canvas) -> str:
    """*report* as text in *format*, ending in a newline."""
    text: str = import_module(f"{__name__}.{format}").render(report, canvas)
    return text


_ASCII = (
    {"×": "x", "·": "*", "²": "^2", "³": "^3", "→": "->", "≤": "<=", "≥": ">=", "≠": "!=",
     "−": "-", "…": "...", **dict.fromkeys("█▉▊▋▌▍▎▏", "#"), "─": "-",
     "│": "|", **dict.fromkeys("┌┐├┤└┘", "+")}
)  # fmt: skip


SIGNS = "".join(_ASCII)
"""Every sign outside ASCII that the renderers write of their own."""

_SPELLED = str.maketrans(_ASCII)


def to_ascii(text: str) -> str:
    """*text* in ASCII: the signs of formulas spelled out, anything else escaped."""
    spelled = text.translate(_SPELLED)
    return spelled.encode("ascii", "backslashreplace").decode("ascii")
