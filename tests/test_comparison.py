"""What a factorized embedding and shared layers make of a model of any family.

The expected figures are taken from the list of a model's tensors, one by one, and from a table
of what each family embeds at the width of its token table.
"""

import random
import re
from itertools import product
from typing import Any, NamedTuple

import pytest
from support import BASE, Faults, oracle

from albert_calc import AlbertCalcError, ModelConfig, count_parameters
from albert_calc.algebra import times
from albert_calc.counting.comparison import (
    COMPARED_EMBEDDING_SIZE,
    Pair,
    compare,
    sharing_label,
    techniques,
)
from albert_calc.counting.priced import embedding_costs, layer_costs
from albert_calc.counting.tensors import (
    Blueprint,
    blueprint,
    is_counted,
    name_pattern,
    tensor_table,
)
from albert_calc.families import FAMILIES, families
from albert_calc.families.base import SHARES

E = 5
"""The width at which models without a table of their own width are factorized."""

SMALL = {
    case["config"]["model_type"]: case["config"]
    for case in reversed(oracle("families")["cases"])
    if case["case"].endswith(": small")
}
SIZES = {"vocab_size": 50, "hidden_size": 24, "num_hidden_layers": 4, "num_attention_heads": 3,
         "intermediate_size": 20, "max_position_embeddings": 40}  # fmt: skip
SMALL["bert"] = {**SIZES, "model_type": "bert"}
SMALL["albert"] = {**SIZES, "model_type": "albert", "embedding_size": 8}


class Embedded(NamedTuple):
    """What a family has at the width of its token table.

    ``tables`` are the symbols of their rows, ``vectors`` the scales and shifts that go with
    them; of the head that predicts tokens a dense layer, with a ``bias`` or not, ``norms`` more
    vectors. ``own`` is the width that the small model has of its own, from which it projects.
    """

    tables: str = "VPT"
    vectors: int = 2
    bias: bool = True
    norms: int = 2
    own: int = 0


EMBEDDED: dict[str, Embedded] = {
    "albert": Embedded(own=8),
    "bert": Embedded(),
    "electra": Embedded(own=8),
    "roberta": Embedded(),
    "xlm-roberta": Embedded(),
    "camembert": Embedded(),
    "distilbert": Embedded("VP"),
    "mpnet": Embedded("VP"),
    "ernie": Embedded(),
    "megatron-bert": Embedded(vectors=0),
    "xlm-roberta-xl": Embedded(vectors=0),
    "roberta-prelayernorm": Embedded(),
    "squeezebert": Embedded(),
    # The table of angles, P × D, stays as it is.
    "roformer": Embedded("VT"),
    "modernbert": Embedded("V", vectors=1, bias=False, norms=1),
    "nomic_bert": Embedded("VT"),
    # The norm stands after the projection.
    "deberta": Embedded("VP", vectors=0),
    "deberta-v2": Embedded("VP", vectors=0),
    # The output has a width of its own.
    "rembert": Embedded(bias=False, norms=0, own=8),
}
"""Every family but MobileBERT, which has a test of its own."""


def small(model_type: str, head: str = "model") -> Blueprint:
    """The small model of a family."""
    return blueprint(ModelConfig.from_dict(SMALL[model_type]), head, "transformers")


def narrowed(model_type: str, head: str, width: int) -> int:
    """How much less the small model has at *width* than where everything is at H."""
    facts, hidden = EMBEDDED[model_type], 24
    segments = 1 if model_type == "xlm-roberta-xl" else 2
    rows = {"V": 50, "P": 40, "T": segments}
    vectors = sum(rows[t] for t in facts.tables) + facts.vectors
    if head == "masked-lm":
        dense = 0 if model_type == "rembert" else hidden
        vectors += dense + facts.bias + facts.norms
    return vectors * (hidden - width)


def copies(model: Blueprint) -> list[tuple[str, int]]:
    """The name of every tensor of *model* that is counted, and its elements."""
    found = []
    for tensor in tensor_table(model.variant):
        if is_counted(tensor, model.variant.tied):
            elements = tensor.elements.evaluate(model.values)
            repeat = [range(times(d).evaluate(model.values)) for d in tensor.repeat]
            name = name_pattern(model.variant, tensor)
            found += [(name.format(*i), elements) for i in product(*repeat)]
    return found


def stored_once(model: Blueprint) -> int:
    """The parameters of *model* with one layer, which has every tensor that any layer has."""
    layers = re.compile(r"(layers?|albert_layer_groups)\.\d+\.")
    return sum({layers.sub(r"\1.", name, count=1): n for name, n in copies(model)}.values())


def test_the_table_has_every_family() -> None:
    """A new family needs a line of its own."""
    assert {*EMBEDDED, "mobilebert"} == set(FAMILIES) == set(SMALL)


def test_techniques_on_any_family() -> None:
    """Each technique, and both, take from a model what the list of its tensors says."""
    faults = Faults()
    for model_type, facts in EMBEDDED.items():
        for head in ("model", "masked-lm"):
            model = small(model_type, head)
            found = compare(model, embedding_size=E)
            width = facts.own or E
            projection = width * 24 + 24
            narrow = narrowed(model_type, head, width)
            as_it_is = sum(n for _, n in copies(model))
            shared = as_it_is - stored_once(model)
            if model_type == "albert":
                # It is stored once already; unshared it has three more layers of
                # 4·(H² + H) + 2·H + 2·H·I + I + H + 2·H.
                layer = 4 * (24**2 + 24) + 48 + 2 * 24 * 20 + 20 + 24 + 48
                faults.expect((model_type, head), shared, 0)
                shared, as_it_is = 3 * layer, as_it_is + 3 * layer
            standard = as_it_is + (narrow - projection if facts.own else 0)
            factorized = standard - narrow + projection
            wanted = (standard, standard - shared, factorized, factorized - shared)
            totals = tuple(built.total for built in found.combinations.values())
            faults.expect((model_type, head), totals, wanted)
            faults.expect((model_type, head), found.as_it_is.total, count_total(model))
    faults.none()


def count_total(model: Blueprint) -> int:
    """All parameters of *model*, copy by copy."""
    return sum(n for _, n in copies(model))


def test_mobilebert_as_what_it_is() -> None:
    """Its projection takes three tokens, and its output has the columns that the table lacks."""
    faults = Faults()
    for head, output in (("model", 0), ("masked-lm", 50 * (24 - 8))):
        model = small("mobilebert", head)
        found = compare(model, embedding_size=E)
        whole, once = count_total(model), stored_once(model)
        faults.expect(head, found.as_it_is.total, whole)
        faults.expect(head, found.factorized_unshared.total, whole - 2 * 8 * 24)
        standard = whole + 50 * (24 - 8) - (3 * 8 * 24 + 24) - output
        faults.expect(head, found.standard_unshared.total, standard)
        faults.expect(head, found.factorized_shared.total, once - 2 * 8 * 24)
        faults.expect(head, found.as_it_is.embedding, "factorized")
    faults.none()


COMMON_HEADS = ("model", "encoder", "masked-lm", "sequence-classification", "multiple-choice",
                "token-classification", "question-answering")  # fmt: skip
"""The heads that BERT and ALBERT have alike."""


def test_bert_becomes_albert_to_the_parameter() -> None:
    """BERT with both techniques is the ALBERT of the same sizes, with any head and sharing."""
    rng = random.Random(3)
    faults = Faults()
    for _ in range(200):
        heads, layers = rng.randint(1, 4), rng.randint(1, 6)
        sizes: dict[str, Any] = {
            "vocab_size": rng.randint(1, 90), "hidden_size": heads * rng.randint(1, 9),
            "num_hidden_layers": layers, "num_attention_heads": heads,
            "intermediate_size": rng.randint(1, 50), "type_vocab_size": rng.randint(0, 3),
            "max_position_embeddings": rng.randint(1, 30), "num_labels": rng.randint(1, 5),
            "tie_word_embeddings": rng.random() < 0.5,
        }  # fmt: skip
        width, share = rng.randint(1, 40), rng.choice(SHARES[:3])
        groups, inner = rng.randint(1, layers), rng.randint(1, 3) if share == "all" else 1
        head = rng.choice(COMMON_HEADS)
        layout = rng.choice(("transformers", "handbook", "paper"))
        bert = blueprint(ModelConfig.from_dict({**sizes, "model_type": "bert"}), head, layout)
        found = compare(bert, embedding_size=width, share=share, groups=groups, inner=inner)
        albert = {**sizes, "model_type": "albert", "embedding_size": width}
        grouped = {**albert, "num_hidden_groups": groups, "inner_group_num": inner}
        case = (sizes, width, share, groups, inner, head, layout)
        for built, keys, sharing in (
            (found.factorized_shared, grouped, share),
            (found.factorized_unshared, albert, "none"),
        ):
            config = ModelConfig.from_dict(keys, sharing)
            faults.expect(case, built.total, count_parameters(config, head, layout).total)
        faults.expect(case, found.as_it_is.total, found.standard_unshared.total)
    faults.none()


def test_rows_of_a_comparison_add_up() -> None:
    """The rows of every way of building are the parts of its model, and their sum its total."""
    faults = Faults()
    for tables in families():
        for head in tables.heads:
            try:
                model = small(tables.model_type, head)
            except AlbertCalcError:
                continue
            found = compare(model, embedding_size=E)
            for built in (found.as_it_is, *found.combinations.values()):
                case = (tables.model_type, head, built.embedding, built.layers)
                faults.expect(case, built.total, count_total(built.model))
                faults.expect(case, sum(built.rows.values()), built.total)
            rows = found.as_it_is.rows
            if "token_embedding" in rows:
                faults.expect(tables.model_type, rows["token_embedding"] >= 50 * 8, True)
            # What stands outside the layers stays.
            for row in ("outside_the_layers", "pooler"):
                several = {b.rows.get(row) for b in found.combinations.values()}
                faults.expect((tables.model_type, head, row), several, {rows.get(row)})
    faults.none()


def test_a_model_that_has_a_technique_is_told_so() -> None:
    """The words for what a model has are true of it."""
    faults = Faults()
    for model_type, change, share, embedding, layers in (
        ("albert", {}, None, "factorized", "shared layers"),
        ("albert", {"num_hidden_groups": 2}, None, "factorized", "2 stored layers"),
        ("albert", {"num_hidden_groups": 2, "inner_group_num": 2}, None, "factorized",
         "4 stored layers"),
        ("albert", {"num_hidden_groups": 4}, None, "factorized", "unshared layers"),
        ("albert", {}, "attention", "factorized", "shared attention"),
        ("albert", {"num_hidden_groups": 2}, "ffn", "factorized",
         "shared feed-forward in 2 groups"),
        ("bert", {}, None, "standard", "unshared layers"),
        ("bert", {}, "all", "standard", "shared layers"),
        ("electra", {}, None, "factorized", "unshared layers"),
        ("electra", {"embedding_size": 24}, None, "standard", "unshared layers"),
        ("rembert", {}, None, "factorized", "unshared layers"),
        ("mobilebert", {}, None, "factorized", "unshared layers"),
    ):  # fmt: skip
        config = ModelConfig.from_dict({**SMALL[model_type], **change}, share)
        built = compare(blueprint(config, "model", "transformers")).as_it_is
        faults.expect((model_type, change, share), (built.embedding, built.layers),
                      (embedding, layers))  # fmt: skip
    faults.none()


def test_the_width_of_comparison() -> None:
    """Without an E a model is compared at ALBERT's, and with one at its own."""
    assert COMPARED_EMBEDDING_SIZE == 128
    bert = blueprint(ModelConfig.from_preset("bert-base-uncased"), "model", "transformers")
    assert compare(bert).albert_style.model.values["E"] == 128
    assert compare(bert).bert_style.total == 109_482_240
    assert compare(bert).bert_style.model.values["E"] == 768
    assert compare(bert).as_it_is.rows == {
        "token_embedding": 23_440_896,
        "other_embeddings": 396_288,
        "layers": 85_054_464,
        "pooler": 590_592,
    }
    assert compare(bert).row("token_embedding") == Pair(23_440_896, 3_906_816 + 98_304)
    assert compare(bert).row("head") == Pair(0, 0)
    # The shape of the chapter at BERT's vocabulary.
    assert compare(bert).albert_style.total == 11_750_400
    albert = blueprint(ModelConfig.from_dict(BASE), "model", "transformers")
    assert compare(albert, embedding_size=64).albert_style.total == 11_683_584
    groups = ModelConfig.from_dict({**BASE, "num_hidden_groups": 3, "inner_group_num": 2})
    own = compare(blueprint(groups, "model", "transformers"))
    assert own.albert_style.total == own.as_it_is.total == 11_683_584 + 5 * 7_087_872
    paper = blueprint(ModelConfig.from_preset("bert-base-uncased"), "model", "paper")
    assert compare(paper, embedding_size=768).albert_style.embedding == "standard"


def test_layers_in_groups() -> None:
    """G groups of N layers are stored, whatever the family does, and run as often as before."""
    model = small("bert")
    for groups, inner, stored in ((None, None, 1), (2, None, 2), (2, 3, 6), (4, 1, 4)):
        shared = techniques(model, groups=groups, inner=inner)
        layer = layer_costs(shared)
        assert layer.shared.parameters == stored * layer.per_layer
        assert layer.unshared.parameters == 4 * layer.per_layer
    assert techniques(model, share="ffn").variant.share == "ffn"


def test_one_layer_and_all_of_them() -> None:
    """The blocks of a layer, the layer, and what each way of sharing stores of it."""
    model = blueprint(ModelConfig.from_dict({**BASE, "num_hidden_groups": 3}), "model",
                      "transformers")  # fmt: skip
    costs = layer_costs(model)
    assert {name: b.parameters for name, b in costs.blocks.items()} == {
        "attention": 2_363_904, "feed_forward": 4_723_968,
    }  # fmt: skip
    assert costs.blocks["attention"].formula == "4 × H² + 6 × H"
    assert (costs.per_layer, costs.pair) == (7_087_872, Pair(85_054_464, 3 * 7_087_872))
    assert costs.layer.formula == "4 × H² + 9 × H + 2 × H × I + I"
    for groups, inner, copies in ((1, 1, ""), (3, 1, "G × "), (1, 2, "N × "), (3, 2, "G × N × ")):
        shared = layer_costs(techniques(small("bert"), groups=groups, inner=inner)).shared
        body = "4 × H² + 9 × H + 2 × H × I + I"
        assert shared.formula == (f"{copies}({body})" if copies else body)


def test_layers_of_any_family() -> None:
    """A family's unshared layers are L of one, but for what the first of them lack."""
    faults = Faults()
    for model_type in FAMILIES:
        costs = layer_costs(small(model_type))
        # ModernBERT's first layer has no first norm, of H scales; a layer alone has one.
        lacking = 24 if model_type == "modernbert" else 0
        faults.expect(model_type, costs.unshared.parameters, 4 * costs.per_layer - lacking)
        blocks = sum(block.parameters for block in costs.blocks.values())
        faults.expect(model_type, blocks, costs.per_layer)
    faults.none()


def test_embeddings_of_the_book() -> None:
    """V·H against V·E + E·H, as the chapter's example and table print them (handbook.json)."""
    book = oracle("handbook")
    example = book["embedding_example"]
    costs = embedding_costs(example["V"], example["E"], example["H"])
    assert costs.token_table == example["token_matrix"]
    assert costs.projection == example["projection"]
    assert costs.pair == Pair(example["standard"], example["factorized"])
    assert round(costs.pair.reduction * 100) == example["reduction_percent"]
    assert costs.break_even == pytest.approx(749.15, abs=0.005)
    for row in book["embedding_table"]:
        pair = embedding_costs(row["V"], row["E"], row["H"]).pair
        assert pair.after == row["parameters"]
        assert round(pair.reduction * 100, 1) == row["reduction_percent"]


def test_break_even() -> None:
    """Below V·H / (V + H) a factorized embedding is smaller, above it larger."""
    costs = embedding_costs(6, 2, 3)
    assert costs.break_even == 2
    assert costs.pair.before == costs.pair.after
    assert embedding_costs(6, 1, 3).pair.reduction > 0 > embedding_costs(6, 3, 3).pair.reduction


def test_pairs() -> None:
    """A reduction is a fraction of the first, a ratio how many times the second it is."""
    assert (Pair(100, 25).reduction, Pair(100, 25).ratio) == (0.75, 4)
    assert (Pair(0, 0).reduction, Pair(0, 0).ratio) == (0, None)
    assert Pair(100, 125).reduction == -0.25
    assert Pair(10**20, 1).reduction < 1


SHARED: list[tuple[dict[str, Any], str, str]] = [
    ({"model_type": "bert"}, "none", "unshared layers"),
    ({"model_type": "bert"}, "attention", "shared attention"),
    ({"model_type": "bert"}, "ffn", "shared feed-forward"),
    ({"model_type": "bert"}, "all", "shared layers"),
    ({"model_type": "albert"}, "none", "unshared layers"),
    ({"model_type": "albert"}, "ffn", "shared feed-forward"),
    ({"model_type": "albert"}, "all", "shared layers"),
    ({"model_type": "albert", "num_hidden_groups": 2}, "ffn", "shared feed-forward in 2 groups"),
    ({"model_type": "albert", "num_hidden_groups": 2}, "all", "2 stored layers"),
    ({"model_type": "albert", "inner_group_num": 3}, "all", "3 stored layers"),
    ({"model_type": "albert", "num_hidden_groups": 12}, "all", "unshared layers"),
]
"""What of the layers is shared, and what that is called."""


def test_what_sharing_is_called() -> None:
    """The words are true of what is stored, in families that have groups and in others."""
    faults = Faults()
    for config, share, label in SHARED:
        model = blueprint(ModelConfig.from_dict(config, share), "model", "transformers")
        faults.expect((config, share), sharing_label(model), label)
    faults.none()
