"""What a checkpoint and a model differ in, in few lines."""

from collections.abc import Callable, Iterator

from albert_calc.algebra import TEXT, Dim, Dims, times
from albert_calc.checkpoints.matching import Difference, Match, place_of
from albert_calc.checkpoints.names import Shape
from albert_calc.writing.harmless import printable

PAPER_LAYOUT = (
    "the tensors are in the layout of the paper, as the code of albert_zh stores them, and not"
    " in that of transformers"
)

_LONGEST = 120
# Fewer tensors of a layer are named one by one.
_WHOLE_LAYER = 4


Witness = Callable[[Difference], str]
"""The name of another tensor that shows the size which one lacks; either may be wrong."""


def difference_lines(agreed: Match, witness: Witness = lambda _: "") -> list[str]:
    """The differences, a line each: copies of one tensor, or all tensors of a layer, together.

    ``encoder.layer.0 … 11: 12 × attention.self.query.weight missing``
    """
    groups: dict[tuple[object, ...], list[Difference]] = {}
    for one in agreed.differences:
        key = (one.kind, place_of(one.name), one.block)
        groups.setdefault(key, []).append(one)
    lines = []
    for alike in groups.values():
        place = place_of(alike[0].name)
        whole = len(alike) >= _WHOLE_LAYER and len(alike) == agreed.places.get(place)
        if place and whole and alike[0].kind in ("missing", "unexpected"):
            where = alike[0].block.named(place)
            lines.append(f"{_safe(where)}: all {len(alike)} tensors {alike[0].kind}")
        else:
            lines += [_line(one, witness) for one in alike]
    return lines


def _line(difference: Difference, witness: Witness) -> str:
    between = ": " if difference.size == 1 else " "
    return f"{subject(difference)}{between}{_told(difference, witness)}"


def subject(difference: Difference) -> str:
    """Which tensors differ: ``encoder.layer.0 … 11: 12 × attention.self.query.weight``."""
    if difference.size == 1:
        return _safe(next(difference.names()))
    place = place_of(difference.name)
    rest = difference.name.removeprefix(place).lstrip(".")
    where = difference.block.named(place)
    return f"{_safe(where)}: {difference.size:,} × {_safe(rest)}"


def _told(difference: Difference, witness: Witness) -> str:
    if difference.kind == "shared":
        return f"has the numbers of {_safe(difference.found[0].original)}, and is none of its own"
    if difference.kind != "shape":
        return difference.kind
    expected = shape_formula(difference.symbols, difference.expected)
    shown = witness(difference)
    expected += f", as {_safe(shown)} shows" if shown else ""
    text = f"must be {expected}, got {shape_text(difference.found[0].stored.shape)}"
    if difference.copy_of:
        text += f": no copy of {_safe(difference.copy_of)}, and counted for itself"
    return text


def shape_text(shape: Shape) -> str:
    """``30,000 × 128``."""
    return TEXT.times.join(TEXT.number(size) for size in shape) or "a single number"


def formula(symbols: Dims) -> str:
    """``V × E``: what a shape is made of."""
    return TEXT.times.join(map(_factor, symbols))


def shape_formula(symbols: Dims, shape: Shape) -> str:
    """``V × E = 30,000 × 128``: what a shape is made of, and what that comes to."""
    return shape_text(shape) if symbols == shape else f"{formula(symbols)} = {shape_text(shape)}"


def _factor(dim: Dim) -> str:
    text = times(dim).formula()
    return f"({text})" if " " in text else text


def prefix_note(prefix: str) -> Iterator[str]:
    """What was taken off every name, if anything was."""
    if prefix:
        yield f"every name begins with {_safe(prefix)}, which was taken off"


def _safe(name: str) -> str:
    return printable(name, _LONGEST)
