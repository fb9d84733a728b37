"""Files that are written: whole or not at all, and no more readable than they were."""

import errno
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import Run

from albert_calc.render import figure

SAVE = ("compare", "--chart", "--save")


def test_mode_of_a_replaced_file(run: Run, tmp_path: Path) -> None:
    """A file that is replaced stays as private as it was."""
    path = tmp_path / "picture.txt"
    path.write_text("old")
    path.chmod(0o600)
    assert run(*SAVE, path).exit_code == 0
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.read_text(encoding="utf-8") != "old"


def test_mode_follows_the_umask(run: Run, tmp_path: Path) -> None:
    """A file that is made may be read by whom the umask lets read it."""
    for mask, mode in ((0o022, 0o644), (0o077, 0o600)):
        before = os.umask(mask)
        try:
            file = tmp_path / f"{mask}.txt"
            assert run(*SAVE, file).exit_code == 0
        finally:
            os.umask(before)
        assert stat.S_IMODE(file.stat().st_mode) == mode


def test_a_file_that_is_there_is_replaced(run: Run, tmp_path: Path) -> None:
    """Saving twice leaves the new picture alone; a link goes on pointing to it."""
    file, link = tmp_path / "a.txt", tmp_path / "link.txt"
    file.write_text("old" * 10_000)
    link.symlink_to("a.txt")
    assert run(*SAVE, link).exit_code == 0
    assert link.is_symlink()
    assert file.read_text(encoding="utf-8").startswith("Built BERT-style")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.txt", "link.txt"]


@pytest.mark.parametrize("target", ["gone/a.txt", "folder.txt", "pipe.txt", "file/a.txt", "null"])
def test_impossible_targets(target: str, run: Run, tmp_path: Path) -> None:
    """What cannot be written is refused in a line, and nothing is left behind."""
    (tmp_path / "folder.txt").mkdir()
    (tmp_path / "file").touch()
    os.mkfifo(tmp_path / "pipe.txt")
    before = sorted(tmp_path.rglob("*"))
    path = "a\0.txt" if target == "null" else str(tmp_path / target)
    result = run(*SAVE, path)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.count("\n") == result.stderr.count("error: ") == 1
    assert sorted(tmp_path.rglob("*")) == before


def test_read_only_targets(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A file that may not be written is not replaced, though its folder would allow it."""
    file = tmp_path / "a.txt"
    file.write_text("old")
    monkeypatch.setattr("os.access", lambda _, mode: mode != os.W_OK)
    result = run(*SAVE, file)
    assert result.exit_code == 2
    assert result.stderr.endswith("a.txt: cannot be written: Permission denied\n")
    assert file.read_text() == "old"


FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize(
    ("failure", "status", "message"),
    [(FULL, 2, "cannot be written: No space left"), (KeyboardInterrupt(), 130, "interrupted")],
)
@pytest.mark.parametrize("old", [None, "old"])
def test_a_failure_leaves_no_half_written_file(
    failure: BaseException, status: int, message: str, old: str | None,
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
) -> None:  # fmt: skip
    """A full disk or Ctrl-C half-way leaves what was there before, and no other file."""
    file = tmp_path / "a.txt"
    if old is not None:
        file.write_text(old)

    def fail(source: str, _: str) -> None:
        assert os.path.getsize(source) > 1_000
        raise failure

    monkeypatch.setattr("os.replace", fail)
    result = run(*SAVE, file)
    assert (result.exit_code, result.stdout) == (status, "")
    assert message in result.stderr
    assert [p.read_text() for p in tmp_path.iterdir()] == [old or ""] * (old is not None)


@pytest.mark.parametrize("name", ["a.jpg", "svg", "a.html.gz"])
def test_endings(name: str, run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An ending that says nothing is refused, and nothing is written."""
    monkeypatch.chdir(tmp_path)
    result = run(*SAVE, name)
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"save: must end in .svg, .png, .pdf, .html or .txt, got '{name}'" in result.stderr
    assert not list(tmp_path.iterdir())


def test_a_chart_of_more_bars_than_anybody_reads(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is refused for files that are drawn, and written where bars are text."""
    path = tmp_path / "models.png"
    assert figure._MOST_BARS == 500
    monkeypatch.setattr(figure, "_MOST_BARS", 5)
    for models, status in ((5, 0), (6, 2)):
        result = run("compare", *(["base"] * models), "--save", path)
        assert (result.exit_code, result.stdout) == (status, "")
    assert "a chart may have at most 5 bars, got 6" in result.stderr
    assert run("compare", *(["base"] * 6), "--save", tmp_path / "models.txt").exit_code == 0


def test_nothing_else_is_read_or_written(tmp_path: Path) -> None:
    """No settings of matplotlib in this directory are read, and no list of fonts is left."""
    (tmp_path / "matplotlibrc").write_text("no settings: [", encoding="utf-8")
    home = tmp_path / "home"
    home.mkdir()
    done = subprocess.run(
        [sys.executable, "-m", "albert_calc", "count", "base", "--save", "x.svg"],
        cwd=tmp_path, env={**os.environ, "HOME": str(home)}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "note: saved x.svg\n")
    assert list(home.iterdir()) == []
