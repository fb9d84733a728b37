"""Write ``flops.json``, ``flops_more.json`` and ``flops_families.json``: FLOPs of real classes.

They are measured with torch's own counter in one forward pass, in evaluation mode: 2 FLOPs a
multiply-add, matrix products only. ``batch`` is the number of sequences that go through the
encoder, so examples × choices. The cases of ``flops_families.json`` are those of
``families.json`` by name. Made with transformers 5.24.0 and torch 2.13.0+cpu:
``python tests/data/make_flops.py``.
"""

from collections.abc import Iterator
from typing import Any

import torch
import transformers
from make_counts import SHAPES
from make_families import PUBLISHED, Config, small_shapes
from real import BUILT, build, classes_of, parameters, write
from torch.utils.flop_counter import (
    FlopCounterMode,
)

CHOICES = 2
LARGEST = 4 * 10**8
"""The most parameters of a model that is built in memory."""

# A warning about padding looks at the tokens, and on the meta device they have no values.
transformers.PreTrainedModel.warn_if_padding_and_no_attention_mask = lambda *_: None


def measured(config: Config, head: str, batch: int, length: int) -> int:
    """The FLOPs of one forward pass of *batch* sequences of *length* tokens."""
    try:
        return _counted(config, head, batch, length, "meta")
    except RuntimeError:
        # Some classes look at values of their own; only a model in memory has them.
        if parameters(build(config, head)) > LARGEST:
            raise
        return _counted(config, head, batch, length, "cpu")


def _counted(config: Config, head: str, batch: int, length: int, device: str) -> int:
    model = build(config, head, device, attn_implementation="eager").eval()
    shape = (batch // CHOICES, CHOICES) if head == "multiple-choice" else (batch,)
    counter = FlopCounterMode(display=False)
    with counter:
        model(input_ids=torch.ones((*shape, length), dtype=torch.long, device=device))
    return int(counter.get_total_flops())


def row(case: str, head: str, config: Config, batch: int, length: int) -> dict[str, Any]:
    """One measured figure with all that it is of."""
    return {
        "case": case, "head": head, "config": config, "batch": batch, "sequence_length": length,
        "flops": measured(config, head, batch, length),
    }  # fmt: skip


PUBLISHED_SHAPES = {
    "albert-base": "albert-base", "albert-xxlarge": "albert-xxlarge",
    "bert-base-uncased": "bert-base-uncased", "bert-large-uncased": "bert-large-uncased",
    "unshared": "unshared albert-base", "inner 2": "inner_group_num 2",
}  # fmt: skip
HEADS = (
    "model", "encoder", "masked-lm", "pretraining", "sequence-classification", "question-answering",
)  # fmt: skip


def published() -> Iterator[dict[str, Any]]:
    """ALBERT and BERT at the sizes that are published."""
    for case, name in PUBLISHED_SHAPES.items():
        for head in HEADS:
            for batch, length in ((1, 128), (8, 512)):
                yield row(case, head, SHAPES[name], batch, length)


# Sizes of which no two are equal, so that no two can be mixed up.
ALBERT = {
    "model_type": "albert", "vocab_size": 1009, "embedding_size": 20, "hidden_size": 36,
    "num_hidden_layers": 5, "num_attention_heads": 3, "intermediate_size": 100,
}  # fmt: skip
BERT = {**{k: v for k, v in ALBERT.items() if k != "embedding_size"}, "model_type": "bert"}
FACTORIZED = ("albert", "electra")
ODD: list[tuple[str, dict[str, int | bool]]] = [
    ("inner 2", {"inner_group_num": 2}),
    ("groups that do not divide", {"num_hidden_groups": 2, "inner_group_num": 3}),
    ("unshared", {"num_hidden_groups": 5}),
    ("square", {"embedding_size": 36}),
    ("wide embedding", {"embedding_size": 77}),
    ("untied", {"tie_word_embeddings": False}),
    ("no segments", {"type_vocab_size": 0}),
    ("seven labels, 514 positions", {"num_labels": 7, "max_position_embeddings": 514}),
    ("one head, one layer", {"num_attention_heads": 1, "num_hidden_layers": 1}),
]


def odd() -> Iterator[dict[str, Any]]:
    """Every head of ALBERT, BERT and their nearest kin at odd sizes, then odd models."""
    for model_type in ("albert", "bert", "electra", "roberta", "xlm-roberta", "camembert"):
        config = {**(ALBERT if model_type in FACTORIZED else BERT), "model_type": model_type}
        for head in classes_of(model_type):
            yield row("every head", head, config, 6, 17)
        yield row("one token", "model", config, 1, 1)
    for case, change in ODD:
        for head in ("model", "masked-lm", "sequence-classification"):
            yield row(case, head, {**ALBERT, **change}, 3, 31)
    for case, change in ODD[5:]:
        yield row(case, "pretraining", {**BERT, **change}, 5, 64)


MEASURED = (
    "distilbert-base-uncased", "mpnet-base", "deberta-base", "deberta-v3-base",
    "mobilebert-uncased", "modernbert-base", "nomic-embed-text-v1", "ernie-3.0-base",
    "xlm-roberta-xl", "megatron-bert-345m", "roformer-chinese-base", "roberta-prelayernorm",
    "roformer, E below H, rotary values", "modernbert, with biases", "rembert, small",
    "squeezebert-uncased",
)  # fmt: skip
"""Those of the published shapes that are measured; the others are the same at other sizes."""


def families() -> Iterator[dict[str, Any]]:
    """Every head of every other family, one line a shape and batch."""
    for name in MEASURED:
        for batch, length in ((1, 64), (2, 128)):
            yield from _heads(name, PUBLISHED[name], batch, length)
    for name, config in small_shapes().items():
        yield from _heads(name, config, 4, 17)


def _heads(name: str, config: Config, batch: int, length: int) -> Iterator[dict[str, Any]]:
    found = {}
    for head in classes_of(config["model_type"]):
        if batch % CHOICES and head == "multiple-choice":
            continue
        try:
            found[head] = measured(config, head, batch, length)
        except Exception as error:  # whatever a class cannot do with such a config
            print(f"not measured: {name}, {head}, {batch} × {length}: {error}"[:160])
    if found:
        yield {"case": name, "batch": batch, "sequence_length": length, "flops": found}


def main() -> None:
    """Measure all three files."""
    counted = "torch.utils.flop_counter, forward pass, 2 FLOPs a multiply-add, matrix products only"
    write("flops.json", f"{BUILT}; {counted}", published())
    source = (
        f"tests/data/make_flops.py: transformers {transformers.__version__}, torch"
        f" {torch.__version__}, models on the meta device, eager attention"
    )
    write("flops_more.json", source, odd())
    write("flops_families.json", f"{BUILT}; {counted}, eager attention", families())


if __name__ == "__main__":
    main()
