"""Presets: the JSON files of ``configs/``, each a valid config with its source.

May import ``albert_calc.config``, ``albert_calc.configfile``, ``albert_calc.errors`` and
``albert_calc.text``.
"""

import os
from functools import cache
from typing import Any, NamedTuple

from albert_calc.config import ModelConfig
from albert_calc.configfile import parse_json_object, read_small_file
from albert_calc.errors import ConfigError
from albert_calc.text import shown

_PACKAGE = os.path.dirname(os.path.abspath(__file__))
# Installed, the files lie inside the package; in a checkout beside it.
_FOLDERS = (os.path.join(_PACKAGE, "configs"), os.path.join(os.path.dirname(_PACKAGE), "configs"))

SHAPES: tuple[str, ...] = ("base", "large", "xlarge", "xxlarge")
"""The presets that compare ALBERT's four shapes at BERT's vocabulary."""


class Published(NamedTuple):
    """A printed number of parameters: the figure, who printed it, and what is wrong with it."""

    figure: str
    by: str
    note: str = ""


class Preset(NamedTuple):
    """A named model: its config, where its sizes come from, and what was printed of it."""

    name: str
    content: dict[str, Any]
    config: ModelConfig
    source: str
    published: tuple[Published, ...]


def preset_names() -> list[str]:
    """The names of all presets: the four sizes first, the others in alphabetical order."""
    folder = _folder()
    found = {f.removesuffix(".json") for f in os.listdir(folder) if f.endswith(".json")}
    return [*SHAPES, *sorted(found.difference(SHAPES))]


@cache
def load_preset(name: str) -> Preset:
    """The preset *name*; raises ``ConfigError`` if there is none."""
    # A name becomes part of a path only if it is plain.
    plain = isinstance(name, str) and name.replace("-", "").isalnum()
    path = os.path.join(_folder(), f"{name}.json")
    if not plain or not os.path.exists(path):
        raise ConfigError(f"preset: {_unknown(name)}")
    content = parse_json_object(read_small_file(path), name)
    published = tuple(Published(**p) for p in content["published"])
    return Preset(name, content, ModelConfig.from_dict(content), content["source"], published)


def _folder() -> str:
    for folder in _FOLDERS:
        if os.path.isdir(folder):
            return folder
    raise ConfigError("preset: the files of configs/ were not installed")


def _unknown(name: str) -> str:
    from difflib import get_close_matches

    close = get_close_matches(str(name)[:100], preset_names(), n=3)
    hint = f"did you mean {', '.join(close)}?" if close else "see albert-calc presets"
    return f"must be a known name ({hint}), got {shown(name)}"
