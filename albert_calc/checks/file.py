"""Many checks in one TOML file: a ``[[check]]`` table each.

May import ``albert_calc.checks.bounds``, ``albert_calc.config``,
``albert_calc.configfile``, ``albert_calc.counts``, ``albert_calc.errors``,
``albert_calc.presets``, ``albert_calc.tensors`` and ``albert_calc.text``.
"""

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from albert_calc.checks.bounds import Bounds, read_bounds
from albert_calc.config import ModelConfig
from albert_calc.configfile import decoded, quoted, read_config, read_small_file
from albert_calc.counts import count_parameters
from albert_calc.errors import AlbertCalcError, ConfigError, Problems
from albert_calc.presets import load_preset
from albert_calc.tensors import read_model
from albert_calc.text import shown

_MOST_DOTS = 200
_KEYS = (
    "name", "preset", "config", "head", "layout", "share",
    "equals", "at_most", "at_least", "tolerance",
)  # fmt: skip


class Check(NamedTuple):
    """One check of a file: its name, its model with the exact count, and its bounds."""

    name: str
    config: ModelConfig
    head: str
    layout: str
    found: int
    bounds: Bounds


def read_checks(path: str) -> list[Check]:
    """The checks in the TOML file *path*; paths in it are relative to its directory.

    Raises ``AlbertCalcError`` with the problems of all checks.
    """
    content = _read_toml(path)
    tables = content.get("check")
    problems = Problems(
        f"{shown(k)}: is no key here, only [[check]]" for k in content if k != "check"
    )
    if isinstance(tables, Mapping):
        problems.append("check: must stand in double brackets, [[check]]")
    elif not isinstance(tables, list) or not tables:
        problems.append("has no [[check]] table")
    checks = []
    for number, table in enumerate(tables if isinstance(tables, list) else (), 1):
        with problems.collected():
            checks.append(_check(table, number, os.path.dirname(path)))
    if problems:
        raise AlbertCalcError([f"{quoted(path)}: {problem}" for problem in problems])
    return checks


def _check(table: object, number: int, folder: str) -> Check:
    if not isinstance(table, Mapping):
        raise AlbertCalcError(f"check {number}: must be a table, got {shown(table)}")
    name = table.get("name", f"check {number}")
    label = f"check {number}" if name == f"check {number}" else f"check {number} ({shown(name)})"
    problems = Problems(
        f"{shown(k)}: must be one of {', '.join(_KEYS)}" for k in table if k not in _KEYS
    )
    texts = ("name", "preset", "config", "head", "layout", "share")
    wrong = [k for k in texts if not isinstance(table.get(k, ""), str)]
    problems += [f"{k}: must be text, got {shown(table[k])}" for k in wrong]
    head, layout = table.get("head", "model"), table.get("layout", "transformers")
    bounds = config = None
    found = 0
    if ("preset" in table) == ("config" in table):
        problems.append("must name either a preset or a config")
    elif not wrong:
        with problems.collected():
            config = read_model(_mapping(table, folder), table.get("share"), head, layout)
            found = count_parameters(config, head, layout).total
    with problems.collected():
        bounds = read_bounds(table)
    if problems or bounds is None or config is None:
        raise AlbertCalcError([f"{label}: {problem}" for problem in problems])
    return Check(name, config, head, layout, found, bounds)


def _mapping(table: Mapping[str, Any], folder: str) -> Mapping[str, Any]:
    if "preset" in table:
        return load_preset(table["preset"]).content
    if table["config"] == "-":
        raise ConfigError("config: must be a file or a directory, got '-'")
    return read_config(os.path.join(folder, table["config"]))


def _read_toml(path: str) -> dict[str, Any]:
    import tomllib

    text = decoded(read_small_file(path), quoted(path))
    dots = max(line.count(".") for line in text.split("\n"))
    if dots > _MOST_DOTS:
        # Reading a dotted key takes time that grows with the square of its parts.
        raise ConfigError(f"{quoted(path)}: not valid TOML: a line with {dots:,} dots")
    try:
        return tomllib.loads(text.replace("\r\n", "\n"))
    except RecursionError:
        raise ConfigError(f"{quoted(path)}: nested too deeply") from None
    except ValueError as error:
        raise ConfigError(f"{quoted(path)}: not valid TOML: {error}") from None
