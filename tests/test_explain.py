"""``explain``: every printed formula is evaluated again."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from conftest import Run
from support import oracle

from albert_calc import ModelConfig
from albert_calc.explanation import derivation
from albert_calc.render.latex import render_derivation

SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")


def evaluated(formula: str, values: dict[str, int]) -> int:
    """The value of a printed formula, by Python's own arithmetic."""
    code = re.sub("[⁰¹²³⁴⁵⁶⁷⁸⁹]+", lambda m: "**" + m[0].translate(SUPERSCRIPTS), formula)
    assert re.fullmatch(r"[A-Z0-9×+*(),\s]+", code)
    result = eval(code.replace("×", "*").replace(",", ""), {}, values)
    assert isinstance(result, int)
    return result


@pytest.mark.parametrize(
    "case", oracle("counts")["cases"], ids=lambda c: f"{c['case']}-{c['head']}"
)
def test_formulas_evaluate_to_their_values(case: dict[str, Any]) -> None:
    """Symbols and numbers of every step give its value, and the total that of the real class."""
    config = ModelConfig.from_dict(case["config"])
    steps, total = derivation(config, case["head"], "transformers")
    for step in [*steps, total]:
        assert evaluated(step.formula(), dict(config.symbols)) == step.parameters
        assert evaluated(step.numbers(), {}) == step.parameters
    assert total.parameters == case["total"] == sum(s.parameters for s in steps)


@pytest.mark.parametrize("layout", ["handbook", "paper"])
@pytest.mark.parametrize("share", ["all", "attention", "ffn", "none"])
def test_formulas_of_other_layouts(layout: str, share: str) -> None:
    """The formulas of the other layouts and ways of sharing evaluate as well."""
    config = ModelConfig.from_dict(ModelConfig.from_preset("base").to_dict(), share)
    steps, total = derivation(config, "model", layout)
    assert evaluated(total.numbers(), {}) == total.parameters == sum(s.parameters for s in steps)


def test_like_terms_are_collected() -> None:
    """No product of symbols stands twice in the total."""
    _, total = derivation(ModelConfig.from_preset("base"), "pretraining", "transformers")
    products = [re.sub(r"^\d+ × ", "", t) for t in total.formula().split(" + ")]
    assert len(products) == len(set(products))
    assert total.formula().startswith("V × E + P × E + T × E + 5 × E + 2 × E × H")


def test_formats(run: Run) -> None:
    """Table, Markdown and JSON show the same formulas and values."""
    args = ("explain", "--preset", "albert-base-v2", "-f")
    data = json.loads(run(*args, "json").stdout)
    assert data["total"]["parameters"] == 11_683_584
    table, markdown = run(*args, "table").stdout, run(*args, "markdown").stdout
    for step in data["components"]:
        for text in (step["formula"], "= " + step["numbers"], f"{step['parameters']:,}"):
            assert text in table
            assert text in markdown
    assert run(*args, "csv").exit_code == 2


def latex() -> str:
    """The longest derivation: untied pretraining, as a whole document."""
    config = ModelConfig.from_dict(
        {**ModelConfig.from_preset("base").to_dict(), "tie_word_embeddings": False}
    )
    steps, total = derivation(config, "pretraining", "transformers")
    body = render_derivation("evil\nname \\input{x} × %", [*steps, total])
    head = "\\documentclass{article}\n\\usepackage{amsmath}\n\\begin{document}\n"
    return f"{head}{body}\\end{{document}}\n"


def test_latex_is_plain() -> None:
    """The LaTeX is ASCII, balanced, uses amsmath's own commands, and quotes names in a comment."""
    text = latex()
    comment, *lines = text.splitlines()[3:]
    assert comment.startswith("% evil")
    body = "\n".join(lines)
    assert text.isascii()
    assert body.count("{") == body.count("}")
    assert body.count("\\left(") == body.count("\\right)")
    known = {"text", "cdot", "left", "right", "quad", "begin", "end"}
    assert set(re.findall(r"\\([a-z]+)", body)) == known


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs a TeX installation")
def test_latex_compiles(tmp_path: Path) -> None:
    """A plain article with amsmath takes it, without an overfull line."""
    (tmp_path / "x.tex").write_text(latex())
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "x.tex"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    assert "Overfull" not in done.stdout
