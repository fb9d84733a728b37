"""Reading a ``config.json`` strictly: small, UTF-8, one object, no key twice."""

import json
import os
import re
import sys
from typing import Any, BinaryIO

from albert_calc.config.foreign import foreign_text, python_word
from albert_calc.errors import ConfigError
from albert_calc.writing.harmless import printable, shown

LARGEST_FILE = 4 * 2**20
_LONGEST_NUMBER = 40
_LONGEST_LINK = 100
_LINK = r"\.\./\.\./blobs/[0-9a-f]{40,64}"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def read_config(path: str | os.PathLike[str], *, regular: bool = False) -> dict[str, Any]:
    """The JSON object in *path*: a file, a directory with ``config.json``, or ``-``.

    ``-`` is standard input. A pipe is read only where it was itself named; in a directory, or
    with *regular*, it is refused, as it could block for ever. Raises ``ConfigError`` with the
    reason if the config cannot be read.
    """
    if not isinstance(path, str | bytes | os.PathLike):
        raise ConfigError(f"config: must be a path, got {shown(path)}")
    name = os.fsdecode(path)
    if name == "-":
        if sys.stdin is None:
            raise ConfigError("standard input: closed")
        return parse_json_object(_standard_input(), "standard input")
    if os.path.isdir(name):
        name, regular = _inside(name), True
    if regular and os.path.exists(name) and not os.path.isfile(name):
        raise ConfigError(f"{quoted(name)}: must be a regular file")
    return parse_json_object(read_small_file(name), quoted(name))


def _standard_input() -> bytes:
    try:
        return read_limited(sys.stdin.buffer, "standard input")
    except OSError as error:
        # Such as a stream that is open for writing alone.
        raise ConfigError(f"standard input: cannot be read: {error.strerror}") from None


def _inside(folder: str) -> str:
    """The config in the directory *folder*; that of an adapter says what it is."""
    found = os.path.join(folder, "config.json")
    if os.path.exists(found) or not os.access(folder, os.X_OK):
        return found
    adapter = os.path.join(folder, "adapter_config.json")
    if os.path.exists(adapter):
        return adapter
    raise ConfigError(f"config: no config.json in {quoted(folder)}")


def quoted(path: str | os.PathLike[str]) -> str:
    """A path as messages show it: in quotes where it could not be seen."""
    name = printable(os.fsdecode(path), 200)
    return name if name == name.strip() and name else repr(name)


def followed(path: str) -> str:
    """The file that *path* stands for, where a model cache was copied without its links.

    Caches keep each file once, under ``blobs``, and link to it from ``snapshots``; a copy made
    by a tool that knows no links has the text of the link in its place.
    """
    folder = os.path.dirname(path)
    if os.path.basename(os.path.dirname(folder)) != "snapshots" or not os.path.isfile(path):
        return path
    if os.path.getsize(path) > _LONGEST_LINK:
        return path
    with open(path, "rb") as file:
        match = re.fullmatch(_LINK, file.read().decode("ascii", "replace"))
    target = os.path.join(folder, match[0]) if match else path
    return target if os.path.isfile(target) else path


def read_small_file(path: str) -> bytes:
    """The content of the file *path*; ``ConfigError`` if it is too large to be a config."""
    try:
        with open(followed(path), "rb") as file:
            return read_limited(file, quoted(path))
    except (OSError, ValueError) as error:
        if isinstance(error, ConfigError):
            raise
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise ConfigError(f"{quoted(path)}: cannot be read: {reason}") from None


def read_limited(
    file: BinaryIO, name: str, largest: int = LARGEST_FILE, what: str = "a config"
) -> bytes:
    """All of *file*, unless that is more than *what* it should be can reasonably have."""
    content: bytes | None = file.read(largest + 1)
    if content is None:
        raise ConfigError(f"{name}: nothing to read yet, and it does not wait for more")
    if len(content) > largest:
        raise ConfigError(f"{name}: larger than {largest // 2**20} MiB, so not {what}")
    return content


def decoded(content: bytes, name: str) -> str:
    """*content* as text; it must be UTF-8, with or without a byte-order mark."""
    try:
        return content.removeprefix(_BYTE_ORDER_MARK).decode("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{name}: not UTF-8 (byte {error.start})") from None


def parse_json_object(content: bytes, name: str) -> dict[str, Any]:
    """The JSON object in *content*; *name* stands in the messages of ``ConfigError``."""
    text = decoded(content, name)
    if not text.strip():
        raise ConfigError(f"{name}: empty, must be a JSON object")
    try:
        value = json.loads(
            text,
            object_pairs_hook=_without_duplicates,
            parse_int=_short_int,
            parse_constant=_no_constant,
        )
    except RecursionError:
        raise ConfigError(f"{name}: nested too deeply") from None
    except json.JSONDecodeError as error:
        foreign = foreign_text(text)
        if foreign:
            raise ConfigError(f"{name}: {foreign}") from None
        where = f"line {error.lineno}, column {error.colno}"
        reason = python_word(text, error.pos) or error.msg
        raise ConfigError(f"{name}: not valid JSON: {reason} ({where})") from None
    except ValueError as error:
        raise ConfigError(f"{name}: {error}") from None
    if isinstance(value, str) and value.lstrip().startswith("{"):
        raise ConfigError(f"{name}: a JSON string that holds JSON; decode it once more")
    if not isinstance(value, dict):
        raise ConfigError(f"{name}: must be a JSON object, got {shown(value)}")
    return value


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"the key {shown(key)} stands twice")
        found[key] = value
    return found


def _short_int(digits: str) -> int:
    if len(digits) > _LONGEST_NUMBER:
        raise ValueError(f"a number of {len(digits)} digits is no size")
    return int(digits)


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON value")
