"""What a check is of, so that a model on the command line finds the checks that concern it.

A subject is the name of a preset, whichever of its names is used, or the real path of a config.
"""

import os

from albert_calc.config.presets import find_preset, load_preset
from albert_calc.models.hub import cached_snapshot
from albert_calc.models.lookup import find_file, find_model


def of_model(text: str) -> str:
    """What a MODEL is; raises ``ConfigError`` if it is neither a file nor a known name."""
    if os.path.lexists(text):
        return of_file(text)
    preset = find_preset(text)
    return preset.name if preset else real_config(find_model(text).path)


def placed(text: str, folder: str) -> str:
    """The MODEL *text* of a file in *folder*, to which paths are relative there."""
    path = os.path.join(folder, text)
    if os.path.lexists(path):
        return path
    # A name, or a path that is told to be none: no file of the directory one happens to be in.
    elsewhere = os.path.lexists(text) and not (find_preset(text) or cached_snapshot(text))
    return path if elsewhere else text


def of_preset(name: str) -> str:
    """The preset *name*; raises ``ConfigError`` if there is none."""
    return load_preset(name).name


def of_file(path: str) -> str:
    """The config in *path*; raises ``ConfigError`` if there is none, and reads no other."""
    real = real_config(path)
    if not os.path.exists(real):
        find_file(path)
    return real


def real_config(path: str) -> str:
    """The config in the file or directory *path*, without links."""
    if "\0" in path:
        return path
    return os.path.realpath(os.path.join(path, "config.json") if os.path.isdir(path) else path)
