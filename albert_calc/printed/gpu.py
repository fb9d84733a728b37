"""Training steps measured on a GPU, as transformers' documentation prints them.

Its benchmark trained in float16 without labels (the loss is the sum of the logits) and without
an optimizer, and printed ``torch.cuda.max_memory_allocated`` in MB of 10^6 bytes. BERT: an A100 of
80 GB with PyTorch 2.2, model_doc/bert.md; it is BertLMHeadModel (huggingface/transformers, pull
request 28802). ALBERT: an RTX 2060 of 8 GB with PyTorch 2.3.1, model_doc/albert.md; no class is
printed, and a sequence classifier with gelu_new and without dropout fits all of its rows.
"""

from collections.abc import Iterator
from itertools import product

from albert_calc.config.model_config import ModelConfig
from albert_calc.costs.circumstances import unknown
from albert_calc.costs.peak import training_peak
from albert_calc.costs.workload import Workload
from albert_calc.counting.tensors import blueprint
from albert_calc.errors import AlbertCalcError
from albert_calc.named_tuple import NamedTuple
from albert_calc.printed.figure import Figure

TITLE = "Training steps on GPUs, as transformers' documentation prints them, in MB"

_RUNS = {
    "BERT": ("bert-base-uncased", "masked-lm", "A100"),
    "ALBERT": ("albert-base-v2", "sequence-classification", "RTX 2060"),
}

# Below a gigabyte what the estimate leaves out weighs more than a twentieth.
_LARGE = 1_000_000


class _Row(NamedTuple):
    """A printed row: batch, length, and the peak with either attention, in 10^3 bytes."""

    model: str
    batch_size: int
    sequence_length: int
    eager: int
    sdpa: int


_ROWS = (
    _Row("BERT", 4, 256, 939_213, 764_834),
    _Row("BERT", 4, 512, 1_970_447, 1_227_162),
    _Row("BERT", 8, 256, 1_594_295, 1_226_114),
    _Row("BERT", 8, 512, 3_629_401, 2_134_262),
    _Row("BERT", 16, 256, 2_874_426, 2_134_262),
    _Row("BERT", 16, 512, 6_964_659, 3_961_013),
    _Row("ALBERT", 2, 256, 358_411, 321_088),
    _Row("ALBERT", 2, 512, 753_458, 602_660),
    _Row("ALBERT", 4, 256, 679_534, 602_660),
    _Row("ALBERT", 4, 512, 1_434_820, 1_134_140),
    _Row("ALBERT", 8, 256, 1_283_825, 1_134_140),
    _Row("ALBERT", 8, 512, 2_820_398, 2_219_695),
)


def figures() -> Iterator[Figure]:
    """Every printed row beside the estimate.

    Raises ``AlbertCalcError`` for a model whose training peak is unknown.
    """
    for model, attention in product(_RUNS, ("eager", "sdpa")):
        preset, head, card = _RUNS[model]
        config = ModelConfig.from_preset(preset)
        tensors = blueprint(config, head, "transformers")
        for row in (row for row in _ROWS if row.model == model):
            printed = row.eager if attention == "eager" else row.sdpa
            workload = Workload(
                row.batch_size, row.sequence_length, ("float16",), "none", attention, labels=False
            )
            peak = training_peak(config, tensors, workload)
            if peak is None:
                reason = unknown(config, tensors, workload)
                raise AlbertCalcError(f"{preset}: its training peak is unknown, since {reason}")
            yield Figure(
                where=f"{model} on {card}, {attention}",
                what=f"B = {row.batch_size}, S = {row.sequence_length}",
                printed=printed,
                unit="thousand bytes",
                computed=peak,
                convention=f"{preset}, head {head}",
                expected="within 5%" if printed > _LARGE else None,
            )
