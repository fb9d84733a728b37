"""From reports and pictures to text: one module a format, each of which returns what to write.

Rich draws tables and pictures, and matplotlib the files of ``figure``; neither is imported
before that.
"""

from importlib import import_module

from albert_calc.named_tuple import NamedTuple
from albert_calc.report import Report

FORMATS: tuple[str, ...] = ("table", "json", "csv", "markdown")
"""Each format, whose module here has the same name."""


class Canvas(NamedTuple):
    """Where text will be shown: its width (``None`` if nothing limits it), letters, colours."""

    width: int | None = None
    ascii_only: bool = False
    colour: bool = False

    def spelled(self, text: str) -> str:
        """*text* in the letters that there are."""
        return to_ascii(text) if self.ascii_only else text


def render(report: Report, format: str, canvas: Canvas) -> str:
    """*report* as text in *format*, ending in a newline."""
    text: str = import_module(f"{__name__}.{format}").render(report, canvas)
    return text


_ASCII = (
    {"×": "x", "·": "*", "²": "^2", "³": "^3", "⁴": "^4", "→": "->", "≤": "<=", "≥": ">=",
     "≠": "!=", "−": "-", "–": "-", "…": "...", "↺": "x", "◆": "@", "•": "o",
     **dict.fromkeys("█▉▊▋▌▍▎▏▁▂▃▄▅▆▇■", "#"), **dict.fromkeys("▓", "%"),
     **dict.fromkeys("▒", "="), **dict.fromkeys("░", ":"), "─": "-", "│": "|",
     **dict.fromkeys("┌┐├┤└┘┬┴┼", "+")}
)  # fmt: skip


SIGNS = "".join(_ASCII)
"""Every sign outside ASCII that the renderers write of their own."""

_SPELLED = str.maketrans(_ASCII)


def to_ascii(text: str) -> str:
    """*text* in ASCII: the signs of formulas spelled out, anything else escaped."""
    if text.isascii():
        return text
    spelled = text.replace(" · ", "; ").translate(_SPELLED)
    return spelled.encode("ascii", "backslashreplace").decode("ascii")
