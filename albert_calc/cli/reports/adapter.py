"""What ``verify`` has to say of an adapter of PEFT."""

from collections.abc import Iterator, Sequence

from albert_calc.checkpoints.adapters import Adapter, Base
from albert_calc.families import family
from albert_calc.models.model import Model
from albert_calc.report import FALSE, Column, Report, Section

_MOST_NAMED = 8


def adapter_report(
    name: str, adapter: Adapter, base: Model | None, problems: Sequence[str]
) -> Report:
    """What the adapter *name* is, its parameters, and whether it belongs on *base*."""
    rank = f", rank {adapter.rank}" if adapter.rank is not None else ""
    headline = f"{name}: an adapter of PEFT ({adapter.kind or 'of no kind'}{rank})"
    headline += f" for {adapter.base}" if adapter.base else ", and it does not say for which base"
    lines = [f"targets: {', '.join(adapter.targets)}"] if adapter.targets else []
    lines += _fits(adapter)
    if base is not None:
        answer = f"does not belong on {base.name}:" if problems else f"belongs on {base.name}"
        lines = [f"it {answer}", *problems, *lines]
    if adapter.faults:
        lines = ["it is not what its config says:", *adapter.faults, *lines]
    return Report(
        (
            Section(
                columns=(
                    Column("name", "part", "text"),
                    Column("parameters", "parameters", "count"),
                ),
                rows=tuple(adapter.parts.items()),
                key="parts",
                total=("total", adapter.parameters),
                lines=tuple(lines),
            ),
        ),
        {
            "model": name,
            "peft_type": adapter.kind,
            "base": adapter.base,
            "rank": adapter.rank,
            "targets": list(adapter.targets),
            "parameters": adapter.parameters,
            "dtypes": dict(adapter.dtypes),
            "parts": (),
            "bases": [{"model_type": b.model_type or None, **_sizes(b)} for b in adapter.bases],
            "presets": list(adapter.presets),
            "problems": [*adapter.faults, *problems],
        },
        headline,
        status=FALSE if problems or adapter.faults else 0,
        remarks=adapter.notes,
    )


def _fits(adapter: Adapter) -> Iterator[str]:
    for base in adapter.bases:
        sizes = ", ".join(f"{key} {value}" for key, value in _sizes(base).items())
        yield f"fits {base.model_type or 'any model'} with {sizes}"
    if adapter.presets:
        named, more = adapter.presets[:_MOST_NAMED], len(adapter.presets) - _MOST_NAMED
        others = f" and {more} more" if more > 0 else ""
        yield f"of these sizes: {', '.join(named)}{others}"
    elif adapter.bases:
        yield "no preset has these sizes"
    else:
        yield "its modules are those of no known family"


def _sizes(base: Base) -> dict[str, int]:
    if not base.model_type:
        return dict(base.sizes)
    tables = family(base.model_type)
    return {tables.name_of(key): value for key, value in base.sizes.items()}
