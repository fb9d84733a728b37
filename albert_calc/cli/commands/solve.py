"""``albert-calc solve``: the largest size that a budget allows."""

from collections.abc import Iterator
from typing import Any

import click

from albert_calc.cli.asked import Asked
from albert_calc.cli.command import model_command, option
from albert_calc.cli.memory import memory_of, memory_options
from albert_calc.cli.options import BATCH_HEADING, SIZE, TRAINED_HEADING, dashed, typed, under
from albert_calc.cli.reports.cost import batch_line
from albert_calc.cli.reports.cost_notes import (
    attention_notes,
    length_warnings,
    support_warnings,
)
from albert_calc.cli.shape import config_data, sizes_line
from albert_calc.cli.trained import trained_options
from albert_calc.cli.workload import workload_of, workload_options
from albert_calc.config.followers import follow_note
from albert_calc.costs.assumptions import ACCURACY
from albert_calc.costs.circumstances import attention_of
from albert_calc.costs.cost import cost_of
from albert_calc.costs.fit import Memory, usable_length
from albert_calc.costs.trainable import trained_notes
from albert_calc.costs.trained import read_trained, with_targets
from albert_calc.costs.workload import BATCH, BATCH_KEYS, Workload
from albert_calc.errors import ConfigError, Problems
from albert_calc.families.sizes import LARGEST, SIZES
from albert_calc.models.model import Model
from albert_calc.report import FALSE, Cell, Column, Report, Section
from albert_calc.search.solve import (
    VARIABLES,
    Candidate,
    Solution,
    largest_size,
    largest_value,
    solve_problems,
    solved_followers,
)
from albert_calc.writing.numbers import binary_size, count


class _Variable(click.Choice[str]):
    """A size to solve for, by its key with either dash, or its symbol."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The key with dashes."""
        symbols = {size.symbol: size.key for size in (*SIZES, *BATCH)}
        return super().convert(dashed(symbols.get(value, value)), param, ctx)


@model_command("solve")
@option(
    "--budget", type=SIZE, metavar="N", help="How many parameters the model may have, such as 12M."
)
@option(
    "--vary",
    type=_Variable([dashed(key) for key in (*VARIABLES, *BATCH_KEYS)]),
    required=True,
    help="The size to solve for.",
)
@option("--multiple-of", type=SIZE, default=1, metavar="N", help="Allow only multiples of this.")
@memory_options
@trained_options
@workload_options
def command(
    asked: Asked, *, budget: int | None, vary: str, multiple_of: int, memory: str | None,
    gpu: str | None, **options: Any,
) -> Report:  # fmt: skip
    """Find the largest size that stays within a budget.

    The budget is a number of parameters, or the memory that a training step may take. The
    heads keep dividing H. When H is solved for and -I is not given, I follows as 4 × H
    where it does in the model. The exit status is 1 if no value at all fits.

    \b
    Examples:
      albert-calc solve albert-base-v2 --budget 12M --vary hidden-size
      albert-calc solve --budget 20M --vary H -V 30000 -E 128 -L 12 --multiple-of 64
      albert-calc solve base --budget 110M --vary L --share none
      albert-calc solve albert-xxlarge-v2 --memory 24GiB --vary batch-size
      albert-calc solve bert-base-uncased --gpu T4 --vary num-hidden-layers -B 32 -S 128
    """
    key = vary.replace("-", "_")
    if asked.request.overrides.get(key) is not None or (key in BATCH_KEYS and typed(key)):
        raise click.UsageError(f"--vary {vary} and --{vary} contradict each other: give one")
    if (budget is None) == (memory is None and gpu is None):
        raise click.UsageError("give a --budget of parameters, or a --memory (or --gpu)")
    idle = typed(*under(BATCH_HEADING), *under(TRAINED_HEADING))
    if budget is not None and (key in BATCH_KEYS or idle):
        named = [*idle, f"--vary {vary}"]
        raise click.UsageError(f"{named[0]} goes with --memory: a batch changes no count")
    problems = Problems()
    found, limit, workload = [], None, Workload()
    with problems.collected():
        found = asked.found
    with problems.collected():
        limit = memory_of(memory, gpu)
    if budget is None:
        with problems.collected():
            workload = workload_of(options)
        with problems.collected():
            workload = workload._replace(trained=read_trained(options))
    if problems:
        # A memory that cannot be read has been told of.
        problems += solve_problems(key, 1 if budget is None else budget, multiple_of)
    problems.raise_any()
    if limit is None:
        solution = largest_size(found[0], asked.request, key, budget or 0, multiple_of=multiple_of)
    else:
        solution = _in_memory(asked, key, limit, multiple_of, workload)
    report = _finished(asked, solution, key, multiple_of, limit)
    if limit is None:
        return report
    return _with_batch(report, solution.found.model, workload, key)


def _with_batch(report: Report, model: Model, workload: Workload, key: str) -> Report:
    """*report* with the batch under its table, and what is to be said of it.

    *key* is the size that was solved for, which has another value there.
    """
    model_type = model.config.model_type
    own = workload._replace(
        trained=with_targets(workload.trained, model_type),
        attention=attention_of(model_type, workload),
    )
    (section,) = report.sections
    line = batch_line(own, without=(key,))
    remarks = (
        *attention_notes(model.name, model_type, workload),
        *trained_notes(model.blueprint, own.trained),
    )
    lengths = length_warnings([model], workload) if key != "sequence_length" else ()
    return report._replace(
        sections=(section._replace(lines=(*section.lines, line, ACCURACY)),),
        remarks=(*report.remarks, *remarks),
        warnings=(*report.warnings, *lengths, *support_warnings([model], workload)),
    )


def _in_memory(
    asked: Asked, key: str, limit: Memory, multiple_of: int, workload: Workload
) -> Solution:
    """The largest size with which a training step fits."""
    found = asked.found[0]
    if key not in BATCH_KEYS:
        return largest_size(
            found, asked.request, key, limit.bytes, multiple_of=multiple_of,
            measure=lambda model: _peak(model, workload),
        )  # fmt: skip
    model = asked.model
    problems = Problems(solve_problems(key, limit.bytes, multiple_of))
    problems.raise_any()
    most = usable_length(model.config) if key == "sequence_length" else LARGEST

    def at(value: int) -> Candidate:
        size: dict[str, Any] = {key: value}
        return Candidate(value, model, _peak(model, workload._replace(**size)))

    return largest_value(at, key, limit.bytes, multiple_of, most)


def _peak(model: Model, workload: Workload) -> int:
    """The bytes of a training step; ``ConfigError`` where they are unknown."""
    trained = with_targets(workload.trained, model.config.model_type)
    cost = cost_of(model.config, model.blueprint, workload._replace(trained=trained))
    if cost.training_peak_bytes is None:
        raise ConfigError(f"memory: unknown, since {cost.activations.reason}")
    return cost.training_peak_bytes


def _finished(
    asked: Asked, solution: Solution, key: str, multiple_of: int, limit: Memory | None
) -> Report:
    model = solution.found.model
    size = key not in BATCH_KEYS
    followers = solved_followers(key, asked.request, asked.found[0]) if size else ()
    # The notes of a model that was read for a batch are said with it.
    told = () if key in BATCH_KEYS else model.notes
    notes = [n for n in told if not n.startswith(tuple(f"{f}:" for f in followers) or ("\0",))]
    remarks = list(map(follow_note, followers))
    # What is odd about an arbitrary value says nothing about the answer.
    sound = solution.fits and not solution.constant and key not in BATCH_KEYS
    return _report(solution, limit)._replace(
        remarks=(*notes, *remarks, *_remarks(solution, multiple_of, limit)),
        warnings=model.warnings if sound else (),
        status=0 if solution.fits else FALSE,
    )


def _remarks(solution: Solution, multiple_of: int, limit: Memory | None) -> Iterator[str]:
    """What a reader should know about the answer, or about why there is none."""
    key, value, config = solution.key, solution.found.value, solution.found.model.config
    if solution.step != multiple_of:
        heads = config.num_attention_heads
        yield f"{key}: only multiples of {solution.step}, which {heads} attention heads divide"
    if solution.constant:
        yield (
            f"{key}: {'any' if solution.fits else 'no'} value fits, since the"
            f" {'memory' if limit else 'count'} does not depend on it"
            f" ({config.model_type}, share {config.share})"
        )
    elif not solution.fits:
        over = f"{count(-solution.left)} over the budget"
        if limit is not None:
            over = f"{binary_size(-solution.left)} over the memory"
        yield f"{key}: no value fits; the closest, {value:,}, is {over}"
    elif solution.next is None:
        why = "that the model has positions for" if key in BATCH_KEYS else "that is allowed at all"
        yield f"{key}: {value:,} is the largest {why}"
    if solution.isolated:
        yield f"{key}: {value - solution.step:,} does not fit; at E = H there is no projection"


def _report(solution: Solution, limit: Memory | None) -> Report:
    key, found, beyond = solution.key, solution.found, solution.next
    amount = "training_peak_bytes" if limit else "parameters"
    unit = "memory" if limit else "budget"
    model = found.model
    value = None if solution.constant else found.value
    label = "largest_that_fits" if solution.fits else "closest_value"
    if solution.constant:
        label = "any_value" if solution.fits else "no_value"
    rows: list[tuple[Cell, ...]] = [(label, value, found.amount, solution.left)]
    if beyond:
        rows.append(("next_value", beyond.value, beyond.amount, solution.budget - beyond.amount))
    config = model.config
    known = [s.key for s in SIZES if config.family.has(s.key) and (s.key != key or value)]
    sizes = {name: getattr(config, name) for name in known}
    section = Section(
        lines=(sizes_line(sizes, model.assumed),),
        columns=(
            Column("answer", "answer", "name"),
            Column(key, key.replace("_", " "), "count"),
            Column(amount, amount.replace("_", " "), "bytes" if limit else "count"),
            Column("left", f"left of the {unit}", "bytes" if limit else "difference"),
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
        amount: found.amount if solution.fits else None,
        "left": solution.left if solution.fits else None,
        "next_value": misses.value if misses and not solution.constant else None,
        f"next_{amount}": misses.amount if misses else None,
        "unbounded": solution.constant and solution.fits,
        "config": config_data(model.config) if value is not None else None,
    }
    return Report((section,), facts, _headline(solution, limit))


def _headline(solution: Solution, limit: Memory | None) -> str:
    name, key = solution.found.model.title, solution.key
    budget = f"within {limit.label if limit else count(solution.budget) + ' parameters'}"
    if solution.constant:
        return f"{name}: {'any' if solution.fits else 'no'} {key} stays {budget}"
    if not solution.fits:
        return f"{name}: no {key} stays {budget}"
    return f"{name}: {count(solution.found.value)} is the largest {key} {budget}"
