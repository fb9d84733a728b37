"""``albert-calc layers``: unshared against shared layers."""

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from albert_calc.cli.asked import Asked
from albert_calc.cli.command import model_command, option
from albert_calc.cli.options import one_of
from albert_calc.cli.reports.techniques import with_oddities
from albert_calc.cli.shape import depth_notes, shape_line
from albert_calc.counting.comparison import sharing_label, techniques
from albert_calc.counting.priced import LayerCosts, layer_costs
from albert_calc.counting.tensors import Blueprint
from albert_calc.errors import Problems
from albert_calc.families.base import SHARES
from albert_calc.families.sizes import SIZES, problems_of_sizes, size_problems
from albert_calc.models.model import Model, Request, read_model, sharing_problems
from albert_calc.report import Column, Report, Row, Section
from albert_calc.writing.numbers import count, fewer

if TYPE_CHECKING:
    from albert_calc.pictures.picture import Picture

# The layers depend on no table, so the smallest will do.
_OUTSIDE_LAYERS: dict[str, Any] = {
    "model_type": "albert",
    "vocab_size": 1,
    "embedding_size": 1,
    "max_position_embeddings": 1,
    "type_vocab_size": 0,
    "num_attention_heads": 1,
    "num_hidden_groups": 1,
    "inner_group_num": 1,
}
_TECHNIQUE = ("num_hidden_groups", "inner_group_num")
_NEEDED = ("hidden_size", "num_hidden_layers")


@model_command("layers", sizes="HILGN", heads=False, picture="--diagram")
@option("--diagram", is_flag=True, help="Draw the unshared layers beside those that are stored.")
@option(
    "--share",
    type=one_of(SHARES),
    help="Which blocks the layers share, by default as the model type does.",
)
def command(asked: Asked, *, diagram: bool, share: str | None) -> "Report | Picture":
    """Compare unshared layers with shared ones.

    \b
    Examples:
      albert-calc layers albert-base-v2
      albert-calc layers bert-base-uncased --share attention
      albert-calc layers -H 768 -L 12 --num-hidden-groups 3
      albert-calc layers -H 768 -L 12 --diagram
    """
    model, stored = _stored(asked, share)
    costs = layer_costs(stored)
    if diagram or asked.save:
        from albert_calc.pictures.diagrams import layers_diagram

        return layers_diagram(model.title, stored, costs)
    label = sharing_label(stored)
    pair = costs.pair
    section = Section(
        columns=(
            Column("layers", "layers", "text"),
            Column("formula", "formula", "text"),
            Column("parameters", "parameters", "count"),
            Column("reduction", "saved", "saving"),
            Column("ratio", "ratio", "ratio"),
        ),
        rows=tuple(_rows(costs, label)),
        lines=(shape_line(model, main="HLIGN"),),
    )
    facts = {
        "model": model.name,
        **{name: priced.parameters for name, priced in costs.blocks.items()},
        "per_layer": costs.per_layer,
        "unshared": pair.before,
        "shared": pair.after,
        "reduction": pair.reduction,
        "ratio": pair.ratio,
    }
    headline = f"{label}: {count(pair.after)} parameters"
    if pair.before != pair.after:
        than = f"than the {count(pair.before)} of unshared layers"
        headline += f", {fewer(pair.before, pair.after)} {than}"
    return Report((section,), facts, headline, remarks=tuple(depth_notes(stored)))


def _rows(costs: LayerCosts, label: str) -> list[Row]:
    pair = costs.pair
    return [
        *((f"one {name.replace('_', '-')} block", *priced, None, None)
          for name, priced in costs.blocks.items()),
        ("one layer", *costs.layer, None, None),
        ("unshared layers", *costs.unshared, None, None),
        (label, *costs.shared, pair.reduction, pair.ratio),
    ]  # fmt: skip


def _stored(asked: Asked, share: str | None) -> tuple[Model, Blueprint]:
    """The model, and its layers as they are stored.

    G and N are the model's own where its family has them, and the technique's elsewhere.
    """
    given = asked.request.overrides
    apart = {key: given[key] for key in _TECHNIQUE if given.get(key) is not None}
    problems = Problems(sharing_problems(share, apart.get("num_hidden_groups")))
    problems += problems_of_sizes(apart)
    with problems.collected():
        model = _model(asked, share, apart)
    problems.raise_any()
    stored = techniques(
        model.blueprint,
        share=share,
        groups=apart.get("num_hidden_groups"),
        inner=apart.get("inner_group_num"),
    )
    model = with_oddities(model, stored)
    asked.remember(model)
    return model, stored


def _model(asked: Asked, share: str | None, apart: Collection[str]) -> Model:
    """The model, or one that has nothing but the layers that were typed.

    Sizes that are *apart* are those of a family that has them.
    """
    found, typed = asked.found[0], asked.request.overrides
    if found.origin != "sizes":
        others = {key: value for key, value in typed.items() if key not in apart}
        model = read_model(found, asked.request._replace(overrides=others))
        grouped = all(map(model.config.family.has, apart))
        return read_model(found, asked.request) if apart and grouped else model
    problems = Problems(
        p for s in SIZES if s.key in _NEEDED for p in size_problems(s, typed.get(s.key))
    )
    problems += [
        p for s in SIZES if s.key not in _NEEDED
        for p in size_problems(s, typed.get(s.key), required=False)
    ]  # fmt: skip
    problems.raise_any()
    keys = {**_OUTSIDE_LAYERS, **typed}
    if share == "none" and "num_hidden_groups" not in typed:
        del keys["num_hidden_groups"]
    return read_model(found, Request(keys, share=share))
