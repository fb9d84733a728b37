"""The options that commands share: their types, and how one that holds a value is read."""

import os
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from albert_calc.config.presets import all_presets, preset_names
from albert_calc.families import FAMILIES, HEADS, head_meant
from albert_calc.families.base import LAYOUTS, SHARES
from albert_calc.families.sizes import SIZES
from albert_calc.writing.harmless import shown

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

OWN_HEADING = "Options"
BATCH_HEADING = "Batch and training"
TRAINED_HEADING = "What is trained"
OUTPUT_HEADING = "Output"
MODEL_HEADING = "Model"
SIZES_HEADING = "Sizes, put over those of the model"

HEADINGS = (OWN_HEADING, BATCH_HEADING, TRAINED_HEADING, OUTPUT_HEADING, MODEL_HEADING,
            SIZES_HEADING)  # fmt: skip
"""The headings of a command's help, in their order."""


class Option(click.Option):
    """An option under a heading of the help; an empty text is no value of any."""

    def __init__(self, *names: Any, heading: str = OWN_HEADING, **attributes: Any) -> None:
        super().__init__(*names, **attributes)
        self.heading = heading

    def process_value(self, ctx: click.Context, value: Any) -> Any:
        """The value; what a shell variable that is not set leaves is refused."""
        empty = value == "" or (isinstance(value, list | tuple) and "" in value)
        if empty and not ctx.resilient_parsing:
            raise click.UsageError(f"an empty value: {max(self.opts, key=len)}", ctx)
        try:
            return super().process_value(ctx, value)
        except click.BadParameter as error:
            if isinstance(error, click.MissingParameter):
                raise
            # Told when the line has been read, with what else is wrong with it.
            wrong_values(ctx).append(error)
            return None


class Once(Option):
    """An option that holds one value: given again, it is refused, where click takes the last."""

    def __init__(self, *names: Any, default: Any = None, **attributes: Any) -> None:
        several = None if default is None else (default,)
        super().__init__(*names, multiple=True, default=several, **attributes)

    def process_value(self, ctx: click.Context, value: Any) -> Any:
        """The only value given, or the default."""
        given = ctx.get_parameter_source(self.name or "") is ParameterSource.COMMANDLINE
        if not (given or self.default or self.required):
            return None
        values = super().process_value(ctx, value) or ()
        if given and len(values) > 1 and not ctx.resilient_parsing:
            raise click.UsageError(f"given more than once: {max(self.opts, key=len)}", ctx)
        return values[0] if values else None


def wrong_values(ctx: click.Context) -> list[click.BadParameter]:
    """The values on the line of *ctx* that no option takes, as click tells of each."""
    found: list[click.BadParameter] = ctx.meta.setdefault(f"{__name__}.wrong", [])
    return found


class SizeType(click.ParamType[int | str]):
    """A quantity such as 30522, 30,522 or 12M.

    Text that is none is passed on as it is: all problems are named at once.
    """

    name = "size"

    def __init__(self, commas: bool = True) -> None:
        self.commas = commas

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> int | str:
        """The number that *value* stands for, or *value* itself."""
        from albert_calc.writing.quantity import parse_quantity

        try:
            if isinstance(value, int) or (not self.commas and "," in value):
                return value if isinstance(value, int) else str(value)
            return parse_quantity(value)
        except ValueError:
            return str(value)


class PresetType(click.ParamType[str]):
    """The name of a preset, with completion in the shell."""

    name = "preset"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> "list[CompletionItem]":
        """The names that begin with *incomplete*."""
        from click.shell_completion import CompletionItem

        return [CompletionItem(n) for n in names_like(incomplete)]


class ModelType(PresetType):
    """A MODEL: the name of a preset or a path, with completion of both in the shell."""

    name = "model"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> "list[CompletionItem]":
        """The names that begin with *incomplete*, else files: bash shows one kind at a time."""
        from click.shell_completion import CompletionItem

        folder = os.path.isdir(os.path.dirname(incomplete))
        names = [] if folder else super().shell_complete(ctx, param, incomplete)
        return names or [CompletionItem(incomplete, type="file")]


class NameType(click.ParamType[str]):
    """A text whose completion is one of *names*, or with commas several of them."""

    name = "name"

    def __init__(self, names: Callable[[], Iterable[str]], *, several: bool = False) -> None:
        self.names = names
        self.several = several

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> "list[CompletionItem]":
        """The names that begin with *incomplete*, or with what stands after its last comma."""
        from click.shell_completion import CompletionItem

        before, comma, last = incomplete.rpartition(",") if self.several else ("", "", incomplete)
        names = (n for n in self.names() if n.lower().startswith(last.lower()))
        return [CompletionItem(f"{before}{comma}{n}") for n in names]


def names_like(incomplete: str) -> list[str]:
    """The names of presets that begin with *incomplete*; their hub ids once there is a slash."""
    lower = incomplete.lower()
    names = [p.hub for p in all_presets() if p.hub] if "/" in incomplete else preset_names()
    return [n for n in names if n.lower().startswith(lower)]


class PathType(click.ParamType[str]):
    """A path with completion in the shell, left to whoever opens it to check."""

    name = "path"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> "list[CompletionItem]":
        """Files, by the shell's own completion."""
        from click.shell_completion import CompletionItem

        return [CompletionItem(incomplete, type="file")]


SIZE = SizeType()
NUMBER = SizeType(commas=False)
MODEL = ModelType()
PATH = PathType()


class HeadType(click.Choice[str]):
    """The name of a head; what others call it is answered with its name here."""

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:
        """The names there are, unless it is known which one is meant."""
        if head_meant(str(value)):
            return f"no head has this name, got {shown(str(value))}"
        return super().get_invalid_choice_message(value, ctx)


HEAD = HeadType(HEADS, case_sensitive=False)


def one_of(names: Iterable[str]) -> "click.Choice[str]":
    """One of *names*, in any case."""
    return click.Choice(tuple(names), case_sensitive=False)


def size_options(
    symbols: str, *, lists: bool = False, heading: str = SIZES_HEADING
) -> list[click.Parameter]:
    """An option for each of the sizes with these *symbols*, named after its key.

    With *lists* its text is passed on, to be read as values and ranges.
    """
    return [
        Once(
            [
                *([f"-{size.symbol}"] if size.usual is None else []),
                f"--{dashed(size.key)}",
                size.key,
            ],
            type=click.STRING if lists else SIZE,
            metavar="VALUES" if lists else "N",
            help=f"{size.symbol}: {size.meaning}.",
            heading=heading,
        )
        for size in SIZES
        if size.symbol in symbols
    ]


def source_options(*, several: bool = False) -> list[click.Parameter]:
    """``--preset`` and ``--config``: a MODEL by another way."""
    more = " Repeatable." if several else ""
    kind = Option if several else Once
    more_once = {"multiple": True} if several else {}
    return [
        kind(
            ["--preset"], type=PresetType(), metavar="NAME", heading=MODEL_HEADING,
            help=f"A MODEL by name; see 'albert-calc presets'.{more}", **more_once,
        ),
        kind(
            ["--config"], type=PATH, metavar="PATH", heading=MODEL_HEADING,
            help="A MODEL in a file: a config.json, a directory that has one, or - for"
            f" standard input.{more}", **more_once,
        ),
        Once(
            ["--model-type"], type=one_of(list(FAMILIES)), metavar="TYPE",
            heading=MODEL_HEADING,
            help=f"The family, where a config does not say: {', '.join(FAMILIES)}.",
        ),
        Option(
            ["--tie-word-embeddings/--no-tie-word-embeddings"], default=None,
            heading=MODEL_HEADING, help="Whether the output layer is the token table.",
        ),
        Option(
            ["--strict"], is_flag=True, heading=MODEL_HEADING,
            help="Refuse keys of a config that would only be warned about.",
        ),
    ]  # fmt: skip


def head_option(default: str) -> click.Parameter:
    """``--head``, which is by *default* what that text says."""
    return Once(
        ["--head"], type=HEAD, metavar="HEAD", heading=MODEL_HEADING,
        help=f"What stands on the encoder: {', '.join(HEADS)}. By default {default}.",
    )  # fmt: skip


def share_option() -> click.Parameter:
    """``--share``."""
    return Once(
        ["--share"], type=one_of(SHARES), heading=MODEL_HEADING,
        help="Which blocks the layers share, by default as the model type does.",
    )  # fmt: skip


def layout_option() -> click.Parameter:
    """``--layout``."""
    return Once(
        ["--layout"], type=one_of(LAYOUTS), default=LAYOUTS[0], show_default=True,
        heading=MODEL_HEADING,
        help="Which model the totals describe: the published code, the book, the paper.",
    )  # fmt: skip


def output_options(formats: Sequence[str]) -> list[click.Parameter]:
    """``-f/--format`` with these *formats*, the first by default, and ``-q/--quiet``."""
    return [
        Once(
            ["-f", "--format"], type=one_of(formats), default=formats[0],
            show_default=True, heading=OUTPUT_HEADING, help="How the result is written.",
        ),
        Option(
            ["-q", "--quiet"], is_flag=True, heading=OUTPUT_HEADING,
            help="Leave out the sentence above tables, and notes.",
        ),
    ]  # fmt: skip


def dashed(key: str) -> str:
    """A key as options spell it."""
    return key.replace("_", "-")


def refuse_beside(some: Sequence[str], others: Sequence[str]) -> None:
    """Refuse a line that has one of the parameters *some* and one of *others*."""
    these, those = typed(*some), typed(*others)
    if these and those:
        raise click.UsageError(f"{these[0]} and {those[0]} contradict each other: give one of them")


def refuse_without(name: str, others: Sequence[str]) -> None:
    """Refuse a line that has one of the parameters *others*, which belong to *name*, alone."""
    idle = [] if typed(name) else typed(*others)
    if idle:
        raise click.UsageError(f"{idle[0]} belongs to --{dashed(name)}: give both or none")


def under(heading: str) -> list[str]:
    """The parameters of the command that runs whose options stand under *heading*."""
    options = click.get_current_context().command.params
    return [o.name for o in options if o.name and getattr(o, "heading", "") == heading]


def typed(*names: str) -> list[str]:
    """Those of the parameters *names* that stand on the command line, as options."""
    context = click.get_current_context()
    return [
        f"--{dashed(name)}"
        for name in names
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE
    ]
