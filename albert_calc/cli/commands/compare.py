"""``albert-calc compare``: a model against the techniques, or models side by side."""

from typing import TYPE_CHECKING, Any

import click

from albert_calc.cli.asked import Asked
from albert_calc.cli.command import model_command, option
from albert_calc.cli.options import typed
from albert_calc.cli.reports.chapter import chapter_models, chapter_report
from albert_calc.cli.reports.several import several_report
from albert_calc.cli.reports.techniques import ablation_report, compared, techniques_report
from albert_calc.cli.workload import WORKLOAD_OPTIONS, workload_of, workload_options
from albert_calc.errors import Problems
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

    One model is shown as it is, with a factorized embedding, with shared layers, and with
    both. Two or more stand side by side: the sizes that differ, and what each component
    gained or lost. Without a model: a row for each of BERT-Base and ALBERT-Base to
    ALBERT-xxLarge.

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
    if not cost and (idle := typed(*WORKLOAD_OPTIONS)):
        raise click.UsageError(f"{idle[0]} belongs to --cost: give both or none")
    if chart and (others := typed("ablation", "cost")):
        raise click.UsageError(f"--chart and {others[0]} contradict each other: give one of them")
    drawn = chart or (asked.save is not None and not asked.save.lower().endswith(".html"))
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
        return several_report(asked, drawn=drawn, workload=workload)
    shown = models or chapter_models(asked.request.layout)
    if ablation:
        return ablation_report(shown)
    report = techniques_report(shown[0], workload) if models else chapter_report(shown, workload)
    if not drawn and asked.save is None:
        return report
    from albert_calc.pictures.charts import comparison_chart

    picture = comparison_chart([(m.title, m.comparison) for m in shown])
    return picture if drawn else report._replace(picture=picture)
