"""ELECTRA (Clark et al., ICLR 2020): factorized embedding, BERT's layers, no pooler.

Names and shapes are those of transformers' ``ElectraModel`` and its heads.
"""

from albert_calc.families.base import (
    EMBEDDING_PROJECTION,
    EMBEDDING_PROJECTION_BIAS,
    FACTORIZED,
    OUTPUT_EMBEDDING,
    PREDICTION_HEAD,
    SEQUENCE_CLASSIFIER,
    SEQUENCES,
    TOKEN_CLASSIFIER,
    Feature,
    Head,
    Switch,
    Tensor,
    base_heads,
    dense_classifier,
    flag,
    given,
    linear,
    matrix,
    norm,
    sequence_classifier,
    task_heads,
    vector,
)
from albert_calc.families.bert import BERT, FORWARD, TOKENS_NAME, embeddings
from albert_calc.families.passes import (
    choice_loss,
    dense_classifier_pass,
    embeddings_pass,
    language_heads,
    pooled_heads,
    sequence_loss,
)
from albert_calc.families.steps import (
    ALL_SEQUENCES,
    ALL_TOKENS,
    Kept,
    Step,
    activated,
    binary_cross_entropy,
    projected,
)

PROJECTION = (
    *matrix("embeddings_project", "E", "H", EMBEDDING_PROJECTION, when=("factorized",)),
    *vector("embeddings_project.bias", "H", EMBEDDING_PROJECTION_BIAS, when=("factorized",)),
)
"""From E to H, where they differ."""

# The generator's output has one bias whether its matrix is tied or not.
_GENERATOR = (
    *norm("generator_predictions.LayerNorm", "E", PREDICTION_HEAD),
    *linear("generator_predictions.dense", "H", "E", PREDICTION_HEAD),
    *vector("generator_lm_head.bias", "V", PREDICTION_HEAD),
    *matrix("generator_lm_head", "E", "V", OUTPUT_EMBEDDING, tied_to=f"{TOKENS_NAME}.weight"),
)

_DISCRIMINATOR = (
    *linear("discriminator_predictions.dense", "H", "H", TOKEN_CLASSIFIER),
    *linear("discriminator_predictions.dense_prediction", "H", 1, TOKEN_CLASSIFIER),
)

_PRETRAINING = Head(("ElectraForPreTraining",), pooler=False, tensors=_DISCRIMINATOR)
_MASKED_LM = Head(("ElectraForMaskedLM",), pooler=False, tensors=_GENERATOR)


def _summary_type(value: object) -> object:
    if value not in ("first", "last", "mean", "cls_index"):
        raise ValueError
    return value


SUMMARY_SWITCHES = (
    Switch("summary_type", "one of first, last, mean, cls_index", _summary_type),
    flag("summary_use_proj"),
    flag("summary_proj_to_labels"),
)

SUMMARY_FEATURES = {
    "summary_mean": Feature(("summary_type",), lambda kind: kind == "mean"),
    "summary_index": Feature(("summary_type",), lambda kind: kind == "cls_index"),
    "summary": given("summary_use_proj"),
    "summary_to_labels": Feature(
        ("summary_use_proj", "summary_proj_to_labels"), lambda used, labels: used and labels
    ),
}


def summary(name: str) -> tuple[Tensor, ...]:
    """The vector that stands for a sequence: projected to H, to the labels, or not at all.

    A projection to the labels is built, but the classifier after it still reads H.
    """

    def projected(outputs: str, **condition: tuple[str, ...]) -> tuple[Tensor, ...]:
        return linear(name, "H", outputs, SEQUENCE_CLASSIFIER, applied=SEQUENCES, **condition)

    return (
        *projected("H", when=("summary",), unless=("summary_to_labels",)),
        *projected("C", when=("summary_to_labels",)),
    )


_GENERATOR_PASS = language_heads(
    "generator_predictions.dense",
    "generator_predictions.LayerNorm",
    "generator_lm_head",
    "gelu",
)

_DISCRIMINATOR_PASS = (
    projected("discriminator_predictions.dense", "hidden", "dense output", "H"),
    activated("hidden_act", "dense output", "activated dense", "H"),
    projected("discriminator_predictions.dense_prediction", "activated dense", "logits", 1),
    binary_cross_entropy("logits", ALL_TOKENS),
)

# The vector of a sequence is a token's, the mean of all, or one that an index picks.
_SUMMARIES = (
    Step("mean", "first token", ("hidden",), (*ALL_SEQUENCES, "H"), when=("summary_mean",)),
    Step(
        "index", "first token", ("hidden",), (*ALL_SEQUENCES, "H"),
        (Kept("hidden"), Kept("index", "", (*ALL_SEQUENCES, "H"), "int64")),
        when=("summary_index",),
    ),
)  # fmt: skip

_VIEW, *_SUMMARY_PASS = dense_classifier_pass(
    1,
    "summary_activation",
    dense="sequence_summary.summary",
    out="classifier",
    dropouts=("", "summary_last_dropout"),
)

_FORWARD = FORWARD._replace(
    embeddings=(
        *embeddings_pass(output="dropped embeddings"),
        projected("embeddings_project", "dropped embeddings", "hidden", "H"),
    ),
    pooler=(),
    heads={
        **pooled_heads(),
        **_GENERATOR_PASS,
        "generator": _GENERATOR_PASS["masked-lm"],
        "pretraining": _DISCRIMINATOR_PASS,
        "discriminator": _DISCRIMINATOR_PASS,
        "sequence-classification": (*dense_classifier_pass("C", "gelu"), *sequence_loss()),
        "multiple-choice": (
            _VIEW._replace(unless=("summary_mean", "summary_index")),
            *_SUMMARIES,
            *_SUMMARY_PASS,
            *choice_loss(),
        ),
    },
)

ELECTRA = BERT._replace(
    model_type="electra",
    config_class="ElectraConfig",
    prefix="electra.",
    defaults={
        **BERT.defaults,
        "embedding_size": 128,
        "hidden_size": 256,
        "num_attention_heads": 4,
        "intermediate_size": 1024,
        "summary_type": "first",
        "summary_use_proj": True,
        "summary_proj_to_labels": False,
        "summary_activation": "gelu",
        "summary_last_dropout": 0.1,
    },
    switches=SUMMARY_SWITCHES,
    embedding_size_alone=True,
    features={"factorized": FACTORIZED, **SUMMARY_FEATURES},
    embeddings={"transformers": (*embeddings(), *PROJECTION)},
    pooler=(),
    heads={
        **base_heads("Electra", pooler=False),
        "pretraining": _PRETRAINING,
        "discriminator": _PRETRAINING,
        "masked-lm": _MASKED_LM,
        "generator": _MASKED_LM,
        "causal-lm": Head(("ElectraForCausalLM",), pooler=False, tensors=_GENERATOR),
        **task_heads("Electra", classifier=dense_classifier()),
        "multiple-choice": Head(
            ("ElectraForMultipleChoice",),
            pooler=False,
            tensors=(*summary("sequence_summary.summary"), *sequence_classifier(1)),
        ),
    },
    forward=_FORWARD,
)
