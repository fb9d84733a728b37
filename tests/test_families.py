"""Every family against its classes in transformers: counts, FLOPs, keys, defaults and rules.

``families.json``, ``flops_families.json`` and ``config_keys.json`` come from the classes
themselves; the script that made each lies beside it.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

from support import Faults, oracle

from albert_calc import AlbertCalcError, ModelConfig, count_parameters
from albert_calc.algebra import Polynomial
from albert_calc.config.keys import GENERAL
from albert_calc.config.reading import read_mapping
from albert_calc.config.values import filled, holds
from albert_calc.costs.flops import count_flops
from albert_calc.counting.counts import Selection, count
from albert_calc.counting.tensors import blueprint, is_counted, tensor_table
from albert_calc.families import FAMILIES, HEADS, families, families_of_class, family
from albert_calc.families.base import Computed, Same, all_tensors
from albert_calc.families.sizes import SYMBOLS
from albert_calc.search.grid import Tally, broken_rules, grid_over
from albert_calc.search.sweep import Row, counted_rows

Keys = dict[str, Any]

CASES = {case["case"]: case for case in oracle("families")["cases"]}
FLOPS = oracle("flops_families")["cases"]
CLASSES = {case["model_type"]: case for case in oracle("config_keys")["cases"]}


def test_counts_of_the_real_classes() -> None:
    """Every head of every shape has exactly the parameters of the class in transformers."""
    faults = Faults()
    for name, case in CASES.items():
        config = ModelConfig.from_dict(case["config"])
        for head, total in case["totals"].items():
            faults.expect((name, head), count_parameters(config, head).total, total)
    faults.none()


def test_tensors_of_the_real_classes() -> None:
    """Every head of every shape has as many tensors, those without an element included."""
    faults = Faults()
    for name, case in CASES.items():
        config = ModelConfig.from_dict(case["config"])
        for head, number in case["tensors"].items():
            model = blueprint(config, head, "transformers")
            found = sum(
                Polynomial.product(*tensor.repeat).evaluate(model.values)
                for tensor in tensor_table(model.variant)
                if is_counted(tensor, model.variant.tied)
            )
            faults.expect((name, head), found, number)
    faults.none()


def test_parts_of_the_real_classes() -> None:
    """What is left without embedding tables, or without biases and norms, is that of the class."""
    selections: tuple[Selection, ...] = ("without_embeddings", "matrices")
    faults = Faults()
    for name, case in CASES.items():
        config = ModelConfig.from_dict(case["config"])
        for selection in selections:
            for head, total in case[selection].items():
                found = count(blueprint(config, head, "transformers"), selection).total
                faults.expect((name, selection, head), found, total)
    faults.none()


def test_flops_of_the_real_classes() -> None:
    """A forward pass has the FLOPs that torch measures on the class in transformers."""
    faults = Faults()
    for case in FLOPS:
        config = ModelConfig.from_dict(CASES[case["case"]]["config"])
        batch, length = case["batch"], case["sequence_length"]
        for head, flops in case["flops"].items():
            model = blueprint(config, head, "transformers")
            found = count_flops(model, batch, length).forward
            faults.expect((case["case"], head, batch, length), found, flops)
    faults.none()


def test_what_is_written_is_read_back() -> None:
    """The keys of a config, written and read again, give the same counts."""
    faults = Faults()
    for name, case in CASES.items():
        config = ModelConfig.from_dict(ModelConfig.from_dict(case["config"]).to_dict())
        for head, total in case["totals"].items():
            faults.expect((name, head), count_parameters(config, head).total, total)
    faults.none()


def test_every_head_is_measured() -> None:
    """No head is without a count and FLOPs from a real class; SqueezeBERT has no bare encoder."""
    heads = {(f.model_type, h) for f in families() for h in f.heads}
    types = {name: case["config"]["model_type"] for name, case in CASES.items()}
    counted = {(types[name], head) for name, case in CASES.items() for head in case["totals"]}
    measured = {(types[case["case"]], head) for case in FLOPS for head in case["flops"]}
    others = {(t, h) for t in ("albert", "bert") for h in family(t).heads}
    assert counted == heads - others
    assert counted - measured == {("squeezebert", "encoder")}


def test_every_key_that_counts_is_measured() -> None:
    """Each feature is there in one case and missing in another; each size and switch varies."""
    faults = Faults()
    for tables in families():
        if tables.model_type in ("albert", "bert"):
            continue
        configs = [
            ModelConfig.from_dict(case["config"])
            for case in CASES.values()
            if case["config"]["model_type"] == tables.model_type
        ]
        for name in tables.features:
            faults.expect((tables.model_type, name), {name in c.features for c in configs},
                          {True, False})  # fmt: skip
        for key in (*(s.key for s in tables.sizes), *(s.key for s in tables.switches)):
            faults.expect((tables.model_type, key), len({c.keys[key] for c in configs}) > 1, True)
    faults.none()


DEBERTA = {"embedding_size", "cls_dropout"}
SUMMARY = {"summary_type", "summary_use_proj", "summary_proj_to_labels", "summary_activation",
           "summary_first_dropout", "summary_last_dropout"}  # fmt: skip
ROTARY = {"head_dim", "rope_scaling", "rope_theta"}

READ_BESIDE: dict[str, set[str]] = {
    "electra": {"summary_proj_to_labels"},
    "deberta": {*DEBERTA, "talking_head"},
    "deberta-v2": {*DEBERTA, "attention_head_size", "share_att_key", "position_buckets",
                   "norm_rel_ebd", "conv_kernel_size", "conv_groups", "conv_act"},
    "roformer": SUMMARY,
    "modernbert": {*ROTARY, "global_attn_every_n_layers", "global_rope_theta", "local_rope_theta"},
    "nomic_bert": {*ROTARY, "tie_word_embeddings"},
}  # fmt: skip
"""The keys that a class reads although it does not hold them by default."""


def test_defaults_are_those_of_the_config_classes() -> None:
    """Every default in the tables is what the config class holds.

    ``None`` stands in the tables for what follows from other keys in a way that counts nothing.
    """
    faults = Faults()
    for tables in families():
        case = CLASSES[tables.model_type]
        held, beside = case["defaults"], READ_BESIDE.get(tables.model_type, set())
        faults.expect(tables.model_type, tables.config_class, case["config_class"])
        filled_in = ModelConfig.from_dict({"model_type": tables.model_type}).keys
        for key, default in tables.defaults.items():
            where = (tables.model_type, key)
            if key in held and isinstance(default, Same | Computed):
                faults.expect(where, filled_in[key], held[key])
            elif key in held and default is not None:
                faults.expect(where, default, held[key])
            elif key not in held:
                faults.expect(where, key in beside or key == "problem_type", True)
        for key in held:
            # A size that the tables lack would be read as the neutral one.
            if key in SYMBOLS:
                faults.expect((tables.model_type, key), key in tables.defaults, True)
    faults.none()


def test_no_key_of_a_class_is_warned_about() -> None:
    """A config with every key that its class holds is read without a warning of keys."""
    general = CLASSES[""]["defaults"]
    faults = Faults()
    for key in general:
        faults.expect(key, key in GENERAL, True)
    for model_type in FAMILIES:
        keys = {**general, **CLASSES[model_type]["defaults"], "model_type": model_type}
        faults.expect(model_type, read_mapping(keys).key_warnings, ())
    for name, case in CASES.items():
        faults.expect(name, read_mapping(case["config"]).key_warnings, ())
    faults.none()


LANGUAGE = ("LMHeadModel", "ForCausalLM")


def test_classes_stand_for_heads() -> None:
    """The name of a class in transformers gives its family and head, and no other family's."""
    faults = Faults()
    for model_type in FAMILIES:
        tables = family(model_type)
        for head, name in CLASSES[model_type]["classes"].items():
            faults.expect((model_type, head), name in tables.heads[head].classes, True)
            faults.expect(name, {t for t, _ in families_of_class(name)}, {model_type})
        names = {name for head in tables.heads.values() for name in head.classes}
        unknown = names - set(CLASSES[model_type]["classes"].values())
        # Configs of older versions may name either of these.
        faults.expect(model_type, {n for n in unknown if not n.endswith(LANGUAGE)}, set())
    faults.none()


class Case(NamedTuple):
    """A rule of a family: the size *key* may be of *good*, and breaks it if of *bad*.

    *beside* are keys beside the small sizes. A rule that is not *fatal* is told and counted.
    The message names *told*, which is *key* unless said otherwise.
    """

    model_type: str
    key: str
    good: Sequence[object]
    bad: Sequence[object]
    beside: Mapping[str, Any] = {}
    fatal: bool = True
    share: str | None = None
    head: str = "model"
    told: str = ""


SIZES: Keys = {
    "vocab_size": 9, "hidden_size": 8, "num_hidden_layers": 4, "num_attention_heads": 2,
    "intermediate_size": 24, "max_position_embeddings": 7,
}  # fmt: skip

DIVIDING = (
    "albert", "bert", "electra", "roberta", "xlm-roberta", "camembert", "distilbert", "mpnet",
    "deberta", "deberta-v2", "rembert", "roformer", "modernbert", "ernie", "xlm-roberta-xl",
    "megatron-bert", "roberta-prelayernorm", "squeezebert",
)  # fmt: skip
"""The families whose heads must divide H."""

RULES: tuple[Case, ...] = (
    *(Case(name, "num_attention_heads", (1, 2, 4), (3, 5, 16)) for name in DIVIDING),
    *(Case(name, "hidden_size", (4, 8, 12), (6, 10), {"num_attention_heads": 4})
      for name in DIVIDING if name != "squeezebert"),
    Case("albert", "inner_group_num", (1,), (2, 3), share="none"),
    Case("albert", "inner_group_num", (1,), (2, 3), share="ffn"),
    Case("albert", "inner_group_num", (1, 2), (3, 4), {"num_hidden_groups": 2}, False),
    Case("albert", "inner_group_num", (1, 2, 4), (5,), {}, False),
    Case("albert", "inner_group_num", (1,), (2,), {"num_hidden_groups": 4}, False),
    Case("albert", "num_hidden_groups", (1, 3, 4), (5, 9), {}, False),
    Case("albert", "num_hidden_layers", (3, 4), (1, 2), {"num_hidden_groups": 3}, False),
    Case("albert", "num_hidden_groups", (1, 4, 5, 9), (), share="none"),
    Case("mpnet", "vocab_size", (2, 3), (1,)),
    Case("mpnet", "max_position_embeddings", (2, 3), (1,)),
    Case("mpnet", "relative_attention_num_buckets", (32, 33), (1, 31), {}, False),
    Case("deberta", "pooler_hidden_size", (8,), (7, 9), {}, False),
    Case("deberta", "embedding_size", (8,), (4, 9), {"legacy": False}, False),
    Case("deberta", "embedding_size", (4, 8, 9), (), {"legacy": True}),
    Case("deberta-v2", "pooler_hidden_size", (8,), (7, 9), {}, False),
    Case("deberta-v2", "embedding_size", (8,), (4, 9), {"legacy": False}, False),
    Case("deberta-v2", "conv_groups", (1, 2, 8), (3, 16), {"conv_kernel_size": 3}),
    Case("deberta-v2", "conv_groups", (1, 3, 16), (), {"conv_kernel_size": 0}),
    Case("deberta-v2", "hidden_size", (6, 12), (4, 8), {"conv_kernel_size": 3, "conv_groups": 3}),
    Case("deberta-v2", "conv_kernel_size", (0, 1, 3), (2, 4), {}, False),
    Case("deberta-v2", "attention_head_size", (4,), (3, 8), {}, False),
    Case("deberta-v2", "num_attention_heads", (2,), (1, 4), {"attention_head_size": 4}, False),
    Case("mobilebert", "num_attention_heads", (1, 3, 4, 12), (5, 8), {"intra_bottleneck_size": 12}),
    Case("mobilebert", "intra_bottleneck_size", (6, 12), (8, 10), {"num_attention_heads": 3}),
    Case("mobilebert", "num_attention_heads", (1, 2, 8), (3, 12), {"use_bottleneck": False}),
    Case("mobilebert", "hidden_size", (4, 12), (6, 10),
         {"use_bottleneck": False, "num_attention_heads": 4}),
    Case("mobilebert", "hidden_size", (8,), (4, 12),
         {"intra_bottleneck_size": 8, "key_query_shared_bottleneck": False}, False),
    Case("mobilebert", "key_query_shared_bottleneck", (True,), (False,), {}, False),
    Case("mobilebert", "key_query_shared_bottleneck", (True, False), (),
         {"use_bottleneck_attention": True}, False),
    Case("mobilebert", "embedding_size", (1, 8), (9, 128), head="masked-lm"),
    Case("mobilebert", "embedding_size", (1, 8), (9, 128), head="pretraining"),
    Case("mobilebert", "embedding_size", (1, 8, 9), ()),
    Case("modernbert", "num_attention_heads", (1, 2, 4), (8,), {}, False),
    Case("modernbert", "hidden_size", (4, 8), (2, 6), {}, False),
    Case("nomic_bert", "num_attention_heads", (1, 2, 4), (3, 17), {"hidden_size": 16},
         told="head_dim"),
    Case("nomic_bert", "num_attention_heads", (2, 4), (8,), {}, False, told="head_dim"),
    Case("nomic_bert", "hidden_size", (4, 8, 9), (10, 11, 14, 1), told="head_dim"),
    Case("nomic_bert", "head_dim", (1, 2, 3, 4, 6), (5, 7)),
    Case("nomic_bert", "head_dim", (2, 4, 6), (1, 3), {}, False),
    Case("rembert", "tie_word_embeddings", (False,), (True,), {}, False),
    Case("roformer", "num_attention_heads", (1, 2, 4), (8,), {}, False),
    Case("roformer", "hidden_size", (4, 8), (2, 6), {}, False),
    Case("distilbert", "num_labels", (2,), (1, 3), head="question-answering"),
    Case("distilbert", "num_labels", (1, 2, 3), (), head="token-classification"),
    Case("squeezebert", "embedding_size", (8,), (4, 16)),
    Case("squeezebert", "hidden_size", (8,), (4, 16)),
    Case("squeezebert", "q_groups", (1, 2, 8), (3, 16)),
    Case("squeezebert", "k_groups", (1, 2, 8), (3, 16)),
    Case("squeezebert", "v_groups", (1, 2, 8), (3, 16)),
    Case("squeezebert", "post_attention_groups", (1, 2, 8), (3, 16)),
    Case("squeezebert", "intermediate_groups", (1, 4, 8), (3, 6, 16)),
    Case("squeezebert", "intermediate_groups", (1, 2), (4,), {"intermediate_size": 6}),
    Case("squeezebert", "output_groups", (1, 4, 8), (3, 6, 16)),
    Case("squeezebert", "output_groups", (1, 2), (4,), {"intermediate_size": 6}),
    Case("squeezebert", "intermediate_size", (8, 12), (6, 7)),
)  # fmt: skip
"""What the rules of each family ask, each written out once more."""


OWN: dict[str, Keys] = {
    "squeezebert": {"embedding_size": 8},
    "mobilebert": {"intra_bottleneck_size": 12, "embedding_size": 4},
}
"""What the small sizes of a family are beside the usual ones."""


def keys_of(case: Case, *values: object) -> Keys:
    """A small config of the family, with one of *values* for the key of *case*."""
    keys = {**SIZES, **OWN.get(case.model_type, {}), **case.beside}
    keys.update((case.key, value) for value in values)
    return {"model_type": case.model_type, **as_written(case.model_type, keys)}


def as_written(model_type: str, keys: Keys) -> Keys:
    """*keys* under the names that the family has for them."""
    return {family(model_type).name_of(key): value for key, value in keys.items()}


def about(case: Case, problems: Iterable[str]) -> bool:
    """Whether one of *problems* names what *case* is about."""
    name = family(case.model_type).name_of(case.told or case.key)
    return any(name in problem for problem in problems)


def test_every_rule_is_tried() -> None:
    """No rule of any family is without a case that breaks it."""
    faults = Faults()
    for tables in families():
        broken = []
        for case in RULES:
            if case.model_type == tables.model_type:
                for value in case.bad:
                    given = {**SIZES, **OWN.get(case.model_type, {}), **case.beside}
                    broken.append({**given, case.key: value, "share": case.share})
        for rule in (*tables.rules, *(r for h in tables.heads.values() for r in h.rules)):
            tried = any(not holds(rule, filled(tables, given)) for given in broken)
            faults.expect((tables.model_type, rule.must), tried, True)
    faults.none()


def test_rules_among_the_sizes_of_one_config() -> None:
    """What breaks a rule is refused by name, or counted with a warning; the rest is silent."""
    faults = Faults()
    for case in RULES:
        for value in (*case.good, *case.bad):
            where = (*case[:2], value, *case[4:])
            reading = None
            problems: tuple[str, ...] = ()
            try:
                reading = read_mapping(keys_of(case, value), share=case.share)
                count_parameters(reading.config, case.head)
            except AlbertCalcError as error:
                problems = error.problems
            faults.expect(where, about(case, problems), value in case.bad and case.fatal)
            if reading is not None and not case.fatal:
                faults.expect(where, about(case, reading.oddities), value in case.bad)
    faults.none()


def swept(case: Case, base: Keys, sizes: Mapping[str, Collection[int]]) -> tuple[list[Row], Tally]:
    """The rows of a grid over *sizes*, and what was told of it."""
    config = ModelConfig.from_dict(base, case.share)
    grid = grid_over(config, sizes, shares=(config.share or "",), heads=(case.head,))
    tally: Tally = Counter()
    rows = [row for piece in counted_rows(grid, tuple(sizes), tally) for row in piece]
    assert broken_rules(grid) == tally
    return rows, tally


def test_rules_among_the_sizes_of_a_grid() -> None:
    """A grid keeps the same rules, whether the size varies fastest or another one does."""
    faults = Faults()
    for case in RULES:
        where = (*case[:2], *case[4:])
        if case.key not in SYMBOLS:
            # Only a size can vary; what only makes a model odd is told of every combination.
            for value in () if case.fatal else (*case.good, *case.bad):
                rows, tally = swept(case, keys_of(case, value), {"vocab_size": (9, 10, 11)})
                told = sum(n for (text, _), n in tally.items() if about(case, [text]))
                faults.expect((*where, value), (len(rows), told), (3, 3 * (value in case.bad)))
            continue
        values = [v for v in (*case.good, *case.bad) if isinstance(v, int)]
        kept = [v for v in values if v in case.good or not case.fatal]
        for labels in ((2,), (2,) if case.head == "question-answering" else (2, 3)):
            sizes: dict[str, Sequence[int]] = {case.key: values}
            if case.key != "num_labels":
                sizes["num_labels"] = labels
            rows, tally = swept(case, keys_of(case, case.good[0]), sizes)
            wanted = kept if case.key == "num_labels" else [*product(kept, labels)]
            found = [row[0] for row in rows] if case.key == "num_labels" else rows
            faults.expect((*where, labels), found, wanted)
            told = sum(
                n for (text, fatal), n in tally.items()
                if fatal == case.fatal and about(case, [text])
            )  # fmt: skip
            faults.expect((*where, labels, "told"), told, len(case.bad) * len(labels))
    faults.none()


def test_groups_of_convolutions_in_a_grid() -> None:
    """SqueezeBERT's groups must divide H, and those of the feed-forward block also I."""
    one = dict.fromkeys(("q_groups", "k_groups", "v_groups", "post_attention_groups",
                         "intermediate_groups", "output_groups"), 1)  # fmt: skip
    faults = Faults()
    for key in one:
        case = Case("squeezebert", key, (), (), {**one, key: 8})
        widths = {"hidden_size": (4, 8, 12, 16), "embedding_size": (4, 8, 12, 16)}
        rows, _ = swept(case, keys_of(case), widths)
        faults.expect(key, rows, [(8, 8), (16, 16)])
        if key in ("intermediate_groups", "output_groups"):
            rows, _ = swept(case, keys_of(case), {"intermediate_size": (8, 12, 24, 4)})
            faults.expect(key, rows, [(8,), (24,)])
    faults.none()


STATED: list[tuple[str, Keys, str]] = [
    ("mobilebert", {"true_hidden_size": 12}, ""),
    ("mobilebert", {"true_hidden_size": 8}, "true_hidden_size: must be intra_bottleneck_size"),
    ("mobilebert", {"true_hidden_size": 8, "use_bottleneck": False}, ""),
    ("mobilebert", {"true_hidden_size": 12, "use_bottleneck": False}, "true_hidden_size: must"),
    ("modernbert", {"layer_types": ["full_attention", "sliding_attention"] * 2}, ""),
    ("modernbert", {"layer_types": ["full_attention"] * 3}, "layer_types: must be a list of full"),
    ("modernbert", {"layer_types": ["causal"] * 4}, "layer_types: must be a list of full"),
    ("modernbert", {"layer_types": 5}, "layer_types: must be a list of full"),
    ("modernbert", {"global_attn_every_n_layers": 2}, ""),
    ("modernbert", {"global_attn_every_n_layers": 0}, "global_attn_every_n_layers: must be a"),
    ("modernbert", {"global_attn_every_n_layers": 1}, ""),
    *(("modernbert", {"head_dim": width}, "") for width in (1, 2, 3, 4, 6, 8)),
    *(("modernbert", {"head_dim": width}, "head_dim: must be an even number")
      for width in (-1, 5, 7)),
]  # fmt: skip
"""What files state of their own sizes in keys that count nothing, and what is said to it."""


def test_what_a_file_states_of_its_sizes() -> None:
    """A file that contradicts itself is refused as its class refuses it; options are not."""
    faults = Faults()
    for model_type, change, problem in STATED:
        case = Case(model_type, "", (), (), change)
        try:
            read_mapping(keys_of(case))
            faults.expect((model_type, change), "", problem)
        except AlbertCalcError as error:
            (found,) = error.problems
            faults.expect((model_type, change), found[: len(problem) or None], problem)
    deeper = Case("modernbert", "", (), (), {"layer_types": ["full_attention"] * 4})
    assert read_mapping(keys_of(deeper), {"num_hidden_layers": 5}).config.num_hidden_layers == 5
    faults.none()


EDGES: tuple[tuple[str, Keys, int], ...] = (
    ("deberta", {"relative_attention": True, "max_relative_positions": -1}, 3168),
    ("deberta", {"relative_attention": True, "max_relative_positions": 0}, 3168),
    ("deberta", {"relative_attention": True, "max_relative_positions": 1}, 3072),
    ("deberta", {"relative_attention": True, "max_relative_positions": 2}, 3088),
    ("deberta-v2", {"relative_attention": True, "max_relative_positions": -1}, 3200),
    ("deberta-v2", {"relative_attention": True, "max_relative_positions": 0}, 3200),
    ("deberta-v2", {"relative_attention": True, "max_relative_positions": 1}, 3104),
    *(("deberta-v2", {"relative_attention": True, "max_relative_positions": 3,
                      "position_buckets": buckets}, total)
      for buckets, total in ((-1, 3136), (0, 3136), (1, 3104), (2, 3120))),
    ("ernie", {"use_task_id": True, "task_type_vocab_size": 0}, 3176),
    ("ernie", {"use_task_id": True, "task_type_vocab_size": 1}, 3184),
)  # fmt: skip
"""Values at which a key begins to ask for something; totals of transformers 5.24's classes."""


def test_values_at_which_a_key_begins_to_count() -> None:
    """The last value that asks for nothing, and the first one that asks for something."""
    faults = Faults()
    for model_type, keys, total in EDGES:
        config = ModelConfig.from_dict({**SIZES, "model_type": model_type, **keys})
        faults.expect((model_type, keys), count_parameters(config).total, total)
    faults.none()


def test_tied_matrices_are_as_large_as_the_tables() -> None:
    """What is tied to a tensor has its shape, whatever of the techniques is applied."""
    faults = Faults()
    for tables in families():
        shapes = {t.name: t.shape for t in all_tensors(tables) if not t.tied_to}
        for tensor in all_tensors(tables):
            if tensor.tied_to in shapes:
                where = (tables.model_type, tensor.name)
                faults.expect(where, tensor.shape, shapes[tensor.tied_to])
    faults.none()


def test_a_head_has_the_pooler_only_where_there_is_one() -> None:
    """In a family without a pooler no head says that it stands on it."""
    faults = Faults()
    for tables in families():
        for name, head in tables.heads.items():
            faults.expect((tables.model_type, name), head.pooler and not tables.pooler, False)
    faults.none()


def test_every_head_is_listed() -> None:
    """``HEADS`` names the heads of all families, and no other."""
    assert set(HEADS) == {head for tables in families() for head in tables.heads}
    assert len(HEADS) == len(set(HEADS))
