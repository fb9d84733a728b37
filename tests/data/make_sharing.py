"""Write ``sharing.json``: ALBERTs that share one block only, from the real class.

The layers of an unshared model are built, and then the modules of a block made one. Made with
transformers 5.24.0 and torch 2.13.0+cpu: ``python tests/data/make_sharing.py``.
"""

from typing import Any

from make_counts import BASE, SHAPES
from real import BUILT, build, parameters, write

BLOCKS = {
    "attention": ("attention",),
    "ffn": ("ffn", "ffn_output", "full_layer_layer_norm"),
}
"""The modules of a layer that make up each block, with its LayerNorm."""

CASES = {
    "E=128": BASE,
    "E=768": {**BASE, "embedding_size": 768},
    "large": SHAPES["albert-large"],
}


def shared(config: dict[str, Any], share: str) -> int:
    """The parameters of the model of *config* with the blocks of *share* made one."""
    model = build({**config, "num_hidden_groups": config["num_hidden_layers"]}, "model")
    first, *others = [group.albert_layers[0] for group in model.encoder.albert_layer_groups]
    for layer in others:
        for block, modules in BLOCKS.items():
            for module in modules if share in ("all", block) else ():
                setattr(layer, module, getattr(first, module))
    return parameters(model)


def main() -> None:
    """Count each case under each way of sharing."""
    cases = [
        {"case": name, "share": share, "config": config, "total": shared(config, share)}
        for name, config in CASES.items()
        for share in ("all", "attention", "ffn", "none")
    ]
    source = (
        f"{BUILT}; attention (with its LayerNorm) and ffn (with its LayerNorm) modules tied"
        " across layers"
    )
    write("sharing.json", source, cases)


if __name__ == "__main__":
    main()
