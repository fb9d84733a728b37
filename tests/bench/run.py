"""Speed and memory as ratios, each pair measured in turns in one run.

Run with ``python tests/bench/run.py`` in an environment that has albert-calc installed;
``--rounds N`` sets how often each side is run (median of at least 11). Nothing here is
part of the test run: machines are noisy, and only ratios of one run mean anything.
"""

import argparse
import json
import os
import pickletools
import statistics
import struct
import subprocess
import sys
import tempfile
import time
import timeit
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from albert_calc import ModelConfig, count_parameters
from albert_calc.checkpoints.files import read_checkpoint
from albert_calc.checkpoints.stored import LARGEST_PICKLE
from albert_calc.errors import CheckpointError

# What the tests use lies beside them.
sys.path.append(str(Path(__file__).parent.parent))
from pickled import BOMBS, old_format

PYTHON = sys.executable
CALC = [str(Path(PYTHON).with_name("albert-calc"))]
IMPORT_CLICK = [PYTHON, "-c", "import click"]
SMALL_TABLE = [
    PYTHON,
    "-c",
    "import click\n"
    "from rich.console import Console\n"
    "from rich.table import Table\n"
    "table = Table('a', 'b')\n"
    "table.add_row('1', '2')\n"
    "table.add_row('3', '4')\n"
    "Console().print(table)\n",
]
META_MODEL = [
    PYTHON,
    "-c",
    "import torch, transformers\n"
    "with torch.device('meta'):\n"
    "    model = transformers.AlbertModel(transformers.AlbertConfig(hidden_size=768,"
    " num_attention_heads=12, intermediate_size=3072))\n"
    "print(sum(p.numel() for p in model.parameters()))\n",
]


def seconds(command: list[str]) -> float:
    """How long one run of *command* takes."""
    start = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


def alternating(first: list[str], second: list[str], rounds: int) -> tuple[float, float]:
    """The medians of both commands, run in turns."""
    times = [(seconds(first), seconds(second)) for _ in range(rounds)]
    return statistics.median(t[0] for t in times), statistics.median(t[1] for t in times)


def report(what: str, found: float, bound: float, detail: str) -> None:
    """One line: what was measured, its bound, and whether it holds."""
    verdict = "ok" if found <= bound else "MISSED"
    print(f"{verdict:6}  {found:8.3f}  (at most {bound:5.2f})  {what}: {detail}", flush=True)


def processes(rounds: int) -> None:
    """Whole commands against processes that only import what the command needs."""
    for what, command, floor, bound in (
        ("compare as a table / a 2×2 table", "compare xxlarge", SMALL_TABLE, 1.10),
        ("count as JSON / import click", "count albert-base-v2 -f json", IMPORT_CLICK, 1.15),
        ("count --total / import click", "count albert-base-v2 --total", IMPORT_CLICK, 1.15),
    ):
        ours, theirs = alternating([*CALC, *command.split()], floor, rounds)
        report(what, ours / theirs, bound, f"{ours * 1e3:.1f} ms / {theirs * 1e3:.1f} ms")


def in_process() -> None:
    """A count against the same total as one expression, and a deep model against a shallow."""
    config = ModelConfig(30_000, 768, 12, 3072)
    v, e, h, i, p, t, g, n = 30_000, 128, 768, 3072, 512, 2, 1, 1

    def inline() -> int:
        return (
            v * e + p * e + t * e + 2 * e + e * h + h
            + g * n * (4 * (h * h + h) + 2 * h + 2 * h * i + i + h + 2 * h) + h * h + h
        )  # fmt: skip

    assert inline() == count_parameters(config).total
    ours, theirs = medians(lambda: count_parameters(config).total, inline)
    detail = f"{ours * 1e6:.2f} µs / {theirs * 1e6:.2f} µs"
    report("count_parameters / one expression", ours / theirs, 8, detail)
    for share in ("all", "none"):
        deep, shallow = (
            ModelConfig(30_000, 768, layers, 3072, share=share) for layers in (10**9, 12)
        )
        ours, theirs = medians(partial(total, deep), partial(total, shallow))
        detail = f"{ours * 1e6:.2f} µs / {theirs * 1e6:.2f} µs"
        report(f"L = 10^9 / L = 12, share {share}", ours / theirs, 1.05, detail)


def total(config: ModelConfig) -> int:
    """The count of *config*."""
    return count_parameters(config).total


def medians(first: Callable[[], object], second: Callable[[], object]) -> tuple[float, float]:
    """The medians of both functions' times for one call, measured in turns."""
    number = 20_000
    times = [
        (timeit.timeit(first, number=number), timeit.timeit(second, number=number))
        for _ in range(15)
    ]
    return (
        statistics.median(t[0] for t in times) / number,
        statistics.median(t[1] for t in times) / number,
    )


def peak_memory(command: list[str]) -> tuple[int, float]:
    """The largest resident set of *command* in KiB, and its time in seconds."""
    start = time.perf_counter()
    child = os.fork()
    if child == 0:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        os.execv(command[0], command)
    _, _, usage = os.wait4(child, 0)
    return usage.ru_maxrss, time.perf_counter() - start


def sweep() -> None:
    """A sweep of a million rows against one of a thousand."""
    ranges = ["-E", "1:100", "-H", "8:800:8", "-L", "1:100"]
    command = [*CALC, "sweep", "-V", "30000", *ranges, "-f", "csv"]
    small = [*CALC, "sweep", "-V", "30000", "-E", "1:10", "-H", "8:80:8", "-L", "1:10", "-f", "csv"]
    large_memory, large_time = peak_memory(command)
    small_memory, small_time = peak_memory(small)
    rate = 10**6 / (large_time - small_time)
    detail = f"{large_memory / 1024:.1f} MiB / {small_memory / 1024:.1f} MiB"
    report("sweep, peak memory of 10^6 / 10^3 rows", large_memory / small_memory, 1.1, detail)
    report("sweep, 100,000 rows a second / ours", 1e5 / rate, 1, f"{rate:,.0f} rows a second")


PLAIN_LOOP = """
import sys
write = sys.stdout.write
write("embedding_size,hidden_size,total\\n")
v, p, t = 30000, 512, 2
for e in range(1, 1001):
    for h in range(1, 1001):
        i = 4 * h
        total = (
            v * e + p * e + t * e + 2 * e + e * h + h
            + 4 * (h * h + h) + 2 * h + 2 * h * i + i + h + 2 * h + h * h + h
        )
        write(f"{e},{h},{total}\\n")
"""


def sweep_against_a_loop() -> None:
    """A million rows over E and H against a loop with the formula written out."""
    ranges = ["-E", "1:1000", "-H", "1:1000", "-L", "12", "-f", "csv"]
    commands = [[*CALC, "sweep", "-V", "30000", *ranges], [PYTHON, "-c", PLAIN_LOOP]]
    texts = [subprocess.run(c, capture_output=True, check=True).stdout for c in commands]
    assert texts[0] == texts[1]
    ours, theirs = alternating(commands[0], commands[1], 5)
    report("sweep / a plain loop", ours / theirs, 2, f"{ours:.2f} s / {theirs:.2f} s")


def verify(rounds: int) -> None:
    """A header in a sparse file of 20 GB against the same header in a small file."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / name for name in ("large", "small")]
        for path, vocabulary in zip(paths, (10**7, 10), strict=True):
            path.mkdir()
            config = {"model_type": "bert", "vocab_size": vocabulary, "hidden_size": 512,
                      "num_hidden_layers": 1, "intermediate_size": 4, "num_labels": 2,
                      "max_position_embeddings": 4, "type_vocab_size": 2}  # fmt: skip
            (path / "config.json").write_text(json.dumps(config))
            write_sparse(path / "model.safetensors", config)
        commands = [[*CALC, "verify", str(p), "-f", "json"] for p in paths]
        ours, theirs = alternating(commands[0], commands[1], rounds)
        size = (paths[0] / "model.safetensors").stat().st_size
        detail = f"{size / 1e9:.1f} GB: {ours * 1e3:.1f} ms / {theirs * 1e3:.1f} ms"
        report("verify, a sparse file / a small one", ours / theirs, 1.1, detail)


def hostile_pickles() -> None:
    """The slowest refusal of a pickle of 8 MiB against going through it step by step."""
    slowest = (0.0, 0.0, "")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pytorch_model.bin"
        for name, bomb in BOMBS.items():
            body = bomb(LARGEST_PICKLE - 1000)
            path.write_bytes(old_format(body))
            start = time.perf_counter()
            try:
                read_checkpoint(path)
            except CheckpointError:
                slowest = max(slowest, (time.perf_counter() - start, len(body), name))
    start = time.perf_counter()
    for _ in pickletools.genops(BOMBS["steps"](LARGEST_PICKLE - 1000) + b"."):
        pass
    through = time.perf_counter() - start
    detail = f"{slowest[2]}, {slowest[0]:.2f} s / {through:.2f} s"
    report("a hostile pickle / pickletools.genops", slowest[0] / through, 1, detail)


def write_sparse(path: Path, sizes: dict[str, object]) -> None:
    """A checkpoint of *sizes* whose data is a hole in the file."""
    from albert_calc.counting.tensors import tensor_table, variant_of

    config = ModelConfig.from_dict(sizes)
    header: dict[str, object] = {}
    offset = 0
    for tensor in tensor_table(variant_of(config, "model", "transformers")):
        shape: list[Any] = [config.symbols[d] if isinstance(d, str) else d for d in tensor.shape]
        count = 4
        for size in shape:
            count *= size
        name = tensor.name.format(0)
        header[name] = {
            "dtype": "F32", "shape": shape, "data_offsets": [offset, offset + count],
        }  # fmt: skip
        offset += count
    text = json.dumps(header).encode()
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        file.truncate(8 + len(text) + offset)


def meta_device(rounds: int) -> None:
    """The same count through the real class on the meta device, where that is installed."""
    found = subprocess.run(
        [PYTHON, "-c", "import torch, transformers"], capture_output=True, check=False
    )
    if found.returncode:
        print("        transformers with torch is not installed: no comparison with a real model")
        return
    ours, theirs = alternating(
        [*CALC, "count", "--preset", "albert-base-v2", "--total"], META_MODEL, min(rounds, 3)
    )
    print(f"        a model on the meta device takes {theirs:.2f} s, count --total {ours:.2f} s")


def main() -> None:
    """Measure everything and print a line each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15, help="runs of each side (at least 11)")
    rounds = max(11, parser.parse_args().rounds)
    # As installed: with compiled modules, which an editable install makes on its first run.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    for command in ("compare", "count base -f json", "sweep -h", "verify -h"):
        seconds([*CALC, *command.split()])
    processes(rounds)
    in_process()
    sweep()
    sweep_against_a_loop()
    verify(rounds)
    hostile_pickles()
    meta_device(rounds)


if __name__ == "__main__":
    main()
