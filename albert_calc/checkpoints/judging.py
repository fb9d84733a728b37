"""The verdict on a checkpoint, and what it is instead where it is not what a config says.

``match``; ``other_family``, ``other_layout``, ``other_head`` or ``other_sizes`` where names
and shapes fit another model better, and ``without_head`` or ``without_pooler`` where they fit
another head since that part is missing; ``other_tensors`` where nothing is; and ``damaged``.
"""

from collections.abc import Iterator, Mapping, Sequence

from albert_calc.checkpoints.explaining import LABELS, Explanation, explanations
from albert_calc.checkpoints.matching import Difference, Kind, Match
from albert_calc.checkpoints.names import View
from albert_calc.checkpoints.words import PAPER_LAYOUT
from albert_calc.config.model_config import ModelConfig
from albert_calc.errors import CheckpointError
from albert_calc.families.base import Tensor
from albert_calc.writing.harmless import shown

Verdict = tuple[str, str]
Parts = Mapping[str, tuple[Tensor, ...]]


def judged(
    seen: View, agreed: Match, config: ModelConfig, heads: Sequence[str], layout: str
) -> Verdict:
    """The verdict, and one line that says it.

    *heads* begins with the one that *agreed* is about; any of them would have done.
    """
    if not agreed.differences:
        head, more = config.family.heads[heads[0]], len(agreed.more)
        rest = "with its pooler" if head.pooler and config.family.pooler else "without a pooler"
        rest = f"and {more:,} more" if more else rest
        return "match", f"match: every tensor of the model, {rest}"
    better = _better(seen, agreed, config, heads, layout)
    if better is not None:
        return _instead(better, config, heads, layout)
    if {d.kind for d in agreed.differences} == {"unexpected"}:
        return "other_tensors", "every tensor of the model, and others besides"
    counts = ", ".join(f"{_tensors(agreed.of(kind))} {words}" for kind, words in _WORDS.items()
                       if agreed.of(kind))  # fmt: skip
    return "damaged", f"another model, or damaged: {counts}"


_WORDS: Mapping[Kind, str] = {
    "shape": "of another shape",
    "shared": "of another's numbers",
    "missing": "missing",
    "unexpected": "unexpected",
}


def _tensors(differences: Sequence[Difference]) -> str:
    size = sum(d.size for d in differences)
    return f"{size:,} tensor{'' if size == 1 else 's'}"


def _absent(seen: View, config: ModelConfig, head: str) -> Parts:
    """The head and the pooler, where a model has them and none of their tensors is there."""
    tables = config.family
    needed = {
        "head": tables.heads[head].tensors,
        "pooler": tables.pooler if tables.heads[head].pooler else (),
    }
    parts = {
        part: tuple(t for t in tensors if not t.tied_to and t.exists(config.features))
        for part, tensors in needed.items()
    }
    return {
        part: tensors
        for part, tensors in parts.items()
        if tensors and not any(t.name in seen.copies for t in tensors)
    }


def _better(
    seen: View, agreed: Match, config: ModelConfig, heads: Sequence[str], layout: str
) -> Explanation | None:
    """Another model that contradicts the tensors less, if there is one.

    Of several the one that is most like what was asked for; other sizes alone are another
    model only if nothing contradicts them.
    """
    try:
        every = explanations(seen.found)
    except CheckpointError:
        return None

    def unlike(one: Explanation) -> tuple[bool, bool, bool]:
        return one.model_type != config.model_type, one.layout != layout, one.head not in heads

    nearest = min(every, key=unlike)
    if nearest.problems >= agreed.problems or (nearest.problems and not any(unlike(nearest))):
        return None
    return nearest


def _instead(
    better: Explanation, config: ModelConfig, heads: Sequence[str], layout: str
) -> Verdict:
    """What the tensors are, in one line."""
    those = "the tensors are those of" if not better.problems else "the tensors are most like"
    if better.model_type != config.model_type:
        asked = f"not of {config.model_type}"
        return "other_family", f"{those} {better.model_type}, head {better.head}, {asked}"
    if better.layout != layout:
        if better.layout == "paper":
            return "other_layout", f"{PAPER_LAYOUT}; --layout paper compares with that"
        return "other_layout", f"{those} the layout {better.layout}, not of {layout}"
    if better.head not in heads:
        absent = _absent(better.candidate.seen, config, heads[0])
        lacking = " and ".join(_called(part, tensors) for part, tensors in absent.items())
        if not absent:
            return "other_head", f"{_asked(config, heads)}; {those} {better.head}"
        missing = f"whose {lacking} {_is(absent)} missing"
        line = f"{_asked(config, heads)}, {missing}; {those} {better.head}"
        return f"without_{next(iter(absent))}", line
    changes = list(_changes(better, config))
    shows, said = better.config.tie_word_embeddings, config.tie_word_embeddings
    if not changes and shows != said:
        changes = [f"tie_word_embeddings {shown(shows)}, not {shown(said)}"]
    return "other_sizes", f"{those} {config.model_type} with {', '.join(changes)}"


def _is(parts: Parts) -> str:
    return "is" if len(parts) == 1 else "are"


def _called(part: str, tensors: tuple[Tensor, ...]) -> str:
    """A part as its tensors call it, if they do with one word, such as ``classifier``."""
    names = {t.name.partition(".")[0] for t in tensors}
    return names.pop() if part == "head" and len(names) == 1 else part


def _asked(config: ModelConfig, heads: Sequence[str]) -> str:
    """Which head was compared, and who asked for it."""
    classes = config.family.heads[heads[0]].classes
    named = [name for name in config.architectures if name in classes]
    return f"the config names {named[0]}" if named else f"this is not the head {heads[0]}"


def _changes(better: Explanation, config: ModelConfig) -> Iterator[str]:
    """The keys that the tensors show otherwise than the config says."""
    tables = config.family
    flags = [s.key for s in tables.switches if isinstance(config.keys[s.key], bool)]
    # A config that is worked out leaves labels out where they are as usual.
    labels = [LABELS] if any("C" in tensor.shape for tensor in better.expected.table) else []
    for key in dict.fromkeys((*flags, *better.keys, *labels)):
        shows, said = better.config.keys.get(key), config.keys.get(key)
        if key not in better.guessed and shows != said:
            # As files have it: the keys of a config have what features see.
            shows, said = better.config.own.get(key, shows), config.own.get(key, said)
            yield f"{tables.name_of(key)} {shown(shows)}, not {shown(said)}"
