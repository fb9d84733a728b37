"""The sizes of a model: symbol, key, meaning, and the values that each may have."""

from collections.abc import Iterator, Mapping

from albert_calc.named_tuple import NamedTuple
from albert_calc.writing.harmless import shown

LARGEST = 10**15


class Size(NamedTuple):
    """One size of a model: its symbol in formulas, its key, and its smallest value.

    ``usual`` is what it is in nearly every model, so that tables leave it out; a size
    without one is always shown, and has an option of one letter. ``neutral`` is what it is
    where a family has no such size. ``noun`` is what tables call it beside its number.
    """

    symbol: str
    key: str
    meaning: str
    least: int = 1
    usual: int | None = None
    neutral: int | None = None
    noun: str = ""


SIZES: tuple[Size, ...] = (
    Size("V", "vocab_size", "tokens in the vocabulary", noun="tokens"),
    Size("E", "embedding_size", "width of the token embedding"),
    Size("H", "hidden_size", "width of the encoder"),
    Size("L", "num_hidden_layers", "layers executed"),
    Size("I", "intermediate_size", "width inside the feed-forward block"),
    Size("A", "num_attention_heads", "attention heads; must divide H"),
    Size("P", "max_position_embeddings", "learned positions", 0, 512, noun="positions"),
    Size("T", "type_vocab_size", "segment types", 0, usual=2, neutral=0, noun="segments"),
    Size("G", "num_hidden_groups", "distinct groups of layers (ALBERT)", 1, 1, 1, "groups"),
    Size("N", "inner_group_num", "layers inside a group (ALBERT)", 1, 1, 1, "layers a group"),
    Size("C", "num_labels", "outputs of a classifier", usual=2, neutral=2, noun="labels"),
)
"""The sizes that have options, in the order in which tables and options show them."""

SYMBOLS: Mapping[str, str] = {size.key: size.symbol for size in SIZES}
"""The symbol of each of these sizes by its key."""

REQUIRED: tuple[str, ...] = ("vocab_size", "hidden_size", "num_hidden_layers", "intermediate_size")
"""The sizes that a config without a ``model_type`` must give."""


def size_problems(
    size: Size, value: object, required: bool = True, name: str = ""
) -> Iterator[str]:
    """Every rule that *value* breaks for *size*, one line each: parameter, rule, value.

    *name* is how the config spells the key, if not as *size* does.
    """
    key = name or size.key
    if value is None:
        if required:
            yield f"{key}: required ({size.symbol}, {size.meaning}), but missing"
    elif isinstance(value, bool) or not isinstance(value, int):
        kind = "a whole number" if size.least == 0 else "a positive whole number"
        yield f"{key}: must be {kind}, got {shown(value)}"
    elif value < size.least:
        yield f"{key}: must be at least {size.least}, got {shown(value)}"
    elif value > LARGEST:
        yield f"{key}: must be at most {LARGEST:,}, got {shown(value)}"


def problems_of_sizes(given: Mapping[str, object]) -> Iterator[str]:
    """Every rule that sizes *given* under their usual keys break by themselves."""
    for size in SIZES:
        yield from size_problems(size, given.get(size.key), required=False)
