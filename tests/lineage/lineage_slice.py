"""Every stage of the slice of the mini benchmark: the oracle on two queries, and both studies on what it left."""

from __future__ import annotations

from collections.abc import Iterable

from deepchart_dagster.artifacts.steps import StepSummary
from deepchart_dagster.benchmark.model import Backend, Split
from deepchart_dagster.workbench import Workbench

SPLIT, MODEL, BACKEND, JUDGE = Split.ACADEMIC_NORMAL, "oracle", Backend.PYTHON, "scripted-judge"
VERDICTS = "judge_verdicts"


def made_now(bench: Workbench) -> dict[str, set[str]]:
    """Every stage run in the order of the pipeline; what each computed."""
    oracle = bench.model(MODEL)
    summaries: list[StepSummary] = []
    for document in bench.documents.list():
        summaries += [bench.raw_documents().run(document.id), bench.ocr_contexts().run(document.id)]
    summaries += [stage.run(SPLIT) for stage in (bench.context_variants(), bench.references(), bench.rubrics())]
    for stage in (
        bench.predicted_states(),
        bench.rendered_charts(),
        bench.fidelity("src"),
        bench.fidelity("der"),
        bench.diagnosis(),
        bench.grounding(),
        bench.drawn_fidelity(),
        bench.execution_rate(),
        bench.visual_accuracy(),
    ):
        summaries.append(stage.run(SPLIT, oracle))
    for study in (bench.backend_charts(), bench.backend_scores()):
        summaries.append(study.run(BACKEND, oracle))
    bench.draw_validation_subsets()
    summaries.append(bench.judge_study().run(JUDGE))
    computed: dict[str, set[str]] = {}
    for summary in summaries:
        assert not summary.n_error, summary.errors
        computed.setdefault(summary.asset, set()).update(queries_of(bench, summary.asset, summary.computed_uids))
    return {asset: uids for asset, uids in computed.items() if uids}


def queries_of(bench: Workbench, asset: str, uids: Iterable[str]) -> set[str]:
    """The queries that instances are about; one of the judge study is called after its chart."""
    subset = bench.validation_subsets.read("mini") if asset == VERDICTS else None
    charts = {f"mini/{chart.id}": chart.uid for chart in subset.charts} if subset else {}
    return {charts.get(uid, uid) for uid in uids}
