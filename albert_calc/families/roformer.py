"""RoFormer (Su et al., 2021): BERT's encoder with rotary positions.

Names and shapes are those of transformers' ``RoFormerModel`` and its heads.
"""

from albert_calc.families.base import (
    EMBEDDING_LAYER_NORM,
    FACTORIZED,
    HEADS_DIVIDE_WIDTH,
    POSITION_EMBEDDING,
    TOKEN_EMBEDDING,
    TOKEN_TYPE_EMBEDDING,
    Derived,
    Head,
    Rule,
    Same,
)
from albert_calc.families.bert import BERT, TOKENS_NAME, predictions
from albert_calc.families.electra import (
    PROJECTION,
    SUMMARY_FEATURES,
    SUMMARY_SWITCHES,
    summary,
)
from albert_calc.families.heads import (
    base_heads,
    dense_classifier,
    sequence_classifier,
    task_heads,
    token_classifier,
)
from albert_calc.families.tensors import norm, table

# The angles of the rotation are stored as a table that is not trained.
_ANGLES = table("encoder.embed_positions", "P", "D", POSITION_EMBEDDING)

ROFORMER = BERT._replace(
    model_type="roformer",
    config_class="RoFormerConfig",
    prefix="roformer.",
    defaults={
        "vocab_size": 50000,
        "embedding_size": Same("hidden_size"),
        "hidden_size": 768,
        "num_hidden_layers": 12,
        "num_attention_heads": 12,
        "intermediate_size": 3072,
        "max_position_embeddings": 1536,
        "type_vocab_size": 2,
        "rotary_value": False,
        "tie_word_embeddings": True,
        "hidden_act": "gelu",
        "hidden_dropout_prob": 0.1,
        "attention_probs_dropout_prob": 0.1,
        "summary_type": "last",
        "summary_use_proj": False,
        "summary_proj_to_labels": False,
        "summary_activation": None,
        "summary_first_dropout": 0.0,
        "summary_last_dropout": 0.0,
    },
    switches=SUMMARY_SWITCHES,
    derived=(
        Derived(
            "D",
            "width of an attention head, H / A",
            ("H", "num_attention_heads"),
            lambda width, heads: width // heads,
        ),
    ),
    features={"factorized": FACTORIZED, **SUMMARY_FEATURES},
    rules=(
        HEADS_DIVIDE_WIDTH,
        Rule(
            "must divide {hidden_size} into heads of an even width for such a model to run;"
            " counted as built",
            ("num_attention_heads", "hidden_size"),
            lambda heads, width: width // heads % 2 == 0,
            fatal=False,
        ),
    ),
    marks=("rotary_value",),
    embedding_size_alone=True,
    refused={
        "norm_type": (
            (None, "layer_norm"),
            "norms without parameters (RoFormer v2) are not counted; transformers builds"
            " LayerNorms whatever this says",
        ),
        "use_bias": (
            (None, True),
            "layers without biases (RoFormer v2) are not counted; transformers builds biases"
            " whatever this says",
        ),
    },
    embeddings={
        "transformers": (
            *table(TOKENS_NAME, "V", "E", TOKEN_EMBEDDING),
            *table("embeddings.token_type_embeddings", "T", "E", TOKEN_TYPE_EMBEDDING),
            *norm("embeddings.LayerNorm", "E", EMBEDDING_LAYER_NORM),
            *PROJECTION,
            *_ANGLES,
        ),
    },
    pooler=(),
    heads={
        **base_heads("RoFormer", pooler=False),
        "masked-lm": Head(("RoFormerForMaskedLM",), pooler=False, tensors=predictions()),
        "causal-lm": Head(("RoFormerForCausalLM",), pooler=False, tensors=predictions()),
        **task_heads("RoFormer", classifier=dense_classifier()),
        "multiple-choice": Head(
            ("RoFormerForMultipleChoice",),
            pooler=False,
            tensors=(*summary("sequence_summary.summary"), *sequence_classifier(1)),
        ),
        "question-answering": Head(
            ("RoFormerForQuestionAnswering",),
            pooler=False,
            tensors=token_classifier(2, "qa_outputs"),
        ),
    },
    sdpa=False,
)
