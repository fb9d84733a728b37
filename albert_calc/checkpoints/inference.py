"""From the shapes of a checkpoint's tensors to the config of its model.

Every shape in the tables is a product of symbols, so every tensor found votes for the
sizes that it shows; the config that wins is then verified against the same tensors. May
import the other modules on checkpoints and the counting core.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from albert_calc.algebra import Dim
from albert_calc.architectures import ARCHITECTURES
from albert_calc.architectures.base import Architecture, Tensor
from albert_calc.checkpoints.matching import (
    Inventory,
    Match,
    Mismatch,
    inventory,
    shape_formula,
    shape_text,
)
from albert_calc.checkpoints.safetensors import StoredTensor, first_of
from albert_calc.checkpoints.verification import LAYOUT, match_head, shows_layers
from albert_calc.config import ModelConfig, Traits
from albert_calc.errors import CheckpointError, ConfigError
from albert_calc.sizes import SIZES
from albert_calc.tensors import Variant, tensor_table
from albert_calc.text import printable


class Inference(NamedTuple):
    """The config and the head that explain a checkpoint.

    ``notes`` and ``warnings`` tell what its tensors do not show.
    """

    config: ModelConfig
    head: str
    notes: tuple[str, ...]
    warnings: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """The content of a ``config.json`` for the checkpoint."""
        return {"architectures": list(self.config.architectures), **self.config.to_dict()}


class _Candidate(NamedTuple):
    """A model type and a head, and how far names alone speak against them."""

    architecture: Architecture
    head: str
    found: Inventory
    table: tuple[Tensor, ...]
    tied: bool
    strange: int


def infer_config(
    tensors: Mapping[str, StoredTensor],
    num_hidden_layers: int | None = None,
    num_attention_heads: int | None = None,
) -> Inference:
    """The model whose tensors are exactly *tensors*.

    Shapes do not show the number of attention heads, nor how many layers are executed
    where they are shared: both may be given. Without *num_hidden_layers*, shared layers
    are taken to run once each, the least with which such a model runs. Raises
    ``CheckpointError`` naming the tensors that fit no model, and ``ConfigError`` if a
    given size contradicts them.
    """
    candidates = list(_candidates(tensors))
    least = min(c.strange for c in candidates)
    reasons: list[str] = []
    explained: list[Inference] = []
    for candidate in (c for c in candidates if c.strange == least):
        config = _config(candidate, num_hidden_layers, num_attention_heads)
        agreed = match_head(candidate.found, config, candidate.head)
        if not agreed.problems:
            explained.append(_inference(candidate, config, num_hidden_layers))
        elif not reasons:
            reasons = _reasons(candidate, config, agreed)
    if not explained:
        raise CheckpointError(first_of(reasons))
    return explained[0]._replace(notes=(*_alike(explained), *explained[0].notes))


def _candidates(tensors: Mapping[str, StoredTensor]) -> Iterator[_Candidate]:
    for architecture in ARCHITECTURES.values():
        found = inventory(tensors, architecture)
        projected = any(
            t.factorized_only and t.name in found.tensors for t in architecture.embeddings[LAYOUT]
        )
        share = architecture.default_share
        traits = Traits(architecture.model_type, share, tied=True, factorized=projected)
        for head in architecture.heads:
            table = tensor_table(Variant(traits, head, LAYOUT))
            stored = {t.name for t in table if t.name in found.tensors}
            alone = [t for t in table if t.tied_to]
            tied = not alone or any({t.name, t.tied_to} - stored for t in alone)
            needed = {t.name for t in table if not t.tied_to}
            unexpected = sum(len(c) for p, c in found.tensors.items() if p not in stored)
            strange = len(needed - stored) + unexpected + len(found.again)
            yield _Candidate(architecture, head, found, table, tied, strange)


def _config(candidate: _Candidate, layers: int | None, attention_heads: int | None) -> ModelConfig:
    """The sizes that most of the candidate's tensors show, with those that were given."""
    architecture, shown = candidate.architecture, _shown(candidate)
    # What no tensor shows is one only in the reasons why a checkpoint fits no model.
    sizes = {s.key: shown.get(s.symbol, 1) for s in SIZES if s.required}
    sizes |= {s.key: shown[s.symbol] for s in SIZES if s.symbol in shown}
    if "L" not in shown:
        least = sizes.get("num_hidden_groups", 1) * sizes.get("inner_group_num", 1)
        sizes["num_hidden_layers"] = least if layers is None else layers
    elif layers not in (None, shown["L"]):
        raise ConfigError(f"num_hidden_layers: the tensors show {shown['L']}, got {layers}")
    return ModelConfig.from_dict(
        {
            **sizes,
            "model_type": architecture.model_type,
            "num_attention_heads": attention_heads,
            "tie_word_embeddings": candidate.tied,
            "architectures": architecture.heads[candidate.head].classes[:1],
        }
    )


def _shown(candidate: _Candidate) -> dict[str, int]:
    """The value of each symbol on which most tensors agree."""
    votes: dict[str, Counter[int]] = {}
    copies: dict[str, int] = {}
    for tensor in candidate.table:
        for indices, found in candidate.found.tensors.get(tensor.name, {}).items():
            for dim, size in zip(tensor.shape, found.stored.shape, strict=False):
                votes.setdefault(str(dim), Counter())[size] += 1
            for dim, index in zip(tensor.repeat, indices, strict=False):
                copies[str(dim)] = max(copies.get(str(dim), 0), index + 1)
    return {**{symbol: c.most_common(1)[0][0] for symbol, c in votes.items()}, **copies}


def _inference(candidate: _Candidate, config: ModelConfig, layers: int | None) -> Inference:
    notes, warnings = [], []
    if config.num_attention_heads is None:
        notes.append("num_attention_heads: left out, since no shape shows it; -A fills it in")
    if not config.tie_word_embeddings:
        notes.append(
            "tie_word_embeddings: false, since the output layer is stored beside the token"
            " table; a tied model that was stored twice looks the same"
        )
    if layers is None and not shows_layers(config, candidate.head):
        warnings.append(
            f"num_hidden_layers: {config.num_hidden_layers} is a guess, the least that can run;"
            " shared layers do not show how often they are executed; -L says it"
        )
    return Inference(config, candidate.head, tuple(notes), tuple(warnings))


def _alike(explained: list[Inference]) -> list[str]:
    """A note that names the other models which have the same tensors, if there are any."""
    names: dict[tuple[str, ...], str] = {}
    for one in explained:
        names.setdefault(one.config.architectures, f"{one.config.model_type} {one.head}")
    taken, *others = names.values()
    return (
        [f"model: {taken} is taken; {', '.join(others)} would have the same tensors"]
        if others
        else []
    )


def _reasons(candidate: _Candidate, config: ModelConfig, agreed: Match) -> list[str]:
    """Why the nearest candidate is not what the checkpoint holds, tensor by tensor."""
    hidden = agreed.missing_count - len(agreed.missing)
    witnesses: dict[tuple[Dim, int], list[str]] = {}
    for tensor in candidate.table:
        for found in candidate.found.tensors.get(tensor.name, {}).values():
            for shown in zip(tensor.shape, found.stored.shape, strict=False):
                witnesses.setdefault(shown, []).append(found.name)
    return [
        "the tensors fit no known model; the nearest is"
        f" {config.model_type} with the head {candidate.head}, but:",
        *(
            f"{printable(m.found.name, 120)}: must be {shape_formula(m.symbols, m.expected)}"
            f"{_witness(m, witnesses)}, got {shape_text(m.found.stored.shape)}"
            for m in agreed.mismatched
        ),
        *(f"{m.name}: missing" for m in agreed.missing),
        *([f"{hidden:,} more missing"] if hidden else []),
        *(f"{printable(f.name, 120)}: unexpected" for f in agreed.unexpected),
    ]


def _witness(mismatch: Mismatch, witnesses: Mapping[tuple[Dim, int], list[str]]) -> str:
    """Another tensor that shows the size which *mismatch* lacks; either may be the wrong one."""
    found = mismatch.found
    expected = tuple(zip(mismatch.symbols, mismatch.expected, strict=True))
    lacking = [e for e, size in zip(expected, found.stored.shape, strict=False) if e[1] != size]
    for shown in lacking or expected:
        for name in witnesses.get(shown, ()):
            if name != found.name:
                return f", as {printable(name, 120)} shows"
    return ""
