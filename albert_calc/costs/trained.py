"""What of a model is to be trained: all of it, adapters, or what is not frozen."""

from collections.abc import Mapping
from typing import Any

from albert_calc.errors import ConfigError
from albert_calc.named_tuple import NamedTuple
from albert_calc.writing.harmless import shown

TRAINED_KEYS = ("lora", "lora_targets", "train", "freeze")
"""The keys of ``read_trained``."""

DEFAULT_TARGETS: Mapping[str, tuple[str, ...]] = {
    "bert": ("query", "value"),
    "deberta": ("in_proj",),
    "deberta-v2": ("query_proj", "value_proj"),
    "electra": ("query", "value"),
    "roberta": ("query", "value"),
    "xlm-roberta": ("query", "value"),
}
"""The modules that PEFT adapts if nobody names any, by ``model_type``.

Source: ``TRANSFORMERS_MODELS_TO_LORA_TARGET_MODULES_MAPPING`` of peft 0.21.
"""

TASKS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "sequence-classification": ("SEQ_CLS", ("classifier", "score")),
    "token-classification": ("TOKEN_CLS", ("classifier", "score")),
    "question-answering": ("QUESTION_ANS", ("qa_outputs",)),
}
"""PEFT's task type of a head, and the modules that it trains whole for it.

Source: ``PeftModelForSequenceClassification`` and its like in peft 0.21's ``peft_model.py``.
"""

PARTS: tuple[str, ...] = ("embeddings", "projection", "layers", "pooler", "head")
"""What ``--freeze`` can name; ``layers:FROM-TO`` are stored layers, from 0, inclusive."""


class Trained(NamedTuple):
    """What is trained; by default everything.

    With a ``lora_rank`` only adapters of that rank beside the matrices of ``lora_targets``
    are trained (PEFT's for the family, if empty), and whole the modules whose names end with
    one of ``train_modules``. ``frozen`` are parts of ``PARTS``, with ``frozen_layers`` ranges
    of stored layers, both ends included.
    """

    lora_rank: int = 0
    lora_targets: tuple[str, ...] = ()
    train_modules: tuple[str, ...] = ()
    frozen: tuple[str, ...] = ()
    frozen_layers: tuple[tuple[int, int], ...] = ()

    @property
    def everything(self) -> bool:
        """Whether nothing is frozen."""
        return self == EVERYTHING

    @property
    def words(self) -> str:
        """What is trained, as in ``LoRA of rank 8 on query, value``; empty if it is everything."""
        if self.lora_rank:
            adapters = f"LoRA of rank {self.lora_rank} on {', '.join(self.lora_targets)}"
            whole = ", ".join(self.train_modules)
            return f"{adapters}; {whole} trained whole" if whole else adapters
        spans = (f"layers:{first}-{last}" for first, last in self.frozen_layers)
        frozen = ", ".join((*self.frozen, *spans))
        return f"frozen: {frozen}" if frozen else ""


EVERYTHING = Trained()


def freeze(parts: str) -> Trained:
    """What *parts*, such as ``embeddings,layers:0-9``, leave to be trained.

    Raises ``ConfigError`` for one that is no part, naming all that are.
    """
    names, ranges, problems = [], [], []
    for part in filter(None, (p.strip() for p in parts.split(","))):
        name, colon, span = part.partition(":")
        if name not in PARTS or (colon and name != "layers"):
            known = ", ".join(PARTS)
            problems.append(f"freeze: must be among {known}, layers:FROM-TO, got {shown(part)}")
        elif not colon:
            names.append(name)
        else:
            first, dash, last = span.partition("-")
            last = last if dash else first
            if first.isdecimal() and last.isdecimal() and int(first) <= int(last):
                ranges.append((int(first), int(last)))
            else:
                problems.append(
                    "freeze: layers:FROM-TO must be two whole numbers, the first not above the"
                    f" second, got {shown(part)}"
                )
    if problems:
        raise ConfigError(problems)
    return Trained(frozen=tuple(dict.fromkeys(names)), frozen_layers=_disjoint(ranges))


def read_trained(values: Mapping[str, Any]) -> Trained:
    """What the keys ``lora``, ``lora_targets``, ``train`` and ``freeze`` leave to be trained.

    Names are listed with commas between them. Raises ``ConfigError`` with every problem.
    """
    problems = []
    rank = values.get("lora")
    named = {key: values.get(key) for key in ("lora_targets", "train", "freeze")}
    problems += [
        f"{key}: must be names with commas between them, got {shown(names)}"
        for key, names in named.items()
        if names is not None and not (isinstance(names, str) and _listed(names))
    ]
    if rank is None:
        problems += [
            f"{key}: goes with lora only" for key in ("lora_targets", "train") if named[key]
        ]
    elif isinstance(rank, bool) or not isinstance(rank, int) or rank < 1:
        problems.append(f"lora: must be a positive whole number, got {shown(rank)}")
    if rank is not None and named["freeze"] is not None:
        problems.append("freeze: goes without lora, which trains nothing of the model itself")
    trained = EVERYTHING
    if isinstance(named["freeze"], str):
        try:
            trained = freeze(named["freeze"])
        except ConfigError as error:
            problems += error.problems
    if problems:
        raise ConfigError(problems)
    if rank is None:
        return trained
    return Trained(rank, _listed(named["lora_targets"]), _listed(named["train"]))


def _listed(text: str | None) -> tuple[str, ...]:
    return tuple(dict.fromkeys(n.strip() for n in (text or "").split(",") if n.strip()))


def with_targets(trained: Trained, model_type: str) -> Trained:
    """*trained* with PEFT's own targets for *model_type* where adapters have none."""
    if not trained.lora_rank or trained.lora_targets:
        return trained
    return trained._replace(lora_targets=DEFAULT_TARGETS.get(model_type, ()))


def _disjoint(ranges: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """*ranges* in order, those that touch joined into one."""
    joined: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if joined and first <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(last, joined[-1][1]))
        else:
            joined.append((first, last))
    return tuple(joined)
