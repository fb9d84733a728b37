"""The options that say what of a model is trained."""

import click

from albert_calc.cli.command import Function, with_parameters
from albert_calc.cli.options import NUMBER, TRAINED_HEADING, NameType, Once


def _targets() -> list[str]:
    """The modules that get adapters in any family."""
    from albert_calc.costs.trained import DEFAULT_TARGETS

    return sorted({name for names in DEFAULT_TARGETS.values() for name in names})


def trained_options(function: Function) -> Function:
    """What is trained: adapters, or what is not frozen."""
    options: list[click.Parameter] = [
        Once(
            ["--lora"], type=NUMBER, metavar="RANK", heading=TRAINED_HEADING,
            help="Adapters of this rank, by PEFT's rule.",
        ),
        Once(
            ["--lora-targets"], metavar="NAMES", type=NameType(_targets, several=True),
            heading=TRAINED_HEADING,
            help="The ends of the names of modules that get adapters, with commas between them;"
            " by default PEFT's for the family.",
        ),
        Once(
            ["--train"], metavar="NAMES", heading=TRAINED_HEADING,
            help="With --lora: modules that are trained whole, such as classifier.",
        ),
        Once(
            ["--freeze"], metavar="PARTS", heading=TRAINED_HEADING,
            help="Parts that are not trained: embeddings, projection, layers, layers:FROM-TO,"
            " pooler, head; several with commas.",
        ),
    ]  # fmt: skip
    return with_parameters(function, options)
