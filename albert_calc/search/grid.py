"""Grids: every combination of sizes, sharing and heads, and the rules among them.

No combination is ever kept, so that a grid of any size takes no memory. May import
``albert_calc.tensors``, ``albert_calc.config``, ``albert_calc.architectures``,
``albert_calc.algebra`` and ``albert_calc.errors``.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import compress, groupby, islice, product, repeat
from math import prod
from operator import ne
from typing import NamedTuple

from albert_calc.algebra import Dims
from albert_calc.architectures import ARCHITECTURES
from albert_calc.config import ModelConfig, Traits
from albert_calc.errors import ConfigError
from albert_calc.sizes import LARGEST, SIZES
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
    """Consecutive combinations of one variant, for which nothing but some sizes varies.

    ``fixed`` has the numbers of the other sizes by symbol, and ``varied`` as many numbers
    of each of these as there are combinations.
    """

    variant: Variant
    fixed: Mapping[str, int]
    varied: Mapping[str, list[int]]

    @property
    def length(self) -> int:
        """How many combinations these are."""
        return _length(self.varied)


def inner_symbols(grid: Grid) -> tuple[str, ...]:
    """The sizes that vary fastest: the last ones, as many as fill a batch together."""
    symbols: list[str] = []
    rows = 1
    for key, values in reversed(list(grid.sizes.items())):
        if len(values) > 1 and rows < BATCH:
            symbols.insert(0, SYMBOLS[key])
            rows *= len(values)
    return tuple(symbols) or ("V",)


def stretches(grid: Grid, tally: Tally) -> Iterator[Stretch]:
    """The possible combinations in order, cut into stretches of up to ``BATCH``."""
    sizes = {SYMBOLS[key]: values for key, values in grid.sizes.items()}
    inner = {symbol: sizes[symbol] for symbol in inner_symbols(grid)}
    outer = {s: values for s, values in sizes.items() if len(values) > 1 and s not in inner}
    single = {s: next(iter(values)) for s, values in sizes.items() if len(values) == 1}
    for share in grid.shares:
        for head in grid.heads:
            rules = _rules(grid, share, head)
            square, factorized = (
                Variant(Traits(grid.model_type, share, grid.tied, differs), head, grid.layout)
                for differs in (False, True)
            )
            for fixed in _bound(list(outer.items()), single):
                for block in _blocks(inner):
                    admitted = _admitted(rules, fixed, block, tally)
                    for differs, varied in _by_width(grid, fixed, admitted):
                        yield Stretch(factorized if differs else square, fixed, varied)


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


def _blocks(axes: Mapping[str, Collection[int]]) -> Iterator[dict[str, list[int]]]:
    """The combinations of *axes* as columns, cut along the first axis to fit into a batch."""
    first, *others = axes.values()
    most = BATCH // prod(len(numbers) for numbers in others)
    rest = iter(first)
    while piece := list(islice(rest, most)):
        columns = zip(*product(piece, *others), strict=True)
        yield dict(zip(axes, map(list, columns), strict=True))


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


def _never(values: Mapping[str, int]) -> bool:
    return not values


def _admitted(
    rules: Iterable[Rule],
    fixed: Mapping[str, int],
    varied: dict[str, list[int]],
    tally: Tally,
) -> dict[str, list[int]]:
    """The combinations in *varied* that break no fatal rule."""
    for rule in rules:
        symbols = [symbol for symbol in varied if symbol in rule.symbols]
        if symbols:
            rows = zip(*(varied[symbol] for symbol in symbols), strict=True)
            kept = [rule.holds({**fixed, **dict(zip(symbols, r, strict=True))}) for r in rows]
        else:
            kept = [rule.holds(fixed)] * _length(varied)
        if not all(kept):
            tally[rule] += kept.count(False)
            if rule.fatal:
                varied = {s: list(compress(numbers, kept)) for s, numbers in varied.items()}
    return varied


def _by_width(
    grid: Grid, fixed: Mapping[str, int], varied: dict[str, list[int]]
) -> Iterator[tuple[bool, dict[str, list[int]]]]:
    """*varied* cut where E = H, since other tensors may exist there, and whether it differs."""
    length = _length(varied)
    if not length:
        return
    if "E" in grid.ties:
        yield False, varied
    elif "E" not in varied and "H" not in varied:
        yield fixed["E"] != fixed["H"], varied
    else:
        widths, hidden = (varied.get(s) or repeat(fixed[s], length) for s in "EH")
        start = 0
        for differs, run in groupby(map(ne, widths, hidden)):
            end = start + len(list(run))
            yield differs, {s: numbers[start:end] for s, numbers in varied.items()}
            start = end


def _length(varied: Mapping[str, list[int]]) -> int:
    return len(next(iter(varied.values())))


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
