"""The command line: one module a command, imported only when it is called.

A new command is a module of ``cli.commands`` with a ``command``, and a line in ``COMMANDS``.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import click

from albert_calc import __version__
from albert_calc.cli.help import help_option, telling
from albert_calc.cli.output import say
from albert_calc.errors import AlbertCalcError, first_of
from albert_calc.report import CANNOT
from albert_calc.writing.harmless import shown

COMMANDS: Mapping[str, tuple[str, ...]] = {
    "Count": ("count", "explain", "embedding", "layers"),
    "Compare": ("compare", "cost", "reproduce"),
    "Check": ("check", "verify", "infer"),
    "Explore": ("presets", "sweep", "solve"),
}
"""Each command, whose module in ``cli.commands`` has the same name, under its heading."""

NAMES: tuple[str, ...] = tuple(name for names in COMMANDS.values() for name in names)

_COMPLETION = "_ALBERT_CALC_COMPLETE"
_LONGEST_NUMBER = 10

INTERRUPTED = 130


class CommandGroup(click.Group):
    """A group that imports its commands late and turns every failure into a message."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands."""
        return list(NAMES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command *cmd_name*, imported now."""
        if cmd_name not in NAMES:
            return None
        command: click.Command = import_module(f"{__name__}.commands.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands under their headings."""
        for heading, names in COMMANDS.items():
            commands = [(name, self.get_command(ctx, name)) for name in names]
            records = [(n, c.get_short_help_str(limit=90)) for n, c in commands if c]
            with formatter.section(heading):
                formatter.write_dl(records)

    def main(self, args: Sequence[str] | None = None, *rest: Any, **extra: Any) -> Any:
        """Run a command line and exit with its status: 0, 1, 2, or 130 if interrupted."""
        words = list(sys.argv[1:] if args is None else args)
        extra["standalone_mode"] = False
        extra.setdefault("prog_name", "albert-calc")
        raise SystemExit(self._status(words, *rest, **extra))

    def _status(self, words: list[str], *rest: Any, **extra: Any) -> int:
        if sys.stdout is None:
            say("error", ["cannot write the result: standard output is closed"])
            return CANNOT
        if words[:1] == ["-V"] and len(words) > 1 and not words[1].startswith("-"):
            say("error", ["no command: -V alone is --version; before sizes a command is needed"])
            _suggest(words)
            return CANNOT
        if problem := _completion_problem():
            say("error", [problem])
            return CANNOT
        out = sys.stdout
        try:
            result = super().main(_helped(words), *rest, **extra)
            return result if isinstance(result, int) else 0
        except click.ClickException as error:
            _explain(error, words)
        except SystemExit as done:
            # Where the reader has gone, click puts another stdout in place and exits with 1.
            return CANNOT if done.code and sys.stdout is out else 0
        except AlbertCalcError as error:
            say("error", first_of(list(dict.fromkeys(error.problems))))
            _suggest(words)
        except click.Abort:
            say("error", ["interrupted"])
            return INTERRUPTED
        except OSError as error:
            say("error", [f"cannot write the result: {error.strerror or error}"])
        except (RecursionError, MemoryError):
            say("error", ["the input is too large to be worked on"])
        except Exception as error:  # a bug of ours, but nobody is shown a traceback
            if isinstance(error.__cause__, KeyboardInterrupt):
                say("error", ["interrupted"])
                return INTERRUPTED
            say("error", [f"internal error, please report it: {type(error).__name__}: {error}"])
        return CANNOT


def _completion_problem() -> str:
    """What is wrong with a completion that is asked for; empty without one, or if it can be."""
    asked = os.environ.get(_COMPLETION, "")
    if not asked:
        return ""
    from click.shell_completion import get_completion_class

    shell, _, instruction = asked.partition("_")
    if get_completion_class(shell) is None or instruction not in ("source", "complete"):
        return f"{_COMPLETION}: must be such as bash_source, got {shown(asked)}"
    if instruction == "source":
        return ""
    current, kind = os.environ.get("COMP_CWORD"), "number"
    there = current is not None and current.isdecimal() and len(current) < _LONGEST_NUMBER
    if shell == "fish":
        # It gives the word itself, which may be empty.
        there, kind = current is not None and (not current or bool(current.strip())), "word"
    if "COMP_WORDS" in os.environ and there:
        return ""
    return f"completion: COMP_WORDS and the {kind} COMP_CWORD must be set"


def _helped(words: list[str]) -> list[str]:
    """``help``, ``help COMMAND`` and nothing at all as the options that mean the same."""
    return words if words and words[0] != "help" else [*words[1:2], "--help"]


def _explain(error: click.ClickException, words: list[str]) -> None:
    """Say what is wrong with a command line, and which line would do or where its help is."""
    from albert_calc.cli.guesses import similar

    context = error.ctx if isinstance(error, click.UsageError) else None
    if isinstance(error, click.NoSuchOption) and context is not None:
        known = [name for p in context.command.get_params(context) for name in p.opts]
        near = similar(error.option_name, known)
        hint = f" (did you mean {' or '.join(near)}?)" if near else ""
        say("error", [f"no such option: {error.option_name}{hint}"])
    elif isinstance(error, click.UsageError) and error.message.startswith("No such command"):
        say("error", [f"no such command: {words[0]}"])
    else:
        # click breaks some messages over lines.
        say("error", [" ".join(error.format_message().split())])
    if not _suggest(words) and context is not None:
        say("", [f"try '{context.command_path} -h' for help"])


def _suggest(words: list[str]) -> bool:
    """Say which line *words* seem to mean, if that is known."""
    from albert_calc.cli.guesses import answer

    def options(name: str) -> set[str]:
        command = main.get_command(click.Context(main), name)
        return {o for p in command.params for o in p.opts} if command else set()

    line = answer(words, NAMES, options)
    if line:
        say("try", [line])
    return bool(line)


@click.group(
    "albert-calc",
    cls=CommandGroup,
    add_help_option=False,
    params=[
        telling(
            ["-V", "--version"],
            lambda ctx: f"{ctx.info_name}, version {__version__}",
            "Show the version and exit.",
        ),
        help_option(),
    ],
)
def main() -> None:
    """Exact parameter counts of BERT, ALBERT and their kin.

    Counts what a standard (V × H) and a factorized (V × E + E × H) embedding cost, and
    what unshared and shared layers cost, by arithmetic alone.

    A MODEL is a name such as albert-base-v2 (see 'albert-calc presets'), a config.json or
    a directory with one, - for standard input, or an id in the local Hugging Face cache.

    \b
    Examples:
      albert-calc compare xxlarge
      albert-calc count albert-base-v2
      albert-calc compare bert-base-uncased albert-xxlarge-v2
      albert-calc cost albert-xxlarge-v2 -B 8 --memory 24GiB
    """
