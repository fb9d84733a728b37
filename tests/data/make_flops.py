"""Measure the forward FLOPs in flops_more.json with torch's own counter on the real classes.

Run with torch and transformers installed: ``python tests/data/make_flops.py``. ``batch``
is the number of sequences that go through the encoder, so examples × choices.
"""

import json
from pathlib import Path
from typing import Any

# Where this script is checked, neither torch nor transformers need be installed.
import torch  # type: ignore[import-not-found,unused-ignore]
import transformers  # type: ignore[import-not-found,unused-ignore]
from torch.utils.flop_counter import (  # type: ignore[import-not-found,unused-ignore]
    FlopCounterMode,
)

CLASSES = {
    "model": "Model",
    "encoder": "Model",
    "masked-lm": "ForMaskedLM",
    "pretraining": "ForPreTraining",
    "sequence-classification": "ForSequenceClassification",
    "multiple-choice": "ForMultipleChoice",
    "token-classification": "ForTokenClassification",
    "question-answering": "ForQuestionAnswering",
}
BERT_CLASSES = {
    **CLASSES,
    "causal-lm": "LMHeadModel",
    "next-sentence-prediction": "ForNextSentencePrediction",
}
CAUSAL = {**CLASSES, "causal-lm": "ForCausalLM"}
del CAUSAL["pretraining"]
ELECTRA_CLASSES = {
    **CAUSAL,
    "pretraining": "ForPreTraining",
    "discriminator": "ForPreTraining",
    "generator": "ForMaskedLM",
}
FAMILIES = {
    "albert": ("Albert", CLASSES),
    "bert": ("Bert", BERT_CLASSES),
    "electra": ("Electra", ELECTRA_CLASSES),
    "roberta": ("Roberta", CAUSAL),
    "xlm-roberta": ("XLMRoberta", CAUSAL),
    "camembert": ("Camembert", CAUSAL),
}
CHOICES = 2

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


def measured(
    case: str, head: str, config: dict[str, Any], batch: int, length: int
) -> dict[str, Any]:
    """One row: a forward pass of the class of *head* on the meta device."""
    options = {k: v for k, v in config.items() if k != "model_type"}
    family, classes = FAMILIES[config["model_type"]]
    settings = getattr(transformers, family + "Config")(**options, attn_implementation="eager")
    poolerless = head == "encoder" and family != "Electra"
    pooler = {"add_pooling_layer": False} if poolerless else {}
    with torch.device("meta"):
        model = getattr(transformers, family + classes[head])(settings, **pooler).eval()
        shape = (batch // CHOICES, CHOICES) if head == "multiple-choice" else (batch,)
        tokens = torch.zeros((*shape, length), dtype=torch.long)
    counter = FlopCounterMode(display=False)
    with counter, torch.no_grad():
        model(input_ids=tokens)
    return {
        "case": case, "head": head, "config": config, "batch": batch,
        "sequence_length": length, "flops": counter.get_total_flops(),
    }  # fmt: skip


def main() -> None:
    """Every head of every family at odd sizes, then odd sizes under three heads."""
    rows = []
    for model_type, (_, classes) in FAMILIES.items():
        config = {**(ALBERT if model_type in FACTORIZED else BERT), "model_type": model_type}
        for head in classes:
            rows.append(measured("every head", head, config, 6, 17))
        rows.append(measured("one token", "model", config, 1, 1))
    for case, change in ODD:
        for head in ("model", "masked-lm", "sequence-classification"):
            rows.append(measured(case, head, {**ALBERT, **change}, 3, 31))
    for case, change in ODD[5:]:
        rows.append(measured(case, "pretraining", {**BERT, **change}, 5, 64))
    source = (
        f"tests/data/make_flops.py: transformers {transformers.__version__}, torch"
        f" {torch.__version__}, models on the meta device, eager attention"
    )
    lines = ",\n".join(json.dumps(row) for row in rows)
    text = f'{{"source": {json.dumps(source)}, "cases": [\n{lines}\n]}}\n'
    Path(__file__).with_name("flops_more.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
