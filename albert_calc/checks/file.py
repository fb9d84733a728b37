"""Many checks in one TOML file: a ``[[check]]`` table each.

A file is parsed one check at a time, and hostile ones are refused by a look at the text: the
parser of the standard library takes minutes for some.
"""

import os
import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

from albert_calc.checks.bounds import KEYS, Bounds, read_bounds
from albert_calc.checks.measure import EVERY, FLAGS, Measure, read_measure
from albert_calc.checks.subjects import placed
from albert_calc.config.files import decoded, quoted, read_limited
from albert_calc.costs.trained import TRAINED_KEYS
from albert_calc.errors import MOST_PROBLEMS, AlbertCalcError, Problems
from albert_calc.writing.harmless import printable, shown

LARGEST_FILE = 16 * 2**20
MOST_CHECKS = 100_000
_LONGEST_LINE = 2_000
_MOST_LINES = 40
_MOST_OF_A_SIGN = 50
_MOST_WALKS = 100

_HEADER = re.compile(r"^[ \t]*\[\[[ \t]*check[ \t]*\]\][ \t]*(?:#.*)?$", re.MULTILINE)

_TEXTS = ("name", "preset", "config", "head", "layout", "share")
_KEYS = (*_TEXTS, *FLAGS, *TRAINED_KEYS, *KEYS)


class Listed(NamedTuple):
    """One check of a file: its number, its name, its model, and its bounds.

    The model is a ``preset``, or a ``config``: a path or a pattern relative to ``folder``. The
    bounds are of what ``measure`` counts.
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
    measure: Measure = EVERY


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
    if len({c.config for c in checks if "**" in c.config}) > _MOST_WALKS:
        problems.append(f"config: at most {_MOST_WALKS} patterns may have **")
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
    number, line = 0, 1
    for start, end in pairwise((0, *starts, len(text))):
        piece = text[start:end]
        for table in _checks_in(_parsed(piece, line, name), name):
            number += 1
            yield number, table
        line += piece.count("\n")


def _checks_in(content: Mapping[str, Any], name: str) -> list[object]:
    """The tables of checks in *content*, beside which there may be nothing."""
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
    return list(listed)


def _parsed(piece: str, line: int, name: str) -> dict[str, Any]:
    import tomllib

    _refuse_hostile(piece, line, name)
    try:
        return tomllib.loads(piece)
    except RecursionError:
        raise AlbertCalcError(f"{name}: nested too deeply") from None
    except ValueError as error:
        text = re.sub(r"at line (\d+)", lambda m: f"at line {int(m[1]) + line - 1}", str(error))
        raise AlbertCalcError(f"{name}: not valid TOML: {printable(text, 300)}") from None


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
    if ("preset" in table) == ("config" in table):
        problems.append("must name either a preset or a config")
    elif table.get("config") == "-":
        problems.append("config: must be a file, a directory or a pattern, got '-'")
    bounds, measure = Bounds(), EVERY
    with problems.collected():
        bounds = read_bounds(table)
    with problems.collected():
        measure = read_measure(table)
    if problems:
        raise AlbertCalcError([f"{label}: {problem}" for problem in problems])
    if bounds.same_as:
        bounds = bounds._replace(same_as=placed(bounds.same_as, folder))
    return Listed(
        number, name, bounds, folder, table.get("preset", ""), table.get("config", ""),
        table.get("head"), table.get("layout"), table.get("share"), measure,
    )  # fmt: skip
