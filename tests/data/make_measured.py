"""Measure again what activations.json, peaks.json and trainable.json say of their cases.

Run with torch, transformers and peft installed: ``python tests/data/make_measured.py``. The
cases stand in the files; how they are measured is said in make_training.py.
"""

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import peft
import torch
import torch.distributed._tools.mod_tracker as mod_tracker
from make_training import Row, batch_of, dropout, model_of, peak, storages, unhooked
from real import build, parameters

HERE = Path(__file__).parent

KEPT_WHOLE: dict[str, Callable[[str], bool]] = {
    "all but the embeddings": lambda name: ".embeddings." not in name,
    "the head alone": lambda name: name.startswith(("classifier", "pre_classifier")),
    "the last 2 layers, the pooler and the head": lambda name: (
        name.startswith("classifier") or "pooler" in name or ".layer.10." in name
        or ".layer.11." in name
    ),
}  # fmt: skip
"""Which parameters are trained, by the words of the cases."""


def with_labels(case: Row) -> Row:
    """*case* as make_training.py has its own: a number of labels in the place of their names."""
    config = dict(case["config"])
    names = config.pop("id2label", None)
    if names is not None:
        config["num_labels"] = len(names)
    return {"dtype": "float32", "choices": 1, **case, "config": config}


def activations(case: Row) -> Row:
    """*case* with what autograd keeps of it, the largest first: dtype, shape, bytes, how many."""
    asked = with_labels(case)
    found = Counter(storages(model_of(asked), batch_of(asked, labels=True)))
    ordered = sorted(found.items(), key=lambda item: -item[0][2] * item[1])
    return {
        **case,
        "bytes": sum(size * number for (_, _, size), number in found.items()),
        "tensors": [[dtype, list(shape), size, n] for (dtype, shape, size), n in ordered],
    }


def peaks(case: Row) -> Row:
    """*case* with the highest total of its second training step, or as its ``way`` says."""
    return {**case, "peak": peak({"way": "plain", **with_labels(case)})["peak"]}


def adapted(case: Row) -> Row:
    """*case* with the parameters of its model and of its adapters."""
    model = build(with_labels(case)["config"], case["head"], "cpu")
    base = parameters(model)
    options = {"r": case["lora_rank"], "target_modules": case["lora_targets"]}
    whole = case["also_trained"] or None
    model = peft.get_peft_model(model, peft.LoraConfig(**options, modules_to_save=whole))
    return {**case, "base": base, **numbers(model)}


def frozen(case: Row) -> Row:
    """*case* with the parameters of its model, and those that are trained."""
    model = build(with_labels(case)["config"], case["head"])
    for name, parameter in model.named_parameters():
        parameter.requires_grad = KEPT_WHOLE[case["trained"]](name)
    return {**case, **numbers(model)}


def numbers(model: Any) -> Row:
    """The parameters that are trained, and all."""
    trained = [p.numel() for p in model.parameters() if p.requires_grad]
    return {"trainable": sum(trained), "all": parameters(model)}


MEASURES: dict[str, dict[str, Callable[[Row], Row]]] = {
    "activations.json": {"cases": activations},
    "peaks.json": {"cases": peaks, "functions": peaks},
    "trainable.json": {"lora": adapted, "frozen": frozen},
}
"""How the cases under each key of each file are measured."""


def written(content: Row) -> Iterator[str]:
    """The text of a file: its source, and its cases one a line."""
    parts = []
    for key, value in content.items():
        text = json.dumps(value)
        if isinstance(value, list):
            lines = ",\n".join(map(json.dumps, value))
            text = f"[\n{lines}\n]"
        parts.append(f"{json.dumps(key)}: {text}")
    yield "{" + ", ".join(parts) + "}\n"


if __name__ == "__main__":
    mod_tracker.register_multi_grad_hook = unhooked
    torch.nn.functional.dropout = dropout
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
    for file, measures in MEASURES.items():
        content = json.loads((HERE / file).read_text(encoding="utf-8"))
        for key, measure in measures.items():
            content[key] = list(map(measure, content[key]))
        (folder / file).write_text("".join(written(content)), encoding="utf-8")
