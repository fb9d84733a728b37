"""Files that are no config: each is refused with its reason."""

import json
import os
import threading
from pathlib import Path

import pytest
from conftest import Run
from support import BASE, Faults

from albert_calc import AlbertCalcError, ModelConfig

GOOD = json.dumps(BASE).encode()

BAD: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "empty"),
    "blank": (b" \n", "empty"),
    "truncated": (GOOD[:40], "not valid JSON"),
    "a list": (b"[1]", "must be a JSON object, got a list"),
    "a number": (b"12", "must be a JSON object, got 12"),
    "a string": (b'"albert"', "must be a JSON object, got 'albert'"),
    "a string of JSON": (json.dumps(GOOD.decode()).encode(), "a JSON string that holds JSON"),
    "utf-16": (GOOD.decode().encode("utf-16"), "not UTF-8"),
    "latin-1": (b'{"a": "\xe9"}', "not UTF-8 (byte 7)"),
    "nested": (b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "nested too deeply"),
    "twice": (b'{"hidden_size": 1, "hidden_size": 2}', "'hidden_size' stands twice"),
    "twice inside": (b'{"id2label": {"0": "a", "0": "b"}}', "'0' stands twice"),
    "digits": (b'{"hidden_size": ' + b"9" * 1000 + b"}", "a number of 1000 digits"),
    "more digits": (b'{"hidden_size": ' + b"9" * 9000 + b"}", "a number of 9000 digits"),
    "infinite": (b'{"hidden_size": Infinity}', "Infinity is not a JSON value"),
    "huge float": (b'{"hidden_size": 1e999}', "hidden_size: must be a positive whole number"),
    "comment": (b"{} // x", "not valid JSON"),
    "a page": (b"<!doctype html><html>", "a page of HTML"),
    "single quotes": (b"{'hidden_size': 1}", "names must stand in double quotes"),
    "nothing of Python's": (b'{"a": None}', "written as in Python: None must be null"),
    "control": (b'{"hidden_size": "\\u001b[31m\\u202e"}', r"\\x1b[31m\\u202e"),
    "a control character as a key": (b'{"\\u001b[31m": 1, "moe": 4}', "moe: layers with several"),
}
"""What a file has, and a part of the reason that is given."""


def test_bad_files(run: Run, tmp_path: Path) -> None:
    """Exit 2, the reason on stderr, nothing on stdout, no escape that a terminal obeys."""
    faults = Faults()
    path = tmp_path / "config.json"
    for name, (content, reason) in BAD.items():
        path.write_bytes(content)
        result = run("count", path)
        faults.expect(name, (result.exit_code, result.stdout), (2, ""))
        faults.expect(name, reason in result.stderr or result.stderr[:300], True)
        faults.expect(name, "\x1b" in result.stderr, False)
        with pytest.raises(AlbertCalcError):
            ModelConfig.from_file(path)
    faults.none()


@pytest.mark.parametrize("content", [GOOD, b"\xef\xbb\xbf" + GOOD], ids=["plain", "BOM"])
def test_good_files(content: bytes, run: Run, tmp_path: Path) -> None:
    """A file, its directory and standard input give the same count; a BOM is fine."""
    (tmp_path / "config.json").write_bytes(content)
    for where in (tmp_path, tmp_path / "config.json", "-"):
        for words in ((where,), ("--config", where)):
            result = run("count", *words, "--total", input=content)
            assert (result.stdout, result.exit_code) == ("11683584\n", 0)


def test_places_without_a_config(run: Run, tmp_path: Path) -> None:
    """A missing file, a directory without a config, and a name with a NUL are refused."""
    (tmp_path / "odd" / "config.json").mkdir(parents=True)
    for where, reason in (
        (tmp_path / "none.json", "No such file"),
        (tmp_path, "no config.json in"),
        ("a\0b", "cannot be read"),
        (tmp_path / "odd", "must be a regular file"),
    ):
        result = run("count", "--config", where)
        assert (result.exit_code, result.stdout) == (2, "")
        assert reason in result.stderr


def test_pipes(run: Run, tmp_path: Path) -> None:
    """A pipe is read where it was itself named, and refused where a directory has one."""
    path = tmp_path / "config.json"
    os.mkfifo(path)
    result = run("count", tmp_path)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "must be a regular file" in result.stderr
    writer = threading.Thread(target=path.write_bytes, args=(GOOD,))
    writer.start()
    assert run("count", "--config", path, "--total").stdout == "11683584\n"
    writer.join()


def test_a_gigabyte_is_refused_unread(run: Run, tmp_path: Path) -> None:
    """A huge file, and one without an end, are refused after the first megabytes."""
    path = tmp_path / "config.json"
    with path.open("wb") as file:
        file.truncate(2**30)
    for where in (path, Path("/dev/zero")):
        result = run("count", "--config", where)
        assert result.exit_code == 2
        assert "larger than 4 MiB" in result.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_a_file_that_may_not_be_read(run: Run, tmp_path: Path) -> None:
    """A file without permission is refused with the system's reason."""
    path = tmp_path / "config.json"
    path.write_bytes(GOOD)
    path.chmod(0)
    result = run("count", path)
    assert result.exit_code == 2
    assert "Permission denied" in result.stderr


def test_a_file_from_python(tmp_path: Path) -> None:
    """The Python name reads the same files and raises the package's error."""
    path = tmp_path / "config.json"
    path.write_bytes(GOOD)
    assert ModelConfig.from_file(path) == ModelConfig.from_dict(BASE)
    assert ModelConfig.from_file(str(tmp_path)) == ModelConfig.from_dict(BASE)
    with pytest.raises(AlbertCalcError, match="cannot be read"):
        ModelConfig.from_file(tmp_path / "none")
    with pytest.raises(AlbertCalcError, match="must be a path, got 3"):
        ModelConfig.from_file(3)  # type: ignore[arg-type]  # the wrong type is the point
