"""What every command does alike: it asks for models, returns a report, and that is written.

A command is a function decorated with ``model_command`` (a MODEL, or several) or
``plain_command``. It gets what was asked and the values of its own options, and returns a
``Report`` or a picture, or nothing if it has written its rows itself. The decorator adds the
options that such commands share, says what a reader should know of the models, writes the
result, and sets the exit status, which is the report's. What cannot be done is
an ``AlbertCalcError`` with all problems at once.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from albert_calc.cli.asked import Asked, Many
from albert_calc.cli.help import HeadedCommand, help_option
from albert_calc.cli.options import (
    MODEL,
    OUTPUT_HEADING,
    PATH,
    Once,
    Option,
    head_option,
    layout_option,
    output_options,
    refuse_beside,
    share_option,
    size_options,
    source_options,
    wrong_values,
)
from albert_calc.cli.output import emit, say, write
from albert_calc.errors import Problems
from albert_calc.render import FORMATS
from albert_calc.report import Report

if TYPE_CHECKING:
    from albert_calc.pictures.picture import Picture

ALL_SIZES = "VEHLIAPTGNC"

Function = Callable[..., "Report | Picture | None"]


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
    undrawn: Sequence[str] = (),
) -> Callable[[Function], click.Command]:
    """A command named *name* that takes *one* MODEL, or *some*, or *any* number, none included.

    *sizes* are those that have options, as *lists* where several values are allowed; without
    *heads* there is neither a head nor a layout, and with *class_head* a file is read with the
    head of the class that it names. *picture* is a flag, such as ``--chart``,
    with which the command returns a picture, and *undrawn* are parameters that it
    shows nothing of.
    """
    argument = click.Argument(
        ["models"],
        nargs=-1,
        type=MODEL,
        metavar="[MODEL]" if many == "one" else "[MODEL]...",
    )
    shared = source_options(several=many != "one")
    if heads:
        head = "that of the class which a config file names, else model" if class_head else "model"
        own = [] if lists else [head_option(head), share_option()]
        shared += [*own, layout_option()]
    shared += size_options(sizes, lists=lists)

    def decorate(function: Function) -> click.Command:
        def run(**options: Any) -> int:
            if picture:
                refuse_beside((picture.removeprefix("--"), "save"), ("format", *undrawn))
            asked = Asked(options, many=many, class_head=class_head, lists=lists)
            _refuse_wrong_values(asked)
            own = {p.name: options[p.name] for p in _own(function) if p.name}
            return _finished(asked, function(asked, **own))

        return _command(name, run, function, [argument], shared, formats, picture)

    return decorate


def plain_command(
    name: str, *, formats: Sequence[str] = FORMATS
) -> Callable[[Function], click.Command]:
    """A command named *name* that takes no MODEL."""

    def decorate(function: Function) -> click.Command:
        def run(**options: Any) -> int:
            asked = Asked(options, many="any")
            _refuse_wrong_values(asked)
            own = {p.name: options[p.name] for p in _own(function) if p.name}
            return _finished(asked, function(asked, **own))

        return _command(name, run, function, [], [], formats, "")

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
                ["--save"], type=PATH, metavar="FILE", heading=OUTPUT_HEADING,
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
        params=[
            *before, *arguments, *options, *output_options(formats), *drawing, *shared,
            help_option(),
        ],
        add_help_option=False,
        help=function.__doc__,
    )  # fmt: skip


def _refuse_wrong_values(asked: Asked) -> None:
    """Refuse values that no option takes, together with what is wrong with models and sizes."""
    wrong = wrong_values(click.get_current_context())
    if not wrong:
        return
    problems = Problems(" ".join(error.format_message().split()) for error in wrong)
    with problems.collected():
        asked.check_named()
    if len(problems) == 1:
        raise wrong[0]
    problems.raise_any()


def _finished(asked: Asked, result: "Report | Picture | None") -> int:
    """Say what there is to say, write *result*, and give the exit status."""
    asked.say_about_models()
    if result is None:
        return 0
    if not isinstance(result, Report):
        from albert_calc.cli.drawing import show

        show(result, asked.save, quiet=asked.quiet)
        return 0
    if not asked.quiet:
        say("note", result.remarks)
    say("warning", result.warnings)
    say("error", result.errors)
    if result.written is not None:
        write(result.written)
    elif asked.save:
        from albert_calc.cli.drawing import save_report

        save_report(result, asked.save, quiet=asked.quiet)
    else:
        emit(result._replace(headline="") if asked.quiet else result, asked.format)
    return result.status
