"""Steps of a forward pass that families have alike: embeddings, layers, poolers, heads."""

from albert_calc.algebra import Dim, Dims, minus
from albert_calc.families.base import SEQUENCES, TOKENS
from albert_calc.passes.conditions import (
    LABELS,
    MANY_LABELS,
    ONE_LABEL,
    ONE_SEQUENCE,
    REGRESSION,
)
from albert_calc.passes.steps import (
    Kept,
    Step,
    activated,
    attended,
    binary_cross_entropy,
    cross_entropy,
    dropped,
    embedded,
    first_token,
    normalized,
    projected,
    squared_error,
    summed,
)

Steps = tuple[Step, ...]

HIDDEN_DROPOUT = "hidden_dropout_prob"
ATTENTION_DROPOUT = "attention_probs_dropout_prob"
CLASSIFIER_DROPOUT = "classifier_dropout"

ONE_ROW: Dims = ("S",)
"""The ids of segments: one row for all sequences."""


def embeddings_pass(
    *,
    output: str = "hidden",
    dropout: str = HIDDEN_DROPOUT,
    segments: Dims | None = ONE_ROW,
    positions: Dims | None = None,
    norm: str = "embeddings.LayerNorm",
) -> Steps:
    """Tokens, segments and positions added up, a LayerNorm if there is one, and dropout.

    *segments* and *positions* are the shapes of their ids: ``None`` where the model has no
    segments, and where positions are a buffer of the model.
    """
    table = "embeddings.{}_embeddings".format
    tokens: Steps = (embedded(table("word"), "input_ids", "tokens", "E"),)
    if segments is not None:
        tokens += (
            embedded(table("token_type"), "token_type_ids", "segments", "E", segments),
            summed("tokens", "segments", "tokens and segments", "E"),
        )
    total = (
        *tokens,
        embedded(table("position"), "position_ids", "positions", "E", positions),
        summed(tokens[-1].output, "positions", "embedding sum", "E"),
    )
    if not norm:
        return (*total, dropped(dropout, "embedding sum", output, "E"))
    normed = normalized(norm, "embedding sum", "embeddings", "E")
    return (*total, normed, dropped(dropout, "embeddings", output, "E"))


def layer_pass(
    query: str,
    key: str,
    value: str,
    output: str,
    attention_norm: str,
    up: str,
    down: str,
    norm: str,
    *,
    function: str = "hidden_act",
    attention_dropout: str = ATTENTION_DROPOUT,
    dropouts: tuple[str, str] = (HIDDEN_DROPOUT, HIDDEN_DROPOUT),
    norms_first: bool = False,
) -> Steps:
    """A layer with a LayerNorm after each of its two blocks; the arguments are its modules.

    *dropouts* are the keys of the dropout after attention and after the feed-forward block,
    empty where there is none. With *norms_first* each norm stands before its block, beside
    what is added to the block.
    """
    after_attention, after_feed_forward = dropouts
    read = "normalized hidden" if norms_first else "hidden"
    between = normalized(attention_norm, "attention sum", "attended", "H")
    last = normalized(norm, "feed-forward sum", "output", "H")
    attention = (
        projected(query, read, "query", "H"),
        projected(key, read, "key", "H"),
        projected(value, read, "value", "H"),
        *attended(attention_dropout),
        projected(output, "context", "attention output", "H"),
        dropped(after_attention, "attention output", "dropped attention output", "H"),
        summed("dropped attention output", "hidden", "attention sum", "H"),
    )
    feed_forward = (
        projected(up, "attended", "intermediate", "I"),
        activated(function, "intermediate", "activated", "I"),
        projected(down, "activated", "feed-forward output", "H"),
        dropped(after_feed_forward, "feed-forward output", "dropped feed-forward output", "H"),
    )
    if norms_first:
        return (
            normalized(attention_norm, "hidden", read, "H"),
            *attention,
            between._replace(module=norm),
            *feed_forward,
            summed("dropped feed-forward output", "attention sum", "output", "H"),
        )
    added = summed("dropped feed-forward output", "attended", "feed-forward sum", "H")
    return (*attention, between, *feed_forward, added, last)


def pooler_pass(module: str) -> Steps:
    """The first token of each sequence through a dense layer and a hyperbolic tangent."""
    return (
        first_token("hidden", "first token"),
        projected(module, "first token", "pooler output", "H", SEQUENCES),
        activated("tanh", "pooler output", "pooled", "H", SEQUENCES),
    )


def predictions_pass(
    dense: str,
    norm: str,
    decoder: str,
    *,
    function: str = "hidden_act",
    width: Dim = "E",
    causal: bool = False,
) -> Steps:
    """The prediction of tokens: a dense layer, a LayerNorm, the output over V and its loss.

    With *causal* each token predicts the next one.
    """
    return (
        projected(dense, "hidden", "transformed", width),
        activated(function, "transformed", "activated transformed", width),
        normalized(norm, "activated transformed", "normalized", width),
        projected(decoder, "normalized", "logits", "V"),
        *(next_token_loss() if causal else cross_entropy("logits", TOKENS, "V")),
    )


def next_token_loss() -> Steps:
    """The loss of the next token, in float32.

    The labels are padded by one and cut by one; of a single sequence that is a view, which
    keeps the padded labels.
    """
    upcast, loss = cross_entropy("logits", TOKENS, "V", upcast=True)
    padded = Kept("labels", "", ("B", minus("S", -1)), "int64")
    single = tuple(padded if kept.tensor == "labels" else kept for kept in loss.keeps)
    return (
        upcast,
        loss._replace(unless=(ONE_SEQUENCE,)),
        loss._replace(when=(*loss.when, ONE_SEQUENCE), keeps=single),
    )


def sequence_loss() -> Steps:
    """The loss of a sequence classifier, by its kind of problem."""
    logits, shape = "sequence logits", (*SEQUENCES, "C")
    return (
        *cross_entropy(logits, SEQUENCES, "C", when=(ONE_LABEL,)),
        squared_error(logits, shape, (REGRESSION,)),
        binary_cross_entropy(logits, shape, (MANY_LABELS,)),
    )


def choice_loss() -> Steps:
    """The loss of a choice: M examples, whose choices are the B sequences."""
    kept = (
        Kept("log-probabilities", "", SEQUENCES),
        Kept("labels", "", ("M",), "int64"),
        Kept("total weight", "", ()),
    )
    return (Step("cross entropy", "loss", ("sequence logits",), (), kept, when=(LABELS,)),)


def pooled_classifier(
    outputs: Dim, module: str = "classifier", dropout: str = CLASSIFIER_DROPOUT
) -> Steps:
    """A classifier over the pooler's output, without its loss."""
    return (
        dropped(dropout, "pooled", "dropped pooled", "H", SEQUENCES),
        projected(module, "dropped pooled", "sequence logits", outputs, SEQUENCES),
    )


def dense_classifier_pass(
    outputs: Dim,
    function: str,
    *,
    dense: str = "classifier.dense",
    out: str = "classifier.out_proj",
    dropouts: tuple[str, str] = (CLASSIFIER_DROPOUT, CLASSIFIER_DROPOUT),
) -> Steps:
    """A classifier of two layers over the first token, without its loss.

    *dropouts* are the keys of the dropout before each of the two layers.
    """
    return (
        first_token("hidden", "first token"),
        dropped(dropouts[0], "first token", "dropped first token", "H", SEQUENCES),
        projected(dense, "dropped first token", "dense output", "H", SEQUENCES),
        activated(function, "dense output", "activated dense", "H", SEQUENCES),
        dropped(dropouts[1], "activated dense", "dropped dense", "H", SEQUENCES),
        projected(out, "dropped dense", "sequence logits", outputs, SEQUENCES),
    )


def token_classifier_pass(dropout: str = CLASSIFIER_DROPOUT, module: str = "classifier") -> Steps:
    """A classifier over every token, and its loss."""
    return (
        dropped(dropout, "hidden", "dropped hidden", "H"),
        projected(module, "dropped hidden", "logits", "C"),
        *cross_entropy("logits", TOKENS, "C"),
    )


def question_answering_pass(dropout: str = "", module: str = "qa_outputs") -> Steps:
    """The first and the last token of an answer, each with a loss over all tokens."""
    return (
        dropped(dropout, "hidden", "dropped hidden", "H"),
        projected(module, "dropped hidden", "logits", "C"),
        *cross_entropy("logits", SEQUENCES, "S", "start_positions"),
        *cross_entropy("logits", SEQUENCES, "S", "end_positions"),
    )


def pooled_heads(dropout: str = CLASSIFIER_DROPOUT, choice_dropout: str = "") -> dict[str, Steps]:
    """The heads for tasks as BERT has them, and the bare model.

    *choice_dropout* is the dropout of multiple choice, if another than *dropout*.
    """
    return {
        "model": (),
        "encoder": (),
        "sequence-classification": (*pooled_classifier("C", dropout=dropout), *sequence_loss()),
        "multiple-choice": (
            *pooled_classifier(1, dropout=choice_dropout or dropout),
            *choice_loss(),
        ),
        "token-classification": token_classifier_pass(dropout),
        "question-answering": question_answering_pass(),
    }


def language_heads(
    dense: str, norm: str, decoder: str, function: str = "hidden_act", width: Dim = "E"
) -> dict[str, Steps]:
    """Masked and causal language modelling, by the modules of the prediction of tokens."""
    masked = predictions_pass(dense, norm, decoder, function=function, width=width)
    causal = predictions_pass(dense, norm, decoder, function=function, width=width, causal=True)
    return {"masked-lm": masked, "causal-lm": causal}
