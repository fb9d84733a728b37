"""``albert-calc presets``: every preset with its shape, count and source."""

from albert_calc.cli.command import command
from albert_calc.cli.options import format_option
from albert_calc.cli.output import emit
from albert_calc.counts import count_parameters
from albert_calc.presets import Preset, Published, load_preset, preset_names
from albert_calc.quantity import parse_quantity
from albert_calc.report import Cell, Column, Report, Section


@command()
@format_option
def presets(format: str) -> None:
    """List every preset with its shape, count and source.

    Counts are of the base model with its pooler, as transformers builds it.

    \b
    Example:
      albert-calc presets
    """
    found = [load_preset(name) for name in preset_names()]
    section = Section(
        title="Presets",
        columns=(
            Column("preset", "preset", "text"),
            Column("model_type", "type", "text"),
            Column("vocab_size", "V", "count"),
            Column("embedding_size", "E", "count"),
            Column("hidden_size", "H", "count"),
            Column("num_hidden_layers", "L", "count"),
            Column("intermediate_size", "I", "count"),
            Column("num_attention_heads", "A", "count"),
            Column("parameters", "parameters", "count"),
            Column("published", "printed (exact − printed)", "text"),
            Column("source", "source", "text"),
        ),
        rows=tuple(_row(p) for p in found),
    )
    emit(Report((section,), [_data(p) for p in found]), format)


def _row(preset: Preset) -> tuple[Cell, ...]:
    config = preset.config
    total = count_parameters(config).total
    return (
        preset.name, config.model_type, config.vocab_size, config.to_dict().get("embedding_size"),
        config.hidden_size, config.num_hidden_layers, config.intermediate_size,
        config.num_attention_heads, total,
        "; ".join(_printed(p, total) for p in preset.published), preset.source,
    )  # fmt: skip


def _printed(published: Published, total: int) -> str:
    note = f", {published.note}" if published.note else ""
    difference = total - parse_quantity(published.figure)
    return f"{published.figure}, {published.by}{note} ({difference:+,})"


def _data(preset: Preset) -> dict[str, object]:
    total = count_parameters(preset.config).total
    return {
        "preset": preset.name,
        "config": preset.config.to_dict(),
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
