"""ERNIE (Sun et al., AAAI 2020 and 2021): BERT, with a table of task types if asked for.

Names and shapes are those of transformers' ``ErnieModel`` and its heads.
"""

from albert_calc.families.base import TASK_TYPE_EMBEDDING
from albert_calc.families.bert import BERT, embeddings, predictions, pretrained_heads
from albert_calc.families.heads import base_heads, task_heads
from albert_calc.families.keys import flag, given
from albert_calc.families.sizes import Size
from albert_calc.families.tensors import table

ERNIE = BERT._replace(
    model_type="ernie",
    config_class="ErnieConfig",
    prefix="ernie.",
    defaults={**BERT.defaults, "use_task_id": False, "task_type_vocab_size": 3},
    sizes=(Size("Y", "task_type_vocab_size", "task types", least=0),),
    switches=(flag("use_task_id"),),
    features={"task_types": given("use_task_id")},
    embeddings={
        "transformers": (
            *embeddings(),
            *table(
                "embeddings.task_type_embeddings",
                "Y",
                "E",
                TASK_TYPE_EMBEDDING,
                when=("task_types",),
            ),
        ),
    },
    heads={
        **base_heads("Ernie"),
        **pretrained_heads("Ernie", predictions()),
        **task_heads("Ernie"),
    },
)
