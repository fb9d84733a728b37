"""The models that explain a checkpoint best: their sizes, and what speaks against them.

The models that names allow are tried one after the other: shapes give the sizes, and the
config made of them is compared with the same tensors.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from albert_calc.checkpoints.candidates import Candidate, candidates
from albert_calc.checkpoints.matching import (
    Expected,
    Match,
    disagreement,
    match,
    with_strangers,
)
from albert_calc.checkpoints.names import Inventory
from albert_calc.checkpoints.solving import solve
from albert_calc.config.model_config import ModelConfig
from albert_calc.config.presets import all_presets
from albert_calc.config.reading import read_mapping
from albert_calc.config.values import filled, symbols
from albert_calc.counting.tensors import tensor_table, variant_of
from albert_calc.errors import CheckpointError, ConfigError, Problems
from albert_calc.families import family
from albert_calc.families.base import Computed, Derived, Family, Same
from albert_calc.families.sizes import LARGEST, REQUIRED, SIZES
from albert_calc.writing.harmless import printable

HEAD_WIDTH = 64
"""The width of an attention head in nearly every published model."""

LAYERS, HEADS, LABELS = "num_hidden_layers", "num_attention_heads", "num_labels"

# Where names already speak against all, shapes decide little.
_MOST_TRIED, _FEW_TRIED = 100, 3
_TELLING = "VEHLIPT"
_USUAL_LABELS = next(size.neutral for size in SIZES if size.key == LABELS)


class Explanation(NamedTuple):
    """A model, what it has, and how many tensors of a checkpoint contradict it.

    ``keys`` are those of its config that tensors show, and those in ``guessed``, which they
    do not show; sizes are under their usual names.
    """

    candidate: Candidate
    config: ModelConfig
    keys: Mapping[str, Any]
    guessed: frozenset[str]
    expected: Expected
    problems: int

    @property
    def model_type(self) -> str:
        """The family."""
        return self.candidate.seen.model_type

    @property
    def head(self) -> str:
        """What stands on the encoder."""
        return self.candidate.head

    @property
    def layout(self) -> str:
        """``transformers``, or ``paper`` for checkpoints of albert_zh."""
        return self.candidate.layout

    @property
    def agreed(self) -> Match:
        """How the tensors agree with it, one by one."""
        seen = self.candidate.seen
        return with_strangers(match(seen, self.expected), seen)

    def content(self) -> dict[str, Any]:
        """The ``config.json`` of the model: the family's own keys, and nothing made up."""
        return _content(self.candidate, self.keys)


def explanations(found: Inventory, model_types: tuple[str, ...] = ()) -> list[Explanation]:
    """The models that contradict *found* least, the likeliest first; at least one.

    They are of *model_types*, or of any family. Raises ``CheckpointError`` if the shapes are
    those of no model at all.
    """
    every: list[Explanation] = []
    problems: tuple[str, ...] = ()
    likely = candidates(found, model_types)
    if likely[0].seen.strangers == found.total:
        name = printable(next(iter(found.copies), ""), 100)
        such = f": its names are such as {name}" if name else ": there are none"
        raise CheckpointError(f"the tensors are those of no known family{such}")
    for candidate in likely[: _FEW_TRIED if likely[0].strange else _MOST_TRIED]:
        try:
            every.append(explained(candidate, {}))
        except ConfigError as error:
            problems = problems or error.problems
    if not every:
        raise CheckpointError(["the tensors fit no known model:", *problems])
    least = min(e.problems for e in every)
    return _published_first([e for e in every if e.problems == least])


def _published_first(every: list[Explanation]) -> list[Explanation]:
    """*every*, with a family first that has a published model of these very sizes.

    RoBERTa's encoder has the tensors of BERT's, and only its sizes tell them apart.
    """
    if len({e.model_type for e in every}) == 1:
        return every
    return sorted(every, key=lambda e: _signature(e.config) not in _published())


@cache
def _published() -> frozenset[tuple[str, tuple[int, ...]]]:
    return frozenset(_signature(read_mapping(preset.content).config) for preset in all_presets())


def _signature(config: ModelConfig) -> tuple[str, tuple[int, ...]]:
    return config.model_type, tuple(config.symbols[symbol] for symbol in _TELLING)


def explained(candidate: Candidate, given: Mapping[str, int]) -> Explanation:
    """The model that *candidate*'s shapes show, with the sizes *given* that none shows.

    Raises ``ConfigError`` if there is no such model, or if a given size contradicts them.
    """
    shown = _shown(candidate, {})
    for key in given.keys() & shown.keys():
        if given[key] != shown[key]:
            raise ConfigError(f"{key}: the tensors show {shown[key]}, got {given[key]}")
    tried: list[Explanation] = []
    problems = Problems()
    for heads in _possible_heads(shown, given):
        if not tried or tried[-1].problems:
            with problems.collected():
                tried.append(_with_heads(candidate, given, heads, shown))
    if not tried:
        problems.raise_any()
    return min(tried, key=lambda one: one.problems)


def _with_heads(
    candidate: Candidate, given: Mapping[str, int], heads: int | None, shown: Mapping[str, Any]
) -> Explanation:
    keys = _shown(candidate, {"A": heads} if heads else {})
    if LAYERS not in keys:
        # The least with which a model of shared layers can run.
        least = keys.get("num_hidden_groups", 1) * keys.get("inner_group_num", 1)
        keys[LAYERS] = given.get(LAYERS, least)
    if heads:
        keys[HEADS] = heads
    keys = _in_order(candidate, keys)
    # A size that nothing shows is one, and what lacks it is told to be missing.
    config = ModelConfig.from_dict(_content(candidate, {**dict.fromkeys(REQUIRED, 1), **keys}))
    table = tensor_table(variant_of(config, candidate.head, candidate.layout))
    if table != candidate.table:
        raise ConfigError("their shapes contradict each other")
    seen = candidate.seen
    expected = Expected(table, config.symbols, bool(config.tie_word_embeddings))
    return Explanation(
        candidate,
        config,
        keys,
        frozenset(keys.keys() - shown.keys() - given.keys()),
        expected,
        sum(disagreement(seen, expected)) + seen.strangers + len(seen.again),
    )


def _possible_heads(shown: Mapping[str, int], given: Mapping[str, int]) -> Iterator[int | None]:
    """A as it is known, or else as is usual; some tables need one, whichever it is."""
    known = shown.get(HEADS, given.get(HEADS))
    if known is not None:
        yield known
        return
    width = shown.get("hidden_size", 0)
    if width and width % HEAD_WIDTH == 0:
        yield width // HEAD_WIDTH
    yield None
    yield 1


def _shown(candidate: Candidate, known: Mapping[str, int]) -> dict[str, Any]:
    """The keys that the tensors of *candidate* show, if symbols have the values *known*."""
    tables = family(candidate.seen.model_type)
    values = solve(candidate.table, candidate.seen.copies, known)
    sizes = [s for s in (*SIZES, *tables.sizes) if tables.has(s.key) and s.symbol in values]
    keys = {s.key: values[s.symbol] for s in sizes if s.symbol not in known}
    keys |= candidate.features.own
    for derived in tables.derived:
        if derived.symbol in values:
            keys |= _inverted(tables, derived, values, keys)
    return keys


def _inverted(
    tables: Family, derived: Derived, values: Mapping[str, int], keys: Mapping[str, Any]
) -> dict[str, int]:
    """The key that makes a derived symbol what tensors show; none if defaults do so already."""
    full = filled(tables, {**dict.fromkeys(REQUIRED, 1), **keys})
    known = {**full, **symbols(tables, full), **values}
    wanted = values[derived.symbol]

    def comes_to(**changed: int) -> bool:
        found = [{**known, **changed}[k] for k in derived.keys]
        try:
            return None not in found and derived.value(*found) == wanted
        except (ZeroDivisionError, StopIteration):
            return False

    if comes_to():
        return {}
    symbolic = [known[k] for k in derived.keys if k in values]
    for key in (k for k in derived.keys if k in full and k == (derived.shown_by or k)):
        for value in (wanted, *(v // wanted for v in symbolic if wanted)):
            if 0 < value <= LARGEST and comes_to(**{key: value}):
                return {key: value}
    return {}


def _content(candidate: Candidate, keys: Mapping[str, Any]) -> dict[str, Any]:
    """A ``config.json`` with *keys*, under the family's own names, and the class of the head."""
    tables = family(candidate.seen.model_type)
    classes = tables.heads[candidate.head].classes[:1]
    content: dict[str, Any] = {"architectures": list(classes), "model_type": tables.model_type}
    content.update((tables.name_of(key), value) for key, value in keys.items())
    ties = any(t.tied_to for t in candidate.table)
    if ties and candidate.tied != tables.defaults.get("tie_word_embeddings", True):
        content["tie_word_embeddings"] = candidate.tied
    return content


def _in_order(candidate: Candidate, keys: Mapping[str, Any]) -> dict[str, Any]:
    """*keys* as files have them, without those that merely follow from others."""
    tables = family(candidate.seen.model_type)
    order = [s.key for s in (*SIZES, *tables.sizes)] + [s.key for s in tables.switches]
    follows = [
        k
        for k in keys
        if isinstance(tables.defaults.get(tables.name_of(k)), Same | Computed)
        and filled(tables, {n: v for n, v in keys.items() if n != k}).get(k) == keys[k]
    ]
    if keys.get(LABELS) == _USUAL_LABELS:
        follows.append(LABELS)
    return {k: keys[k] for k in order if k in keys and k not in follows}
