"""The inverse question: the largest size with which a model stays within a budget.

A count never falls when a size grows, except that E = H may have fewer tensors than
E ≠ H. So bisection finds the answer, and E = H is tried on its own. May import
``albert_calc.config``, ``albert_calc.counts``, ``albert_calc.errors``,
``albert_calc.sizes``, ``albert_calc.tensors`` and ``albert_calc.text``.
"""

from collections.abc import Callable, Iterator, Mapping
from math import lcm
from typing import Any, NamedTuple

from albert_calc.config import ModelConfig
from albert_calc.counts import component_formulas, count_parameters
from albert_calc.errors import ConfigError, Problems
from albert_calc.sizes import LARGEST, SYMBOLS
from albert_calc.tensors import read_model, variant_of
from albert_calc.text import shown

VARIABLES: tuple[str, ...] = (
    "vocab_size",
    "embedding_size",
    "hidden_size",
    "num_hidden_layers",
    "intermediate_size",
)
"""The sizes that can be solved for."""


class Candidate(NamedTuple):
    """A model with one value of the size solved for, and its parameters."""

    value: int
    config: ModelConfig
    parameters: int


class Solution(NamedTuple):
    """What was *found* for the size *key*, which must be a multiple of *step*.

    If it *fits*, it is the largest value within *budget* parameters, and *next* the one
    after it, which is beyond; there is no next after the largest size allowed at all.
    If not, none fits, and *found* comes closest. *constant* says that the count does not
    depend on the size, so that every value does as the first of them, *found*, does. An
    *isolated* answer fits because E = H there, while the value below it does not.
    """

    key: str
    budget: int
    step: int
    found: Candidate
    fits: bool
    next: Candidate | None = None
    constant: bool = False
    isolated: bool = False

    @property
    def left(self) -> int:
        """What is left of the budget, negative if nothing fits; parameters."""
        return self.budget - self.found.parameters


def solve(
    mapping: Mapping[str, Any],
    key: str,
    budget: int,
    *,
    head: str = "model",
    layout: str = "transformers",
    share: str | None = None,
    multiple_of: int = 1,
) -> Solution:
    """The largest value of *key* with which the model of *mapping* has at most *budget*.

    *mapping* holds the other sizes, as in a ``config.json``; without I, it follows the H
    solved for as 4·H. H is kept divisible by A. Raises ``ConfigError`` for sizes that make
    no model, and for a budget or a *multiple_of* that is not a positive whole number.
    """
    follows = key == "hidden_size" and mapping.get("intermediate_size") is None

    def at(value: int) -> Candidate:
        sizes = {**mapping, key: value}
        if follows:
            sizes["intermediate_size"] = 4 * value
        config = read_model(sizes, share, head, layout)
        return Candidate(value, config, count_parameters(config, head, layout).total)

    problems = Problems(solve_problems(key, budget, multiple_of))
    with problems.collected():
        at(_step(mapping, key, 1))
    problems.raise_any()
    step = _step(mapping, key, multiple_of)
    most = LARGEST // 4 if follows else LARGEST
    if step > most:
        raise ConfigError(f"{key}: must be a multiple of {step} and at most {most:,}")
    first = at(step)
    if not _depends_on(key, first.config, head, layout):
        return Solution(key, budget, step, first, first.parameters <= budget, constant=True)
    square = [at(value) for value in _square(key, first.config) if value % step == 0]
    times = _bisect(lambda n: at(n * step).parameters <= budget, most // step)
    found = [at(times * step)] if times else []
    fitting = [c for c in (*found, *square) if c.parameters <= budget]
    if not fitting:
        closest = min((first, *square), key=lambda c: c.parameters)
        return Solution(key, budget, step, closest, fits=False)
    answer = max(fitting, key=lambda c: c.value)
    return Solution(
        key, budget, step, answer, True,
        at(answer.value + step) if answer.value + step <= most else None,
        isolated=answer.value > step and at(answer.value - step).parameters > budget,
    )  # fmt: skip


def solve_problems(key: str, budget: object, multiple_of: object) -> Iterator[str]:
    """Every rule that a question breaks, whatever the model, one line each."""
    if key not in VARIABLES:
        yield f"vary: must be one of {', '.join(VARIABLES)}, got {shown(key)}"
    for name, value in (("budget", budget), ("multiple_of", multiple_of)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            yield f"{name}: must be a positive whole number, got {shown(value)}"


def _step(mapping: Mapping[str, Any], key: str, multiple_of: int) -> int:
    """What the size must be a multiple of; an A that is no size is refused later."""
    heads = mapping.get("num_attention_heads")
    if key == "hidden_size" and isinstance(heads, int) and heads > 0:
        return lcm(multiple_of, heads)
    return multiple_of


def _depends_on(key: str, config: ModelConfig, head: str, layout: str) -> bool:
    formulas = component_formulas(variant_of(config, head, layout))
    return any(SYMBOLS[key] in term.symbols for f in formulas for term in f.terms.terms)


def _square(key: str, config: ModelConfig) -> tuple[int, ...]:
    """The value of *key* with which E = H, if the model has an E of its own."""
    if key not in ("embedding_size", "hidden_size") or "embedding_size" not in config.to_dict():
        return ()
    other = config.hidden_size if key == "embedding_size" else config.embedding_size
    return (other,) if other else ()


def _bisect(fits: Callable[[int], bool], most: int) -> int:
    """The largest number up to *most* that *fits*, as all smaller ones do; 0 if none does."""
    high = 1
    while high < most and fits(high):
        high *= 2
    low, high = high // 2, min(high, most)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low
