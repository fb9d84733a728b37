"""Every family that can be counted, by ``model_type``.

A new one is a module of tables beside these and a line in ``FAMILIES``; a module is
imported when a model of its family is first met.
"""

from collections.abc import Mapping
from functools import cache
from importlib import import_module

from albert_calc.families.base import Family

FAMILIES: Mapping[str, str] = {
    "albert": "albert:ALBERT",
    "bert": "bert:BERT",
    "electra": "electra:ELECTRA",
    "roberta": "roberta:ROBERTA",
    "xlm-roberta": "roberta:XLM_ROBERTA",
    "camembert": "roberta:CAMEMBERT",
    "distilbert": "distilbert:DISTILBERT",
    "mpnet": "mpnet:MPNET",
    "deberta": "deberta:DEBERTA",
    "deberta-v2": "deberta_v2:DEBERTA_V2",
    "rembert": "rembert:REMBERT",
    "roformer": "roformer:ROFORMER",
    "mobilebert": "mobilebert:MOBILEBERT",
    "modernbert": "modernbert:MODERNBERT",
    "nomic_bert": "nomic_bert:NOMIC_BERT",
    "ernie": "ernie:ERNIE",
    "xlm-roberta-xl": "xlm_roberta_xl:XLM_ROBERTA_XL",
    "megatron-bert": "megatron_bert:MEGATRON_BERT",
    "roberta-prelayernorm": "roberta_prelayernorm:ROBERTA_PRELAYERNORM",
    "squeezebert": "squeezebert:SQUEEZEBERT",
}
"""The module and the name of each family's tables, by ``model_type``."""

HEADS: tuple[str, ...] = (
    "model",
    "encoder",
    "masked-lm",
    "causal-lm",
    "pretraining",
    "next-sentence-prediction",
    "discriminator",
    "generator",
    "sequence-classification",
    "multiple-choice",
    "token-classification",
    "question-answering",
)
"""The name of every head, whichever families have it."""

_CALLED_ELSEWHERE: Mapping[str, str] = {
    "mlm": "masked-lm",
    "clm": "causal-lm",
    "lm": "masked-lm",
    "nsp": "next-sentence-prediction",
    "qa": "question-answering",
    "ner": "token-classification",
    "classification": "sequence-classification",
    "classifier": "sequence-classification",
    "base": "model",
    "none": "encoder",
}
"""What heads are called elsewhere."""


def head_meant(text: str) -> str:
    """The name of the head that others call *text*, that is spelled so, or whose class it is.

    Empty without one.
    """
    name = text.lower().replace("_", "-")
    for head in HEADS:
        if head.replace("-", "") == name.replace("-", "").removeprefix("for"):
            return head
    classes = [head for _, head in families_of_class(text)]
    return classes[0] if classes else _CALLED_ELSEWHERE.get(name, "")


@cache
def family(model_type: str) -> Family:
    """The tables of *model_type*; ``KeyError`` if there are none."""
    module, _, name = FAMILIES[model_type].partition(":")
    found: Family = getattr(import_module(f"{__name__}.{module}"), name)
    return found


def families() -> tuple[Family, ...]:
    """The tables of every family."""
    return tuple(map(family, FAMILIES))


@cache
def families_of_class(name: str) -> tuple[tuple[str, str], ...]:
    """Every ``model_type`` and head that the class *name* of transformers stands for."""
    return tuple(
        (f.model_type, head)
        for f in families()
        for head, known in f.heads.items()
        if name in known.classes
    )
