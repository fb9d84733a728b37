"""Write the checkpoints of ``checkpoints/``: small random models, saved by transformers.

Made with transformers 5.24.0, torch 2.13.0+cpu and safetensors 0.8.0:
``python tests/data/make_checkpoints.py``.
"""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
import transformers
from real import classes_of, settings
from safetensors.torch import save_file

BERT = {
    "model_type": "bert", "vocab_size": 100, "hidden_size": 16, "num_hidden_layers": 3,
    "num_attention_heads": 2, "intermediate_size": 32, "max_position_embeddings": 20,
}  # fmt: skip
ALBERT = {**BERT, "model_type": "albert", "embedding_size": 8}

LEGACY = {"LayerNorm.weight": "LayerNorm.gamma", "LayerNorm.bias": "LayerNorm.beta"}
"""The names that checkpoints converted from TensorFlow have."""


def model(config: Mapping[str, Any], head: str) -> Any:
    """A model with random parameters, the same in every run."""
    torch.manual_seed(0)
    return getattr(transformers, classes_of(config["model_type"])[head])(settings(config))


def rewritten(folder: Path, tensors: Mapping[str, Any]) -> None:
    """Put *tensors* in the place of those that were saved in *folder*."""
    copies = {name: tensor.clone() for name, tensor in tensors.items()}
    save_file(copies, folder / "model.safetensors", metadata={"format": "pt"})


def legacy_name(name: str) -> str:
    """*name* as it was in the first BERT checkpoints."""
    for new, old in LEGACY.items():
        name = name.replace(new, old)
    return name


def main() -> None:
    """Save each checkpoint in a directory of its own."""
    parent = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    folder = parent / "checkpoints"
    model(ALBERT, "pretraining").save_pretrained(folder / "albert-pretraining")
    unshared = model({**ALBERT, "num_hidden_groups": 3}, "model")
    unshared.half().save_pretrained(folder / "albert-unshared-fp16")
    untied = model({**ALBERT, "tie_word_embeddings": False}, "masked-lm")
    untied.save_pretrained(folder / "albert-untied")
    model(BERT, "masked-lm").save_pretrained(
        folder / "bert-masked-lm-sharded", max_shard_size="12KB"
    )
    # The ids of positions, which older versions stored beside the parameters.
    classifier = model(BERT, "sequence-classification")
    classifier.save_pretrained(folder / "bert-with-buffers")
    ids = {"bert.embeddings.position_ids": torch.arange(20).unsqueeze(0)}
    rewritten(folder / "bert-with-buffers", {**classifier.state_dict(), **ids})
    # No decoder, since it is tied.
    pretraining = model(BERT, "pretraining")
    pretraining.save_pretrained(folder / "bert-legacy-names")
    rewritten(
        folder / "bert-legacy-names",
        {
            legacy_name(name): tensor
            for name, tensor in pretraining.state_dict().items()
            if "decoder" not in name
        },
    )
    for file in folder.glob("*/generation_config.json"):
        file.unlink()


if __name__ == "__main__":
    main()
