"""Bars out of characters: each with its label, its value, and a remark in colour."""

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple

from albert_calc.pictures.picture import Bar, BarGroup, Chart, Panel, Part, value_texts
from albert_calc.render import Canvas
from albert_calc.render.bars import eighths, stacked, swatch, tiny
from albert_calc.render.lines import (
    DIM,
    EMPTY,
    PLAIN,
    STRONG,
    Line,
    Span,
    Style,
    cells,
    filled,
    line,
    padded,
    widest,
    width_of,
    wrapped,
)
from albert_calc.render.theme import BEFORE, LIMIT, part_colour

_GAP, _BETWEEN = "  ", "   "
_SHORTEST = 16
"""Where the longest bar would have fewer cells, the texts move away."""

_TOO_SMALL = "too small to draw"


class _Widths(NamedTuple):
    """The widths of the columns around the bars, in cells; absent ones are 0."""

    name: int
    label: int
    value: int
    remark: int

    def left(self, width: int) -> int:
        """What a line of *width* cells has left for the bar."""
        texts = [w for w in self if w]
        return width - sum(texts) - len(_GAP) * len(texts)


def lines(chart: Chart, width: int, canvas: Canvas) -> list[Line]:
    """The panels of *chart*; names stand beside the bars, or above where it is narrow."""
    widths = _widths(chart)
    drawn: list[Line] = []
    for panel in chart.panels:
        drawn += [EMPTY] if drawn else []
        drawn += _panel(panel, widths, width, canvas)
    return drawn


def colour_of(part: Part) -> str:
    """The colour of a part of bars."""
    return BEFORE if part.hue is None else part_colour(part.hue)


def _widths(chart: Chart) -> _Widths:
    groups = [group for panel in chart.panels for group in panel.groups]
    bars = [bar for group in groups for bar in group.bars]
    return _Widths(
        widest([text for group in groups for text in (group.name, group.detail)]),
        widest([bar.label for bar in bars]),
        widest([text for panel in chart.panels for text in _values(panel).values()]),
        widest([bar.remark.text for bar in bars]),
    )


def _values(panel: Panel) -> dict[int, str]:
    return value_texts([bar.total for bar in panel.bars], panel.unit)


class _Scale(NamedTuple):
    """Where bars stand in a line, and how long they are."""

    panel: Panel
    widths: _Widths
    cells: int
    canvas: Canvas


def _panel(panel: Panel, widths: _Widths, width: int, canvas: Canvas) -> Iterator[Line]:
    yield from _head(panel, width, canvas, widths)
    beside, unnamed = widths.left(width), widths._replace(name=0)
    indented = len(_GAP) if widths.name else 0
    has_air = any(len(group.bars) > 1 for group in panel.groups)
    for index, group in enumerate(panel.groups):
        if has_air and index:
            yield EMPTY
        if beside >= _SHORTEST:
            scale = _Scale(panel, widths, beside, canvas)
            names = [text for text in (group.name, group.detail) if text]
            yield from _limit_label(scale, first=not index, indent=0)
            yield from (_bar_line(n or "", b, scale) for n, b in zip_longest(names, group.bars))
            continue
        yield from _name_line(group, width)
        if unnamed.left(width - indented) >= _SHORTEST:
            scale = _Scale(panel, unnamed, unnamed.left(width - indented), canvas)
            yield from _limit_label(scale, first=not index, indent=indented)
            for bar in group.bars:
                yield (Span(" " * indented), *_bar_line("", bar, scale))
        else:
            scale = _Scale(panel, _Widths(0, 0, 0, 0), width, canvas)
            yield from _limit_label(scale, first=not index, indent=0)
            for bar in group.bars:
                yield from _bar_below(bar, scale, width)


def _head(panel: Panel, width: int, canvas: Canvas, widths: _Widths) -> Iterator[Line]:
    """The title of a panel and its legend, on one line where there is room."""
    legend = _flowed(_legend(panel, canvas, widths.left(width)), width)
    title = line(panel.title, STRONG)
    if len(legend) == 1 and width_of(title) + 4 + width_of(legend[0]) <= width:
        yield (*filled(title, width - width_of(legend[0])), *legend[0])
    else:
        yield from (line(text, STRONG) for text in wrapped(panel.title, width) if text)
        yield from legend
    if panel.title or legend:
        yield EMPTY


def _legend(panel: Panel, canvas: Canvas, room: int) -> list[Line]:
    """What the colours mean, an entry each."""
    count = len(panel.parts)
    entries: list[Line] = [
        (swatch(i, count, colour_of(part), canvas), Span(f" {part.name}"))
        for i, part in enumerate(panel.parts)
        if part.name
    ]
    longest = max(room, _SHORTEST)
    if any(b.total and not eighths(b.total, panel.largest, longest) for b in panel.bars):
        entries.append((Span(tiny(canvas), DIM), Span(f" {_TOO_SMALL}", DIM)))
    return entries


def _flowed(entries: Sequence[Line], width: int) -> list[Line]:
    """*entries* as many on a line as fit."""
    found: list[Line] = []
    for entry in entries:
        if found and width_of(found[-1]) + len(_BETWEEN) + width_of(entry) <= width:
            found[-1] = (*found[-1], Span(_BETWEEN), *entry)
        else:
            found.append(entry)
    return found


def _name_line(group: BarGroup, width: int) -> Iterator[Line]:
    names = [text for text in (group.name, group.detail) if text]
    if names:
        yield from (line(text) for text in wrapped(_GAP.join(names), width))


def _bar_line(name: str, bar: Bar | None, scale: _Scale) -> Line:
    """Name, label, bar, value and remark on one line."""
    widths = scale.widths
    spans = [Span(padded(name, widths.name) + _GAP)] if widths.name else []
    if bar is None:
        return tuple(spans)
    spans += [Span(padded(bar.label, widths.label) + _GAP)] if widths.label else []
    spans += filled(_drawn(bar, scale), scale.cells)
    value = _values(scale.panel)[bar.total]
    spans.append(Span(_GAP + padded(value, widths.value, right=True)))
    if bar.remark.text:
        spans.append(Span(_GAP + bar.remark.text, Style(bar.remark.meaning)))
    return tuple(spans)


def _bar_below(bar: Bar, scale: _Scale, width: int) -> Iterator[Line]:
    """The texts of a bar, and the bar in a line of its own under them."""
    value = _values(scale.panel)[bar.total]
    texts = [Span(bar.label), Span(value), Span(bar.remark.text, Style(bar.remark.meaning))]
    yield from _flowed([(span,) for span in texts if span.text], width)
    yield _drawn(bar, scale)


def _drawn(bar: Bar, scale: _Scale) -> Line:
    panel = scale.panel
    colours = [colour_of(part) for part in panel.parts]
    drawn = stacked(bar.values, panel.largest, scale.cells, colours, scale.canvas)
    if panel.limit is None:
        return drawn
    return _with_limit(drawn, _place(scale), scale.canvas)


def _place(scale: _Scale) -> int:
    """The cell of the limit."""
    panel = scale.panel
    limit = panel.limit.value if panel.limit else 0
    return min(eighths(limit, panel.largest, scale.cells) // 8, scale.cells - 1)


def _with_limit(drawn: Line, place: int, canvas: Canvas) -> Line:
    """*drawn* with a line across it."""
    single = [Span(char, span.style) for span in drawn for char in span.text]
    single += [Span(" ")] * (place + 1 - len(single))
    behind = single[place].style
    style = Style(ink=LIMIT, paper=behind.paper or behind.ink) if canvas.colour else PLAIN
    single[place] = Span(canvas.spelled("│"), style)
    return tuple(single)


def _limit_label(scale: _Scale, first: bool, indent: int) -> Iterator[Line]:
    """What the limit is called, over its line."""
    limit = scale.panel.limit
    if limit is None or not first:
        return
    before = indent + sum(w + len(_GAP) for w in (scale.widths.name, scale.widths.label) if w)
    place = before + _place(scale)
    text = f"{limit.label} "
    start = max(place - cells(text), 0)
    style = Style(ink=LIMIT) if scale.canvas.colour else PLAIN
    corner = scale.canvas.spelled("┐")
    yield (Span(" " * start), Span(text), Span(" " * (place - start - cells(text)) + corner, style))
