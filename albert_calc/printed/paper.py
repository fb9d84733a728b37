"""The figures that Lan et al. print: ALBERT, ICLR 2020 (arXiv 1909.11942).

Rows give what the paper varies; everywhere V = 30,000,
I = 4·H, P = 512 and T = 2.
"""

from collections.abc import Iterator

from albert_calc.config.model_config import ModelConfig
from albert_calc.counting.counts import count_parameters
from albert_calc.named_tuple import NamedTuple
from albert_calc.printed.figure import Figure

TITLE = "ALBERT, ICLR 2020 (arXiv 1909.11942): millions of parameters"

_REASON = "no convention gives this figure; Table 12 of the same paper prints 225M for that width"


class _Row(NamedTuple):
    """A printed row: where it stands, millions of parameters, E, H, L, and what is shared."""

    table: str
    row: str
    millions: int
    embedding_size: int
    hidden_size: int
    num_hidden_layers: int
    share: str
    differs: bool = False


_ROWS = (
    _Row("Tables 1, 2", "BERT base", 108, 768, 768, 12, "none"),
    _Row("Tables 1, 2", "BERT large", 334, 1024, 1024, 24, "none"),
    _Row("Tables 1, 2", "ALBERT base", 12, 128, 768, 12, "all"),
    _Row("Tables 1, 2", "ALBERT large", 18, 128, 1024, 24, "all"),
    _Row("Tables 1, 2", "ALBERT xlarge", 60, 128, 2048, 24, "all"),
    _Row("Tables 1, 2", "ALBERT xxlarge", 235, 128, 4096, 12, "all", differs=True),
    _Row("Section 3.2", "ALBERT-xxlarge prose", 233, 128, 4096, 12, "all", differs=True),
    _Row("Table 3", "not-shared E=64", 87, 64, 768, 12, "none"),
    _Row("Table 3", "not-shared E=128", 89, 128, 768, 12, "none"),
    _Row("Table 3", "not-shared E=256", 93, 256, 768, 12, "none"),
    _Row("Table 3", "not-shared E=768", 108, 768, 768, 12, "none"),
    _Row("Table 3", "all-shared E=64", 10, 64, 768, 12, "all"),
    _Row("Table 3", "all-shared E=128", 12, 128, 768, 12, "all"),
    _Row("Table 3", "all-shared E=256", 16, 256, 768, 12, "all"),
    _Row("Table 3", "all-shared E=768", 31, 768, 768, 12, "all"),
    _Row("Table 4", "E=768 all-shared", 31, 768, 768, 12, "all"),
    _Row("Table 4", "E=768 shared-attention", 83, 768, 768, 12, "attention"),
    _Row("Table 4", "E=768 shared-FFN", 57, 768, 768, 12, "ffn"),
    _Row("Table 4", "E=768 not-shared", 108, 768, 768, 12, "none"),
    _Row("Table 4", "E=128 all-shared", 12, 128, 768, 12, "all"),
    _Row("Table 4", "E=128 shared-attention", 64, 128, 768, 12, "attention"),
    _Row("Table 4", "E=128 shared-FFN", 38, 128, 768, 12, "ffn"),
    _Row("Table 4", "E=128 not-shared", 89, 128, 768, 12, "none"),
    _Row("Table 11", "1 layers", 18, 128, 1024, 1, "all"),
    _Row("Table 11", "3 layers", 18, 128, 1024, 3, "all"),
    _Row("Table 11", "6 layers", 18, 128, 1024, 6, "all"),
    _Row("Table 11", "12 layers", 18, 128, 1024, 12, "all"),
    _Row("Table 11", "24 layers", 18, 128, 1024, 24, "all"),
    _Row("Table 11", "48 layers", 18, 128, 1024, 48, "all"),
    _Row("Table 12", "H=1024, 3 layers", 18, 128, 1024, 3, "all"),
    _Row("Table 12", "H=2048, 3 layers", 60, 128, 2048, 3, "all"),
    _Row("Table 12", "H=4096, 3 layers", 225, 128, 4096, 3, "all"),
    _Row("Table 12", "H=6144, 3 layers", 499, 128, 6144, 3, "all"),
)


def figures() -> Iterator[Figure]:
    """Every printed row beside what the ``paper`` layout gives.

    The paper counts the pooler in models that share something and leaves it out of the
    others; no other convention reproduces as many rows.
    """
    for row in _ROWS:
        config = ModelConfig(
            vocab_size=30_000,
            embedding_size=row.embedding_size,
            hidden_size=row.hidden_size,
            num_hidden_layers=row.num_hidden_layers,
            intermediate_size=4 * row.hidden_size,
            share=row.share,
        )
        head = "encoder" if row.share == "none" else "model"
        yield Figure(
            where=row.table,
            what=row.row,
            printed=row.millions,
            unit="millions",
            computed=count_parameters(config, head, "paper").total,
            convention=f"layout paper, {'no pooler' if head == 'encoder' else 'with pooler'}",
            expected="differs by" if row.differs else "rounds to",
            note=_REASON if row.differs else "",
        )
