"""``albert-calc solve``: the largest size that a budget allows."""

from collections.abc import Iterator
from typing import Any

import click

from albert_calc.cli.command import Asked, model_command, option
from albert_calc.cli.options import SIZE, dashed
from albert_calc.cli.shape import config_data, sizes_line
from albert_calc.config.values import FOLLOWS
from albert_calc.errors import Problems
from albert_calc.families.sizes import SIZES
from albert_calc.report import Cell, Column, Report, Section
from albert_calc.search.solve import (
    VARIABLES,
    Solution,
    followers_of,
    largest_size,
    solve_problems,
)
from albert_calc.writing.numbers import count


class _Variable(click.Choice[str]):
    """A size to solve for, by its key with either dash, or its symbol."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> str:
        """The key with dashes."""
        symbols = {size.symbol: size.key for size in SIZES}
        return super().convert(dashed(symbols.get(value, value)), param, ctx)


@model_command("solve")
@option("--budget", type=SIZE, metavar="N", required=True,
        help="How many parameters the model may have, such as 12M.")
@option("--vary", type=_Variable([dashed(key) for key in VARIABLES]), required=True,
        help="The size to solve for.")
@option("--multiple-of", type=SIZE, default=1, metavar="N", help="Allow only multiples of this.")
def command(asked: Asked, *, budget: int, vary: str, multiple_of: int) -> Report:  # fmt: skip
    """Find the largest size that stays within a budget.

    The budget is a number of parameters. The heads keep dividing H. When H is solved for and
    -I is not given, I follows as 4 × H. The exit status is 1 if no value at all fits.

    \b
    Examples:
      albert-calc solve albert-base-v2 --budget 12M --vary hidden-size
      albert-calc solve --budget 20M --vary H -V 30000 -E 128 -L 12 --multiple-of 64
      albert-calc solve base --budget 110M --vary L --share none
    """
    key = vary.replace("-", "_")
    if asked.request.overrides.get(key) is not None:
        raise click.UsageError(f"--vary {vary} and --{vary} contradict each other: give one")
    problems = Problems()
    found = []
    with problems.collected():
        found = asked.found
    if problems:
        problems += solve_problems(key, budget, multiple_of)
    problems.raise_any()
    solution = largest_size(found[0], asked.request, key, budget, multiple_of=multiple_of)
    model = solution.found.model
    followers = followers_of(key, asked.request)
    notes = [n for n in model.notes if not n.startswith(tuple(f"{f}:" for f in followers))]
    remarks = [f"{f}: follows {key}, {FOLLOWS[f][0]} × H" for f in followers]
    # What is odd about an arbitrary value says nothing about the answer.
    warnings = model.warnings if solution.fits and not solution.constant else ()
    return _report(solution)._replace(
        remarks=(*notes, *remarks, *_remarks(solution, multiple_of)),
        warnings=tuple(warnings),
        status=0 if solution.fits else 1,
    )


def _remarks(solution: Solution, multiple_of: int) -> Iterator[str]:
    """What a reader should know about the answer, or about why there is none."""
    key, value, config = solution.key, solution.found.value, solution.found.model.config
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


def _report(solution: Solution) -> Report:
    key, found, beyond = solution.key, solution.found, solution.next
    model = found.model
    value = None if solution.constant else found.value
    label = "largest_that_fits" if solution.fits else "closest_value"
    if solution.constant:
        label = "any_value" if solution.fits else "no_value"
    rows: list[tuple[Cell, ...]] = [(label, value, found.amount, solution.left)]
    if beyond:
        rows.append(("next_value", beyond.value, beyond.amount, solution.budget - beyond.amount))
    sizes = {s.key: getattr(model.config, s.key) for s in SIZES if s.key != key or value}
    section = Section(
        lines=(sizes_line(sizes, model.assumed),),
        columns=(
            Column("answer", "answer", "name"),
            Column(key, key.replace("_", " "), "count"),
            Column("parameters", "parameters", "count"),
            Column("left", "left of the budget", "difference"),
        ),
        rows=tuple(rows),
    )
    misses = beyond if solution.fits else found
    facts = {
        "model": model.name,
        "vary": key,
        "budget": solution.budget,
        "head": model.head,
        "layout": model.layout,
        "step": solution.step,
        "value": value if solution.fits else None,
        "parameters": found.amount if solution.fits else None,
        "left": solution.left if solution.fits else None,
        "next_value": misses.value if misses and not solution.constant else None,
        "next_parameters": misses.amount if misses else None,
        "unbounded": solution.constant and solution.fits,
        "config": config_data(model.config) if value is not None else None,
    }
    return Report((section,), facts, _headline(solution))


def _headline(solution: Solution) -> str:
    name, key = solution.found.model.title, solution.key
    budget = f"within {count(solution.budget)} parameters"
    if solution.constant:
        return f"{name}: {'any' if solution.fits else 'no'} {key} stays {budget}"
    if not solution.fits:
        return f"{name}: no {key} stays {budget}"
    return f"{name}: {count(solution.found.value)} is the largest {key} {budget}"
