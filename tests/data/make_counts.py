"""Write ``counts.json``: parameters of every head of ALBERT and BERT, from the real classes.

Made with transformers 5.24.0 and torch 2.13.0+cpu: ``python tests/data/make_counts.py``.
"""

from collections.abc import Mapping
from typing import Any

from real import BUILT, build, classes_of, parameters, write


def bert(V: int, H: int, L: int, I: int, A: int, **more: Any) -> dict[str, Any]:  # noqa: E741, N803 - symbols
    """A BERT of these sizes."""
    sizes = {
        "vocab_size": V, "hidden_size": H, "num_hidden_layers": L, "num_attention_heads": A,
        "intermediate_size": I,
    }  # fmt: skip
    return {"model_type": "bert", **sizes, **more}


def albert(V: int, H: int, L: int, I: int, A: int, E: int, **more: Any) -> dict[str, Any]:  # noqa: E741, N803 - symbols
    """An ALBERT of these sizes."""
    return {**bert(V, H, L, I, A), "model_type": "albert", "embedding_size": E, **more}


BASE = albert(30000, 768, 12, 3072, 12, 128)
BERT_BASE = bert(30522, 768, 12, 3072, 12)

SHAPES: Mapping[str, dict[str, Any]] = {
    "albert-base": BASE,
    "albert-large": albert(30000, 1024, 24, 4096, 16, 128),
    "albert-xlarge": albert(30000, 2048, 24, 8192, 16, 128),
    "albert-xxlarge": albert(30000, 4096, 12, 16384, 64, 128),
    "bert-base-uncased": BERT_BASE,
    "bert-large-uncased": bert(30522, 1024, 24, 4096, 16),
    "bert-base-cased": bert(28996, 768, 12, 3072, 12),
    "bert-large-cased": bert(28996, 1024, 24, 4096, 16),
    "albert-base at BERT's vocabulary": {**BASE, "vocab_size": 30522},
    "unshared albert-base": {**BASE, "num_hidden_groups": 12},
    "five groups over twelve layers": {**BASE, "num_hidden_groups": 5},
    "inner_group_num 2": {**BASE, "inner_group_num": 2},
    "three groups of two": {**BASE, "num_hidden_groups": 3, "inner_group_num": 2},
    "E equals H": {**BASE, "embedding_size": 768},
    "E above H": albert(21128, 64, 12, 256, 1, 128),
    "untied albert": {**BASE, "tie_word_embeddings": False},
    "untied bert": {**BERT_BASE, "tie_word_embeddings": False},
    "no token types, albert": {**BASE, "type_vocab_size": 0},
    "one token type, 514 positions": bert(
        50265, 768, 12, 3072, 12, type_vocab_size=1, max_position_embeddings=514
    ),
    "five labels, albert": {**BASE, "num_labels": 5},
    "nine labels, bert": bert(28996, 768, 12, 3072, 12, num_labels=9),
    "multilingual cased": bert(119547, 768, 12, 3072, 12),
    "multilingual uncased": bert(105879, 768, 12, 3072, 12),
    "chinese bert": bert(21128, 768, 12, 3072, 12),
    "bert tiny": bert(30522, 128, 2, 512, 2),
    "bert mini": bert(30522, 256, 4, 1024, 4),
    "bert small": bert(30522, 512, 4, 2048, 8),
    "bert medium": bert(30522, 512, 8, 2048, 8),
    "I is not 4H": bert(30522, 312, 4, 1200, 12),
    "chinese albert tiny": albert(21128, 312, 4, 1248, 12, 128),
    "padded vocabulary": bert(30528, 768, 12, 3072, 12),
    "minimal": albert(2, 2, 1, 1, 1, 1),
}


def main() -> None:
    """Count every head of every shape."""
    cases = [
        {
            "case": name, "head": head, "class": class_name, "config": config,
            "total": parameters(build(config, head)),
        }
        for name, config in SHAPES.items()
        for head, class_name in classes_of(config["model_type"]).items()
    ]  # fmt: skip
    write("counts.json", BUILT, cases)


if __name__ == "__main__":
    main()
