"""The program as a process: pipes, terminals, encodings, full disks, interrupts."""

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from support import BASE

from albert_calc.cli import NAMES, main

CALC = [sys.executable, "-m", "albert_calc"]
# Buffered, as users run it: an error may then come only when the buffer is written.
os.environ.pop("PYTHONUNBUFFERED", None)
MILLION = ["sweep", "-V", "30000", "-E", "1:100", "-H", "8:800:8", "-L", "1:100", "-f", "csv"]
LINES = [
    "compare",
    "compare base --chart",
    "layers -H 768 -L 12 --diagram",
    "count albert-base-v2",
    "explain base -f latex",
    "explain base",
    "reproduce handbook",
    "presets -f markdown",
    "cost base",
    "sweep base -E 64,128",
    "solve base --budget 12M --vary vocab-size",
    "check base --at-most 12M",
    "embedding -V 30522 -E 128 -H 768",
    "infer tests/data/checkpoints/albert-pretraining",
    "verify tests/data/checkpoints/albert-pretraining",
]
ROOT = Path(__file__).parent.parent


def process(
    args: list[str] | str, python: tuple[str, ...] = (), **environment: str
) -> subprocess.CompletedProcess[bytes]:
    """One run in a process of its own."""
    words = args.split() if isinstance(args, str) else args
    return subprocess.run(
        [sys.executable, *python, "-m", "albert_calc", *words], cwd=ROOT, check=False,
        capture_output=True, env={**os.environ, **environment},
    )  # fmt: skip


def said(stderr: str) -> list[str]:
    """What stands on standard error, apart from notes on what was assumed."""
    return [line for line in stderr.splitlines() if line and not line.startswith("note: ")]


def test_every_command_is_tried() -> None:
    """The lines below call each command at least once."""
    assert {line.split()[0] for line in LINES} == set(NAMES)


@pytest.mark.parametrize("line", LINES)
def test_a_hostile_environment(line: str) -> None:
    """Strict warnings, -O, an ASCII output and a home that may not be written: all work."""
    done = process(
        line, ("-O", "-W", "error"), PYTHONIOENCODING="ascii", LC_ALL="C", HOME="/nonexistent",
        PYTHONUTF8="0",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    text = done.stdout.decode("ascii")
    assert text
    assert not re.search(r"\\[ux][0-9a-f]", text)
    assert b"Traceback" not in done.stderr
    assert b"\x1b" not in done.stdout


def test_ascii_spells_signs_out() -> None:
    """× becomes x and ² becomes ^2 where the output cannot hold them."""
    text = process("count base", PYTHONIOENCODING="ascii").stdout.decode()
    assert "V x E" in text
    assert "4 x H^2" in text


@pytest.mark.parametrize("line", ["presets", "explain base", "-h", "sweep -h", " ".join(MILLION)])
def test_a_closed_pipe_is_no_error(line: str) -> None:
    """A reader that stops early gets its lines; the status stays 0 and stderr empty."""
    command = " ".join([*CALC, line])
    script = f"{command} | head -1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)
    first, status = done.stdout.splitlines()
    assert first
    assert status == "0"
    assert said(done.stderr) == []


@pytest.mark.parametrize("line", ["-h", "count -h", "--version", "presets", " ".join(MILLION)])
def test_a_reader_that_was_never_there(line: str) -> None:
    """A pipe whose other end is closed from the start is no error either."""
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [*CALC, *line.split()], stdout=writing, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(writing)
    assert done.returncode == 0
    assert said(done.stderr) == []


@pytest.mark.parametrize(
    "line",
    ["presets", "count base --total", "compare", "-h", "sweep -h", "--version",
     " ".join(MILLION)],
)  # fmt: skip
def test_a_full_disk(line: str) -> None:
    """A result that cannot be written is said in one line, with status 2."""
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*CALC, *line.split()], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 2
    assert said(done.stderr) == ["error: cannot write the result: No space left on device"]


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_disk_that_is_nearly_full(unbuffered: str, tmp_path: Path) -> None:
    """What does not fit is an error, also where Python writes without a buffer."""
    script = f"ulimit -f 1; {' '.join(CALC)} compare -f json > {tmp_path}/out"
    done = subprocess.run(
        ["bash", "-c", f"trap '' XFSZ; {script}"], capture_output=True, text=True, check=False,
        cwd=ROOT, env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
    )  # fmt: skip
    assert done.returncode == 2
    assert said(done.stderr) == ["error: cannot write the result: File too large"]


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_an_output_that_does_not_block(unbuffered: str) -> None:
    """A reader that is slow on a pipe that does not block gets every row."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    line = "sweep -V 30000 -E 1:100 -H 8:800:8 -L 12 -f csv"
    running = subprocess.Popen(
        [*CALC, *line.split()], stdout=writing, stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
    )  # fmt: skip
    os.close(writing)
    time.sleep(0.3)
    found = b""
    while chunk := os.read(reading, 100_000):
        found += chunk
    os.close(reading)
    assert running.wait(timeout=20) == 0
    assert found.count(b"\n") == 1 + 100 * 100


@pytest.mark.parametrize("line", ["count --nope", "count nope", "count -V 100"])
@pytest.mark.parametrize("errors", ["2>/dev/full", "2>&-"])
def test_errors_that_nobody_can_read(line: str, errors: str) -> None:
    """The status is 2 whatever becomes of standard error."""
    script = f"{' '.join([*CALC, line])} {errors}"
    done = subprocess.run(["bash", "-c", script], capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (2, b"")


def test_a_long_sweep_without_a_standard_error() -> None:
    """A progress bar that has nowhere to go does no harm."""
    script = f"{' '.join(CALC)} sweep -V 1:200000 -E 8 -H 8 -L 2 -f csv 2>&- | tail -1"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)
    assert done.stdout.startswith("200000,")


def test_help_on_a_full_disk() -> None:
    """Nothing at all on the line prints help, and says where that cannot be."""
    if not os.path.exists("/dev/full"):
        pytest.skip("needs a device that is full")
    for words in ("", "-h", "help"):
        script = f"{' '.join(CALC)} {words} >/dev/full"
        done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert said(done.stderr) == ["error: cannot write the result: No space left on device"]


def test_a_closed_output() -> None:
    """Without a standard output there is a message, without a standard error just the status."""
    script = " ".join([*CALC, "count base"])
    closed = subprocess.run(
        ["bash", "-c", f"{script} >&-"], capture_output=True, text=True, check=False
    )
    assert closed.returncode == 2
    assert said(closed.stderr) == ["error: cannot write the result: standard output is closed"]
    script = " ".join([*CALC, "count nope"])
    mute = subprocess.run(["bash", "-c", f"{script} 2>&-"], capture_output=True, check=False)
    assert (mute.returncode, mute.stdout) == (2, b"")


def test_an_interrupt_in_a_sweep() -> None:
    """Ctrl-C ends a sweep with a word and the status that shells expect."""
    running = subprocess.Popen(
        [*CALC, *MILLION[:-4], "-L", "1:100000", "-f", "csv"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert running.stdout is not None
    assert running.stdout.readline()
    running.send_signal(signal.SIGINT)
    _, errors = running.communicate(timeout=20)
    assert running.returncode == 130
    assert said(errors.decode()) == ["error: interrupted"]


@pytest.mark.parametrize(
    "failure", ["KeyboardInterrupt()", "RuntimeError('wrapped') from KeyboardInterrupt()"]
)
def test_an_interrupt_before_the_command_line_is_there(failure: str) -> None:
    """An interrupt while modules are loaded ends with 130, also where Python 3.11 wraps it."""
    code = (
        "import albert_calc.__main__ as program, albert_calc.cli as cli\n"
        "def main():\n"
        f"    raise {failure}\n"
        "cli.main = main\n"
        "program.run()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")


def test_another_error_before_the_command_line_is_not_swallowed() -> None:
    """A RuntimeError that is no interrupt stays what it is."""
    code = (
        "import albert_calc.__main__ as program, albert_calc.cli as cli\n"
        "def main():\n"
        "    raise RuntimeError('broken')\n"
        "cli.main = main\n"
        "program.run()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert done.returncode == 1
    assert b"RuntimeError: broken" in done.stderr


def test_an_early_interrupt() -> None:
    """Ctrl-C at any moment of a short run leaves no traceback of this package, and 130 or 0."""
    wrong = []
    for delay in range(30, 140, 10):
        running = subprocess.Popen(
            [*CALC, "compare"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        time.sleep(delay / 1000)
        running.send_signal(signal.SIGINT)
        _, errors = running.communicate(timeout=20)
        # Python itself may be interrupted before it has begun with this program.
        ours = "albert_calc" in errors.decode().replace("-m albert_calc", "")
        if ours or running.returncode not in (0, 130, 1, -signal.SIGINT):
            wrong.append((delay, running.returncode, errors.decode()))
    assert wrong == []


@pytest.mark.parametrize("encoding", ["cp850", "cp949", "latin-1", "utf-16", "koi8-r"])
@pytest.mark.parametrize(
    ("line", "status"),
    [("presets", 0), ("compare base --chart", 0), ("layers -H 8 -L 2 --diagram", 0),
     ("verify tests/data/checkpoints/albert-pretraining --vocab-size 101", 1)],
)  # fmt: skip
def test_encodings(line: str, status: int, encoding: str) -> None:
    """Signs that an encoding lacks are spelled out, whichever it lacks."""
    done = CliRunner(charset=encoding).invoke(main, line.split())
    assert done.exit_code == status, done.stderr
    # Decoding takes one byte-order mark away, and leaves those in the middle of the text.
    assert "\ufeff" not in done.stdout_bytes.decode(encoding)


def test_one_mark_at_the_start_of_many_pieces() -> None:
    """Rows are written as they come, and are one text all the same."""
    done = process("sweep base -V 1:3000 -f csv", PYTHONIOENCODING="utf-16")
    text = done.stdout.decode("utf-16")
    assert ("\ufeff" in text, len(text.splitlines())) == (False, 3001)


def test_names_that_an_encoding_lacks(tmp_path: Path) -> None:
    """A file name with letters that the output cannot hold is escaped."""
    path = tmp_path / "配置.json"
    path.write_bytes((ROOT / "configs" / "base.json").read_bytes())
    for style in ("table", "json", "markdown"):
        line = ["count", "--config", str(path), "-f", style]
        done = process(line, PYTHONIOENCODING="cp850")
        assert done.returncode == 0
        assert "\\u914d" in done.stdout.decode("cp850")


INPUTS = {
    "<&-": "closed",
    "0>/dev/null": "cannot be read: ",
}
"""Standard inputs that hold no config."""


@pytest.mark.parametrize("redirection", INPUTS)
def test_an_input_that_cannot_be_read(redirection: str) -> None:
    """A config from a standard input that is closed, or open for writing alone, is refused."""
    for words in ("count --config -", "count -", "check - --at-most 1"):
        script = " ".join([*CALC, words, redirection])
        done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (2, "")
        assert f"standard input: {INPUTS[redirection]}" in done.stderr


def test_an_input_that_does_not_wait() -> None:
    """Where nothing is there yet and reading does not wait, that is what is said."""
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    done = subprocess.run(
        [*CALC, "count", "-"], stdin=reader, capture_output=True, text=True, check=False
    )
    os.close(reader)
    os.close(writer)
    assert (done.returncode, done.stdout) == (2, "")
    assert said(done.stderr) == [
        "error: standard input: nothing to read yet, and it does not wait for more"
    ]


@pytest.mark.parametrize("columns", ["²", "9" * 5000, "99999999", "0", "-5", "x"])
def test_odd_columns(columns: str) -> None:
    """A COLUMNS that is no width of a terminal does no harm."""
    assert "125.0M" in on_terminal("compare xxlarge --chart", 0, COLUMNS=columns)


def on_terminal(line: str, columns: int, **environment: str) -> str:
    """What *line* shows on a terminal of that width."""
    parent, child = pty.openpty()
    clean = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR")}
    running = subprocess.Popen(
        [*CALC, *line.split()], stdout=child, stderr=subprocess.DEVNULL, stdin=child, cwd=ROOT,
        env={**clean, "COLUMNS": str(columns), "TERM": "xterm-256color", **environment},
    )  # fmt: skip
    os.close(child)
    output = b""
    end = time.monotonic() + 20
    while time.monotonic() < end:
        if select.select([parent], [], [], 0.1)[0]:
            try:
                chunk = os.read(parent, 65536)
            except OSError:
                break
            if not chunk:
                break
            output += chunk
        elif running.poll() is not None:
            break
    running.wait(timeout=20)
    os.close(parent)
    return output.decode().replace("\r\n", "\n")


@pytest.mark.parametrize("columns", [40, 80, 160])
def test_a_terminal(columns: int) -> None:
    """On a terminal tables are in colour, fit its width, and lose no digit."""
    shown = on_terminal("compare xxlarge", columns)
    assert "\x1b[" in shown
    plain = re.sub(r"\x1b\[[0-9;]*m", "", shown)
    assert max(len(line) for line in plain.splitlines()) <= columns
    for number in ("125,018,112", "4,431,104", "2,560,471,040", "222,662,400"):
        assert number in plain


@pytest.mark.parametrize("environment", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_a_terminal_without_colour(environment: dict[str, str]) -> None:
    """NO_COLOR and TERM=dumb leave no colour in the output."""
    shown = on_terminal("compare xxlarge", 80, **environment)
    assert "125,018,112" in shown
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]", shown)


def test_colour_may_be_forced() -> None:
    """FORCE_COLOR puts colour into a pipe, but only into a table."""
    assert b"\x1b[" in process("compare", FORCE_COLOR="1").stdout
    assert b"\x1b[" not in process("compare -f csv", FORCE_COLOR="1").stdout


def test_a_short_option_may_be_a_value(tmp_path: Path) -> None:
    """A file that is called like an option is read where a file is asked for, and after --."""
    (tmp_path / "-f").write_text(json.dumps(BASE))
    for line in ("count --config -f -f csv", "compare -f csv -- base -f"):
        done = subprocess.run(
            [*CALC, *line.split()], capture_output=True, text=True, check=False, cwd=tmp_path
        )
        assert done.returncode == 0, (line, done.stderr)
        assert ",3840000," in done.stdout
