"""Bars out of characters: each with its label, its value, and a remark in colour."""

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from rich.cells import cell_len
from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from albert_calc.named_tuple import NamedTuple
from albert_calc.pictures.picture import Bar, BarGroup, Chart, Limit, Panel, value_texts
from albert_calc.render import Canvas
from albert_calc.render.bars import eighths, stacked, swatch, tiny
from albert_calc.render.console import measured, text, whole
from albert_calc.render.theme import LIMIT, part_colour

_GAP = 2
_INDENT = 2
_SHORTEST = 16
"""Where the longest bar would have fewer cells, the texts move away."""


class _Widths(NamedTuple):
    """The widths of the columns around the bars, in cells; absent ones are 0."""

    name: int
    label: int
    value: int
    remark: int

    def left(self, width: int) -> int:
        """What a line of *width* cells has left for the bar."""
        return width - sum(w + _GAP for w in self if w)


def drawn(chart: Chart, width: int, canvas: Canvas) -> Iterator[RenderableType]:
    """The panels of *chart*; names stand beside the bars, or above where it is narrow."""
    widths = _widths(chart)
    for index, panel in enumerate(chart.panels):
        if index:
            yield ""
        yield from _head(panel, widths.left(width), width, canvas)
        if widths.left(width) >= _SHORTEST:
            yield _beside(panel, panel.groups, widths, width, canvas)
        else:
            yield from _below(panel, widths._replace(name=0), width, canvas)


def _widths(chart: Chart) -> _Widths:
    groups = [group for panel in chart.panels for group in panel.groups]
    bars = [bar for group in groups for bar in group.bars]
    texts = (
        [text for group in groups for text in (group.name, group.detail)],
        [bar.label for bar in bars],
        [text for panel in chart.panels for text in _values(panel).values()],
        [bar.remark.text for bar in bars],
    )
    return _Widths(*(max(map(cell_len, column), default=0) for column in texts))


def _values(panel: Panel) -> dict[int, str]:
    return value_texts([bar.total for bar in panel.bars], panel.unit)


def _head(panel: Panel, room: int, width: int, canvas: Canvas) -> Iterator[RenderableType]:
    """The title of a panel and its legend, on one line where there is room."""
    title, legend = text(panel.title, "strong", width), _legend(panel, room, canvas)
    if not title and not legend:
        return
    if measured(title).maximum + 4 + measured(legend).maximum <= width:
        head = Table.grid(expand=True)
        head.add_column()
        head.add_column(justify="right")
        head.add_row(title, legend)
        yield head
    else:
        yield from (part for part in (title, legend) if part)
    yield ""


def _legend(panel: Panel, room: int, canvas: Canvas) -> Text:
    """What the colours mean."""
    entries = [
        Text.assemble(
            swatch(i, len(panel.parts), part_colour(part.hue), canvas), whole(f" {part.name}")
        )
        for i, part in enumerate(panel.parts)
        if part.name
    ]
    longest = max(room, _SHORTEST)
    if any(b.total and not eighths(b.total, panel.largest, longest) for b in panel.bars):
        entries.append(Text(whole(f"{tiny(canvas)} too small to draw"), "dim"))
    return Text("   ").join(entries)


def _beside(
    panel: Panel, groups: Sequence[BarGroup], widths: _Widths, width: int, canvas: Canvas
) -> Table:
    """Name, label, bar, value and remark of each bar on a line."""
    room = widths.left(width)
    columns = (*widths[:2], room, *widths[2:])
    grid = Table.grid(padding=(0, _GAP, 0, 0))
    for place, column in enumerate(columns):
        if column:
            grid.add_column(width=column, justify="right" if place == 3 else "left")

    def add(*cells: RenderableType) -> None:
        grid.add_row(*(c for c, column in zip(cells, columns, strict=False) if column))

    if panel.limit and groups[0] is panel.groups[0]:
        add("", "", _limit_label(panel.limit, panel, room, canvas))
    values = _values(panel)
    for index, group in enumerate(groups):
        if index and _has_air(panel):
            grid.add_row()
        names = [text for text in (group.name, group.detail) if text and widths.name]
        for name, bar in zip_longest(names, group.bars):
            texts = (Text(bar.label), _bar(bar, panel, room, canvas), Text(values[bar.total]),
                     Text(*bar.remark)) if bar else ()  # fmt: skip
            add(Text(name or ""), *texts)
    return grid


def _below(panel: Panel, widths: _Widths, width: int, canvas: Canvas) -> Iterator[RenderableType]:
    """The bars of each group under its name, where it must be each under its own texts too."""
    indent = _INDENT if any(group.name for group in panel.groups) else 0
    for index, group in enumerate(panel.groups):
        if index and _has_air(panel):
            yield ""
        names = "  ".join(text for text in (group.name, group.detail) if text)
        if names:
            yield text(names, "", width)
        if widths.left(width - indent) >= _SHORTEST:
            grid = _beside(panel, [group], widths, width - indent, canvas)
            yield Padding(grid, (0, 0, 0, indent))
            continue
        if panel.limit and not index:
            yield _limit_label(panel.limit, panel, width, canvas)
        for bar in group.bars:
            texts = (bar.label, ""), (_values(panel)[bar.total], ""), bar.remark
            yield Text("   ").join(Text(whole(one), style) for one, style in texts if one)
            yield _bar(bar, panel, width, canvas)


def _has_air(panel: Panel) -> bool:
    """Whether an empty line stands between groups."""
    return any(len(group.bars) > 1 for group in panel.groups)


def _bar(bar: Bar, panel: Panel, room: int, canvas: Canvas) -> Text:
    drawn = stacked(
        bar.values, panel.largest, room, [part_colour(part.hue) for part in panel.parts], canvas
    )
    if panel.limit:
        # A line across it.
        place = _place(panel.limit, panel, room)
        drawn.pad_right(max(place + 1 - len(drawn), 0))
        plain = drawn.plain
        drawn.plain = plain[:place] + canvas.spelled("│") + plain[place + 1 :]
        drawn.stylize(LIMIT, place, place + 1)
    return drawn


def _place(limit: Limit, panel: Panel, room: int) -> int:
    """The cell of *limit*."""
    return min(eighths(limit.value, panel.largest, room) // 8, room - 1)


def _limit_label(limit: Limit, panel: Panel, room: int, canvas: Canvas) -> Text:
    """What the limit is called, over its line."""
    place, label = _place(limit, panel, room), limit.label
    before = place - cell_len(label) - 1
    if before < 0:
        corner = (" " * place + canvas.spelled("┌"), LIMIT)
        return Text.assemble(corner, f" {label}")
    return Text.assemble(" " * before, f"{label} ", (canvas.spelled("┐"), LIMIT))
