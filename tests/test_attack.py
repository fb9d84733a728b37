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
from itertools import cycle, permutations
from pathlib import Path
from typing import Any

import click
import pytest
from conftest import Run
from support import BASE, DATA

from albert_calc.cli import NAMES, main
from albert_calc.cli.options import BATCH_HEADING, TRAINED_HEADING
from albert_calc.config.presets import preset_names
from albert_calc.families import HEADS
from albert_calc.families.base import SHARES

TRIES = int(os.environ.get("ALBERT_CALC_ATTACKS", "250"))
HEADER = DATA / "checkpoints" / "albert-pretraining" / "model.safetensors"
CHECKPOINTS = ["albert-pretraining", "bert-legacy-names", "bert-bin-half", "adapter-lora",
               "bert-masked-lm-sharded"]  # fmt: skip
SLOW = 1.0 if "ALBERT_CALC_ATTACKS" in os.environ else float("inf")

VALUES: list[Any] = [
    None, True, False, 0, -1, 1, 2, 7, 10**9, 10**15, 10**16, 10**30, 0.5, 768.0, -0.0, 1e308,
    "", "768", "x" * 10_000, "\x1b[31mred\x1b[0m", "[bold]x[/bold]", "\u202eevil", "=1+1",
    "\x00", "\ud800", "×", [], [1], {}, {"a": 1}, [[[[]]]], {"0": "A", "1": "B"},
]  # fmt: skip
KEYS = [*BASE, "num_labels", "id2label", "architectures", "tie_word_embeddings",
        "add_cross_attention", "position_embedding_type", "pruned_heads", "nonsense"]  # fmt: skip


def is_sound(result: Any, seconds: float, case: object = None, *, partial: bool = False) -> None:
    """No traceback, no escape, an honest status, nothing on stdout with status 2, no delay.

    *case* says what was tried. With *partial* what could be done is written beside what could
    not.
    """
    assert result.exit_code in (0, 1, 2), case
    assert "Traceback" not in result.stderr, case
    assert "internal error" not in result.stderr, (case, result.stderr)
    assert "\x1b" not in result.stdout + result.stderr, case
    assert "\u202e" not in result.stdout + result.stderr, case
    if result.exit_code == 2:
        assert result.stdout == "" or partial, case
        assert result.stderr, case
    assert seconds < SLOW, case


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


# ---------------------------------------------------------------- command lines


NONSENSE = ["base", "bert-tiny", "12", "768", "3072", "12M", "1%", "0", "-1", "1.5", "abc", "",
            "-", "list", "1:9:2", "64,128", "9:1", "\x1b[31m", "=cmd", "\u202e", "9" * 50,
            "/dev/null", str(HEADER.parent)]  # fmt: skip

MODELS = [*preset_names(), *["albert-base-v2", "bert-base-uncased"] * 40]
LIKELY: dict[str, list[str]] = {
    "models": MODELS,
    "names": ["albert", "bert", "large"],
    "--preset": MODELS,
    "--same-as": MODELS,
    "--gpu": ["T4", "a100", "RTX 4090"],
    "--columns": ["total", "layers", "training_peak_bytes", "trainable"],
    "--head": list(HEADS),
    "--share": list(SHARES),
    "--lora-targets": ["query", "value"],
    "--train": ["pooler", "query", "classifier"],
    "--vocab-size": ["1000", "30_000"],
    "--embedding-size": ["64", "128"],
    # Widths that the attention heads of all presets divide.
    "--hidden-size": ["192", "768"],
    "--intermediate-size": ["256", "3072"],
    "--max-position-embeddings": ["512", "1024"],
    "--sequence-length": ["64", "128"],
    "--equals": ["11_683_584", "109482240"],
    "--at-most": ["12M", "900M", "10B"],
    "--at-least": ["1", "4M"],
    "--budget": ["12M", "120M", "2B"],
    "--multiple-of": ["1", "64"],
    "N": ["1", "2", "3"],
    "RANK": ["1", "8"],
    "SIZE": ["500MB", "8GiB", "24GB"],
    "PARTS": ["embeddings", "layers:0-1", "pooler", "head"],
    "F": ["15%", "0.5"],
    "T": ["1%", "1000", "99%"],
}
"""Values of each parameter that has its own, and of those with a metavar that have none."""

APART = [[side.split() for side in row.split("|")] for row in (
    "models | --preset | --config",
    "models --preset | --model-type",
    "--format | --total | --chart --diagram --save",
    "--total --chart --save | --lora --lora-targets --train --freeze",
    "--chart --diagram --save | --cost --columns --exact --notes --tensors --activations",
    "--ablation | --chart --save --cost",
    "--matrices | --without-embeddings",
    "--budget | --memory | --gpu",
    "--lora | --freeze",
    "--dtype | --autocast",
    "--record | --checks | --equals --at-most --at-least --at-most-bytes --same-as --head --share"
    " --layout --trainable --without-embeddings --vocab-size",
    "--record | --format",
    "--at-most-bytes | --trainable --without-embeddings",
)]  # fmt: skip
"""Parameters that contradict each other: on most lines they stand on one side of a bar alone."""

BELONGS = {
    "--lora-targets": "--lora",
    "--train": "--lora",
    "--tolerance": "--equals",
    "--exactly": "--same-as",
    "--master-weights": "--dtype",
    "check --dtype": "--at-most-bytes",
    f"check {TRAINED_HEADING}": "--trainable",
    f"compare {BATCH_HEADING}": "--cost",
    f"explain {BATCH_HEADING}": "--activations",
    f"solve {BATCH_HEADING}": "--memory",
    f"solve {TRAINED_HEADING}": "--memory",
    f"sweep {BATCH_HEADING}": "--columns",
    f"sweep {TRAINED_HEADING}": "--columns",
}
"""The parameter without which another one, or those under a heading of a command, say nothing."""

NEEDED = {
    "solve": ["--budget", "--memory", "--gpu"],
    "check": ["--equals", *["--at-most", "--at-least", "--at-most-bytes"] * 2, "--same-as",
              "--checks", "--record"],
}  # fmt: skip
"""Parameters of which a command needs one."""

SIZES_ALONE = ["--vocab-size", "--embedding-size", "--hidden-size", "--num-hidden-layers",
               "--num-attention-heads"]  # fmt: skip


def value_of(param: click.Parameter, rng: random.Random, files: dict[str, list[str]]) -> str:
    """A value of *param*'s kind; *files* has those that are paths."""
    if isinstance(param.type, click.Choice):
        return str(rng.choice(list(param.type.choices)))
    name, kind = max(param.opts, key=len), param.metavar or ""
    several = kind in ("VALUES", "NAMES", "PARTS")
    likely = files.get(name) or LIKELY.get(name) or LIKELY["N" if kind == "VALUES" else kind]
    first = rng.choice(likely)
    if kind == "VALUES" and rng.random() < 0.3:
        return f"{first}:{3 * int(first)}:{first}"
    return ",".join(rng.sample(likely, rng.randint(1, 2))) if several else first


def words(param: click.Parameter, rng: random.Random, files: dict[str, list[str]]) -> list[str]:
    """*param* on a command line: mostly of its kind, sometimes not, and sometimes twice."""
    found = []
    several = (param.metavar or "").endswith("...")
    for _ in range(2 if rng.random() < (0.4 if several else 0.02) else 1):
        if not isinstance(param, click.Argument):
            found.append(rng.choice([*param.opts, *param.secondary_opts]))
        if not (isinstance(param, click.Option) and param.is_flag):
            likely = rng.random() < 0.95
            found.append(value_of(param, rng, files) if likely else rng.choice(NONSENSE))
    return found


def chosen(command: click.Command, rng: random.Random) -> list[click.Parameter]:
    """Some parameters of *command*: mostly a model, what is required, and what goes together."""
    params = {max(p.opts, key=len): p for p in command.params}
    name = str(command.name)
    picked = rng.sample(list(params), min(len(params), rng.choice([0, 1, 1, 2, 2, 3, 4])))
    if rng.random() < 0.05:
        return [params[p] for p in picked]
    sources = [["models"], ["--preset"], ["--config"], SIZES_ALONE]
    first = rng.choices(sources, [7, 1, 1, 1])[0] if "models" in params else []
    first = [*first, *(p for p in params if params[p].required)]
    for one in picked:
        heading = getattr(params[one], "heading", "")
        owners = [BELONGS.get(key) for key in (one, f"{name} {one}", f"{name} {heading}")]
        first += [owner for owner in owners if owner in params]
    first += [rng.choice(NEEDED[name])] if name in NEEDED else []
    kept: list[str] = []
    for one in dict.fromkeys([*first, *picked]):
        if one in params and not any(contradict(one, other) for other in kept):
            kept.append(one)
    return [params[p] for p in kept]


def contradict(one: str, other: str) -> bool:
    """Whether two parameters stand on different sides of a row of ``APART``."""
    pairs = (pair for row in APART for pair in permutations(row, 2))
    return any(one in side and other in another for side, another in pairs)


def test_command_lines(run: Run, tmp_path: Path) -> None:
    """Lines of every command, with likely values and with nonsense: done, false, or refused.

    The attack must get beyond the refusals: each command has done something, and has told
    something on a tenth of its lines at least. Nor may the nonsense be lost.
    """
    rng = random.Random(3)
    config = tmp_path / "config.json"
    config.write_text(json.dumps(BASE))
    (tmp_path / "checks.toml").write_text('[[check]]\npreset = "base"\nat_most = "12M"\n')
    checkpoints = [str(HEADER.parent.parent / name) for name in CHECKPOINTS]
    files = {
        "--config": [str(tmp_path), str(config), "-"],
        "--checks": [str(tmp_path / "checks.toml")],
        "--save": [str(tmp_path / "saved.txt"), str(tmp_path / "saved.html")],
        "path": checkpoints,
    }
    context = click.Context(main)
    tried: dict[str, list[int]] = {name: [] for name in NAMES}
    nonsense: set[str] = set()
    for name, _ in zip(cycle(NAMES), range(TRIES), strict=False):
        command = main.get_command(context, name)
        assert command is not None
        params = chosen(command, rng)
        rng.shuffle(params)
        args = [word for param in params for word in words(param, rng, files)]
        result, seconds = timed(run, name, *args, input=rng.choice(["", json.dumps(BASE)]))
        line = [name, *args]
        is_sound(result, seconds, line, partial=name in ("check", "cost"))
        if result.exit_code == 1:
            assert name in ("check", "verify", "reproduce", "solve", "cost"), line
        if result.exit_code == 0:
            assert result.stdout or "--save" in args, line
        tried[name].append(result.exit_code)
        nonsense.update(word for word in args if word in NONSENSE)
    if TRIES >= 250:
        told = {name: len(codes) - codes.count(2) for name, codes in tried.items()}
        assert [n for n, c in tried.items() if 0 not in c or told[n] < len(c) / 10] == [], tried
        assert len(nonsense) > len(NONSENSE) / 2, nonsense


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
