"""How the help of a command is laid out, and the flags that only tell something."""

from collections.abc import Callable

import click

from albert_calc.cli.options import HEADINGS, OUTPUT_HEADING

_UNBROKEN = "\u2011"
"""A hyphen at which no line is broken."""


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

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """All parameters, among them the help; click looks for doubles in them at every start."""
        return self.params

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read *args*, with the short names of options as long ones where that is certain.

        click takes a short name for a misspelt long one first, and looks for those near to it,
        which takes longer than a count. What stands after an option may be its value, and is
        left as it is.
        """
        names = {o.opts[0]: o.opts[-1] for o in self.params if isinstance(o, click.Option)}
        options = args.index("--") if "--" in args else len(args)
        for place, word in enumerate(args[:options]):
            if not (place and args[place - 1].startswith("-")):
                args[place] = names.get(word, word)
        return super().parse_args(ctx, args)

    def get_help(self, ctx: click.Context) -> str:
        """The help as text."""
        return super().get_help(ctx).replace(_UNBROKEN, "-")


def telling(names: list[str], text: Callable[[click.Context], str], help: str) -> click.Option:
    """A flag *names* that writes *text* and ends the run.

    Those of click look for translations of their texts, which takes as long as a count.
    """

    def tell(ctx: click.Context, _: click.Parameter, value: bool) -> None:
        if value and not ctx.resilient_parsing:
            click.echo(text(ctx), color=ctx.color)
            ctx.exit()

    return click.Option(
        names, is_flag=True, expose_value=False, is_eager=True, callback=tell, help=help
    )


def help_option() -> click.Option:
    """``-h/--help``."""
    return telling(["-h", "--help"], click.Context.get_help, "Show this message and exit.")
