"""Files of other frameworks: what they are, and how to come from them to a checkpoint."""

import re
from collections.abc import Iterator
from typing import NamedTuple


class Foreign(NamedTuple):
    """A kind of file: what its names match, how it begins, what it is, and what to do."""

    names: str
    magic: bytes
    what: str
    instead: str


_ORIGINAL = "give the checkpoint that it was made from"
_CONVERT = (
    "from_pretrained(…, {}=True) of transformers 4 reads {}, and save_pretrained writes safetensors"
)

_TORCH = ("a file of torch.save, not of safetensors", "its name must end in .bin, .pt or .pth")

KINDS: tuple[Foreign, ...] = (
    Foreign(
        r"\.(index|meta|data-\d{5}-of-\d{5})",
        b"",
        "a TensorFlow checkpoint",
        _CONVERT.format("from_tf", "its .index file"),
    ),
    Foreign(
        r"\.(h5|keras)",
        b"\x89HDF",
        "weights for Keras",
        _CONVERT.format("from_tf", "tf_model.h5"),
    ),
    Foreign(
        r"\.msgpack",
        b"",
        "weights for Flax",
        _CONVERT.format("from_flax", "flax_model.msgpack"),
    ),
    Foreign(r"\.onnx", b"", "a graph for ONNX, whose shared layers are unrolled", _ORIGINAL),
    Foreign(r"\.gguf", b"GGUF", "a file for llama.cpp, whose tensors are repacked", _ORIGINAL),
    Foreign(r"\.tflite", b"", "a graph for TensorFlow Lite", _ORIGINAL),
    Foreign(r"\.ot", b"", "weights for Rust", _ORIGINAL),
    Foreign("", b"PK\x03\x04", *_TORCH),
    Foreign("", b"\x80", *_TORCH),
    Foreign("", b"version ", "a Git LFS pointer, not the file itself", "git lfs pull fetches it"),
)
"""What lies where a checkpoint is looked for, and is none."""


def foreign_name(name: str) -> str:
    """What a file called *name* is, and what to do; empty if it may be a checkpoint."""
    return _told(k for k in KINDS if k.names and re.search(f"{k.names}$", name, re.IGNORECASE))


def foreign_start(start: bytes) -> str:
    """What a file that begins with *start* is, and what to do; empty if that cannot be told."""
    return _told(k for k in KINDS if k.magic and start.startswith(k.magic))


def _told(kinds: Iterator[Foreign]) -> str:
    return next((f"{kind.what}; {kind.instead}" for kind in kinds), "")
