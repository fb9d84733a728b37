"""What is written to a file: pictures drawn by matplotlib, pages, and plain text."""

from albert_calc.errors import AlbertCalcError
from albert_calc.pictures.picture import Picture
from albert_calc.render import Canvas
from albert_calc.report import Report
from albert_calc.writing.harmless import shown

ENDINGS = (".svg", ".png", ".pdf", ".html", ".txt")
"""The endings of the files that ``content`` knows."""

_WIDTH = 100


def ending_of(path: str) -> str:
    """Which of ``ENDINGS`` *path* has; ``AlbertCalcError`` if none."""
    for ending in ENDINGS:
        if path.lower().endswith(ending):
            return ending
    *others, last = ENDINGS
    raise AlbertCalcError(f"save: must end in {', '.join(others)} or {last}, got {shown(path)}")


def content(path: str, report: Report | None = None, picture: Picture | None = None) -> bytes:
    """*report*, *picture*, or both, as the content of a file with the ending of *path*.

    A picture in a file depends on no terminal. Raises ``AlbertCalcError`` for an unknown
    ending, for a table as a picture, and where matplotlib is missing.
    """
    ending = ending_of(path)
    if ending == ".html":
        from albert_calc.render.page import page

        return page(report, picture).encode()
    if ending == ".txt":
        return _text(report, picture).encode()
    if picture is None:
        raise AlbertCalcError(f"save: a table is written to .html or .txt, got {shown(path)}")
    from albert_calc.render.figure import figure

    return figure(picture, ending[1:])


def _text(report: Report | None, picture: Picture | None) -> str:
    from albert_calc.render import table, terminal

    canvas = Canvas(_WIDTH)
    parts = [table.render(report, canvas)] if report is not None else []
    parts += [terminal.render(picture, canvas)] if picture is not None else []
    return "\n".join(parts)
