"""The sizes of files."""

import pytest

from albert_calc import ModelConfig
from albert_calc.costs.files import Files, files_of
from albert_calc.costs.state import training_state
from albert_calc.costs.workload import Workload
from albert_calc.counting.tensors import blueprint

SMALL = {"vocab_size": 3000, "max_position_embeddings": 64, "hidden_size": 96,
         "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 200}  # fmt: skip


def files(config: dict[str, object], head: str = "model", dtype: str = "float32") -> Files:
    """The files of the model of *config*, trained with AdamW."""
    model = blueprint(ModelConfig.from_dict(config), head, "transformers")
    moments = training_state(model, Workload(dtypes=(dtype,))).optimizer_moments
    return files_of(model, dtype, moments)


def test_bert_with_its_optimizer() -> None:
    """A checkpoint with two moments is three times as large (google-research/bert#63)."""
    found = files({"model_type": "bert"}, "pretraining")
    assert found.with_optimizer == 1_321_277_136
    assert found.checkpoint * 3 == found.with_optimizer
    assert found.unrolled == found.checkpoint


def test_shared_layers_unrolled() -> None:
    """albert-base-v2 is 44.6 MiB, and 342.0 as ONNX stores it (microsoft/onnxruntime#10340)."""
    found = files({"model_type": "albert", "hidden_size": 768, "num_attention_heads": 12,
                   "intermediate_size": 3072})  # fmt: skip
    assert f"{found.checkpoint / 2**20:.1f}" == "44.6"
    assert f"{found.unrolled / 2**20:.1f}" == "342.0"


def test_half_the_bytes() -> None:
    """In 16 bits every file is half as large, but the one in 8 bits."""
    whole = files({"model_type": "bert"})
    half = files({"model_type": "bert"}, dtype="float16")
    assert half.with_optimizer is not None
    assert (half.checkpoint * 2, half.with_optimizer * 2) == whole[:2]
    assert (half.int8, half.unrolled * 2) == whole[2:]


@pytest.mark.parametrize(
    ("model_type", "head", "measured", "matrices"),
    [
        ("bert", "pretraining", 1_737_104, 22),
        ("bert", "model", 1_426_500, 19),
        ("albert", "masked-lm", 587_244, 9),
        ("roberta", "sequence-classification", 1_426_712, 20),
    ],
)
def test_matrices_in_8_bits(model_type: str, head: str, measured: int, matrices: int) -> None:
    """The bytes of the state of the real classes after torch's quantize_dynamic.

    torch 2.13 and transformers 5.24; each matrix has 12 bytes more, its scale and zero point.
    """
    config = {**SMALL, "model_type": model_type}
    config |= {"embedding_size": 32} if model_type == "albert" else {}
    assert files(config, head).int8 == measured - 12 * matrices
