"""Pictures out of characters, for terminals of any width, and for pages and text files."""

from typing import Any

from albert_calc.pictures.picture import Chart, Curve, Diagram, Picture, as_bars
from albert_calc.render import Canvas
from albert_calc.render.drawn import charts, curves, diagrams, rectangles
from albert_calc.render.lines import DIM, EMPTY, STRONG, Line, line, wrapped, written
from albert_calc.writing.harmless import printable

PIPED_WIDTH = 80


def render(picture: Picture, canvas: Canvas) -> str:
    """*picture* as text for a terminal or a pipe, ending in a newline."""
    return written(lines(picture, canvas), canvas)


def lines(picture: Picture, canvas: Canvas) -> list[Line]:
    """*picture* as lines that are as wide as *canvas*, unless a number alone is wider."""
    width = canvas.width or PIPED_WIDTH
    shown = _spelled(picture, canvas)
    drawn = [line(text, STRONG) for text in wrapped(shown.title, width)]
    drawn += [line(part, DIM) for text in shown.lines for part in wrapped(text, width)]
    return [*drawn, EMPTY, *_drawn(shown, width, canvas)]


def _drawn(picture: Picture, width: int, canvas: Canvas) -> list[Line]:
    if isinstance(picture, Curve):
        bars = as_bars(picture)
        if bars:
            return charts.lines(_spelled(bars, canvas), width, canvas)
        return curves.lines(picture, width, canvas)
    if isinstance(picture, Chart):
        return charts.lines(picture, width, canvas)
    if isinstance(picture, Diagram):
        return diagrams.lines(picture, width, canvas)
    return rectangles.lines(picture, width, canvas)


def _spelled(part: Any, canvas: Canvas) -> Any:
    """*part* with all its texts harmless and in the letters of *canvas*, before it is measured."""
    if isinstance(part, str):
        return canvas.spelled(printable(part))
    if isinstance(part, tuple):
        parts = [_spelled(p, canvas) for p in part]
        return type(part)(*parts) if hasattr(part, "_fields") else tuple(parts)
    return part
