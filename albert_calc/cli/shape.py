"""How tables name a model and write its sizes on one line."""

from collections.abc import Collection, Mapping
from typing import Any

from albert_calc.config import ModelConfig
from albert_calc.sizes import SIZES


def shape_line(config: ModelConfig) -> str:
    """``V = 30,522  E = 128 (assumed)  H = 768 ...``: the sizes, odd ones included."""
    return sizes_line(config.to_dict(), config.assumed)


def sizes_line(values: Mapping[str, int | None], assumed: Collection[str] = ()) -> str:
    """The sizes *values*, by key, without those that are as in nearly every model."""
    parts = []
    for size in SIZES:
        value = values.get(size.key)
        if value not in (None, size.usual):
            note = " (assumed)" if size.key in assumed else ""
            parts.append(f"{size.symbol} = {value:,}{note}")
    return "  ".join(parts)


def config_data(config: ModelConfig) -> dict[str, Any]:
    """The config as JSON reports carry it, with how its layers are shared."""
    return {**config.to_dict(), "share": config.share}
