"""Every architecture that can be counted, by ``model_type``.

A new one is a module of tables beside these and a line in ``ARCHITECTURES``. Its tables
may import ``albert_calc.architectures.base``, other tables, and ``albert_calc.algebra``.
"""

from albert_calc.architectures.albert import ALBERT
from albert_calc.architectures.base import SHARED_BLOCKS, Architecture
from albert_calc.architectures.bert import BERT
from albert_calc.architectures.electra import ELECTRA
from albert_calc.architectures.roberta import CAMEMBERT, ROBERTA, XLM_ROBERTA

ARCHITECTURES: dict[str, Architecture] = {
    a.model_type: a for a in (ALBERT, BERT, ELECTRA, ROBERTA, XLM_ROBERTA, CAMEMBERT)
}

HEADS: tuple[str, ...] = tuple(dict.fromkeys(h for a in ARCHITECTURES.values() for h in a.heads))
"""The name of every head, whichever architectures have it."""

LAYOUTS: tuple[str, ...] = ("transformers", "handbook", "paper")
"""Which model a whole-model total describes: the published code, the chapter, the paper."""

SHARES: tuple[str, ...] = tuple(SHARED_BLOCKS)
"""Which blocks of a layer are shared across the layers."""
