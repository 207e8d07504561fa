"""``deepchart contexts``: rebuild contexts from raw PDFs, and see what came out."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import click

from deepchart_dagster.cli.common import (
    common_options,
    emit,
    exit_with_errors,
    group_options,
    note,
    settings_for,
    workbench,
)
from deepchart_dagster.errors import DeepChartError, NoWorkPossible
from deepchart_dagster.settings import OcrEngine

if TYPE_CHECKING:
    from deepchart_dagster.cli.runs import Materialized


@click.group(short_help="Rebuild contexts from PDFs; show what is in them.")
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

    settings = settings_for(storage, ocr_engine=engine)
    with workbench(storage, ocr_engine=engine) as bench:
        known = [document.id for document in bench.documents.list()]
        wanted = [bench.documents.get(name).id for name in documents] or known
    if not wanted:
        raise NoWorkPossible("no documents are registered.", remedy="deepchart documents add FILE.pdf --domain finance")
    runs = Runs(settings)
    runs.sync_documents(known)
    rows: list[Materialized] = []
    failures: list[DeepChartError] = []
    for document in wanted:
        outcome = runs.materialize(["raw_documents", "ocr_contexts"], document)
        rows += outcome.rows
        if outcome.failure:
            failures.append(outcome.failure)
            note(f"deepchart: {outcome.failure}")
    emit(
        as_json,
        {"materialized": [row.as_json() for row in rows], "problems": [str(failure) for failure in failures]},
        "\n".join(
            f"{row.asset} {row.partition}: {'read' if row.n_computed else 'unchanged'}, {row.seconds:.1f} s"
            for row in rows
        ),
    )
    if failures and not rows:
        raise click.exceptions.Exit(NoWorkPossible.exit_code)
    exit_with_errors(len(failures) + sum(row.n_error for row in rows))


@command.command("show")
@click.argument("document_id", metavar="ID")
@common_options
def show(document_id: str, storage: str | None, as_json: bool) -> None:
    """Pages, engine and numbers per page, and for filings where the three statements stand.

    \b
    Example: deepchart contexts show 10k_apple_2022 --json
    """
    from deepchart_dagster.contexts.show import describe

    with workbench(storage) as bench:
        description = describe(bench.artifacts, bench.documents.get(document_id).id)
    emit(as_json, description.as_json(), description.as_text())
