"""``albert-calc presets``: the models that are known by name."""

from albert_calc.cli.asked import Asked
from albert_calc.cli.command import argument, option, plain_command
from albert_calc.config.presets import Preset, all_presets
from albert_calc.config.reading import read_mapping
from albert_calc.counting.counts import count_parameters
from albert_calc.errors import AlbertCalcError
from albert_calc.families import FAMILIES
from albert_calc.report import Column, Report, Row, Section
from albert_calc.writing.harmless import shown
from albert_calc.writing.quantity import parse_quantity

_WIDEST = 100

_SYMBOLS = (
    ("vocab_size", "V"),
    ("embedding_size", "E"),
    ("hidden_size", "H"),
    ("num_hidden_layers", "L"),
    ("num_attention_heads", "A"),
)


@plain_command("presets")
@argument("names", nargs=-1, metavar="[NAME]...")
@option("--long", is_flag=True, help="Add what was printed of each, its hub id, and its source.")
def command(_: Asked, *, names: tuple[str, ...], long: bool) -> Report:
    """List the models that are known by name, with their exact counts.

    With NAMEs, only models whose name contains one of them, or that are of such a type. The
    count is that of the bare model, its pooler included.

    \b
    Examples:
      albert-calc presets
      albert-calc presets albert xxlarge
      albert-calc presets modernbert --long
      albert-calc presets | grep albert-xxlarge-v2
    """
    every = list(all_presets())
    unknown = [shown(n) for n in names if not any(_fits(p, n) for p in every)]
    if unknown:
        raise AlbertCalcError(f"name: no preset has such a name or type, got {', '.join(unknown)}")
    found = [p for p in every if not names or any(_fits(p, n) for n in names)]
    section = Section(
        columns=(
            Column("preset", "name", "text"),
            Column("model_type", "type", "text"),
            *(Column(key, symbol, "count") for key, symbol in _SYMBOLS),
            Column("parameters", "parameters", "count"),
            Column("published", "printed", "text", "" if long else "machines"),
            Column("hub", "hub id", "text", "" if long else "machines"),
            Column("source", "source", "text", "" if long else "machines"),
        ),
        rows=tuple(map(_row, found)),
    )
    return Report(
        (section,), headline=f"{len(found)} models", items=tuple(map(_item, found)),
        widest=None if long else _WIDEST,
    )  # fmt: skip


def _fits(preset: Preset, name: str) -> bool:
    lower = name.lower()
    if lower in FAMILIES:
        # bert is a part of most names.
        model_type: str = preset.content["model_type"]
        return model_type == lower or model_type.startswith(f"{lower}-")
    return lower in preset.name or lower in preset.hub.lower() or lower in preset.aliases


def _row(preset: Preset) -> Row:
    config = read_mapping(preset.content).config
    own = config.family.has
    printed = "; ".join(
        f"{p.figure} ({p.by}{': ' + p.note if p.note else ''})" for p in preset.published
    )
    return (
        preset.name,
        config.model_type,
        *(getattr(config, key) if own(key) else None for key, _ in _SYMBOLS),
        count_parameters(config).total,
        printed,
        preset.hub,
        preset.source,
    )


def _item(preset: Preset) -> dict[str, object]:
    """A preset as JSON carries it; a difference is the exact count minus the printed one."""
    config = read_mapping(preset.content).config
    total = count_parameters(config).total
    return {
        "preset": preset.name,
        "hub": preset.hub or None,
        "aliases": list(preset.aliases),
        "config": config.to_dict(),
        "parameters": total,
        "published": [
            {
                "figure": p.figure,
                "by": p.by,
                "difference": total - parse_quantity(p.figure),
                "note": p.note or None,
            }
            for p in preset.published
        ],
        "source": preset.source,
    }
