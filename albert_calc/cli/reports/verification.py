"""What ``verify`` has to say of a checkpoint."""

from collections.abc import Iterable, Iterator
from itertools import chain, islice

from albert_calc.checkpoints.matching import Difference
from albert_calc.checkpoints.names import Found
from albert_calc.checkpoints.verification import Verification
from albert_calc.checkpoints.words import (
    difference_lines,
    formula,
    shape_formula,
    shape_text,
    subject,
)
from albert_calc.cli.shape import shape_line
from albert_calc.models.model import Model
from albert_calc.report import FALSE, Column, Report, Row, Section

_MOST_LINES = 10
_MOST_NAMED = 1_000


def verification_report(
    name: str,
    model: Model,
    result: Verification,
    notes: Iterable[str],
    *,
    whole: bool,
    format: str,
) -> Report:
    """The verdict on the checkpoint *name*, and what differs: in lines, or in rows for CSV.

    People get ten lines unless they want the *whole*.
    """
    facts = Section(
        columns=(
            Column("kind", "kind", "text"),
            Column("name", "name", "text"),
            Column("expected", "expected", "text"),
            Column("found", "found", "text"),
        ),
        rows=tuple(_rows(result, differences=format == "csv")),
        lines=(shape_line(model),),
    )
    sections: tuple[Section, ...] = (facts,)
    lines = difference_lines(result.match)
    if lines and format != "csv":
        sections = (_differences(lines, whole=whole), facts)
    return Report(
        sections,
        _facts(name, model, result),
        f"{name}: {result.summary}",
        status=0 if result.holds else FALSE,
        remarks=(*notes, *result.notes),
    )


def _differences(lines: list[str], *, whole: bool) -> Section:
    most = len(lines) if whole else _MOST_LINES
    shown = lines[:most]
    if len(lines) > most:
        shown.append(f"and {len(lines) - most:,} more lines; --all lists them")
    return Section((Column("difference", "differences", "text"),), tuple((s,) for s in shown))


def _rows(result: Verification, *, differences: bool) -> Iterator[Row]:
    yield "parameters", "", result.expected, result.stored
    for dtype, count in result.dtypes.items():
        yield "dtype", dtype, None, count
    for kind, several in (("buffer", result.buffers), ("stored twice", result.match.copies)):
        for one in several[:_MOST_LINES]:
            yield kind, one.name, None, shape_text(one.stored.shape)
        if len(several) > _MOST_LINES:
            yield kind, f"and {len(several) - _MOST_LINES:,} more", None, None
    for different in result.match.differences if differences else ():
        expected = None
        if different.symbols:
            expected = shape_formula(different.symbols, different.expected)
        yield different.kind, subject(different), expected, _found(different)


def _found(difference: Difference) -> str | None:
    shapes = {one.stored.shape for one in difference.found}
    return shape_text(shapes.pop()) if len(shapes) == 1 else None


def _facts(name: str, model: Model, result: Verification) -> dict[str, object]:
    agreed = result.match
    return {
        "model": name,
        "model_type": model.config.model_type,
        "head": result.head,
        "layout": result.layout,
        "verdict": result.verdict,
        "summary": result.summary,
        "expected": result.expected,
        "stored": result.stored,
        "difference": result.stored - result.expected,
        "dtypes": dict(result.dtypes),
        "buffers": _names(result.buffers),
        "stored_twice": _names(agreed.copies),
        "more": _names(agreed.more),
        "missing": _named(agreed.of("missing")),
        "missing_count": sum(d.size for d in agreed.of("missing")),
        "unexpected": _named(agreed.of("unexpected")),
        "shared": _named(agreed.of("shared")),
        "mismatched": [
            {
                "name": one.name,
                "expected": list(difference.expected),
                "formula": formula(difference.symbols),
                "found": list(one.stored.shape),
            }
            for difference, one in islice(_each(agreed.of("shape")), _MOST_NAMED)
        ],
        "notes": list(result.notes),
    }


def _names(found: Iterable[Found]) -> list[str]:
    return [one.name for one in islice(found, _MOST_NAMED)]


def _named(differences: Iterable[Difference]) -> list[str]:
    return list(islice(chain.from_iterable(d.names() for d in differences), _MOST_NAMED))


def _each(differences: Iterable[Difference]) -> Iterator[tuple[Difference, Found]]:
    return ((difference, one) for difference in differences for one in difference.found)
