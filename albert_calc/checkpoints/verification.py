"""Is this checkpoint this config: ``verify`` compares the tensors stored with those expected.

May import ``albert_calc.architectures``, ``albert_calc.checkpoints.matching``,
``albert_calc.checkpoints.safetensors``, ``albert_calc.config``, ``albert_calc.counts``
and ``albert_calc.tensors``.
"""

from collections.abc import Mapping
from typing import NamedTuple

from albert_calc.architectures import ARCHITECTURES
from albert_calc.architectures.base import Architecture
from albert_calc.checkpoints.matching import Found, Inventory, Match, inventory, match
from albert_calc.checkpoints.safetensors import StoredTensor
from albert_calc.config import ModelConfig
from albert_calc.counts import count_parameters
from albert_calc.tensors import tensor_table, variant_of

LAYOUT = "transformers"
"""The only layout in which checkpoints are stored."""


class Verification(NamedTuple):
    """What a checkpoint holds, measured against a config and a head.

    ``expected`` and ``stored`` are numbers of parameters; buffers and second copies of
    tied tensors are in neither. ``dtypes`` splits ``stored`` by dtype. ``verdict`` is
    ``match``, ``without_pooler``, ``without_head``, ``extra_head``, ``other_tensors`` or
    ``damaged``; ``summary`` says it in words.
    """

    head: str
    verdict: str
    summary: str
    expected: int
    stored: int
    dtypes: Mapping[str, int]
    buffers: tuple[Found, ...]
    match: Match

    @property
    def holds(self) -> bool:
        """Whether every tensor is there, has its shape, and no other is."""
        return self.verdict == "match"


def verify(
    config: ModelConfig, tensors: Mapping[str, StoredTensor], head: str | None = None
) -> Verification:
    """*tensors* compared with the model that *config* describes.

    Without *head*, the head that explains the tensors best is taken. How the layers are
    shared is the model type's own way. Raises ``ConfigError`` for a head that the model
    type does not have.
    """
    architecture = ARCHITECTURES[config.model_type]
    found = inventory(tensors, architecture)
    candidates = [head] if head else list(architecture.heads)
    matches = {h: match_head(found, config, h) for h in candidates}
    best = min(matches, key=lambda h: _distance(config, h, matches[h]))
    agreed = matches[best]
    verdict, summary = _verdict(agreed, architecture, best)
    uncounted = {f.name for f in (*found.buffers, *agreed.copies)}
    dtypes: dict[str, int] = {}
    for name, stored in tensors.items():
        if name not in uncounted:
            dtypes[stored.dtype] = dtypes.get(stored.dtype, 0) + stored.elements
    return Verification(
        head=best,
        verdict=verdict,
        summary=summary,
        expected=count_parameters(config, best, LAYOUT).total,
        stored=sum(dtypes.values()),
        dtypes=dict(sorted(dtypes.items(), key=lambda item: -item[1])),
        buffers=found.buffers,
        match=agreed,
    )


def shows_layers(config: ModelConfig, head: str) -> bool:
    """Whether the tensors tell how many layers are executed; shared layers do not."""
    return any("L" in t.repeat for t in tensor_table(variant_of(config, head, LAYOUT)))


def match_head(found: Inventory, config: ModelConfig, head: str) -> Match:
    """*found* against the tensors that *config* has under *head*."""
    architecture = ARCHITECTURES[config.model_type]
    return match(
        found,
        tensor_table(variant_of(config, head, LAYOUT)),
        config.symbols,
        config.tie_word_embeddings,
        architecture.prefix if found.prefixed else "",
    )


def _distance(config: ModelConfig, head: str, agreed: Match) -> tuple[int, ...]:
    """How badly *head* explains a checkpoint; the smallest is taken, the first of equals.

    A pooler or a head that is absent as a whole weighs less than the class that the
    config names, and that less than a tensor which is missing or unexpected.
    """
    architecture = ARCHITECTURES[config.model_type]
    named = set(architecture.heads[head].classes) & set(config.architectures)
    absent = _absent_parts(agreed, architecture, head)
    whole = sum(n for t, n in agreed.absent.items() if t.component.part in absent)
    return (
        agreed.missing_count - whole + len(agreed.unexpected),
        not named,
        agreed.problems,
        len(agreed.unexpected),
    )


def _absent_parts(agreed: Match, architecture: Architecture, head: str) -> set[str]:
    """``pooler`` and ``head`` where all their tensors are missing."""
    definition = architecture.heads[head]
    parts = {"pooler": architecture.pooler, "head": definition.tensors}
    optional = {"pooler": not definition.pooler, "head": not definition.tensors}
    return {
        part
        for part, tensors in parts.items()
        if not optional[part] and all(t in agreed.absent for t in tensors if not t.tied_to)
    }


def _verdict(agreed: Match, architecture: Architecture, head: str) -> tuple[str, str]:
    absent = _absent_parts(agreed, architecture, head)
    if agreed.mismatched or any(t.component.part not in absent for t in agreed.absent):
        return "damaged", "another model, or damaged: tensors are missing or have another shape"
    heads = (*(h.tensors for h in architecture.heads.values()), architecture.pooler)
    tops = {t.name for tensors in heads for t in tensors}
    foreign = [f for f in agreed.unexpected if f.pattern not in tops]
    found = []
    if foreign:
        found.append(("other_tensors", "with other tensors besides"))
    if len(foreign) < len(agreed.unexpected):
        found.append(("extra_head", "with an extra head"))
    found += [(f"without_{p}", f"without its {p}") for p in ("head", "pooler") if p in absent]
    if found:
        return found[0][0], f"the complete encoder, {' and '.join(words for _, words in found)}"
    pooled = architecture.heads[head].pooler
    return (
        "match",
        f"match: every tensor of the model, {'with its' if pooled else 'without a'} pooler",
    )
