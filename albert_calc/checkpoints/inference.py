"""The config of a checkpoint, from the names and shapes of its tensors alone."""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple

from albert_calc.algebra import Dim
from albert_calc.checkpoints.candidates import LAYOUT
from albert_calc.checkpoints.explaining import (
    HEADS,
    LAYERS,
    Explanation,
    explained,
    explanations,
)
from albert_calc.checkpoints.files import Checkpoint
from albert_calc.checkpoints.matching import Difference
from albert_calc.checkpoints.names import inventory
from albert_calc.checkpoints.words import PAPER_LAYOUT, Witness, difference_lines, prefix_note
from albert_calc.config.model_config import ModelConfig
from albert_calc.errors import CheckpointError, first_of
from albert_calc.families import family
from albert_calc.writing.harmless import printable


class Inference(NamedTuple):
    """The config and the head that explain a checkpoint.

    ``content`` is that of a ``config.json``. ``notes`` and ``warnings`` tell what its tensors
    do not show.
    """

    config: ModelConfig
    head: str
    layout: str
    content: dict[str, Any]
    notes: tuple[str, ...]
    warnings: tuple[str, ...]


def infer_config(checkpoint: Checkpoint, given: Mapping[str, int] | None = None) -> Inference:
    """The model whose tensors are exactly those of *checkpoint*.

    Shapes rarely show the number of attention heads, nor how many layers are executed where
    they are shared: *given* may have ``num_attention_heads`` and ``num_hidden_layers``.
    Raises ``CheckpointError`` naming the tensors that fit no model, and ``ConfigError`` if a
    given size contradicts them.
    """
    found = inventory(checkpoint.tensors, checkpoint.shared)
    likeliest = explanations(found)
    if likeliest[0].problems:
        raise CheckpointError(first_of(list(_reasons(likeliest[0]))))
    taken = explained(likeliest[0].candidate, given or {})
    return Inference(
        taken.config,
        taken.head,
        taken.layout,
        taken.content(),
        (*checkpoint.notes, *prefix_note(found.prefix), *_alike(likeliest), *_notes(taken)),
        tuple(_warnings(taken)),
    )


def _notes(taken: Explanation) -> Iterator[str]:
    tables = family(taken.model_type)
    heads = tables.name_of(HEADS)
    if taken.layout != LAYOUT:
        yield PAPER_LAYOUT
    if HEADS in taken.guessed:
        yield (
            f"{heads}: {taken.keys[HEADS]} is a guess, as no shape shows it; most models have a"
            f" head for each 64 of {tables.name_of('hidden_size')}; -A says it"
        )
    elif HEADS not in taken.keys:
        yield f"{heads}: left out, since no shape shows it; -A fills it in"
    tied = taken.config.tie_word_embeddings
    if not tied and any(t.tied_to for t in taken.candidate.table):
        yield (
            "tie_word_embeddings: false, since the output layer is stored beside the token"
            " table; a tied model that was stored twice looks the same"
        )


def _warnings(taken: Explanation) -> Iterator[str]:
    if LAYERS in taken.guessed:
        layers = family(taken.model_type).name_of(LAYERS)
        yield (
            f"{layers}: {taken.keys[LAYERS]} is a guess, the least that can run; shared layers"
            " do not show how often they are executed; -L says it"
        )


def _alike(likeliest: list[Explanation]) -> Iterator[str]:
    """A note that names the other models which have the same tensors, if there are any."""
    names: dict[tuple[str, ...], str] = {}
    for one in likeliest:
        names.setdefault(one.config.architectures, f"{one.model_type} {one.head}")
    taken, *others = names.values()
    if others:
        yield f"model: {taken} is taken; {', '.join(others)} would have the same tensors"


def _reasons(nearest: Explanation) -> Iterator[str]:
    """Why the nearest model is not what the checkpoint holds, tensor by tensor."""
    yield (
        f"the tensors fit no known model; the nearest is {nearest.model_type} with the head"
        f" {nearest.head}, but:"
    )
    agreed = nearest.agreed
    yield from difference_lines(agreed, _witness_of(nearest))
    yield from (f"{printable(one.name, 120)}: unexpected" for one in agreed.more)


def _witness_of(nearest: Explanation) -> Witness:
    """Which other tensor shows a size, as *nearest* has them."""
    shown: dict[tuple[Dim, int], list[str]] = {}
    for tensor in nearest.candidate.table:
        several = nearest.candidate.seen.copies.get(tensor.name)
        for one in islice(several.found.values(), 2) if several is not None else ():
            for pair in zip(tensor.shape, one.stored.shape, strict=False):
                shown.setdefault(pair, []).append(one.name)

    def witness(difference: Difference) -> str:
        own = {one.name for one in difference.found}
        expected = tuple(zip(difference.symbols, difference.expected, strict=True))
        stored = difference.found[0].stored.shape
        lacking = [e for e, size in zip(expected, stored, strict=False) if e[1] != size]
        names = (name for pair in lacking or expected for name in shown.get(pair, ()))
        return next((name for name in names if name not in own), "")

    return witness
