"""A curve as a figure, with published models on it."""

from itertools import cycle

from matplotlib.figure import Figure

from albert_calc.pictures.picture import Curve, is_wide
from albert_calc.render.plotted.scales import by_powers, evenly
from albert_calc.render.plotted.sheet import dim, sheet
from albert_calc.render.theme import PAPER, part_colour
from albert_calc.writing.harmless import printable
from albert_calc.writing.numbers import short

_HEIGHT = 4.2
_MARKED = 40
"""Up to so many points each is drawn as one."""

_SHAPES = "Dso^vPX"
"""Models are told from each other by these."""


def plot(curve: Curve) -> Figure:
    """The line through all points, and the names of those that have one."""
    figure, share = sheet(curve.title, curve.lines, _HEIGHT)
    axes = figure.add_axes((0.08, 0.12 * share, 0.9, 0.84 * share))
    points = sorted(curve.points)
    xs, ys = [x for x, _ in points], [y for _, y in points]
    marker = "o" if len(points) <= _MARKED else ""
    axes.plot(xs, ys, color=part_colour(0), linewidth=1.8, marker=marker, markersize=3.5)
    axes.grid(visible=True)
    axes.tick_params(length=0, which="both")
    x_words, y_words = f"{curve.symbol}: {curve.meaning}", "total parameters"
    if is_wide(xs):
        by_powers(axes, "x")
        x_words += ", by powers of 10"
    else:
        evenly(axes.xaxis, max(xs), "count")
    if is_wide(ys):
        by_powers(axes, "y")
        y_words += ", by powers of 10"
    else:
        evenly(axes.yaxis, max(ys), "count")
        axes.set_ylim(0, max(ys) * 1.08)
    axes.set_xlabel(x_words, color=dim())
    axes.set_ylabel(y_words, color=dim())
    for mark, shape in zip(curve.marks, cycle(_SHAPES)):
        axes.plot(
            [mark.x], [mark.y], shape, color=part_colour(1), markersize=8, markeredgecolor=PAPER,
            zorder=3, linestyle="", clip_on=False,
            label=f"{printable(mark.label)}: {curve.symbol} = {mark.x:,}, {short(mark.y)}",
        )  # fmt: skip
    if curve.marks:
        axes.legend(loc="best")
    return figure
