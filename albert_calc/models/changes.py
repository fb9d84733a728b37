"""What differs between two models: their keys, and what each component gained or lost."""

from collections.abc import Mapping, Sequence
from typing import Any

from albert_calc.config.model_config import ModelConfig
from albert_calc.families.sizes import SIZES
from albert_calc.models.model import Model
from albert_calc.named_tuple import NamedTuple


class Side(NamedTuple):
    """A model beside others: its parameters by component, and against the first of them.

    ``changed`` has the keys whose values differ from those of the first, old and new.
    """

    model: Model
    components: Mapping[str, int]
    total: int
    difference: int = 0
    ratio: float = 1.0
    changed: Mapping[str, tuple[Any, Any]] = {}


def side_by_side(models: Sequence[Model]) -> list[Side]:
    """Each of *models*, and what makes it differ from the first."""
    sides: list[Side] = []
    for model in models:
        counts = model.counts
        side = Side(model, {c.name: c.parameters for c in counts.components}, counts.total)
        if sides:
            first = sides[0]
            side = side._replace(
                difference=side.total - first.total,
                ratio=side.total / first.total,
                changed=changed(first.model, model),
            )
        sides.append(side)
    return sides


def changed(old: Model, new: Model) -> dict[str, tuple[Any, Any]]:
    """The keys that differ, each with its value in *old* and in *new*, ``None`` where absent.

    They have the family's own names where both are of one family, else the usual ones.
    """
    before, after = _keys(old, new.config), _keys(new, old.config)
    order = [size.key for size in SIZES]
    keys = dict.fromkeys((*(k for k in order if k in before or k in after), *before, *after))
    return {k: (before.get(k), after.get(k)) for k in keys if before.get(k) != after.get(k)}


def component_names(sides: Sequence[Side]) -> list[str]:
    """The names of all components, each after those that stand before it in its model."""
    names: list[str] = []
    for side in sides:
        place = 0
        for name in side.components:
            if name in names:
                place = names.index(name) + 1
            else:
                names.insert(place, name)
                place += 1
    return names


def _keys(model: Model, other: ModelConfig) -> dict[str, Any]:
    config = model.config
    tables = config.family
    keys: dict[str, Any] = {**config.to_dict(), "share": config.share, "head": model.head}
    if config.model_type != other.model_type:
        usual = {tables.name_of(size.key): size.key for size in SIZES}
        keys = {usual.get(key, key): value for key, value in keys.items()}
    return keys
