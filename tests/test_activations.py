"""What training keeps, against what autograd kept on the real classes."""

from collections import Counter
from typing import Any

import pytest
from support import BASE, Faults, lora, oracle

from albert_calc import ModelConfig
from albert_calc.algebra import Dims, Polynomial, times
from albert_calc.costs.activations import Activations, kept_activations
from albert_calc.costs.circumstances import batch_values
from albert_calc.costs.trained import EVERYTHING, Trained, freeze
from albert_calc.costs.workload import Workload
from albert_calc.counting.tensors import blueprint, tensor_table
from albert_calc.families import FAMILIES, family
from albert_calc.families.base import SEQUENCES, TOKENS, Tensor
from albert_calc.passes import PASSES, forward_of
from albert_calc.passes.steps import FUNCTIONS, Forward, Step

CASES = oracle("activations")["cases"]
TRAINING = [case for case in oracle("training")["cases"] if "kept" in case]

BERT = {"model_type": "bert", "vocab_size": 30522, "hidden_size": 768, "num_hidden_layers": 12,
        "num_attention_heads": 12, "intermediate_size": 3072}  # fmt: skip


def trained_of(case: dict[str, Any], config: ModelConfig) -> Trained:
    """What of the model of *case* is trained."""
    if "freeze" in case:
        return freeze(",".join(case["freeze"]))
    if "lora_rank" in case:
        variant = blueprint(config, case["head"], "transformers").variant
        return lora(
            variant, case["lora_rank"], tuple(case["lora_targets"]), tuple(case["train_modules"])
        )
    return EVERYTHING


def workload_of(case: dict[str, Any], config: ModelConfig) -> Workload:
    """The workload under which *case* was measured."""
    return Workload(
        case["batch"],
        case["sequence_length"],
        (case["dtype"],),
        attention=case["attention"],
        labels=case.get("labels", True),
        choices=max(2, case.get("choices", 2)),
        trained=trained_of(case, config),
    )


def kept_of(case: dict[str, Any]) -> Activations:
    """What the model of *case* keeps."""
    config = ModelConfig.from_dict(case["config"])
    model = blueprint(config, case["head"], "transformers")
    return kept_activations(config, model, workload_of(case, config))


def kept(
    config: dict[str, Any], head: str = "model", layout: str = "transformers", **workload: Any
) -> Activations:
    """What the model of *config* keeps under *workload*."""
    read = ModelConfig.from_dict(config)
    return kept_activations(read, blueprint(read, head, layout), Workload(**workload))


def named(case: dict[str, Any]) -> str:
    """A case in few words."""
    shown = {k: v for k, v in case.items() if k not in ("tensors", "bytes", "kept")}
    return str(shown)


def test_tensors_of_the_real_classes() -> None:
    """Tensor by tensor, by dtype and size, a step keeps what it was seen to keep."""
    faults = Faults()
    for case in CASES:
        found = kept_of(case)
        faults.expect(named(case), found.bytes, case["bytes"])
        ours: Counter[tuple[str, int]] = Counter()
        for tensor in found.tensors:
            ours[tensor.dtype, tensor.bytes // tensor.copies] += tensor.copies
        theirs: Counter[tuple[str, int]] = Counter()
        for dtype, _, size, copies in case["tensors"]:
            theirs[dtype, size] += copies
        faults.expect(named(case), ours, theirs)
    faults.none()


def test_bytes_of_the_real_classes() -> None:
    """So it is for models at random: whole, with adapters, and with frozen parts."""
    faults = Faults()
    for case in TRAINING:
        faults.expect(named(case), kept_of(case).bytes, case["kept"])
    faults.none()


def test_every_forward_pass_is_of_a_family() -> None:
    """No forward pass stands under a name that no family has."""
    assert set(forwards()) == set(PASSES)


def test_every_head_and_function_was_measured() -> None:
    """No head of a family with steps, and no activation function, is without a measured case."""
    heads = {(c["config"]["model_type"], c["head"]) for c in (*CASES, *TRAINING)}
    functions = {c["config"].get(k) for c in TRAINING for k in ("hidden_act", "activation")}
    same = {"encoder": "model", "generator": "masked-lm", "discriminator": "pretraining"}
    known = {(t, same.get(h, h)) for t, f in forwards().items() for h in f.heads}
    assert known <= {(t, same.get(h, h)) for t, h in heads}
    assert set(FUNCTIONS) <= functions


def forwards() -> dict[str, Forward]:
    """The families whose forward pass is described."""
    found = {model_type: forward_of(model_type) for model_type in FAMILIES}
    return {model_type: forward for model_type, forward in found.items() if forward is not None}


@pytest.mark.parametrize("model_type", forwards())
def test_steps_apply_every_weight(model_type: str) -> None:
    """Each weight of a model is applied by one step, and each step has weights to apply."""
    tables, faults = family(model_type), Faults()
    forward = forwards()[model_type]
    faults.expect("heads", set(forward.heads), set(tables.heads))
    faults.expect("problem_type", "problem_type" in tables.defaults, True)
    config = ModelConfig.from_dict({"model_type": model_type})
    for head in tables.heads:
        variant = blueprint(config, head, "transformers").variant
        pooler = forward.pooler if tables.heads[head].pooler else ()
        outside: tuple[Step, ...] = (*forward.embeddings, *forward.outside, *pooler)
        modules = [s.module for s in (*outside, *forward.heads[head]) if s.module]
        modules += [tables.layer_name + s.module for s in forward.layer if s.module]
        weights = {
            t.name.removesuffix(".weight")
            for t in tensor_table(variant)
            if t.name.endswith(".weight")
        }
        faults.expect((head, "applied once"), max(Counter(modules).values()), 1)
        faults.expect((head, "without a step"), sorted(weights - set(modules)), [])
    faults.none()


def test_korthikanti() -> None:
    """In 16 bits a layer of BERT keeps B·S·H·(34 + 5·A·S/H), and the norms' statistics.

    Korthikanti et al., Reducing Activation Recomputation in Large Transformer Models,
    arXiv 2205.05198, section 4.1; they leave out the 8·B·S bytes of two LayerNorms.
    """
    found = kept(BERT, dtypes=("bfloat16",), attention="eager").formula("layers")
    estimate = Polynomial.sum(
        (times(34, "B", "S", "H"), times(5, "B", "A", "S", "S"), times(8, "B", "S"))
    )
    exact = found.substitute({"I": times(4, "H")})
    assert {symbols: coefficient for coefficient, symbols in exact.terms} == {
        ("L", *symbols): coefficient for coefficient, symbols in estimate.terms
    }


def test_formulas_give_the_bytes() -> None:
    """The formulas of the parts, with numbers put in, add up to the bytes."""
    config = ModelConfig.from_dict(BERT)
    model = blueprint(config, "masked-lm", "transformers")
    workload = Workload(8, 128)
    found = kept_activations(config, model, workload)
    values = batch_values(model, workload)
    parts = [found.formula(part).evaluate(values) for part in ("embeddings", "layers", "top")]
    assert sum(parts) == found.bytes
    assert found.formula("layers").evaluate({**values, "L": 0}) == 0


def test_attention_decides() -> None:
    """Fused attention keeps no scores; with dropout its seeds come from the documentation."""
    eager = kept(BERT, attention="eager", sequence_length=384)
    fused = kept(BERT, attention="sdpa", sequence_length=384)
    assert not eager.documented and fused.documented
    assert {"seed", "offset"} <= {t.name for t in fused.tensors}
    without = kept({**BERT, "attention_probs_dropout_prob": 0.0}, sequence_length=384)
    assert not without.documented
    assert fused.bytes == (without.bytes or 0) + 12 * 2 * 8
    assert (eager.bytes or 0) > 2 * (fused.bytes or 0) * 0.6


def test_checkpointing_keeps_inputs() -> None:
    """Under checkpointing a layer keeps its input alone."""
    found = kept(BERT, batch_size=3, sequence_length=7, checkpointing=True)
    layers = [t for t in found.tensors if t.part == "layers"]
    assert [(t.copies, t.bytes) for t in layers] == [(12, 12 * 3 * 7 * 768 * 4)]


def test_nothing_counts_layers_one_by_one() -> None:
    """A model of very many layers takes no longer: one by one, this would never end."""
    many = {**BASE, "num_hidden_layers": 10**15, "num_hidden_groups": 10**9}
    assert kept(many).bytes
    assert kept(many, trained=freeze("embeddings,layers:5-1000000,head")).bytes


@pytest.mark.parametrize(
    ("config", "options", "reason"),
    [
        (
            {"model_type": "deberta"},
            {},
            "the forward pass of deberta is not described; those of albert",
        ),
        ({**BERT, "num_attention_heads": None, "model_type": None}, {}, "num_attention_heads: not"),
        ({**BERT, "hidden_act": "gelu_sine"}, {}, "hidden_act: the activation function"),
        ({**BERT, "hidden_dropout_prob": "0.1"}, {}, "hidden_dropout_prob: must be a number"),
        ({**BERT, "classifier_dropout": 2}, {"head": "token-classification"}, "classifier_dropout"),
        (BASE, {"layout": "paper"}, "layout paper: only models of transformers"),
        (BERT, {"dtypes": ("int8",)}, "int8 cannot be trained"),
    ],
)
def test_reasons(config: dict[str, Any], options: dict[str, Any], reason: str) -> None:
    """Where the bytes are unknown a reason stands in words."""
    found = kept({k: v for k, v in config.items() if v is not None}, **options)
    assert found.bytes is None
    assert found.reason.startswith(reason)


FOLLOWS_INPUT = ("dropout", "function", "norm", "scale", "softmax", "add")
"""Steps whose output is as large as each tensor that they read."""


@pytest.mark.parametrize("model_type", forwards())
def test_widths_are_those_of_the_weights(model_type: str) -> None:
    """What each step reads and makes is as wide as its weights, or as what it reads."""
    tables, forward, faults = family(model_type), forwards()[model_type], Faults()
    hidden = (*TOKENS, "H")
    after = {"hidden": hidden, "encoded": hidden, "pooled": (*SEQUENCES, "H")}
    outside = (*tables.embeddings["transformers"], *tables.outside)
    parts: dict[str, tuple[tuple[Step, ...], dict[str, Dims], tuple[Tensor, ...]]] = {
        "embeddings": (forward.embeddings, {}, outside),
        "layer": (forward.layer, {"hidden": hidden}, tables.layer),
        "outside": (forward.outside, after, outside),
        "pooler": (forward.pooler, after, tables.pooler),
        **{n: (forward.heads[n], after, head.tensors) for n, head in tables.heads.items()},
    }
    for part, (steps, given, tensors) in parts.items():
        made = dict(given)
        # Of two under one name, the second is of a class that is built and cannot run.
        shapes = {t.name.removesuffix(".weight"): t.shape for t in reversed(tensors)}
        for step in steps:
            read = [made[name] for name in step.inputs]
            if step.module:
                *rows, columns = shapes[step.module]
                width = rows[0] if step.kind == "linear" else columns
                faults.expect((part, step.output, "width"), step.shape[-1:], (width,))
            if step.kind == "linear":
                faults.expect((part, step.output, "input"), read[0][-1], columns)
            if step.kind in FOLLOWS_INPUT:
                faults.expect((part, step.output, "inputs"), {*read}, {step.shape})
            if step.kind in ("dropout", "index"):
                own = {kept.shape for kept in step.keeps} - {None}
                faults.expect((part, step.output, "kept"), own, {step.shape})
            if step.kind in ("view", "mean", "index"):
                faults.expect((part, step.output, "row"), step.shape[-1], read[0][-1])
            made.setdefault(step.output, step.shape)
            faults.expect((part, step.output), step.shape, made[step.output])
    faults.none()
