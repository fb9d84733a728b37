"""RoBERTa and its kin, XLM-RoBERTa and CamemBERT: BERT's encoder under other heads.

Names and shapes are those of transformers' ``RobertaModel`` and its heads.
"""

from albert_calc.families.base import PREDICTION_HEAD, Family, Head
from albert_calc.families.bert import BERT, TOKENS_NAME
from albert_calc.families.heads import base_heads, dense_classifier, output_embedding, task_heads
from albert_calc.families.tensors import linear, norm

PREDICTIONS = (
    *linear("lm_head.dense", "H", "E", PREDICTION_HEAD),
    *norm("lm_head.layer_norm", "E", PREDICTION_HEAD),
    *output_embedding("lm_head.bias", "lm_head.decoder", "E", f"{TOKENS_NAME}.weight"),
)


def roberta_heads(names: str) -> dict[str, Head]:
    """RoBERTa's heads; *names* begins the names of their classes."""
    return {
        **base_heads(names),
        "masked-lm": Head((f"{names}ForMaskedLM",), pooler=False, tensors=PREDICTIONS),
        "causal-lm": Head((f"{names}ForCausalLM",), pooler=False, tensors=PREDICTIONS),
        **task_heads(names, classifier=dense_classifier()),
    }


def _member(model_type: str, names: str, vocab_size: int) -> Family:
    """The member of the family whose classes begin with *names*."""
    return BERT._replace(
        model_type=model_type,
        config_class=f"{names}Config",
        reserved_positions=2,
        prefix="roberta.",
        defaults={**BERT.defaults, "vocab_size": vocab_size},
        embeddings={"transformers": BERT.embeddings["transformers"]},
        heads=roberta_heads(names),
    )


ROBERTA = _member("roberta", "Roberta", 50265)
XLM_ROBERTA = _member("xlm-roberta", "XLMRoberta", 30522)
CAMEMBERT = _member("camembert", "Camembert", 30522)
