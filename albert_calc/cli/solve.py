"""``albert-calc solve``: the largest size that a budget of parameters allows."""

from collections.abc import Iterator, Mapping
from typing import Any

import click

from albert_calc.cli.command import command
from albert_calc.cli.options import (
    SIZE,
    Source,
    format_option,
    head_option,
    layout_option,
    one_requested,
    share_option,
    source_options,
)
from albert_calc.cli.output import emit, say
from albert_calc.cli.shape import config_data, sizes_line
from albert_calc.errors import Problems
from albert_calc.report import Cell, Column, Report, Section
from albert_calc.search.solve import VARIABLES, Solution, solve_problems
from albert_calc.search.solve import solve as solve_for


@command()
@click.option(
    "--budget",
    type=SIZE,
    required=True,
    metavar="N",
    help="How many parameters the model may have, such as 12M.",
)
@click.option(
    "--vary",
    type=click.Choice([key.replace("_", "-") for key in VARIABLES]),
    required=True,
    help="The size to solve for.",
)
@click.option(
    "--multiple-of", type=SIZE, default=1, metavar="N", help="Allow only multiples of this."
)
@source_options()
@head_option
@share_option
@layout_option
@format_option
def solve(
    budget: int, vary: str, multiple_of: int, head: str, share: str | None, layout: str,
    format: str, **options: Any,
) -> int:  # fmt: skip
    """Find the largest size that stays within a budget.

    The budget is a number of parameters.

    The heads keep dividing H. When H is solved for and -I is not given, I follows as
    4 × H. The exit status is 1 if no value at all fits.

    \b
    Examples:
      albert-calc solve --budget 12M --vary hidden-size --preset albert-base-v2
      albert-calc solve --budget 20M --vary hidden-size -V 30000 -E 128 -L 12 --multiple-of 64
      albert-calc solve --budget 110M --vary num-hidden-layers --preset base --share none
    """
    key = vary.replace("-", "_")
    if options[key] is not None:
        raise click.UsageError(f"--vary {vary} and --{vary} contradict each other: give one")
    problems = Problems()
    with problems.collected():
        source = one_requested({**options, "share": share})
    if problems:
        problems += solve_problems(key, budget, multiple_of)
    problems.raise_any()
    mapping, notes = _others(source, key, options)
    solution = solve_for(
        mapping, key, budget, head=head, layout=layout, share=share, multiple_of=multiple_of
    )
    config = solution.found.config
    say("note", (*config.notes, *notes, *_remarks(solution, multiple_of)))
    if solution.fits and not solution.constant:
        # What is odd about an arbitrary value says nothing about the answer.
        say("warning", config.warnings)
    emit(_report(source.name, solution, head, layout), format)
    return 0 if solution.fits else 1


def _others(
    source: Source, key: str, options: Mapping[str, Any]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The sizes beside *key* as a config has them, and notes of what was assumed."""
    mapping = {**source.mapping, **source.overrides}
    if key == "intermediate_size":
        return mapping, ()
    if key == "hidden_size" and options["intermediate_size"] is None:
        mapping.pop("intermediate_size", None)
        return mapping, ("intermediate_size: follows hidden_size, 4 × H",)
    return mapping, source.notes


def _remarks(solution: Solution, multiple_of: int) -> Iterator[str]:
    """What a reader should know about the answer, or about why there is none."""
    key, value, config = solution.key, solution.found.value, solution.found.config
    if solution.step != multiple_of:
        heads = config.num_attention_heads
        yield f"{key}: only multiples of {solution.step}, which {heads} attention heads divide"
    if solution.constant:
        yield (
            f"{key}: {'any' if solution.fits else 'no'} value fits, since the count does not"
            f" depend on it ({config.model_type}, share {config.share})"
        )
    elif not solution.fits:
        yield f"{key}: no value fits; the closest is {value:,}, {-solution.left:,} over the budget"
    elif solution.next is None:
        yield f"{key}: {value:,} is the largest size that is allowed at all"
    if solution.isolated:
        yield f"{key}: {value - solution.step:,} does not fit; at E = H there is no projection"


def _report(name: str, solution: Solution, head: str, layout: str) -> Report:
    key, found, beyond = solution.key, solution.found, solution.next
    config, value = found.config, None if solution.constant else found.value
    label = "largest_that_fits" if solution.fits else "closest_value"
    if solution.constant:
        label = "any_value" if solution.fits else "no_value"
    rows: list[tuple[Cell, ...]] = [(label, value, found.parameters, solution.left)]
    if beyond:
        rows.append(
            ("next_value", beyond.value, beyond.parameters, solution.budget - beyond.parameters)
        )
    others = {k: v for k, v in config.to_dict().items() if k != key or value is not None}
    section = Section(
        title=f"{name}: the largest {key} within {solution.budget:,} parameters",
        lines=(
            f"{config.model_type}, head {head}, layout {layout}, share {config.share}",
            sizes_line(others, config.assumed),
        ),
        columns=(
            Column("answer", "answer", "name"),
            Column(key, key.replace("_", " "), "count"),
            Column("parameters", "parameters", "count"),
            Column("left", "left of the budget", "count"),
        ),
        rows=tuple(rows),
    )
    misses = beyond if solution.fits else found
    data = {
        "model": name,
        "vary": key,
        "budget": solution.budget,
        "head": head,
        "layout": layout,
        "step": solution.step,
        "value": value if solution.fits else None,
        "parameters": found.parameters if solution.fits else None,
        "left": solution.left if solution.fits else None,
        "next_value": misses.value if misses and not solution.constant else None,
        "next_parameters": misses.parameters if misses else None,
        "unbounded": solution.constant and solution.fits,
        "config": config_data(config) if value is not None else None,
    }
    return Report((section,), data)
