"""Counts of ALBERT and BERT against figures from the real classes and from print."""

import itertools
import json
import random
from collections import Counter
from typing import Any

import pytest
from support import BASE, DATA, Faults, oracle

from albert_calc import AlbertCalcError, ModelConfig, count_parameters
from albert_calc.algebra import times
from albert_calc.counting.counts import component_formulas, count
from albert_calc.counting.tensors import (
    Blueprint,
    blueprint,
    component_tensors,
    is_counted,
    name_pattern,
    tensor_table,
    variant_of,
)
from albert_calc.families import families, family
from albert_calc.families.base import LAYOUTS, SHARES

COUNTS = oracle("counts")["cases"]


def test_reference_figures_say_where_they_come_from() -> None:
    """Every file of figures names its source, and no path of somebody's machine."""
    faults = Faults()
    for path in sorted(DATA.glob("*.json")):
        figures = oracle(path.stem)
        source = figures["source"]
        faults.expect(path.name, bool(source), True)
        faults.expect(path.name, "../" in json.dumps(source), False)
    faults.none()


def test_counts_of_the_real_classes() -> None:
    """Every head of every shape has exactly the parameters of the class in transformers."""
    faults = Faults()
    for case in COUNTS:
        config = ModelConfig.from_dict(case["config"])
        found = count_parameters(config, case["head"]).total
        faults.expect((case["case"], case["head"]), found, case["total"])
        classes = config.family.heads[case["head"]].classes
        faults.expect(case["class"], case["class"] in classes, True)
    faults.none()


def test_every_head_has_a_reference_figure() -> None:
    """No head of ALBERT or BERT is without a count from the real class."""
    counted = {(c["config"]["model_type"], c["head"]) for c in COUNTS}
    assert counted == {(t, h) for t in ("albert", "bert") for h in family(t).heads}


def test_names_and_shapes_of_the_real_classes() -> None:
    """The tables name every tensor of a model as its class does, with the same shape."""
    faults = Faults()
    for case in oracle("tensors")["cases"]:
        model = blueprint(ModelConfig.from_dict(case["config"]), case["head"], "transformers")
        found = {}
        for tensor in tensor_table(model.variant):
            if not is_counted(tensor, model.variant.tied):
                continue
            copies = [range(times(d).evaluate(model.values)) for d in tensor.repeat]
            shape = [times(dim).evaluate(model.values) for dim in tensor.shape]
            for indices in itertools.product(*copies):
                found[name_pattern(model.variant, tensor).format(*indices)] = shape
        for name, shape in case["tensors"].items():
            faults.expect((case["case"], name), found.pop(name, None), shape)
        faults.expect(case["case"], found, {})
    faults.none()


def test_partly_shared_layers() -> None:
    """Sharing one block only gives what tied modules of the real class give."""
    faults = Faults()
    for case in oracle("sharing")["cases"]:
        config = ModelConfig.from_dict(case["config"], share=case["share"])
        faults.expect((case["case"], case["share"]), count_parameters(config).total, case["total"])
    faults.none()


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
    """The layout of the albert_zh code, whose tiny model has 4,175,152 parameters."""
    config = ModelConfig.from_preset("albert-chinese-tiny")
    assert count_parameters(config, layout="paper").total == 4_175_152


def test_paper_layout_has_no_projection_at_equal_widths() -> None:
    """In the paper's layout E = H drops the projection, E ≠ H keeps its matrix alone."""
    square, other = (
        {
            c.name
            for c in count_parameters(
                ModelConfig.from_dict({**BASE, "embedding_size": e}), layout="paper"
            ).components
        }
        for e in (768, 767)
    )
    assert other - square == {"embedding_projection"}
    assert "embedding_projection_bias" not in other


def random_keys(rng: random.Random, model_type: str) -> dict[str, Any]:
    """Small sizes from the legal space: T from 0, G up to L, 1 to 42 labels, own keys default."""
    heads, layers = rng.randint(1, 4), rng.randint(1, 5)
    keys = {
        "vocab_size": rng.randint(2, 60),
        "embedding_size": rng.randint(1, 20),
        "hidden_size": 4 * heads * rng.randint(1, 6),
        "num_attention_heads": heads,
        "num_hidden_layers": layers,
        "intermediate_size": 4 * rng.randint(1, 40),
        "max_position_embeddings": rng.randint(2, 20),
        "type_vocab_size": rng.randint(0, 16),
        "num_hidden_groups": rng.randint(1, layers),
        "num_labels": rng.randint(1, 42),
    }
    tables = family(model_type)
    found = {tables.name_of(k): v for k, v in keys.items() if tables.has(k)}
    width = found[tables.name_of("hidden_size")]
    if model_type == "squeezebert":
        found["embedding_size"] = width
    if model_type == "mobilebert":
        found["intra_bottleneck_size"] = 2 * width
    return {**found, "model_type": model_type, "tie_word_embeddings": rng.random() < 0.5}


def test_counts_are_the_sum_over_the_tensors() -> None:
    """For random configs of every family the count is the sum over all tensors, copy by copy.

    Without embeddings no table counts, and what is tied to one; with matrices no vector does.
    """
    rng = random.Random(7)
    faults = Faults()
    for tables, layout in ((f, x) for f in families() for x in f.embeddings):
        for _ in range(40):
            keys = random_keys(rng, tables.model_type)
            config = ModelConfig.from_dict(keys, rng.choice(SHARES))
            head = rng.choice(list(tables.heads))
            try:
                model = blueprint(config, head, layout)
            except AlbertCalcError:  # a rule of the head, as DistilBERT has one
                continue
            totals: Counter[str] = Counter()
            for tensor in tensor_table(model.variant):
                elements = 1
                for dim in (*tensor.shape, *tensor.repeat):
                    elements *= times(dim).evaluate(model.values)
                if is_counted(tensor, model.variant.tied):
                    totals[tensor.kind] += elements
            case = (keys, config.share, head, layout)
            whole = totals.total()
            faults.expect(case, count_parameters(config, head, layout).total, whole)
            faults.expect(case, count(model, "without_embeddings").total, whole - totals["table"])
            faults.expect(case, count(model, "matrices").total, whole - totals["vector"])
    faults.none()


def test_selections_of_published_models() -> None:
    """The figures of num_parameters(exclude_embeddings=True), and of matrices alone."""
    faults = Faults()
    for name, selection, total in (
        ("bert-base-uncased", "without_embeddings", 85_646_592),
        ("albert-base-v2", "without_embeddings", 7_777_792),
        ("bert-base-uncased", "matrices", 109_360_128),
    ):
        model = blueprint(ModelConfig.from_preset(name), "model", "transformers")
        faults.expect((name, selection), count(model, selection).total, total)  # type: ignore[arg-type]  # any text for a Literal
    faults.none()


def test_components_add_up() -> None:
    """The total is the sum of the components shown, and of their parts."""
    counts = count_parameters(ModelConfig.from_preset("albert-base-v2"), "pretraining")
    assert counts.total == sum(c.parameters for c in counts.components)
    assert counts.total == sum(
        counts.of_part(p) for p in ("embeddings", "layers", "pooler", "head")
    )
    assert counts.of_part("encoder") == 0


def test_a_tied_output_is_a_row_of_nothing() -> None:
    """The output matrix that is the token table again is listed, and counts 0."""
    tied = count_parameters(ModelConfig.from_preset("albert-base-v2"), "masked-lm")
    (row,) = [c for c in tied.components if c.name == "output_embedding"]
    assert (row.parameters, row.formula) == (0, "0")
    untied = count_parameters(
        ModelConfig.from_dict({**BASE, "tie_word_embeddings": False}), "masked-lm"
    )
    (row,) = [c for c in untied.components if c.name == "output_embedding"]
    assert (row.parameters, row.formula) == (30_000 * 128 + 30_000, "V × E + V")


def test_components_list_their_tensors() -> None:
    """Each tensor has its name, shape and copies, and says to which one it is tied."""
    config = ModelConfig.from_dict({**BASE, "num_hidden_groups": 3, "inner_group_num": 2})
    listed = component_tensors(blueprint(config, "masked-lm", "transformers"))
    assert listed["token_embedding"] == [
        {"name": "albert.embeddings.word_embeddings.weight", "shape": [30000, 128], "copies": 1}
    ]
    assert {t["copies"] for t in listed["attention"]} == {6}
    assert listed["attention"][0]["name"] == (
        "albert.encoder.albert_layer_groups.0.albert_layers.0.attention.query.weight"
    )
    assert [t["tied_to"] for t in listed["output_embedding"]] == [
        "embeddings.word_embeddings.weight", "predictions.bias",
    ]  # fmt: skip
    norm = component_tensors(
        blueprint(ModelConfig.from_preset("modernbert-base"), "model", "transformers")
    )["attention"][0]
    assert norm == {"name": "layers.1.attn_norm.weight", "shape": [768], "copies": 21}


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


UNKNOWN: list[tuple[str, Any, Any, str]] = [
    ("albert", "causal-lm", "transformers", "head: must be one of model, encoder"),
    ("albert", "nonsense", "transformers", "for albert, got 'nonsense'"),
    ("albert", 5, "transformers", "got 5"),
    ("albert", "model", "nonsense", "layout: must be one of transformers, handbook, paper"),
    *(
        (f.model_type, "model", layout, f"layout: must be transformers for {f.model_type}")
        for f in families()
        for layout in LAYOUTS[1:]
        if f.model_type not in ("albert", "bert")
    ),
]


def test_unknown_heads_and_layouts() -> None:
    """A head or layout that the model type does not have is refused by name.

    The book and the paper describe ALBERT and BERT; no other model has such a layout.
    """
    faults = Faults()
    for model_type, head, layout, problem in UNKNOWN:
        config = ModelConfig(100, 8, 2, 32, model_type=model_type, embedding_size=8,
                             num_attention_heads=2)  # fmt: skip
        try:
            total = count_parameters(config, head, layout).total
            faults.append(f"{model_type}, {head}, {layout}: counted {total}")
        except AlbertCalcError as error:
            faults.expect((model_type, head, layout), problem in str(error) or str(error), True)
    faults.none()


def test_shared_layers_of_models_that_share_none() -> None:
    """What BERT and its kin would have if they shared: one copy of each block that is shared."""
    attention, feed_forward = 2_363_904, 4_723_968
    wanted = {
        "all": attention + feed_forward,
        "attention": attention + 12 * feed_forward,
        "ffn": 12 * attention + feed_forward,
        "none": 12 * (attention + feed_forward),
    }
    faults = Faults()
    for model_type in ("bert", "electra", "roberta", "xlm-roberta", "camembert"):
        sizes = {**{k: v for k, v in BASE.items() if k != "embedding_size"},
                 "model_type": model_type}  # fmt: skip
        for share, layers in wanted.items():
            counts = count_parameters(ModelConfig.from_dict(sizes, share))
            faults.expect((model_type, share), counts.of_part("layers"), layers)
            formulas = [c.formula for c in counts.components if c.part == "layers"]
            faults.expect((model_type, share, formulas), any("G" in f for f in formulas), False)
    faults.none()


@pytest.mark.parametrize("share", SHARES)
def test_formulas_are_kept_for_any_sizes(share: str) -> None:
    """Two models that have the same tensors are counted with one formula."""
    first = blueprint(ModelConfig.from_dict(BASE, share), "masked-lm", "transformers")
    second = Blueprint(first.variant, {**first.values, "H": 5, "V": 7})
    assert count(first).formulas is count(second).formulas
    assert count(second).total == sum(
        f.terms.evaluate(second.values) for f in component_formulas(first.variant)
    )
