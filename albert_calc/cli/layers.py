"""``albert-calc layers``: unshared against shared layers."""

from dataclasses import replace
from typing import Any

from albert_calc.cli.command import command
from albert_calc.cli.options import (
    format_option,
    idle_groups,
    share_option,
    size_options,
    with_intermediate_size,
)
from albert_calc.cli.output import emit, say, say_about
from albert_calc.cli.pictures import picture_options, refuse_contradictions, show
from albert_calc.cli.remarks import depth_notes
from albert_calc.comparison import layer_costs, sharing_label
from albert_calc.config import ModelConfig
from albert_calc.errors import Problems
from albert_calc.report import Column, Report, Section

# The layers depend on no table, so the smallest will do.
_OUTSIDE_LAYERS = {
    "model_type": "albert",
    "vocab_size": 1,
    "embedding_size": 1,
    "max_position_embeddings": 1,
    "type_vocab_size": 0,
}


@command()
@size_options("H", "I", "L", "G", "N")
@share_option
@picture_options("--diagram", "Draw the unshared layers beside those that are stored.")
@format_option
def layers(format: str, share: str | None, diagram: bool, save: str | None, **options: Any) -> None:
    """Compare unshared layers with shared ones.

    \b
    Examples:
      albert-calc layers -H 768 -L 12
      albert-calc layers -H 768 -I 3072 -L 12 --share attention
      albert-calc layers -H 768 -L 12 --num-hidden-groups 3
      albert-calc layers -H 768 -L 12 --diagram
    """
    refuse_contradictions("--diagram", diagram, save)
    problems = Problems(idle_groups({**options, "share": share}))
    given, assumed, notes = with_intermediate_size(options)
    with problems.collected():
        config = replace(ModelConfig.from_dict({**given, **_OUTSIDE_LAYERS}, share), notes=notes)
    problems.raise_any()
    costs = layer_costs(config)
    say_about([config])
    say("note", depth_notes(config))
    intermediate = f"I = {config.intermediate_size:,}{' (4 × H)' if assumed else ''}"
    sizes = (
        f"H = {config.hidden_size:,}  {intermediate}  L = {config.num_hidden_layers:,}"
        f"  G = {config.num_hidden_groups:,}  N = {config.inner_group_num:,}"
    )
    if diagram:
        from albert_calc.cli.drawings import layers_diagram

        show(layers_diagram(config, costs, sizes), save)
        return
    section = Section(
        title="Encoder layers",
        lines=(sizes,),
        columns=(
            Column("layers", "layers", "text"),
            Column("formula", "formula", "text"),
            Column("parameters", "parameters", "count"),
            Column("reduction", "reduction", "percent"),
            Column("ratio", "ratio", "ratio"),
        ),
        rows=(
            ("one attention block", *costs.attention, None, None),
            ("one feed-forward block", *costs.feed_forward, None, None),
            ("one layer", *costs.layer, None, None),
            ("unshared layers", *costs.unshared, None, None),
            (f"here: {sharing_label(config)}", *costs.shared, costs.pair.reduction,
             costs.pair.ratio),
        ),
    )  # fmt: skip
    data = {
        "attention": costs.attention.parameters,
        "feed_forward": costs.feed_forward.parameters,
        "per_layer": costs.per_layer,
        "unshared": costs.pair.before,
        "shared": costs.pair.after,
        "reduction": costs.pair.reduction,
        "ratio": costs.pair.ratio,
    }
    emit(Report((section,), data), format)
