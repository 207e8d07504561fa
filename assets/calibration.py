"""Calibration: the scores of the scripted models against the faults that they inject."""

from typing import TYPE_CHECKING

import dagster as dg

from deepchart_dagster.stage_versions import CALIBRATION_VERSION
from resources import BenchmarkResource, ModelsResource, StorageResource, open_workbench

if TYPE_CHECKING:
    from deepchart_dagster.scoring.calibration import CalibratedInstance, Finding, ModelCalibration

FAULTS_FOUND = "faults_found"
NOTHING_ELSE = "nothing_else_lowered"
NAMED = "faults_named"
_LISTED = 20


@dg.asset(
    group_name="scores",
    code_version=CALIBRATION_VERSION,
    deps=["source_fidelity", "derived_fidelity", "diagnosis", "execution_rate", "visual_accuracy"],
    description="Scripted models inject known faults: which scores show them, and which show something else.",
    check_specs=[
        dg.AssetCheckSpec(
            FAULTS_FOUND, asset="calibration", description="Every injected fault lowers the metric at which it shows."
        ),
        dg.AssetCheckSpec(
            NOTHING_ELSE,
            asset="calibration",
            description="No instance without a fault is below 1.0, and none before its fault.",
        ),
        dg.AssetCheckSpec(
            NAMED,
            asset="calibration",
            description="The diagnosis names the injected kind in at least 95 % of the instances with wrong data.",
        ),
    ],
)
def calibration(storage: StorageResource, benchmark: BenchmarkResource, models: ModelsResource) -> dg.MaterializeResult:
    from deepchart_dagster.artifacts.canonical import content_hash
    from deepchart_dagster.scoring.calibration import calibration_text

    with open_workbench(storage, benchmark, models) as bench:
        rows = bench.calibration().run(bench.models.values())
    return dg.MaterializeResult(
        metadata={
            "n_models": len(rows),
            "n_instances": sum(len(row.instances) for row in rows),
            "table": dg.MetadataValue.md(calibration_text(rows)),
        },
        data_version=dg.DataVersion(content_hash([row.as_json() for row in rows])),
        check_results=[_check(FAULTS_FOUND, rows, "missed"), _check(NOTHING_ELSE, rows, "unexpected"), _named(rows)],
    )


def _check(name: str, rows: "list[ModelCalibration]", finding: "Finding") -> dg.AssetCheckResult:
    bad = [(row.model, one) for row in rows for one in row.instances if one.finding == finding]
    return dg.AssetCheckResult(
        check_name=name,
        passed=not bad,
        metadata={
            "n_instances": len(bad),
            **({"instances": dg.MetadataValue.md("\n".join(_line(*one) for one in bad[:_LISTED]))} if bad else {}),
        },
    )


def _named(rows: "list[ModelCalibration]") -> dg.AssetCheckResult:
    from deepchart_dagster.scoring.calibration import NAMED_SHARE

    n_named, n_diagnosed = sum(row.n_named for row in rows), sum(row.n_diagnosed for row in rows)
    unnamed = [_line(row.model, one) for row in rows for one in row.instances if one.named is False]
    return dg.AssetCheckResult(
        check_name=NAMED,
        passed=n_named >= NAMED_SHARE * n_diagnosed,
        metadata={
            "n_named": n_named,
            "n_diagnosed": n_diagnosed,
            **({"unnamed": dg.MetadataValue.md("\n".join(unnamed[:_LISTED]))} if unnamed else {}),
        },
    )


def _line(model: str, one: "CalibratedInstance") -> str:
    return f"* `{model}` `{one.uid}` {one.split}: injected {one.injected}, first below 1.0 {one.lowered}"
