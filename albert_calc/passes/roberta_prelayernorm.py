"""RoBERTa-PreLayerNorm's forward pass: LayerNorms before the blocks and after the last layer."""

from albert_calc.passes.common import layer_pass
from albert_calc.passes.roberta import ROBERTA
from albert_calc.passes.steps import normalized

ROBERTA_PRELAYERNORM = ROBERTA._replace(
    layer=layer_pass(
        "attention.self.query",
        "attention.self.key",
        "attention.self.value",
        "attention.output.dense",
        "attention.LayerNorm",
        "intermediate.dense",
        "output.dense",
        "intermediate.LayerNorm",
        norms_first=True,
    ),
    outside=(normalized("LayerNorm", "encoded", "hidden", "H"),),
)
