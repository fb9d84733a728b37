"""Every family whose forward pass is described, by ``model_type``.

A new one is a module of steps beside these and a line in ``PASSES``; a module is imported
when it is first asked what training such a model keeps.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from albert_calc.passes.steps import Forward

PASSES: Mapping[str, str] = {
    "albert": "albert:ALBERT",
    "bert": "bert:BERT",
    "electra": "electra:ELECTRA",
    "roberta": "roberta:ROBERTA",
    "xlm-roberta": "roberta:ROBERTA",
    "camembert": "roberta:ROBERTA",
    "distilbert": "distilbert:DISTILBERT",
    "rembert": "rembert:REMBERT",
    "ernie": "ernie:ERNIE",
    "xlm-roberta-xl": "xlm_roberta_xl:XLM_ROBERTA_XL",
    "megatron-bert": "megatron_bert:MEGATRON_BERT",
    "roberta-prelayernorm": "roberta_prelayernorm:ROBERTA_PRELAYERNORM",
}
"""The module and the name of each family's forward pass, by ``model_type``."""


@cache
def forward_of(model_type: str) -> Forward | None:
    """The forward pass of *model_type*, and what autograd keeps of it; ``None`` if undescribed."""
    if model_type not in PASSES:
        return None
    module, _, name = PASSES[model_type].partition(":")
    found: Forward = getattr(import_module(f"{__name__}.{module}"), name)
    return found
