"""From the shapes of a checkpoint's tensors to the config of its model.

The models that names allow are tried one after the other: shapes give the sizes, and the
config made of them is compared with the same tensors.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from albert_calc.checkpoints.candidates import LAYOUT, Candidate, candidates
from albert_calc.checkpoints.files import Checkpoint
from albert_calc.checkpoints.matching import Expected, Match, match, with_strangers
from albert_calc.checkpoints.names import Inventory, inventory
from albert_calc.checkpoints.solving import solve
from albert_calc.config.model_config import ModelConfig
from albert_calc.config.values import filled
from albert_calc.counting.tensors import tensor_table, variant_of
from albert_calc.errors import CheckpointError, ConfigError
from albert_calc.families import family
from albert_calc.families.base import Derived, Family
from albert_calc.families.sizes import REQUIRED, SIZES

HEAD_WIDTH = 64
"""The width of an attention head in nearly every published model."""

_MOST_TRIED = 100
_LAYERS, _HEADS = "num_hidden_layers", "num_attention_heads"


class Explanation(NamedTuple):
    """A model, and how the tensors of a checkpoint agree with it.

    ``keys`` are those of its config that tensors show, under the usual names, and those in
    ``guessed`` that they do not show.
    """

    candidate: Candidate
    config: ModelConfig
    keys: Mapping[str, Any]
    guessed: frozenset[str]
    agreed: Match

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
    def problems(self) -> int:
        """How many tensors contradict it."""
        seen = self.candidate.seen
        return self.agreed.problems + seen.strangers + len(seen.again)


def explanations(
    found: Inventory, model_types: tuple[str, ...] = (), given: Mapping[str, int] | None = None
) -> list[Explanation]:
    """The models that contradict *found* least, the likeliest first; at least one.

    They are of *model_types*, or of any family. *given* are sizes that no shape shows.
    """
    tried = candidates(found, model_types)[:_MOST_TRIED]
    every = [e for c in tried if (e := _explanation(c, given or {})) is not None]
    if not every:
        raise CheckpointError("the tensors fit no known model: their shapes make no sense")
    least = min(e.problems for e in every)
    return [e for e in every if e.problems == least]


def _explanation(candidate: Candidate, given: Mapping[str, int]) -> Explanation | None:
    """The config that *candidate*'s tensors show; none if its shapes allow none."""
    tables = family(candidate.seen.model_type)
    values = solve(candidate.table, candidate.seen.copies)
    keys: dict[str, Any] = {
        **{size.key: 1 for size in SIZES if size.key in REQUIRED},
        **_shown_keys(tables, values),
        **candidate.features.own,
    }
    guessed = set()
    if "L" not in values:
        guessed.add(_LAYERS)
        keys[_LAYERS] = given.get(_LAYERS, values.get("G", 1) * values.get("N", 1))
    keys |= _derived_keys(tables, values, keys)
    if keys.get(_HEADS) is None and tables.has(_HEADS):
        heads = given.get(_HEADS) or _usual_heads(tables, values)
        if heads:
            guessed.add(_HEADS)
            keys[_HEADS] = heads
            more = solve(candidate.table, candidate.seen.copies, {"A": heads})
            keys |= {k: v for k, v in _shown_keys(tables, more).items() if k not in keys}
    config = _config(candidate, keys)
    if config is None and _HEADS in guessed and _HEADS not in given:
        guessed.discard(_HEADS)
        config = _config(candidate, {k: v for k, v in keys.items() if k != _HEADS})
    if config is None or config.features != candidate.features.names:
        return None
    expected = Expected(
        tensor_table(variant_of(config, candidate.head, candidate.layout)),
        config.symbols,
        bool(config.tie_word_embeddings),
    )
    return Explanation(
        candidate, config, keys, frozenset(guessed), match(candidate.seen, expected)
    )
