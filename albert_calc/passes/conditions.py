"""What a step of a forward pass depends on beside the config: how attention goes, the loss."""

EAGER, SDPA = "eager", "sdpa"
ATTENTIONS: tuple[str, ...] = (EAGER, SDPA)
"""How attention is computed: operation by operation, or in one fused kernel."""

LABELS = "labels"
"""Holds of a step whose model is given labels, and so computes a loss."""

ONE_SEQUENCE = "one_sequence"
"""Holds of a batch of a single sequence."""

REGRESSION, ONE_LABEL, MANY_LABELS = (
    "regression",
    "single_label_classification",
    "multi_label_classification",
)
PROBLEMS: tuple[str, ...] = (REGRESSION, ONE_LABEL, MANY_LABELS)
"""The values of ``problem_type``: mean squared error, cross entropy, binary cross entropy."""
