"""Helpers of the checkpoint tests: safetensors files made of a header, and random models."""

import json
import random
from collections.abc import Mapping, Sequence
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

from albert_calc.checkpoints.files import Checkpoint
from albert_calc.checkpoints.matching import numbers
from albert_calc.checkpoints.stored import StoredTensor
from albert_calc.config.model_config import ModelConfig
from albert_calc.counting.tensors import is_counted, tensor_table, variant_of
from albert_calc.errors import ConfigError
from albert_calc.families import FAMILIES, family
from albert_calc.families.base import Family

Shapes = dict[str, Sequence[int]]

WIDTHS: Mapping[str, int] = {
    "BOOL": 8,
    "F4": 4, "F6_E2M3": 6, "F6_E3M2": 6,
    "F8_E4M3": 8, "F8_E4M3FNUZ": 8, "F8_E5M2": 8, "F8_E5M2FNUZ": 8, "F8_E8M0": 8,
    "U8": 8, "U16": 16, "U32": 32, "U64": 64,
    "I8": 8, "I16": 16, "I32": 32, "I64": 64,
    "F16": 16, "BF16": 16, "F32": 32, "F64": 64, "C64": 64,
}  # fmt: skip
"""Every dtype of a safetensors file, and the bits of a number with which safetensors 0.8 reads it.

Written out: with the widths of the package, files and reader would agree on any.
"""


def packed(header: bytes, data_length: int = 0, length: int | None = None) -> bytes:
    """A file with this *header* and so many zeros; *length* is what its first bytes claim."""
    claimed = len(header) if length is None else length
    return claimed.to_bytes(8, "little") + header + bytes(data_length)


def entries(shapes: Mapping[str, Sequence[int]], dtype: str = "F32") -> tuple[dict[str, Any], int]:
    """The entries of a header for tensors of these *shapes*, and the bytes of their data."""
    found, offset = {}, 0
    for name, shape in shapes.items():
        end = offset + prod(shape) * WIDTHS[dtype] // 8
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


def checkpoint_of(shapes: Mapping[str, Sequence[int]], **shared: str) -> Checkpoint:
    """A checkpoint in memory with tensors of these *shapes*."""
    tensors = {name: StoredTensor("F32", tuple(shape)) for name, shape in shapes.items()}
    return Checkpoint("model.safetensors", tensors, shared=shared)


# ---------------------------------------------------------------- models


def stored_shapes(config: ModelConfig, head: str, layout: str = "transformers") -> Shapes:
    """The name and shape of every parameter, tied ones once: the tensor table written out."""
    tables = config.family
    prefix = tables.prefix if tables.heads[head].tensors else ""
    shapes: Shapes = {}
    for tensor in tensor_table(variant_of(config, head, layout)):
        if is_counted(tensor, bool(config.tie_word_embeddings)):
            before = "" if tensor.component.part == "head" else prefix
            counts = numbers(tensor.repeat, config.symbols)
            starts = (tensor.skip, *(0 for _ in counts[1:]))
            places = (range(s, s + n) for s, n in zip(starts, counts, strict=False))
            for indices in product(*places):
                shape = numbers(tensor.shape, config.symbols)
                shapes[before + tensor.name.format(*indices)] = list(shape)
    return shapes


def random_model(chance: random.Random) -> tuple[ModelConfig, str]:
    """A legal config and a head, drawn from the whole space that the families allow."""
    while True:
        tables = family(chance.choice(list(FAMILIES)))
        head = chance.choice(list(tables.heads))
        try:
            config = ModelConfig.from_dict(_random_keys(chance, tables, head))
            tensor_table(variant_of(config, head, "transformers"))
        except ConfigError:
            continue
        return config, head


def _random_keys(chance: random.Random, tables: Family, head: str) -> dict[str, Any]:
    heads, layers = chance.randint(1, 4), chance.randint(1, 5)
    width = 2 * heads * chance.randint(1, 20)
    usual = {
        "vocab_size": chance.randint(2, 3000),
        "hidden_size": width,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "intermediate_size": chance.randint(1, 300),
        "embedding_size": chance.choice([width, chance.randint(1, 200)]),
        "max_position_embeddings": chance.choice([2, 20, 512, 514]),
        "type_vocab_size": chance.choice([0, 1, 2, 16]),
        "num_hidden_groups": chance.randint(1, layers),
        "inner_group_num": chance.randint(1, 3),
    }
    keys: dict[str, Any] = {tables.name_of(k): v for k, v in usual.items() if tables.has(k)}
    for size in tables.sizes:
        keys[size.key] = chance.choice([None, max(size.least, 2 * chance.randint(1, 20))])
    for switch in tables.switches:
        likely = [v for v in (True, False, *switch.likely, 1, 5, None) if _reads(switch.read, v)]
        keys[switch.key] = chance.choice(likely) if likely else None
    return {
        **{k: v for k, v in keys.items() if v is not None},
        "model_type": tables.model_type,
        "architectures": list(tables.heads[head].classes[:1]),
        "tie_word_embeddings": chance.random() < 0.6,
        "num_labels": chance.choice([2, chance.randint(1, 42)]),
    }


def _reads(read: Any, value: object) -> bool:
    try:
        read(value)
    except ValueError:
        return False
    return value is not None
