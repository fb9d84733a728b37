"""Bar charts: each bar with its label, its exact value, and a remark.

May import rich, ``albert_calc.picture``, ``albert_calc.format`` and
``albert_calc.render.lines``.
"""

from collections.abc import Iterator
from itertools import zip_longest
from typing import NamedTuple

from rich.text import Text

from albert_calc.format import count
from albert_calc.picture import Bar, BarGroup, Chart, Panel, eighths
from albert_calc.render.lines import flowed, padded, widest, wrapped

_GAP = "  "
_SHORTEST = 16  # cells; where the longest bar would be shorter, the labels move away

_PARTS = " ▏▎▍▌▋▊▉"
_HUES = ("#2a86c8", "#d9822b")


class _Widths(NamedTuple):
    """The widths of the columns around the bars, in cells; absent ones are 0."""

    name: int
    label: int
    value: int
    remark: int

    def beside(self, width: int) -> int:
        """What a line of *width* cells has left for the bar; without names it is indented."""
        texts = self.label + len(_GAP) + len(_GAP) + self.value
        return width - self.name - len(_GAP) - texts - bool(self.remark) * len(_GAP) - self.remark


def lines(chart: Chart, width: int) -> list[Text]:
    """*chart* in lines of at most *width* cells, unless a number alone is longer.

    Names stand to the left of the bars, or above them, or every text does, whatever
    leaves the bars long enough to be compared.
    """
    drawn = wrapped(chart.title, width, "bold")
    for line in chart.lines:
        drawn += wrapped(line, width)
    widths = _widths(chart)
    for panel in chart.panels:
        drawn += [Text(""), *wrapped(panel.title, width, "bold")]
        for group in panel.groups:
            drawn += _group(group, panel, widths, width)
    return drawn


def _widths(chart: Chart) -> _Widths:
    groups = [group for panel in chart.panels for group in panel.groups]
    bars = [bar for group in groups for bar in group.bars]
    return _Widths(
        widest([text for group in groups for text in (group.name, group.detail)]),
        widest([bar.label for bar in bars]),
        widest([count(bar.value) for bar in bars]),
        widest([bar.remark for bar in bars]),
    )


def _group(group: BarGroup, panel: Panel, widths: _Widths, width: int) -> Iterator[Text]:
    names = [text for text in (group.name, group.detail) if text]
    if widths.beside(width) >= _SHORTEST:
        yield from _beside(names, group, panel, widths, width)
        return
    for line in flowed(names, width, _GAP):
        yield from wrapped(line, width)
    unnamed = widths._replace(name=0)
    if unnamed.beside(width) >= _SHORTEST:
        yield from _beside([], group, panel, unnamed, width)
    else:
        for bar in group.bars:
            yield from _below(bar, panel, widths, width)


def _beside(
    names: list[str], group: BarGroup, panel: Panel, widths: _Widths, width: int
) -> Iterator[Text]:
    """One line a bar: name, label, bar, value, remark."""
    cells = widths.beside(width)
    for name, bar in zip_longest(names, group.bars):
        line = Text(padded(name or "", widths.name) + _GAP)
        if bar is not None:
            drawn = _bar(bar, panel, cells)
            line.append(padded(bar.label, widths.label) + _GAP)
            line.append(drawn).append(" " * (cells - drawn.cell_len) + _GAP)
            line.append(padded(count(bar.value), widths.value, right=True))
            line.append(_GAP + bar.remark if bar.remark else "")
        yield line


def _below(bar: Bar, panel: Panel, widths: _Widths, width: int) -> Iterator[Text]:
    """The texts of a bar, and the bar in a line of its own under them."""
    label, value = bar.label, count(bar.value)
    if len(_GAP) * 2 + widths.label + widths.value + widths.remark <= width:
        label, value = padded(label, widths.label), padded(value, widths.value, right=True)
    for line in flowed([text for text in (label, value, bar.remark) if text], width, _GAP):
        yield from wrapped(line, width)
    yield _bar(bar, panel, width)


def _bar(bar: Bar, panel: Panel, cells: int) -> Text:
    whole, part = divmod(eighths(bar.value, panel.largest, cells), len(_PARTS))
    hue = _HUES[bar.hue % len(_HUES)]
    # Whole cells have a background too: some fonts leave gaps between blocks.
    return Text.assemble(("█" * whole, f"{hue} on {hue}"), (_PARTS[part].strip(), hue))
