"""``albert-calc compare``: a model against the techniques, or models side by side."""

import click

from albert_calc.cli.command import Asked, model_command, option
from albert_calc.cli.options import typed
from albert_calc.cli.reports.chapter import chapter_models, chapter_report
from albert_calc.cli.reports.cost import WORKLOAD_OPTIONS, cost_options
from albert_calc.cli.reports.several import several_report
from albert_calc.cli.reports.techniques import ablation_report, compared, techniques_report
from albert_calc.pictures.picture import Picture
from albert_calc.report import Report


@model_command("compare", "any", picture="--chart")
@option("--ablation", is_flag=True, help="Show all four combinations of both techniques.")
@option("--chart", is_flag=True, help="Draw what is compared as bars, on a common scale.")
@option("--cost", is_flag=True, help="Add what each costs in memory and FLOPs.")
@cost_options
def command(
    asked: Asked, *, ablation: bool, chart: bool, cost: bool, **workload: object
) -> Report | Picture:
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
    drawn = chart or (asked.save is not None and not asked.save.lower().endswith(".html"))
    if not ablation and len(asked.found) > 1:
        return several_report(asked, drawn=drawn, workload=workload if cost else None)
    models = compared(asked)
    if ablation:
        return ablation_report(models or chapter_models())
    costs = workload if cost else None
    shown = models or chapter_models()
    report = techniques_report(shown[0], costs) if models else chapter_report(shown, costs)
    if not drawn and asked.save is None:
        return report
    from albert_calc.pictures.charts import comparison_chart

    picture = comparison_chart([(m.title, m.comparison) for m in shown])
    return picture if drawn else report._replace(picture=picture)
