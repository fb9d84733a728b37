"""Helpers of the checkpoint tests: safetensors files made of a header, and random models."""

import json
import random
from collections.abc import Mapping, Sequence
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

from albert_calc.architectures import ARCHITECTURES
from albert_calc.checkpoints.safetensors import BITS
from albert_calc.config import ModelConfig
from albert_calc.tensors import is_counted, tensor_table, variant_of

Shapes = dict[str, Sequence[int]]


def packed(header: bytes, data_length: int = 0, length: int | None = None) -> bytes:
    """A file with this *header* and so many zeros; *length* is what its first bytes claim."""
    claimed = len(header) if length is None else length
    return claimed.to_bytes(8, "little") + header + bytes(data_length)


def entries(shapes: Mapping[str, Sequence[int]], dtype: str = "F32") -> tuple[dict[str, Any], int]:
    """The entries of a header for tensors of these *shapes*, and the bytes of their data."""
    found, offset = {}, 0
    for name, shape in shapes.items():
        end = offset + prod(shape) * BITS[dtype] // 8
        found[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [offset, end]}
        offset = end
    return found, offset


def write_tensors(path: Path, shapes: Mapping[str, Sequence[int]], dtype: str = "F32") -> Path:
    """Write a file at *path* that holds tensors of these *shapes*, its data a hole."""
    header, length = entries(shapes, dtype)
    content = packed(json.dumps(header).encode())
    with path.open("wb") as file:
        file.write(content)
        file.truncate(len(content) + length)
    return path


def stored_shapes(config: ModelConfig, head: str) -> Shapes:
    """The name and shape of every parameter, tied ones once: the tensor table written out."""
    architecture = ARCHITECTURES[config.model_type]
    prefix = architecture.prefix if architecture.heads[head].tensors else ""
    shapes: Shapes = {}
    for tensor in tensor_table(variant_of(config, head, "transformers")):
        if is_counted(tensor, config.tie_word_embeddings):
            before = "" if tensor.component.part == "head" else prefix
            repeats = (range(d if isinstance(d, int) else config.symbols[d]) for d in tensor.repeat)
            for indices in product(*repeats):
                shapes[before + tensor.name.format(*indices)] = [
                    d if isinstance(d, int) else config.symbols[d] for d in tensor.shape
                ]
    return shapes


def random_model(chance: random.Random) -> tuple[ModelConfig, str]:
    """A legal config and a head, drawn from the whole space that the design allows."""
    model_type = chance.choice(list(ARCHITECTURES))
    architecture = ARCHITECTURES[model_type]
    head = chance.choice(list(architecture.heads))
    attention_heads = chance.randint(1, 4)
    layers = chance.randint(1, 5)
    values: dict[str, Any] = {
        "model_type": model_type,
        "architectures": [architecture.heads[head].classes[0]],
        "vocab_size": chance.randint(1, 3000),
        "hidden_size": attention_heads * chance.randint(1, 40),
        "num_hidden_layers": layers,
        "num_attention_heads": attention_heads,
        "intermediate_size": chance.randint(1, 300),
        "max_position_embeddings": chance.choice([1, 20, 512, 514]),
        "type_vocab_size": chance.choice([0, 1, 2, 16]),
        "tie_word_embeddings": chance.random() < 0.6,
        "num_labels": chance.randint(1, 42),
    }
    if "embedding_size" in architecture.defaults:
        widths = [values["hidden_size"], chance.randint(1, 200)]
        values["embedding_size"] = chance.choice(widths)
    if "num_hidden_groups" in architecture.defaults:
        values |= {
            "num_hidden_groups": chance.randint(1, layers),
            "inner_group_num": chance.randint(1, 3),
        }
    return ModelConfig.from_dict(values), head
