"""In which order the layers of a model run, stored as they may be in groups."""

from collections.abc import Mapping
from typing import NamedTuple

from albert_calc.algebra import times
from albert_calc.counting.tensors import Variant, executed_layers, tensor_table
from albert_calc.families import family


class Order(NamedTuple):
    """*runs* of *stored* layers, from 0 each, in groups of *inside* that run in turn.

    Each group takes an equal part of all turns, one after another, as ALBERT's do; layers that
    are stored one by one are groups of one layer and one turn.
    """

    runs: int
    stored: int
    inside: int = 1

    @property
    def turns(self) -> int:
        """How often any group runs."""
        return self.runs // self.inside

    @property
    def groups(self) -> int:
        """How many groups are stored."""
        return self.stored // self.inside

    @property
    def shares(self) -> bool:
        """Whether a stored layer runs more than once."""
        return self.runs > self.stored

    def first_turn(self, group: int) -> int:
        """The first turn of *group*."""
        return -(-group * self.turns // self.groups)

    def first_run(self, layer: int) -> int:
        """The first run of the stored *layer*; all runs if there is none."""
        group, inner = divmod(layer, self.inside)
        return min(self.runs, self.inside * self.first_turn(group) + inner)

    def runs_below(self, layer: int) -> int:
        """How often the stored layers below *layer* run, all together."""
        group, inner = divmod(min(layer, self.stored), self.inside)
        start = self.first_turn(group)
        return self.inside * start + inner * (self.first_turn(group + 1) - start)

    def runs_again(self, run: int) -> bool:
        """Whether the layer of *run* runs once more after it."""
        turn = run // self.inside
        return turn + 1 < self.first_turn(self.group(turn) + 1)

    def above(self, run: int) -> int:
        """How many stored layers have a run after *run*."""
        return (self.groups - 1 - self.group(run // self.inside)) * self.inside + self.beside(run)

    def beside(self, run: int) -> int:
        """How many stored layers of the group of *run* have a run after it."""
        return self.inside if self.runs_again(run) else self.inside - 1 - run % self.inside

    def telling(self) -> list[int]:
        """Runs, the last first, among which one takes the most memory on the way back.

        Between them what is kept and what waits change evenly: the last two turns of all, and
        of the lowest group.
        """
        lowest = self.first_turn(1) * self.inside
        found = {self.runs - 1, self.runs - 1 - self.inside, lowest - 1, lowest - 1 - self.inside}
        return sorted((run for run in found | {0} if 0 <= run < self.runs), reverse=True)

    def group(self, turn: int) -> int:
        """The group that runs in *turn*."""
        return turn * self.groups // self.turns


def order_of(variant: Variant, values: Mapping[str, int]) -> Order:
    """The order in which the layers of *variant* run."""
    executed = executed_layers(variant)
    runs = times(*executed).evaluate(values)
    # What is stored one by one has no groups, whatever N the model beside it has.
    return Order(runs, stored_layers(variant, values), values["N"] if "N" in executed else 1)


def stored_layers(variant: Variant, values: Mapping[str, int]) -> int:
    """How many layers *variant* stores; where blocks differ, of the block with most copies."""
    # Layers in groups have two numbers: the group's, and their own inside it.
    own = family(variant.model_type).layer_name.count("{}")
    indices = 2 if variant.grouped else max(1, own)
    return max(
        times(*tensor.repeat[:indices]).evaluate(values) + tensor.skip
        for tensor in tensor_table(variant)
        if tensor.component.part == "layers"
    )
