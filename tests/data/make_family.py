"""Write ``family.json``: counts of ELECTRA, RoBERTa and kin from the real classes.

Run with transformers and torch installed: ``python tests/data/make_family.py``. Models
are built on the meta device, so no memory is used.
"""

import itertools
import json
from pathlib import Path
from typing import Any

# Where this script is checked, neither torch nor transformers need be installed.
import torch  # type: ignore[import-not-found,unused-ignore]
import transformers  # type: ignore[import-not-found,unused-ignore]

SIZES = {
    "small": {"vocab_size": 50, "hidden_size": 16, "num_hidden_layers": 3,
              "num_attention_heads": 2, "intermediate_size": 20, "max_position_embeddings": 10},
    "odd": {"vocab_size": 101, "hidden_size": 24, "num_hidden_layers": 1,
            "num_attention_heads": 3, "intermediate_size": 7, "max_position_embeddings": 514,
            "type_vocab_size": 1, "num_labels": 5},
    "base": {"vocab_size": 50265, "hidden_size": 768, "num_hidden_layers": 12,
             "num_attention_heads": 12, "intermediate_size": 3072,
             "max_position_embeddings": 514, "type_vocab_size": 1},
}  # fmt: skip
HEADS = {
    "model": "Model", "encoder": "Model", "masked-lm": "ForMaskedLM", "causal-lm": "ForCausalLM",
    "pretraining": "ForPreTraining", "sequence-classification": "ForSequenceClassification",
    "multiple-choice": "ForMultipleChoice", "token-classification": "ForTokenClassification",
    "question-answering": "ForQuestionAnswering", "discriminator": "ForPreTraining",
    "generator": "ForMaskedLM",
}  # fmt: skip
FAMILIES = {
    "electra": "Electra", "roberta": "Roberta", "xlm-roberta": "XLMRoberta",
    "camembert": "Camembert",
}  # fmt: skip


def count(name: str, head: str, config: dict[str, Any]) -> int | None:
    """The number of parameters of the class, or ``None`` if there is no such class."""
    cls = getattr(transformers, name + HEADS[head], None)
    if cls is None or (head in ("discriminator", "generator") and name != "Electra"):
        return None
    # ELECTRA's base model never has a pooler; the others have one unless told otherwise.
    bare = {"add_pooling_layer": False} if head == "encoder" and name != "Electra" else {}
    settings = getattr(transformers, f"{name}Config").from_dict(config)
    with torch.device("meta"):
        return sum(int(p.numel()) for p in cls(settings, **bare).parameters())


def main() -> None:
    """Count every head of every family at every size, tied and untied."""
    cases = []
    for (model_type, name), (size, sizes), head, tied in itertools.product(
        FAMILIES.items(), SIZES.items(), HEADS, (True, False)
    ):
        config: dict[str, Any] = {"model_type": model_type, **sizes}
        if not tied:
            config["tie_word_embeddings"] = False
        widths = (8, sizes["hidden_size"], 40) if model_type == "electra" else (None,)
        for width in widths:
            if width:
                config = {**config, "embedding_size": width}
            total = count(name, head, config)
            if total is not None and (tied or head.endswith(("lm", "generator"))):
                cases.append({"case": size, "head": head, "config": config, "total": total})
    source = (
        f"transformers {transformers.__version__}, torch {torch.__version__}, models built on"
        " the meta device by tests/data/make_family.py"
    )
    path = Path(__file__).with_name("family.json")
    rows = ",\n".join(json.dumps(c) for c in cases)
    path.write_text(f'{{"source": "{source}", "cases": [\n{rows}\n]}}\n', encoding="utf-8")


if __name__ == "__main__":
    main()
