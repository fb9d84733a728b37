"""DistilBERT's forward pass: neither segments nor a pooler."""

from albert_calc.algebra import Dim
from albert_calc.passes.common import (
    Steps,
    choice_loss,
    dense_classifier_pass,
    embeddings_pass,
    layer_pass,
    predictions_pass,
    question_answering_pass,
    sequence_loss,
    token_classifier_pass,
)
from albert_calc.passes.steps import Forward


def _classifier(outputs: Dim) -> Steps:
    return dense_classifier_pass(
        outputs,
        "relu",
        dense="pre_classifier",
        out="classifier",
        dropouts=("", "seq_classif_dropout"),
    )


# There is no dropout after attention.
DISTILBERT = Forward(
    embeddings=embeddings_pass(dropout="dropout", segments=None),
    layer=layer_pass(
        "attention.q_lin",
        "attention.k_lin",
        "attention.v_lin",
        "attention.out_lin",
        "sa_layer_norm",
        "ffn.lin1",
        "ffn.lin2",
        "output_layer_norm",
        function="activation",
        attention_dropout="attention_dropout",
        dropouts=("", "dropout"),
    ),
    heads={
        "model": (),
        "encoder": (),
        "masked-lm": predictions_pass(
            "vocab_transform", "vocab_layer_norm", "vocab_projector", function="activation"
        ),
        "sequence-classification": (*_classifier("C"), *sequence_loss()),
        "multiple-choice": (*_classifier(1), *choice_loss()),
        "token-classification": token_classifier_pass("dropout"),
        "question-answering": question_answering_pass("qa_dropout"),
    },
)
