"""Where pictures go, and tables that are saved: to standard output, or to a file."""

from albert_calc.cli.output import canvas, say, write, write_file
from albert_calc.config.files import quoted
from albert_calc.pictures.picture import Picture
from albert_calc.render.files import content
from albert_calc.report import Report


def show(picture: Picture, save: str | None, *, quiet: bool = False) -> None:
    """Write *picture* to standard output, or to the file *save* and nothing there.

    Unless *quiet* it is said that a file was written.
    """
    if save is None:
        from albert_calc.render.terminal import render

        write(render(picture, canvas()))
    else:
        _save(save, content(save, picture=picture), quiet)


def save_report(report: Report, save: str, *, quiet: bool = False) -> None:
    """Write the tables of *report*, and the picture beside them, to the file *save*."""
    _save(save, content(save, report, report.picture), quiet)


def _save(path: str, data: bytes, quiet: bool) -> None:
    write_file(path, data)
    if not quiet:
        say("note", [f"saved {quoted(path)}"])
