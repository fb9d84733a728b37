"""What a config leaves open, as the tensors of its checkpoint decide it."""

from collections.abc import Mapping
from typing import Any

from albert_calc.checkpoints.explaining import explanations
from albert_calc.checkpoints.files import Checkpoint
from albert_calc.checkpoints.names import inventory
from albert_calc.config.detection import class_names
from albert_calc.errors import CheckpointError
from albert_calc.families import families, families_of_class, family
from albert_calc.writing.harmless import shown


def completed(
    given: Mapping[str, Any], checkpoint: Checkpoint
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """*given*, the content of a ``config.json``, with what it leaves open, and notes of that.

    A config with a ``model_type`` leaves nothing open, since its class has defaults. Without
    one the tensors decide which family it is, unless a class or a key says so, and what the
    sizes are that it does not give.
    """
    keys = {k: v for k, v in given.items() if v is not None}
    if "model_type" in keys:
        return dict(given), ()
    try:
        every = explanations(inventory(checkpoint.tensors, checkpoint.shared), _types_of(keys))
    except CheckpointError:
        return dict(given), ()
    classes = set(class_names(keys))
    taken = next((e for e in every if classes & set(e.config.architectures)), every[0])
    tables = family(taken.model_type)
    said = {*keys, *(tables.aliases.get(k, k) for k in keys)}
    if "id2label" in keys:
        said.add("num_labels")
    left_open = {
        tables.name_of(key): value
        for key, value in taken.keys.items()
        if said.isdisjoint((key, tables.name_of(key))) and key not in taken.guessed
    }
    note = f"model_type: not given; the tensors are those of {taken.model_type}"
    if left_open:
        sizes = ", ".join(f"{key} {shown(value)}" for key, value in left_open.items())
        note += f", and show what the config leaves open: {sizes}"
    return {**given, "model_type": taken.model_type, **left_open}, (note,)


def _types_of(keys: Mapping[str, Any]) -> tuple[str, ...]:
    """The families of which a config is by its classes or its keys; none if by neither."""
    by_class = [t for name in class_names(keys) for t, _ in families_of_class(name)]
    by_key = [f.model_type for f in families() if any(mark in keys for mark in f.marks)]
    return tuple(dict.fromkeys(by_class or by_key))
