"""The sizes of a model: symbol, key, meaning, and the values that each may have.

May import ``albert_calc.errors`` and ``albert_calc.text``.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from albert_calc.errors import ConfigError
from albert_calc.text import shown

LARGEST = 10**15


class Size(NamedTuple):
    """One size of a model: its symbol in formulas, its key, and its smallest value.

    ``neutral`` is what it is for a model type that has no such size, or where nothing is
    said of it. ``usual`` is what it is in nearly every model, so that tables leave it out;
    a size without one is always shown, and has an option of one letter.
    """

    symbol: str
    key: str
    meaning: str
    least: int = 1
    required: bool = False
    neutral: int | None = None
    usual: int | None = None


SIZES: tuple[Size, ...] = (
    Size("V", "vocab_size", "tokens in the vocabulary", required=True),
    Size("E", "embedding_size", "width of the token embedding"),
    Size("H", "hidden_size", "width of the encoder", required=True),
    Size("L", "num_hidden_layers", "layers executed", required=True),
    Size("I", "intermediate_size", "width inside the feed-forward block", required=True),
    Size("A", "num_attention_heads", "attention heads; must divide H"),
    Size("P", "max_position_embeddings", "learned positions", usual=512),
    Size("T", "type_vocab_size", "segment types", least=0, neutral=0, usual=2),
    Size("G", "num_hidden_groups", "distinct groups of layers (ALBERT)", neutral=1, usual=1),
    Size("N", "inner_group_num", "layers inside a group (ALBERT)", neutral=1, usual=1),
    Size("C", "num_labels", "outputs of a classifier", neutral=2, usual=2),
)

SYMBOLS: Mapping[str, str] = {size.key: size.symbol for size in SIZES}
"""The symbol of each size by its key."""


def checked_sizes(values: Mapping[str, Any], *keys: str) -> dict[str, int]:
    """The sizes *keys* of *values*, all of them required.

    Raises ``ConfigError`` with every problem found.
    """
    problems = [p for s in SIZES if s.key in keys for p in size_problems(s, values, True)]
    if problems:
        raise ConfigError(problems)
    return {key: values[key] for key in keys}


def size_problems(size: Size, values: Mapping[str, Any], required: bool) -> Iterator[str]:
    """Every rule that *values* break for *size*, one line each: parameter, rule, value."""
    value = values.get(size.key)
    if value is None:
        if required:
            yield f"{size.key}: required ({size.symbol}, {size.meaning}), but missing"
    elif isinstance(value, bool) or not isinstance(value, int):
        kind = "a whole number" if size.least == 0 else "a positive whole number"
        yield f"{size.key}: must be {kind}, got {shown(value)}"
    elif value < size.least:
        yield f"{size.key}: must be at least {size.least}, got {shown(value)}"
    elif value > LARGEST:
        yield f"{size.key}: must be at most {LARGEST:,}, got {shown(value)}"
