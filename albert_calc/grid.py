"""Grids: every combination of sizes, sharing and heads, and the rules among them.

No combination is ever kept, so that a grid of any size takes no memory. May import
``albert_calc.tensors``, ``albert_calc.config``, ``albert_calc.architectures``,
``albert_calc.algebra`` and ``albert_calc.errors``.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby, islice
from typing import NamedTuple

from albert_calc.algebra import Dims
from albert_calc.architectures import ARCHITECTURES
from albert_calc.config import SIZES, ModelConfig, Traits
from albert_calc.errors import ConfigError
from albert_calc.tensors import Variant

BATCH = 1_000
"""The most rows that are worked out at once."""

SYMBOLS = {s.key: s.symbol for s in SIZES}
"""The symbol of each size by its key."""


class Rule(NamedTuple):
    """What sizes must keep among each other, over the *symbols* that it depends on.

    A combination that breaks it is skipped, or is merely odd where it is not *fatal*.
    """

    text: str
    symbols: str
    holds: Callable[[Mapping[str, int]], bool]
    fatal: bool = True


_HEADS_DIVIDE = Rule(
    "num_attention_heads: must divide hidden_size", "AH", lambda v: v["H"] % v["A"] == 0
)
_ONE_INNER_LAYER = Rule(
    "inner_group_num: must be 1 unless all blocks are shared", "N", lambda v: v["N"] == 1
)
_BUILT_NOT_RUN = Rule(
    "num_hidden_groups, inner_group_num: more than num_hidden_layers has room for;"
    " such a model can be built but not run, and is counted as built",
    "GNL",
    lambda v: v["N"] <= v["L"] // v["G"],
    fatal=False,
)

Tally = Counter[Rule]
"""How many combinations broke each rule."""


class Grid(NamedTuple):
    """The combinations to count: each size's values by key, with sharing and heads.

    Sharing varies slowest, then the head, then the sizes in the order of ``SIZES``.
    ``ties`` are the sizes that follow another, such as I = 4·H.
    """

    model_type: str
    tied: bool
    layout: str
    shares: tuple[str, ...]
    heads: tuple[str, ...]
    sizes: Mapping[str, Collection[int]]
    ties: Mapping[str, Dims]

    @property
    def combinations(self) -> int:
        """How many there are, the impossible ones included."""
        product = len(self.shares) * len(self.heads)
        for values in self.sizes.values():
            product *= len(values)
        return product

    @property
    def varied(self) -> tuple[str, ...]:
        """The names of the columns that vary by themselves, slowest first."""
        names = {"share": self.shares, "head": self.heads, **self.sizes}
        return tuple(name for name, values in names.items() if len(values) > 1)


def grid_over(
    base: ModelConfig,
    sizes: Mapping[str, Collection[int]],
    *,
    shares: tuple[str, ...] = (),
    heads: tuple[str, ...] = ("model",),
    layout: str = "transformers",
    intermediate_follows: bool = False,
) -> Grid:
    """The combinations of *sizes*, whose other sizes are those of *base*.

    With *intermediate_follows* I is 4·H. Raises ``ConfigError`` for sizes to vary that
    the model type does not have.
    """
    lacking = [k for k, v in sizes.items() if len(v) > 1 and _lacks(base.model_type, k)]
    if lacking:
        raise ConfigError(
            f"{key}: must be a single value, since {base.model_type} has none of its own to vary"
            for key in lacking
        )
    ties: dict[str, Dims] = {"I": (4, "H")} if intermediate_follows else {}
    if _lacks(base.model_type, "embedding_size"):
        ties["E"] = ("H",)
    values: dict[str, Collection[int]] = {}
    for size in SIZES:
        own = getattr(base, size.key)
        if size.symbol not in ties and (own is not None or size.key in sizes):
            given = None if _lacks(base.model_type, size.key) else sizes.get(size.key)
            values[size.key] = (own,) if given is None else given
    return Grid(
        base.model_type, base.tie_word_embeddings, layout,
        shares or (base.share or "",), heads, values, ties,
    )  # fmt: skip


class Stretch(NamedTuple):
    """Some consecutive numbers of one size, all others being fixed."""

    variant: Variant
    values: Mapping[str, int]
    symbol: str
    numbers: list[int]


def stretches(grid: Grid, tally: Tally) -> Iterator[Stretch]:
    """The possible combinations in order, cut into stretches of the last varied size."""
    varied = [key for key in grid.varied if key in grid.sizes]
    *outer, inner = varied or ["vocab_size"]
    fixed = {SYMBOLS[k]: next(iter(v)) for k, v in grid.sizes.items() if k not in varied}
    for share in grid.shares:
        for head in grid.heads:
            rules = _rules(grid, share, head)
            for values in _bound([(SYMBOLS[k], grid.sizes[k]) for k in outer], fixed):
                for numbers in _pieces(grid.sizes[inner]):
                    found = _admitted(rules, values, SYMBOLS[inner], numbers, tally)
                    if found:
                        yield from _by_variant(grid, share, head, values, SYMBOLS[inner], found)


def _bound(
    axes: Sequence[tuple[str, Collection[int]]], values: dict[str, int]
) -> Iterator[dict[str, int]]:
    """*values* with every combination of *axes*: the same mapping, changed in place."""
    if not axes:
        yield values
        return
    (symbol, numbers), *others = axes
    for number in numbers:
        values[symbol] = number
        yield from _bound(others, values)


def _pieces(numbers: Collection[int]) -> Iterator[list[int]]:
    rest = iter(numbers)
    while piece := list(islice(rest, BATCH)):
        yield piece


def _rules(grid: Grid, share: str, head: str) -> list[Rule]:
    """The rules that combinations with *share* and *head* can break, fatal ones first."""
    rules = []
    if head not in ARCHITECTURES[grid.model_type].heads:
        text = f"head: {grid.model_type} has no {head}"
        rules.append(Rule(text, "", _never))
    heads = grid.sizes.get("num_attention_heads", ())
    if len(heads) == 1:
        text = f"{_HEADS_DIVIDE.text}, got {next(iter(heads))}"
        rules.append(_HEADS_DIVIDE._replace(text=text))
    elif heads:
        rules.append(_HEADS_DIVIDE)
    if share != "all":
        rules.append(_ONE_INNER_LAYER)
    if share != "none":
        rules.append(_BUILT_NOT_RUN)
    return rules


def _never(values: Mapping[str, int]) -> bool:
    return not values


def _admitted(
    rules: Iterable[Rule],
    values: dict[str, int],
    symbol: str,
    numbers: list[int],
    tally: Tally,
) -> list[int]:
    """The *numbers* that break no fatal rule in the place of *symbol*."""
    for rule in rules:
        if symbol in rule.symbols:
            good = [n for n in numbers if rule.holds({**values, symbol: n})]
        else:
            good = numbers if rule.holds(values) else []
        if len(good) < len(numbers):
            tally[rule] += len(numbers) - len(good)
            numbers = good if rule.fatal else numbers
    return numbers


def _by_variant(
    grid: Grid, share: str, head: str, values: Mapping[str, int], symbol: str, numbers: list[int]
) -> Iterator[Stretch]:
    """The *numbers* cut where E = H, since other tensors may exist there."""
    if "E" in grid.ties:
        groups = [(False, numbers)]
    elif symbol in ("E", "H"):
        other = values["H" if symbol == "E" else "E"]
        groups = [(differs, list(g)) for differs, g in groupby(numbers, other.__ne__)]
    else:
        groups = [(values["E"] != values["H"], numbers)]
    for factorized, group in groups:
        traits = Traits(grid.model_type, share, grid.tied, factorized)
        variant = Variant(traits, head, grid.layout)
        yield Stretch(variant, values, symbol, group)


def broken_rules(grid: Grid) -> Tally:
    """How many combinations break each rule, found without working any of them out."""
    tally: Tally = Counter()
    for _ in stretches(grid, tally):
        pass
    return tally


def _lacks(model_type: str, key: str) -> bool:
    """Whether *key* is a size that other architectures have and this one does not."""
    own = ARCHITECTURES[model_type].defaults
    return key not in own and any(key in a.defaults for a in ARCHITECTURES.values())
