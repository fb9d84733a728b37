"""Pictures out of characters, for terminals of any width, and for pages and text files."""

from collections.abc import Iterator
from typing import Any

from rich.console import RenderableType

from albert_calc.pictures.picture import Chart, Curve, Diagram, Picture, as_bars
from albert_calc.render import Canvas
from albert_calc.render.console import text, written
from albert_calc.render.drawn import charts, curves, diagrams, rectangles
from albert_calc.writing.harmless import printable

PIPED_WIDTH = 80


def render(picture: Picture, canvas: Canvas) -> str:
    """*picture* as text for a terminal or a pipe, ending in a newline."""
    canvas = canvas._replace(width=canvas.width or PIPED_WIDTH)
    return written(drawn(picture, canvas), canvas)


def drawn(picture: Picture, canvas: Canvas) -> Iterator[RenderableType]:
    """The parts of *picture*, as wide as *canvas*, unless a number alone is wider."""
    width = canvas.width or PIPED_WIDTH
    if isinstance(picture, Curve):
        picture = as_bars(picture) or picture
    shown: Picture = _spelled(picture, canvas)
    yield text(shown.title, "strong", width)
    yield from (text(line, "dim", width) for line in shown.lines)
    yield ""
    if isinstance(shown, Curve):
        yield from curves.drawn(shown, width, canvas)
    elif isinstance(shown, Chart):
        yield from charts.drawn(shown, width, canvas)
    elif isinstance(shown, Diagram):
        yield from diagrams.drawn(shown, width, canvas)
    else:
        yield from rectangles.drawn(shown, width, canvas)


def _spelled(part: Any, canvas: Canvas) -> Any:
    """*part* with all its texts harmless and in the letters of *canvas*, before it is measured."""
    if isinstance(part, str):
        return canvas.spelled(printable(part))
    if isinstance(part, tuple):
        parts = [_spelled(p, canvas) for p in part]
        return type(part)(*parts) if hasattr(part, "_fields") else tuple(parts)
    return part
