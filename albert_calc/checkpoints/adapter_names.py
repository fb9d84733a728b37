"""How PEFT 0.21 names the tensors of an adapter: a module of the base, and what it adds there."""

import re

_ADDED = re.compile(
    r"\.(lora_A|lora_B|lora_embedding_A|lora_embedding_B|lora_E|lora_magnitude_vector|ia3_l"
    r"|hada_w[12]_[ab]|hada_t[12]|lokr_w[12](?:_[ab])?|lokr_t2|oft_R|boft_R|boft_s"
    r"|vera_lambda_[bd])(\.default)?(\.weight|\.bias)?$"
)
_WRAPPERS = re.compile(r"\.(base_layer|modules_to_save)(\.default)?(?=\.)")
_OUTER = ("base_model.model.", "base_model.")

COPY = ".original_module."
"""Stands in the names of what a module was before it was trained whole."""


def _bare(name: str) -> str:
    """*name* as the base has it, without the wrappers of PEFT around the model."""
    return next((name.removeprefix(p) for p in _OUTER if name.startswith(p)), name)


def unwrapped(name: str) -> str:
    """*name* without the wrappers of PEFT around a module."""
    return _WRAPPERS.sub("", name)


def added(name: str) -> tuple[str, str]:
    """The module of the base that the tensor *name* is added to, and what it is of the adapter.

    ``("encoder.layer.0.attention.self.query", "lora_A")``; nothing and the name itself for a
    tensor of the base, and ``lora_B`` too for the bias that may go with it.
    """
    plain = _bare(name)
    found = _ADDED.search(plain)
    if not found:
        return "", plain
    return unwrapped(plain[: found.start()] + ".").removesuffix("."), found[1]
