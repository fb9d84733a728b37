"""What of a model is counted to be held against bounds."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from albert_calc.checks.bounds import Measured
from albert_calc.costs.memory import weights_bytes
from albert_calc.costs.trainable import trainable_of, trained_notes
from albert_calc.costs.trained import EVERYTHING, Trained, read_trained
from albert_calc.counting.counts import Selection, count
from albert_calc.errors import AlbertCalcError, Problems
from albert_calc.models.model import Model
from albert_calc.writing.harmless import shown

FLAGS = ("without_embeddings", "trainable")
"""The keys of ``read_measure`` that are true or false; the others are those of ``read_trained``."""


class Measure(NamedTuple):
    """What is counted: a selection of a model's tensors, or what of it is ``trained``."""

    selection: Selection = "all"
    trained: Trained | None = None

    def of(self, model: Model, dtype: str) -> Measured:
        """The parameters of *model*; ``AlbertCalcError`` if it cannot be trained so."""
        if self.trained is not None:
            total = trainable_of(model.blueprint, self.trained).trainable
            return Measured(total, {}, weights_bytes(total, dtype))
        counts = count(model.blueprint, self.selection)
        parameters = {c.name: c.parameters for c in counts.components}
        return Measured(counts.total, parameters, weights_bytes(counts.total, dtype))

    def notes(self, model: Model) -> tuple[str, ...]:
        """What of ``trained`` is not as it may seem in *model*."""
        return () if self.trained is None else tuple(trained_notes(model.blueprint, self.trained))


EVERY = Measure()


def read_measure(values: Mapping[str, Any]) -> Measure:
    """What the keys ``without_embeddings``, ``trainable`` and those of ``read_trained`` ask for.

    Raises ``AlbertCalcError`` with every problem, also where a bound of *values* cannot be held
    against what is trained.
    """
    problems = Problems(
        f"{key}: must be true or false, got {shown(values[key])}"
        for key in FLAGS
        if not isinstance(values.get(key, False), bool)
    )
    trained = EVERYTHING
    with problems.collected():
        trained = read_trained(values)
    of_trained = values.get("trainable") is True
    if trained != EVERYTHING and not values.get("trainable"):
        problems.append("trainable: must be given where lora or freeze says what is trained")
    if of_trained and values.get("without_embeddings") is True:
        problems.append("without_embeddings: goes without trainable, which counts what is trained")
    if of_trained and values.get("exactly") is True:
        problems.append("exactly: goes without trainable, which has no components")
    problems.raise_any(AlbertCalcError)
    selection: Selection = "without_embeddings" if values.get("without_embeddings") else "all"
    return Measure(selection, trained if of_trained else None)
