"""Write ``tensors.json``: the names and shapes of every parameter of some real models.

Made with transformers 5.24.0 and torch 2.13.0+cpu: ``python tests/data/make_tensors.py``.
"""

from make_counts import SHAPES
from real import BUILT, build, write

CASES = (
    ("albert-base", "pretraining"),
    ("albert-base", "model"),
    ("three groups of two", "masked-lm"),
    ("bert tiny", "pretraining"),
    ("bert tiny", "sequence-classification"),
)


def main() -> None:
    """List the parameters of each case, a tied one once."""
    cases = []
    for name, head in CASES:
        config = SHAPES[name]
        tensors = {k: list(p.shape) for k, p in build(config, head).named_parameters()}
        cases.append({"case": name, "head": head, "config": config, "tensors": tensors})
    write("tensors.json", f"{BUILT}; named parameters, tied ones once", cases)


if __name__ == "__main__":
    main()
