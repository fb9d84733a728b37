"""How every command reads its line: an option that holds one value may be given once.

May import click.
"""

from collections import Counter
from functools import partial

import click


class OnceCommand(click.Command):
    """A command that refuses a repeated option, of which click would take the last."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read *args*; ``click.UsageError`` names the options that stand there twice."""
        if not ctx.resilient_parsing:
            _, _, order = self.make_parser(ctx).parse_args(list(args))
            times = Counter(p for p in order if isinstance(p, click.Option) and not p.multiple)
            twice = [max(p.opts, key=len) for p, n in times.items() if n > 1]
            if twice:
                raise click.UsageError(f"given more than once: {', '.join(twice)}", ctx)
        return super().parse_args(ctx, args)


command = partial(click.command, cls=OnceCommand)
"""``click.command`` for the commands of this program."""
