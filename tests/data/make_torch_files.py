"""Write checkpoints as people have them into ``checkpoints/``: pickled, wrapped, half named.

Made with transformers 5.24.0, torch 2.13.0+cpu, safetensors 0.8.0 and peft 0.21.2:
``python tests/data/make_torch_files.py FOLDER``. The numbers of the parameters differ from
those that lie here; names, shapes, dtypes and configs are the same.
"""

import hashlib
import json
import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import peft
import torch
from make_checkpoints import ALBERT, BERT, model
from safetensors.torch import save_file

Tensors = dict[str, Any]

ROBERTA = {
    **BERT, "model_type": "roberta", "max_position_embeddings": 22, "type_vocab_size": 1,
}  # fmt: skip
COMMIT = "8e2f239c5f8a2c0f253781ca60135db913e5c80c"


class Hostile:
    """What runs a command where it is unpickled."""

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return os.system, ("touch albert-calc-was-here",)


def stored_once(built: Any) -> Tensors:
    """The state dict of *built* without what is tied to the token table."""
    return {n: t.clone() for n, t in built.state_dict().items() if "decoder" not in n}


def write_config(folder: Path, built: Any, without: tuple[str, ...] = (), **more: Any) -> None:
    """The config of *built*, as ``save_pretrained`` writes it but for some keys."""
    built.config.architectures = [type(built).__name__]
    built.config.save_pretrained(folder)
    path = folder / "config.json"
    keys = {**json.loads(path.read_text()), **more}
    path.write_text(json.dumps({k: v for k, v in keys.items() if k not in without}, indent=1))


def pickled(folder: Path, built: Any, content: Any, **options: Any) -> None:
    """A directory with *content* in a file of ``torch.save``."""
    folder.mkdir(parents=True, exist_ok=True)
    torch.save(content, folder / "pytorch_model.bin", **options)
    write_config(folder, built)


def safe(folder: Path, built: Any, tensors: Tensors, **config: Any) -> None:
    """A directory with *tensors* in a file of safetensors."""
    folder.mkdir(parents=True, exist_ok=True)
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    write_config(folder, built, **config)


def write_shards(folder: Path, built: Any, tensors: Tensors) -> None:
    """A directory with *tensors* in two files of ``torch.save`` under an index."""
    folder.mkdir(parents=True, exist_ok=True)
    names = list(tensors)
    places: dict[str, str] = {}
    for number, part in enumerate((names[: len(names) // 2], names[len(names) // 2 :]), 1):
        file = f"pytorch_model-0000{number}-of-00002.bin"
        torch.save({name: tensors[name] for name in part}, folder / file)
        places.update(dict.fromkeys(part, file))
    index = {"metadata": {}, "weight_map": places}
    (folder / "pytorch_model.bin.index.json").write_text(json.dumps(index, indent=1))
    write_config(folder, built)


def paper_layout() -> Tensors:
    """ALBERT as the code of albert_zh stores it: positions and segments at H."""
    tensors = {n: t.clone() for n, t in model(ALBERT, "model").state_dict().items()}
    del tensors["encoder.embedding_hidden_mapping_in.bias"]
    for name, rows in (("position_embeddings.weight", 20), ("token_type_embeddings.weight", 2)):
        tensors[f"embeddings.{name}"] = torch.zeros(rows, 16)
    for name in ("weight", "bias"):
        tensors[f"embeddings.LayerNorm.{name}"] = torch.zeros(16)
    return tensors


def write_cache(folder: Path, files: Mapping[str, Path]) -> None:
    """A local Hugging Face cache that was copied by a tool which knows no links."""
    place = folder / "models--albert--albert-base-v2"
    for name in ("blobs", "refs", f"snapshots/{COMMIT}"):
        (place / name).mkdir(parents=True, exist_ok=True)
    (place / "refs" / "main").write_text(COMMIT)
    for name, path in files.items():
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        shutil.copy(path, place / "blobs" / digest)
        (place / "snapshots" / COMMIT / name).write_text(f"../../blobs/{digest}")


def write_adapter(folder: Path) -> None:
    """What PEFT writes of LoRA on a classifier."""
    sizes = {**BERT, "hidden_size": 32, "intermediate_size": 48}
    adapted = peft.get_peft_model(
        model(sizes, "sequence-classification"),
        peft.LoraConfig(task_type="SEQ_CLS", r=4, target_modules=["query", "value"]),
    )
    adapted.save_pretrained(folder)
    (folder / "README.md").unlink()


def main() -> None:
    """Write each checkpoint into a directory of its own."""
    folder = Path(sys.argv[1]) / "checkpoints"
    bert, albert = model(BERT, "masked-lm"), model(ALBERT, "pretraining")
    once = stored_once(bert)
    pickled(folder / "albert-bin", albert, albert.state_dict())
    halves = {name: tensor.half() for name, tensor in bert.state_dict().items()}
    pickled(folder / "bert-bin-half", bert, halves)
    old = {"_use_new_zipfile_serialization": False}
    pickled(folder / "bert-bin-legacy", bert, bert.state_dict(), **old)
    pickled(folder / "hostile-bin", albert, Hostile())
    write_shards(folder / "bert-bin-sharded", bert, once)
    torch.save({"state_dict": once, "epoch": 3}, folder / "training-checkpoint.bin")
    for name, prefix in (("module-prefix", "module."), ("compiled-prefix", "_orig_mod.")):
        safe(folder / name, bert, {prefix + n: t for n, t in once.items()})
    safe(folder / "masked-lm-under-a-classifier-config", bert, once,
         architectures=["BertForTokenClassification"])  # fmt: skip
    output = {"bias": torch.zeros(97), "decoder.weight": torch.zeros(97, 16)}
    resized = {**once, **{f"cls.predictions.{n}": t for n, t in output.items()}}
    safe(folder / "decoder-not-resized", bert, resized)
    classifier = model(ROBERTA, "sequence-classification")
    safe(folder / "roberta-without-type", classifier, classifier.state_dict(),
         without=("model_type",))  # fmt: skip
    sequence = model(ALBERT, "model")
    prefixed = {f"albert.{n}": t for n, t in sequence.state_dict().items()}
    own = ("model_type", "architectures", "embedding_size", "num_hidden_groups", "inner_group_num")
    safe(folder / "albert-without-type", sequence, prefixed, without=own)
    safe(folder / "paper-layout", sequence, paper_layout())
    albert.save_pretrained(folder / "hub-source")
    source = folder / "hub-source"
    write_cache(
        folder / "hub", {name: source / name for name in ("config.json", "model.safetensors")}
    )
    shutil.rmtree(source)
    write_adapter(folder / "adapter-lora")


if __name__ == "__main__":
    main()
