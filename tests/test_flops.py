"""FLOPs and executed parameters: sharing saves none of them.

``flops.json`` and ``flops_more.json`` (made by ``make_flops.py``) were measured with torch's
own counter on the classes of transformers; those of every family are in ``test_families``.
"""

from typing import Any, cast

import pytest
from support import BASE, Faults, oracle

from albert_calc import ModelConfig
from albert_calc.costs.cost import Cost, cost_of
from albert_calc.costs.flops import TERMS, count_flops
from albert_calc.costs.workload import Workload
from albert_calc.counting.counts import count
from albert_calc.counting.tensors import Blueprint, blueprint
from albert_calc.families import FAMILIES, bert
from albert_calc.families.base import FEED_FORWARD, Tensor

MEASURED = [*oracle("flops")["cases"], *oracle("flops_more")["cases"]]

BERT = {**{k: v for k, v in BASE.items() if k != "embedding_size"}, "model_type": "bert"}


def model(config: ModelConfig, head: str = "model") -> Blueprint:
    """The model of *head* that *config* describes."""
    return blueprint(config, head, "transformers")


def cost(workload: Workload | None = None, head: str = "model", **changes: Any) -> Cost:
    """What albert-base-v2 with *changes* costs."""
    share = changes.pop("share", None)
    config = ModelConfig.from_dict({**BASE, **changes}, share)
    return cost_of(config, model(config, head), workload or Workload())


def test_measured_flops() -> None:
    """Forward FLOPs are those that torch measures on the real class."""
    faults = Faults()
    for row in MEASURED:
        case = row["case"], row["head"], row["sequence_length"]
        flops = count_flops(
            model(ModelConfig.from_dict(row["config"]), row["head"]),
            row["batch"], row["sequence_length"],
        )  # fmt: skip
        faults.expect(case, flops.forward, row["flops"])
        faults.expect(case, flops.training, 3 * row["flops"])
        faults.expect(case, 2 * flops.macs, row["flops"])
        faults.expect(case, list(flops.breakdown), list(TERMS))
    faults.none()


@pytest.mark.parametrize("share", ["all", "attention", "ffn", "none"])
def test_sharing_saves_no_flops(share: str) -> None:
    """A BERT whose layers are shared runs every one of them all the same."""
    plain, shared = (model(ModelConfig.from_dict(BERT, s)) for s in (None, share))
    assert count_flops(plain, 2, 64).forward == count_flops(shared, 2, 64).forward


def test_flops_and_counts_read_one_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """A family with one more matrix costs more without a second description."""
    gate = Tensor("gate.weight", ("I", "H"), FEED_FORWARD, "matrix")
    gated = bert.BERT._replace(model_type="gated", layer=(*bert.BERT.layer, gate))
    monkeypatch.setattr(bert, "GATED", gated, raising=False)
    monkeypatch.setitem(cast("dict[str, str]", FAMILIES), "gated", "bert:GATED")
    plain, more = (
        model(ModelConfig.from_dict({**BERT, "model_type": m})) for m in ("bert", "gated")
    )
    matrix = 12 * 768 * 3072
    assert count(more).total - count(plain).total == matrix
    before, after = (count_flops(m, 2, 64) for m in (plain, more))
    work = 2 * 2 * 64 * matrix
    assert after.breakdown["feed_forward"] - before.breakdown["feed_forward"] == work
    assert after.forward - before.forward == work


def test_per_token() -> None:
    """FLOPs a token are an integer where the division is whole, else the unrounded fraction."""
    whole = cost(Workload(8, 512)).flops
    assert isinstance(whole.per_token, int)
    assert whole.per_token * 8 * 512 == whole.forward == 773_908_856_832
    broken = cost(Workload(1, 7)).flops
    assert isinstance(broken.per_token, float)
    assert broken.per_token == broken.forward / 7


def test_shares_add_up() -> None:
    """The terms add up to the forward pass, and their shares to one."""
    flops = cost(head="masked-lm").flops
    assert sum(flops.breakdown.values()) == flops.forward
    assert sum(flops.shares.values()) == pytest.approx(1)
    assert flops.breakdown["attention_scores"] == 12 * 4 * 512**2 * 768
    assert flops.breakdown["projections"] == 12 * 2 * 512 * 4 * 768**2
    assert flops.breakdown["feed_forward"] == 12 * 2 * 512 * 2 * 768 * 3072
    assert flops.breakdown["embedding_projection"] == 2 * 512 * 128 * 768
    assert flops.breakdown["head"] == 2 * 512 * (768 * 128 + 128 * 30000)


def test_one_layer() -> None:
    """One run of a layer is a twelfth of what twelve runs take, shared or not."""
    shared, unshared = cost(Workload(2, 64)).flops, cost(Workload(2, 64), share="none").flops
    in_layers = ("attention_scores", "projections", "feed_forward")
    assert shared.layer * 12 == sum(shared.breakdown[term] for term in in_layers)
    assert shared.layer == unshared.layer
    assert shared.layer_share == shared.layer / shared.forward


@pytest.mark.parametrize(
    ("masked", "predicted"), [(None, 1024), ((15, 100), 154), ((1, 1), 1024), ((1, 10**9), 1)]
)
def test_masked_positions_alone(masked: tuple[int, int] | None, predicted: int) -> None:
    """A head that sees masked positions alone works for as many tokens, rounded up."""
    flops = cost(Workload(2, 512, masked=masked), head="masked-lm").flops
    assert flops.breakdown["head"] == 2 * predicted * (768 * 128 + 128 * 30000)
    other = cost(Workload(2, 512), head="masked-lm").flops
    assert flops.forward - flops.breakdown["head"] == other.forward - other.breakdown["head"]


LAYER, ALL = 7_087_872, 11_683_584


@pytest.mark.parametrize(
    ("changes", "stored_layers", "executed_layers"),
    [
        ({}, 1, 12),
        ({"share": "none"}, 12, 12),
        ({"num_hidden_groups": 12}, 12, 12),
        ({"num_hidden_groups": 5}, 5, 12),
        ({"inner_group_num": 2}, 2, 24),
        ({"num_hidden_layers": 2, "num_hidden_groups": 3}, 3, 2),
    ],
)
def test_executed_parameters(
    changes: dict[str, Any], stored_layers: int, executed_layers: int
) -> None:
    """Each layer is counted as often as it runs, everything else once."""
    found = cost(**changes)
    rest = ALL - LAYER
    assert found.parameters == rest + stored_layers * LAYER
    assert found.executed_parameters == rest + executed_layers * LAYER
    assert found.executed_layers == executed_layers
    assert found.executed_ratio == found.executed_parameters / found.parameters
    assert found.files.unrolled == 4 * found.executed_parameters


@pytest.mark.parametrize("share", ["attention", "ffn"])
def test_partly_shared_layers_run_as_often(share: str) -> None:
    """Sharing one block changes what is stored and nothing of what runs."""
    some, none = cost(share=share), cost(share="none")
    assert some.parameters < none.parameters
    assert some.executed_parameters == none.executed_parameters
    assert some.flops == none.flops
    assert some.activation_bytes == none.activation_bytes


def test_a_tied_output_matrix_is_stored_once_and_multiplied() -> None:
    """Tying the output saves parameters, executed ones too, and no FLOPs."""
    tied, untied = (cost(head="masked-lm", tie_word_embeddings=t) for t in (True, False))
    own = 30000 * 128 + 30000
    assert untied.parameters - tied.parameters == own
    assert untied.executed_parameters - tied.executed_parameters == own
    assert untied.flops == tied.flops


def test_xxlarge_disappoints() -> None:
    """ALBERT-xxlarge has fewer parameters than BERT-large, more activations, far more FLOPs."""
    configs = map(ModelConfig.from_preset, ("bert-large-uncased", "albert-xxlarge-v2"))
    large, xxlarge = (cost_of(c, model(c), Workload(8, 512)) for c in configs)
    assert xxlarge.parameters < large.parameters
    assert (xxlarge.activation_bytes or 0) > 3 * (large.activation_bytes or 0)
    assert (xxlarge.training_peak_bytes or 0) > 2 * (large.training_peak_bytes or 0)
    assert xxlarge.flops.forward > 7 * large.flops.forward
