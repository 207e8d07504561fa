"""``deepchart rubrics``: the questions about each query's chart as JSON, out and in."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
from pydantic import JsonValue

from deepchart_dagster.artifacts.files import write_json
from deepchart_dagster.cli.common import common_options, emit, group_options, note, workbench
from deepchart_dagster.errors import NoWorkPossible, UsageError

_NAMED = 5
_FILE = click.argument("file", type=click.Path(path_type=Path))


@click.group(short_help="The yes/no questions about charts: export, import, forget.")
@group_options
def command() -> None:
    """Rubrics are written once a query and shared by all models. They can be carried to another storage, or be
    given instead of written: those of the published benchmark, say.

    \b
    Example: deepchart rubrics export rubrics.json
    """


@command.command("export")
@_FILE
@click.option("--benchmark", help="This benchmark only.")
@common_options
def export(file: Path, benchmark: str | None, storage: str | None, as_json: bool) -> None:
    """Write the rubrics that have been made into FILE, as one JSON document.

    \b
    Example: deepchart rubrics export rubrics.json --benchmark mini
    """
    from deepchart_dagster.artifacts.inputs import read_output
    from deepchart_dagster.scoring.given_rubrics import EXPORT_FORMAT
    from deepchart_dagster.scoring.rubrics import RUBRIC_NAME, Rubric

    rubrics: list[JsonValue] = []
    with workbench(storage, benchmarks=(benchmark,) if benchmark else None) as bench:
        for query in bench.library.queries():
            result = bench.artifacts.read("rubrics", (), query.uid)
            if result is not None and RUBRIC_NAME in result.files:
                data = read_output(bench.artifacts, result, RUBRIC_NAME)
                rubrics.append(Rubric.read(data, f"{query.uid} {RUBRIC_NAME}").model_dump(mode="json"))
    if not rubrics:
        raise NoWorkPossible("no rubric has been made.", remedy="Make them: deepchart materialize rubrics.")
    write_json(file, {"format": EXPORT_FORMAT, "rubrics": rubrics})
    emit(as_json, {"file": str(file), "n_rubrics": len(rubrics)}, f"{len(rubrics)} rubrics in {file}")


@command.command("import")
@_FILE
@click.option("--unchecked", is_flag=True, help="Count every question as it stands; do not ask the judge about it.")
@common_options
def import_rubrics(file: Path, unchecked: bool, storage: str | None, as_json: bool) -> None:
    """Take the rubrics of FILE in place of written ones: what `rubrics export` wrote, or the published layout (one
    object by uid, or a folder with a file for each uid). The judge is asked whether each holds on the reference chart.

    \b
    Example: deepchart rubrics import rubrics.json
    """
    from deepchart_dagster.scoring.given_rubrics import GivenRubrics, read_given

    found = read_given(file, checked=not unchecked)
    with workbench(storage) as bench:
        known = {query.uid for query in bench.library.queries()}
        taken = [rubric for rubric in found if rubric.uid in known]
        left_out = [rubric.uid for rubric in found if rubric.uid not in known]
        if not taken:
            raise UsageError(
                f"{file}: none of its {len(found)} uids is in the storage, first {found[0].uid!r}.",
                remedy="Import the benchmark first: deepchart import PATH.",
            )
        GivenRubrics(bench.settings.storage).add(taken)
    if left_out:
        note(f"left out, since no benchmark has them: {_some(left_out)}")
    unusual = [rubric.uid for rubric in taken if rubric.unusual_aspects]
    if unusual:
        note(f"fewer or more questions in an aspect than the paper has, taken as they are: {_some(unusual)}")
    text = f"{len(taken)} rubrics taken. Next: deepchart materialize rubrics"
    emit(as_json, {"n_taken": len(taken), "left_out": list(left_out), "unusual": list(unusual)}, text)


def _some(uids: Sequence[str]) -> str:
    return ", ".join(uids[:_NAMED]) + (" …" if len(uids) > _NAMED else "")


@command.command("forget")
@click.argument("uids", nargs=-1, required=True)
@common_options
def forget(uids: tuple[str, ...], storage: str | None, as_json: bool) -> None:
    """Forget rubrics that were imported: the writer writes those queries' rubrics again.

    \b
    Example: deepchart rubrics forget finance/1
    """
    from deepchart_dagster.scoring.given_rubrics import GivenRubrics

    with workbench(storage) as bench:
        given = GivenRubrics(bench.settings.storage)
        forgotten = [uid for uid in uids if given.forget(uid)]
    missing = [uid for uid in uids if uid not in forgotten]
    lines = [f"{len(forgotten)} forgotten."] + [f"{uid}: no rubric was given." for uid in missing]
    emit(as_json, {"forgotten": forgotten, "not_given": missing}, "\n".join(lines))
