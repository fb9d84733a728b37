"""What is said on standard error about a model beside its count."""

from albert_calc.architectures import ARCHITECTURES
from albert_calc.cli.output import say, say_about
from albert_calc.config import ModelConfig
from albert_calc.text import printable


def say_about_model(config: ModelConfig, head: str, layout: str, name: str = "") -> None:
    """Tell what was assumed, what is odd, and where the config and the request differ.

    With *name*, each remark on the request begins with it.
    """
    say_about([config])
    remarks = [*_other_heads(config, head), *_without_pooler(config, head, layout)]
    say("note", [f"{name}: {remark}" if name else remark for remark in remarks])


def depth_notes(config: ModelConfig) -> list[str]:
    """A note if groups of several layers run deeper than the L layers beside them."""
    layers, inner = config.num_hidden_layers, config.inner_group_num
    if inner == 1:
        return []
    return [
        f"inner_group_num: {inner} layers in each of {layers} turns make {layers * inner}"
        f" executed layers, against {layers} unshared ones"
    ]


def _other_heads(config: ModelConfig, head: str) -> list[str]:
    """A note if the classes that the config names have another head than *head*."""
    heads = ARCHITECTURES[config.model_type].heads
    if not config.architectures or any(n in heads[head].classes for n in config.architectures):
        return []
    named = ", ".join(printable(n, 60) for n in config.architectures[:5])
    fitting = [h for h, known in heads.items() if set(known.classes) & set(config.architectures)]
    if not fitting:
        return [f"architectures: the config names {named}, which is no known class"]
    # A base class stands for two heads, with and without its pooler.
    other = "model" if "model" in fitting else fitting[0]
    return [
        f"architectures: the config names {named}, not the head {head};"
        f" the head {other} is that class"
    ]


def _without_pooler(config: ModelConfig, head: str, layout: str) -> list[str]:
    """A note if *layout* leaves out the pooler that *head* otherwise has."""
    architecture = ARCHITECTURES[config.model_type]
    if layout not in architecture.poolerless or not architecture.heads[head].pooler:
        return []
    return [f"layout {layout}: {config.model_type} has no pooler there"]
