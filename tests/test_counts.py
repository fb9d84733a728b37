"""Counts against figures from the real classes and from print."""

import random
from math import prod
from typing import Any

import pytest
from support import BASE, oracle

from albert_calc import AlbertCalcError, ModelConfig, count_parameters
from albert_calc.architectures import ARCHITECTURES, SHARES
from albert_calc.counts import component_formulas
from albert_calc.tensors import is_counted, tensor_table, variant_of

COUNTS = [*oracle("counts")["cases"], *oracle("family")["cases"]]
SHARING = oracle("sharing")["cases"]
PUBLISHED = oracle("published")["models"]


def case_name(case: dict[str, Any]) -> str:
    """How a reference figure is called among the tests."""
    return f"{case['config']['model_type']}-{case['case']}-{case['head']}"


@pytest.mark.parametrize("case", COUNTS, ids=case_name)
def test_counts_of_the_real_classes(case: dict[str, Any]) -> None:
    """Every head of every shape has exactly the parameters of the class in transformers."""
    config = ModelConfig.from_dict(case["config"])
    assert count_parameters(config, case["head"]).total == case["total"]


@pytest.mark.parametrize("case", SHARING, ids=lambda c: f"{c['case']}-{c['share']}")
def test_partly_shared_layers(case: dict[str, Any]) -> None:
    """Sharing one block only gives what tied modules of the real class give."""
    config = ModelConfig.from_dict(case["config"], share=case["share"])
    assert count_parameters(config).total == case["total"]


@pytest.mark.parametrize("model", PUBLISHED, ids=lambda m: m["name"])
def test_published_models(model: dict[str, Any]) -> None:
    """A preset has the sizes and the exact count of the published model."""
    config = ModelConfig.from_preset(model["name"])
    assert count_parameters(config).total == model["model_with_pooler"]
    assert {k: getattr(config, k) for k in model["config"]} == model["config"]


def test_handbook_layout() -> None:
    """The chapter's encoder: no pooler and a LayerNorm at width H (handbook.json)."""
    book = oracle("handbook")["encoder"]
    albert = count_parameters(ModelConfig.from_preset("base"), layout="handbook")
    bert = count_parameters(ModelConfig.from_preset("bert-base-uncased"), layout="handbook")
    assert albert.total == book["albert_base"]
    assert albert.of_part("embeddings") == book["embeddings_and_projection"]
    assert albert.of_part("layers") == book["shared_layer"]
    assert bert.total == book["bert_base"]
    assert bert.of_part("layers") == 85_054_464


def test_paper_layout() -> None:
    """The layout of the albert_zh code: tiny has 4,175,152 parameters (DESIGN, the paper)."""
    config = ModelConfig.from_preset("albert-chinese-tiny")
    assert count_parameters(config, layout="paper").total == 4_175_152


def test_paper_layout_has_no_projection_at_equal_widths() -> None:
    """In the paper's layout E = H drops the projection, E ≠ H keeps its matrix alone."""
    names = [
        {
            c.name
            for c in count_parameters(
                ModelConfig.from_dict({**BASE, "embedding_size": e}), layout="paper"
            ).components
        }
        for e in (768, 767)
    ]
    assert names[1] - names[0] == {"embedding_projection"}
    assert "embedding_projection_bias" not in names[1]


def test_every_head_has_a_reference_figure() -> None:
    """No head of any architecture is without a count from the real class."""
    counted = {(c["config"]["model_type"], c["head"]) for c in COUNTS}
    assert counted == {(a.model_type, h) for a in ARCHITECTURES.values() for h in a.heads}


def random_config(rng: random.Random, model_type: str, share: str) -> ModelConfig:
    """A config from the legal space: T from 0, G up to L, N up to 3, 1 to 42 labels."""
    heads = rng.randint(1, 4)
    layers = rng.randint(1, 5)
    return ModelConfig(
        model_type=model_type,
        share=share,
        vocab_size=rng.randint(1, 60),
        embedding_size=rng.randint(1, 20),
        hidden_size=heads * rng.randint(1, 6),
        num_attention_heads=heads,
        num_hidden_layers=layers,
        intermediate_size=rng.randint(1, 40),
        max_position_embeddings=rng.randint(1, 20),
        type_vocab_size=rng.randint(0, 16),
        num_hidden_groups=rng.randint(1, layers),
        inner_group_num=rng.randint(1, 3) if share == "all" else 1,
        num_labels=rng.randint(1, 42),
        tie_word_embeddings=rng.random() < 0.5,
    )


@pytest.mark.parametrize(
    ("model_type", "layout"),
    [(a.model_type, x) for a in ARCHITECTURES.values() for x in a.embeddings],
)
def test_counts_are_the_sum_over_the_tensors(model_type: str, layout: str) -> None:
    """For random configs the count is the sum of the sizes of all tensors, copy by copy."""
    rng = random.Random(7)
    architecture = ARCHITECTURES[model_type]
    for _ in range(60):
        config = random_config(rng, model_type, rng.choice(SHARES))
        head = rng.choice(list(architecture.heads))
        values = {**config.symbols}
        total = 0
        for tensor in tensor_table(variant_of(config, head, layout)):
            dims = [values[d] if isinstance(d, str) else d for d in tensor.shape]
            copies = [values[d] if isinstance(d, str) else d for d in tensor.repeat]
            if is_counted(tensor, config.tie_word_embeddings):
                total += prod(dims) * prod(copies)
        assert count_parameters(config, head, layout).total == total


def test_components_add_up() -> None:
    """The total is the sum of the components shown, and of their parts."""
    counts = count_parameters(ModelConfig.from_preset("albert-base-v2"), "pretraining")
    assert counts.total == sum(c.parameters for c in counts.components)
    assert counts.total == sum(
        counts.of_part(p) for p in ("embeddings", "layers", "pooler", "head")
    )


def test_depth_costs_no_time() -> None:
    """L = 10^9 is counted with the very same terms as L = 12: nothing loops over L."""
    deep, shallow = (
        ModelConfig.from_dict({**BASE, "num_hidden_layers": n}, share="none") for n in (10**9, 12)
    )
    first, second = (component_formulas(variant_of(c, "model", "transformers"))
                     for c in (deep, shallow))  # fmt: skip
    assert first is second
    outside = count_parameters(shallow).total - 12 * 7_087_872
    assert count_parameters(deep).total == 10**9 * 7_087_872 + outside


@pytest.mark.parametrize(
    ("head", "layout", "problem"),
    [
        ("causal-lm", "transformers", "head: must be one of encoder"),
        ("nonsense", "transformers", "got 'nonsense'"),
        ("model", "nonsense", "layout: must be one of transformers"),
    ],
)
def test_unknown_heads_and_layouts(head: str, layout: str, problem: str) -> None:
    """A head or layout that the model type does not have is refused by name."""
    with pytest.raises(AlbertCalcError, match=problem):
        count_parameters(ModelConfig.from_preset("base"), head, layout)


@pytest.mark.parametrize("layout", ["handbook", "paper"])
@pytest.mark.parametrize("model_type", ["electra", "roberta", "xlm-roberta", "camembert"])
def test_layouts_of_the_chapter_and_the_paper(model_type: str, layout: str) -> None:
    """The book and the paper describe ALBERT and BERT; other models have no such layout."""
    config = ModelConfig(100, 8, 2, 32, model_type=model_type)
    with pytest.raises(AlbertCalcError, match=f"must be transformers for {model_type}"):
        count_parameters(config, layout=layout)


@pytest.mark.parametrize("model_type", ["bert", "electra", "roberta", "xlm-roberta", "camembert"])
def test_shared_layers_of_models_that_share_none(model_type: str) -> None:
    """What BERT and its kin would have if they shared: one copy of each block that is shared."""
    sizes = {**{k: v for k, v in BASE.items() if k != "embedding_size"}, "model_type": model_type}
    layers = {
        share: count_parameters(ModelConfig.from_dict(sizes, share)).of_part("layers")
        for share in SHARES
    }
    attention, feed_forward = 2_363_904, 4_723_968
    assert layers == {
        "all": attention + feed_forward,
        "attention": attention + 12 * feed_forward,
        "ffn": 12 * attention + feed_forward,
        "none": 12 * (attention + feed_forward),
    }
