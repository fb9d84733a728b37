"""ERNIE's forward pass: BERT's, with task types among the embeddings."""

from albert_calc.families.base import TOKENS
from albert_calc.passes.bert import BERT
from albert_calc.passes.common import embeddings_pass
from albert_calc.passes.steps import embedded, normalized, summed

*_SUMS, _, _DROPOUT = embeddings_pass()

ERNIE = BERT._replace(
    embeddings=(
        *_SUMS,
        embedded("embeddings.task_type_embeddings", "task_type_ids", "tasks", "E", TOKENS),
        summed("embedding sum", "tasks", "task sum", "E")._replace(when=("task_types",)),
        normalized("embeddings.LayerNorm", "task sum", "embeddings", "E"),
        _DROPOUT,
    ),
)
