"""``albert-calc cost``: the memory and the work of models, side by side."""

from typing import Any

from albert_calc.cli.command import command
from albert_calc.cli.cost_report import (
    cost_data,
    cost_options,
    cost_section,
    say_about_costs,
    workload_of,
)
from albert_calc.cli.options import (
    format_option,
    head_option,
    layout_option,
    share_option,
    some_requested,
    source_options,
)
from albert_calc.cli.output import emit
from albert_calc.cli.remarks import say_about_model
from albert_calc.cli.shape import config_data, shape_line
from albert_calc.costs.cost import cost_of
from albert_calc.errors import Problems
from albert_calc.report import Column, Report


@command()
@source_options(multiple=True)
@head_option
@share_option
@layout_option
@cost_options
@format_option
def cost(head: str, share: str | None, layout: str, format: str, **options: Any) -> None:
    """Show what sharing does not save: memory and FLOPs.

    Parameters stored and executed, bytes of the weights, the state and the activations of
    training, forward and training FLOPs of a batch.

    \b
    Examples:
      albert-calc cost --preset bert-large-uncased --preset albert-xxlarge-v2
      albert-calc cost --preset base -B 32 -S 128 --dtype bf16 --optimizer sgd
      albert-calc cost --config path/to/config.json --head masked-lm --dtype int8
    """
    workload = workload_of(options)
    problems = Problems(workload.problems())
    sources, models = [], {}
    with problems.collected():
        sources = some_requested({**options, "share": share})
    for source in sources:
        with problems.collected():
            models[source.name] = source.config(share, head, layout)
    problems.raise_any()
    costs = [cost_of(config, head, layout, workload) for config in models.values()]
    for config in models.values():
        say_about_model(config, head, layout)
    say_about_costs(models, workload)
    sharing = f", share {share}" if share else ""
    section = cost_section(
        f"Cost of head {head}, layout {layout}{sharing},",
        [Column(name, name, "count") for name in models],
        costs,
        workload,
        lines=[f"{name}: {shape_line(config)}" for name, config in models.items()],
    )
    data = [
        {
            "model": name,
            "model_type": config.model_type,
            "head": head,
            "layout": layout,
            "config": config_data(config),
            **cost_data(found, config, head, layout, workload),
        }
        for (name, config), found in zip(models.items(), costs, strict=True)
    ]
    emit(Report((section,), data), format)
