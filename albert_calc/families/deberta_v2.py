"""DeBERTa v2 and v3 (He et al., ICLR 2021 and 2023): DeBERTa with buckets of positions.

Names and shapes are those of transformers' ``DebertaV2Model`` and its heads.
"""

from albert_calc.algebra import Dim, times
from albert_calc.families.base import (
    ATTENTION,
    CONVOLUTION,
    RELATIVE_POSITIONS,
    Derived,
    Feature,
    Product,
    Rule,
    Switch,
    Tensor,
    attention_products,
)
from albert_calc.families.deberta import (
    DEBERTA,
    OFF,
    OUTPUT_TENSORS,
    RELATIVE_TABLE,
    deberta_heads,
    pooled_head,
    relative_products,
)
from albert_calc.families.keys import flag, given, whole
from albert_calc.families.sizes import Size
from albert_calc.families.tensors import linear, norm, vector

# All relative positions are projected, however long the sequence is.
_POSITIONS = (times(2, "R"),)


def _attention(
    width: Dim, when: tuple[str, ...] = (), unless: tuple[str, ...] = ()
) -> tuple[Tensor, ...]:
    """Queries, keys and values, all heads together *width* wide."""

    def projected(name: str) -> tuple[Tensor, ...]:
        return linear(f"attention.self.{name}", "H", width, ATTENTION, when=when, unless=unless)

    def of_positions(name: str, used: str) -> tuple[Tensor, ...]:
        return tuple(
            tensor._replace(when=(*when, used), unless=(*unless, "shared_keys"), applied=_POSITIONS)
            for tensor in projected(name)
        )

    return (
        *projected("query_proj"),
        *projected("key_proj"),
        *projected("value_proj"),
        *of_positions("pos_key_proj", "content_to_position"),
        *of_positions("pos_query_proj", "position_to_content"),
    )


def _norms(value: object) -> tuple[str, ...]:
    """How the table of positions is normed: names with ``|`` between them."""
    if value is None:
        return ()
    if not isinstance(value, str):
        raise ValueError
    return tuple(name.strip() for name in value.lower().split("|"))


DEBERTA_V2 = DEBERTA._replace(
    model_type="deberta-v2",
    config_class="DebertaV2Config",
    defaults={
        **{key: value for key, value in DEBERTA.defaults.items() if key != "talking_head"},
        "vocab_size": 128100,
        "hidden_size": 1536,
        "num_hidden_layers": 24,
        "num_attention_heads": 24,
        "intermediate_size": 6144,
        "attention_head_size": 0,
        "share_att_key": False,
        "position_buckets": -1,
        "norm_rel_ebd": None,
        "conv_kernel_size": 0,
        "conv_groups": 1,
        "conv_act": "tanh",
    },
    sizes=(
        *DEBERTA.sizes,
        Size("D", "attention_head_size", "width of an attention head, if not H / A"),
        Size("K", "conv_kernel_size", "tokens under the convolution", least=0),
    ),
    switches=(
        *(switch for switch in DEBERTA.switches if switch.key != "talking_head"),
        flag("share_att_key"),
        whole("position_buckets"),
        Switch(
            "norm_rel_ebd", "names such as layer_norm, in a text", _norms, likely=("layer_norm",)
        ),
        whole("conv_groups", least=1),
    ),
    derived=(
        Derived(
            "R",
            "relative positions to either side",
            ("position_buckets", "max_relative_positions", "P"),
            lambda buckets, most, positions: next((n for n in (buckets, most) if n > 0), positions),
            shown_by="position_buckets",
        ),
        Derived(
            "U",
            "channels under the convolution, H / conv_groups",
            ("H", "conv_groups"),
            lambda width, groups: width // groups,
        ),
    ),
    features={
        **{name: has for name, has in DEBERTA.features.items() if name != "talking_heads"},
        "head_size": given("attention_head_size"),
        "shared_keys": given("share_att_key"),
        "shared_projections": Feature(
            ("relative_attention", "share_att_key"), lambda relative, shared: relative and shared
        ),
        "relative_norm": Feature(("norm_rel_ebd",), lambda names: "layer_norm" in names),
        "convolution": given("conv_kernel_size"),
    },
    rules=(
        *DEBERTA.rules,
        Rule(
            "must divide {hidden_size}",
            ("conv_groups", "hidden_size", "conv_kernel_size"),
            lambda groups, width, kernel: not kernel or width % groups == 0,
        ),
        Rule(
            "must be odd for such a model to run; counted as built",
            ("conv_kernel_size",),
            lambda kernel: not kernel or kernel % 2 == 1,
            fatal=False,
        ),
        Rule(
            "must be {hidden_size} / {num_attention_heads} for such a model to run;"
            " counted as built",
            ("attention_head_size", "hidden_size", "num_attention_heads"),
            lambda head, width, heads: not head or head * heads == width,
            fatal=False,
        ),
    ),
    marks=("position_buckets", "norm_rel_ebd", "share_att_key"),
    refused={"talking_head": (OFF, "mixtures of heads are counted for deberta only")},
    layer=(
        *_attention("H", unless=("head_size",)),
        *_attention(times("A", "D"), when=("head_size",)),
        *OUTPUT_TENSORS,
    ),
    outside=(
        *RELATIVE_TABLE,
        *norm("encoder.LayerNorm", "H", RELATIVE_POSITIONS, when=("relative_norm",)),
        Tensor(
            "encoder.conv.conv.weight",
            ("H", "U", "K"),
            CONVOLUTION,
            "matrix",
            when=("convolution",),
        ),
        *vector("encoder.conv.conv.bias", "H", CONVOLUTION, when=("convolution",)),
        *norm("encoder.conv.LayerNorm", "H", CONVOLUTION, when=("convolution",)),
    ),
    products=(
        *attention_products(),
        *relative_products("R"),
        # Queries and keys are projected once more, from the positions.
        Product("projections", (2, times(2, "R"), "H", "H"), when=("shared_projections",)),
    ),
    heads={
        **deberta_heads("DebertaV2"),
        "multiple-choice": pooled_head("DebertaV2ForMultipleChoice", 1),
    },
)
