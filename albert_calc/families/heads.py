"""Heads that families have alike, and the tensors that stand in them."""

from albert_calc.algebra import Dim
from albert_calc.families.base import (
    OUTPUT_EMBEDDING,
    PREDICTION_HEAD,
    SEQUENCE_CLASSIFIER,
    SEQUENCES,
    TOKEN_CLASSIFIER,
    Head,
    Tensor,
)
from albert_calc.families.tensors import linear


def output_embedding(bias: str, decoder: str, width: Dim, tied_to: str) -> tuple[Tensor, ...]:
    """The output over the vocabulary: a bias, and a decoder tied to the token table.

    Untied, transformers keeps the decoder's matrix and a second bias of its own.
    """
    return (
        Tensor(bias, ("V",), PREDICTION_HEAD, "vector"),
        Tensor(f"{decoder}.weight", ("V", width), OUTPUT_EMBEDDING, "matrix", tied_to=tied_to),
        Tensor(f"{decoder}.bias", ("V",), OUTPUT_EMBEDDING, "vector", tied_to=bias),
    )


def sequence_classifier(
    outputs: Dim = "C", name: str = "classifier", inputs: Dim = "H"
) -> tuple[Tensor, ...]:
    """A classifier over one vector a sequence."""
    return linear(name, inputs, outputs, SEQUENCE_CLASSIFIER, applied=SEQUENCES)


def dense_classifier() -> tuple[Tensor, ...]:
    """A classifier of two layers over the first token, as RoBERTa and ELECTRA have it."""
    return (
        *sequence_classifier("H", "classifier.dense"),
        *sequence_classifier(name="classifier.out_proj"),
    )


def token_classifier(outputs: Dim = "C", name: str = "classifier") -> tuple[Tensor, ...]:
    """A classifier over every token."""
    return linear(name, "H", outputs, TOKEN_CLASSIFIER)


def task_heads(names: str, *, classifier: tuple[Tensor, ...] | None = None) -> dict[str, Head]:
    """The heads for tasks that families have alike; *names* begins their classes' names.

    With *classifier*, sequences are classified by it, and without the pooler.
    """
    return {
        "sequence-classification": Head(
            (f"{names}ForSequenceClassification",),
            pooler=classifier is None,
            tensors=classifier or sequence_classifier(),
        ),
        "multiple-choice": Head(
            (f"{names}ForMultipleChoice",), pooler=True, tensors=sequence_classifier(1)
        ),
        "token-classification": Head(
            (f"{names}ForTokenClassification",), pooler=False, tensors=token_classifier()
        ),
        "question-answering": Head(
            (f"{names}ForQuestionAnswering",),
            pooler=False,
            tensors=token_classifier(name="qa_outputs"),
        ),
    }


def base_heads(names: str, *, pooler: bool = True) -> dict[str, Head]:
    """The bare model, with its pooler if the family has one and without."""
    return {
        "model": Head((f"{names}Model",), pooler=pooler),
        "encoder": Head((f"{names}Model",), pooler=False),
    }
