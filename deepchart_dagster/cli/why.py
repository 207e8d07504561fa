"""``deepchart why``: which input changed, from what to what."""

from __future__ import annotations

import json
from dataclasses import asdict

import click

from deepchart_dagster.benchmark.model import Backend, Split
from deepchart_dagster.cli.common import common_options, emit, workbench
from deepchart_dagster.errors import UsageError
from deepchart_dagster.lineage.graph import PartitionKey, PartitionKind, node
from deepchart_dagster.lineage.status import behind
from deepchart_dagster.lineage.why import Explanation, explain

_SHOWN = 120


@click.command("why", short_help="Say what changed for the instances of a partition.")
@click.argument("asset")
@click.option("--model", help="For assets by model and split.")
@click.option("--split", type=click.Choice([split.value for split in Split]))
@click.option("--document", help="For assets by document.")
@click.option("--backend", type=click.Choice([backend.value for backend in Backend]), help="For the backend study.")
@click.option("--instance", "uid", metavar="UID", help="This instance only.")
@common_options
def command(
    asset: str,
    model: str | None,
    split: str | None,
    document: str | None,
    backend: str | None,
    uid: str | None,
    storage: str | None,
    as_json: bool,
) -> None:
    """Say for each instance of a partition whether it is fresh, and if not, what changed.

    \b
    Example: deepchart why predicted_states --model oracle --split finance-normal
    """
    key = _key(asset, model, split, document, backend)
    with workbench(storage) as bench:
        explanations = explain(bench, key, uid)
        upstream = behind(bench, key) if explanations and all(item.fresh for item in explanations) else ()
    if uid and not explanations:
        raise UsageError(f"{asset} {key}: there is no instance {uid}.", remedy="deepchart status lists partitions.")
    through = [f"but {one}: making that may change what is read here" for one in upstream]
    emit(
        as_json,
        {"instances": [asdict(item) for item in explanations], "behind": list(upstream)},
        "\n".join([_text(explanations), *through]),
    )


def _key(asset: str, model: str | None, split: str | None, document: str | None, backend: str | None) -> PartitionKey:
    kind = node(asset).kind
    given = {
        PartitionKind.DOCUMENT: bool(document),
        PartitionKind.SPLIT: bool(split),
        PartitionKind.MODEL_SPLIT: bool(split and model),
        PartitionKind.MODEL_BACKEND: bool(backend and model),
    }
    if not given[kind]:
        needs = {
            PartitionKind.DOCUMENT: "--document",
            PartitionKind.SPLIT: "--split",
            PartitionKind.MODEL_SPLIT: "--model and --split",
            PartitionKind.MODEL_BACKEND: "--model and --backend",
        }[kind]
        raise UsageError(f"{asset} is partitioned by {kind.value.replace('_', ' and ')}.", remedy=f"Give {needs}.")
    return PartitionKey(
        asset,
        document=document if kind is PartitionKind.DOCUMENT else None,
        split=Split(split) if split and kind in (PartitionKind.SPLIT, PartitionKind.MODEL_SPLIT) else None,
        model=model if kind in (PartitionKind.MODEL_SPLIT, PartitionKind.MODEL_BACKEND) else None,
        backend=Backend(backend) if backend and kind is PartitionKind.MODEL_BACKEND else None,
    )


def _text(explanations: list[Explanation]) -> str:
    lines: list[str] = []
    for item in explanations:
        lines.append(f"{item.uid}: {item.reason}")
        for change in item.changes:
            old, new = (json.dumps(side, ensure_ascii=False)[:_SHOWN] for side in (change.old, change.new))
            lines.append(f"    {change.part}: {old} -> {new}")
    return "\n".join(lines) or "The partition has no instances."
