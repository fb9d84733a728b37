"""Adapters of PEFT: what they are, how large, and which model they belong on.

An adapter names the modules of its base, and the shapes of what it adds to them show how
large they are: with LoRA, an r × in matrix and an out × r matrix stand beside one of
out × in. Names are those of PEFT 0.21.
"""

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple

from albert_calc.checkpoints.adapter_faults import adapter_faults
from albert_calc.checkpoints.adapter_names import COPY, added, unwrapped
from albert_calc.checkpoints.candidates import LAYOUT, allowed_features
from albert_calc.checkpoints.explaining import LABELS, LAYERS
from albert_calc.checkpoints.files import NAMES, Checkpoint, read_checkpoint
from albert_calc.checkpoints.matching import numbers
from albert_calc.checkpoints.names import Copies, View, inventory, view
from albert_calc.checkpoints.solving import solve
from albert_calc.checkpoints.stored import StoredTensor
from albert_calc.config.files import quoted, read_config
from albert_calc.config.model_config import ModelConfig
from albert_calc.config.presets import all_presets
from albert_calc.config.reading import read_mapping
from albert_calc.counting.tensors import Variant, tensor_table
from albert_calc.errors import CheckpointError, first_of
from albert_calc.families import FAMILIES, family
from albert_calc.families.base import Tensor
from albert_calc.families.sizes import SIZES
from albert_calc.writing.harmless import printable, shown

CONFIG = "adapter_config.json"
FILES = ("adapter_model.safetensors", "adapter_model.bin")

_PROMPT = "prompt_embeddings"
_MOST_FEATURES = 64
_MOST_NAMED = 5


class Base(NamedTuple):
    """What an adapter shows of the model it belongs on: its family and some of its sizes.

    The family is empty where names do not tell it; ``sizes`` are under their usual keys.
    """

    model_type: str
    sizes: Mapping[str, int]


class Adapter(NamedTuple):
    """An adapter: its kind, such as ``LORA``, the base that it names, its rank and targets.

    ``rank`` is ``None`` for kinds that have none, and at most five targets are named.
    ``parts`` splits its parameters by what they are. ``bases`` are the models that it can
    belong on, and ``presets`` the known ones among them. ``faults`` say what is wrong with it
    on any base.
    """

    path: str
    kind: str
    base: str
    rank: int | None
    targets: tuple[str, ...]
    parts: Mapping[str, int]
    dtypes: Mapping[str, int]
    bases: tuple[Base, ...]
    presets: tuple[str, ...]
    notes: tuple[str, ...]
    faults: tuple[str, ...] = ()

    @property
    def parameters(self) -> int:
        """All numbers that the adapter stores."""
        return sum(self.parts.values())


def adapter_folder(path: str) -> str | None:
    """The directory of the adapter that *path* is: the directory itself or a file in it.

    ``None`` if it is none; a directory that has a whole model too is that model's.
    """
    folder = path if os.path.isdir(path) else os.path.dirname(path)
    if not os.path.lexists(os.path.join(folder, CONFIG)):
        return None
    if folder == path and any(os.path.lexists(os.path.join(folder, name)) for name in NAMES):
        return None
    return folder if folder == path or os.path.basename(path) in (CONFIG, *FILES) else None


def read_adapter(folder: str) -> Adapter:
    """The adapter in *folder*, from its config and the header of its file.

    Raises ``CheckpointError`` or ``ConfigError`` if either cannot be read.
    """
    keys = read_config(os.path.join(folder, CONFIG), regular=True)
    found = [name for name in FILES if os.path.lexists(os.path.join(folder, name))]
    if not found:
        raise CheckpointError(f"{quoted(folder)}: an adapter without {' or '.join(FILES)}")
    checkpoint = read_checkpoint(os.path.join(folder, found[0]))
    bases = tuple(_bases(checkpoint, keys))
    parts: Counter[str] = Counter()
    dtypes: Counter[str] = Counter()
    for name, stored in checkpoint.tensors.items():
        parts[_part(name)] += stored.elements
        dtypes[stored.dtype] += stored.elements
    rank = keys.get("init_r", keys.get("r"))
    return Adapter(
        checkpoint.path,
        _text(keys.get("peft_type")),
        _text(keys.get("base_model_name_or_path")),
        rank if isinstance(rank, int) and not isinstance(rank, bool) else None,
        _names(keys.get("target_modules")),
        dict(parts),
        dict(dtypes.most_common()),
        bases,
        tuple(_fitting_presets(bases)),
        (*checkpoint.notes, *_prompt_notes(checkpoint, keys)),
        tuple(first_of(list(adapter_faults(checkpoint.tensors, keys)))),
    )


def misfits(adapter: Adapter, config: ModelConfig) -> list[str]:
    """Why *adapter* does not belong on the model of *config*, a line each; none if it may."""
    if not adapter.bases:
        return ["modules: the adapter's are those of no known family, so it cannot be told"]
    likely = [b for b in adapter.bases if b.model_type in ("", config.model_type)]
    if not likely:
        types = ", ".join(base.model_type for base in adapter.bases)
        return [f"model_type: the adapter's modules are those of {types}, not {config.model_type}"]
    return list(_other_sizes(likely[0], config))


def _other_sizes(base: Base, config: ModelConfig) -> Iterator[str]:
    for key, size in base.sizes.items():
        if config.keys.get(key) != size:
            name = config.family.name_of(key)
            yield f"{name}: the adapter shows {size}, got {shown(config.keys.get(key))}"


def _fitting_presets(bases: tuple[Base, ...]) -> Iterator[str]:
    for preset in all_presets():
        config = read_mapping(preset.content).config
        for base in bases:
            if base.model_type in ("", config.model_type) and not any(_other_sizes(base, config)):
                yield preset.name
                break


def _bases(checkpoint: Checkpoint, keys: Mapping[str, Any]) -> Iterator[Base]:
    """The models that have the modules to which the adapter adds something."""
    if _PROMPT in checkpoint.tensors:
        told = {"hidden_size": _prompt_width(checkpoint, keys), LAYERS: keys.get("num_layers")}
        yield Base("", {k: v for k, v in told.items() if type(v) is int})
        return
    found = inventory(_base_tensors(checkpoint))
    # All layers have what the last has, unless the adapter is for some of them.
    some = bool(keys.get("layers_to_transform")) or isinstance(keys.get("target_modules"), str)
    for model_type in FAMILIES if found.total else ():
        seen = view(found, model_type)
        sizes = None if seen.strangers or seen.again else _sizes(seen)
        if sizes is not None:
            yield Base(model_type, {k: v for k, v in sizes.items() if k != LAYERS or not some})


def _prompt_width(checkpoint: Checkpoint, keys: Mapping[str, Any]) -> int | None:
    """How wide the base of a trained prompt is, which the prompt is as well.

    A prefix has the keys and the values of all layers beside each other.
    """
    shape = checkpoint.tensors[_PROMPT].shape
    if len(shape) != 2:
        return None
    if keys.get("peft_type") != "PREFIX_TUNING":
        return shape[1]
    layers = keys.get("num_layers")
    if type(layers) is not int or layers < 1:
        return None
    width, rest = divmod(shape[1], 2 * layers)
    return None if rest else width


def _prompt_notes(checkpoint: Checkpoint, keys: Mapping[str, Any]) -> Iterator[str]:
    if _PROMPT in checkpoint.tensors:
        told, width = keys.get("token_dim"), _prompt_width(checkpoint, keys)
        if told is not None and told != width:
            found = width or "x".join(map(str, checkpoint.tensors[_PROMPT].shape))
            yield f"token_dim: the config says {shown(told)}, the tensors have {found}"


def _base_tensors(checkpoint: Checkpoint) -> dict[str, StoredTensor]:
    """The tensors of the base that the adapter's show, as far as it shows their shapes."""
    sides: dict[str, dict[str, int]] = {}
    tensors: dict[str, StoredTensor] = {}
    for stored, tensor in checkpoint.tensors.items():
        module, part = added(stored)
        if module:
            sides.setdefault(f"{module}.", {}).update(_side(part, tensor.shape))
        elif COPY not in part:
            tensors[unwrapped(part)] = tensor
    for module, side in sides.items():
        # Of a shape only the beginning may be known.
        shape = [side[k] for k in ("rows", "columns") if k in side] if "rows" in side else []
        tensors[f"{module}weight"] = StoredTensor("", tuple(shape))
    return tensors


def _side(kind: str, shape: tuple[int, ...]) -> dict[str, int]:
    """What a tensor of an adapter shows of the matrix beside which it stands."""
    if kind == "lora_magnitude_vector" and len(shape) == 1:
        return {"rows": shape[0]}
    if len(shape) != 2:
        return {}
    if kind == "ia3_l":
        return {"rows": shape[0]} if shape[1] == 1 else {"columns": shape[1]}
    sides = {"lora_A": ("columns", 1), "lora_B": ("rows", 0),
             "lora_embedding_A": ("rows", 1), "lora_embedding_B": ("columns", 0),
             "hada_w1_a": ("rows", 0), "hada_w1_b": ("columns", 1)}  # fmt: skip
    if kind not in sides:
        return {}
    side, place = sides[kind]
    return {side: shape[place]}


def _sizes(seen: View) -> dict[str, int] | None:
    """The sizes of a model of the family that has the modules *seen*; none if none has."""
    tables = family(seen.model_type)
    for features in islice(allowed_features(tables, seen.copies), _MOST_FEATURES):
        for head in tables.heads:
            variant = Variant(
                seen.model_type, features.names, tables.default_share, True, head, LAYOUT
            )
            table = {t.name: t for t in tensor_table(variant)}
            if seen.copies.keys() <= table.keys():
                values = solve(table.values(), seen.copies)
                if all(_agrees(table[name], c, values) for name, c in seen.copies.items()):
                    sizes = (*SIZES, *tables.sizes)
                    return {
                        s.key: values[s.symbol]
                        for s in sizes
                        if s.symbol in values and s.key != LABELS and tables.has(s.key)
                    }
    return None


def _agrees(tensor: Tensor, copies: Copies, values: Mapping[str, int]) -> bool:
    try:
        expected = numbers(tensor.shape, values)
    except KeyError:
        return True
    return all(shape == expected[: len(shape)] for shape in copies.shapes)


def _part(name: str) -> str:
    """What a tensor of an adapter is: what was added, or the module that was trained whole."""
    of, part = added(name)
    if of:
        return part
    plain = unwrapped(part)
    module, _, last = plain.partition(".")
    return printable(module if "." not in last else plain.rpartition(".")[2], 60)


def _text(value: object) -> str:
    return printable(value, 120) if isinstance(value, str) else ""


def _names(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return (printable(value, 120),)
    values = value if isinstance(value, list) else []
    return tuple(sorted(printable(v, 60) for v in values[:_MOST_NAMED] if isinstance(v, str)))
