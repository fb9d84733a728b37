"""What is wrong with an adapter in itself: halves, other ranks, layers that are left out.

What an adapter must have follows from its config: names and shapes are those of PEFT 0.21.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from albert_calc.checkpoints.adapter_names import added
from albert_calc.checkpoints.stored import StoredTensor
from albert_calc.writing.harmless import printable, shown

Shapes = Mapping[str, tuple[int, ...]]

_PAIRS = (("lora_A", "lora_B"), ("lora_embedding_A", "lora_embedding_B"))
_RANKS = {"lora_A": 0, "lora_B": 1, "lora_embedding_A": 0, "lora_embedding_B": 1}
"""Where the rank stands in the shape of each half of LoRA."""

_OF_KINDS = {"LORA": "lora_", "IA3": "ia3_"}
"""How what the kinds of adapters add begins."""

_SOME_LAYERS = ("layers_to_transform", "layers_pattern", "exclude_modules", "layer_replication")
_INDEX = re.compile(r"(?<=\.)[0-9]+(?=\.)")


def adapter_faults(tensors: Mapping[str, StoredTensor], keys: Mapping[str, Any]) -> Iterator[str]:
    """Why PEFT could not load *tensors* by the config *keys*, or not all of what it says."""
    told = keys.get("peft_type")
    kind = told if isinstance(told, str) else ""
    modules: dict[str, dict[str, tuple[int, ...]]] = {}
    for name, stored in tensors.items():
        module, part = added(name)
        if module and not name.endswith(".bias"):
            modules.setdefault(module, {})[part] = stored.shape
    for other, start in _OF_KINDS.items():
        there = any(part.startswith(start) for parts in modules.values() for part in parts)
        if kind in _OF_KINDS and there != (kind == other):
            some = "there are" if there else "there are no"
            yield f"peft_type: {kind}, but {some} tensors of {other}"
    if kind == "LORA":
        yield from _halves(modules, dora=keys.get("use_dora") is True)
        yield from _ranks(modules, keys)
    if kind in _OF_KINDS:
        yield from _targets(modules, keys)
        yield from _layers(modules, keys)
    whole = keys.get("modules_to_save")
    names = [n for n in whole if isinstance(n, str)] if isinstance(whole, list) else []
    if names and not any(f".{n}." in f".{tensor}" for n in names for tensor in tensors):
        listed = " or ".join(printable(name, 60) for name in names[:5])
        yield f"modules_to_save: there is no tensor of {listed}"


def _halves(modules: Mapping[str, Shapes], *, dora: bool) -> Iterator[str]:
    for module, parts in modules.items():
        name = printable(module, 120)
        for pair in _PAIRS:
            there = [half for half in pair if half in parts]
            if len(there) == 1:
                (lacking,) = set(pair) - set(there)
                yield f"{name}: {there[0]} without {lacking}"
        for part, shape in parts.items():
            if part in _RANKS and len(shape) != 2:
                yield f"{name}: {part} must have two sizes, got {len(shape)}"
        if dora and "lora_magnitude_vector" not in parts:
            yield f"{name}: no lora_magnitude_vector, which use_dora asks for"


def _ranks(modules: Mapping[str, Shapes], keys: Mapping[str, Any]) -> Iterator[str]:
    """Other ranks than the config says, unless each module may have its own."""
    rank = keys.get("r")
    if keys.get("rank_pattern") or keys.get("init_lora_weights") == "eva":
        return
    found = {
        shape[_RANKS[part]]
        for parts in modules.values()
        for part, shape in parts.items()
        if part in _RANKS and len(shape) == 2
    }
    if found and list(found) != [rank]:
        listed = ", ".join(map(str, sorted(found)[:5]))
        yield f"rank: the config says {shown(rank)}, the tensors have {listed}"


def _targets(modules: Mapping[str, Shapes], keys: Mapping[str, Any]) -> Iterator[str]:
    """Targets without a module, and modules that are no target."""
    targets = keys.get("target_modules")
    if not isinstance(targets, list) or not all(isinstance(t, str) for t in targets):
        return
    for target in targets:
        if not any(f".{module}".endswith(f".{target}") for module in modules):
            yield f"target_modules: there is no tensor of {printable(target, 60)}"
    for module in modules:
        if targets and not any(f".{module}".endswith(f".{target}") for target in targets):
            yield f"target_modules: {printable(module, 120)} is none of them"


def _layers(modules: Mapping[str, Shapes], keys: Mapping[str, Any]) -> Iterator[str]:
    """Layers in which a module is left out that others have."""
    if any(keys.get(key) for key in _SOME_LAYERS):
        return
    copies: dict[str, set[tuple[int, ...]]] = {}
    for module in modules:
        indices = tuple(int(i) for i in _INDEX.findall(module) if len(i) < 10)
        if indices:
            copies.setdefault(_INDEX.sub("{}", module), set()).add(indices)
    every = set().union(*copies.values())
    for pattern, found in copies.items():
        lacking = sorted(i for i in every if len(i) == pattern.count("{}") and i not in found)
        if lacking:
            name = pattern.format(*lacking[0])
            yield f"{printable(name, 120)}: left out, though other layers have it"
    firsts = {indices[0] for indices in every}
    gap = next((i for i in range(max(firsts, default=-1)) if i not in firsts), None)
    if gap is not None:
        yield f"layer {gap}: left out, though layers after it are there"
