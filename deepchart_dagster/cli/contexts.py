"""``deepchart contexts``: rebuild contexts from raw PDFs, and see what came out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, get_args

import click

from deepchart_dagster.benchmark.model import Split
from deepchart_dagster.cli.common import (
    PageBar,
    common_options,
    emit,
    exit_with_errors,
    group_options,
    note,
    settings_for,
    workbench,
)
from deepchart_dagster.errors import DeepChartError, NoWorkPossible, UsageError
from deepchart_dagster.settings import OcrEngine

if TYPE_CHECKING:
    from deepchart_dagster.artifacts.results import InstanceResult
    from deepchart_dagster.cli.runs import Materialized


@click.group(short_help="Rebuild contexts from PDFs; show, check, locate.")
@group_options
def command() -> None:
    """Rebuild contexts from raw PDFs, and show what is in them.

    \b
    Example: deepchart contexts build --document 10k_apple_2022
    """


@command.command("build")
@click.option("--document", "documents", multiple=True, metavar="ID", help="Only these documents; may be repeated.")
@click.option("--engine", type=click.Choice(get_args(OcrEngine)), help="Default: DEEPCHART_OCR_ENGINE, else auto.")
@common_options
def build(documents: tuple[str, ...], engine: str | None, storage: str | None, as_json: bool) -> None:
    """Materialise raw_documents and ocr_contexts: the same assets as in the Dagster UI.

    \b
    Example: deepchart contexts build --document 10k_apple_2022 --engine text-layer
    """
    from deepchart_dagster.cli.runs import Runs
    from deepchart_dagster.contexts.progress import listening

    settings = settings_for(storage, ocr_engine=engine)
    with workbench(storage, ocr_engine=engine) as bench:
        known = [document.id for document in bench.documents.list()]
        wanted = [bench.documents.get(name).id for name in documents] or known
    if not wanted:
        raise NoWorkPossible("no documents are registered.", remedy="Add some: deepchart documents add FILE.pdf.")
    runs = Runs(settings)
    runs.sync_documents(known)
    rows: list[Materialized] = []
    failures: list[DeepChartError] = []
    for document in wanted:
        with listening(PageBar()):
            outcome = runs.materialize(["raw_documents", "ocr_contexts"], document)
        rows += outcome.rows
        if outcome.failure:
            failures.append(outcome.failure)
            note(f"deepchart: {outcome.failure}")
    with workbench(storage, ocr_engine=engine) as bench:
        works = bench.ocr_contexts().plan(sorted({row.partition for row in rows}))
        read = {row.partition: bench.artifacts.read("ocr_contexts", (), row.partition) for row in rows}
    waiting = {work.uid: work.again for work in works if work.again is not None}
    for name, reason in waiting.items():
        note(f"deepchart: {name}: {reason}.")
    emit(
        as_json,
        {
            "materialized": [row.as_json() for row in rows],
            "problems": [str(failure) for failure in failures],
            "waiting": waiting,
        },
        "\n".join(_built(row, read[row.partition]) for row in rows),
    )
    if not as_json and (shown := [name for name, result in read.items() if result and not result.is_error]):
        note(f"Next: deepchart contexts show {shown[0] if len(shown) == 1 else 'ID'}")
    if failures and not rows:
        raise click.exceptions.Exit(NoWorkPossible.exit_code)
    exit_with_errors(len(failures) + sum(row.n_error for row in rows) + sum(map(_pages_in_error, read.values())))


def _pages_in_error(result: InstanceResult | None) -> int:
    return int(str(result.value["n_page_errors"])) if result and not result.is_error else 0


def _built(row: Materialized, result: InstanceResult | None) -> str:
    """What a run did; of a document that was read, how much there is of it."""
    done = "unchanged" if not row.n_computed else "read" if row.asset == "ocr_contexts" else "checked"
    there = ""
    if row.asset == "ocr_contexts" and result and not result.is_error:
        value = result.value
        there = f", pages: {value['n_pages']}, numbers: {value['n_numbers']}"
        there += f", pages in error: {value['n_page_errors']}" if value["n_page_errors"] else ""
    return f"{row.asset} {row.partition}: {done} in {row.seconds:.1f} s{there}"


@command.command("make-paddle-models")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@common_options
def make_models(folder: Path, storage: str | None, as_json: bool) -> None:
    """Write model folders for the engine paddleocr into DIR, from the models in rapidocr's wheel.

    \b
    Example: deepchart contexts make-paddle-models models/paddle
    """
    from deepchart_dagster.contexts.engines.paddle_models import make_paddle_models

    models = make_paddle_models(folder.absolute())
    emit(
        as_json,
        {"folder": str(folder.absolute()), "models": list(models)},
        f"{' and '.join(models)} in {folder}. Use them: DEEPCHART_PADDLE_MODELS={folder.absolute()}",
    )


@command.command("show")
@click.argument("document_id", metavar="ID")
@click.option("--pages", "every_page", is_flag=True, help="A line for every page (always in --json).")
@common_options
def show(document_id: str, every_page: bool, storage: str | None, as_json: bool) -> None:
    """Pages by engine, statements of a filing with years and unit, how well the numbers were read.

    \b
    Example: deepchart contexts show 10k_apple_2022 --json
    """
    from deepchart_dagster.contexts.show import describe

    with workbench(storage) as bench:
        document = bench.documents.get(document_id)
        description = describe(bench.artifacts, document.id, domain=document.domain)
    emit(as_json, description.as_json(), description.as_text(every_page=every_page))


@command.command("check")
@click.option("--split", required=True, type=click.Choice([split.value for split in Split]))
@click.option("--uid", help="This instance only.")
@common_options
def check(split: str, uid: str | None, storage: str | None, as_json: bool) -> None:
    """Is every source value of the reference in the context, and does the context give nothing away?

    Published references hold derived columns among their source values: what no document states is listed too,
    and is no error. Exit code 1 where something leaks, could not be checked, or is missing in the built-in benchmark.

    \b
    Example: deepchart contexts check --split finance-normal --uid mini/finance-halden-igr
    """
    with workbench(storage) as bench:
        checks = bench.context_checks().run(Split(split), uid)
    if not checks:
        raise NoWorkPossible(f"there is no instance in {split}.", remedy="Import a benchmark: deepchart import PATH.")
    clean = sum(not (one.problem or one.leaks or one.unanswerable) for one in checks)
    summary = f"{clean} of {len(checks)} instances of {split} are answerable and leak nothing"
    emit(
        as_json,
        {"split": split, "instances": [one.as_json() for one in checks]},
        "\n".join([*(one.as_text() for one in checks), summary]),
    )
    exit_with_errors(sum(one.is_wrong for one in checks))


# A negative number is an argument, no option.
@command.command("locate", context_settings={"ignore_unknown_options": True})
@click.argument("name", metavar="ID")
@click.argument("number", metavar="NUMBER")
@click.option("--split", type=click.Choice([split.value for split in Split]), help="ID is an instance's uid there.")
@click.option("--picture", type=click.Path(path_type=Path, dir_okay=False), help="Draw the place's page to this .png.")
@click.option("--nth", type=click.IntRange(min=1), default=1, help="Which of several places is drawn; default 1.")
@common_options
def locate(
    name: str, number: str, split: str | None, picture: Path | None, nth: int, storage: str | None, as_json: bool
) -> None:
    """Where a number stands: page, box, row and column header, in a document or in an instance's context.

    Pages are counted from 1 as a PDF viewer does, whatever is printed on them. Writings with the same value are found
    too (99,803 and 99803, (1,234) and -1234), behind those written as asked; another sign is marked.

    \b
    Example: deepchart contexts locate 10k_apple_2022 "99,803" --picture place.png
    """
    if picture and picture.suffix.lower() != ".png":
        raise UsageError(f"--picture {picture} does not end in .png.", remedy="A page is drawn as PNG: name it so.")
    with workbench(storage) as bench:
        found = bench.locate(name, number, Split(split) if split else None)
        drawn = bench.draw_place(found, nth, picture) if picture and found else None
    if not found:
        where = f"{name} ({split})" if split else name
        raise NoWorkPossible(f"{number} does not stand in {where}.", remedy=_where_to_look(name, split))
    lines = [f"{at}. {one.as_text()}" for at, one in enumerate(found, start=1)]
    if picture and drawn:
        lines.append(f"{picture}: place {nth} of {len(found)}, {drawn.document_id} page {drawn.page}")
    emit(
        as_json,
        {
            "id": name,
            "number": number,
            "places": [one.as_json() for one in found],
            "picture": {"file": str(picture), "nth": nth} if picture else None,
        },
        "\n".join(lines),
    )


def _where_to_look(name: str, split: str | None) -> str:
    if split:
        return f"What is in its context: deepchart contexts check --split {split} --uid {name}."
    return (
        f"Rounded values are found where a unit is given (99.8 billion). What was read: deepchart contexts show {name}."
    )
