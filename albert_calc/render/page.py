"""One HTML page to send to somebody: tables, and a picture out of characters.

It needs no network, is read in the light and in the dark, and holds nothing that runs.
"""

from collections.abc import Iterable, Iterator
from html import escape

from albert_calc.pictures.picture import Picture
from albert_calc.render import Canvas, terminal
from albert_calc.render.cells import Shown, Strip, strips
from albert_calc.render.lines import Line, Span
from albert_calc.render.table import headline
from albert_calc.render.theme import INK, PAPER, ROLES
from albert_calc.report import Report, Section
from albert_calc.writing.harmless import printable

WIDTH = 100
"""The columns of a picture in a file."""

_MONOSPACE = "'DejaVu Sans Mono', Menlo, Consolas, 'Liberation Mono', monospace"

_STYLE = """\
:root {{ color-scheme: light dark; --ink: {ink}; --paper: {paper}; --rule: #d5d9de; {light} }}
@media (prefers-color-scheme: dark) {{
  :root {{ --ink: #e3e6ea; --paper: #16191d; --rule: #3a4048; {dark} }}
}}
body {{
  margin: 0; padding: 2.5rem 1.25rem; color: var(--ink); background: var(--paper);
  font: 16px/1.5 system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif;
}}
main {{ max-width: 60rem; margin: 0 auto; }}
h1 {{ font-size: 1.35rem; font-weight: normal; margin: 0 0 1.5rem; }}
h2 {{ font-size: 1.05rem; margin: 2rem 0 0.5rem; }}
.wide {{ overflow-x: auto; }}
table {{ border-collapse: collapse; min-width: 24rem; }}
th, td {{ padding: 0.3rem 1.1rem 0.3rem 0; text-align: left; vertical-align: top; }}
th {{ font-weight: normal; color: var(--dim); border-bottom: 1px solid var(--rule); }}
th {{ vertical-align: bottom; }}
td:not(:last-child), th:not(:last-child) {{ padding-right: 1.6rem; }}
tfoot td {{ border-top: 1px solid var(--rule); font-weight: bold; }}
.group td {{ font-weight: bold; padding-top: 0.9rem; }}
.under {{ padding-left: 1.2rem; }}
.number {{ text-align: right; white-space: pre; font-family: {mono}; font-size: 0.875em; }}
.share {{ min-width: 12rem; vertical-align: middle; }}
.share span {{ display: block; height: 0.8em; background: var(--bar); }}
pre {{ font: 14px/1.2 {mono}; margin: 2rem 0; overflow-x: auto; }}
p {{ margin: 0.3rem 0; white-space: pre-wrap; }}
.wide + p {{ margin-top: 1.2rem; }}
{roles}
footer {{ margin-top: 2.5rem; font-size: 0.85rem; color: var(--dim); }}
"""

_PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
{style}</style>
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
    report = report or Report()
    title = report.headline or (picture.title if picture else "albert-calc")
    body = list(_body(report, picture))
    return _PAGE.format(
        title=escape(printable(title.split("\n")[0])), style=_style(), body="\n".join(body)
    )


def _style() -> str:
    def colours(dark: bool) -> str:
        return " ".join(
            f"--{role}: {look.dark if dark else look.light};"
            for role, look in ROLES.items()
            if look.light
        )

    roles = "\n".join(
        f".{role} {{ " + (f"color: var(--{role})" if look.light else "font-weight: bold") + " }"
        for role, look in ROLES.items()
    )
    return _STYLE.format(
        ink=INK, paper=PAPER, light=colours(dark=False), dark=colours(dark=True),
        mono=_MONOSPACE, roles=roles,
    )  # fmt: skip


def _body(report: Report, picture: Picture | None) -> Iterator[str]:
    if report.headline:
        first, *others = headline(report.headline, Canvas())
        yield f"<h1>{_line(first)}</h1>"
        yield from (f"<p>{_line(one)}</p>" for one in others)
    for section in report.sections:
        yield from _section(section)
    if picture is not None:
        drawn = terminal.lines(picture, Canvas(WIDTH, colour=True))
        yield "<pre>" + "\n".join(map(_line, drawn)) + "</pre>"


def _line(one: Line) -> str:
    return "".join(map(_span, one))


def _span(span: Span) -> str:
    text = escape(span.text)
    style = span.style
    colours = [f"color:{style.ink}"] if style.ink else []
    colours += [f"background:{style.paper}"] if style.paper else []
    if colours:
        return f'<span style="{";".join(colours)}">{text}</span>'
    return f'<span class="{style.role}">{text}</span>' if style.role else text


def _section(section: Section) -> Iterator[str]:
    if section.title:
        yield f"<h2>{_text(section.title)}</h2>"
    if section.rows:
        yield '<div class="wide"><table>' + "\n".join(_table(section)) + "</table></div>"
    for text in (*section.lines, *section.notes):
        if text:
            yield f'<p class="dim">{_text(text)}</p>'


def _text(text: str) -> str:
    # No line is broken inside ``V = 30,522``.
    return escape(printable(text)).replace(" = ", "&#160;=&#160;")


def _table(section: Section) -> Iterator[str]:
    found = strips(section, Canvas())
    headings = [_cell("th", Shown(strip.heading), strip) for strip in found]
    yield "<thead>" + _row(headings, _share(found), tag="th")
    yield "</thead><tbody>"
    under = False
    for row in range(len(section.rows)):
        group = section.groups.get(row)
        if group is not None:
            under = bool(group)
        is_group = bool(group) and found[0].cells[row].text == printable(group or "")
        if group and not is_group:
            yield f'<tr class="group"><td colspan="{len(found)}">{_text(group)}</td></tr>'
        cells = [
            _cell("td", s.cells[row], s, under=under and not i and not is_group)
            for i, s in enumerate(found)
        ]
        yield _row(cells, _share(found), _bar(section, row), "group" if is_group else "")
    yield "</tbody>"
    if section.total:
        last = len(section.rows)
        cells = [_cell("td", s.cells[last], s) for s in found]
        yield "<tfoot>" + _row(cells, _share(found)) + "</tfoot>"


def _row(
    cells: list[str], share: int | None, bar: str = "", kind: str = "", tag: str = "td"
) -> str:
    if share is not None:
        cells = [*cells[: share + 1], f'<{tag} class="share">{bar}</{tag}>', *cells[share + 1 :]]
    return (f'<tr class="{kind}">' if kind else "<tr>") + "".join(cells) + "</tr>"


def _cell(tag: str, cell: Shown, strip: Strip, under: bool = False) -> str:
    kinds: Iterable[str] = (
        "number" if strip.is_numeric else "",
        cell.role,
        "under" if under else "",
    )
    said = " ".join(kind for kind in kinds if kind)
    text = "<br>".join(map(escape, cell.lines))
    return f'<{tag} class="{said}">{text}</{tag}>' if said else f"<{tag}>{text}</{tag}>"


def _share(found: list[Strip]) -> int | None:
    """The place of the column whose cells have bars beside them, if there is one."""
    return next((i for i, s in enumerate(found) if s.column.kind == "share"), None)


def _bar(section: Section, row: int) -> str:
    """The share of a row as a bar, on the scale of the largest."""
    place = next((i for i, c in enumerate(section.columns) if c.kind == "share"), None)
    if place is None:
        return ""
    largest = max(r[place] or 0.0 for r in section.rows)
    share = section.rows[row][place]
    return f'<span style="width:{100 * share / largest:.2f}%"></span>' if share else ""
