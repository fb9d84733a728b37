"""Bars as a figure; points on a scale by powers where bars would be too far apart."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from albert_calc.pictures.picture import Bar, BarGroup, Chart, Panel, is_wide, value_texts
from albert_calc.render.plotted.scales import by_powers, evenly, quiet
from albert_calc.render.plotted.sheet import WIDTH, dim, meant, sheet, width_of
from albert_calc.render.theme import BEFORE, LIMIT, PAPER, part_colour
from albert_calc.writing.harmless import printable

_BAR, _AIR, _AXIS = 0.24, 0.14, 0.55
_GAP = 8.0
_INCH = 72.0


def plot(chart: Chart) -> Figure:
    """The panels of *chart* under each other."""
    heights = [_height(panel) for panel in chart.panels]
    figure, share = sheet(chart.title, chart.lines, sum(heights))
    names, labels, after = _margins(chart)
    left, right = (names + labels) / _INCH / WIDTH, 1 - after / _INCH / WIDTH
    place = share
    for panel, height in zip(chart.panels, heights, strict=True):
        unit = share / sum(heights)
        top = place - (_head(panel) * unit)
        bottom = place - (height - _AXIS) * unit
        axes = figure.add_axes((left, bottom, max(right - left, 0.2), top - bottom))
        _panel(axes, panel, names + labels)
        place -= height * unit
    return figure


def _height(panel: Panel) -> float:
    bars = len(panel.bars) * _BAR
    air = (len(panel.groups) + 1) * _AIR
    return _head(panel) + bars + air + _AXIS


def _head(panel: Panel) -> float:
    """The inches for a title, a legend and the name of a limit."""
    return 0.1 + 0.25 * (bool(panel.title) + _has_legend(panel)) + 0.2 * bool(panel.limit)


def _has_legend(panel: Panel) -> bool:
    return any(part.name for part in panel.parts)


def _margins(chart: Chart) -> tuple[float, float, float]:
    """The points for the names, for the labels, and for the values and remarks."""
    groups = [group for panel in chart.panels for group in panel.groups]
    texts = [text for group in groups for text in (group.name, group.detail)]
    names = max(map(width_of, texts), default=0.0)
    bars = [bar for group in groups for bar in group.bars]
    labels = max((width_of(bar.label) for bar in bars), default=0.0)
    values = [
        width_of(value_texts([b.total for b in panel.bars], panel.unit)[bar.total])
        + width_of(bar.remark.text)
        for panel in chart.panels
        for bar in panel.bars
    ]
    return (names + _GAP if names else 0.0), labels + _GAP, max(values, default=0.0) + 3 * _GAP


def _panel(axes: Axes, panel: Panel, margin: float) -> None:
    totals = [bar.total for bar in panel.bars if bar.total]
    # Of memory the parts and the limit count, which only a scale from zero shows.
    is_log = panel.unit == "count" and bool(totals) and is_wide(totals)
    texts = value_texts([bar.total for bar in panel.bars], panel.unit)
    places: list[float] = []
    place = 0.0
    for group in panel.groups:
        place -= _AIR / _BAR
        _group_name(axes, group, place - (len(group.bars) - 1) / 2, margin)
        for index, bar in enumerate(group.bars):
            colour = _point_colour(panel, group, index)
            if is_log:
                _point(axes, bar, place, colour)
            else:
                _stacked(axes, panel, bar, place)
            _value(axes, texts[bar.total], bar, place)
            places.append(place)
            place -= 1
    axes.set_ylim(place - _AIR / _BAR + 0.5, 0.5)
    axes.set_yticks(places, [printable(bar.label) for bar in panel.bars])
    quiet(axes)
    axes.grid(visible=True, axis="x")
    if is_log:
        by_powers(axes, "x")
        axes.set_xlim(min(totals) / 2, max(totals) * 1.1)
        axes.set_xlabel("parameters, by powers of 10", color=dim())
    else:
        axes.set_xlim(0, panel.largest)
        evenly(axes.xaxis, panel.largest, panel.unit)
        if panel.unit == "count":
            axes.set_xlabel("parameters", color=dim())
    _titles(axes, panel, is_log, margin)


def _group_name(axes: Axes, group: BarGroup, place: float, margin: float) -> None:
    for text, colour, above in ((group.name, None, True), (group.detail, dim(), False)):
        if text:
            axes.annotate(
                printable(text), (0, place), xycoords=("axes fraction", "data"),
                xytext=(-margin, 1 if above else -1), textcoords="offset points",
                va="bottom" if above else "top", color=colour,
                fontweight="bold" if above else "normal",
            )  # fmt: skip


def _point_colour(panel: Panel, group: BarGroup, index: int) -> str:
    """The colour of a bar that is shown as a point: of its only part, or of its place."""
    present = [p for p, v in zip(panel.parts, group.bars[index].values, strict=True) if v]
    if len(present) == 1:
        return part_colour(present[0].hue)
    return BEFORE if index == 0 and len(group.bars) > 1 else part_colour(0)


def _point(axes: Axes, bar: Bar, place: float, colour: str) -> None:
    if bar.total:
        axes.hlines(place, 1e-9, bar.total, color=colour, linewidth=1.2, alpha=0.5)
        axes.plot([bar.total], [place], "o", color=colour, markersize=6, clip_on=False)


def _stacked(axes: Axes, panel: Panel, bar: Bar, place: float) -> None:
    start = 0
    for part, value in zip(panel.parts, bar.values, strict=True):
        if value:
            axes.barh(
                place, value, left=start, height=0.78, color=part_colour(part.hue),
                edgecolor=PAPER, linewidth=0.4,
            )  # fmt: skip
        start += value
    if bar.total:
        # However short it is, a bar can be seen.
        axes.vlines(0, place - 0.39, place + 0.39, color=_first_colour(panel, bar), linewidth=1.5)


def _first_colour(panel: Panel, bar: Bar) -> str:
    largest = max(range(len(bar.values)), key=lambda i: bar.values[i])
    first = next(i for i, value in enumerate(bar.values) if value)
    return part_colour(panel.parts[first if bar.total * 100 > panel.largest else largest].hue)


def _value(axes: Axes, text: str, bar: Bar, place: float) -> None:
    paper = {"facecolor": PAPER, "edgecolor": "none", "pad": 0.5}
    said = axes.annotate(
        text, (bar.total, place), xytext=(6, 0), textcoords="offset points", va="center",
        bbox=paper,
    )  # fmt: skip
    if bar.remark.text:
        axes.annotate(
            printable(bar.remark.text), (1, 0.5), xycoords=said, xytext=(7, 0),
            textcoords="offset points", va="center", color=meant(bar.remark.meaning),
            bbox=paper,
        )  # fmt: skip


def _titles(axes: Axes, panel: Panel, is_log: bool, margin: float) -> None:
    """The title of a panel, its legend, and its limit, above its axes."""
    above = 4.0
    if panel.limit is not None:
        axes.axvline(panel.limit.value, color=LIMIT, linewidth=1.5, linestyle="--")
        axes.annotate(
            printable(panel.limit.label), (panel.limit.value, 1),
            xycoords=("data", "axes fraction"), xytext=(0, above), textcoords="offset points",
            ha="center", color=LIMIT,
        )  # fmt: skip
        above += 14
    handles = _handles(panel, is_log)
    if handles:
        axes.legend(
            handles=handles, loc="lower left", ncols=min(len(handles), 4), fontsize=9,
            bbox_to_anchor=(0, 1 + above / _INCH / _axes_inches(axes)), borderaxespad=0,
            borderpad=0, handlelength=1, handleheight=1, columnspacing=1.5,
        )  # fmt: skip
        above += 18
    if panel.title:
        axes.annotate(
            printable(panel.title), (0, 1), xycoords="axes fraction", xytext=(-margin, above),
            textcoords="offset points", fontweight="bold",
        )  # fmt: skip


def _axes_inches(axes: Axes) -> float:
    figure = axes.get_figure()
    height = figure.get_figheight() if isinstance(figure, Figure) else 1.0
    return axes.get_position().height * height


def _handles(panel: Panel, is_log: bool) -> list[Patch | Line2D]:
    """What the colours mean: of parts, or of bars where parts cannot be told from each other."""
    mixed = any(sum(1 for v in bar.values if v) > 1 for bar in panel.bars)
    if not is_log or not mixed:
        return [
            Patch(color=part_colour(part.hue), label=printable(part.name))
            for part in panel.parts
            if part.name
        ]
    first = max(panel.groups, key=lambda group: len(group.bars))
    if len(first.bars) == 1:
        return []
    return [
        Line2D(
            [], [], marker="o", linestyle="", label=printable(bar.label),
            color=_point_colour(panel, first, index),
        )
        for index, bar in enumerate(first.bars)
    ]  # fmt: skip
