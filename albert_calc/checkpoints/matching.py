"""The names in a checkpoint against a table of tensors: what fits, what lacks, what is too much.

Nothing here takes longer for a model of a billion layers: what is found is counted, and what
is missing is described.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from math import prod
from typing import Literal, NamedTuple

from albert_calc.algebra import Dim, Dims
from albert_calc.checkpoints.names import (
    Copies,
    Found,
    Indices,
    Shape,
    View,
    literal,
    strangers,
)
from albert_calc.checkpoints.spans import Block, Run, absent, blocks_of
from albert_calc.families import family
from albert_calc.families.base import Tensor

Kind = Literal["shape", "shared", "missing", "unexpected"]


class Difference(NamedTuple):
    """Copies of one tensor that differ in one way from what is expected.

    ``name`` has ``{}`` for indices, and ``block`` says which copies. ``symbols`` and
    ``expected`` are the shape in symbols and in numbers; ``found`` are the tensors, unless
    they are missing. ``copy_of`` is the tensor to which those of another shape should be tied.
    """

    kind: Kind
    name: str
    block: Block
    symbols: Dims = ()
    expected: Shape = ()
    found: tuple[Found, ...] = ()
    copy_of: str = ""

    @property
    def size(self) -> int:
        """How many tensors it is."""
        return len(self.found) or self.block.size

    def names(self) -> Iterator[str]:
        """The name of each of them, one after the other."""
        if self.found:
            return (one.name for one in self.found)
        return (self.name.format(*indices) for indices in self.block.indices())


class Match(NamedTuple):
    """How a checkpoint and a table of tensors agree.

    ``copies`` are tied tensors stored beside the one they are tied to; they are no parameters
    of their own. ``more`` are other heads' tensors and the pooler, where the table has none.
    ``places`` says how many tensors a layer has, by how their names begin.
    """

    differences: tuple[Difference, ...]
    copies: tuple[Found, ...]
    more: tuple[Found, ...]
    places: Mapping[str, int]

    @property
    def problems(self) -> int:
        """How many tensors differ."""
        return sum(d.size for d in self.differences)

    def of(self, kind: Kind) -> tuple[Difference, ...]:
        """The differences of one kind."""
        return tuple(d for d in self.differences if d.kind == kind)


class Expected(NamedTuple):
    """What a checkpoint is compared with: a table, and the value of every symbol in it."""

    table: Sequence[Tensor]
    values: Mapping[str, int]
    tied: bool


class _Asked(NamedTuple):
    """A tensor of the table: its name in the checkpoint, its shape, and which copies it has.

    It is ``required`` unless another is stored that is the same; ``copy_of`` is the one to
    which it is tied.
    """

    name: str
    symbols: Dims
    shape: Shape
    ranges: tuple[Run, ...]
    required: bool
    copy_of: str


def match(seen: View, expected: Expected) -> Match:
    """What is *seen* against what is *expected*, but for the names that the family has not.

    With ``tied``, a tied tensor may be stored or not, and stands for its original if that is
    not stored; one of another shape is no copy, and counts for itself.
    """
    table = {t.name for t in expected.table}
    copies: list[Found] = []
    differences: list[Difference] = []
    places: Counter[str] = Counter()
    for asked, several, other in _asked(seen, expected):
        places[place_of(asked.name)] += 1
        if asked.required:
            differences += _missing(asked, several)
        if several is not None:
            differences += _odd(asked, several, other)
            if asked.copy_of and other is not None:
                copies += (f for f in several.found.values() if f.stored.shape == asked.shape)
    tops = _tops(seen.model_type)
    more: list[Found] = []
    for name, several in seen.copies.items():
        if name in tops and name not in table:
            more += several.found.values()
        elif name not in table:
            differences += _all_of(seen.prefix + name, several)
    order: tuple[Kind, ...] = ("shape", "shared", "missing", "unexpected")
    differences.sort(key=lambda d: order.index(d.kind))
    return Match(tuple(differences), tuple(copies), tuple(more), places)


def disagreement(seen: View, expected: Expected) -> tuple[int, int]:
    """How many tensors differ, and how many more there are: ``match`` in two numbers.

    It is much faster, and decides which of many models is matched.
    """
    problems = sum(_problems(*one) for one in _asked(seen, expected))
    table, tops = {t.name for t in expected.table}, _tops(seen.model_type)
    others = {name: len(c.found) for name, c in seen.copies.items() if name not in table}
    more = sum(count for name, count in others.items() if name in tops)
    return problems + sum(others.values()) - more, more


def _problems(asked: _Asked, several: Copies | None, other: Copies | None) -> int:
    whole = prod(run.stop - run.start for run in asked.ranges)
    if several is None:
        return whole if asked.required else 0
    total = inside = len(several.found)
    wrong = total - several.shapes[asked.shape]
    if not _all_within(several, asked.ranges):
        within = [f for i, f in several.found.items() if _within(i, asked.ranges)]
        inside = len(within)
        wrong = sum(f.stored.shape != asked.shape for f in within)
    missing = whole - inside if asked.required else 0
    return missing + (total - inside) + wrong + len(_shared(several, other))


def _asked(seen: View, expected: Expected) -> Iterator[tuple[_Asked, Copies | None, Copies | None]]:
    """Each tensor of the table, its copies, and those of the one that it is tied to."""
    table = {t.name: t for t in expected.table}
    tied = {t.name: t.tied_to for t in expected.table if expected.tied and t.tied_to}
    partners = {**tied, **{original: name for name, original in tied.items()}}
    for name, tensor in table.items():
        several = seen.copies.get(name)
        other = seen.copies.get(partners.get(name, ""))
        original = table.get(tied.get(name, ""))
        asked = _Asked(
            _own_name(seen, tensor),
            tensor.shape,
            numbers(tensor.shape, expected.values),
            _ranges(tensor, expected.values),
            required=original is None and (several is not None or other is None),
            copy_of=_own_name(seen, original) if original is not None else "",
        )
        yield asked, several, other


def place_of(name: str) -> str:
    """How *name* begins, up to its last index: ``encoder.layer.{}``; empty without one."""
    before, index, _ = name.rpartition("{}")
    return before + index


def _own_name(seen: View, tensor: Tensor) -> str:
    """The name of *tensor* in the checkpoint's own style."""
    return tensor.name if tensor.component.part == "head" else seen.prefix + tensor.name


def with_strangers(agreed: Match, seen: View) -> Match:
    """*agreed* with the tensors that no table of the family has, and those that stand twice."""
    more: list[Difference] = []
    for name, several in strangers(seen):
        more += _all_of(name, several)
    for one in seen.again:
        more.append(Difference("unexpected", literal(one.name), Block(()), found=(one,)))
    return agreed._replace(differences=(*agreed.differences, *more))


@cache
def _tops(model_type: str) -> frozenset[str]:
    """The names of all tensors of heads and the pooler."""
    tables = family(model_type)
    heads = (head.tensors for head in tables.heads.values())
    return frozenset(t.name for tensors in (*heads, tables.pooler) for t in tensors)


def _all_of(name: str, several: Copies) -> Iterator[Difference]:
    for block in blocks_of(list(several.found)):
        found = tuple(several.found[i] for i in block.indices())
        yield Difference("unexpected", name, block, found=found)


def _odd(asked: _Asked, several: Copies, other: Copies | None) -> Iterator[Difference]:
    """Copies of another shape or of another tensor's numbers, and those beyond the last layer."""
    beyond: list[Indices] = []
    if not _all_within(several, asked.ranges):
        beyond = [i for i in several.found if not _within(i, asked.ranges)]
        yield from _differing("unexpected", asked, several, beyond)
    if several.shapes.keys() != {asked.shape}:
        outside = set(beyond)
        wrong: dict[Shape, list[Indices]] = {}
        for indices, one in several.found.items():
            if one.stored.shape != asked.shape and indices not in outside:
                wrong.setdefault(one.stored.shape, []).append(indices)
        for alike in wrong.values():
            yield from _differing("shape", asked, several, alike)
    yield from _differing("shared", asked, several, _shared(several, other))


def _shared(several: Copies, other: Copies | None) -> list[Indices]:
    """The copies whose numbers are those of a tensor to which they are not tied."""
    if not several.shared:
        return []
    same = {one.name for one in other.found.values()} if other is not None else set()
    return [i for i, f in several.found.items() if f.original and f.original not in same]


def _differing(
    kind: Kind, asked: _Asked, several: Copies, indices: list[Indices]
) -> Iterator[Difference]:
    for block in blocks_of(indices):
        found = tuple(several.found[i] for i in block.indices())
        yield Difference(kind, asked.name, block, asked.symbols, asked.shape, found, asked.copy_of)


def _missing(asked: _Asked, several: Copies | None) -> Iterator[Difference]:
    present = several.found if several is not None else {}
    whole = prod(run.stop - run.start for run in asked.ranges)
    if several is not None and len(present) == whole and _all_within(several, asked.ranges):
        return
    for block in absent(present, asked.ranges):
        yield Difference("missing", asked.name, block, asked.symbols, asked.shape)


def _ranges(tensor: Tensor, values: Mapping[str, int]) -> tuple[Run, ...]:
    """The indices that the copies of *tensor* have, place by place."""
    counts = numbers(tensor.repeat, values)
    starts = (tensor.skip, *(0 for _ in counts[1:]))
    return tuple(Run(s, s + n) for s, n in zip(starts, counts, strict=False))


def _within(indices: Indices, ranges: tuple[Run, ...]) -> bool:
    return len(indices) == len(ranges) and all(
        run.start <= i < run.stop for i, run in zip(indices, ranges, strict=True)
    )


def _all_within(several: Copies, ranges: tuple[Run, ...]) -> bool:
    return _within(several.lowest, ranges) and _within(several.highest, ranges)


def numbers(dims: Dims, values: Mapping[str, int]) -> Shape:
    """*dims* with the symbols replaced by their *values*."""
    return tuple([_number(d, values) for d in dims])


def _number(dim: Dim, values: Mapping[str, int]) -> int:
    if isinstance(dim, int):
        return dim
    return values[dim] if isinstance(dim, str) else dim.evaluate(values)
