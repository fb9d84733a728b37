"""Pictures as text for a terminal, and as SVG, HTML or plain text for a file of its own.

Nothing in a file refers to anything outside it. May import rich, ``albert_calc.picture``,
``albert_calc.render``, and the renderers of tables and pictures.
"""

from html import escape
from typing import Any
from zlib import crc32

from rich.terminal_theme import TerminalTheme
from rich.text import Text

from albert_calc.picture import Chart, Picture
from albert_calc.render import Canvas, chart, diagram, to_ascii
from albert_calc.render.table import draw, recording_console

ENDINGS = (".svg", ".html", ".txt")
"""The endings of the files that ``export`` can write."""

PIPED_WIDTH = 80
FILE_WIDTH = 100

# The letters of these fonts are 0.6 times as wide as high and their frames 1.16 times as
# high: at 21 pixels neither bars nor boxes have gaps where rich puts lines and columns.
_FONTS = "'DejaVu Sans Mono', Menlo, 'Liberation Mono', 'Courier New', monospace"
_COLUMN_TO_LINE = 0.63  # 21 × 0.6 pixels, to rich's 20

# An empty line is drawn at the end; moving the view up by half of one centres the text.
_SVG = """\
<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{{width}}" height="{{terminal_height}}"
  viewBox="-9 -12 {{width}} {{terminal_height}}">
<title>{title}</title>
<style>
.{{unique_id}}-matrix {{{{
  font-family: {fonts};
  font-size: 21px;
  text-rendering: geometricPrecision;
}}}}
.{{unique_id}}-matrix text {{{{ clip-path: none; }}}}
{{styles}}
</style>
<defs>
{{lines}}
</defs>
<rect x="-9" y="-12" width="{{width}}" height="{{terminal_height}}" rx="8" fill="{background}"/>
{{backgrounds}}
<g class="{{unique_id}}-matrix" transform="translate(0, 1)">
{{matrix}}
</g>
</svg>
"""

_HTML = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="UTF-8">
<title>{title}</title>
<style>
body {{{{ color: {{foreground}}; background-color: {{background}}; }}}}
pre {{{{ font-family: {fonts}; line-height: 1.16; }}}}
{{stylesheet}}
</style>
</head>
<body>
<pre><code style="font-family: inherit">{{code}}</code></pre>
</body>
</html>
"""

_BACKGROUND = "#ffffff"
_THEME = TerminalTheme(
    (255, 255, 255),
    (31, 35, 40),
    [(0, 0, 0), (180, 0, 0), (0, 120, 0), (140, 100, 0),
     (0, 0, 180), (140, 0, 140), (0, 120, 120), (190, 190, 190)],
)  # fmt: skip


def render(picture: Picture, canvas: Canvas) -> str:
    """*picture* as text for a terminal or a pipe, ending in a newline."""
    shown = _spelled(picture) if canvas.ascii_only else picture
    drawing, width = _drawn(shown, canvas.width or PIPED_WIDTH)
    return draw(drawing, canvas._replace(width=width))


def export(picture: Picture, ending: str) -> str:
    """*picture* as the text of a file with one of ``ENDINGS``, ``FILE_WIDTH`` cells wide."""
    drawing, width = _drawn(picture, FILE_WIDTH)
    console = recording_console(width)
    console.print(drawing)
    if ending == ".html":
        return console.export_html(theme=_THEME, code_format=_template(_HTML, picture))
    if ending == ".svg":
        console.print()
        return console.export_svg(
            theme=_THEME,
            code_format=_template(_SVG, picture),
            font_aspect_ratio=_COLUMN_TO_LINE,
            unique_id=f"picture-{crc32(drawing.plain.encode()):08x}",
        )
    return console.export_text()


def _drawn(picture: Picture, width: int) -> tuple[Text, int]:
    """*picture* as one text, and the width that it needs, at least *width*."""
    lines = (
        chart.lines(picture, width) if isinstance(picture, Chart) else diagram.lines(picture, width)
    )
    drawing = Text("\n").join(lines)
    drawing.no_wrap, drawing.overflow = True, "ignore"
    return drawing, max(width, *(line.cell_len for line in lines))


def _template(template: str, picture: Picture) -> str:
    """*template* for rich, which fills in what is left in braces."""
    title = escape(picture.title).replace("{", "{{").replace("}", "}}")
    return template.format(title=title, fonts=_FONTS, background=_BACKGROUND)


def _spelled(part: Any) -> Any:
    """*part* with all its texts in ASCII, before anything is measured."""
    if isinstance(part, str):
        return to_ascii(part)
    if isinstance(part, tuple):
        parts = [_spelled(p) for p in part]
        return type(part)(*parts) if hasattr(part, "_fields") else tuple(parts)
    return part
