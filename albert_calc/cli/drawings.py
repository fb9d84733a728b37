"""What the pictures of each command show: comparisons as bars, layers as stacks of boxes."""

from collections.abc import Sequence
from typing import Any

from albert_calc import format as fmt
from albert_calc.architectures.base import ATTENTION, FEED_FORWARD, SHARED_BLOCKS
from albert_calc.comparison import (
    Comparison,
    LayerCosts,
    Pair,
    Priced,
    embedding_label,
    embedding_pair,
    layer_costs,
    sharing_label,
)
from albert_calc.config import ModelConfig
from albert_calc.picture import Bar, BarGroup, Box, Chart, Diagram, Panel, Side, stack


def comparison_chart(compared: Sequence[Comparison], names: Sequence[str]) -> Chart:
    """Both token embeddings, both sets of layers and both whole models of each of *compared*."""
    vocabularies = {c.albert_style.vocab_size for c in compared}
    common = f", V = {vocabularies.pop():,}" if len(vocabularies) == 1 else ""
    named = list(zip(compared, names, strict=True))
    return Chart(
        title="BERT-style against ALBERT-style, in parameters",
        lines=(),
        panels=(
            Panel(
                f"Token embedding: V × H against V × E + E × H{common}",
                tuple(_embedding_bars(c, name, show_vocabulary=not common) for c, name in named),
            ),
            Panel("Layers", tuple(_layer_bars(c, name) for c, name in named)),
            Panel(
                f"Whole model, layout {compared[0].layout}",
                tuple(
                    BarGroup(name, "", _bars(c.total, "BERT-style", "ALBERT-style"))
                    for c, name in named
                ),
            ),
        ),
    )


def _embedding_bars(compared: Comparison, name: str, show_vocabulary: bool) -> BarGroup:
    config = compared.albert_style
    sizes = [f"V = {config.vocab_size:,}"] if show_vocabulary else []
    assumed = " (assumed)" if "embedding_size" in config.assumed else ""
    sizes.append(f"E = {config.embedding_size:,}{assumed}")
    labels = tuple(embedding_label(c, compared.layout) for c in (compared.bert_style, config))
    return BarGroup(name, ", ".join(sizes), _bars(embedding_pair(config), *labels))


def _layer_bars(compared: Comparison, name: str) -> BarGroup:
    config = compared.albert_style
    labels = (sharing_label(c).removesuffix(" layers") for c in (compared.bert_style, config))
    executed = f"L = {config.num_hidden_layers:,}"
    return BarGroup(name, executed, _bars(layer_costs(config).pair, *labels))


def _bars(pair: Pair, before: str, after: str) -> tuple[Bar, ...]:
    return (
        Bar(before, pair.before, hue=1),
        Bar(after, pair.after, difference(pair)),
    )


def difference(pair: Pair) -> str:
    """``82.9% less``: the second of *pair* against the first, in words."""
    if pair.before == pair.after:
        return "the same"
    return f"{fmt.percent(abs(pair.reduction))} {'less' if pair.reduction > 0 else 'more'}"


def totals_chart(title: str, line: str, varied: str, rows: Sequence[Sequence[Any]]) -> Chart:
    """A bar for each of *rows*, which hold a value of *varied* and a total."""
    bars = tuple(
        Bar(f"{varied} = {value:,}" if isinstance(value, int) else value, total)
        for value, total in rows
    )
    return Chart(title, (line,), (Panel("total parameters", (BarGroup("", "", bars),)),))


def layers_diagram(config: ModelConfig, costs: LayerCosts, sizes: str) -> Diagram:
    """L distinct layers beside what *config* stores of them; *sizes* is a line about both.

    Where only one block is shared, each block has a stack of its own.
    """
    shared = SHARED_BLOCKS[config.share or ""]
    if len(shared) == 1:
        names = {"attention": ATTENTION in shared, "feed-forward": FEED_FORWARD in shared}
    else:
        names = {"layer": bool(shared)}
    each = {name: _distinct(name, config.num_hidden_layers) for name in names}
    label = sharing_label(config)
    return Diagram(
        title=f"Encoder layers: unshared against {label}",
        lines=(
            sizes,
            f"one layer: {costs.attention.parameters:,} (attention)"
            f" + {costs.feed_forward.parameters:,} (feed-forward) = {costs.per_layer:,}",
        ),
        sides=(
            Side("unshared layers", tuple(each.values()), _captions(costs.unshared)),
            Side(
                label,
                tuple(_stored(n, config) if s else each[n] for n, s in names.items()),
                (*_captions(costs.shared), difference(costs.pair)),
            ),
        ),
    )


def _distinct(name: str, count: int) -> tuple[Box, ...]:
    return stack(count, lambda i: Box(f"{name} {i + 1:,}", hue=i))


def _stored(name: str, config: ModelConfig) -> tuple[Box, ...]:
    """The N copies in each of G groups; a group's share of the L turns applies all of them."""
    layers, groups, inner = (
        config.num_hidden_layers,
        config.num_hidden_groups,
        config.inner_group_num,
    )

    def box(index: int) -> Box:
        group, copy = divmod(index, inner)
        # transformers applies group i × G // L in turn i.
        times = -(-(group + 1) * layers // groups) + (-group * layers // groups)
        numbers = [f"group {group + 1:,}"] if groups > 1 else []
        numbers += [f"layer {copy + 1:,}"] if inner > 1 else []
        if name != "layer" or not numbers:
            numbers.insert(0, name if name != "layer" else "one layer")
        return Box(", ".join(numbers), _applied(times), index)

    return stack(groups * inner, box)


def _applied(times: int) -> str:
    if times == 1:
        return ""
    return f"applied {times:,} times" if times else "never applied"


def _captions(cost: Priced) -> tuple[str, ...]:
    return (cost.formula, f"{cost.parameters:,} parameters")
