"""``albert-calc check``: hold counts against bounds, for CI."""

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import click

from albert_calc.checks.bounds import KEYS, Bounds, read_bounds
from albert_calc.checks.file import read_checks
from albert_calc.checks.measure import EVERY, FLAGS, Measure, read_measure
from albert_calc.checks.record import recorded
from albert_calc.checks.run import Result, held_against, listed_results
from albert_calc.checks.subjects import of_file, of_model, of_preset
from albert_calc.cli.asked import Asked, no_model
from albert_calc.cli.command import model_command, option
from albert_calc.cli.options import PATH, TRAINED_HEADING, typed, under
from albert_calc.cli.reports.check import CI_FORMATS, check_report
from albert_calc.cli.trained import trained_options
from albert_calc.config.files import quoted
from albert_calc.costs.memory import BITS, SHORT_DTYPES
from albert_calc.errors import AlbertCalcError, ConfigError, Problems, first_of
from albert_calc.models.lookup import find_file, find_model, find_named
from albert_calc.models.model import Model, read_model
from albert_calc.render import FORMATS
from albert_calc.report import Report

_T = TypeVar("_T")


@model_command(
    "check",
    "any",
    class_head=True,
    formats=(*FORMATS, *CI_FORMATS),
)
@option("--equals", metavar="N", help="The count must be N.")
@option(
    "--tolerance",
    metavar="T",
    help="With --equals or --same-as: how far it may be off, 1% or a number.",
)
@option("--at-most", metavar="N", help="The count must not be above N.")
@option("--at-least", metavar="N", help="The count must not be below N.")
@option("--at-most-bytes", metavar="SIZE", help="The weights must not take more, such as 500MB.")
@option(
    "--dtype",
    type=click.Choice([*BITS, *SHORT_DTYPES], case_sensitive=False),
    help="With --at-most-bytes: the type of the weights, by default float32.",
)
@option("--same-as", metavar="MODEL", help="The count must be that of MODEL.")
@option(
    "--exactly", is_flag=True, help="With --same-as: every component must have the same count too."
)
@option("--without-embeddings", is_flag=True, help="Leave every embedding table out of counts.")
@option("--trainable", is_flag=True, help="Hold bounds against what is trained.")
@trained_options
@option(
    "--checks",
    type=PATH,
    metavar="FILE",
    help="Read checks from a TOML file; with MODELs, only those that concern them.",
)
@option("--record", is_flag=True, help="Write a file for --checks with today's counts.")
def command(
    asked: Asked, *, checks: str | None, record: bool, **options: Any
) -> Report:  # fmt: skip
    """Check counts against bounds, in CI.

    Exits with 1 if a check is false, and with 2 if one cannot be carried out; every other
    result is written all the same. With -q a table is its last line alone.

    A file for --checks has a [[check]] table for each check. Its model is a preset or a
    config; a config may be a pattern, and is relative to the file:

    \b
      [[check]]
      name = "the encoder that we ship"
      config = "configs/*.json"
      head = "model"
      at_most = "120M"

    \b
      [[check]]
      preset = "albert-base-v2"
      equals = 11683584

    The other keys are layout, share, equals, tolerance, at_least, at_most_bytes with dtype,
    same_as with exactly, without_embeddings, and trainable with lora, lora_targets, train or
    freeze.

    \b
    Examples:
      albert-calc check albert-base-v2 --equals 11683584
      albert-calc check configs/*.json --at-most 3B
      albert-calc check config.json --same-as albert-base-v2 --exactly
      albert-calc check base --at-most-bytes 50MB --dtype float32
      albert-calc check configs/*.json --record > checks.toml
      albert-calc check --checks checks.toml -f github
    """
    contradicted = (*FLAGS, *under(TRAINED_HEADING), *KEYS)
    given = {key: None if options.get(key) is False else options.get(key) for key in KEYS}
    if record:
        _refuse("--record", typed("checks", "format", *contradicted), "it writes bounds")
        _refuse("--record", typed(*asked.request.overrides), "a checks file has no such key")
        if not _named(asked):
            raise ConfigError(no_model("a MODEL"))
        return Report(written="".join(recorded(list(_models(asked)))))
    if checks is not None:
        others = typed("head", "share", "layout", *contradicted)
        others += typed(*asked.request.overrides)
        _refuse("--checks", others, "the file says all of that")
        unlisted: list[str] = []
        return check_report(asked, _of_file(asked, checks, unlisted), unlisted)
    problems = Problems()
    read, measure = Bounds(), EVERY
    with problems.collected():
        read = read_bounds(given)
    with problems.collected():
        measure = read_measure(options)
    with problems.collected():
        _some(asked)
    problems.raise_any(AlbertCalcError)
    return check_report(asked, _held(asked, read, measure))


def _refuse(option: str, others: Sequence[str], reason: str) -> None:
    if others:
        raise click.UsageError(f"{option} contradicts {', '.join(others)}: {reason}")


def _named(asked: Asked) -> list[str]:
    """The models that the line names, as typed."""
    options = asked.options
    return [*options["models"], *options["preset"], *options["config"]]


def _alone(asked: Asked) -> bool:
    """Whether what is wrong with the only model is the whole answer.

    Not so in the formats of CI, which reads there that it cannot be read.
    """
    named = _named(asked)
    return not named or (len(named) == 1 and asked.format not in CI_FORMATS)


def _some(asked: Asked) -> None:
    """Raise an error if no model is asked for, or if the only one cannot be read."""
    if not _named(asked) and not asked.request.overrides:
        raise ConfigError(no_model("a MODEL, sizes (-V -H -L ...), or --checks"))
    if _alone(asked):
        asked.check()


def _each(
    asked: Asked,
    model: Callable[[str], _T],
    preset: Callable[[str], _T],
    config: Callable[[str], _T],
) -> Iterator[tuple[str, Callable[[str], _T]]]:
    """The names of ``_named``, each with the function for what it is a name of."""
    for key, function in (("models", model), ("preset", preset), ("config", config)):
        for name in asked.options[key]:
            yield name, function


def _models(asked: Asked) -> Iterator[tuple[str, Model | AlbertCalcError]]:
    """Each model that the line names, or why it cannot be read."""
    if _alone(asked):
        yield "".join(_named(asked)) or "sizes", asked.model
        return
    for name, find in _each(asked, find_model, find_named, find_file):
        try:
            model = read_model(find(name), asked.request)
        except ConfigError as error:
            yield name, error
            continue
        asked.remember(model)
        yield name, model


def _held(asked: Asked, bounds: Bounds, measure: Measure) -> Iterator[Result]:
    for name, model in _models(asked):
        if isinstance(model, AlbertCalcError):
            yield _unread(name, model)
        else:
            asked.remember(model._replace(notes=measure.notes(model), warnings=()))
            yield from held_against(model, bounds, measure=measure)


def _unread(name: str, error: AlbertCalcError) -> Result:
    """That the model *name* cannot be read, with its file if it is one."""
    path = name if os.path.lexists(name) else ""
    # A file is named by its own problems.
    told = (problem.removeprefix(f"{name}: ") for problem in error.problems)
    return Result(name, error="; ".join(told), path=path)


def _of_file(asked: Asked, path: str, unlisted: list[str]) -> Iterator[Result]:
    """The results of the checks in the file *path*, or of those that concern the models named.

    At the end *unlisted* says of which models there was none: a hook names every config that
    has changed.
    """
    wanted: dict[str, str] = {}
    missing = []
    for name, subject_of in _each(asked, of_model, of_preset, of_file):
        try:
            wanted[name] = subject_of(name)
        except ConfigError as error:
            missing.append(_unread(name, error))
    subjects = set(wanted.values()) if _named(asked) else None
    listed = read_checks(path)
    if subjects is None and not listed:
        # A CI that checks nothing must not pass.
        raise AlbertCalcError(f"{quoted(path)}: has no [[check]] table")
    concerned = set()
    for one in listed:
        for result in listed_results(one, asked.request, subjects):
            concerned.add(result.subject)
            if result.model is not None:
                asked.remember(result.model, once=True)
            yield result._replace(model=None)
    yield from missing
    file = quoted(path)
    others = [name for name, subject in wanted.items() if subject not in concerned]
    texts = [f"{quoted(name)}: no check in {file} concerns it" for name in others]
    unlisted += first_of(texts, "more that no check concerns")
