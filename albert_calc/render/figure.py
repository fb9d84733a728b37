"""Pictures in files, by matplotlib: an optional extra, imported only when a file is drawn."""

import io
import logging
import os
import tempfile
import warnings
from typing import TYPE_CHECKING, Any, cast

from albert_calc.errors import AlbertCalcError
from albert_calc.pictures.picture import Chart, Curve, Diagram, Picture, as_bars
from albert_calc.render.theme import INK, PAPER, RULE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KINDS = ("svg", "png", "pdf")
"""The kinds of files that can be drawn."""

_DOTS_PER_INCH = 160
_MOST_BARS = 500
_STYLE = {
    "font.family": ["sans-serif"],
    "font.size": 9,
    "text.color": INK,
    "text.parse_math": False,
    "axes.edgecolor": RULE,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "xtick.color": INK,
    "ytick.color": INK,
    "grid.color": "#e3e6ea",
    "figure.facecolor": PAPER,
    "axes.facecolor": PAPER,
    "savefig.facecolor": PAPER,
    "legend.frameon": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "albert-calc",
    "pdf.fonttype": 42,
}
"""Letters that stay text, on paper of their own: the same in print and in the dark."""


def _matplotlib() -> Any:
    """The library, with its own settings: nothing of this directory is read, none is written.

    It would take ``matplotlibrc`` from where the process runs, and keep a list of fonts in the
    home directory.
    """
    with tempfile.TemporaryDirectory() as empty:
        os.environ["MPLCONFIGDIR"] = empty
        here = os.open(".", os.O_RDONLY)
        try:
            os.chdir(empty)
            import matplotlib
            import matplotlib.font_manager
        finally:
            os.fchdir(here)
            os.close(here)

    return matplotlib


def figure(picture: Picture, kind: str) -> bytes:
    """*picture* as the content of a file of one of ``KINDS``.

    Raises ``AlbertCalcError`` for more bars than anybody could read, and with the command that
    installs matplotlib if it is missing.
    """
    bars = sum(len(panel.bars) for panel in picture.panels) if isinstance(picture, Chart) else 0
    if bars > _MOST_BARS:
        raise AlbertCalcError(
            f".{kind}: a chart may have at most {_MOST_BARS} bars, got {bars:,}"
            " (.html and .txt may have any number)"
        )
    try:
        matplotlib = _matplotlib()
    except ImportError:
        raise AlbertCalcError(
            f".{kind} needs matplotlib, which is not installed: pip install matplotlib"
            " (.html and .txt need nothing)"
        ) from None
    except ValueError as error:
        # A setting of the environment that matplotlib cannot use.
        raise AlbertCalcError(f".{kind}: matplotlib does not start: {error}") from None
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    with warnings.catch_warnings(), matplotlib.rc_context():
        # A letter that no font has is drawn as a box, and nothing need be said.
        warnings.simplefilter("ignore")
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(cast(Any, _STYLE))
        return _saved(_plotted(picture), picture.title, kind)


def _plotted(picture: Picture) -> "Figure":
    from albert_calc.render.plotted import charts, curves, diagrams, rectangles

    if isinstance(picture, Curve):
        bars = as_bars(picture)
        return charts.plot(bars) if bars else curves.plot(picture)
    if isinstance(picture, Chart):
        return charts.plot(picture)
    if isinstance(picture, Diagram):
        return diagrams.plot(picture)
    return rectangles.plot(picture)


def _saved(drawn: "Figure", title: str, kind: str) -> bytes:
    out = io.BytesIO()
    about: dict[str, dict[str, str | None]] = {
        "svg": {"Title": title, "Date": None, "Creator": "albert-calc"},
        "pdf": {"Title": title, "CreationDate": None, "Creator": "albert-calc"},
        "png": {"Title": title, "Software": "albert-calc"},
    }
    drawn.savefig(
        out, format=kind, dpi=_DOTS_PER_INCH, metadata=about[kind],
        bbox_inches="tight", pad_inches=0.25,
    )  # fmt: skip
    return out.getvalue()
