"""Grids: every combination of sizes, sharing and heads, and the rules among them.

No combination is ever kept, so that a grid of any size takes no memory.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice
from math import prod
from typing import Any, NamedTuple

from albert_calc.algebra import Polynomial, times
from albert_calc.config.followers import FOLLOWS
from albert_calc.config.model_config import ModelConfig
from albert_calc.config.values import followed, holds, rule_text
from albert_calc.counting.tensors import Embedding
from albert_calc.errors import ConfigError
from albert_calc.families import family
from albert_calc.families.base import Computed, Family, Rule, Same
from albert_calc.families.sizes import LARGEST, SIZES

CHUNK = 1_000
"""The most values of the size that varies fastest that are worked on at once."""

MOST_IMPOSSIBLE = 5_000_000
"""How many combinations are tried for one that is possible, and with ``--strict`` at all."""

Keys = dict[str, Any]

Tally = Counter[tuple[str, bool]]
"""How many combinations broke each rule: the rule in words, and whether it is fatal."""


class Grid(NamedTuple):
    """The combinations to count: each size's values by usual key, with sharing and heads.

    Sharing varies slowest, then the head, then the sizes in the order of ``SIZES``. ``base``
    has the keys that are the same in all; ``followers`` are the sizes that follow others,
    each with its rule: I = 4·H, or the E of a family in which it is H unless given. The
    ``embedding`` is ``factorized`` where sizes of E are asked for of a family that has none.
    ``rules`` must be kept beside those of the family.
    """

    base: ModelConfig
    layout: str
    shares: tuple[str, ...]
    heads: tuple[str, ...]
    sizes: Mapping[str, Collection[int]]
    followers: Mapping[str, Same | Computed] = {}
    embedding: Embedding = "own"
    rules: tuple[Rule, ...] = ()

    @property
    def family(self) -> Family:
        """The tables of the model type."""
        return family(self.base.model_type)

    @property
    def combinations(self) -> int:
        """How many there are, the impossible ones included."""
        return prod(map(len, (self.shares, self.heads, *self.sizes.values())))

    @property
    def axes(self) -> list[tuple[str, Collection[int]]]:
        """The sizes that vary, slowest first."""
        return [(key, values) for key, values in self.sizes.items() if len(values) > 1]

    @property
    def varied(self) -> tuple[str, ...]:
        """The names of the columns that vary by themselves, slowest first."""
        names = [n for n, v in (("share", self.shares), ("head", self.heads)) if len(v) > 1]
        return (*names, *(key for key, _ in self.axes))

    @property
    def ties(self) -> dict[str, Polynomial]:
        """The symbols that are a multiple of another."""
        found = {}
        for key, rule in self.followers.items():
            if key in FOLLOWS:
                factor, leader = FOLLOWS[key]
                found[self.symbols[key]] = times(factor, self.symbols[leader])
            elif isinstance(rule, Same):
                found[self.symbols[key]] = times(self.symbols[rule.key])
        return found

    @property
    def symbols(self) -> dict[str, str]:
        """The symbol of each size by its key."""
        return {size.key: size.symbol for size in (*SIZES, *self.family.sizes)}


def follow(grid: Grid, keys: Keys) -> None:
    """Put into *keys* what the followers of *grid* are beside the others."""
    for key, rule in grid.followers.items():
        keys[key] = followed(rule, keys)


def moved(grid: Grid, key: str) -> set[str]:
    """The sizes that change with the size *key*: itself, and those that follow it."""
    found = {key}
    for follower, rule in grid.followers.items():
        if found.intersection((rule.key,) if isinstance(rule, Same) else rule.keys):
            found.add(follower)
    return found


def grid_over(
    base: ModelConfig,
    sizes: Mapping[str, Collection[int]],
    *,
    shares: tuple[str, ...] = (),
    heads: tuple[str, ...] = ("model",),
    layout: str = "transformers",
    followers: tuple[str, ...] = (),
) -> Grid:
    """The combinations of *sizes*, whose other sizes are those of *base*.

    E may be given to any model. Raises ``ConfigError`` for other sizes to vary that the model
    type does not have.
    """
    tables = base.family
    factorized = "embedding_size" in sizes and not tables.has("embedding_size")
    own = {"embedding_size"} if factorized else set()
    lacking = [k for k, v in sizes.items() if len(v) > 1 and not tables.has(k) and k not in own]
    if lacking:
        raise ConfigError(
            f"{key}: must be a single value, since {base.model_type} has none of its own to vary"
            for key in lacking
        )
    rules: dict[str, Same | Computed] = {key: FOLLOWS[key].rule for key in followers}
    rules.update((k, tables.defaults[tables.name_of(k)]) for k in base.following if k not in sizes)
    values: dict[str, Collection[int]] = {}
    for size in SIZES:
        value = base.keys[size.key]
        if size.key in sizes and (tables.has(size.key) or size.key in own):
            values[size.key] = sizes[size.key]
        elif value is not None and size.key not in rules:
            values[size.key] = (value,)
    return Grid(
        base, layout, shares or (base.share or "",), heads, values, rules,
        "factorized" if factorized else "own",
    )  # fmt: skip


class Stretch(NamedTuple):
    """Combinations that differ in the size that varies fastest alone.

    ``keys`` has all other keys; ``inner`` is that size, empty where nothing varies, and
    ``values`` what it is in each of them.
    """

    share: str
    head: str
    keys: Keys
    inner: str
    values: Sequence[int]


def stretches(grid: Grid, tally: Tally) -> Iterator[Stretch]:
    """The possible combinations of *grid* in order; *tally* is told of the impossible ones.

    The keys are one mapping, changed in place. Raises ``ConfigError`` if none of the first
    ``MOST_IMPOSSIBLE`` is possible, since a search for one that is could go on for days.
    """
    tried = 0
    *outer, last = grid.axes or [("", (0,))]
    inner, inner_values = last
    single = {key: next(iter(v)) for key, v in grid.sizes.items() if len(v) == 1}
    for share in grid.shares:
        keys = {**grid.base.keys, **single, "share": share}
        for head in grid.heads:
            checks = _checks(grid, head, inner)
            for _ in _bound(outer, keys):
                follow(grid, keys)
                for values in _chunks(inner_values):
                    left = _possible(grid, checks, keys, inner, values, tally)
                    if left:
                        tried = -grid.combinations
                        yield Stretch(share, head, keys, inner, left)
                    tried += len(values)
                    if tried > MOST_IMPOSSIBLE:
                        raise ConfigError(
                            f"none of the first {tried:,} of {grid.combinations:,} combinations is"
                            f" possible: {'; '.join(text for text, fatal in tally if fatal)}"
                        )


def _bound(axes: Sequence[tuple[str, Collection[int]]], keys: Keys) -> Iterator[None]:
    """Put every combination of *axes* into *keys*, the last varying fastest."""
    if not axes:
        yield
        return
    (key, numbers), *others = axes
    for number in numbers:
        keys[key] = number
        yield from _bound(others, keys)


def _chunks(values: Collection[int]) -> Iterator[Sequence[int]]:
    if len(values) <= CHUNK and isinstance(values, Sequence):
        yield values
        return
    numbers = iter(values)
    while chunk := list(islice(numbers, CHUNK)):
        yield chunk


class _Check(NamedTuple):
    """A rule, what is told of those that break it, and how the inner size is in it.

    ``places`` are where it stands among the rule's keys; with ``follows`` another of them is a
    follower of it.
    """

    rule: Rule
    told: tuple[str, bool]
    places: tuple[int, ...] = ()
    follows: bool = False


def _checks(grid: Grid, head: str, inner: str) -> list[_Check]:
    """The rules that combinations can break, fatal ones first."""
    tables = grid.family
    single = {k: next(iter(v)) for k, v in grid.sizes.items() if len(v) == 1}
    fixed = {**grid.base.keys, **single}
    moving = moved(grid, inner)
    found = []
    if head not in tables.heads:
        never = Rule(f"{grid.base.model_type} has no {head}", ("head",), lambda _: False)
        found.append(_Check(never, (f"head: {never.must}", True)))
    varied = {*(key for key, _ in grid.axes), *grid.followers, "share"}
    for key in FOLLOWS.keys() & grid.followers.keys():
        most, leader = FOLLOWS[key].largest, FOLLOWS[key].leader
        rule = Rule(f"must be at most {LARGEST:,}", (leader,), lambda v, most=most: v <= most)
        told = (f"{tables.name_of(key)}: {rule.must}", True)
        found.append(_Check(rule, told, (0,) if leader == inner else ()))
    of_head = tables.heads[head].rules if head in tables.heads else ()
    for rule in (*tables.rules, *of_head, *grid.rules):
        text = rule_text(tables, rule)
        first = rule.keys[0]
        if first not in varied and fixed.get(first) is not None:
            text = f"{text}, got {fixed[first]}"
        places = tuple(i for i, key in enumerate(rule.keys) if key == inner)
        follows = not moving.isdisjoint(set(rule.keys) - {inner})
        found.append(_Check(rule, (text, rule.fatal), places, follows))
    return sorted(found, key=lambda check: not check.rule.fatal)


def _possible(
    grid: Grid,
    checks: Sequence[_Check],
    keys: Keys,
    inner: str,
    values: Sequence[int],
    tally: Tally,
) -> Sequence[int]:
    """Those of *values* of the size *inner* that break no fatal rule."""
    for check in checks:
        if not values:
            break
        keys.setdefault("head", "")
        if not (check.places or check.follows):
            if not holds(check.rule, keys):
                tally[check.told] += len(values)
                values = () if check.rule.fatal else values
            continue
        kept = _keeping(grid, check, keys, inner, values)
        if len(kept) < len(values):
            tally[check.told] += len(values) - len(kept)
            values = kept if check.rule.fatal else values
    return values


def _keeping(
    grid: Grid, check: _Check, keys: Keys, inner: str, values: Sequence[int]
) -> Sequence[int]:
    """Those of *values* of the size *inner* that keep the rule of *check*."""
    rule, kept = check.rule, []
    if check.follows:
        for value in values:
            keys[inner] = value
            follow(grid, keys)
            if holds(rule, keys):
                kept.append(value)
        return kept
    # Only the inner size changes, so that most of the question can be put once.
    asked = [values[0] if key == inner else keys[key] for key in rule.keys]
    if None in asked:
        return values
    for value in values:
        for place in check.places:
            asked[place] = value
        if rule.holds(*asked):
            kept.append(value)
    return kept


def broken_rules(grid: Grid) -> Tally:
    """How many combinations break each rule, found without counting any of them.

    Raises ``ConfigError`` for a grid that is too large to be looked through beforehand.
    """
    if grid.combinations > MOST_IMPOSSIBLE:
        raise ConfigError(
            f"strict: at most {MOST_IMPOSSIBLE:,} combinations can be looked through beforehand,"
            f" got {grid.combinations:,}"
        )
    tally: Tally = Counter()
    for _ in stretches(grid, tally):
        pass
    return tally
