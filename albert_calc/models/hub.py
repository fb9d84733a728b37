"""The local Hugging Face cache: read only, and never fetched into."""

import os
import re

_ID = r"[A-Za-z0-9][\w.-]{0,95}(/[A-Za-z0-9][\w.-]{0,95})?"
_COMMIT = r"[0-9a-zA-Z._-]{1,64}"


def is_id(text: str) -> bool:
    """Whether *text* could be the id of a model: ``name`` or ``org/name``."""
    return bool(re.fullmatch(_ID, text)) and ".." not in text


def cache_folder() -> str:
    """Where the cache is: ``HF_HUB_CACHE``, else ``HF_HOME/hub``, else in the home directory."""
    for variable, inside in (("HF_HUB_CACHE", ""), ("HF_HOME", "hub")):
        value = os.environ.get(variable)
        if value:
            return os.path.join(os.path.expanduser(value), inside)
    return os.path.join(os.path.expanduser("~"), ".cache", "huggingface", "hub")


def cached_snapshot(model_id: str) -> str | None:
    """The directory of the snapshot of *model_id* that ``main`` names, if it is in the cache."""
    if not is_id(model_id):
        return None
    folder = os.path.join(cache_folder(), f"models--{model_id.replace('/', '--')}")
    reference = os.path.join(folder, "refs", "main")
    try:
        # Asked first, as opening a pipe would wait for somebody to write.
        if not os.path.isfile(reference):
            return None
        with open(reference, encoding="utf-8") as file:
            commit = file.read(65).strip()
    except (OSError, ValueError):
        return None
    if not re.fullmatch(_COMMIT, commit) or commit.strip(".") == "":
        return None
    snapshot = os.path.join(folder, "snapshots", commit)
    return snapshot if os.path.isdir(snapshot) else None
