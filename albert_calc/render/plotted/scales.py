"""Axes: what stands at their ticks, and whether they go by powers."""

import math
from typing import Literal

from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from albert_calc.pictures.picture import Unit
from albert_calc.render.theme import RULE
from albert_calc.writing.numbers import BINARY_UNITS

_UNITS = ((10**12, "T"), (10**9, "B"), (10**6, "M"))
_TICKS = 6
_ROUND = [1, 2, 2.5, 5, 10]


def tick_text(value: float) -> str:
    """``2.5e9`` as ``2.5B``; below a million in full."""
    for size, letter in _UNITS:
        if abs(value) >= size:
            return f"{value / size:,g}{letter}"
    return f"{value:,g}" if value % 1 else f"{value:,.0f}"


def by_powers(axes: Axes, which: Literal["x", "y"]) -> None:
    """Make one of *axes* go by powers of ten, with a tick at each."""
    axis: Axis = axes.xaxis if which == "x" else axes.yaxis
    scale = axes.set_xscale if which == "x" else axes.set_yscale
    scale("log")
    axis.set_major_locator(LogLocator(10, numticks=_TICKS + 3))
    axis.set_minor_formatter(NullFormatter())
    axis.set_major_formatter(FuncFormatter(lambda value, _: tick_text(value)))


def evenly(axis: Axis, largest: float, unit: Unit) -> None:
    """Round ticks from zero to *largest*: of parameters, or of bytes."""
    if unit == "bytes":
        power = min(int(math.log2(max(largest, 1)) / 10), len(BINARY_UNITS) - 1)
        size = 1024**power
        places = MaxNLocator(_TICKS, steps=_ROUND).tick_values(0, largest / size)
        axis.set_ticks([p * size for p in places if 0 <= p * size <= largest])
        axis.set_major_formatter(
            FuncFormatter(
                lambda value, _: f"{value / size:,g} {BINARY_UNITS[power]}" if value else "0"
            )
        )
    else:
        axis.set_major_locator(MaxNLocator(_TICKS, steps=_ROUND))
        axis.set_major_formatter(FuncFormatter(lambda value, _: tick_text(value)))


def quiet(axes: Axes) -> None:
    """Take the ticks and the frame off *axes*, but for the line that bars stand on."""
    axes.tick_params(length=0, which="both")
    for side in ("top", "right", "bottom"):
        axes.spines[side].set_visible(False)
    axes.spines["left"].set_color(RULE)
