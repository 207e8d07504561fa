"""The code location that Dagster loads: assets, their resources, jobs and sensors. Nothing else."""

from __future__ import annotations

import warnings

import dagster as dg

# Asset checks by partition are in preview in Dagster 1.13; they are what says "which split is in error".
warnings.filterwarnings("ignore", category=dg.PreviewWarning)
# Data versions on outputs are in beta there: dbt's models get theirs that way (assets/dbt_marts.py).
warnings.filterwarnings("ignore", category=dg.BetaWarning, message=r"Parameter `data_version` of initializer `Output")

from assets.backend_study import backend_charts, backend_scores  # noqa: E402
from assets.benchmark_queries import benchmark_queries  # noqa: E402
from assets.calibration import calibration  # noqa: E402
from assets.context_checks import context_checks  # noqa: E402
from assets.context_variants import context_variants  # noqa: E402
from assets.dbt_marts import dbt_marts  # noqa: E402
from assets.diagnosis import diagnosis  # noqa: E402
from assets.drawn_fidelity import drawn_fidelity  # noqa: E402
from assets.execution_rate import execution_rate  # noqa: E402
from assets.fidelity import derived_fidelity, source_fidelity  # noqa: E402
from assets.grounding import grounding  # noqa: E402
from assets.judge_study import judge_agreement, judge_verdicts, validation_subset  # noqa: E402
from assets.metrics import metrics  # noqa: E402
from assets.ocr_contexts import ocr_contexts  # noqa: E402
from assets.predicted_states import predicted_states  # noqa: E402
from assets.raw_documents import raw_documents  # noqa: E402
from assets.references import references  # noqa: E402
from assets.rendered_charts import rendered_charts  # noqa: E402
from assets.report import report  # noqa: E402
from assets.rubrics import rubrics  # noqa: E402
from assets.sensors import documents_inbox, partitions_in_line  # noqa: E402
from assets.staleness import refreshing, staleness  # noqa: E402
from assets.visual_accuracy import visual_accuracy  # noqa: E402
from resources import (  # noqa: E402
    BenchmarkResource,
    JudgeResource,
    ModelsResource,
    OcrEngineResource,
    SandboxResource,
    StorageResource,
    dbt_cli,
)

JOBS = [
    dg.define_asset_job(
        "rebuild_contexts_from_pdfs",
        selection=["raw_documents", "ocr_contexts"],
        description="Read one document's PDF into markdown.",
    ),
    dg.define_asset_job(
        "prepare_split",
        selection=["context_variants", "references", "rubrics"],
        description="Contexts, references and rubrics of one split.",
    ),
    dg.define_asset_job(
        "evaluate_model",
        selection=[
            "predicted_states",
            "rendered_charts",
            "source_fidelity",
            "derived_fidelity",
            "diagnosis",
            "grounding",
            "drawn_fidelity",
            "execution_rate",
            "visual_accuracy",
        ],
        description="Both stages and all scores of one model on one split.",
    ),
    dg.define_asset_job(
        "compare_backends",
        selection=["backend_charts", "backend_scores"],
        description="One model's charts from reference data in one rendering backend (paper, 5.4).",
    ),
    dg.define_asset_job(
        "judge_validation_subset",
        selection=["judge_verdicts"],
        description="One judge's answers on the validation subset (paper, B.4).",
    ),
    dg.define_asset_job(
        "publish_reports",
        selection=dg.AssetSelection.groups("reports"),
        description="Metrics store, dbt marts, report.",
    ),
]

defs = dg.Definitions(
    assets=[
        benchmark_queries,
        raw_documents,
        ocr_contexts,
        context_variants,
        references,
        rubrics,
        predicted_states,
        rendered_charts,
        source_fidelity,
        derived_fidelity,
        diagnosis,
        grounding,
        drawn_fidelity,
        execution_rate,
        visual_accuracy,
        calibration,
        backend_charts,
        backend_scores,
        validation_subset,
        judge_verdicts,
        judge_agreement,
        metrics,
        dbt_marts,
        report,
    ],
    asset_checks=[context_checks],
    jobs=JOBS,
    sensors=[partitions_in_line, documents_inbox, staleness, refreshing(JOBS)],
    schedules=[
        dg.ScheduleDefinition(
            name="reports_every_morning",
            job=next(job for job in JOBS if job.name == "publish_reports"),
            cron_schedule="0 6 * * *",
            description="Tables and report anew each morning at six (UTC). Off until somebody switches it on.",
        )
    ],
    resources={
        "storage": StorageResource(),
        "benchmark": BenchmarkResource(),
        "models": ModelsResource(),
        "judge": JudgeResource(),
        "ocr": OcrEngineResource(),
        "sandbox": SandboxResource(),
        "dbt": dbt_cli(),
    },
    # Steps are concurrent inside; a process per step would cost Dagster's start (seconds) each time.
    executor=dg.in_process_executor,
)
