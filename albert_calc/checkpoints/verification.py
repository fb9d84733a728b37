"""Is this checkpoint this config: the tensors stored against those expected."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from albert_calc.checkpoints.candidates import LAYOUT
from albert_calc.checkpoints.files import Checkpoint
from albert_calc.checkpoints.judging import judged
from albert_calc.checkpoints.matching import (
    Expected,
    Match,
    disagreement,
    match,
    with_strangers,
)
from albert_calc.checkpoints.names import Found, View, inventory, view
from albert_calc.checkpoints.words import prefix_note
from albert_calc.config.model_config import ModelConfig
from albert_calc.counting.counts import count
from albert_calc.counting.tensors import blueprint, tensor_table, variant_of
from albert_calc.errors import Problems
from albert_calc.writing.harmless import printable


class Verification(NamedTuple):
    """What a checkpoint holds, measured against a config, a head and a layout.

    ``expected`` and ``stored`` are numbers of parameters; buffers and second copies of
    tied tensors are in neither. ``dtypes`` splits ``stored`` by dtype. ``verdict`` is that of
    ``judging``; ``summary`` says it in one line.
    """

    head: str
    layout: str
    verdict: str
    summary: str
    expected: int
    stored: int
    dtypes: Mapping[str, int]
    buffers: tuple[Found, ...]
    match: Match
    notes: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Whether every tensor is there and has its shape, and none is unknown."""
        return self.verdict == "match"


def verify(
    config: ModelConfig, checkpoint: Checkpoint, head: str | None = None, layout: str = LAYOUT
) -> Verification:
    """*checkpoint* compared with the model that *config* describes.

    Without *head* it is that of the class which the config names, or else the head that
    explains the tensors best. More tensors, of other heads or the pooler, are no difference.
    How the layers are shared is the family's own way. Raises ``ConfigError`` for a head or a
    layout that the family does not have.
    """
    found = inventory(checkpoint.tensors, checkpoint.shared)
    seen = view(found, config.model_type)
    asked = [head] if head else _named_heads(config)
    best, expected = _fitting(seen, config, asked or list(config.family.heads), layout)
    agreed = with_strangers(match(seen, expected), seen)
    verdict, summary = judged(seen, agreed, config, (best, *asked), layout)
    dtypes = _dtypes(checkpoint, found.prefix, seen, agreed)
    return Verification(
        head=best,
        layout=layout,
        verdict=verdict,
        summary=summary,
        expected=count(blueprint(config, best, layout)).total,
        stored=sum(dtypes.values()),
        dtypes=dtypes,
        buffers=seen.buffers,
        match=agreed,
        notes=(
            *checkpoint.notes,
            *prefix_note(found.prefix),
            *_head_notes(config, best, asked),
            *_other_notes(config, best, layout, agreed),
        ),
    )


def shows_layers(config: ModelConfig, head: str, layout: str = LAYOUT) -> bool:
    """Whether the tensors tell how many layers are executed; shared layers do not."""
    table = tensor_table(variant_of(config, head, layout))
    return any("L" in t.elements.times(*t.repeat).symbols for t in table)


def _named_heads(config: ModelConfig) -> list[str]:
    """The heads of the classes that the config names, if its family has one of them."""
    classes = set(config.architectures)
    return [h for h, known in config.family.heads.items() if classes & set(known.classes)]


def _fitting(
    seen: View, config: ModelConfig, heads: Sequence[str], layout: str
) -> tuple[str, Expected]:
    """The one of *heads* that explains *seen* best, and its tensors."""
    tables: dict[str, Expected] = {}
    problems = Problems()
    for head in heads:
        with problems.collected():
            table = tensor_table(variant_of(config, head, layout))
            tables[head] = Expected(table, config.symbols, bool(config.tie_word_embeddings))
    if not tables:
        problems.raise_any()
    return min(tables.items(), key=lambda one: sum(disagreement(seen, one[1])))


def _head_notes(config: ModelConfig, head: str, asked: Sequence[str]) -> Iterator[str]:
    if not asked:
        yield f"head: the config names no class of {config.model_type}, and {head} fits best"


def _other_notes(config: ModelConfig, head: str, layout: str, agreed: Match) -> Iterator[str]:
    """What a reader could take for checked or agreed, though it is not."""
    if agreed.more:
        first, others = agreed.more[0].name, len(agreed.more) - 1
        and_more = f" and {others:,} more" if others else ""
        yield f"stored beside the head {head}: {printable(first, 120)}{and_more}"
    if not shows_layers(config, head, layout):
        yield (
            f"{config.family.name_of('num_hidden_layers')}: {config.num_hidden_layers} cannot be"
            " checked, since shared layers are stored alike however often they are executed"
        )


def _dtypes(checkpoint: Checkpoint, prefix: str, seen: View, agreed: Match) -> dict[str, int]:
    """The parameters stored, by dtype: numbers that two tensors share are counted once."""
    uncounted = {prefix + one.name for one in (*seen.buffers, *agreed.copies)}
    counted: set[str] = set()
    dtypes: Counter[str] = Counter()
    for name, stored in checkpoint.tensors.items():
        original = checkpoint.shared.get(name, name)
        if name not in uncounted and original not in counted:
            counted.add(original)
            dtypes[stored.dtype] += stored.elements
    return dict(dtypes.most_common())
