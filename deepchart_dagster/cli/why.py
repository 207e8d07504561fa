"""``deepchart why``: which input changed, from what to what; of an instance, the way from leaderboard to PDF page."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import asdict

import click

from deepchart_dagster.artifacts.results import InstanceResult
from deepchart_dagster.benchmark.model import Backend, Split
from deepchart_dagster.cli.common import common_options, emit, workbench
from deepchart_dagster.cli.narrow import folded
from deepchart_dagster.errors import UsageError
from deepchart_dagster.generation.asking import ANSWER_NAME
from deepchart_dagster.lineage.graph import PartitionKey, PartitionKind, node, plan
from deepchart_dagster.lineage.said import Said
from deepchart_dagster.lineage.status import behind
from deepchart_dagster.lineage.trace import Hop, Stage, ValuePlace, hops, leaderboard_cells, other_stages, value_places
from deepchart_dagster.lineage.why import Explanation, explain
from deepchart_dagster.llm.yaml_file import did_you_mean
from deepchart_dagster.metrics.leaderboard import Cell
from deepchart_dagster.scoring.visual import VERDICTS_NAME

_SHOWN = 120
_NAMED = 3  # instances of a group that are named
_FILES = 6  # of a result that are named
_SAID = {ANSWER_NAME: "the model answered", VERDICTS_NAME: "the judge did not say Yes to"}
_HASH = re.compile(r'"([0-9a-f]{12})[0-9a-f]{52}"')


@click.command("why", short_help="Say what changed for the instances of a partition.")
@click.argument("asset")
@click.option("--model", help="For assets by model and split.")
@click.option("--split", type=click.Choice([split.value for split in Split]))
@click.option("--document", help="For assets by document.")
@click.option("--backend", type=click.Choice([backend.value for backend in Backend]), help="For the backend study.")
@click.option("--judge", help="For judge_verdicts: a slug of judges.yaml.")
@click.option("--instance", "uid", metavar="UID", help="This instance only, with its way back to the PDFs' pages.")
@common_options
def command(
    asset: str,
    model: str | None,
    split: str | None,
    document: str | None,
    backend: str | None,
    judge: str | None,
    uid: str | None,
    storage: str | None,
    as_json: bool,
) -> None:
    """Say for each instance of a partition whether it is fresh, and if not, what changed: which document, prompt,
    parameter, library or code version, from what to what. More than three instances of which the same is to be said
    are counted (--json has each). With --instance, show every result on its way from the leaderboard to the pages of
    the PDFs: how it ended and why, its files, the first lines of what the model answered; then its other stages, and
    where the values that it is scored against stand.

    \b
    Example: deepchart why predicted_states --model oracle --split finance-normal
             deepchart why source_fidelity --model oracle --split academic-normal --instance mini/academic-barley-roots
    """
    key = _key(asset, model, split, document, backend, judge)
    with workbench(storage) as bench:
        explanations = explain(bench, key, uid)
        if uid and not explanations:
            near = did_you_mean(uid, [work.uid for work in plan(bench, key)]) or "."
            raise UsageError(f"{asset} {key}: there is no instance {uid}{near}", remedy=f"All: {_whole(key)}.")
        upstream = behind(bench, key) if explanations and all(item.fresh for item in explanations) else ()
        path = hops(bench, key, uid) if uid else []
        others = other_stages(bench, key, uid) if uid else []
        cells = leaderboard_cells(bench, key) if uid else {}
        values = value_places(bench, key, uid) if uid else []
    through = [f"but {one}: making that may change what is read here" for one in upstream]
    found: dict[str, object] = {"instances": [asdict(item) for item in explanations], "behind": list(upstream)}
    if uid:
        found["leaderboard"] = {name: cell.as_json() for name, cell in cells.items()}
        found["path"] = [hop.as_json() for hop in path]
        found["other_stages"] = [stage.as_json() for stage in others]
        found["values"] = [value.as_json() for value in values]
    way = "\n".join(_way(cells, path, others, values)) if uid else ""
    emit(as_json, found, folded("\n".join(filter(None, [_text(explanations), *through, way]))))


def _key(
    asset: str, model: str | None, split: str | None, document: str | None, backend: str | None, judge: str | None
) -> PartitionKey:
    kind = node(asset).kind
    given = {
        PartitionKind.DOCUMENT: bool(document),
        PartitionKind.SPLIT: bool(split),
        PartitionKind.MODEL_SPLIT: bool(split and model),
        PartitionKind.MODEL_BACKEND: bool(backend and model),
        PartitionKind.JUDGE: bool(judge),
    }
    if not given[kind]:
        needs = {
            PartitionKind.DOCUMENT: "--document",
            PartitionKind.SPLIT: "--split",
            PartitionKind.MODEL_SPLIT: "--model and --split",
            PartitionKind.MODEL_BACKEND: "--model and --backend",
            PartitionKind.JUDGE: "--judge",
        }[kind]
        raise UsageError(f"{asset} is partitioned by {kind.value.replace('_', ' and ')}.", remedy=f"Give {needs}.")
    return PartitionKey(
        asset,
        document=document if kind is PartitionKind.DOCUMENT else None,
        split=Split(split) if split and kind in (PartitionKind.SPLIT, PartitionKind.MODEL_SPLIT) else None,
        model=model if kind in (PartitionKind.MODEL_SPLIT, PartitionKind.MODEL_BACKEND) else None,
        backend=Backend(backend) if backend and kind is PartitionKind.MODEL_BACKEND else None,
        judge=judge if kind is PartitionKind.JUDGE else None,
    )


def _whole(key: PartitionKey) -> str:
    """The command about every instance of the partition."""
    named = (
        ("document", key.document),
        ("model", key.model),
        ("split", key.split and key.split.value),
        ("backend", key.backend and key.backend.value),
        ("judge", key.judge),
    )
    return " ".join(["deepchart why", key.asset, *(f"--{name} {value}" for name, value in named if value)])


def _text(explanations: list[Explanation]) -> str:
    """Instances of which the same is to be said once, at the place of the first."""
    groups: dict[str, list[Explanation]] = {}
    for item in explanations:
        reason = item.reason.replace(f": {item.uid} ", ": it ")  # the same of every instance
        groups.setdefault("\n".join([reason, *_changes(item)]), []).append(item)
    lines = [f"{_who(members)}: {said}" for said, members in groups.items()]
    return "\n".join(lines) or "The partition has no instances; deepchart status shows what is there."


def _who(members: list[Explanation]) -> str:
    uids = [item.uid for item in members]
    if len(uids) <= _NAMED:
        return ", ".join(uids)
    return f"{len(uids)} instances" if members[0].fresh else f"{len(uids)} instances ({', '.join(uids[:_NAMED])}, …)"


def _changes(item: Explanation) -> Iterator[str]:
    for change in item.changes:
        old, new = (_short(side) for side in (change.old, change.new))
        part = f" ({change.part})" if change.part != change.what else ""
        yield f"    {change.what}{part}: {old} -> {new}"


def _short(value: object) -> str:
    """As JSON; hashes by their first digits, a side that is not there as a dash."""
    if value is None:
        return "—"
    text = _HASH.sub(r'"\1…"', json.dumps(value, ensure_ascii=False))
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _way(cells: dict[str, Cell], path: list[Hop], others: list[Stage], values: list[ValuePlace]) -> Iterator[str]:
    """From the leaderboard down to the pages."""
    for name, cell in cells.items():
        shown = "none yet" if cell.value is None else f"{cell.value:.4f}"
        counts = f"{cell.n_scored} of {cell.n_total} scored, {cell.n_failed} failed, {cell.n_error} in error"
        yield f"leaderboard  {name}: {shown} ({counts})"
    for hop in path:
        yield from _hop(hop)
    if others:
        yield "Its other stages:"
    for stage in others:
        yield f"    {stage.key.asset}  {stage.damage or _ended(stage.result)}"
        yield from (f"        {line}" for line in [_message(stage.result)] if line)
    for value in values:
        matched = "not found by the model" if value.predicted is None else f"matched with {_number(value.predicted)}"
        places = "; ".join(_place(place.document_id, place.page, place.row) for place in value.places)
        yield f"{_number(value.reference)}  {matched}  {places or 'stands nowhere in the context as it is written'}"


def _hop(hop: Hop) -> Iterator[str]:
    yield f"{hop.key.asset}  {hop.key}  {_ended(hop.result)}"
    yield f"    {hop.folder}{_files(hop.result)}"
    reason = "" if hop.explanation.fresh else hop.explanation.reason
    yield from (
        f"    {line}" for line in (_message(hop.result), reason) if line and (line == reason or line not in reason)
    )
    yield from _changes(hop.explanation)
    if hop.said:
        yield from _said(hop.said)


def _files(result: InstanceResult | None) -> str:
    names = sorted(result.files) if result else []
    more = f" and {len(names) - _FILES} more" if len(names) > _FILES else ""
    return f": {', '.join(names[:_FILES])}{more}" if names else ""


def _message(result: InstanceResult | None) -> str:
    """Why it ended as it did, on one line, where there is a reason; of which instance, is known."""
    problem = result.problem if result else None
    return " ".join(problem.message.removeprefix(f"{result.uid}: ").split()) if result and problem else ""


def _said(said: Said) -> Iterator[str]:
    yield f"    {_SAID[said.file.name]}:{'' if said.lines else ' nothing'}"
    yield from (f"        {line}" for line in said.lines)
    if said.n_more:
        yield f"        … and {said.n_more} more in {said.file.name}"


def _number(value: float) -> str:
    """Whole amounts with all of their digits, as tables have them: 59574500000, not 5.95745e+10."""
    return f"{value:.0f}" if float(value).is_integer() and abs(value) < 1e15 else f"{value:.10g}"


def _place(document_id: str, page: int | None, row: str) -> str:
    where = f"{document_id} page {page}" if page is not None else f"{document_id}, page unknown"
    return f"{where}: {row[:80]}"


def _ended(result: InstanceResult | None) -> str:
    if result is None:
        return "not made yet"
    problem = f" ({result.problem.kind})" if result.problem else ""
    facts = ", ".join(
        f"{name} {value:.4g}" if isinstance(value, float) else f"{name} {value}"
        for name, value in result.value.items()
        if isinstance(value, int | float | str) and not isinstance(value, bool)
    )
    return f"{result.status.value}{problem}, made {result.started_at[:16]}  {facts}".rstrip()
