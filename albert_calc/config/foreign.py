"""Files that are no model's config: what they are instead, in one line."""

from collections.abc import Mapping
from typing import Any

from albert_calc.families import FAMILIES
from albert_calc.writing.harmless import printable

LFS_POINTER = "a Git LFS pointer and not the file itself; fetch it with git lfs pull"

_GPT_KEYS = ("n_embd", "n_layer", "n_head", "n_ctx", "n_positions", "n_inner")


def foreign_text(text: str) -> str:
    """What *text* is that is not valid JSON; empty if that cannot be told."""
    start = text.lstrip()[:4096]
    if start.startswith("version https://git-lfs"):
        return LFS_POINTER
    if start.startswith("<"):
        return "a page of HTML or XML, as a download that failed leaves"
    return ""


def python_word(text: str, position: int) -> str:
    """What is written as in Python where the JSON in *text* breaks at *position*, if it is."""
    rest = text[position : position + 6]
    for word, meant in (("True", "true"), ("False", "false"), ("None", "null")):
        if rest.startswith(word):
            return f"written as in Python: {word} must be {meant}"
    return "written as in Python: names must stand in double quotes" if rest[:1] == "'" else ""


def foreign_mapping(given: Mapping[str, Any]) -> str:
    """What the object *given* is that is no encoder's config; empty if it may be one."""
    if "peft_type" in given:
        base = given.get("base_model_name_or_path")
        named = f" for {printable(base, 80)}" if isinstance(base, str) else ""
        return f"the config of a PEFT adapter{named}, not of a model; give that of its base model"
    if isinstance(given.get("encoder"), Mapping) and isinstance(given.get("decoder"), Mapping):
        return (
            "the config of an encoder-decoder; only encoders are counted: give the object"
            " under encoder as a config of its own"
        )
    model_type = given.get("model_type")
    if not isinstance(model_type, str) or model_type not in FAMILIES:
        found = [key for key in _GPT_KEYS if key in given]
        if found and "hidden_size" not in given:
            return f"a config with keys of GPT ({', '.join(found)}), which is no known encoder's"
    if "weight_map" in given and "metadata" in given:
        return "the index of a checkpoint in several files; its config.json lies beside it"
    if "word_embedding_dimension" in given or "__version__" in given:
        return "a config of sentence-transformers; that of the model lies beside it or above"
    if "tokenizer_class" in given and "model_max_length" in given:
        return "the config of a tokenizer, not of a model"
    return ""
