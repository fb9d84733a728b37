"""SqueezeBERT (Iandola et al., 2020): BERT with convolutions over groups of channels.

Names and shapes are those of transformers' ``SqueezeBertModel`` and its heads. A convolution
one token wide is a dense layer that, for each group of channels, reads that group alone.
"""

from albert_calc.algebra import Dim
from albert_calc.families.base import (
    ATTENTION,
    FEED_FORWARD,
    HEADS_DIVIDE_WIDTH,
    Component,
    Derived,
    Head,
    Rule,
    Tensor,
)
from albert_calc.families.bert import BERT, predictions
from albert_calc.families.heads import base_heads, task_heads
from albert_calc.families.keys import whole
from albert_calc.families.tensors import norm, vector


def _convolution(name: str, inputs: Dim, outputs: Dim, component: Component) -> tuple[Tensor, ...]:
    """A convolution, one token wide, that has *inputs* channels in a group."""
    return (
        Tensor(f"{name}.weight", (outputs, inputs, 1), component, "matrix"),
        *vector(f"{name}.bias", outputs, component),
    )


def _in_a_group(symbol: str, what: str, channels: str, key: str) -> Derived:
    return Derived(
        symbol,
        f"channels in a group {what}, {channels} / {key}",
        (channels, key),
        lambda all_channels, groups: all_channels // groups,
    )


def _divides(key: str, channels: str) -> Rule:
    return Rule(
        f"must divide {{{channels}}}",
        (key, channels),
        lambda groups, all_channels: all_channels % groups == 0,
    )


SQUEEZEBERT = BERT._replace(
    model_type="squeezebert",
    config_class="SqueezeBertConfig",
    prefix="transformer.",
    defaults={
        **{key: value for key, value in BERT.defaults.items() if key != "classifier_dropout"},
        "embedding_size": 768,
        "q_groups": 4,
        "k_groups": 4,
        "v_groups": 4,
        "post_attention_groups": 1,
        "intermediate_groups": 4,
        "output_groups": 4,
    },
    switches=(
        whole("q_groups", least=1),
        whole("k_groups", least=1),
        whole("v_groups", least=1),
        whole("post_attention_groups", least=1),
        whole("intermediate_groups", least=1),
        whole("output_groups", least=1),
    ),
    derived=(
        _in_a_group("H_q", "of queries", "H", "q_groups"),
        _in_a_group("H_k", "of keys", "H", "k_groups"),
        _in_a_group("H_v", "of values", "H", "v_groups"),
        _in_a_group("H_a", "after attention", "H", "post_attention_groups"),
        _in_a_group("H_i", "into the feed-forward block", "H", "intermediate_groups"),
        _in_a_group("I_o", "out of the feed-forward block", "I", "output_groups"),
    ),
    rules=(
        HEADS_DIVIDE_WIDTH,
        Rule(
            "must be {hidden_size}, since nothing stands between the embedding and the layers",
            ("embedding_size", "hidden_size"),
            lambda embedded, width: embedded == width,
        ),
        _divides("q_groups", "hidden_size"),
        _divides("k_groups", "hidden_size"),
        _divides("v_groups", "hidden_size"),
        _divides("post_attention_groups", "hidden_size"),
        _divides("intermediate_groups", "hidden_size"),
        _divides("intermediate_groups", "intermediate_size"),
        _divides("output_groups", "hidden_size"),
        _divides("output_groups", "intermediate_size"),
    ),
    marks=("q_groups", "k_groups", "v_groups", "post_attention_groups"),
    embeddings={"transformers": BERT.embeddings["transformers"]},
    layer_name="encoder.layers.{}.",
    layer=(
        *_convolution("attention.query", "H_q", "H", ATTENTION),
        *_convolution("attention.key", "H_k", "H", ATTENTION),
        *_convolution("attention.value", "H_v", "H", ATTENTION),
        *_convolution("post_attention.conv1d", "H_a", "H", ATTENTION),
        *norm("post_attention.layernorm", "H", ATTENTION),
        *_convolution("intermediate.conv1d", "H_i", "I", FEED_FORWARD),
        *_convolution("output.conv1d", "I_o", "H", FEED_FORWARD),
        *norm("output.layernorm", "H", FEED_FORWARD),
    ),
    heads={
        **base_heads("SqueezeBert"),
        "masked-lm": Head(("SqueezeBertForMaskedLM",), pooler=True, tensors=predictions()),
        # Every class builds the pooler, whether it reads it or not.
        **{name: head._replace(pooler=True) for name, head in task_heads("SqueezeBert").items()},
    },
    buffers=("embeddings.position_ids",),
    checkpointing=False,
    sdpa=False,
)
