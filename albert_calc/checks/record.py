"""Today's counts as a file of checks, for a repository to start its CI with."""

import json
from collections.abc import Iterable, Iterator

from albert_calc.errors import AlbertCalcError, Problems
from albert_calc.models.model import DEFAULT_LAYOUT, Model


def recorded(models: Iterable[tuple[str, Model | AlbertCalcError]]) -> Iterator[str]:
    """A ``[[check]]`` table for each of *models*, whose count must stay what it is.

    Raises ``AlbertCalcError`` if one of them cannot be read, or is neither a preset nor a file
    that a check could name.
    """
    problems = Problems()
    tables = []
    for name, model in models:
        if isinstance(model, AlbertCalcError):
            problems += model.problems
        elif not _writable(model.path or model.name) or not _writable(name):
            problems.append(f"{name}: a name that is not UTF-8, which no checks file can hold")
        elif model.path == "-":
            problems.append(f"{name}: must be a preset or a file, which a check can name")
        else:
            tables.append(_table(name, model))
    problems.raise_any(AlbertCalcError)
    yield "# Paths are relative to the directory of this file.\n\n"
    yield "\n".join(tables)


def _table(name: str, model: Model) -> str:
    key = "config" if model.path else "preset"
    value = model.path or model.name
    lines = ["[[check]]", f"name = {_text(name)}", f"{key} = {_text(value)}"]
    lines.append(f"head = {_text(model.head)}")
    if model.layout != DEFAULT_LAYOUT:
        lines.append(f"layout = {_text(model.layout)}")
    if model.config.share != model.config.family.default_share:
        lines.append(f"share = {_text(model.config.share or '')}")
    lines.append(f"equals = {model.counts.total}")
    return "\n".join(lines) + "\n"


def _writable(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _text(value: str) -> str:
    """*value* as a basic string of TOML, in letters that every output holds."""
    plain = json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return "".join(c if c.isascii() else f"\\U{ord(c):08x}" for c in plain)
