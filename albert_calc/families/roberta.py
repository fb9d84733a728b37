"""RoBERTa and its kin, XLM-RoBERTa and CamemBERT: BERT's encoder under other heads.

Names and shapes are those of transformers' ``RobertaModel`` and its heads.
"""

from albert_calc.families.base import (
    PREDICTION_HEAD,
    Family,
    Head,
    base_heads,
    dense_classifier,
    linear,
    norm,
    output_embedding,
    task_heads,
)
from albert_calc.families.bert import BERT, FORWARD, TOKENS_NAME
from albert_calc.families.passes import (
    HIDDEN_DROPOUT,
    dense_classifier_pass,
    embeddings_pass,
    language_heads,
    pooled_heads,
    sequence_loss,
)
from albert_calc.families.steps import ALL_TOKENS

PREDICTIONS = (
    *linear("lm_head.dense", "H", "E", PREDICTION_HEAD),
    *norm("lm_head.layer_norm", "E", PREDICTION_HEAD),
    *output_embedding("lm_head.bias", "lm_head.decoder", "E", f"{TOKENS_NAME}.weight"),
)


# Positions are counted from the tokens, so that their ids are kept too.
ROBERTA_FORWARD = FORWARD._replace(
    embeddings=embeddings_pass(segments=ALL_TOKENS, positions=ALL_TOKENS),
    heads={
        **pooled_heads(choice_dropout=HIDDEN_DROPOUT),
        **language_heads("lm_head.dense", "lm_head.layer_norm", "lm_head.decoder", "gelu"),
        "sequence-classification": (*dense_classifier_pass("C", "tanh"), *sequence_loss()),
    },
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
        forward=ROBERTA_FORWARD,
    )


ROBERTA = _member("roberta", "Roberta", 50265)
XLM_ROBERTA = _member("xlm-roberta", "XLMRoberta", 30522)
CAMEMBERT = _member("camembert", "Camembert", 30522)
