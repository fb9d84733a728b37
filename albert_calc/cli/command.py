"""What every command does alike: it asks for models, returns a report, and that is written.

A command is a function decorated with ``model_command`` (a MODEL, or several) or
``plain_command``. It gets what was asked and the values of its own options, and returns a
``Report`` or a picture, or nothing if it has written its rows itself. The decorator adds the
options that such commands share, says what a reader should know of the models, writes the
result, and sets the exit status, which is the report's. What cannot be done is
an ``AlbertCalcError`` with all problems at once.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import click

from albert_calc.cli.options import (
    HEADINGS,
    MODEL,
    OUTPUT_HEADING,
    Once,
    Option,
    head_option,
    layout_option,
    output_options,
    share_option,
    size_options,
    source_options,
    typed,
)
from albert_calc.cli.output import emit, say, write
from albert_calc.errors import Problems, first_of
from albert_calc.families.sizes import SIZES, size_problems
from albert_calc.models.lookup import Found, find_file, find_model, find_named
from albert_calc.models.model import DEFAULT_LAYOUT, Model, Request, read_model
from albert_calc.render import FORMATS
from albert_calc.report import Report

if TYPE_CHECKING:
    from albert_calc.pictures.picture import Picture

_UNBROKEN = "\u2011"
"""A hyphen at which no line is broken."""

ALL_SIZES = "VEHLIAPTGNC"

Many = Literal["one", "some", "any"]
Function = Callable[..., "Report | Picture | None"]

_OVERRIDES = (*(s.key for s in SIZES), "model_type", "tie_word_embeddings")
"""The parameters that are put over a config's keys."""


class Asked:
    """What a command line asks for: models, and how each is to be read.

    ``format`` is the one asked for, and ``save`` the file that a picture goes to, if any.
    Nothing is read before it is needed, so that a command can name other problems as well.
    """

    def __init__(
        self,
        options: Mapping[str, Any],
        *,
        many: Many,
        class_head: bool = False,
        lists: bool = False,
    ) -> None:
        self.options = options
        self.many = many
        self.lists = lists
        self.format: str = options.get("format", "table")
        self.quiet: bool = options.get("quiet", False)
        self.save: str | None = options.get("save")
        self.request = Request(
            {k: options[k] for k in _OVERRIDES if options.get(k) is not None},
            options.get("head"),
            options.get("layout") or DEFAULT_LAYOUT,
            options.get("share"),
            options.get("strict") or False,
            class_head,
            headless="head" not in options,
        )
        self._read: list[Model] = []

    @cached_property
    def found(self) -> list[Found]:
        """The configs that the line names, each once; sizes alone are one.

        Raises ``ConfigError`` with all problems.
        """
        problems = Problems()
        found: list[Found] = []
        for find, names in (
            (find_model, self.options.get("models")),
            (find_named, self.options.get("preset")),
            (find_file, self.options.get("config")),
        ):
            for name in _several(names):
                with problems.collected():
                    found.append(find(name))
        if problems and not self.lists:
            # The sizes that were typed can be wrong as well.
            sizes = self.request.overrides
            problems += [p for s in SIZES for p in size_problems(s, sizes.get(s.key), False)]
        problems.raise_any()
        if not found and self.request.overrides:
            found.append(Found("sizes", {}, "sizes"))
        if not found and self.many != "any":
            raise click.UsageError("no model: give a MODEL, or sizes (-V -H -L ...)")
        if self.many == "one" and len(found) > 1:
            names = " ".join(f.name for f in found)
            raise click.UsageError(
                f"one model at a time; albert-calc compare {names} sets them side by side"
            )
        return found

    @cached_property
    def models(self) -> list[Model]:
        """The models; raises ``ConfigError`` with the problems of all."""
        return self.read(self.found, self.request)

    @property
    def model(self) -> Model:
        """The only model."""
        return self.models[0]

    def read(self, found: Sequence[Found], request: Request) -> list[Model]:
        """*found* as *request* wants them, remembered for what is said about them."""
        problems = Problems()
        models = []
        for one in found:
            with problems.collected():
                models.append(read_model(one, request))
        problems.raise_any()
        self._read += models
        return models

    def remember(self, model: Model, *, once: bool = False) -> None:
        """Have said about *model* what there is to say, *once* for all that are equal."""
        said = model.notes or model.warnings
        if said and not (once and any(m.config == model.config for m in self._read)):
            self._read.append(model)

    def say_about_models(self) -> None:
        """Tell what was assumed of the models that were read, and what is odd."""
        several = len(self._read) > 1
        for kind in ("note", "warning"):
            texts = [
                f"{model.name}: {text}" if several else text
                for model in self._read
                for text in (model.notes if kind == "note" else model.warnings)
            ]
            say(kind, first_of(list(dict.fromkeys(texts)), f"more {kind}s"))


def _several(names: Any) -> Sequence[str]:
    if names is None:
        return ()
    return (names,) if isinstance(names, str) else names


def model_command(
    name: str,
    many: Many = "one",
    *,
    formats: Sequence[str] = FORMATS,
    sizes: str = ALL_SIZES,
    lists: bool = False,
    heads: bool = True,
    class_head: bool = False,
    picture: str = "",
) -> Callable[[Function], click.Command]:
    """A command named *name* that takes a MODEL, or *some*, or *any* number, none included.

    *sizes* are those that have options, as *lists* where several values are allowed; without
    *heads* there is neither a head nor a layout, and with *class_head* a file is read with the
    head of the class that it names. *picture* is a flag, such as ``--chart``,
    with which the command returns a picture.
    """
    argument = click.Argument(
        ["models"],
        nargs=-1,
        type=MODEL,
        metavar={"one": "[MODEL]", "some": "[MODEL]...", "any": "[MODEL]..."}[many],
    )
    shared = source_options(several=many != "one")
    if heads:
        head = "that of the class which a config file names, else model" if class_head else "model"
        own = [] if lists else [head_option(head), share_option()]
        shared += [*own, layout_option()]
    shared += size_options(sizes, lists=lists)

    def decorate(function: Function) -> click.Command:
        def run(**options: Any) -> int:
            _refuse_contradiction(picture)
            asked = Asked(options, many=many, class_head=class_head, lists=lists)
            own = {p.name: options[p.name] for p in _own(function) if p.name}
            return _finished(asked, function(asked, **own))

        return _command(name, run, function, [argument], shared, formats, picture)

    return decorate


def plain_command(
    name: str, *, formats: Sequence[str] = FORMATS, picture: str = ""
) -> Callable[[Function], click.Command]:
    """A command named *name* that takes no MODEL."""

    def decorate(function: Function) -> click.Command:
        def run(**options: Any) -> int:
            _refuse_contradiction(picture)
            asked = Asked(options, many="any")
            own = {p.name: options[p.name] for p in _own(function) if p.name}
            return _finished(asked, function(asked, **own))

        return _command(name, run, function, [], [], formats, picture)

    return decorate


def option(*names: str, **attributes: Any) -> Callable[[Function], Function]:
    """An option of a command's own; it may be given once, unless it is a flag or ``multiple``."""
    kind = Option if attributes.get("is_flag") or attributes.get("multiple") else Once

    def decorate(function: Function) -> Function:
        return with_parameters(function, [kind(names, **attributes)])

    return decorate


def argument(name: str, **attributes: Any) -> Callable[[Function], Function]:
    """An argument of a command's own."""

    def decorate(function: Function) -> Function:
        return with_parameters(function, [click.Argument([name], **attributes)])

    return decorate


def with_parameters(function: Function, parameters: Sequence[click.Parameter]) -> Function:
    """*function* with *parameters* before those that it has."""
    vars(function).setdefault("parameters", [])[:0] = parameters
    return function


def _own(function: Function) -> list[click.Parameter]:
    found: list[click.Parameter] = vars(function).get("parameters", [])
    return found


def _command(
    name: str,
    run: Callable[..., int],
    function: Function,
    before: Sequence[click.Parameter],
    shared: Sequence[click.Parameter],
    formats: Sequence[str],
    picture: str,
) -> click.Command:
    drawing: list[click.Parameter] = []
    if picture:
        drawing.append(
            Once(
                ["--save"], type=click.Path(), metavar="FILE", heading=OUTPUT_HEADING,
                help="Write the picture to FILE: .svg, .png or .pdf (with albert-calc[plot]),"
                " .txt, or .html. A file that is there is replaced.",
            )
        )  # fmt: skip
    own = _own(function)
    arguments = [p for p in own if isinstance(p, click.Argument)]
    options = [p for p in own if not isinstance(p, click.Argument)]
    return HeadedCommand(
        name,
        callback=run,
        params=[*before, *arguments, *options, *output_options(formats), *drawing, *shared],
        help=inspect.cleandoc(function.__doc__ or ""),
    )


def _refuse_contradiction(picture: str) -> None:
    """Refuse a format beside *picture*, a flag, or beside a file to save it to."""
    flags = typed(picture.removeprefix("--"), "save") if picture else []
    if flags and typed("format"):
        raise click.UsageError(f"{flags[0]} and --format contradict each other: give one of them")


def _finished(asked: Asked, result: "Report | Picture | None") -> int:
    """Say what there is to say, write *result*, and give the exit status."""
    if not asked.quiet:
        asked.say_about_models()
    if result is None:
        return 0
    if not isinstance(result, Report):
        from albert_calc.cli.drawing import show

        show(result, asked.save)
        return 0
    if not asked.quiet:
        say("note", result.remarks)
    say("warning", result.warnings)
    say("error", result.errors)
    if result.written is not None:
        write(result.written)
    elif asked.save:
        from albert_calc.cli.drawing import save_report

        save_report(result, asked.save)
    else:
        emit(result._replace(headline="") if asked.quiet else result, asked.format)
    return result.status


class HeadedCommand(click.Command):
    """A command whose help lists its options under headings, its own first."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, a list for each heading; no word is broken at its hyphen."""
        lists: dict[str, list[tuple[str, str]]] = {heading: [] for heading in HEADINGS}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None and isinstance(parameter, click.Option):
                names, text = record
                heading = getattr(parameter, "heading", OUTPUT_HEADING)
                lists[heading].append((names, text.replace("-", _UNBROKEN)))
        for heading, records in lists.items():
            if records:
                with formatter.section(heading):
                    formatter.write_dl(records)

    def get_help(self, ctx: click.Context) -> str:
        """The help as text."""
        return super().get_help(ctx).replace(_UNBROKEN, "-")
