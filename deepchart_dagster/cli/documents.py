"""``deepchart documents``: raw PDFs in, and what is there."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from deepchart_dagster.benchmark.documents import Document
from deepchart_dagster.benchmark.model import Domain
from deepchart_dagster.cli.common import common_options, emit, group_options, note, workbench
from deepchart_dagster.errors import DeepChartError, UsageError
from deepchart_dagster.settings import Settings


@dataclass(frozen=True)
class _Refused:
    pdf: Path
    error: DeepChartError

    @property
    def reason(self) -> str:
        """In one line, with the file that was given."""
        reason = str(self.error)
        return reason if str(self.pdf) in reason else f"{self.pdf}: {reason}"


@click.group(short_help="Register raw PDFs; list them.")
@group_options
def command() -> None:
    """Register raw PDFs as documents (partitions of ocr_contexts), and list them.

    \b
    Example: deepchart documents add 10k_apple_2022.pdf --domain finance
    """


@command.command("add")
@click.argument("pdfs", nargs=-1, required=True, type=click.Path(path_type=Path, readable=False))
@click.option("--domain", required=True, type=click.Choice([domain.value for domain in Domain]))
@click.option("--id", "document_id", help="Identifier; default: made from the file's name. One PDF only.")
@click.option("--title", help="Title as models will read it.")
@click.option("--company", help="Company of a filing.")
@click.option("--fiscal-year", "fiscal_years", multiple=True, type=int, help="Fiscal year that a filing reports.")
@common_options
def add(
    pdfs: tuple[Path, ...],
    domain: str,
    document_id: str | None,
    title: str | None,
    company: str | None,
    fiscal_years: tuple[int, ...],
    storage: str | None,
    as_json: bool,
) -> None:
    """Register PDFs. A file that cannot be taken is named with its reason; the others are registered.

    \b
    Example: deepchart documents add 10k_apple_2022.pdf --domain finance --company Apple
    """
    if len(pdfs) > 1 and document_id:
        raise UsageError("--id names one document.", remedy="Add the PDFs one by one, or leave --id out.")
    added: list[Document] = []
    refused: list[_Refused] = []
    with workbench(storage) as bench:
        for pdf in pdfs:
            try:
                added.append(
                    bench.documents.add(
                        pdf,
                        Domain(domain),
                        document_id=document_id,
                        title=title,
                        company=company,
                        fiscal_years=fiscal_years,
                    )
                )
            except DeepChartError as error:
                refused.append(_Refused(pdf, error))
        if added:
            _sync(bench.settings, [document.id for document in bench.documents.list()])
    for one in refused:
        note(f"deepchart: {one.reason}")
    emit(
        as_json,
        {
            "added": [document.model_dump(mode="json") for document in added],
            "refused": [{"file": str(one.pdf), "reason": one.reason} for one in refused],
        },
        "\n".join(f"{document.id}  {document.domain.value}  {document.file_name}" for document in added),
    )
    if refused:
        raise click.exceptions.Exit(1 if added else refused[0].error.exit_code)


@command.command("list")
@common_options
def list_documents(storage: str | None, as_json: bool) -> None:
    """List the registered documents.

    \b
    Example: deepchart documents list --json
    """
    with workbench(storage) as bench:
        documents = bench.documents.list()
    emit(
        as_json,
        {"documents": [document.model_dump(mode="json") for document in documents]},
        "\n".join(f"{document.id}  {document.domain.value}  {document.file_name}" for document in documents)
        or "No documents yet: deepchart documents add FILE.pdf --domain finance",
    )


def _sync(settings: Settings, ids: list[str]) -> None:
    from deepchart_dagster.cli.runs import Runs

    Runs(settings).sync_documents(ids)
