"""Presets: the JSON files of ``configs/``, each a valid config with its source."""

import os
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Any

from albert_calc.config.files import parse_json_object, read_small_file
from albert_calc.config.keys import OF_PRESETS
from albert_calc.errors import ConfigError
from albert_calc.named_tuple import NamedTuple
from albert_calc.writing.harmless import shown

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Installed, the files lie inside the package; in a checkout beside it.
_FOLDERS = (os.path.join(_PACKAGE, "configs"), os.path.join(os.path.dirname(_PACKAGE), "configs"))
_MOST_NEAR = 3

SHAPES: tuple[str, ...] = ("base", "large", "xlarge", "xxlarge")
"""The presets that compare ALBERT's four shapes at BERT's vocabulary."""

TITLES = {
    "base": "ALBERT-Base",
    "large": "ALBERT-Large",
    "xlarge": "ALBERT-xLarge",
    "xxlarge": "ALBERT-xxLarge",
}
"""How tables name the four shapes, as the chapter does."""


class Published(NamedTuple):
    """A printed number of parameters: the figure, who printed it, and what is wrong with it."""

    figure: str
    by: str
    note: str = ""


class Preset(NamedTuple):
    """A named model: the keys of its config, its ids, its source, and what was printed of it."""

    name: str
    content: dict[str, Any]
    source: str
    published: tuple[Published, ...] = ()
    hub: str = ""
    aliases: tuple[str, ...] = ()


def preset_names() -> list[str]:
    """The names of all presets: the four sizes first, the others in alphabetical order."""
    folder = _folder()
    found = {f.removesuffix(".json") for f in os.listdir(folder) if f.endswith(".json")}
    return [*SHAPES, *sorted(found.difference(SHAPES))]


def load_preset(name: str, *, near: bool = True) -> Preset:
    """The preset *name*; raises ``ConfigError`` if there is none, with those that are *near*."""
    found = find_preset(name) if isinstance(name, str) else None
    if found is None:
        close = nearest(name) if near and isinstance(name, str) else []
        hint = f"did you mean {', '.join(close)}?" if close else "see albert-calc presets"
        raise ConfigError(f"preset: must be a known name ({hint}), got {shown(name)}")
    return found


@lru_cache(maxsize=1024)
def find_preset(name: str) -> Preset | None:
    """The preset that *name* means, in any case: its name, an alias, a title, or a hub id."""
    lower = name.lower()
    last = lower.rpartition("/")[2]
    by_title = {title.lower(): shape for shape, title in TITLES.items()}
    for plain in (by_title.get(lower), last):
        found = _read(plain) if plain else None
        if found and (found.name == lower or by_title.get(lower) or found.hub.lower() == lower):
            return found
    return _spelled().get(lower.replace("_", "-"))


@cache
def _spelled() -> dict[str, Preset]:
    """Every preset by each of its names; some write bert_base, and one has underscores."""
    found: dict[str, Preset] = {}
    for preset in all_presets():
        for name in (preset.name, preset.hub.lower(), *preset.aliases):
            if name:
                found.setdefault(name.replace("_", "-"), preset)
    return found


def all_presets() -> Iterator[Preset]:
    """Every preset, in the order of ``preset_names``."""
    for name in preset_names():
        found = _read(name)
        if found is not None:
            yield found


@lru_cache(maxsize=1024)
def _read(name: str) -> Preset | None:
    # A name becomes part of a path only if it is plain.
    plain = name.isascii() and all(part.isalnum() for part in name.replace("_", "-").split("-"))
    path = os.path.join(_folder(), f"{name}.json")
    if not plain or not os.path.exists(path):
        return None
    content = parse_json_object(read_small_file(path), name)
    about = {key: content.pop(key) for key in OF_PRESETS if key in content}
    return Preset(
        name,
        content,
        about["source"],
        tuple(Published(**p) for p in about.get("published", ())),
        about.get("hub", ""),
        tuple(about.get("aliases", ())),
    )


def _folder() -> str:
    for folder in _FOLDERS:
        if os.path.isdir(folder):
            return folder
    raise ConfigError("preset: the files of configs/ were not installed")


def nearest(name: str) -> list[str]:
    """The names nearest to *name*, all of the family that it names, and one a preset."""
    from difflib import get_close_matches

    lower = name.lower()[:100].rpartition("/")[2]
    presets = {n: p.name for p in all_presets() for n in (p.name, *p.aliases) if "/" not in n}
    kin = [n for n in presets if _family(n) == _family(lower)]
    if not kin:
        families = sorted({_family(n) for n in presets} - set(SHAPES))
        near = get_close_matches(_family(lower), families, n=1, cutoff=0.85)
        kin = [n for n in presets if _family(n) in near]
    if not kin:
        shapes = () if "-" in lower else SHAPES
        return get_close_matches(lower, shapes, n=_MOST_NEAR)
    close: dict[str, str] = {}
    for found in get_close_matches(lower, kin, n=2 * _MOST_NEAR, cutoff=0.5):
        close.setdefault(presets[found], found)
    return list(close.values())[:_MOST_NEAR]


def _family(name: str) -> str:
    return name.replace("_", "-").split("-")[0]
