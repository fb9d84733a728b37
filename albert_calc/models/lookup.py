"""What a MODEL on the command line is: a file, a preset, or a model in the local cache."""

import os
from collections.abc import Mapping
from typing import Any, Literal

from albert_calc.config.files import quoted, read_config
from albert_calc.config.presets import TITLES, Preset, find_preset, load_preset, nearest
from albert_calc.errors import ConfigError
from albert_calc.named_tuple import NamedTuple
from albert_calc.writing.harmless import shown

Origin = Literal["file", "preset", "cache", "sizes"]


class Found(NamedTuple):
    """The keys of a config, what it is called, and where it was found.

    ``path`` is the file or directory that it was read from, ``notes`` tell a reader what
    else the name could mean.
    """

    name: str
    keys: Mapping[str, Any]
    origin: Origin
    path: str = ""
    notes: tuple[str, ...] = ()


STANDARD_INPUT = "standard input"


def find_model(text: str, *, near: bool = True) -> Found:
    """The config that *text* names, tried in this order.

    ``-`` is standard input; a path that exists is a file, or a directory with one; then the
    name of a preset, an alias, or the id of a published model; then an id in the local
    Hugging Face cache, which wins over a preset of the same id. Raises ``ConfigError`` if there
    is none, with the names that are *near*, and for files that cannot be read.
    """
    if text == "-":
        return Found(STANDARD_INPUT, read_config(text), "file", text)
    if text and os.path.lexists(text):
        return _file(text)
    preset = find_preset(text)
    if preset is None or "/" in text:
        from albert_calc.models.hub import cached_snapshot

        snapshot = cached_snapshot(text)
        if snapshot is not None and os.path.exists(os.path.join(snapshot, "config.json")):
            note = f"{text}: read from the local Hugging Face cache"
            if preset is not None:
                note += f", not from the preset {preset.name}"
            return Found(text, read_config(snapshot), "cache", snapshot, (note,))
    if preset is not None:
        return _preset(text, preset)
    raise ConfigError(_not_found(text, near))


def find_file(path: str, *, regular: bool = False) -> Found:
    """The config in the file *path*, in a directory, or on standard input for ``-``.

    With *regular* a pipe or a device is refused.
    """
    if path == "-":
        return find_model(path)
    return Found(quoted(path), read_config(path, regular=regular), "file", path)


def find_named(name: str, *, near: bool = True) -> Found:
    """The preset *name*; raises ``ConfigError`` if there is none, with those that are *near*."""
    return _preset(name, load_preset(name, near=near))


def _file(path: str) -> Found:
    notes = []
    preset = find_preset(path)
    if preset is not None:
        notes.append(
            f"{quoted(path)}: the file of that name, not the preset;"
            f" --preset {preset.name} is the preset"
        )
    return find_file(path)._replace(notes=tuple(notes))


def _preset(text: str, preset: Preset) -> Found:
    notes = []
    for title in TITLES.values():
        if text.lower() == title.lower():
            notes.append(
                f"{title}: the preset {preset.name}, that shape at BERT's vocabulary;"
                f" albert-{preset.name}-v2 is the published model"
            )
    return Found(preset.name, preset.content, "preset", notes=tuple(notes))


def _not_found(text: str, near: bool) -> list[str]:
    from albert_calc.models.hub import cache_folder, is_id

    if text.endswith(".json") or ("/" in text and not is_id(text)):
        return [f"model: no such file, got {shown(text)}"]
    close = nearest(text) if near else []
    hint = f"did you mean {' or '.join(close)}?" if close else "see albert-calc presets"
    if "/" in text:
        return [
            f"model: neither a file nor a known name ({hint}), got {shown(text)}",
            f"{text} is not in the local cache ({quoted(cache_folder())}), and nothing is"
            f" fetched: hf download {text} config.json does that",
        ]
    return [
        f"model: must be a file, a directory with config.json, or a known name ({hint}),"
        f" got {shown(text)}"
    ]
