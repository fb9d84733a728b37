"""Diagrams of how a model is built: layers as stacks of boxes, embeddings as rectangles."""

from albert_calc.costs.order import Order
from albert_calc.counting.comparison import COMPARED_EMBEDDING_SIZE, Pair, sharing_label
from albert_calc.counting.priced import LayerCosts
from albert_calc.counting.tensors import Blueprint, has_own_projection
from albert_calc.families.base import SHARED_BLOCKS
from albert_calc.pictures.charts import difference
from albert_calc.pictures.picture import (
    Area,
    Box,
    Diagram,
    Plan,
    Rectangles,
    Run,
    Side,
    Stack,
    stack,
)

_MOST_RUNS = 24


def layers_diagram(title: str, model: Blueprint, costs: LayerCosts) -> Diagram:
    """L layers of their own beside those that *model* stores of them, as *costs* has both.

    Where only some blocks are shared, they and the others have a stack each.
    """
    layers = model.values["L"]
    shared = {component.name for component in SHARED_BLOCKS[model.variant.share]}
    kinds = _kinds(list(costs.blocks), shared)
    each = {name: _distinct(name, layers) for name in kinds}
    label = sharing_label(model)
    blocks = " + ".join(f"{p.parameters:,} {n.replace('_', '-')}" for n, p in costs.blocks.items())
    return Diagram(
        f"{title}: {layers:,} layers",
        (f"one layer: {costs.per_layer:,} = {blocks}",),
        (
            Side(
                "built BERT-style",
                tuple(each.values()),
                (f"{costs.unshared.parameters:,} stored", costs.unshared.formula),
            ),
            Side(
                "built ALBERT-style" if label == "shared layers" else label,
                tuple(_stored(n, model) if s else each[n] for n, s in kinds.items()),
                (f"{costs.shared.parameters:,} stored", costs.shared.formula),
                difference(costs.pair),
            ),
        ),
    )


def _kinds(blocks: list[str], shared: set[str]) -> dict[str, bool]:
    """What boxes stand for, and whether that is shared: whole layers, or blocks of them."""
    if not shared or shared.issuperset(blocks):
        return {"layer": bool(shared)}
    kinds = {}
    for is_shared in (True, False):
        names = [b.replace("_", "-") for b in blocks if (b in shared) == is_shared]
        kinds[", ".join(names)] = is_shared
    return kinds


def _distinct(name: str, count: int) -> Stack:
    boxes = stack(count, lambda i, shade: Box(f"{name} {i + 1:,}", shade))
    runs: tuple[Run, ...] = ()
    if name == "layer" and len(boxes) == count:
        runs = tuple(Run(f"{i + 1}", box.shade or 0.0) for i, box in enumerate(boxes))
    return Stack(boxes, runs)


def _stored(name: str, model: Blueprint) -> Stack:
    """The N copies in each of G groups; in each of the L turns one group applies all of its own."""
    layers, groups, inner = (model.values[symbol] for symbol in "LGN")
    order = Order(layers * inner, groups * inner, inner)
    is_single = groups * inner == 1

    def box(index: int, shade: float) -> Box:
        group, copy = divmod(index, inner)
        numbers = [f"group {group + 1:,}"] if groups > 1 else []
        numbers += [f"layer {copy + 1:,}"] if inner > 1 else []
        named = name != "layer" or is_single
        said = (f"one {name}" if name == "layer" else name) if named else ""
        return Box(
            ", ".join([said, *numbers] if said else numbers),
            shade,
            order.first_turn(group + 1) - order.first_turn(group),
        )

    boxes = stack(groups * inner, box)
    runs: list[Run] = []
    if name == "layer" and len(boxes) == groups * inner and layers * inner <= _MOST_RUNS:
        for turn in range(layers):
            first = order.group(turn) * inner
            for place in range(first, first + inner):
                runs.append(Run(f"{place + 1}", boxes[place].shade or 0.0))
    return Stack(boxes, tuple(runs))


def embedding_diagram(title: str, model: Blueprint) -> Rectangles:
    """The standard and the factorized token embedding of *model*, to scale.

    A model without an E of its own is factorized as a comparison would have it.
    """
    own = has_own_projection(model.variant)
    size = model.values["E"] if own else COMPARED_EMBEDDING_SIZE
    found = token_embedding_diagram(model.values["V"], size, model.values["H"])
    return found._replace(title=f"{title}: {found.title[0].lower()}{found.title[1:]}")


def token_embedding_diagram(vocab_size: int, embedding_size: int, hidden_size: int) -> Rectangles:
    """The standard and the factorized token embedding of these sizes, to scale."""
    v, e, h = ("V", vocab_size), ("E", embedding_size), ("H", hidden_size)
    standard = Plan("built BERT-style", (Area("V × H", v, h, None),))
    factorized = Plan("built ALBERT-style", (Area("V × E", v, e, 0), Area("E × H", e, h, 1)))
    saved = difference(Pair(standard.value, factorized.value))
    sizes = "  ".join(f"{symbol} = {value:,}" for symbol, value in (v, e, h))
    return Rectangles(
        "The token embedding, drawn to scale",
        (sizes,),
        (standard, factorized._replace(remark=saved)),
    )
