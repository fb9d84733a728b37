"""Where the tests' files lie, the reference figures in them, and what many tests do alike."""

import json
from pathlib import Path
from typing import Any

from albert_calc.costs.trainable import trained_problems
from albert_calc.costs.trained import Trained, with_targets
from albert_calc.counting.tensors import Variant
from albert_calc.errors import ConfigError

TESTS = Path(__file__).parent
ROOT = TESTS.parent
DATA = TESTS / "data"
GOLDEN = TESTS / "golden"


def oracle(name: str) -> Any:
    """The reference figures in ``tests/data/NAME.json``, with their source inside."""
    return json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))


BASE = {
    "model_type": "albert",
    "vocab_size": 30000,
    "embedding_size": 128,
    "hidden_size": 768,
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
    "intermediate_size": 3072,
    "max_position_embeddings": 512,
    "type_vocab_size": 2,
    "num_hidden_groups": 1,
    "inner_group_num": 1,
}
"""The sizes of albert-base-v2, from which the cases of many tests depart."""


def lora(
    variant: Variant, rank: int, targets: tuple[str, ...] = (), modules: tuple[str, ...] = ()
) -> Trained:
    """Adapters of *rank*, with PEFT's targets if none are given; raises ``ConfigError``."""
    trained = with_targets(Trained(rank, targets, modules), variant.model_type)
    problems = list(trained_problems(variant, trained))
    if problems:
        raise ConfigError(problems)
    return trained


class Faults(list[str]):
    """What is not as it should be, case by case.

    A test of many cases asserts once, at its end, that there are none: what has one cause then
    reads as one failure, and every case is seen.
    """

    def expect(self, case: object, found: object, wanted: object) -> None:
        """Note *case* unless what was *found* is what was *wanted*."""
        if found != wanted:
            self.append(f"{case}: {found!r}, not {wanted!r}")

    def none(self) -> None:
        """Fail with everything that was noted, if anything was."""
        shown = "\n".join(self[:30])
        assert not self, f"{len(self)} cases are not as they should be:\n{shown}"
