"""Completion in the shell: what each shell is told, and what is refused in a line."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import Result
from conftest import Run


def completed(run: Run, shell: str, words: str, current: str | None) -> Result:
    """What *shell* is told, if the line is *words* and it says that *current* is completed."""
    there = {} if current is None else {"COMP_CWORD": current}
    variables = {"_ALBERT_CALC_COMPLETE": f"{shell}_complete", "COMP_WORDS": words}
    return run(env={**variables, **there})


def in_bash(run: Run, line: str) -> list[str]:
    """What bash is told of the last word of *line*."""
    return completed(run, "bash", f"albert-calc {line}", str(len(line.split()))).stdout.splitlines()


def test_a_variable_alone(run: Run) -> None:
    """The variable of the completion without those of the line is no internal error."""
    result = run(env={"_ALBERT_CALC_COMPLETE": "bash_complete"})
    assert (result.exit_code, result.stdout) == (2, "")
    assert "internal error" not in result.stderr


@pytest.mark.parametrize("asked", ["foo", "bash", "bash_foo", "_source", "BASH_SOURCE"])
def test_a_completion_that_is_none(run: Run, asked: str) -> None:
    """A value of the variable that click does not know is refused in a line."""
    result = run("count", "base", env={"_ALBERT_CALC_COMPLETE": asked})
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == (
        f"error: _ALBERT_CALC_COMPLETE: must be such as bash_source, got '{asked}'\n"
    )


COMPLETED = {
    "count albert-base-v": ["albert-base-v1", "albert-base-v2"],
    "count albert/albert-base": ["albert/albert-base-v1", "albert/albert-base-v2"],
    "count --preset albert-base-v": ["albert-base-v1", "albert-base-v2"],
    "count base --head masked": ["masked-lm"],
    "cost base --gpu a10": ["A10", "A10G", "A100-40GB", "A100-80GB"],
    "cost base --gpu RTX-20": ["RTX-2060", "RTX-2080-Ti"],
    "count base --lora-targets query,v": ["query,value", "query,value_proj"],
    "sweep base --columns hidden_size,forw": ["hidden_size,forward_flops"],
    "count configs/no-model": ["file:configs/no-model"],
    "count none.js": ["file:none.js"],
}
"""What stands before the cursor, and what the shell is told to put in its place."""


@pytest.mark.parametrize("line", COMPLETED)
def test_words(run: Run, line: str) -> None:
    """Names where there are any, else files: bash throws names away that stand beside files."""
    wanted = [w if w.startswith("file:") else f"plain:{w}" for w in COMPLETED[line]]
    assert sorted(in_bash(run, line)) == sorted(w.replace(":", ",", 1) for w in wanted)


def test_a_folder_of_an_owners_name(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the part before the slash is a folder that is there, files are meant."""
    (tmp_path / "albert").mkdir()
    monkeypatch.chdir(tmp_path)
    assert in_bash(run, "count albert/al") == ["file,albert/al"]


def test_in_bash_itself(tmp_path: Path) -> None:
    """The function that click gives to bash puts the names where bash looks for them."""
    program = tmp_path / "albert-calc"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m albert_calc "$@"\n')
    program.chmod(0o755)
    script = (
        'eval "$(_ALBERT_CALC_COMPLETE=bash_source albert-calc)"; '
        "COMP_WORDS=(albert-calc count albert-base-v); COMP_CWORD=2; "
        '_albert_calc_completion albert-calc; echo "${COMPREPLY[@]}"'
    )
    done = subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, check=False,
        env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
    )  # fmt: skip
    assert done.stdout == "albert-base-v1 albert-base-v2\n"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "powershell"])
def test_every_shell(run: Run, shell: str) -> None:
    """Each says in its own way what is completed: fish by the word, the others by its number."""
    for word in ("albert-base-v", ""):
        current = word if shell == "fish" else "2"
        result = completed(run, shell, f"albert-calc count {word}", current)
        assert (result.exit_code, result.stderr) == (0, "")
        assert "albert-base-v1" in result.stdout
        assert ("bert-base-uncased" in result.stdout) == (not word)


@pytest.mark.parametrize(
    ("shell", "current"),
    [
        *((shell, current) for shell in ("bash", "zsh", "powershell")
          for current in ("9" * 5000, "-1", "x", "", None)),
        ("fish", None), ("fish", " "), ("fish", "\t"),
    ],
)  # fmt: skip
def test_an_absurd_word(run: Run, shell: str, current: str | None) -> None:
    """A COMP_CWORD that is no place in a line, or no word, is refused like a missing one."""
    kind = "word" if shell == "fish" else "number"
    result = completed(run, shell, "albert-calc ", current)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == (
        f"error: completion: COMP_WORDS and the {kind} COMP_CWORD must be set\n"
    )


@pytest.mark.parametrize("current", ["'", '"', "\\", "albert-base-v'", "''", "#", "$(x)"])
def test_odd_words_in_fish(run: Run, current: str) -> None:
    """Quotes that stay open, signs and nothing at all are words like others."""
    result = completed(run, "fish", f"albert-calc count {current}", current)
    assert (result.exit_code, result.stderr) == (0, "")
