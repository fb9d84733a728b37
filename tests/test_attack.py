"""Random attacks: whatever comes in, a message goes out and the status is right.

A few seconds by default; ``ALBERT_CALC_ATTACKS=20000`` makes as many tries of each kind,
and then holds each to a second as well, which needs a machine that does nothing else.
"""

import json
import os
import random
import struct
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from conftest import Run
from support import BASE, DATA

from albert_calc.cli import NAMES, main

TRIES = int(os.environ.get("ALBERT_CALC_ATTACKS", "250"))
HEADER = DATA / "checkpoints" / "albert-pretraining" / "model.safetensors"
SLOW = 1.0 if "ALBERT_CALC_ATTACKS" in os.environ else float("inf")

VALUES: list[Any] = [
    None, True, False, 0, -1, 1, 2, 7, 10**9, 10**15, 10**16, 10**30, 0.5, 768.0, -0.0, 1e308,
    "", "768", "x" * 10_000, "\x1b[31mred\x1b[0m", "[bold]x[/bold]", "\u202eevil", "=1+1",
    "\x00", "\ud800", "×", [], [1], {}, {"a": 1}, [[[[]]]], {"0": "A", "1": "B"},
]  # fmt: skip
KEYS = [*BASE, "num_labels", "id2label", "architectures", "tie_word_embeddings",
        "add_cross_attention", "position_embedding_type", "pruned_heads", "nonsense"]  # fmt: skip


def is_sound(result: Any, seconds: float, *, partial: bool = False) -> None:
    """No traceback, no escape, an honest status, nothing on stdout with status 2, no delay.

    With *partial* what could be done is written beside what could not.
    """
    assert result.exit_code in (0, 1, 2)
    assert "Traceback" not in result.stderr
    assert "internal error" not in result.stderr
    assert "\x1b" not in result.stdout + result.stderr
    assert "\u202e" not in result.stdout + result.stderr
    if result.exit_code == 2:
        assert result.stdout == "" or partial
        assert result.stderr
    assert seconds < SLOW


def timed(run: Run, *args: object, **extra: Any) -> tuple[Any, float]:
    """A result, and the seconds that it took."""
    start = time.process_time()
    result = run(*args, **extra)
    return result, time.process_time() - start


def test_configs(run: Run) -> None:
    """Configs with any value under any key: counted, or refused with a message."""
    rng = random.Random(1)
    for _ in range(TRIES):
        config: dict[str, Any] = dict(BASE)
        for key in rng.sample(KEYS, rng.randint(1, 4)):
            config[key] = rng.choice(VALUES)
        for key in rng.sample(list(config), rng.choice([0, 0, 1, 2])):
            del config[key]
        command = rng.choice(["count", "compare", "explain", "cost"])
        style = rng.choice(["json", "markdown", "table"])
        text = json.dumps(config)
        result, seconds = timed(run, command, "--config", "-", "-f", style, input=text)
        is_sound(result, seconds)
        assert result.exit_code != 1, text


def mutated(content: bytes, rng: random.Random) -> bytes:
    """*content* with some bytes changed, cut, doubled or moved."""
    data = bytearray(content)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(data) or 1)
        kind = rng.randrange(5)
        if kind == 0 and data:
            data[at] = rng.randrange(256)
        elif kind == 1:
            del data[at:]
        elif kind == 2:
            data[at:at] = data[at : at + rng.randint(1, 40)]
        elif kind == 3:
            del data[at : at + rng.randint(1, 40)]
        else:
            data[at:at] = rng.choice([b"{", b"}", b"[", b'"', b"\\", b"-1", b"9" * 30, b"\x00"])
    return bytes(data)


def headers(rng: random.Random) -> Iterator[bytes]:
    """Files that differ from a real checkpoint in bytes, in their length, or in an entry."""
    content = HEADER.read_bytes()
    length = struct.unpack("<Q", content[:8])[0]
    header, data = json.loads(content[8 : 8 + length]), content[8 + length :]
    while True:
        kind = rng.randrange(3)
        if kind == 0:
            yield mutated(content[: 8 + length], rng) + data
        elif kind == 1:
            number = rng.choice(
                [0, 1, length - 1, length + 1, len(content), 2**40, 2**63, 2**64 - 1]
            )
            yield struct.pack("<Q", number) + content[8:]
        else:
            changed = json.loads(json.dumps(header))
            name = rng.choice([n for n in header if n != "__metadata__"])
            field = rng.choice(["dtype", "shape", "data_offsets"])
            value = rng.choice([*VALUES, [1, 2], [-1], [2**62, 2**62], [0, 10**18], "F32", "I4"])
            changed[name][field] = value
            text = json.dumps(changed).encode()
            yield struct.pack("<Q", len(text)) + text + data


@pytest.mark.parametrize("command", ["verify", "infer"])
def test_headers(command: str, run: Run, tmp_path: Path) -> None:
    """Mutated checkpoints: read, or refused with a message."""
    rng = random.Random(2)
    (tmp_path / "config.json").write_bytes((HEADER.parent / "config.json").read_bytes())
    path = tmp_path / "model.safetensors"
    for _, content in zip(range(TRIES), headers(rng), strict=False):
        path.write_bytes(content)
        result, seconds = timed(run, command, path)
        is_sound(result, seconds)


def words(param: click.Parameter, rng: random.Random, files: list[str]) -> list[str]:
    """Something for *param* on a command line: mostly of its kind, sometimes not."""
    value = rng.choice(
        ["base", "bert-tiny", "12", "768", "3072", "12M", "1%", "0", "-1", "1.5", "abc", "", "-",
         "1:9:2", "64,128", "9:1", "\x1b[31m", "=cmd", "\u202e", "9" * 50, *files]
    )  # fmt: skip
    if isinstance(param.type, click.Choice) and rng.random() < 0.8:
        value = rng.choice(list(param.type.choices))
    if isinstance(param, click.Argument):
        return [value]
    name = rng.choice([*param.opts, *param.secondary_opts])
    flag = isinstance(param, click.Option) and param.is_flag
    return [name] if flag else [name, value]


def test_command_lines(run: Run, tmp_path: Path) -> None:
    """Random options of every command with random values: done, false, or refused."""
    rng = random.Random(3)
    (tmp_path / "config.json").write_text(json.dumps(BASE))
    files = [str(tmp_path), str(tmp_path / "config.json"), str(HEADER.parent), "/dev/null"]
    context = click.Context(main)
    for _ in range(TRIES):
        name = rng.choice(NAMES)
        command = main.get_command(context, name)
        assert command is not None
        params = [p for p in command.params if "save" not in p.opts[0]]
        chosen = rng.sample(params, min(len(params), rng.randint(0, 6)))
        args = [word for param in chosen for word in words(param, rng, files)]
        result, seconds = timed(run, name, *args, input="")
        is_sound(result, seconds, partial=name in ("check", "cost"))
        if result.exit_code == 1:
            assert name in ("check", "verify", "reproduce", "solve", "cost"), [name, *args]


EVIL = "\x1b[2J\u202e[red]=cmd|'/c calc'!A0<b>*x*\n" + "n" * 10_000


def test_names_from_files_are_harmless(run: Run, tmp_path: Path) -> None:
    """Escapes, overrides, markup and long names stay text in every format."""
    config = {**BASE, "architectures": [EVIL], EVIL: EVIL}
    folder = tmp_path / "[red]=x\u202e"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(config))
    for command in ("count", "compare", "explain"):
        for style in ("table", "json", "markdown"):
            result = run(command, "--config", folder, "-f", style)
            is_sound(result, 0)
            assert result.exit_code == 0
            if style != "markdown":
                assert "[red]" in result.stdout
            else:
                assert r"\[red\]" in result.stdout
    result = run("count", "--config", folder, "-f", "csv")
    assert result.exit_code == 0


def test_cells_that_a_spreadsheet_would_run(run: Run, tmp_path: Path) -> None:
    """A CSV cell from a file never begins with a sign that starts a formula."""
    checks = tmp_path / "checks.toml"
    for start in ("=", "+", "-", "@", "\\t=", " =", "\\r="):
        checks.write_text(f'[[check]]\nname = "{start}1+1"\npreset = "base"\nat_least = 1\n')
        row = run("check", "--checks", checks, "-f", "csv").stdout.splitlines()[1]
        assert row.lstrip('"')[0] in "'\\", row


Patch = Callable[[Any], None]


def test_a_bug_is_reported_without_a_traceback(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even an error that nobody foresaw ends in a message and status 2."""

    def broken(*_: object) -> None:
        raise ZeroDivisionError("boom \x1b[31m")

    monkeypatch.setattr("albert_calc.cli.commands.count.count", broken)
    result = run("count", "base")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "internal error, please report it: ZeroDivisionError: boom" in result.stderr
    assert "\x1b" not in result.stderr
