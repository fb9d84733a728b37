"""Which models the names in a checkpoint could be of: families, layouts, heads, features.

A feature of a config shows in which tensors there are, or in their shapes alone. So the
values that its keys may have are tried, and those kept with which the fewest names are
missing or too many; shapes decide between them.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import product
from typing import Any, NamedTuple

from albert_calc.algebra import Polynomial
from albert_calc.checkpoints.names import Copies, Inventory, View, view
from albert_calc.config.values import holds
from albert_calc.counting.tensors import Variant, tensor_table
from albert_calc.families import FAMILIES, family
from albert_calc.families.base import Family, Tensor

LAYOUT = "transformers"
"""The layout of the checkpoints that transformers writes."""


class Features(NamedTuple):
    """A set of features, and the keys by which a config has them."""

    names: frozenset[str]
    own: Mapping[str, Any]


class Candidate(NamedTuple):
    """A model that a checkpoint could be of, its tensors, and what names say against it."""

    seen: View
    layout: str
    head: str
    features: Features
    table: tuple[Tensor, ...]
    strange: int

    @property
    def tied(self) -> bool:
        """Whether tensors that may be tied are: not all stored, or of the same numbers."""
        copies = self.seen.copies
        pairs = [(copies.get(t.name), copies.get(t.tied_to)) for t in self.table if t.tied_to]
        return not pairs or any(
            one is None or other is None or one.shared or other.shared for one, other in pairs
        )


def candidates(found: Inventory, model_types: tuple[str, ...] = ()) -> list[Candidate]:
    """The models against which the fewest names speak, of *model_types* or of all families."""
    views = [view(found, name) for name in model_types or FAMILIES]
    least = min(seen.strangers for seen in views)
    every = [c for seen in views if seen.strangers == least for c in _of_family(seen)]
    fewest = min(c.strange for c in every)
    likeliest: dict[tuple[str, str, tuple[Tensor, ...]], Candidate] = {}
    for candidate in (c for c in every if c.strange == fewest):
        key = (candidate.seen.model_type, candidate.head, candidate.table)
        likeliest.setdefault(key, candidate)
    return list(likeliest.values())


def _of_family(seen: View) -> Iterator[Candidate]:
    tables = family(seen.model_type)
    for layout in _layouts(seen.model_type):
        for features in _features(seen, layout):
            for head in tables.heads:
                table = tensor_table(
                    Variant(
                        seen.model_type, features.names, tables.default_share, True, head, layout
                    )
                )
                names = {t.name: t for t in table}
                strange = _strange(seen, names, seen.copies) + seen.strangers + len(seen.again)
                yield Candidate(seen, layout, head, features, table, strange)


def _strange(seen: View, expected: Mapping[str, Tensor], among: Mapping[str, Copies]) -> int:
    """How many names are missing, and how many of the tensors *among* others are too many."""
    originals = {t.tied_to for t in expected.values() if t.name in seen.copies}
    missing = sum(
        name not in seen.copies and not (t.tied_to or name in originals or _countless(t))
        for name, t in expected.items()
    )
    return missing + sum(len(c.found) for name, c in among.items() if name not in expected)


def _countless(tensor: Tensor) -> bool:
    """Whether a model can have no copy of *tensor*: one that the first layers lack."""
    return any(isinstance(dim, Polynomial) for dim in tensor.repeat) or tensor.skip > 0


@cache
def _layouts(model_type: str) -> tuple[str, ...]:
    """The layouts whose tensors differ, the usual one first; the chapter's is no code's."""
    tables = family(model_type)
    several = [LAYOUT, "paper"] if tables.has("embedding_size") else [LAYOUT]
    return tuple(layout for layout in several if layout in tables.embeddings)


def _features(seen: View, layout: str) -> list[Features]:
    """The sets of features against which the fewest names of the encoder speak."""
    tables = family(seen.model_type)
    encoder = encoder_tensors(seen.model_type, layout)
    among = {name: seen.copies[name] for name, _ in encoder if name in seen.copies}
    found = [
        (_strange(seen, {n: t for n, t in encoder if t.exists(f.names)}, among), f)
        for f in allowed_features(tables, seen.copies)
    ]
    least = min(strange for strange, _ in found)
    return [features for strange, features in found if strange == least]


@cache
def encoder_tensors(model_type: str, layout: str) -> tuple[tuple[str, Tensor], ...]:
    """Every tensor that an encoder of the family can have, by its name in full."""
    tables = family(model_type)
    return (
        *((t.name, t) for t in (*tables.embeddings[layout], *tables.outside)),
        *((tables.layer_name + t.name, t) for t in tables.layer),
    )


def allowed_features(tables: Family, copies: Mapping[str, Copies]) -> Iterator[Features]:
    """Every set of features that names allow, the likeliest first."""
    free = [n for n, f in tables.features.items() if not _is_switched(tables, f.keys)]
    choices = [_shown(tables, name, copies) for name in free]
    for switched in _switched(tables.model_type):
        for held in product(*choices):
            names = {name for name, has in zip(free, held, strict=True) if has}
            yield Features(switched.names | names, switched.own)


def _is_switched(tables: Family, keys: tuple[str, ...]) -> bool:
    return {s.key for s in tables.switches}.issuperset(keys)


def _shown(tables: Family, feature: str, copies: Mapping[str, Copies]) -> tuple[bool, ...]:
    """What names say of *feature*, which depends on sizes; both where it changes shapes alone."""
    model_type = tables.model_type
    tensors = [pair for layout in tables.embeddings for pair in encoder_tensors(model_type, layout)]
    having = {name for name, t in tensors if feature in t.when}
    lacking = {name for name, t in tensors if feature in t.unless}
    if having & lacking:
        return (False, True)
    if having:
        return (bool(having & copies.keys()),)
    return (bool(lacking) and not lacking & copies.keys(),)


@cache
def _switched(model_type: str) -> tuple[Features, ...]:
    """Every set of features that depends on switches alone, with keys that differ least."""
    tables = family(model_type)
    features = {n: f for n, f in tables.features.items() if _is_switched(tables, f.keys)}
    used = {key for feature in features.values() for key in feature.keys}
    switches = [s for s in tables.switches if s.key in used]
    found: dict[frozenset[str], dict[str, Any]] = {}
    for values in product(*(_values(s.likely, tables.defaults[s.key]) for s in switches)):
        given = dict(zip(switches, values, strict=True))
        keys = {s.key: s.read(v) for s, v in given.items()}
        own = {s.key: v for s, v in given.items() if v != tables.defaults[s.key]}
        names = frozenset(n for n, feature in features.items() if holds(feature, keys))
        if names not in found or len(own) < len(found[names]):
            found[names] = own
    return tuple(Features(names, own) for names, own in found.items())


def _values(likely: tuple[object, ...], default: object) -> tuple[object, ...]:
    return (default, not default) if isinstance(default, bool) else (*likely, default)
