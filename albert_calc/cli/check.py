"""``albert-calc check``: hold a count against bounds, for CI."""

from collections.abc import Sequence
from typing import Any

import click

from albert_calc.checks.bounds import outcomes, read_bounds
from albert_calc.checks.file import Check, read_checks
from albert_calc.cli.command import command
from albert_calc.cli.options import (
    InputPath,
    format_option,
    head_option,
    layout_option,
    one_requested,
    share_option,
    source_options,
    typed,
)
from albert_calc.cli.output import emit
from albert_calc.cli.remarks import say_about_model
from albert_calc.counts import count_parameters
from albert_calc.errors import Problems
from albert_calc.report import Column, Report, Section


@command()
@source_options()
@head_option
@share_option
@layout_option
@click.option("--equals", metavar="N", help="The count must be N.")
@click.option("--tolerance", metavar="T", help="With --equals: off by 1% or a number at most.")
@click.option("--at-most", metavar="N", help="The count must not be above N.")
@click.option("--at-least", metavar="N", help="The count must not be below N.")
@click.option(
    "--checks", type=InputPath(), metavar="FILE", help="Read many checks from a TOML file."
)
@format_option
def check(
    head: str, share: str | None, layout: str, checks: str | None, format: str, **options: Any
) -> int:
    """Check counts against bounds, in CI.

    Exits with 1 if a check is false.

    A file for --checks has a [[check]] table for each check, with the keys name, preset
    or config, head, layout, share, equals, tolerance, at_most and at_least. Paths in it are
    relative to the file.

    \b
    Examples:
      albert-calc check --preset albert-base-v2 --equals 11683584
      albert-calc check --config config.json --at-most 12M --at-least 11M
      albert-calc check --preset albert-base-v2 --equals 12M --tolerance 3%
      albert-calc check --checks checks.toml
    """
    if checks is not None:
        given = typed(*options, "head", "share", "layout")
        if given:
            named = ", ".join(given)
            raise click.UsageError(f"--checks contradicts {named}: the file says all of that")
        found = read_checks(checks)
    else:
        found = [_only_check(options, head, share, layout)]
    for c in found:
        say_about_model(c.config, c.head, c.layout, "" if checks is None else c.name)
    report = _report(found)
    emit(report, format)
    return 0 if report.data["ok"] else 1


def _only_check(
    options: dict[str, Any], head: str, share: str | None, layout: str
) -> Check:  # fmt: skip
    problems = Problems()
    with problems.collected():
        bounds = read_bounds(options)
    with problems.collected():
        source = one_requested({**options, "share": share})
        config = source.config(share, head, layout)
    problems.raise_any()
    total = count_parameters(config, head, layout).total
    return Check(source.name, config, head, layout, total, bounds)


def _report(checks: Sequence[Check]) -> Report:
    results = [(c, o) for c in checks for o in outcomes(c.found, c.bounds)]
    section = Section(
        title="Checks",
        columns=(
            Column("name", "check", "text"),
            Column("rule", "rule", "text"),
            Column("tolerance", "tolerance", "text"),
            Column("expected", "expected", "count"),
            Column("found", "found", "count"),
            Column("difference", "difference", "difference"),
            Column("result", "result", "text"),
        ),
        rows=tuple(
            (
                c.name,
                o.rule,
                o.tolerance,
                o.expected,
                o.found,
                o.difference,
                "ok" if o.holds else "FAILED",
            )
            for c, o in results
        ),
    )
    data = {
        "ok": all(o.holds for _, o in results),
        "checks": [
            {
                "name": c.name,
                "head": c.head,
                "layout": c.layout,
                "rule": o.rule,
                "tolerance": o.tolerance or None,
                "expected": o.expected,
                "found": o.found,
                "difference": o.difference,
                "ok": o.holds,
            }
            for c, o in results
        ],
    }
    return Report((section,), data)
