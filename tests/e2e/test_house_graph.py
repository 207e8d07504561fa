"""A snapshot of every asset: key, partitions, deps, group, checks. A change here is a change for users."""

from __future__ import annotations

import os
from typing import Any

import dagster as dg
import pytest

from deepchart_dagster.lineage.graph import NODES, PartitionKind

DOCUMENTS = "documents"
SPLITS = "split"
MODEL_SPLITS = "model × split"
MODEL_BACKENDS = "backend × model"
JUDGES = "judges"

SNAPSHOT: dict[str, tuple[str | None, str, set[str], set[str]]] = {
    "benchmark_queries": (None, "benchmark", set(), {"has_queries"}),
    "raw_documents": (DOCUMENTS, "documents", set(), {"fresh", "no_errors"}),
    "ocr_contexts": (DOCUMENTS, "documents", {"raw_documents"}, {"fresh", "no_errors", "every_page_read"}),
    "context_variants": (
        SPLITS,
        "contexts",
        {"benchmark_queries", "ocr_contexts"},
        {"answerable", "fresh", "no_errors", "no_leaks"},
    ),
    "references": (SPLITS, "references", {"benchmark_queries"}, {"fresh", "no_errors", "references_complete"}),
    "rubrics": (SPLITS, "references", {"references"}, {"fresh", "no_errors"}),
    "predicted_states": (MODEL_SPLITS, "predictions", {"context_variants"}, {"fresh", "no_errors"}),
    "rendered_charts": (MODEL_SPLITS, "predictions", {"predicted_states"}, {"fresh", "no_errors"}),
    "source_fidelity": (
        MODEL_SPLITS,
        "scores",
        {"predicted_states", "references"},
        {"fresh", "no_errors", "f1_in_range"},
    ),
    "derived_fidelity": (
        MODEL_SPLITS,
        "scores",
        {"predicted_states", "references"},
        {"fresh", "no_errors", "f1_in_range"},
    ),
    "diagnosis": (
        MODEL_SPLITS,
        "scores",
        {"predicted_states", "references", "context_variants"},
        {"fresh", "no_errors"},
    ),
    "grounding": (MODEL_SPLITS, "scores", {"predicted_states", "context_variants"}, {"fresh", "no_errors", "in_range"}),
    "drawn_fidelity": (
        MODEL_SPLITS,
        "scores",
        {"rendered_charts", "predicted_states", "references"},
        {"fresh", "no_errors", "in_range"},
    ),
    "execution_rate": (MODEL_SPLITS, "scores", {"rendered_charts"}, {"fresh", "no_errors"}),
    "visual_accuracy": (MODEL_SPLITS, "scores", {"rendered_charts", "rubrics"}, {"fresh", "no_errors", "vas_in_range"}),
    "backend_charts": (MODEL_BACKENDS, "backend_study", {"references"}, {"fresh", "no_errors"}),
    "backend_scores": (MODEL_BACKENDS, "backend_study", {"backend_charts", "rubrics"}, {"fresh", "no_errors"}),
    "validation_subset": (None, "judge_study", {"rubrics", "visual_accuracy"}, set()),
    "judge_verdicts": (JUDGES, "judge_study", {"validation_subset"}, {"fresh", "no_errors"}),
    "judge_agreement": (None, "judge_study", {"judge_verdicts"}, set()),
    "metrics/scores": (
        None,
        "reports",
        {
            "source_fidelity",
            "derived_fidelity",
            "grounding",
            "drawn_fidelity",
            "execution_rate",
            "visual_accuracy",
        },
        {"has_scores"},
    ),
    "metrics/diagnoses": (None, "reports", {"diagnosis"}, set()),
    "metrics/executions": (None, "reports", {"predicted_states", "rendered_charts"}, set()),
    "metrics/calls": (
        None,
        "reports",
        {
            "predicted_states",
            "rendered_charts",
            "rubrics",
            "visual_accuracy",
            "backend_charts",
            "backend_scores",
        },
        set(),
    ),
    "metrics/backends": (None, "reports", {"backend_scores"}, set()),
    "calibration": (
        None,
        "scores",
        {"source_fidelity", "derived_fidelity", "diagnosis", "execution_rate", "visual_accuracy"},
        {"faults_found", "faults_named", "nothing_else_lowered"},
    ),
    "report": (
        None,
        "reports",
        {"leaderboard", "rendering_backends", "diagnosis_classes", "instance_scores"},
        {"fresh", "page_written"},
    ),
}
DBT_MODELS = {
    "stg_scores",
    "stg_executions",
    "stg_calls",
    "stg_backends",
    "stg_diagnoses",
    "diagnosis_classes",
    "instance_scores",
    "leaderboard",
    "rendering_backends",
    "model_averages",
    "yardsticks",
    "paper_comparison",
    "paper_main_results",
}


@pytest.fixture(scope="module")
def definitions() -> dg.Definitions:
    from deepchart_dagster.definitions import defs

    return defs


def _kind(partitions: dg.PartitionsDefinition[Any] | None) -> str | None:
    if isinstance(partitions, dg.MultiPartitionsDefinition):
        names = sorted(dimension.name for dimension in partitions.partitions_defs)
        return {"model × split": MODEL_SPLITS, "backend × model": MODEL_BACKENDS}[" × ".join(names)]
    if isinstance(partitions, dg.DynamicPartitionsDefinition):
        return str(partitions.name)
    if isinstance(partitions, dg.StaticPartitionsDefinition):
        return SPLITS
    return None


def test_every_asset_is_as_the_snapshot_says(definitions: dg.Definitions) -> None:
    graph = definitions.resolve_asset_graph()
    found = {}
    for key in graph.get_all_asset_keys():
        name = key.to_user_string()
        if name in DBT_MODELS or name.startswith("paper_"):
            continue
        node = graph.get(key)
        found[name] = (
            _kind(node.partitions_def),
            node.group_name,
            {parent.to_user_string() for parent in node.parent_keys},
            {check.name for check in node.check_keys},
        )
    assert found == SNAPSHOT


def test_the_splits_are_the_paper_s(definitions: dg.Definitions) -> None:
    partitions = definitions.resolve_asset_graph().get(dg.AssetKey("references")).partitions_def
    assert partitions is not None
    assert partitions.get_partition_keys() == [
        "academic-normal",
        "academic-long",
        "finance-normal",
        "finance-long",
        "finance-ultra-long",
        "ecosystem",
    ]


def test_dbt_models_stand_between_the_store_and_the_report(definitions: dg.Definitions) -> None:
    graph = definitions.resolve_asset_graph()
    for name in DBT_MODELS:
        node = graph.get(dg.AssetKey(name))
        assert node.group_name == "reports"
        assert node.partitions_def is None
    ancestors = {key.to_user_string() for key in graph.get_ancestor_asset_keys(dg.AssetKey("leaderboard"))}
    assert {"metrics/scores", "stg_scores", "visual_accuracy", "raw_documents", "benchmark_queries"} <= ancestors


def test_every_asset_says_what_it_is_and_of_which_version(definitions: dg.Definitions) -> None:
    graph = definitions.resolve_asset_graph()
    for name in SNAPSHOT:
        node = graph.get(dg.AssetKey(name.split("/")))
        assert node.description, name
        assert node.code_version, name


def test_the_domain_s_graph_and_dagster_s_agree(definitions: dg.Definitions) -> None:
    graph = definitions.resolve_asset_graph()
    kinds = {
        PartitionKind.DOCUMENT: DOCUMENTS,
        PartitionKind.SPLIT: SPLITS,
        PartitionKind.MODEL_SPLIT: MODEL_SPLITS,
        PartitionKind.MODEL_BACKEND: MODEL_BACKENDS,
        PartitionKind.JUDGE: JUDGES,
    }
    for asset in NODES:
        node = graph.get(dg.AssetKey(asset.name))
        assert _kind(node.partitions_def) == kinds[asset.kind]
        parents = {parent.to_user_string() for parent in node.parent_keys} - {"benchmark_queries", "validation_subset"}
        assert parents == set(asset.upstream)


def test_jobs_have_readable_names(definitions: dg.Definitions) -> None:
    names = {job.name for job in definitions.resolve_all_job_defs() if not job.name.startswith("__")}
    assert names == {
        "rebuild_contexts_from_pdfs",
        "prepare_split",
        "evaluate_model",
        "compare_backends",
        "judge_validation_subset",
        "publish_reports",
    }


def test_loading_sets_no_environment(definitions: dg.Definitions) -> None:
    assert "DEEPCHART_STORAGE" not in os.environ
