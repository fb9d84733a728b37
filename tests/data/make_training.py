"""Measure what training keeps and takes, in training.json, on the real classes.

Run with torch, transformers and peft installed: ``python tests/data/make_training.py``.
``kept`` are the bytes of the distinct storages that autograd keeps at the end of the forward
pass of a training step, parameters and buffers left out; ``peak`` is the highest total that
``torch.distributed._tools.mem_tracker`` saw in the second of two steps, or in a forward pass
without gradients, its hooks on the backward pass of modules being off, since they hold
gradients of their own. Dropout is ``torch.native_dropout``, whose mask takes a byte an element, as
on a GPU. The cases are drawn at random, always the same. ``batch`` is the number of sequences.
"""

import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import peft
import torch
import transformers
from real import build, classes_of, write
from torch.distributed._tools import (
    mod_tracker,
)
from torch.distributed._tools.mem_tracker import (
    MemTracker,
)

Row = dict[str, Any]
Draw = random.Random

FAMILIES = (
    "albert", "bert", "roberta", "xlm-roberta", "camembert", "electra", "distilbert", "ernie",
    "megatron-bert", "rembert", "roberta-prelayernorm", "xlm-roberta-xl",
)  # fmt: skip
LAST_NORMS = ("encoder.ln", "encoder.LayerNorm", "roberta_prelayernorm.LayerNorm")
WITHOUT_FUSED_ATTENTION = ("megatron-bert", "rembert")
WITHOUT_CHECKPOINTING = ("albert",)
OWN_NAMES = {
    "hidden_size": "dim", "num_hidden_layers": "n_layers", "num_attention_heads": "n_heads",
    "intermediate_size": "hidden_dim", "hidden_act": "activation", "hidden_dropout_prob": "dropout",
    "attention_probs_dropout_prob": "attention_dropout",
}  # fmt: skip
"""What DistilBERT calls keys of the others."""

FUNCTIONS = (
    "gelu", "gelu_10", "gelu_accurate", "gelu_fast", "gelu_new", "gelu_python",
    "gelu_python_tanh", "gelu_pytorch_tanh", "hardswish", "laplace", "leaky_relu", "linear",
    "mish", "quick_gelu", "relu", "relu2", "relu6", "sigmoid", "silu", "sqrtsoftplus", "swish",
    "tanh",
)  # fmt: skip
USUAL_FUNCTIONS = ("gelu", "gelu_new", "relu", "silu")
HALVES = ("bfloat16", "float16")
PROBLEMS = ("regression", "single_label_classification", "multi_label_classification")
TARGETS: Mapping[str, tuple[list[str], ...]] = {
    "albert": (["query", "value"], ["key"], ["ffn", "ffn_output"], ["word_embeddings", "query"]),
    "distilbert": (["q_lin", "v_lin"], ["k_lin"], ["lin1", "lin2"], ["out_lin"]),
}
USUAL_TARGETS = (["query", "value"], ["key"], ["dense"], ["word_embeddings", "value"])
OWN_LABELS = {
    ("albert", "pretraining"): "sentence_order_label",
    ("bert", "pretraining"): "next_sentence_label",
    ("ernie", "pretraining"): "next_sentence_label",
    ("megatron-bert", "pretraining"): "next_sentence_label",
}


def dropout(x: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Dropout with a mask of one byte an element, never in place."""
    del inplace
    return torch.native_dropout(x, p, True)[0] if training and p > 0 else x


def config_of(draw: Draw, model_type: str, attention: str, scale: int = 1) -> Row:
    """A config with sizes, functions and dropouts drawn; *scale* enlarges it."""
    heads, layers = draw.choice((1, 2, 3, 5)), draw.choice((1, 2, 3, 4))
    width = heads * draw.choice((2, 4, 6, 8)) * scale
    functions = FUNCTIONS if draw.random() < 0.5 else USUAL_FUNCTIONS
    config: Row = {
        "vocab_size": draw.choice((31, 37, 50)) * scale**2,
        "max_position_embeddings": draw.choice((20, 33)) * scale,
        "hidden_size": width,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "intermediate_size": draw.choice((16, 33, 40)) * scale,
        "hidden_act": draw.choice(functions),
        "hidden_dropout_prob": draw.choice((0.0, 0.1)),
        # No CPU computes fused attention with dropout.
        "attention_probs_dropout_prob": draw.choice((0.0, 0.1)) if attention == "eager" else 0.0,
    }
    if model_type == "distilbert":
        config = {OWN_NAMES.get(key, key): value for key, value in config.items()}
        config["seq_classif_dropout"] = draw.choice((0.0, 0.1))
        config["qa_dropout"] = draw.choice((0.0, 0.1))
    elif model_type == "rembert":
        config["classifier_dropout_prob"] = draw.choice((0.0, 0.1))
        config["input_embedding_size"] = draw.choice((width, 5 * scale))
        config["output_embedding_size"] = draw.choice((width, 9 * scale))
    elif model_type == "albert":
        config["classifier_dropout_prob"] = draw.choice((0.0, 0.1))
        config["num_hidden_groups"] = draw.choice([g for g in (1, 1, 2, 3) if g <= layers])
        config["inner_group_num"] = draw.choice((1, 1, 2))
    elif draw.random() < 0.7:
        config["classifier_dropout"] = draw.choice((None, 0.0, 0.1))
    if model_type == "ernie":
        config["use_task_id"] = draw.choice((True, False))
    if model_type in ("albert", "electra"):
        config["embedding_size"] = draw.choice((width, 5 * scale, 9 * scale))
    if model_type == "electra" and draw.random() < 0.5:
        config["summary_type"] = draw.choice(("first", "last", "mean", "cls_index"))
        config["summary_last_dropout"] = draw.choice((0.0, 0.1))
    return {"model_type": model_type, **config}


def case_of(draw: Draw, model_type: str = "", head: str = "", scale: int = 1) -> Row:
    """A model, a head, a way of attention, and a batch; what is not given is drawn."""
    model_type = model_type or draw.choice(FAMILIES)
    attention = draw.choice(("eager", "sdpa"))
    if model_type in WITHOUT_FUSED_ATTENTION:
        attention = "eager"
    config = config_of(draw, model_type, attention, scale)
    head = head or draw.choice(list(classes_of(model_type)))
    if head in ("sequence-classification", "token-classification"):
        config["num_labels"] = draw.choice((1, 2, 3, 5))
    if head == "sequence-classification" and draw.random() < 0.5:
        few = PROBLEMS if config["num_labels"] > 1 else PROBLEMS[:1]
        config["problem_type"] = draw.choice(few)
    choices = draw.choice((2, 3)) if head == "multiple-choice" else 1
    return {
        "head": head, "attention": attention, "dtype": "float32", "choices": choices,
        "batch": choices * draw.choice((1, 2, 4)),
        "sequence_length": draw.choice((3, 9, 12)) * scale, "config": config,
    }  # fmt: skip


def batch_of(case: Row, labels: bool) -> Row:
    """The arguments of the forward pass."""
    config, head, rows = case["config"], case["head"], case["batch"]
    model_type, classes = config["model_type"], config.get("num_labels", 2)
    tokens = torch.randint(2, config["vocab_size"], (rows, case["sequence_length"]))
    found: Row = {"input_ids": tokens}
    if head == "multiple-choice":
        found["input_ids"] = tokens.view(-1, case["choices"], tokens.shape[1])
    if not labels or head in ("model", "encoder"):
        return found
    one = torch.zeros(rows, dtype=torch.long)
    if head == "question-answering":
        return {**found, "start_positions": one, "end_positions": one.clone()}
    if head == "sequence-classification":
        problem = config.get("problem_type") or PROBLEMS[classes > 1]
        shape = (rows, classes) if classes > 1 else (rows,)
        found["labels"] = one if problem == PROBLEMS[1] else torch.zeros(shape)
    elif head == "next-sentence-prediction":
        found["labels"] = one
    elif head == "multiple-choice":
        found["labels"] = one[:: case["choices"]].clone()
    else:
        found["labels"] = torch.zeros_like(tokens)
        if (model_type, head) in OWN_LABELS:
            found[OWN_LABELS[model_type, head]] = one
    return found


def model_of(case: Row) -> Any:
    """The model of *case*, in training, with its adapters and without what is frozen."""
    torch.manual_seed(0)
    model = build(case["config"], case["head"], "cpu", attn_implementation=case["attention"])
    model = model.to(getattr(torch, case["dtype"]))
    if "lora_rank" in case:
        options = {"r": case["lora_rank"], "target_modules": case["lora_targets"]}
        modules = case["train_modules"] or None
        model = peft.get_peft_model(model, peft.LoraConfig(**options, modules_to_save=modules))
    if "freeze" in case:
        tokens = model.get_input_embeddings().weight
        for name, parameter in model.named_parameters():
            part = "embeddings" if parameter is tokens else part_of(name)
            index = layer_of(name, case["config"]) if part == "layers" else -1
            frozen = part in case["freeze"] or f"layers:0-{index}" in lower(case["freeze"])
            # The norm after the last layer goes with the layers, if all of them are frozen.
            frozen |= part == "encoder" and "layers" in case["freeze"]
            parameter.requires_grad = not frozen
    return model.train()


def part_of(name: str) -> str:
    """The part of a model that the parameter *name* belongs to."""
    if ".embeddings." in f".{name}":
        return "embeddings"
    if "embeddings_project" in name or "embedding_hidden_mapping_in" in name:
        return "projection"
    if ".layer." in name or ".albert_layers." in name:
        return "layers"
    module = name.rpartition(".")[0]
    if module == "LayerNorm" or module.endswith(LAST_NORMS):
        return "encoder"
    return "pooler" if "pooler" in name.split(".")[:2] else "head"


def layer_of(name: str, config: Row) -> int:
    """The stored layer of the parameter *name*, from 0."""
    numbers = [int(part) for part in name.split(".") if part.isdecimal()]
    inner = config.get("inner_group_num", 1)
    return numbers[0] * inner + numbers[1] if "albert_layers" in name else numbers[0]


def lower(parts: list[str]) -> list[str]:
    """``layers:0-N`` for each N of the layers that *parts* freeze."""
    last = max((int(p.rpartition("-")[2]) for p in parts if p.startswith("layers:")), default=-1)
    return [f"layers:0-{n}" for n in range(last + 1)]


Storage = tuple[str, tuple[int, ...], int]
"""What lies in a storage: a dtype, a shape, and its bytes."""


def storages(model: Any, batch: Row) -> list[Storage]:
    """The distinct storages that autograd keeps of a forward pass of *model*."""
    own = {t.untyped_storage().data_ptr() for t in (*model.parameters(), *model.buffers())}
    found: dict[int, Storage] = {}
    alive = []

    def pack(tensor: Any) -> Any:
        alive.append(tensor)
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            what = (str(tensor.dtype).removeprefix("torch."), tuple(tensor.shape), storage.nbytes())
            found.setdefault(storage.data_ptr(), what)
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        out = model(**batch)
    del out
    return list(found.values())


def kept(case: Row) -> Row:
    """*case* with the bytes that autograd keeps of it, and what is trained."""
    model = model_of(case)
    found = storages(model, batch_of(case, case["labels"]))
    parameters = list(model.parameters())
    trained = sum(p.numel() for p in parameters if p.requires_grad)
    return {**case, "trainable": trained, "all": sum(p.numel() for p in parameters),
            "kept": sum(size for _, _, size in found)}  # fmt: skip


def peak(case: Row) -> Row:
    """*case* with the highest total of its second step, or of its forward pass."""
    model, way = model_of(case), case["way"]
    trained = [p for p in model.parameters() if p.requires_grad]
    if case["optimizer"] == "adamw":
        optimizer = torch.optim.AdamW(trained, lr=1e-4, foreach=False)
    else:
        optimizer = torch.optim.SGD(trained, lr=1e-4, momentum=0.9, foreach=False)
    if way == "checkpointing":
        model.gradient_checkpointing_enable()
    batch = batch_of(case, way != "inference")
    tracker = MemTracker()
    tracker.track_external(model, optimizer)
    with tracker:
        if way == "inference":
            with torch.no_grad():
                model.eval()(**batch)
        for _ in range(0 if way == "inference" else 2):
            for _ in range(2 if way == "accumulate" else 1):
                with torch.autocast("cpu", torch.bfloat16, enabled=way == "autocast"):
                    loss = model(**batch).loss
                loss.backward()
                del loss
                # It follows one pass through a module at a time; the peak stays.
                tracker.reset_mod_stats()
            optimizer.step()
            optimizer.zero_grad()
    (snapshot,) = tracker.get_tracker_snapshot("peak").values()
    return {**case, "peak": snapshot["Total"]}


def kept_cases(draw: Draw) -> Iterator[Row]:
    """Models trained whole: every head once, then at random, in any dtype or without labels."""
    for model_type in FAMILIES:
        for head in classes_of(model_type):
            yield {**case_of(draw, model_type, head), "labels": True}
    while True:
        case = case_of(draw)
        dtype = draw.choice(("float32", "float32", "float32", *HALVES))
        yield {**case, "dtype": dtype, "labels": draw.random() < 0.85}


def adapted_cases(draw: Draw) -> Iterator[Row]:
    """Models of which adapters are trained, and modules beside them."""
    while True:
        case = case_of(draw)
        targets = draw.choice(TARGETS.get(case["config"]["model_type"], USUAL_TARGETS))
        classified = "classification" in case["head"] or case["head"] == "multiple-choice"
        modules = ["classifier"] if classified and draw.random() < 0.6 else []
        yield {**case, "dtype": draw.choice(("float32", *HALVES)), "labels": True,
               "lora_rank": draw.choice((1, 2, 4)), "lora_targets": targets,
               "train_modules": modules}  # fmt: skip


def frozen_cases(draw: Draw) -> Iterator[Row]:
    """Models of which parts are frozen."""
    while True:
        case = case_of(draw)
        parts = [p for p in ("embeddings", "projection", "pooler", "head") if draw.random() < 0.5]
        parts += draw.choice(([], ["layers"], ["layers:0-0"], ["layers:0-1"], ["layers:0-2"]))
        yield {**case, "labels": True, "freeze": parts}


def peak_cases(way: str) -> Callable[[Draw], Iterator[Row]]:
    """Larger models, with a loss, run in one *way*."""
    heads = ("masked-lm", "sequence-classification", "token-classification", "question-answering")

    def cases(draw: Draw) -> Iterator[Row]:
        while True:
            case = case_of(draw, "", draw.choice(heads), 8)
            model_type = case["config"]["model_type"]
            if way != "checkpointing" or model_type not in WITHOUT_CHECKPOINTING:
                dtype = draw.choice(HALVES) if way == "half" else "float32"
                yield {**case, "dtype": dtype, "way": way,
                       "optimizer": draw.choice(("adamw", "sgd"))}  # fmt: skip

    return cases


def rows() -> Iterator[Row]:
    """All cases, measured."""
    draw = Draw(0)
    for cases, number in ((kept_cases, 180), (adapted_cases, 50), (frozen_cases, 50)):
        yield from measured(cases(draw), kept, number)
    for way in ("plain", "half", "accumulate", "checkpointing", "autocast", "inference"):
        yield from measured(peak_cases(way)(draw), peak, 12)


def measured(cases: Iterator[Row], measure: Callable[[Row], Row], number: int) -> Iterator[Row]:
    """The first *number* of *cases* that run."""
    while number:
        case = next(cases)
        try:
            row = measure(case)
        except (ValueError, RuntimeError, IndexError):
            # Some of what is drawn cannot be run, such as more labels than it predicts.
            continue
        yield row
        number -= 1


def unhooked(*tensors: Any, **options: Any) -> None:
    """In the place of a hook on *tensors*: none."""
    del tensors, options


if __name__ == "__main__":
    mod_tracker.register_multi_grad_hook = unhooked
    torch.nn.functional.dropout = dropout
    source = (
        f"tests/data/make_training.py: transformers {transformers.__version__}, torch"
        f" {torch.__version__} and peft {peft.__version__} on a CPU, torch.native_dropout for"
        " dropout; kept: saved_tensors_hooks; peak: torch.distributed._tools.mem_tracker,"
        " without hooks on modules, gradients set to None after each step, optimizers without"
        " foreach; bytes"
    )
    write("training.json", source, rows())
