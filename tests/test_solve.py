"""The inverse question: against exhaustive search, at its edges, and on the command line."""

import json
import random
import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from conftest import Run
from support import Faults

from albert_calc.config.model_config import ModelConfig
from albert_calc.counting.counts import count_parameters
from albert_calc.errors import ConfigError
from albert_calc.families import FAMILIES, family
from albert_calc.families.base import LAYOUTS, SHARES
from albert_calc.families.sizes import LARGEST
from albert_calc.models.lookup import Found, find_model
from albert_calc.models.model import Model, Request, read_model
from albert_calc.search.solve import VARIABLES, Candidate, Solution, largest_size, largest_value

Keys = dict[str, Any]

SMALL: Keys = {
    "vocab_size": 9,
    "embedding_size": 14,
    "hidden_size": 12,
    "num_hidden_layers": 3,
    "intermediate_size": 8,
    "num_attention_heads": 2,
    "max_position_embeddings": 4,
    "type_vocab_size": 1,
}
"""Sizes at which E = H lies inside the range that is searched."""

SEARCHED = 24


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
    """The largest size of the model whose sizes are typed as *mapping*, without that of *key*."""
    apart = (key, "model_type")
    overrides = {k: v for k, v in mapping.items() if k not in apart and v is not None}
    kind = {k: v for k, v in mapping.items() if k == "model_type"}
    request = Request(overrides, head=head, layout=layout, share=share)
    found = Found("sizes", kind, "sizes")
    return largest_size(found, request, key, budget, multiple_of=multiple_of)


def small(model_type: str) -> Keys:
    """Small sizes of *model_type*, without those that it lacks."""
    tables = family(model_type)
    sizes = {k: v for k, v in SMALL.items() if tables.has(k)}
    if model_type == "mobilebert":
        sizes.update(embedding_size=8, intra_bottleneck_size=6)
    return {**sizes, "model_type": model_type}


def totals(mapping: Keys, key: str, share: str, head: str, layout: str) -> dict[int, int]:
    """The count at each value of *key* that makes a model, found one by one."""
    found = {}
    tables = family(mapping["model_type"])
    for value in range(1, SEARCHED + 1):
        sizes = {**mapping, key: value}
        if "intermediate_size" not in sizes:
            sizes["intermediate_size"] = 4 * sizes["hidden_size"]
        written = {tables.name_of(k): v for k, v in sizes.items()}
        try:
            config = ModelConfig.from_dict(written, share)
            found[value] = count_parameters(config, head, layout).total
        except ConfigError:
            continue
    return found


def questions(generator: random.Random) -> Iterator[tuple[str, str, str, str]]:
    """A model type, a layout and a size, every one that goes together, and some heads."""
    for model_type in FAMILIES:
        tables = family(model_type)
        for layout in tables.embeddings:
            for key in VARIABLES:
                if model_type == "squeezebert" and key in ("hidden_size", "embedding_size"):
                    continue  # its E is its H, and may only be what it is
                for head in generator.sample(list(tables.heads), 1):
                    yield model_type, layout, key, head


def test_answers_are_those_of_exhaustive_search() -> None:
    """For every family, size, layout and way of sharing the answer is what trying all finds."""
    generator = random.Random(4)
    faults = Faults()
    for model_type, layout, key, head in questions(generator):
        share = generator.choice(SHARES)
        mapping = small(model_type)
        if generator.random() < 0.5 and key == "hidden_size":
            del mapping["intermediate_size"]
        if model_type == "squeezebert":
            mapping.update({"embedding_size": 12})
        multiple_of = generator.choice((1, 1, 2, 3))
        counts = totals(mapping, key, share, head, layout)
        admissible = {v: n for v, n in counts.items() if v % multiple_of == 0}
        where = (model_type, layout, share, key, head, multiple_of)
        assert admissible, where
        # Beyond the values searched nothing may fit, so that the search is exhaustive.
        limit = max(admissible.values())
        budget = generator.choice([n + d for n in admissible.values() for d in (-1, 0, 1)])
        budget = max(1, min(budget, limit - 1))
        found = solve(
            mapping, key, budget, head=head, layout=layout, share=share, multiple_of=multiple_of
        )
        faults += [f"{where}, {budget}: {fault}" for fault in wrong(found, admissible, budget)]
    faults.none()


def wrong(found: Solution, admissible: dict[int, int], budget: int) -> Iterator[str]:
    """What is wrong with a solution where *admissible* are all values and their counts."""
    fitting = [v for v, n in admissible.items() if n <= budget]
    if found.constant != (len(set(admissible.values())) == 1):
        yield f"constant: {found.constant}"
    if found.fits != bool(fitting):
        yield f"fits: {found.fits}, not {bool(fitting)}"
    if found.isolated and (found.constant or not found.fits):
        yield "isolated, without an answer"
    if found.constant or found.fits != bool(fitting):
        return
    if not fitting:
        if found.found.amount != min(admissible.values()):
            yield f"closest: {found.found}"
        return
    best = max(fitting)
    larger = [v for v in admissible if v > best]
    smaller = [n for v, n in admissible.items() if v < best]
    before = max((v for v in admissible if v < best), default=best)
    if found.isolated != (admissible[before] > budget):
        yield f"isolated: {found.isolated}, with {admissible[before]} at {before}"
    if (found.found.value, found.found.amount) != (best, admissible[best]):
        yield f"found {found.found.value} with {found.found.amount}, not {best}"
    if found.next is None or found.next.value != min(larger):
        yield f"next: {found.next}"
    elif found.next.amount != admissible[min(larger)]:
        yield f"next: {found.next.amount}"
    if found.isolated != bool(smaller and smaller[-1] > budget):
        yield f"isolated: {found.isolated}"


def test_equal_widths_are_tried_on_their_own() -> None:
    """In the paper's layout E = H may fit where a smaller E does not."""
    mapping = {**SMALL, "model_type": "albert", "hidden_size": 10}
    square = count_parameters(
        ModelConfig.from_dict({**mapping, "embedding_size": 10}), layout="paper"
    ).total
    found = solve(mapping, "embedding_size", square, layout="paper")
    assert (found.found.value, found.isolated, found.left) == (10, True, 0)
    # Of 5, 10, 15, ... it is even the cheapest, and so the closest where nothing fits.
    found = solve(mapping, "embedding_size", square - 1, layout="paper", multiple_of=5)
    assert (found.fits, found.found.value, found.left) == (False, 10, -1)
    # Of 3, 6, 9, ... it is none.
    found = solve(mapping, "embedding_size", square, layout="paper", multiple_of=3)
    assert found.found.value % 3 == 0


def test_a_size_that_costs_nothing() -> None:
    """Any depth of a model that shares its layers fits its count, and none fits less."""
    mapping = {**SMALL, "model_type": "albert"}
    total = count_parameters(ModelConfig.from_dict(mapping)).total
    for budget, fits in ((total, True), (total - 1, False)):
        found = solve(mapping, "num_hidden_layers", budget)
        assert (found.constant, found.fits, found.left) == (True, fits, budget - total)


def test_the_largest_size_is_the_end() -> None:
    """A budget beyond all sizes gives the largest size allowed, which has no next value."""
    mapping = {**SMALL, "model_type": "albert", "num_attention_heads": 1}
    found = solve(mapping, "vocab_size", 10**40)
    assert (found.found.value, found.next) == (LARGEST, None)
    found = solve(mapping, "vocab_size", 10**40, multiple_of=LARGEST)
    assert (found.found.value, found.next) == (LARGEST, None)
    del mapping["intermediate_size"]
    assert solve(mapping, "hidden_size", 10**40).found.value == LARGEST // 4


def test_another_measure() -> None:
    """A budget may be of anything that never falls as the size grows, such as layers run."""

    def layers(model: Model) -> int:
        return model.config.num_hidden_layers

    found = largest_size(
        Found("sizes", {}, "sizes"),
        Request({k: v for k, v in SMALL.items() if k != "num_hidden_layers"}),
        "num_hidden_layers",
        7,
        measure=layers,
    )
    assert (found.found.value, found.found.amount, found.left) == (7, 7, 0)
    assert found.next is not None
    assert found.next.value == 8


WRONG: list[tuple[Keys, Keys, list[str]]] = [
    ({}, {"key": "type_vocab_size"}, ["vary: must be one of vocab_size"]),
    (
        {"vocab_size": 0},
        {"budget": 0, "multiple_of": True},
        ["budget: must be a positive", "multiple_of: must be a positive", "vocab_size: must be"],
    ),
    ({"num_attention_heads": "x"}, {}, ["num_attention_heads: must be a positive whole"]),
    ({}, {"multiple_of": 10**16}, ["hidden_size: must be a multiple of 10000000000000000 and"]),
    ({"hidden_size": None}, {"key": "vocab_size"}, ["hidden_size: required"]),
]
"""Sizes and arguments that make no question, and what is said of them."""


def test_every_problem_is_named() -> None:
    """Wrong sizes, budgets and multiples are refused together, each by its name."""
    faults = Faults()
    for changes, arguments, problems in WRONG:
        mapping = {k: v for k, v in {**SMALL, **changes}.items() if k != "intermediate_size"}
        try:
            solve(mapping, **{"key": "hidden_size", "budget": 1000, **arguments})
            faults.append(f"{changes}, {arguments}: solved")
        except ConfigError as error:
            found = [p[: len(w)] for p, w in zip(error.problems, problems, strict=False)]
            faults.expect((changes, arguments, error.problems), found, problems)
            faults.expect((changes, arguments), len(error.problems), len(problems))
    faults.none()


HIDDEN = ("solve", "albert-base-v2", "--vary", "hidden-size", "--budget")


def test_command_says_the_answer_and_what_is_next(run: Run) -> None:
    """The answer, its count, what is left, and the next value with its count."""
    result = run(*HIDDEN, "12M", "-f", "json")
    assert result.exit_code == 0
    data = json.loads(result.stdout)
    assert data.pop("config")["intermediate_size"] == 4 * 780
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
    }
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
    options = ("solve", preset, "--vary", key, "-f", "json", "--budget")
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


NO_MULTIPLE = {
    "solve base --memory 4GiB --vary sequence-length --multiple-of 1000": "1000 and at most 512",
    "solve base --memory 4GiB --vary batch-size --multiple-of 9999999999999999":
        "9999999999999999 and at most 1,000,000,000,000,000",
    "solve roberta-base --memory 4GiB --vary S --max-position-embeddings 2": "1 and at most 0",
    "solve base --budget 1B --vary H --multiple-of 999999999999999": "and at most 250,000,000",
}  # fmt: skip


@pytest.mark.parametrize("line", NO_MULTIPLE)
def test_a_step_beyond_the_end(line: str, run: Run) -> None:
    """Where no multiple is allowed at all, that is what is said."""
    result = run(*line.split())
    assert (result.exit_code, result.stdout) == (2, "")
    assert ": must be a multiple of " in result.stderr
    assert NO_MULTIPLE[line] in result.stderr


def test_a_size_that_takes_no_memory(run: Run) -> None:
    """A width that the family has not is any value or none, whatever the budget is."""
    result = run("solve", "bert-tiny", "--memory", "1GB", "--vary", "E")
    assert (result.exit_code, "any value fits, since the memory does not" in result.stderr) == (
        0, True,
    )  # fmt: skip
    none = run("solve", "bert-base-uncased", "--memory", "1GB", "--vary", "E")
    assert (none.exit_code, "no value fits, since the memory does not" in none.stderr) == (1, True)


def test_command_says_how_far_the_closest_misses(run: Run) -> None:
    """When nothing fits the exit status is 1, and the closest value is shown."""
    result = run(*HIDDEN, "1K", "-f", "markdown")
    assert result.exit_code == 1
    assert "| closest value | 12 |" in result.stdout
    assert re.search(r"no value fits; the closest, 12, is [0-9,]+ over the budget\n", result.stderr)


def test_a_memory_that_is_too_small(run: Run) -> None:
    """What it misses by is told in its unit, and under the table what the batch is."""
    result = run("solve", "bert-base-uncased", "--memory", "1GiB", "--vary", "B", "-S", "128")
    assert result.exit_code == 1
    assert re.search(
        r"no value fits; the closest, 1, is [0-9.]+ MiB over the memory\n", result.stderr
    )
    assert "\nS = 128, float32, adamw, sdpa\n" in result.stdout
    named = run("solve", "bert-base-uncased", "--gpu", "3090", "--vary", "L", "--lora", "4")
    assert "within RTX 3090 (23.7 GiB)" in named.stdout
    assert "\nB = 1, S = 512, float32, adamw, sdpa; LoRA of rank 4 on query, " in named.stdout


@pytest.mark.parametrize(
    "line",
    [
        ("--memory", "16"),
        ("--memory", "16x"),
        ("--memory", "0GB"),
        ("--memory", "2000PB"),
        ("--gpu", "Z9"),
    ],
)
def test_a_memory_that_is_none(line: tuple[str, str], run: Run) -> None:
    """It is the only problem that is told: nobody asked for a budget of parameters."""
    result = run("solve", "bert-base-uncased", *line, "--vary", "L")
    assert (result.exit_code, result.stdout) == (2, "")
    assert [e.split(":")[1] for e in result.stderr.splitlines()] == [f" {line[0].strip('-')}"]
    both = run("solve", "bert-base-uncased", *line, "--vary", "L", "--multiple-of", "0")
    assert "error: multiple_of: must be a positive whole number, got 0" in both.stderr


def test_command_counts_as_count_does(run: Run) -> None:
    """The answer put into count gives the parameters that solve gives, in every layout."""
    faults = Faults()
    for layout in LAYOUTS:
        shared = ("base", "--layout", layout, "--head", "pretraining", "--share", "ffn")
        line = ("solve", *shared, "--budget", "60M", "--vary", "I", "-f", "json")
        data = json.loads(run(*line).stdout)
        for value, parameters in (("value", "parameters"), ("next_value", "next_parameters")):
            counted = run("count", *shared, "-I", data[value], "--total")
            faults.expect((layout, value), int(counted.stdout), data[parameters])
    faults.none()


def test_command_names_the_size_in_any_way(run: Run) -> None:
    """--vary takes the key with either dash, and the symbol."""
    found = {
        run("solve", "albert-base-v2", "--budget", "12M", "--vary", name, "-f", "csv").stdout
        for name in ("hidden-size", "hidden_size", "H")
    }
    assert len(found) == 1
    assert "largest_that_fits,780" in found.pop()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--budget", "1x"), "budget: must be a positive whole number, got '1x'"),
        (("--budget", "-5"), "budget: must be a positive whole number, got '-5'"),
        (("--budget", "1M", "-V", "10"), "--vary vocab-size and --vocab-size contradict"),
        (("--budget", "1M", "--multiple-of", "0"), "multiple_of: must be a positive whole number"),
        ((), "--budget"),
    ],
)
def test_command_refuses_what_makes_no_question(
    run: Run, arguments: tuple[str, ...], message: str
) -> None:
    """Wrong input exits with 2, a message, and nothing on standard output."""
    result = run("solve", "base", "--vary", "vocab-size", *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr


@pytest.mark.parametrize(
    "model", ["modernbert-base", "mobilebert-uncased", "rubert-tiny2", "bert-base-uncased"]
)
def test_a_model_within_its_own_count_is_found(model: str, run: Run) -> None:
    """Its I follows H only where it does in the model: H as it is gives the count as it is."""
    own = ModelConfig.from_preset(model)
    total = count_parameters(own).total
    found = json.loads(run("solve", model, "--budget", total, "--vary", "H", "-f", "json").stdout)
    assert (found["value"], found["parameters"]) == (own.hidden_size, total)
    rows = run("sweep", model, "-H", f"{own.hidden_size},{2 * own.hidden_size}", "-f", "csv")
    assert rows.stdout.splitlines()[1] == f"{own.hidden_size},{total}"


def test_without_heads_any_width_will_do(run: Run) -> None:
    """Nothing must divide an H of which no A is known."""
    budget = count_parameters(ModelConfig(50, 7, 1, 28, embedding_size=4)).total
    line = f"solve --budget {budget} --vary H -V 50 -E 4 -L 1 -f json"
    assert json.loads(run(*line.split()).stdout)["value"] == 7


@pytest.mark.parametrize(("below", "isolated"), [(19, False), (20, False), (21, True)])
def test_an_answer_is_isolated_where_the_value_below_costs_too_much(
    below: int, isolated: bool
) -> None:
    """One that costs the budget to the last parameter fits as well."""
    costs = {1: 10, 2: below, 3: 15, 4: 40}
    model = read_model(find_model("base"), Request())
    found = largest_value(
        lambda value: Candidate(value, model, costs[value]), "embedding_size", 20, 1, 4, (3,)
    )
    assert (found.found.value, found.isolated) == (3, isolated)
