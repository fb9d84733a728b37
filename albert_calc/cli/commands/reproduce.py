"""``albert-calc reproduce``: printed figures beside the computed ones."""

from importlib import import_module
from itertools import groupby

from albert_calc.cli.asked import Asked
from albert_calc.cli.command import argument, plain_command
from albert_calc.cli.options import one_of
from albert_calc.printed import SOURCES
from albert_calc.printed.figure import Figure
from albert_calc.report import FALSE, Column, Report, Row, Section


@plain_command("reproduce")
@argument("source", type=one_of(SOURCES))
def command(_: Asked, *, source: str) -> Report:
    """Show printed figures beside the true ones.

    Each is exact, rounds to what is printed, or differs from it. Exits with 1 if a verdict
    is not the expected one.

    \b
    Examples:
      albert-calc reproduce handbook
      albert-calc reproduce paper -f markdown
      albert-calc reproduce gpu
    """
    module = import_module(f"albert_calc.printed.{source}")
    figures: list[Figure] = list(module.figures())
    surprising = [f for f in figures if f.expected and f.verdict != f.expected]
    groups = {}
    for where, together in groupby(enumerate(figures), lambda pair: pair[1].where):
        rows = list(together)
        alike = {figure.convention for _, figure in rows}
        groups[rows[0][0]] = (where, alike.pop() if len(alike) == 1 else "")
    said = all(convention for _, convention in groups.values())
    section = Section(
        columns=(
            Column("where", "where", "text", "machines"),
            Column("what", "figure", "text"),
            Column("printed", "printed", "count", "people"),
            Column("computed", "computed", "count", "people"),
            Column("verdict", "verdict", "text", "people"),
            Column("printed", "printed", "number", "machines"),
            Column("computed", "computed", "number", "machines"),
            Column("unit", "unit", "text", "machines"),
            Column("verdict", "verdict", "text", "machines"),
            Column("difference", "difference", "difference", "machines"),
            Column("convention", "counted", "text", "machines" if said else ""),
        ),
        rows=tuple(map(_row, figures)),
        groups={
            index: f"{where}: {convention}" if said else where
            for index, (where, convention) in groups.items()
        },
    )
    return Report(
        (section,),
        headline=f"{module.TITLE}\n{_summary(figures)}",
        items=tuple(map(_item, figures)),
        status=FALSE if surprising else 0,
        remarks=tuple(f"{f.where}, {f.what}: {f.note}" for f in figures if f.note),
        warnings=tuple(
            f"{f.where}, {f.what}: expected '{f.expected}', is '{f.verdict}'" for f in surprising
        ),
    )


def _summary(figures: list[Figure]) -> str:
    verdicts: list[str] = [f.verdict for f in figures]
    words = {
        "exact": "exact",
        "rounds to": "round to what is printed",
        "within 5%": "within 5%",
        "differs by": "differ",
    }
    told = [f"{n} {text}" for verdict, text in words.items() if (n := verdicts.count(verdict))]
    return f"{len(figures)} figures: {', '.join(told)}"


def _row(f: Figure) -> Row:
    shown = (f.printed_text, f.computed_text, _verdict(f))
    return (f.where, f.what, *shown, *f.plain, f.verdict, f.difference, f.convention)


def _verdict(figure: Figure) -> str:
    if figure.verdict == "rounds to":
        return "rounds to what is printed"
    if figure.unit == "thousand bytes":
        off = (figure.difference or 0) / (figure.printed * 1000)
        return f"{'within' if figure.verdict == 'within 5%' else 'differs by'} {abs(off):.1%}"
    if figure.verdict != "differs by" or figure.difference is None:
        return figure.verdict
    return f"differs by {figure.difference:+,}"


def _item(figure: Figure) -> dict[str, object]:
    return {
        "where": figure.where,
        "figure": figure.what,
        "printed": figure.printed_text,
        "computed": figure.value,
        "convention": figure.convention,
        "verdict": figure.verdict,
        "difference": figure.difference,
        "expected_verdict": figure.expected,
        "note": figure.note or None,
    }
