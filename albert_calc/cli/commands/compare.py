"""``albert-calc compare``: a model against the techniques, or models side by side."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from albert_calc.cli.asked import Asked
from albert_calc.cli.command import model_command, option
from albert_calc.cli.options import BATCH_HEADING, refuse_beside, refuse_without, typed, under
from albert_calc.cli.reports.techniques import ablation_report, compared, techniques_report
from albert_calc.cli.workload import workload_of, workload_options
from albert_calc.costs.workload import Workload
from albert_calc.errors import Problems
from albert_calc.models.model import Model
from albert_calc.report import Report

if TYPE_CHECKING:
    from albert_calc.pictures.picture import Picture


@model_command("compare", "any", picture="--chart")
@option("--ablation", is_flag=True, help="Show all four combinations of both techniques.")
@option("--chart", is_flag=True, help="Draw what is compared as bars, on a common scale.")
@option("--cost", is_flag=True, help="Add what each costs in memory and FLOPs.")
@workload_options
def command(
    asked: Asked, *, ablation: bool, chart: bool, cost: bool, **options: Any
) -> "Report | Picture":
    """Compare a model with what ALBERT's techniques make of it, or several models.

    One model is shown as it is, and with the techniques that it lacks: a factorized
    embedding, shared layers, both. Two or more stand side by side: the sizes that differ, and
    what each component gained or lost. Without a model: a row for each of BERT-Base and
    ALBERT-Base to ALBERT-xxLarge.

    \b
    Examples:
      albert-calc compare xxlarge
      albert-calc compare bert-base-uncased albert-xxlarge-v2
      albert-calc compare old/config.json new/config.json
      git show main:config.json | albert-calc compare - config.json
      albert-calc compare bert-base-uncased -E 64 --share ffn
      albert-calc compare base large --ablation
      albert-calc compare base --cost -B 32 -S 128
      albert-calc compare --chart --save compare.svg
      albert-calc compare xxlarge --save page.html
    """
    refuse_without("cost", under(BATCH_HEADING))
    refuse_beside(("ablation",), ("chart", "cost"))
    # A page has the tables too.
    drawn = chart or (asked.save is not None and not asked.save.lower().endswith(".html"))
    if drawn:
        refuse_beside(("chart", "save"), ("cost",))
    problems = Problems()
    workload, models, several = None, [], False
    if cost:
        with problems.collected():
            workload = workload_of(options)
    with problems.collected():
        several = len(asked.found) > 1 and not ablation
        if several:
            asked.check()
        else:
            models = compared(asked)
    problems.raise_any()
    if several:
        from albert_calc.cli.reports.several import several_report

        result = several_report(asked, drawn=drawn, workload=workload)
        return _with_cost_notes(result, asked.models, workload)
    if models:
        report = ablation_report(models) if ablation else techniques_report(models[0], workload)
    elif needing := typed("head", "share", "strict"):
        raise click.UsageError(f"{needing[0]} needs a MODEL: give one")
    else:
        from albert_calc.cli.reports.chapter import chapter_models, chapter_report

        models = chapter_models(asked.request.layout)
        report = ablation_report(models) if ablation else chapter_report(models, workload)
    if ablation or (asked.save is None and not drawn):
        return _with_cost_notes(report, [m.model for m in models], workload)
    from albert_calc.pictures.charts import comparison_chart

    picture = comparison_chart([(m.title, m.comparison) for m in models])
    if drawn:
        return picture
    return _with_cost_notes(report._replace(picture=picture), [m.model for m in models], workload)


def _with_cost_notes(
    result: "Report | Picture", models: Sequence[Model], workload: Workload | None
) -> "Report | Picture":
    """*result* with what is to be said of the costs in it, if there are any."""
    if workload is None or not isinstance(result, Report):
        return result
    from albert_calc.cli.reports.cost_notes import batch_warnings, cost_notes
    from albert_calc.cli.reports.costed import costs_of

    notes = cost_notes(costs_of(models, workload), workload)
    return result._replace(
        remarks=(*result.remarks, *notes),
        warnings=(*result.warnings, *batch_warnings(models, workload)),
    )
