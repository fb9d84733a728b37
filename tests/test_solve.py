"""The inverse question: against exhaustive search, at its edges, and on the command line."""

import itertools
import json
import random
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from conftest import Run

from albert_calc.architectures import ARCHITECTURES, LAYOUTS, SHARES
from albert_calc.config import ModelConfig
from albert_calc.counts import count_parameters
from albert_calc.errors import ConfigError
from albert_calc.search.solve import VARIABLES, solve
from albert_calc.sizes import LARGEST

SMALL: dict[str, Any] = {
    "vocab_size": 9,
    "embedding_size": 14,
    "hidden_size": 10,
    "num_hidden_layers": 3,
    "intermediate_size": 5,
    "num_attention_heads": 2,
    "max_position_embeddings": 4,
    "type_vocab_size": 1,
}
"""Sizes at which E = H lies inside the range that is searched."""

SEARCHED = 24


def cases() -> Iterator[tuple[str, str, str, str]]:
    for model_type, architecture in ARCHITECTURES.items():
        for layout in LAYOUTS:
            if layout in architecture.embeddings:
                for key in VARIABLES:
                    yield from ((model_type, layout, key, head) for head in architecture.heads)


def totals(
    mapping: Mapping[str, Any], key: str, share: str, head: str, layout: str
) -> dict[int, int]:
    """The count at each value of *key* that makes a model, found one by one."""
    found = {}
    for value in range(1, SEARCHED + 1):
        sizes = {**mapping, key: value}
        if "intermediate_size" not in sizes:
            sizes["intermediate_size"] = 4 * sizes["hidden_size"]
        try:
            config = ModelConfig.from_dict(sizes, share)
        except ConfigError:
            continue
        found[value] = count_parameters(config, head, layout).total
    return found


def test_answers_are_those_of_exhaustive_search() -> None:
    """For every variable, head, layout and sharing, the answer is what trying all finds."""
    generator = random.Random(4)
    for (model_type, layout, key, head), half in itertools.product(cases(), (0, 2)):
        share = generator.choice(SHARES[half : half + 2])
        mapping = {**SMALL, "model_type": model_type}
        if generator.random() < 0.5 and key == "hidden_size":
            del mapping["intermediate_size"]
        multiple_of = generator.choice((1, 1, 2, 3))
        counts = totals(mapping, key, share, head, layout)
        admissible = {v: n for v, n in counts.items() if v % multiple_of == 0}
        # Beyond the values searched nothing may fit, so that the search is exhaustive.
        limit = max(admissible.values())
        budget = generator.choice([n + d for n in admissible.values() for d in (-1, 0, 1)])
        budget = max(1, min(budget, limit - 1))
        found = solve(
            mapping, key, budget, head=head, layout=layout, share=share, multiple_of=multiple_of
        )
        fitting = [v for v, n in admissible.items() if n <= budget]
        where = (model_type, layout, share, key, head, multiple_of, budget)
        assert found.constant == (len(set(admissible.values())) == 1), where
        assert found.fits == bool(fitting), where
        if found.constant:
            continue
        if fitting:
            assert found.found.value == max(fitting), where
            assert found.found.parameters == admissible[max(fitting)] <= budget, where
            assert found.next is not None, where
            assert found.next.value == min(v for v in admissible if v > max(fitting)), where
            assert found.next.parameters == admissible[found.next.value] > budget, where
            smaller = [n for v, n in admissible.items() if v < max(fitting)]
            assert found.isolated == bool(smaller and smaller[-1] > budget), where
        else:
            assert found.found.parameters == min(admissible.values()), where


def test_equal_widths_are_tried_on_their_own() -> None:
    """In the paper's layout E = H may fit where a smaller E does not."""
    mapping = {**SMALL, "model_type": "albert"}
    square = count_parameters(
        ModelConfig.from_dict({**mapping, "embedding_size": 10}), layout="paper"
    ).total
    found = solve(mapping, "embedding_size", square, layout="paper")
    assert (found.found.value, found.isolated, found.left) == (10, True, 0)
    # Of 5, 10, 15, ... it is even the cheapest, and so the closest where nothing fits.
    found = solve(mapping, "embedding_size", square - 1, layout="paper", multiple_of=5)
    assert (found.fits, found.found.value, found.left) == (False, 10, -1)


def test_the_largest_size_is_the_end() -> None:
    """A budget beyond all sizes gives the largest size allowed, which has no next value."""
    mapping = {**SMALL, "model_type": "albert", "num_attention_heads": 1}
    found = solve(mapping, "vocab_size", 10**40)
    assert (found.found.value, found.next) == (LARGEST, None)
    del mapping["intermediate_size"]
    assert solve(mapping, "hidden_size", 10**40).found.value == LARGEST // 4


@pytest.mark.parametrize(
    ("changes", "arguments", "problems"),
    [
        ({}, {"key": "type_vocab_size"}, ["vary", "intermediate_size"]),
        ({"vocab_size": 0}, {"budget": 0, "multiple_of": True}, ["budget", "multiple", "vocab"]),
        ({"num_attention_heads": "x"}, {}, ["num_attention_heads"]),
        ({}, {"multiple_of": 10**16}, ["hidden_size: must be a multiple of 10000000000000000"]),
        ({"hidden_size": None}, {"key": "vocab_size"}, ["hidden_size", "intermediate_size"]),
    ],
)
def test_every_problem_is_named(
    changes: dict[str, Any], arguments: dict[str, Any], problems: list[str]
) -> None:
    """Wrong sizes, budgets and multiples are refused together, each by its name."""
    mapping = {k: v for k, v in {**SMALL, **changes}.items() if k != "intermediate_size"}
    with pytest.raises(ConfigError) as caught:
        solve(mapping, **{"key": "hidden_size", "budget": 1000, **arguments})
    assert len(caught.value.problems) == len(problems)
    for problem, start in zip(caught.value.problems, problems, strict=True):
        assert problem.startswith(start)


HIDDEN = ("solve", "--preset", "albert-base-v2", "--vary", "hidden-size", "--budget")


def test_command_says_the_answer_and_what_is_next(run: Run) -> None:
    """The answer, its count, what is left, and the next value with its count."""
    result = run(*HIDDEN, "12M", "-f", "json")
    assert result.exit_code == 0
    data = json.loads(result.stdout)
    assert data == {
        "model": "albert-base-v2",
        "vary": "hidden_size",
        "budget": 12_000_000,
        "head": "model",
        "layout": "transformers",
        "step": 12,
        "value": 780,
        "parameters": 11_926_788,
        "left": 73_212,
        "next_value": 792,
        "next_parameters": 12_173_736,
        "unbounded": False,
        "config": data["config"],
    }
    assert data["config"]["intermediate_size"] == 4 * 780
    assert result.stderr == (
        "note: intermediate_size: follows hidden_size, 4 × H\n"
        "note: hidden_size: only multiples of 12, which 12 attention heads divide\n"
    )


def test_intermediate_size_stays_where_it_is_given(run: Run) -> None:
    """With -I, I does not follow H."""
    result = run(*HIDDEN, "12M", "-f", "json", "-I", "3072")
    assert json.loads(result.stdout)["config"]["intermediate_size"] == 3072
    assert "follows" not in result.stderr


def test_command_keeps_to_multiples(run: Run) -> None:
    """--multiple-of and the heads hold together: 12 and 64 leave multiples of 192."""
    result = run(*HIDDEN, "12M", "--multiple-of", "64", "-f", "csv")
    assert result.stdout == (
        "answer,hidden_size,parameters,left\n"
        "largest_that_fits,768,11683584,316416\n"
        "next_value,960,16024128,-4024128\n"
    )
    assert "only multiples of 192" in result.stderr


@pytest.mark.parametrize(
    ("preset", "key"),
    [("albert-base-v2", "num-hidden-layers"), ("bert-base-uncased", "embedding-size")],
)
def test_command_says_that_nothing_bounds_the_answer(run: Run, preset: str, key: str) -> None:
    """Where the size does not count, any value fits, or none does."""
    options = ("solve", "--preset", preset, "--vary", key, "-f", "json", "--budget")
    result = run(*options, "200M")
    data = json.loads(result.stdout)
    assert (result.exit_code, data["unbounded"], data["value"]) == (0, True, None)
    assert data["left"] == 200_000_000 - data["parameters"]
    assert "any value fits" in result.stderr
    assert "does not depend on it" in result.stderr
    result = run(*options, "2M")
    data = json.loads(result.stdout)
    assert (result.exit_code, data["unbounded"], data["value"]) == (1, False, None)
    assert "no value fits" in result.stderr


def test_command_says_how_far_the_closest_misses(run: Run) -> None:
    """When nothing fits the exit status is 1, and the closest value is shown."""
    result = run(*HIDDEN, "1K", "-f", "markdown")
    assert result.exit_code == 1
    assert "| closest value | 12 |" in result.stdout
    assert "no value fits; the closest is 12, " in result.stderr


@pytest.mark.parametrize("layout", LAYOUTS)
def test_command_counts_as_count_does(run: Run, layout: str) -> None:
    """The answer put into count gives the parameters that solve gives."""
    shared = ("--preset", "base", "--layout", layout, "--head", "pretraining", "--share", "ffn")
    result = run("solve", *shared, "--budget", "60M", "--vary", "intermediate-size", "-f", "json")
    data = json.loads(result.stdout)
    for value, parameters in (("value", "parameters"), ("next_value", "next_parameters")):
        counted = run("count", *shared, "-I", data[value], "--total")
        assert int(counted.stdout) == data[parameters]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--budget", "1x"), "budget: must be a positive whole number, got '1x'"),
        (("--budget", "-5"), "budget: must be a positive whole number, got '-5'"),
        (("--budget", "1M", "-V", "10"), "--vary vocab-size and --vocab-size contradict"),
        (("--budget", "1M", "--multiple-of", "0"), "multiple_of: must be a positive whole number"),
        ((), "Missing option '--budget'"),
    ],
)
def test_command_refuses_what_makes_no_question(
    run: Run, arguments: tuple[str, ...], message: str
) -> None:
    """Wrong input exits with 2, a message, and nothing on standard output."""
    result = run("solve", "--preset", "base", "--vary", "vocab-size", *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
