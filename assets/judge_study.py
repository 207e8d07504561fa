"""The judge study: a fixed subset of charts, other judges' verdicts on it, and how they agree (paper, appendix B.4)."""

import dagster as dg

from assets.outcome import materialized, partition_checks, progress_log, tag_cost, try_again
from assets.pools import JUDGE_CALLS
from deepchart_dagster.partitions import judges
from deepchart_dagster.stage_versions import JUDGE_STUDY_VERSION
from resources import BenchmarkResource, JudgeResource, StorageResource, open_workbench


@dg.asset(
    group_name="judge_study",
    code_version=JUDGE_STUDY_VERSION,
    deps=["visual_accuracy", "rubrics"],
    description="60 charts a domain, 20 of each tertile of primary VAS, drawn once; charts and questions are kept.",
)
def validation_subset(
    storage: StorageResource, benchmark: BenchmarkResource, judge: JudgeResource
) -> dg.MaterializeResult:
    with open_workbench(storage, benchmark, judge) as bench:
        drawn = bench.draw_validation_subsets()
        counts = {subset.benchmark: dg.MetadataValue.int(len(subset.charts)) for subset in drawn}
        return dg.MaterializeResult(metadata={f"n_charts_{name}": count for name, count in counts.items()})


@dg.asset(
    partitions_def=judges,
    group_name="judge_study",
    pool=JUDGE_CALLS,
    code_version=JUDGE_STUDY_VERSION,
    deps=["validation_subset"],
    description="One judge's answers to the questions about the validation subset's charts.",
    check_specs=partition_checks("judge_verdicts", judges),
)
def judge_verdicts(
    context: dg.AssetExecutionContext, storage: StorageResource, benchmark: BenchmarkResource, judge: JudgeResource
) -> dg.MaterializeResult:
    with open_workbench(storage, benchmark, judge) as bench:
        summary = bench.judge_study().run(context.partition_key, progress=progress_log(context))
        tag_cost(context, summary)
        try_again(context, summary)
        return materialized(
            summary, means=["vas"], where=bench.settings.storage.joinpath(summary.asset, *summary.partition)
        )


@dg.asset(
    group_name="judge_study",
    code_version=JUDGE_STUDY_VERSION,
    deps=["judge_verdicts"],
    description="Accuracy, macro-F1, κ, Pearson, Spearman and MAE for every pair of judges, and with people's labels.",
)
def judge_agreement(storage: StorageResource, benchmark: BenchmarkResource) -> dg.MaterializeResult:
    from deepchart_dagster.scoring.judge_agreement import format_agreement

    with open_workbench(storage, benchmark) as bench:
        tables = [bench.agreement_tables().make(name) for name in bench.benchmarks_with_subset()]
        shown = {table.benchmark: dg.MetadataValue.md(f"```\n{format_agreement(table)}\n```") for table in tables}
        return dg.MaterializeResult(metadata={f"agreement_{name}": table for name, table in shown.items()})
