"""Where the checkpoint is that a command line names."""

import os

from albert_calc.config.files import quoted
from albert_calc.errors import CheckpointError
from albert_calc.models.hub import cache_folder, cached_snapshot, is_id


def find_checkpoint(text: str) -> tuple[str, tuple[str, ...]]:
    """The path that *text* names, and notes: a path, or an id in the local Hugging Face cache.

    A path that exists wins. Raises ``CheckpointError`` for an id that is not in the cache.
    """
    if os.path.lexists(text) or os.path.lexists(f"{text}.index"):
        return text, ()
    snapshot = cached_snapshot(text)
    if snapshot is not None:
        return snapshot, (f"{text}: read from the local Hugging Face cache",)
    named_as_file = text.endswith((".json", ".safetensors", ".bin", ".pt", ".pth", ".ckpt"))
    if is_id(text) and not named_as_file and ("/" in text or "." not in text):
        raise CheckpointError(
            f"{text}: neither a path nor in the local cache ({quoted(cache_folder())}), and"
            f" nothing is fetched: hf download {text} does that"
        )
    return text, ()
