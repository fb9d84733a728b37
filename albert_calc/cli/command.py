"""How every command reads its line: an option that holds one value may be given once.

May import click.
"""

from collections import Counter
from functools import partial
from typing import Any

import click


class OnceCommand(click.Command):
    """A command that refuses a repeated option, of which click would take the last."""

    def make_parser(self, ctx: click.Context) -> Any:
        """The parser of click, which tells in what order it met the options, and how often."""
        parser: Any = super().make_parser(ctx)
        read = parser.parse_args

        def parse_args(args: list[str]) -> Any:
            found = read(args)
            _refuse_repeated(found[2], ctx)
            return found

        parser.parse_args = parse_args
        return parser


def _refuse_repeated(order: list[click.Parameter], ctx: click.Context) -> None:
    times = Counter(p for p in order if isinstance(p, click.Option) and not p.multiple)
    twice = [max(option.opts, key=len) for option, count in times.items() if count > 1]
    if twice and not ctx.resilient_parsing:
        raise click.UsageError(f"given more than once: {', '.join(twice)}", ctx)


command = partial(click.command, cls=OnceCommand)
"""``click.command`` for the commands of this program."""
