"""Many checks in one TOML file: a ``[[check]]`` table each.

A file is parsed one check at a time, and hostile ones are refused by a look at the text: the
parser of the standard library takes minutes for some.
"""

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from albert_calc.checks.bounds import KEYS, Bounds, read_bounds
from albert_calc.config.files import decoded, quoted, read_limited
from albert_calc.costs.trained import EVERYTHING, TRAINED_KEYS, Trained, read_trained
from albert_calc.counting.counts import Selection
from albert_calc.errors import MOST_PROBLEMS, AlbertCalcError, Problems
from albert_calc.writing.harmless import shown

LARGEST_FILE = 16 * 2**20
MOST_CHECKS = 100_000
_LONGEST_LINE = 2_000
_MOST_LINES = 40
_MOST_OF_A_SIGN = 50

_HEADER = re.compile(r"^[ \t]*\[\[[ \t]*check[ \t]*\]\][ \t]*(?:#.*)?$", re.MULTILINE)

_TEXTS = ("name", "preset", "config", "head", "layout", "share")
_FLAGS = ("without_embeddings", "trainable")
_KEYS = (*_TEXTS, *_FLAGS, *TRAINED_KEYS, *KEYS)


class Listed(NamedTuple):
    """One check of a file: its number, its name, its model, and its bounds.

    The model is a ``preset``, or a ``config``: a path or a pattern relative to ``folder``. The
    bounds are of a ``selection`` of its tensors, or of what is ``trained``.
    """

    number: int
    name: str
    bounds: Bounds
    folder: str
    preset: str = ""
    config: str = ""
    head: str | None = None
    layout: str | None = None
    share: str | None = None
    selection: Selection = "all"
    trained: Trained | None = None


def read_checks(path: str) -> list[Listed]:
    """The checks in the TOML file *path*; there may be none.

    Raises ``AlbertCalcError`` with the problems of the first that have any; those after them
    are not looked at.
    """
    text, name = _text(path), quoted(path)
    folder = os.path.dirname(path)
    problems = Problems()
    checks = []
    for number, table in _tables(text, name):
        if len(problems) >= MOST_PROBLEMS:
            problems.append(f"and no check from {number:,} on was looked at")
            break
        with problems.collected():
            checks.append(_listed(table, number, folder))
    if problems:
        raise AlbertCalcError([f"{name}: {problem}" for problem in problems])
    return checks


def _text(path: str) -> str:
    """The text of the file; ``AlbertCalcError`` for one that would take too long to read."""
    name = quoted(path)
    try:
        if os.path.exists(path) and not os.path.isfile(path):
            raise AlbertCalcError(f"{name}: must be a regular file")
        with open(path, "rb") as file:
            content = read_limited(file, name, LARGEST_FILE, "a checks file")
    except OSError as error:
        raise AlbertCalcError(f"{name}: cannot be read: {error.strerror}") from None
    except ValueError as error:
        if isinstance(error, AlbertCalcError):
            raise
        raise AlbertCalcError(f"{name}: cannot be read: {error}") from None
    return decoded(content, name).replace("\r\n", "\n")


def _tables(text: str, name: str) -> Iterator[tuple[int, object]]:
    """Each table with its number, from 1; what stands before the first is refused."""
    starts = [match.start() for match in _HEADER.finditer(text)]
    if len(starts) > MOST_CHECKS:
        raise AlbertCalcError(
            f"{name}: has {len(starts):,} checks; at most {MOST_CHECKS:,} are read"
        )
    before = text[: starts[0]] if starts else text
    content = _parsed(before, 1, name)
    others = Problems(
        f"{shown(k)}: is no key here, only [[check]]" for k in content if k != "check"
    )
    listed = content.get("check", [])
    if isinstance(listed, Mapping):
        others.append("check: must stand in double brackets, [[check]]")
    elif not isinstance(listed, list):
        others.append("has no [[check]] table")
    if others:
        raise AlbertCalcError([f"{name}: {problem}" for problem in others])
    yield from enumerate(listed, 1)
    line = before.count("\n") + 1
    for index, start in enumerate(starts):
        end = starts[index + 1] if index + 1 < len(starts) else len(text)
        piece = text[start:end]
        tables = _parsed(piece, line, name)["check"]
        yield len(listed) + index + 1, tables[0]
        line += piece.count("\n")


def _parsed(piece: str, line: int, name: str) -> dict[str, Any]:
    import tomllib

    _refuse_hostile(piece, line, name)
    try:
        return tomllib.loads(piece)
    except RecursionError:
        raise AlbertCalcError(f"{name}: nested too deeply") from None
    except ValueError as error:
        text = re.sub(r"at line (\d+)", lambda m: f"at line {int(m[1]) + line - 1}", str(error))
        raise AlbertCalcError(f"{name}: not valid TOML: {shown(text)[1:-1]}") from None


def _refuse_hostile(piece: str, line: int, name: str) -> None:
    """Raise ``AlbertCalcError`` for what no check needs and the parser is slow with."""
    where = f"{name}: line {line}"
    lines = [part for part in piece.split("\n") if part.strip() and part.lstrip()[:1] != "#"]
    if len(lines) > _MOST_LINES:
        raise AlbertCalcError(f"{where}: a check of {len(lines):,} lines; at most {_MOST_LINES}")
    longest = max(map(len, lines), default=0)
    if longest > _LONGEST_LINE:
        raise AlbertCalcError(
            f"{where}: a line of {longest:,} characters; at most {_LONGEST_LINE:,}"
        )
    if '"""' in piece or "'''" in piece:
        raise AlbertCalcError(f"{where}: text over several lines, which no check needs")
    for sign, word in ((".", "dots"), ("[", "brackets"), ("{", "braces"), (",", "commas")):
        count = max((part.count(sign) for part in lines), default=0)
        if count > _MOST_OF_A_SIGN:
            raise AlbertCalcError(f"{where}: {count:,} {word}; at most {_MOST_OF_A_SIGN} in a line")


def _unknown(key: str) -> str:
    """What is wrong with a *key* that no check has: the one that is meant, or all there are."""
    from difflib import get_close_matches

    near = get_close_matches(key.lower()[:100], _KEYS, n=1, cutoff=0.75)
    if near:
        return f"{shown(key)}: is no key of a check; did you mean {near[0]}?"
    return f"{shown(key)}: must be one of {', '.join(_KEYS)}"


def _listed(table: object, number: int, folder: str) -> Listed:
    """The check that *table* describes; ``AlbertCalcError`` with all of its problems."""
    if not isinstance(table, Mapping):
        raise AlbertCalcError(f"check {number}: must be a table, got {shown(table)}")
    name = table.get("name", f"check {number}")
    label = f"check {number}" if name == f"check {number}" else f"check {number} ({shown(name)})"
    problems = Problems(_unknown(k) for k in table if k not in _KEYS)
    problems += [
        f"{k}: must be text, got {shown(table[k])}"
        for k in _TEXTS if not isinstance(table.get(k, ""), str)
    ]  # fmt: skip
    problems += [
        f"{k}: must be true or false, got {shown(table[k])}"
        for k in _FLAGS if not isinstance(table.get(k, False), bool)
    ]  # fmt: skip
    if ("preset" in table) == ("config" in table):
        problems.append("must name either a preset or a config")
    elif table.get("config") == "-":
        problems.append("config: must be a file, a directory or a pattern, got '-'")
    bounds, trained = Bounds(), EVERYTHING
    with problems.collected():
        bounds = read_bounds(table)
    with problems.collected():
        trained = read_trained(table)
    if trained != EVERYTHING and not table.get("trainable"):
        problems.append("trainable: must be true where lora or freeze says what is trained")
    if problems:
        raise AlbertCalcError([f"{label}: {problem}" for problem in problems])
    return Listed(
        number, name, bounds, folder, table.get("preset", ""), table.get("config", ""),
        table.get("head"), table.get("layout"), table.get("share"),
        "without_embeddings" if table.get("without_embeddings") else "all",
        trained if table.get("trainable") else None,
    )  # fmt: skip
