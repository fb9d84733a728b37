"""Which columns of a table stand beside each other, and how wide they are."""

from collections.abc import Container

from rich.cells import cell_len

from albert_calc.named_tuple import NamedTuple
from albert_calc.render.cells import Shown, Strip
from albert_calc.render.console import breakable, whole

GAPS = (3, 2)
"""The cells between two columns: as they like it, and where there is little room."""

INDENT = whole("  ")


class Fitted(NamedTuple):
    """Columns that stand beside each other, their widths, and the gap between them."""

    strips: list[Strip]
    widths: list[int]
    gap: int

    @property
    def width(self) -> int:
        """The width of a line."""
        return sum(self.widths) + self.gap * (len(self.widths) - 1)


def marked(strip: Strip, longest: int, indented: Container[int] = ()) -> Strip:
    """*strip* with marks where its lines may be broken: texts between terms, numbers nowhere."""

    def mark(row: int, cell: Shown) -> Shown:
        lines = tuple(
            whole(line) if strip.is_numeric else breakable(line, longest) for line in cell.lines
        )
        if row in indented:
            lines = tuple(INDENT + line for line in lines)
        # Most numbers stay as they are, and need no memory of their own.
        return cell if lines == cell.lines else cell._replace(lines=lines)

    cells = tuple(mark(row, cell) for row, cell in enumerate(strip.cells))
    return strip._replace(
        heading=tuple(breakable(one, longest) for one in strip.heading), cells=cells
    )


def fit(found: list[Strip], width: int) -> list[Fitted]:
    """*found* side by side, or in as few parts as fit below each other, of like length."""
    first, *others = found
    for parts in range(1, len(others) + 1):
        most = -(-len(others) // parts)
        split = [[first, *others[i : i + most]] for i in range(0, len(others), most)]
        fitted = [_fit(part, width) for part in split]
        if parts == len(others) or all(f.width <= width for f in fitted):
            return fitted
    return [_fit([first], width)]


def _fit(found: list[Strip], width: int) -> Fitted:
    """*found* beside each other in *width*, or as narrow as they can be if that is wider."""
    least, natural = zip(*map(widths_of, found), strict=True)
    gaps = len(found) - 1
    for gap in GAPS:
        if sum(natural) + gap * gaps <= width:
            return Fitted(found, list(natural), gap)
    widths = list(least)
    for _ in range(width - GAPS[-1] * gaps - sum(widths)):
        growing = [i for i, w in enumerate(widths) if w < natural[i]]
        widths[min(growing, key=widths.__getitem__)] += 1
    return Fitted(found, widths, GAPS[-1])


def widths_of(strip: Strip) -> tuple[int, int]:
    """The width below which a number, a term or a word breaks, and that of the longest line."""
    lines = [*strip.heading, *(line for cell in strip.cells for line in cell.lines)]
    # Every line of a text that is set in is set in.
    words = [
        cell_len(word) + (cell_len(INDENT) if line.startswith(INDENT) else 0)
        for line in lines
        for word in line.removeprefix(INDENT).split()
    ]
    return max(words, default=0), max(map(cell_len, lines))
