"""Grids: every combination of sizes, sharing and heads, and the rules among them.

No combination is ever kept, so that a grid of any size takes no memory. May import
``albert_calc.algebra``, ``albert_calc.architectures``, ``albert_calc.config``,
``albert_calc.errors``, ``albert_calc.sizes`` and ``albert_calc.tensors``.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import product
from math import prod
from typing import NamedTuple

from albert_calc.algebra import Dims
from albert_calc.architectures import ARCHITECTURES
from albert_calc.config import ModelConfig, Traits
from albert_calc.errors import ConfigError
from albert_calc.sizes import LARGEST, SIZES, SYMBOLS
from albert_calc.tensors import Variant

BATCH = 1_000
"""The most rows that are worked out at once."""


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
_ROOM_TO_FOLLOW = Rule(
    f"intermediate_size: must be at most {LARGEST:,}", "H", lambda v: 4 * v["H"] <= LARGEST
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
        return prod(map(len, (self.shares, self.heads, *self.sizes.values())))

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
    architecture = ARCHITECTURES[base.model_type]
    lacking = [k for k, v in sizes.items() if len(v) > 1 and not architecture.has(k)]
    if lacking:
        raise ConfigError(
            f"{key}: must be a single value, since {base.model_type} has none of its own to vary"
            for key in lacking
        )
    ties: dict[str, Dims] = {"I": (4, "H")} if intermediate_follows else {}
    if not architecture.has("embedding_size"):
        ties["E"] = ("H",)
    values: dict[str, Collection[int]] = {}
    for size in SIZES:
        own = getattr(base, size.key)
        if size.symbol not in ties and (own is not None or size.key in sizes):
            given = sizes.get(size.key) if architecture.has(size.key) else None
            values[size.key] = (own,) if given is None else given
    return Grid(
        base.model_type, base.tie_word_embeddings, layout,
        shares or (base.share or "",), heads, values, ties,
    )  # fmt: skip


def combinations(grid: Grid, tally: Tally) -> Iterator[tuple[Variant, dict[str, int]]]:
    """The possible combinations in order: a variant, and the sizes by symbol.

    The sizes are one mapping, changed in place, so that a grid of any size takes no memory.
    """
    sizes = {SYMBOLS[key]: values for key, values in grid.sizes.items()}
    axes = [(symbol, values) for symbol, values in sizes.items() if len(values) > 1]
    single = {symbol: n for symbol, values in sizes.items() if len(values) == 1 for n in values}
    for share, head in product(grid.shares, grid.heads):
        rules = _rules(grid, share, head)
        variants = [
            Variant(Traits(grid.model_type, share, grid.tied, differs), head, grid.layout)
            for differs in (False, True)
        ]
        for values in _bound(axes, single):
            fits = True
            for rule in rules:
                if not rule.holds(values):
                    tally[rule] += 1
                    if rule.fatal:
                        fits = False
                        break
            if fits:
                yield variants["E" not in grid.ties and values["E"] != values["H"]], values


def _bound(
    axes: Sequence[tuple[str, Collection[int]]], values: dict[str, int]
) -> Iterator[dict[str, int]]:
    """*values* with every combination of *axes*, the last varying fastest."""
    if not axes:
        yield values
        return
    (symbol, numbers), *others = axes
    for number in numbers:
        values[symbol] = number
        yield from _bound(others, values)


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
    if "I" in grid.ties:
        rules.append(_ROOM_TO_FOLLOW)
    if share != "all":
        rules.append(_ONE_INNER_LAYER)
    if share != "none":
        rules.append(_BUILT_NOT_RUN)
    return rules


def _never(_: Mapping[str, int]) -> bool:
    return False


def broken_rules(grid: Grid) -> Tally:
    """How many combinations break each rule, found without working any of them out."""
    tally: Tally = Counter()
    for _ in combinations(grid, tally):
        pass
    return tally
