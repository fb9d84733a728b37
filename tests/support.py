"""Where the tests' files lie, and the reference figures in them."""

import json
from pathlib import Path
from typing import Any

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
