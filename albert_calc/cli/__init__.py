"""The command line: one module a command, imported only when it is called.

A new command is a module with a click command of the same name, and a line in
``COMMANDS``. May import click and everything of the package but rich's renderers.
"""

import sys
from importlib import import_module
from typing import Any

import click

from albert_calc import __version__
from albert_calc.cli.output import say
from albert_calc.errors import AlbertCalcError

COMMANDS: tuple[str, ...] = (
    "compare",
    "embedding",
    "layers",
    "presets",
    "count",
    "explain",
    "check",
    "verify",
    "infer",
    "sweep",
    "solve",
    "cost",
    "reproduce",
)
"""Each command, whose module here has the same name, in the order of the help."""

CANNOT = 2
INTERRUPTED = 130


class CommandGroup(click.Group):
    """A group that imports its commands late and turns every failure into a message."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command *cmd_name*, imported now; its function has the same name."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(import_module(f"{__name__}.{cmd_name}"), cmd_name)
        return command

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run a command line and exit with its status: 0, 1, 2, or 130 if interrupted."""
        extra["standalone_mode"] = False
        extra.setdefault("prog_name", "albert-calc")
        raise SystemExit(self._status(*args, **extra))

    def _status(self, *args: Any, **extra: Any) -> int:
        if sys.stdout is None:
            say("error", ["cannot write the result: standard output is closed"])
            return CANNOT
        out = sys.stdout
        try:
            result = super().main(*args, **extra)
            return result if isinstance(result, int) else 0
        except click.exceptions.NoArgsIsHelpError as error:
            click.echo(error.ctx.get_help() if error.ctx else "", err=True)
        except click.ClickException as error:
            _explain(error)
        except SystemExit as done:
            # Where the reader has gone, click puts another stdout in place and exits with 1.
            return int(done.code or 0) if sys.stdout is out else 0
        except AlbertCalcError as error:
            say("error", error.problems)
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


def _explain(error: click.ClickException) -> None:
    """Say what is wrong with a command line, and where its help is."""
    # click breaks some messages over lines.
    say("error", [" ".join(error.format_message().split())])
    if isinstance(error, click.UsageError) and error.ctx is not None:
        click.echo(f"try '{error.ctx.command_path} -h' for help", err=True)


@click.group(
    "albert-calc", cls=CommandGroup, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.version_option(__version__)
def main() -> None:
    """Exact parameter counts of BERT and ALBERT encoders.

    Counts what a standard (V × H) and a factorized (V × E + E × H) embedding cost, and
    what unshared and shared layers cost, by arithmetic alone.

    \b
    Examples:
      albert-calc compare --preset xxlarge
      albert-calc count --preset albert-base-v2
    """
