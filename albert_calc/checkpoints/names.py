"""The names in a checkpoint: which are copies of one tensor, and what stands before them all."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import takewhile
from typing import NamedTuple

from albert_calc.checkpoints.stored import StoredTensor
from albert_calc.families import families, family
from albert_calc.families.base import Family, all_tensors

Indices = tuple[int, ...]
Shape = tuple[int, ...]

# Nineteen digits and more are no index of anything.
_INDEX = re.compile(r"(?<=\.)(?:0|[1-9][0-9]{0,17})(?=\.)")
_LEGACY = re.compile(r"(?i:layer_?norm)\.(gamma|beta)$")
_MODERN = {"gamma": "weight", "beta": "bias"}
# No tensor of a table has as long a name, and a thousand indices would take seconds.
_LONGEST = 300
_MOST_DOTS = 30
_MOST_PREFIXES = 8
_LOOKED_AT = 100


class Found(NamedTuple):
    """One stored tensor; ``original`` is another that has the same numbers, if there is one."""

    name: str
    stored: StoredTensor
    original: str = ""


class Copies:
    """All stored tensors of one name but for its indices, and how often each shape is there."""

    def __init__(self) -> None:
        self.found: dict[Indices, Found] = {}
        self.shared = False
        self.shapes: Counter[Shape] = Counter()
        self.lowest: Indices = ()
        self.highest: Indices = ()

    def add(self, indices: Indices, found: Found) -> None:
        """Another copy."""
        if self.found and len(indices) == 1:
            self.lowest = min(self.lowest, indices)
            self.highest = max(self.highest, indices)
        elif self.found:
            self.lowest = tuple(map(min, self.lowest, indices))
            self.highest = tuple(map(max, self.highest, indices))
        else:
            self.lowest = self.highest = indices
        self.found[indices] = found
        self.shared = self.shared or bool(found.original)
        self.shapes[found.stored.shape] += 1


class Inventory(NamedTuple):
    """A checkpoint's tensors by their names with ``{}`` for indices.

    ``again`` are those that stand there twice, under an old and a new name. ``prefix`` stood
    before every name and was taken off. ``total`` counts all tensors.
    """

    copies: Mapping[str, Copies]
    again: tuple[Found, ...]
    prefix: str
    total: int


def inventory(
    tensors: Mapping[str, StoredTensor], shared: Mapping[str, str] | None = None
) -> Inventory:
    """*tensors* by name, whatever age their names have; *shared* is that of a checkpoint."""
    prefix = _common_prefix(tensors)
    same = shared or {}
    by_name: dict[str, Copies] = {}
    again = []
    for name, stored in tensors.items():
        bare = name[len(prefix) :]
        found = Found(bare, stored, same[name][len(prefix) :] if name in same else "")
        pattern, indices = _pattern(bare)
        copies = by_name.get(pattern)
        if copies is None:
            copies = by_name[pattern] = Copies()
        if indices in copies.found:
            again.append(found)
        else:
            copies.add(indices, found)
    return Inventory(by_name, tuple(again), prefix, len(tensors))


def literal(name: str) -> str:
    """*name* as a format of itself, whatever braces it has."""
    return name.replace("{", "{{").replace("}", "}}")


def _pattern(name: str) -> tuple[str, Indices]:
    """``encoder.layer.3.output.dense.bias`` as ``encoder.layer.{}.output.dense.bias`` and 3.

    The first is a format of the name with the second.
    """
    odd = len(name) > _LONGEST or name.count(".") > _MOST_DOTS
    if odd or "{" in name or "}" in name:
        return literal(name), ()
    digits = _INDEX.findall(name)
    pattern = _INDEX.sub("{}", name) if digits else name
    if pattern.endswith(("gamma", "beta")):
        legacy = _LEGACY.search(pattern)
        if legacy:
            pattern = pattern[: legacy.start(1)] + _MODERN[legacy[1]]
    return pattern, tuple(map(int, digits))


def _common_prefix(tensors: Mapping[str, StoredTensor]) -> str:
    """What stands before every name and belongs to no table, such as ``module.``.

    Of the beginnings that all names have in common, that after which most names are known.
    """
    first, last = min(tensors, default=""), max(tensors, default="")
    # What the first and the last in the alphabet have in common all have in common.
    pairs = zip(first[:_LONGEST], last, strict=False)
    common = "".join(a for a, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    ends = [0, *(i + 1 for i, c in enumerate(common) if c == ".")][: _MOST_PREFIXES + 1]
    looked_at = [name for name, _ in zip(tensors, range(_LOOKED_AT), strict=False)]

    def known(end: int) -> int:
        return sum(_pattern(name[end:])[0] in _every_name() for name in looked_at)

    return common[: max(ends, key=known)] if len(ends) > 1 else ""


class View(NamedTuple):
    """A checkpoint as a family sees it: the copies of each tensor of its tables.

    ``buffers`` are no parameters, ``again`` stand there twice, and so many ``strangers`` are
    in no table. ``prefix`` is the family's, if the names of the encoder's tensors have it.
    """

    found: Inventory
    model_type: str
    copies: Mapping[str, Copies]
    buffers: tuple[Found, ...]
    again: tuple[Found, ...]
    strangers: int
    prefix: str


def view(found: Inventory, model_type: str) -> View:
    """*found* by the names of the family *model_type*, with its prefix or without."""
    tables = family(model_type)
    copies: dict[str, Copies] = {}
    again = list(found.again)
    known = len(again)
    prefixed = False
    for stored, names in known_names(model_type).items():
        whole = found.copies.get(stored)
        if whole is None:
            continue
        known += len(whole.found)
        prefixed = prefixed or (bool(tables.prefix) and stored.startswith(tables.prefix))
        for name, several in zip(names, _parts(whole, len(names)), strict=True):
            if name not in copies:
                copies[name] = several
                continue
            first, copies[name] = copies[name], Copies()
            for indices, one in (*first.found.items(), *several.found.items()):
                if indices in copies[name].found:
                    again.append(one)
                else:
                    copies[name].add(indices, one)
    buffers = [copies.pop(b) for b in tables.buffers if b in copies]
    return View(
        found,
        model_type,
        copies,
        tuple(one for several in buffers for one in several.found.values()),
        tuple(again),
        found.total - known,
        tables.prefix if prefixed else "",
    )


def _parts(whole: Copies, number: int) -> list[Copies]:
    """The tensors of *whole* as the *number* of tensors that lie in each, one below the other."""
    if number == 1:
        return [whole]
    parts = [Copies() for _ in range(number)]
    for indices, one in whole.found.items():
        rows, *widths = one.stored.shape or (0,)
        shape = (rows // number, *widths) if rows % number == 0 else one.stored.shape
        for part in parts:
            part.add(indices, one._replace(stored=StoredTensor(one.stored.dtype, shape)))
    return parts


def strangers(seen: View) -> Iterator[tuple[str, Copies]]:
    """The tensors that are in no table of the family, by name."""
    known = known_names(seen.model_type)
    return ((name, copies) for name, copies in seen.found.copies.items() if name not in known)


@cache
def known_names(model_type: str) -> Mapping[str, tuple[str, ...]]:
    """The names under which tensors of a family may be stored, and those of its tables.

    The encoder's have the family's prefix or not; a head stands beside the encoder, and its
    tensors have none.
    """
    tables = family(model_type)
    heads = {t.name: (t.name,) for head in tables.heads.values() for t in head.tensors}
    encoder = {
        **{name: (name,) for name in (*_encoder_names(tables), *tables.buffers)},
        **tables.stored,
    }
    prefixed = {tables.prefix + name: names for name, names in encoder.items()}
    return {**encoder, **prefixed, **heads}


def _encoder_names(tables: Family) -> Iterator[str]:
    of_heads = {id(t) for head in tables.heads.values() for t in head.tensors}
    of_layers = {id(t) for t in tables.layer}
    for tensor in all_tensors(tables):
        if id(tensor) not in of_heads:
            yield (tables.layer_name if id(tensor) in of_layers else "") + tensor.name


@cache
def _every_name() -> frozenset[str]:
    return frozenset(_names_of_all())


def _names_of_all() -> Iterable[str]:
    for tables in families():
        yield from known_names(tables.model_type)
