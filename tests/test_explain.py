"""``explain``: every printed formula is evaluated again."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from conftest import Run
from support import Faults, oracle

from albert_calc import ModelConfig
from albert_calc.algebra import LATEX
from albert_calc.counting.derivation import Step, derivation
from albert_calc.counting.tensors import Blueprint, blueprint
from albert_calc.families import family
from albert_calc.families.base import SHARES
from albert_calc.families.sizes import SIZES
from albert_calc.render.latex import render_derivation

SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")


def evaluated(formula: str, values: Mapping[str, int]) -> int:
    """The value of a printed formula, by Python's own arithmetic."""
    code = re.sub("[⁰¹²³⁴⁵⁶⁷⁸⁹]+", lambda m: "**" + m[0].translate(SUPERSCRIPTS), formula)
    assert re.fullmatch(r"[A-Za-z_0-9×+−*(),\s]+", code)
    result = eval(code.replace("×", "*").replace("−", "-").replace(",", ""), {}, dict(values))
    assert isinstance(result, int)
    return result


def models() -> Iterator[tuple[object, Blueprint, int | None]]:
    """Every shape and head of every family with the total of its class; then other layouts."""
    for case in oracle("counts")["cases"]:
        config = ModelConfig.from_dict(case["config"])
        name = (case["case"], case["head"])
        yield name, blueprint(config, case["head"], "transformers"), case["total"]
    for case in oracle("families")["cases"]:
        config = ModelConfig.from_dict(case["config"])
        for head, total in case["totals"].items():
            yield (case["case"], head), blueprint(config, head, "transformers"), total
    shape = ModelConfig.from_preset("base").to_dict()
    for layout in ("handbook", "paper"):
        for share in SHARES:
            model = blueprint(ModelConfig.from_dict(shape, share), "model", layout)
            yield (layout, share), model, None


def test_formulas_evaluate_to_their_values() -> None:
    """Symbols and numbers of every step give its value, and the total that of the real class."""
    faults = Faults()
    for name, model, wanted in models():
        steps, total = derivation(model)
        for step in [*steps, total]:
            where = (name, step.name)
            faults.expect(where, evaluated(step.formula(), model.values), step.parameters)
            faults.expect(where, evaluated(step.numbers(), {}), step.parameters)
        faults.expect(name, sum(s.parameters for s in steps), total.parameters)
        faults.expect(name, total.parameters, wanted or total.parameters)
    faults.none()


def test_every_symbol_has_a_meaning() -> None:
    """A symbol of a formula is a size, or follows from sizes, and the family says how."""
    faults = Faults()
    for name, model, _ in models():
        _, total = derivation(model)
        tables = family(model.variant.model_type)
        known = {s.symbol: s.meaning for s in (*SIZES, *tables.sizes)}
        known |= {d.symbol: d.meaning for d in tables.derived}
        symbols = total.parts[0].body.symbols
        faults.expect(name, {s for s in symbols if not known.get(s)}, set())
    faults.none()


def test_like_terms_are_collected() -> None:
    """No product of symbols stands twice in the total."""
    model = blueprint(ModelConfig.from_preset("base"), "pretraining", "transformers")
    _, total = derivation(model)
    products = [re.sub(r"^\d+ × ", "", t) for t in total.formula().split(" + ")]
    assert len(products) == len(set(products))
    assert total.formula().startswith("V × E + P × E + T × E + 5 × E + 2 × E × H")


FORMULAS: list[tuple[str, str, str, str]] = [
    ("albert-base-v2", "model", "attention", "G × N × (4 × H² + 6 × H)"),
    ("albert-base-v2", "masked-lm", "prediction_head", "E × H + 3 × E + V"),
    ("bert-base-uncased", "model", "feed_forward", "L × (2 × H × I + I + 3 × H)"),
    ("modernbert-base", "model", "attention", "(L − 1) × H + L × 4 × H²"),
    ("modernbert-base", "model", "feed_forward", "L × (H + 3 × H × I)"),
    ("deberta-v3-base", "model", "relative_positions", "2 × R × H + 2 × H"),
    ("nomic-embed-text-v1", "model", "attention", "L × (2 × H + 4 × A × D × H)"),
    ("mobilebert-uncased", "masked-lm", "output_embedding", "V × H − V × E"),
    ("rembert", "masked-lm", "output_embedding", "V × O"),
]
"""Formulas as they are read: a preset, a head, a component, and its formula."""


def test_formulas_read_as_the_family_is_built() -> None:
    """Layers that lack a tensor, stacked matrices and widths of their own are said as such."""
    faults = Faults()
    for preset, head, component, formula in FORMULAS:
        model = blueprint(ModelConfig.from_preset(preset), head, "transformers")
        steps = {step.name: step for step in derivation(model)[0]}
        faults.expect((preset, component), steps[component].formula(), formula)
    faults.none()


def test_formats(run: Run) -> None:
    """Table, Markdown and JSON show the same formulas and values."""
    faults = Faults()
    for model, total in (("albert-base-v2", 11_683_584), ("modernbert-base", 149_014_272)):
        args = ("explain", model, "-f")
        data = json.loads(run(*args, "json").stdout)
        faults.expect(model, data["total"]["parameters"], total)
        for name in ("table", "markdown"):
            text = run(*args, name).stdout
            for step in data["components"]:
                for part in (step["formula"], "= " + step["numbers"], f"{step['parameters']:,}"):
                    faults.expect((model, name, part), part in text, True)
        result = run(*args, "csv")
        faults.expect(model, (result.exit_code, result.stdout), (2, ""))
    faults.none()


def test_tensors_of_a_component(run: Run) -> None:
    """With --tensors every tensor is listed by its real name, shape and copies."""
    text = run("explain", "albert-base-v2", "--head", "masked-lm", "--tensors").stdout
    for part in ("albert.embeddings.word_embeddings.weight", "30000 × 128", "Tensors"):
        assert part in text.replace(",", "")
    assert "derivation" not in text
    plain = run("explain", "albert-base-v2").stdout
    assert "word_embeddings" not in plain


def test_activations_stand_alone(run: Run) -> None:
    """Only their table is printed, with what its symbols are; JSON has the derivation too."""
    args = ("explain", "bert-base-uncased", "--activations")
    text = run(*args).stdout
    data = json.loads(run(*args, "-f", "json").stdout)
    kept = sum(row["bytes"] for row in data["activations"])
    assert text.startswith(f"bert-base-uncased: {kept:,} bytes kept for the backward pass\n")
    assert "derivation" not in text
    assert "H = 768" in text
    assert data["total"]["parameters"] == 109_482_240
    sizes = {"B": 1, "S": 512, "H": 768, "I": 3072, "L": 12, "A": 12}
    for row in data["activations"]:
        assert evaluated(row["formula"], sizes) == row["bytes"]
    albert = json.loads(run("explain", "albert-base-v2", "--activations", "-f", "json").stdout)
    assert any("E" in row["formula"] for row in albert["activations"])


def latex(steps: list[Step]) -> str:
    """A derivation as a whole document."""
    body = render_derivation("evil\nname \\input{x} × %", steps)
    head = "\\documentclass{article}\n\\usepackage{amsmath}\n\\begin{document}\n"
    return f"{head}{body}\\end{{document}}\n"


def longest() -> list[Step]:
    """The longest derivations: untied pretraining, and one of a family with sizes of its own."""
    config = ModelConfig.from_dict(
        {**ModelConfig.from_preset("base").to_dict(), "tie_word_embeddings": False}
    )
    steps, total = derivation(blueprint(config, "pretraining", "transformers"))
    squeezed = blueprint(ModelConfig.from_preset("squeezebert-uncased"), "model", "transformers")
    others, _ = derivation(squeezed)
    return [*steps, total, *others]


def test_latex_is_plain() -> None:
    """The LaTeX is ASCII, balanced, uses amsmath's own commands, and quotes names in a comment."""
    text = latex(longest())
    comment, *lines = text.splitlines()[3:]
    assert comment.startswith("% evil")
    body = "\n".join(lines)
    assert text.isascii()
    assert body.count("{") == body.count("}")
    assert body.count("\\left(") == body.count("\\right)")
    known = {"text", "cdot", "left", "right", "quad", "begin", "end"}
    assert set(re.findall(r"\\([a-z]+)", body)) == known


def test_latex_of_a_symbol_with_an_index() -> None:
    """A symbol such as H_q, squared or not, is one that LaTeX can set."""
    for step in longest():
        text = step.formula(LATEX)
        assert not re.search(r"_[a-z]+[a-z]|\^\{\d+\}\^", text)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs a TeX installation")
def test_latex_compiles(tmp_path: Path) -> None:
    """A plain article with amsmath takes it, without an overfull line."""
    (tmp_path / "x.tex").write_text(latex(longest()))
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "x.tex"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    assert "Overfull" not in done.stdout


def test_activations_are_those_of_an_attention_that_there_is(run: Run) -> None:
    """Where a class has no fused attention the batch says so, as in any table of costs."""
    result = run("explain", "rembert", "--activations")
    assert "float32, adamw, eager" in result.stdout
    assert "transformers 5.24 has no sdpa for rembert, so eager" in result.stderr
