"""Stacks of boxes as a figure, an arrow around what is applied again and again."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, Rectangle

from albert_calc.pictures.picture import Box, Diagram, Run, Side, Stack
from albert_calc.render.console import wrapped
from albert_calc.render.plotted.sheet import WIDTH, dim, meant, sheet, width_of
from albert_calc.render.theme import INK, PAPER, RULE, ink_on, shade_colour
from albert_calc.writing.harmless import printable

_BOX, _LINE, _TITLE = 0.25, 0.19, 0.3
_INCH = 72.0
_ARROW = width_of("  ")  # the room of its sign and a space
_LETTERS = 48
_NARROWEST = 0.8
_OMITTED = "#eef0f2"


def plot(diagram: Diagram) -> Figure:
    """Both sides beside each other, on one ground."""
    tallest = max(len(stack.boxes) for side in diagram.sides for stack in side.stacks)
    captions = [_captions(side) for side in diagram.sides]
    below = _LINE * max(map(len, captions)) + 0.12
    below += max((_BOX + 0.12 for side in diagram.sides if _runs(side)), default=0.0)
    height = _TITLE + tallest * _BOX + below
    figure, share = sheet(diagram.title, diagram.lines, height)
    each = 1 / len(diagram.sides)
    for index, side in enumerate(diagram.sides):
        axes = figure.add_axes((index * each, 0, each * 0.94, share))
        # An inch is an inch: the axes are measured in inches from the ground of the stacks.
        axes.set_xlim(0, WIDTH * each * 0.94)
        axes.set_ylim(-below, height - below)
        axes.axis("off")
        _side(axes, side, tallest, captions[index])
    return figure


def _side(axes: Axes, side: Side, tallest: int, captions: Sequence[str]) -> None:
    axes.text(0, tallest * _BOX + 0.1, printable(side.title), fontweight="bold", va="bottom")
    width = axes.get_xlim()[1] / len(side.stacks)
    for index, stack in enumerate(side.stacks):
        _stack(axes, stack, index * width, width)
    ground = -0.1
    if _runs(side):
        _run_strip(axes, _runs(side), ground)
        ground -= _BOX + 0.1
    for index, text in enumerate(captions):
        drawn = axes.text(0, ground - index * _LINE, text, va="top", color=dim() if index else INK)
        if not index and side.remark.text:
            axes.annotate(
                printable(side.remark.text), (1, 0.5), xycoords=drawn, xytext=(8, 0),
                textcoords="offset points", va="center", color=meant(side.remark.meaning),
            )  # fmt: skip


def _runs(side: Side) -> tuple[Run, ...]:
    return side.stacks[0].runs if len(side.stacks) == 1 else ()


def _captions(side: Side) -> list[str]:
    return [part for text in side.captions for part in wrapped(printable(text), _LETTERS)]


def _stack(axes: Axes, stack: Stack, left: float, width: float) -> None:
    beside = max(width_of(b.often) + _ARROW * (b.applied > 1) for b in stack.boxes) / _INCH
    wide = max(width - beside - 0.15 - (0.25 if beside else 0.0), _NARROWEST)
    for index, box in enumerate(stack.boxes):
        _box(axes, box, left, index * _BOX, wide)


def _box(axes: Axes, box: Box, left: float, bottom: float, wide: float) -> None:
    colour = _OMITTED if box.shade is None else shade_colour(box.shade)
    axes.add_patch(
        Rectangle((left, bottom), wide, _BOX, facecolor=colour, edgecolor=PAPER, linewidth=1)
    )
    axes.text(
        left + 0.1, bottom + _BOX / 2, printable(box.label), va="center", color=ink_on(colour)
    )
    if box.often:
        right = left + wide
        if box.applied > 1:
            axes.add_patch(
                FancyArrowPatch(
                    (right + 0.02, bottom + 0.06 * _BOX), (right + 0.02, bottom + 0.94 * _BOX),
                    connectionstyle="arc3,rad=1.3", arrowstyle="-|>", mutation_scale=8,
                    color=RULE, linewidth=1.2,
                )
            )  # fmt: skip
        axes.text(
            right + 0.28, bottom + _BOX / 2, box.often, va="center", fontweight="bold",
        )  # fmt: skip


def _run_strip(axes: Axes, runs: Sequence[Run], top: float) -> None:
    """The order in which boxes are applied, each step in the colour of its box."""
    axes.text(0, top - _BOX / 2, "runs", va="center", color=dim())
    wide = min(0.26, (axes.get_xlim()[1] - 0.45) / len(runs))
    for index, run in enumerate(runs):
        colour = shade_colour(run.shade)
        left = 0.4 + index * wide
        axes.add_patch(Rectangle((left, top - _BOX), wide, _BOX, facecolor=colour, edgecolor=PAPER))
        axes.text(
            left + wide / 2, top - _BOX / 2, run.label, ha="center", va="center",
            color=ink_on(colour), fontsize=7.5,
        )  # fmt: skip
