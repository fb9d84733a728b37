"""How tables name a model and write its sizes on one line."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from albert_calc.config.model_config import ModelConfig
from albert_calc.counting.counts import component_formulas
from albert_calc.counting.tensors import Blueprint
from albert_calc.families.sizes import SIZES
from albert_calc.models.model import Model

_MAIN = "VEHLIA"


def shape_line(model: Model, symbols: Collection[str] = (), main: str = "") -> str:
    """``V = 30,522 tokens  E = 128 (assumed)  H = 768 ...``: the sizes that count.

    They are the main ones, those that are not as usual, and those with *symbols*; or, if they
    are given, those of *main* alone.
    """
    config = model.config
    tables = config.family
    known = set(main) or {*_MAIN, *symbols}
    parts = []
    for size in SIZES:
        value = getattr(config, size.key)
        if not tables.has(size.key) or value is None:
            continue
        if size.symbol in known or (value != size.usual and not main):
            parts.append(_size(size.symbol, value, size.noun, size.key in model.assumed))
    for own in tables.sizes:
        if own.symbol in symbols:
            parts.append(_size(own.symbol, config.keys[own.key], own.noun or own.meaning))
    for derived in tables.derived:
        if derived.symbol in config.symbols and derived.symbol in symbols:
            parts.append(_size(derived.symbol, config.symbols[derived.symbol], derived.meaning))
    return "  ".join(parts)


def _size(symbol: str, value: int, noun: str = "", assumed: bool = False) -> str:
    text = f"{symbol} = {value:,}"
    if noun:
        first, space, rest = noun.partition(" ")
        text += f" {first.removesuffix('s') if value == 1 else first}{space}{rest}"
    return f"{text} (assumed)" if assumed else text


def formula_symbols(model: Blueprint) -> frozenset[str]:
    """Every symbol that stands in a formula of *model*."""
    return frozenset(s for f in component_formulas(model.variant) for s in f.terms.symbols)


def sizes_line(values: Mapping[str, int | None], assumed: Collection[str] = ()) -> str:
    """The sizes *values*, by usual key, without those that are as in nearly every model."""
    return "  ".join(
        _size(size.symbol, value, assumed=size.key in assumed)
        for size in SIZES
        if (value := values.get(size.key)) not in (None, size.usual)
    )


def config_data(config: ModelConfig) -> dict[str, Any]:
    """The config as JSON reports carry it, with how its layers are shared."""
    return {**config.to_dict(), "share": config.share}


def model_facts(model: Model) -> dict[str, Any]:
    """What JSON says of any model: its name, its type, its head, its layout, its config."""
    return {
        "model": model.name,
        "model_type": model.config.model_type,
        "head": model.head,
        "layout": model.layout,
        "config": config_data(model.config),
    }


def depth_notes(model: Blueprint) -> list[str]:
    """A note if groups of several layers run deeper than the L layers beside them."""
    layers, inner = model.values["L"], model.values["N"]
    if inner == 1 or model.variant.share != "all":
        return []
    return [
        f"inner_group_num: {inner} layers in each of {layers} turns make {layers * inner}"
        f" executed layers, against {layers} unshared ones"
    ]


def column_keys(names: Sequence[str]) -> list[str]:
    """A key for the column of each model: its name, or with its place where that is taken."""
    taken = {"component", "difference"}
    keys = []
    for place, name in enumerate(names, 1):
        key = name if name not in taken else f"{name} ({place})"
        taken.add(key)
        keys.append(key)
    return keys
