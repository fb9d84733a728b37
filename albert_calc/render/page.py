"""One HTML page to send to somebody: tables and a picture as Rich exports them.

It needs no network, is read in the light and in the dark, and holds nothing that runs.
"""

from collections.abc import Iterable
from html import escape

from rich.console import RenderableType

from albert_calc.pictures.picture import Picture
from albert_calc.render import Canvas, table, terminal
from albert_calc.render.console import exported
from albert_calc.render.theme import INK, PAPER, ROLES
from albert_calc.report import Report
from albert_calc.writing.harmless import printable

WIDTH = 100
"""The columns of a page."""

_PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; --ink: {ink}; --paper: {paper}; {light} }}
@media (prefers-color-scheme: dark) {{ :root {{ --ink: #e3e6ea; --paper: #16191d; {dark} }} }}
body {{ margin: 0; padding: 2.5rem 1.25rem; color: var(--ink); background: var(--paper); }}
main {{ max-width: 60rem; margin: 0 auto; }}
pre, footer {{ font-family: 'DejaVu Sans Mono', Menlo, Consolas, 'Liberation Mono', monospace; }}
pre {{ font-size: 14px; line-height: 1.2; margin: 0 0 2rem; overflow-x: auto; }}
footer {{ font-size: 12px; color: var(--dim); }}
</style>
</head>
<body>
<main>
{body}
<footer>albert-calc</footer>
</main>
</body>
</html>
"""


def page(report: Report | None = None, picture: Picture | None = None) -> str:
    """A whole page of the tables of *report*, *picture*, or both."""
    canvas = Canvas(WIDTH, colour=True)
    title = (report.headline if report else "") or (picture.title if picture else "albert-calc")
    body = [_exported(table.drawn(report, canvas))] if report else []
    body += [_exported(terminal.drawn(picture, canvas))] if picture else []
    return _PAGE.format(
        title=escape(printable(title.split("\n")[0])), body="\n".join(body), ink=INK, paper=PAPER,
        light=" ".join(f"--{role}: {look.light};" for role, look in ROLES.items() if look.light),
        dark=" ".join(f"--{role}: {look.dark};" for role, look in ROLES.items() if look.dark),
    )  # fmt: skip


def _exported(parts: Iterable[RenderableType]) -> str:
    """*parts* as HTML in the colours of the page, which differ in the light and in the dark."""
    html = exported(parts, WIDTH)
    for role, look in ROLES.items():
        if look.light:
            html = html.replace(f"color: {look.light}", f"color: var(--{role})")
    return f"<pre>{html}</pre>"
