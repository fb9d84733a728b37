"""LaTeX: a derivation for a plain ``article`` with ``amsmath``."""

from collections.abc import Sequence

from albert_calc.algebra import LATEX
from albert_calc.counting.derivation import Step
from albert_calc.writing.harmless import printable

_TERMS_A_LINE = 4


def render_derivation(title: str, steps: Sequence[Step]) -> str:
    """One display for each of *steps*: symbols, numbers, value. Needs ``amsmath``."""
    comment = printable(title).encode("ascii", "backslashreplace").decode("ascii")
    return "\n".join([f"% {comment}; needs \\usepackage{{amsmath}}", *map(_display, steps)]) + "\n"


def _display(step: Step) -> str:
    name = step.name.replace("_", " ")
    lines = [
        f"\\text{{{name}}} &= {_broken(step.formula(LATEX))}",
        f"&= {_broken(step.numbers(LATEX))}",
        f"&= {LATEX.number(step.parameters)}",
    ]
    body = " \\\\\n".join(lines)
    return f"\\[\n\\begin{{aligned}}\n{body}\n\\end{{aligned}}\n\\]"


def _broken(formula: str) -> str:
    """A long sum over several lines; one inside brackets stays whole."""
    terms = formula.split(" + ")
    if "\\left" in formula or len(terms) <= _TERMS_A_LINE:
        return formula
    lines = [" + ".join(terms[i : i + _TERMS_A_LINE]) for i in range(0, len(terms), _TERMS_A_LINE)]
    return " \\\\\n&\\quad + ".join(lines)
