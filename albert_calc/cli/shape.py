"""How tables name a model and write its sizes on one line.

May import ``albert_calc.config`` and ``albert_calc.format``.
"""

from collections.abc import Mapping
from typing import Any

from albert_calc.config import SIZES, ModelConfig

_SHOWN = "VEHLIA"
_SHOWN_UNLESS: Mapping[str, int] = {"P": 512, "T": 2, "G": 1, "N": 1, "C": 2}


def shape_line(config: ModelConfig) -> str:
    """``V = 30,522  E = 128 (assumed)  H = 768 ...``: the sizes, odd ones included."""
    parts = []
    for size in SIZES:
        value = getattr(config, size.key)
        usual = size.symbol not in _SHOWN and _SHOWN_UNLESS[size.symbol] == value
        if value is None or usual or (size.key == "embedding_size" and not _has_own_e(config)):
            continue
        assumed = " (assumed)" if size.key in config.assumed else ""
        parts.append(f"{size.symbol} = {value:,}{assumed}")
    return "  ".join(parts)


def config_data(config: ModelConfig) -> dict[str, Any]:
    """The config as JSON reports carry it, with how its layers are shared."""
    return {**config.to_dict(), "share": config.share}


def _has_own_e(config: ModelConfig) -> bool:
    return "embedding_size" in config.to_dict()
