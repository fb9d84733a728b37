"""The figures of the Language AI Handbook's ALBERT chapter.

The chapter's sections are Factorized Embedding Parameterization and Cross-Layer Parameter Sharing.
"""

from collections.abc import Iterator

from albert_calc.config.model_config import ModelConfig
from albert_calc.counting.comparison import Comparison, Pair, compare
from albert_calc.counting.counts import count_parameters
from albert_calc.counting.priced import LayerCosts, embedding_costs, layer_costs
from albert_calc.counting.tensors import blueprint
from albert_calc.printed.figure import Figure

TITLE = "Language AI Handbook, ALBERT chapter"

# model, preset, E (None: the preset's), parameters, reduction in tenths of a percent
_TABLE = (
    ("BERT-Base (baseline)", "base", 768, 24_030_720, -25),
    ("ALBERT-Base", "base", None, 4_005_120, 829),
    ("ALBERT-Large", "large", None, 4_037_888, 871),
    ("ALBERT-xLarge", "xlarge", None, 4_168_960, 933),
    ("ALBERT-xxLarge", "xxlarge", None, 4_431_104, 965),
)


def figures() -> Iterator[Figure]:
    """Every printed figure beside the computed one."""
    yield from _example()
    yield from _table()
    yield from _encoder()


def _example() -> Iterator[Figure]:
    costs = embedding_costs(30_522, 128, 768)
    where = "embedding example"
    for what, printed, computed, formula in (
        ("standard", 23_440_896, costs.pair.before, "V × H"),
        ("token matrix", 3_906_816, costs.token_table, "V × E"),
        ("projection", 98_304, costs.projection, "E × H"),
        ("factorized", 4_005_120, costs.pair.after, "V × E + E × H"),
    ):
        yield Figure(where, what, printed, "parameters", computed, formula, "exact")
    yield Figure(
        where, "reduction", 83, "percent", costs.pair, "V × E + E × H against V × H", "rounds to"
    )


def _table() -> Iterator[Figure]:
    where = "embedding table"
    for model, preset, size, parameters, tenths in _TABLE:
        shape = ModelConfig.from_preset(preset)
        costs = embedding_costs(
            shape.vocab_size, size or shape.symbols["E"], shape.hidden_size
        ).pair
        formula = "V × E + E × H"
        yield Figure(where, model, parameters, "parameters", costs.after, formula, "exact")
        yield Figure(
            where, f"{model}, reduction", tenths, "tenths of a percent", costs,
            f"{formula} against V × H", "rounds to",
        )  # fmt: skip
    widest = ModelConfig.from_preset("xxlarge").symbols
    standard = embedding_costs(widest["V"], widest["E"], widest["H"]).pair.before
    what = "ALBERT-xxLarge, standard"
    yield Figure(where, what, 125_018_112, "parameters", standard, "V × H", "exact")
    yield Figure(where, what, 125, "millions", standard, "V × H", "rounds to")


def _encoder() -> Iterator[Figure]:
    where, layout = "encoder", "handbook"
    base = ModelConfig.from_preset("base")
    albert = count_parameters(base, layout=layout)
    book, layers = _compared(base, layout), _layers(base)
    for what, printed, computed, convention in (
        ("BERT-Base", 109_482_240, book.total.before, "layout handbook: with pooler"),
        ("ALBERT-Base", 11_161_088, albert.total, "layout handbook: no pooler"),
        ("embeddings and projection", 4_073_216, albert.of_part("embeddings"), "layout handbook"),
        ("shared layer", 7_087_872, layers.per_layer, "attention and feed-forward, once"),
        ("BERT layers", 85_054_464, layers.pair.before, "L layers"),
    ):
        yield Figure(where, what, printed, "parameters", computed, convention, "exact")
    yield Figure(where, "BERT layers", 85, "millions", layers.pair.before, "L layers", "rounds to")
    yield Figure(
        where, "reduction of the layers", 12, "times", layers.pair, "L layers against one", "exact"
    )
    yield Figure(
        where, "reduction", 898, "tenths of a percent", book.total, "layout handbook",
        "rounds to", _like_for_like(),
    )  # fmt: skip


def _compared(config: ModelConfig, layout: str) -> Comparison:
    return compare(blueprint(config, "model", layout))


def _layers(config: ModelConfig) -> LayerCosts:
    return layer_costs(blueprint(config, "model", "transformers"))


def _like_for_like() -> str:
    base = ModelConfig.from_preset("base")
    both = _compared(base, "transformers").total.reduction
    bare = _compared(base, "handbook")
    encoders = Pair(
        *(b.total - b.rows.get("pooler", 0) for b in (bare.bert_style, bare.albert_style))
    )
    return (
        "BERT-Base is counted with its pooler and ALBERT-Base without; like for like it is"
        f" {both * 100:.1f}% with both poolers (layout transformers) and"
        f" {encoders.reduction * 100:.1f}% with neither"
    )
