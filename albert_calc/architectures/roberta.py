"""RoBERTa and its kin, XLM-RoBERTa and CamemBERT: BERT's encoder under other heads.

Names and shapes are those of transformers' ``RobertaModel`` and its heads. May import
only ``albert_calc.architectures.base`` and ``albert_calc.architectures.bert``.
"""

from albert_calc.architectures.base import (
    PREDICTION_HEAD,
    Architecture,
    Head,
    dense_classifier,
    linear,
    norm,
    output_embedding,
    task_heads,
)
from albert_calc.architectures.bert import BERT

_PREDICTIONS = (
    *linear("lm_head.dense", "H", "H", PREDICTION_HEAD),
    *norm("lm_head.layer_norm", "H", PREDICTION_HEAD),
    *output_embedding("lm_head.bias", "lm_head.decoder", "H", "embeddings.word_embeddings.weight"),
)


def _member(model_type: str, name: str) -> Architecture:
    """The member of the family whose classes begin with *name*."""
    return BERT._replace(
        model_type=model_type,
        config_class=f"{name}Config",
        prefix="roberta.",
        embeddings={"transformers": BERT.embeddings["transformers"]},
        heads={
            "encoder": Head((f"{name}Model",), pooler=False),
            "model": Head((f"{name}Model",), pooler=True),
            "masked-lm": Head((f"{name}ForMaskedLM",), pooler=False, tensors=_PREDICTIONS),
            "causal-lm": Head((f"{name}ForCausalLM",), pooler=False, tensors=_PREDICTIONS),
            **task_heads(name),
            "sequence-classification": Head(
                (f"{name}ForSequenceClassification",),
                pooler=False,
                tensors=dense_classifier("C"),
            ),
        },
    )


ROBERTA = _member("roberta", "Roberta")
XLM_ROBERTA = _member("xlm-roberta", "XLMRoberta")
CAMEMBERT = _member("camembert", "Camembert")
