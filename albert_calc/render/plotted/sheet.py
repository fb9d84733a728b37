"""What all figures have: a title, lines under it, and room for axes below."""

from matplotlib.figure import Figure

from albert_calc.render.console import wrapped
from albert_calc.render.theme import ROLES
from albert_calc.writing.harmless import printable

WIDTH = 8.0
"""Inches; as wide as the text of a page."""

_LETTERS = 92
_LINE = 0.19
_TEXT, _TITLE = 9, 11


def sheet(title: str, lines: tuple[str, ...], height: float) -> tuple[Figure, float]:
    """A figure with its texts on top, and the share of it below them, *height* inches."""
    titles = wrapped(printable(title), _LETTERS * _TEXT // _TITLE)
    asides = [part for text in lines for part in wrapped(printable(text), _LETTERS)]
    head = _LINE * (1.2 * len(titles) + len(asides)) + 0.08
    figure = Figure(figsize=(WIDTH, height + head))
    inches = height + head
    place = inches
    for text in titles:
        place -= 1.2 * _LINE
        figure.text(0, place / inches, text, fontsize=_TITLE, fontweight="bold", va="bottom")
    for text in asides:
        place -= _LINE
        figure.text(0, place / inches, text, color=dim(), va="bottom")
    return figure, height / inches


def dim() -> str:
    """The colour of asides."""
    return ROLES["dim"].light


def meant(meaning: str) -> str | None:
    """The colour of a remark."""
    return next((look.light for role, look in ROLES.items() if role == meaning), None)


def width_of(text: str) -> float:
    """About how many points *text* is wide."""
    return 0.62 * _TEXT * len(text)
