"""Checks carried out: each bound held against a model, and what cannot be read told."""

import glob
import os
from collections.abc import Collection, Iterator
from functools import lru_cache
from typing import NamedTuple

from albert_calc.checks.bounds import Bounds, Measured, Outcome, outcomes
from albert_calc.checks.file import Listed
from albert_calc.checks.measure import EVERY, Measure
from albert_calc.checks.subjects import real_config
from albert_calc.config.presets import find_preset
from albert_calc.errors import AlbertCalcError
from albert_calc.models.lookup import Found, find_file, find_model, find_named
from albert_calc.models.model import DEFAULT_LAYOUT, Model, Request, read_model
from albert_calc.writing.harmless import shown


class Result(NamedTuple):
    """One bound held against one model, or the reason why a model cannot be read.

    ``path`` is the file that the model came from, if any, and ``subject`` what a check of a
    file is of, as ``albert_calc.checks.subjects`` tells them apart.
    """

    name: str
    head: str = ""
    layout: str = ""
    outcome: Outcome | None = None
    error: str = ""
    path: str = ""
    model: Model | None = None
    subject: str = ""

    @property
    def holds(self) -> bool | None:
        """Whether the bound holds; ``None`` if the model could not be read."""
        return self.outcome.holds if self.outcome else None


def held_against(
    model: Model, bounds: Bounds, *, name: str = "", measure: Measure = EVERY, near: bool = True
) -> Iterator[Result]:
    """What each of *bounds* says of *model*; unknown names with those that are *near*."""
    label = name or model.name
    try:
        found = measure.of(model, bounds.dtype)
        same = _same(model, bounds, measure, near) if bounds.same_as else None
    except AlbertCalcError as error:
        reason = "; ".join(error.problems)
        yield Result(label, model.head, model.layout, error=reason, path=model.path)
        return
    noted = model._replace(notes=(*model.notes, *measure.notes(model)))
    for outcome in outcomes(found, bounds, same):
        yield Result(label, model.head, model.layout, outcome, path=model.path, model=noted)


def _same(model: Model, bounds: Bounds, measure: Measure, near: bool) -> Measured:
    other = _other(bounds.same_as, model.head, model.layout, near)
    if isinstance(other, AlbertCalcError):
        raise other
    return measure.of(other, bounds.dtype)


# Many checks are against few models.
@lru_cache(maxsize=256)
def _other(text: str, head: str, layout: str, near: bool) -> Model | AlbertCalcError:
    """The model that another must be the same as, or why it cannot be read."""
    try:
        return read_model(find_model(text, near=near), Request(head=head, layout=layout))
    except AlbertCalcError as error:
        return error


def listed_results(
    listed: Listed, request: Request, wanted: Collection[str] | None = None
) -> Iterator[Result]:
    """The results of a check in a file, for each config that it names.

    Where some subjects are *wanted*, those of them alone; there may be none.
    """
    try:
        sources = _sources(listed)
    except AlbertCalcError as error:
        if wanted is None:
            yield Result(listed.name, error="; ".join(error.problems), path=listed.config)
        return
    own = request._replace(
        head=listed.head, layout=listed.layout or DEFAULT_LAYOUT, share=listed.share, overrides={}
    )
    near = listed.number <= _MOST_NEAR
    for path in sources:
        subject = _subject(listed, path)
        if wanted is not None and subject not in wanted:
            continue
        name = listed.name if len(sources) == 1 else f"{listed.name}: {os.path.relpath(path)}"
        model = _model(listed.preset, path, own.head, own.layout, own.share, own.strict, near)
        if isinstance(model, AlbertCalcError):
            yield Result(name, error="; ".join(model.problems), path=path, subject=subject)
            continue
        for result in held_against(
            model, listed.bounds, name=name, measure=listed.measure, near=near
        ):
            yield result._replace(subject=subject)


def _subject(listed: Listed, path: str) -> str:
    if path:
        return real_config(path)
    preset = find_preset(listed.preset)
    return preset.name if preset else ""


_MOST_WILD, _MOST_DIRECTORIES = 8, 10_000
_MOST_NEAR = 100
"""How many checks of a file are answered with near names, whose search takes its time."""


def _sources(listed: Listed) -> list[str]:
    """The files that a check names: one, or all that a pattern fits; nothing for a preset."""
    if listed.preset:
        return [""]
    path = os.path.join(listed.folder, listed.config)
    if not glob.has_magic(listed.config) or os.path.exists(path):
        return [path]
    found = _fitting(listed.config, listed.folder)
    if not found:
        raise AlbertCalcError(f"config: no file fits the pattern {shown(listed.config)}")
    return [os.path.join(listed.folder, p) for p in found]


@lru_cache(maxsize=256)
def _fitting(pattern: str, folder: str) -> tuple[str, ...]:
    """The files in *folder* that *pattern* fits; ``**/`` may stand in it once.

    Links to directories are not followed below ``**/``, and no more than so many directories
    are looked into: a file of checks cannot keep a machine busy.
    """
    before, anywhere, after = pattern.partition("**/")
    if "**" in before + after:
        raise AlbertCalcError(
            f"config: ** may stand once, as in configs/**/config.json, got {shown(pattern)}"
        )
    if sum(map(glob.has_magic, pattern.split("/"))) > _MOST_WILD:
        raise AlbertCalcError(
            f"config: at most {_MOST_WILD} parts may have wildcards, got {shown(pattern)}"
        )
    if not anywhere:
        return tuple(sorted(glob.glob(pattern, root_dir=folder or None)))
    found: set[str] = set()
    looked_into = 0
    for start in glob.glob(before, root_dir=folder or None) if before else [""]:
        for place, _, _ in os.walk(os.path.join(folder, start) or "."):
            looked_into += 1
            if looked_into > _MOST_DIRECTORIES:
                raise AlbertCalcError(
                    f"config: more than {_MOST_DIRECTORIES:,} directories below"
                    f" {shown(before or '.')}, got {shown(pattern)}"
                )
            inside = os.path.relpath(place, folder or ".")
            names = glob.glob(after, root_dir=place)
            found.update(os.path.normpath(os.path.join(inside, name)) for name in names)
    return tuple(sorted(found))


# Many checks are of few models.
@lru_cache(maxsize=256)
def _model(
    preset: str,
    path: str,
    head: str | None,
    layout: str,
    share: str | None,
    strict: bool,
    near: bool,
) -> Model | AlbertCalcError:
    """The model of a check, or why it cannot be read."""
    request = Request({}, head, layout, share, strict, class_head=True)
    try:
        return read_model(_named(preset, near) if preset else _file(path), request)
    except AlbertCalcError as error:
        return error


@lru_cache(maxsize=64)
def _named(name: str, near: bool) -> Found:
    return find_named(name, near=near)


@lru_cache(maxsize=4)
def _file(path: str) -> Found:
    return find_file(path, regular=True)
