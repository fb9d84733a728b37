"""What all tests share: running the command line, golden files, and no cache of anybody's."""

import gc
import os
import signal
from collections.abc import Callable

import pytest
from click.testing import CliRunner, Result
from support import GOLDEN

from albert_calc.cli import main

Run = Callable[..., Result]

# A shell has what it starts in the background ignore interrupts, and so would every process
# that a test starts in order to interrupt it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    """Spare the garbage collector what stays: it takes a twentieth of the tests' time."""
    gc.freeze()
    gc.set_threshold(100_000)


@pytest.fixture
def run() -> Run:
    """Run a command line in this process: stdout, stderr and the exit code apart."""

    def invoke(
        *args: object, input: str | bytes | None = None, env: dict[str, str] | None = None
    ) -> Result:
        return CliRunner().invoke(main, [str(a) for a in args], input=input, env=env)

    return invoke


@pytest.fixture
def golden() -> Callable[[str, str], None]:
    """Compare a text with a golden file; ``ALBERT_CALC_REGENERATE=1`` rewrites the file."""

    def check(name: str, text: str) -> None:
        path = GOLDEN / name
        if os.environ.get("ALBERT_CALC_REGENERATE") == "1":
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert text == path.read_text(encoding="utf-8")

    return check


@pytest.fixture(autouse=True)
def surroundings(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """No test sees the Hugging Face cache, the colours or the CI of whoever runs it."""
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path_factory.getbasetemp() / "empty-cache"))
    for name in ("HF_HOME", "NO_COLOR", "FORCE_COLOR", "COLUMNS", "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(name, raising=False)
