"""The classes of transformers, for the scripts beside this that measure them.

Where these files are checked, neither torch nor transformers need be installed. A script
writes into the folder that it is given, by default the one that it lies in.
"""

import inspect
import json
import sys
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import torch
import transformers

warnings.filterwarnings("ignore")  # what the libraries warn of changes no figure
transformers.logging.set_verbosity_error()

SUFFIXES = {
    "model": ("Model",),
    "encoder": ("Model",),
    "pretraining": ("ForPreTraining",),
    "masked-lm": ("ForMaskedLM",),
    "causal-lm": ("LMHeadModel", "ForCausalLM"),
    "next-sentence-prediction": ("ForNextSentencePrediction",),
    "sequence-classification": ("ForSequenceClassification",),
    "token-classification": ("ForTokenClassification",),
    "question-answering": ("ForQuestionAnswering",),
    "multiple-choice": ("ForMultipleChoice",),
}
"""How the names of a head's classes end, after the name of the family."""

ELECTRA = {"discriminator": ("ForPreTraining",), "generator": ("ForMaskedLM",)}
"""ELECTRA's own names of two of its heads."""

BUILT = (
    f"transformers {transformers.__version__}, torch {torch.__version__},"
    " models built on the meta device"
)


def classes_of(model_type: str) -> dict[str, str]:
    """The name of the class of each head that *model_type* has."""
    config_class = transformers.CONFIG_MAPPING[model_type].__name__
    family = config_class.removesuffix("Config")
    suffixes = {**SUFFIXES, **(ELECTRA if model_type == "electra" else {})}
    return {
        head: family + suffix
        for head, several in suffixes.items()
        for suffix in several
        if hasattr(transformers, family + suffix)
    }


def settings(config: Mapping[str, Any], **more: Any) -> Any:
    """The config object that *config* describes; ``num_labels`` becomes that many labels."""
    keys = {k: v for k, v in config.items() if k not in ("model_type", "num_labels")}
    if "num_labels" in config:
        keys["id2label"] = {i: f"LABEL_{i}" for i in range(config["num_labels"])}
        keys["label2id"] = {name: i for i, name in keys["id2label"].items()}
    ids = {"bos_token_id": None, "eos_token_id": None, "pad_token_id": 0}
    return transformers.CONFIG_MAPPING[config["model_type"]](**{**ids, **keys, **more})


def build(config: Mapping[str, Any], head: str, device: str = "meta", **more: Any) -> Any:
    """The model of *head*, on the meta device unless said otherwise, where it takes no memory."""
    made = settings(config, **more)
    if head == "causal-lm":
        made.is_decoder = True
    model_class = getattr(transformers, classes_of(config["model_type"])[head])
    can_leave_out = "add_pooling_layer" in inspect.signature(model_class).parameters
    options = {"add_pooling_layer": False} if head == "encoder" and can_leave_out else {}
    with torch.device(device):
        model = model_class(made, **options)
    if head == "encoder" and getattr(model, "pooler", None) is not None:
        model.pooler = None
    return model


def parameters(model: Any) -> int:
    """The number of parameters, tied ones once."""
    return sum(int(p.numel()) for p in model.parameters())


def write(name: str, source: str, cases: Iterable[Mapping[str, Any]]) -> None:
    """Write *cases* to the file *name*, one a line."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    lines = ",\n".join(json.dumps(case) for case in cases)
    text = f'{{"source": {json.dumps(source)}, "cases": [\n{lines}\n]}}\n'
    (folder / name).write_text(text, encoding="utf-8")
