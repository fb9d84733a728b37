"""Matrices as rectangles in a figure, to scale."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from albert_calc.pictures.picture import Area, Plan, Rectangles
from albert_calc.render.plotted.sheet import WIDTH, dim, meant, sheet
from albert_calc.render.theme import part_colour
from albert_calc.writing.harmless import printable
from albert_calc.writing.numbers import count

_TALLEST, _HEAD, _BELOW = 1.9, 0.55, 0.55
_BETWEEN, _LABEL, _LEFT = 0.85, 1.2, 0.75


def plot(picture: Rectangles) -> Figure:
    """Each plan: its sum, and its matrices beside each other, all on the same two scales."""
    areas = [area for plan in picture.plans for area in plan.areas]
    down = _TALLEST / max(a.down[1] for a in areas)
    across = min(_scale(plan) for plan in picture.plans)
    each = _HEAD + _TALLEST + _BELOW
    figure, share = sheet(picture.title, picture.lines, each * len(picture.plans))
    part = share / len(picture.plans)
    for index, plan in enumerate(picture.plans):
        axes = figure.add_axes((0, share - (index + 1) * part, 1, part))
        axes.set_xlim(0, WIDTH)
        axes.set_ylim(-_BELOW, _TALLEST + _HEAD)
        axes.axis("off")
        _plan(axes, plan, across, down)
    return figure


def _scale(plan: Plan) -> float:
    """The inches for one, if all matrices of *plan* and their labels are to fit."""
    room = WIDTH - _LEFT - _LABEL - _BETWEEN * (len(plan.areas) - 1)
    return room / sum(area.across[1] for area in plan.areas)


def _plan(axes: Axes, plan: Plan, across: float, down: float) -> None:
    title = axes.text(
        0, _TALLEST + 0.3, f"{printable(plan.title)}: {count(plan.value)}",
        fontweight="bold", va="bottom",
    )  # fmt: skip
    if plan.remark.text:
        axes.annotate(
            printable(plan.remark.text), (1, 0.5), xycoords=title, xytext=(8, 0),
            textcoords="offset points", va="center", color=meant(plan.remark.meaning),
        )  # fmt: skip
    left = _LEFT
    for area in plan.areas:
        _area(axes, area, left, across, down)
        left += area.across[1] * across + _BETWEEN


def _area(axes: Axes, area: Area, left: float, across: float, down: float) -> None:
    colour = part_colour(area.hue)
    wide, high = area.across[1] * across, area.down[1] * down
    # The edge keeps a matrix visible that is thinner than a line.
    axes.add_patch(
        Rectangle((left, 0), wide, high, facecolor=colour, edgecolor=colour, linewidth=1)
    )
    axes.text(left, -0.08, f"{area.formula} = {count(area.value)}", va="top")
    (symbol, size), (other, height) = area.across, area.down
    axes.text(left + wide / 2, high + 0.05, f"{symbol} = {size:,}", ha="center", color=dim())
    axes.text(left - 0.06, high / 2, f"{other} = {height:,}", ha="right", va="center", color=dim())
