"""``deepchart validation``: the charts on which judges and people are compared (paper, appendix B.4)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from deepchart_dagster.cli.common import common_options, emit, group_options, workbench
from deepchart_dagster.errors import UpstreamError, UsageError

if TYPE_CHECKING:
    from deepchart_dagster.scoring.validation_subset import ValidationSubset
    from deepchart_dagster.workbench import Workbench

_BENCHMARK = click.option("--benchmark", help="Which benchmark's; default: the one that has a subset.")
_FOLDER = click.argument("folder", type=click.Path(path_type=Path))


@click.group(short_help="The judge study: other judges and people on the same charts.")
@group_options
def command() -> None:
    """Compare judges with each other and with people on a fixed subset of charts (paper, B.4).

    \b
    draw            draw the subset from the charts that have been judged, once
    agreement       the table, of all judges that judged the subset:
                    deepchart materialize judge_verdicts --judge A --judge B
    sheet, import, disagreements    labels by people

    \b
    Example: deepchart validation draw
    """


@command.command("draw")
@common_options
def draw(storage: str | None, as_json: bool) -> None:
    """Draw the validation subset: 60 charts a domain, 20 of each tertile of VAS by the primary judge.

    A subset that stands is left as it is: labels belong to it.

    \b
    Example: deepchart validation draw
    """
    with workbench(storage) as bench:
        subsets = bench.draw_validation_subsets()
        folders = {subset.benchmark: str(bench.validation_subsets.folder(subset.benchmark)) for subset in subsets}
    value = [{**subset.model_dump(mode="json", exclude={"charts"}), "charts": _charts(subset)} for subset in subsets]
    emit(as_json, value, "\n".join(_drawn_text(subset, folders[subset.benchmark]) for subset in subsets))


def _charts(subset: ValidationSubset) -> list[dict[str, object]]:
    return [chart.model_dump(mode="json", exclude={"questions"}) for chart in subset.charts]


def _drawn_text(subset: ValidationSubset, folder: str) -> str:
    lines = [f"Validation subset of {subset.benchmark}, primary judge {subset.primary}, in {folder}"]
    for domain, n_eligible in subset.n_eligible.items():
        charts = subset.of(domain)
        strata = ", ".join(
            f"{sum(chart.stratum == stratum for chart in charts)} {stratum}" for stratum in ("low", "medium", "high")
        )
        lines.append(f"  {domain.value.ljust(10)} {len(charts):>3} of {n_eligible} charts ({strata})")
    lines.append(f"  {sum(len(chart.questions) for chart in subset.charts)} questions in all")
    return "\n".join(lines)


@command.command("agreement")
@_BENCHMARK
@click.option("--compare", type=click.Choice(["paper"]), help="With the paper's own table 9 below.")
@common_options
def show_agreement(benchmark: str | None, compare: str | None, storage: str | None, as_json: bool) -> None:
    """Accuracy, macro-F1, Cohen's κ, Pearson, Spearman and MAE for every pair of judges, and with people's labels.

    \b
    Example: deepchart validation agreement --json
    """
    from deepchart_dagster.metrics.published import read_paper_judges
    from deepchart_dagster.scoring.judge_agreement import format_agreement

    with workbench(storage) as bench:
        table = bench.agreement_tables().make(_subset(bench, benchmark).benchmark)
        paper = read_paper_judges(bench.settings.storage) if compare else []
    value = {**table.as_json(), "paper": [pair.as_json() for pair in paper]} if compare else table.as_json()
    emit(as_json, value, format_agreement(table, paper))


@command.command("sheet")
@_FOLDER
@click.option("--annotator", required=True, help="Who will fill it in: a name, used for the order and the file.")
@_BENCHMARK
@common_options
def sheet(folder: Path, annotator: str, benchmark: str | None, storage: str | None, as_json: bool) -> None:
    """Write a sheet of charts and questions for one person into the new FOLDER: sheet.html (opens from disk, keeps
    its state, exports its answers) and the same as sheet.csv.

    The sheet names neither models nor domains, and nothing of what judges said.

    \b
    Example: deepchart validation sheet to-label-ann --annotator ann
    """
    from deepchart_dagster.scoring.human_labels import shuffled
    from deepchart_dagster.scoring.labelling_sheet import SheetWriter

    with workbench(storage) as bench:
        subset = _subset(bench, benchmark)
        items = shuffled(subset, annotator)
        SheetWriter(bench.validation_subsets, subset).write(folder, annotator, items)
    text = (
        f"{len(items)} items in {folder / 'sheet.html'}; then: deepchart validation import FILE --annotator {annotator}"
    )
    emit(as_json, {"folder": str(folder), "n_items": len(items)}, text)


@command.command("import")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--annotator", required=True, help="Who filled it in.")
@click.option("--adjudicator", is_flag=True, help="This person decides where the two annotators disagree.")
@click.option("--note", default="", help="Who that was and how the labels came about; kept beside them.")
@_BENCHMARK
@common_options
def import_labels(
    file: Path,
    annotator: str,
    adjudicator: bool,
    note: str,
    benchmark: str | None,
    storage: str | None,
    as_json: bool,
) -> None:
    """Keep the answers of a filled-in sheet (CSV) as this person's labels; their earlier ones are replaced.

    \b
    Example: deepchart validation import ann-answers.csv --annotator ann --note "Ann, by looking, 2 hours"
    """
    from deepchart_dagster.scoring.human_labels import Labels, LabelStore, read_sheet, sheet_items

    with workbench(storage) as bench:
        subset = _subset(bench, benchmark)
        answers = read_sheet(file, subset)
        labels = Labels(
            benchmark=subset.benchmark,
            annotator=annotator,
            role="adjudicator" if adjudicator else "annotator",
            note=note,
            answers=answers,
        )
        path = LabelStore(bench.validation_subsets).add(labels)
    n_items = len(sheet_items(subset))
    text = f"{annotator}: {len(answers)} of {n_items} items answered, kept in {path}"
    emit(as_json, {"path": str(path), "n_answered": len(answers), "n_items": n_items}, text)


@command.command("disagreements")
@_FOLDER
@click.option("--annotator", required=True, help="The third person, who will decide.")
@_BENCHMARK
@common_options
def disagreements(folder: Path, annotator: str, benchmark: str | None, storage: str | None, as_json: bool) -> None:
    """Write a sheet of the items that the two annotators disagree on, for a third person, without their answers.

    \b
    Example: deepchart validation disagreements to-decide --annotator cleo
    """
    from deepchart_dagster.scoring.human_labels import LabelStore, adjudicated, shuffled
    from deepchart_dagster.scoring.labelling_sheet import SheetWriter

    with workbench(storage) as bench:
        subset = _subset(bench, benchmark)
        people = adjudicated(subset, LabelStore(bench.validation_subsets).all(subset.benchmark))
        items = shuffled(subset, annotator, only=people.open)
        if items:
            SheetWriter(bench.validation_subsets, subset).write(folder, annotator, items)
    text = (
        f"{len(items)} items in {folder / 'sheet.html'}; then: deepchart validation import FILE "
        f"--annotator {annotator} --adjudicator"
        if items
        else "There is nothing to decide: the two annotators agree, or every disagreement has been decided."
    )
    emit(as_json, {"folder": str(folder) if items else None, "n_items": len(items)}, text)


def _subset(bench: Workbench, benchmark: str | None) -> ValidationSubset:
    """The subset asked for, or the only one there is; UpstreamError where there is none, UsageError for several."""
    there = bench.benchmarks_with_subset() if benchmark is None else [benchmark]
    if len(there) > 1:
        raise UsageError(f"there are subsets of {', '.join(there)}.", remedy="Say which: --benchmark NAME.")
    subset = bench.validation_subsets.read(there[0]) if there else None
    if subset is None:
        raise UpstreamError(
            f"{benchmark or 'no benchmark'} has {'no' if benchmark else 'a'} validation subset yet.",
            remedy="Draw it: deepchart validation draw.",
        )
    return subset
