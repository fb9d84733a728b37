"""Wheel, source distribution, editable install and bare checkout all find the presets."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from support import ROOT

PRESETS = len(list((ROOT / "configs").glob("*.json")))


def run_from(folder: Path, *path: Path) -> str:
    """What ``presets -f csv`` prints in *folder*, with *path* searched before all else."""
    done = subprocess.run(
        [sys.executable, "-m", "albert_calc", "presets", "-f", "csv"],
        cwd=folder, capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path))},
    )  # fmt: skip
    return done.stdout


def test_this_install_finds_the_presets(tmp_path: Path) -> None:
    """The install that runs the tests, editable in CI, lists every file of configs/."""
    assert len(run_from(tmp_path).splitlines()) == 1 + PRESETS


def test_a_bare_checkout_finds_the_presets(tmp_path: Path) -> None:
    """Without any install, the package finds the checkout's own files."""
    assert len(run_from(tmp_path, ROOT).splitlines()) == 1 + PRESETS


@pytest.mark.slow
def test_a_wheel_built_from_the_source_distribution(tmp_path: Path) -> None:
    """The wheel made from the sdist holds the package, the presets and nothing else."""
    subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", tmp_path, ROOT],
        capture_output=True, check=True,
    )  # fmt: skip
    (wheel,) = tmp_path.glob("*.whl")
    assert list(tmp_path.glob("*.tar.gz"))
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        archive.extractall(tmp_path / "site")
    tops = {n.split("/")[0] for n in names}
    assert {t for t in tops if not t.endswith(".dist-info")} == {"albert_calc"}
    assert sum(n.startswith("albert_calc/configs/") for n in names) == PRESETS
    assert "albert_calc/py.typed" in names
    listed = run_from(tmp_path, tmp_path / "site")
    assert len(listed.splitlines()) == 1 + PRESETS
    code = "import albert_calc; print(albert_calc.__file__)"
    where = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONPATH": str(tmp_path / "site")},
    )  # fmt: skip
    assert where.stdout.startswith(str(tmp_path))
