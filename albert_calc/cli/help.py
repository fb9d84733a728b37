"""How the help of a command is laid out."""

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

    def get_help(self, ctx: click.Context) -> str:
        """The help as text."""
        return super().get_help(ctx).replace(_UNBROKEN, "-")
