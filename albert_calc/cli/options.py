"""The options that commands share, and the models that they ask for."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import click
from click.core import ParameterSource

from albert_calc.architectures import ARCHITECTURES, HEADS, LAYOUTS, SHARES
from albert_calc.config import ModelConfig
from albert_calc.configfile import quoted, read_config
from albert_calc.errors import Problems
from albert_calc.presets import load_preset, preset_names
from albert_calc.quantity import parse_quantity
from albert_calc.render import FORMATS
from albert_calc.sizes import SIZES, size_problems
from albert_calc.tensors import read_model
from albert_calc.text import shown

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

Function = Callable[..., Any]
Decorator = Callable[[Function], Function]


class SizeType(click.ParamType[int | str]):
    """A quantity such as 30522, 30,522 or 12M.

    Text that is none is passed on as it is: the config names all its problems at once.
    """

    name = "size"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> int | str:
        """The number that *value* stands for, or *value* itself."""
        try:
            return value if isinstance(value, int) else parse_quantity(value)
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

        return [CompletionItem(n) for n in preset_names() if n.startswith(incomplete)]


class InputPath(click.Path):
    """A path with completion in the shell, left to whoever opens it to check."""

    def convert(
        self,
        value: str | os.PathLike[str],
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> str:
        """*value* unchanged."""
        return os.fspath(value)


SIZE = SizeType()
PRESET = PresetType()


def size_options(*symbols: str, lists: bool = False) -> Decorator:
    """One option for each of the sizes with these *symbols*, named after its key.

    With *lists* its text is passed on, to be read as values and ranges.
    """

    def decorate(command: Function) -> Function:
        for size in reversed(SIZES):
            if size.symbol in symbols:
                command = click.option(
                    *([f"-{size.symbol}"] if size.usual is None else []),
                    f"--{size.key.replace('_', '-')}",
                    size.key,
                    type=click.STRING if lists else SIZE,
                    metavar="VALUES" if lists else "N",
                    help=f"{size.symbol}: {size.meaning}.",
                )(command)
        return command

    return decorate


def format_choice(*formats: str) -> Decorator:
    """``-f/--format`` with these *formats*, the first by default."""
    return click.option(
        "-f", "--format", type=click.Choice(formats), default=formats[0],
        show_default=True, help="How the result is written.",
    )  # fmt: skip


format_option = format_choice(*FORMATS)
"""``-f/--format`` with the formats of every report."""


def share_option(command: Function) -> Function:
    """``--share``."""
    return click.option(
        "--share", type=click.Choice(SHARES), help="Which blocks the layers share."
    )(command)


def layout_option(command: Function) -> Function:
    """``--layout``."""
    return click.option(
        "--layout", type=click.Choice(LAYOUTS), default=LAYOUTS[0], show_default=True,
        help="Which model the totals describe: the published code, the book, the paper.",
    )(command)  # fmt: skip


def head_option(command: Function) -> Function:
    """``--head``."""
    return click.option(
        "--head", type=click.Choice(HEADS), default="model", show_default=True,
        help="What stands on the encoder.",
    )(command)  # fmt: skip


def shape_options(*symbols: str, multiple: bool = False, lists: bool = False) -> Decorator:
    """``--preset`` (repeatable if *multiple*), ``--config``, and the sizes with these *symbols*.

    *lists* is that of ``size_options``.
    """

    def decorate(command: Function) -> Function:
        more = " Repeatable." if multiple else ""
        command = size_options(*symbols, lists=lists)(command)
        command = click.option(
            "--config", type=InputPath(), metavar="PATH",
            help="A config.json, a directory that has one, or - for standard input.",
        )(command)  # fmt: skip
        return click.option(
            "--preset", type=PRESET, multiple=multiple, metavar="NAME",
            help=f"A model by name; see 'albert-calc presets'.{more}",
        )(command)  # fmt: skip

    return decorate


def source_options(multiple: bool = False, lists: bool = False) -> Decorator:
    """``shape_options`` with all sizes, ``--model-type`` and ``--tie-word-embeddings``."""

    def decorate(command: Function) -> Function:
        command = click.option(
            "--tie-word-embeddings/--no-tie-word-embeddings", default=None,
            help="Whether the output layer is the token table.",
        )(command)  # fmt: skip
        command = click.option(
            "--model-type", type=click.Choice(list(ARCHITECTURES)),
            help="The architecture; by default the config's.",
        )(command)  # fmt: skip
        return shape_options(*(s.symbol for s in SIZES), multiple=multiple, lists=lists)(command)

    return decorate


OVERRIDES = (*(s.key for s in SIZES), "model_type", "tie_word_embeddings")
"""The parameters of ``source_options`` that override a config's keys."""


class Source(NamedTuple):
    """A model that was asked for: its name, its file's keys, and the keys put over them."""

    name: str
    mapping: Mapping[str, Any]
    overrides: Mapping[str, Any]
    assumed: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def config(
        self, share: str | None = None, head: str = "model", layout: str = LAYOUTS[0]
    ) -> ModelConfig:
        """The config of this model, if there is such a *head* and *layout*.

        Raises ``ConfigError`` with every problem.
        """
        return self.annotated(read_model({**self.mapping, **self.overrides}, share, head, layout))

    def annotated(self, config: ModelConfig) -> ModelConfig:
        """*config* with what was assumed while its options were read."""
        if not self.notes:
            return config
        return replace(
            config,
            assumed=(*self.assumed, *config.assumed),
            notes=(*self.notes, *config.notes),
        )


def requested(options: Mapping[str, Any]) -> list[Source]:
    """The models that the parameters of ``source_options`` name; none if they name none.

    Raises ``click.UsageError`` for contradictory options and ``ConfigError`` for files
    and presets that cannot be read.
    """
    presets: str | Sequence[str] | None = options["preset"]
    presets = (presets,) if isinstance(presets, str) else presets or ()
    path = options["config"]
    overrides = {k: options[k] for k in OVERRIDES if options.get(k) is not None}
    if presets and path is not None:
        raise click.UsageError("--preset and --config contradict each other: give one of them")
    problems = Problems(idle_groups(options))
    sources = []
    for preset in dict.fromkeys(presets):
        with problems.collected():
            sources.append(Source(preset, load_preset(preset).content, overrides))
    if path is not None:
        with problems.collected():
            name = "standard input" if path == "-" else quoted(path)
            sources.append(Source(name, read_config(path), overrides))
    if problems:
        # The sizes that were typed can be wrong as well.
        problems += [p for s in SIZES for p in size_problems(s, overrides, required=False)]
    problems.raise_any()
    if not sources and overrides:
        given, assumed, notes = with_intermediate_size(overrides)
        sources.append(Source("sizes", {}, given, assumed, notes))
    return sources


def with_intermediate_size(
    sizes: Mapping[str, Any],
) -> tuple[dict[str, Any], tuple[str, ...], tuple[str, ...]]:
    """*sizes* with I = 4·H where it is missing, the keys assumed, and a note of it."""
    hidden = sizes.get("hidden_size")
    if sizes.get("intermediate_size") is not None:
        return dict(sizes), (), ()
    if not isinstance(hidden, int) or hidden < 1:
        # H will be refused, and nobody has said anything wrong of I.
        return {**sizes, "intermediate_size": 1}, (), ()
    return (
        {**sizes, "intermediate_size": 4 * hidden},
        ("intermediate_size",),
        (f"intermediate_size: not given, so 4 × hidden_size = {4 * hidden}",),
    )


def some_requested(options: Mapping[str, Any]) -> list[Source]:
    """The models that the options name; ``click.UsageError`` if they name none."""
    sources = requested(options)
    if not sources:
        raise click.UsageError("no model: give --preset, --config, or sizes (-V -H -L ...)")
    return sources


def one_requested(options: Mapping[str, Any]) -> Source:
    """The only model that the options name; ``click.UsageError`` if they name none."""
    return some_requested(options)[0]


def idle_groups(options: Mapping[str, Any]) -> list[str]:
    """With nothing shared there are no groups: what is wrong with giving both."""
    groups = options.get("num_hidden_groups")
    if options.get("share") != "none" or groups is None:
        return []
    return [f"num_hidden_groups: must be left out with --share none, got {shown(groups)}"]


def typed(*names: str) -> list[str]:
    """Those of the parameters *names* that stand on the command line, as options."""
    context = click.get_current_context()
    return [
        f"--{name.replace('_', '-')}"
        for name in names
        if context.get_parameter_source(name) is not ParameterSource.DEFAULT
    ]
