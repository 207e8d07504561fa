"""``deepchart documents``: raw PDFs in, what is known of them, and what is there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from deepchart_dagster.benchmark.documents import Document, DocumentFacts, Registration
from deepchart_dagster.benchmark.model import Domain
from deepchart_dagster.cli.common import common_options, emit, group_options, note, workbench
from deepchart_dagster.errors import DeepChartError, StorageError, UsageError
from deepchart_dagster.settings import Settings

if TYPE_CHECKING:
    from deepchart_dagster.artifacts.store import ArtifactStore
    from deepchart_dagster.contexts.inbox import InboxLook

_DOMAINS = click.Choice([domain.value for domain in Domain])


@dataclass(frozen=True)
class _Refused:
    pdf: Path
    error: DeepChartError

    @property
    def reason(self) -> str:
        """In one line, with the file that was given."""
        pdf, reason = (" ".join(str(text).split()) for text in (self.pdf, self.error))
        return reason if pdf in reason else f"{pdf}: {reason}"


@click.group(short_help="Register raw PDFs; say what they are; list them.")
@group_options
def command() -> None:
    """Register raw PDFs as documents (partitions of ocr_contexts), say what they are, and list them.

    \b
    Example: deepchart documents add 10k_apple_2022.pdf
    """


@command.command("add")
@click.argument("pdfs", nargs=-1, required=True, type=click.Path(path_type=Path, readable=False))
@click.option("--domain", type=_DOMAINS, help="Default: as read from the PDF (a 10-K, a paper).")
@click.option("--id", "document_id", help="Identifier; default: made from the file's name. One PDF only.")
@click.option("--title", help="Title as models will read it; default: as read from the PDF, else the file's name.")
@click.option("--company", help="Company of a filing; default: the registrant on its cover.")
@click.option(
    "--fiscal-year",
    "fiscal_years",
    multiple=True,
    type=int,
    help="Fiscal year that a filing reports; default: the one on its cover. May be repeated.",
)
@common_options
def add(
    pdfs: tuple[Path, ...],
    domain: str | None,
    document_id: str | None,
    title: str | None,
    company: str | None,
    fiscal_years: tuple[int, ...],
    storage: str | None,
    as_json: bool,
) -> None:
    """Register PDFs. A file that cannot be taken is named with its reason; the others are registered.

    What a PDF is (domain, title, company, fiscal year) is read from it where it is not given. The same bytes are
    one document, under whatever name they come; what is given then takes the place of what was known.

    \b
    Example: deepchart documents add 10k_apple_2022.pdf
             deepchart documents add report.pdf --domain ecosystem --title "State of the Field 2024"
    """
    if len(pdfs) > 1 and document_id:
        raise UsageError("--id names one document.", remedy="Add the PDFs one by one, or leave --id out.")
    from deepchart_dagster.contexts.metadata import metadata_of_readable

    given = _facts(domain, title, company, fiscal_years)
    added: list[Registration] = []
    refused: list[_Refused] = []
    with workbench(storage) as bench:
        for pdf in pdfs:
            try:
                added.append(bench.documents.register(pdf, given, document_id=document_id, reader=metadata_of_readable))
            except DeepChartError as error:
                refused.append(_Refused(pdf, error))
        if added:
            _sync(bench.settings, [document.id for document in bench.documents.list()])
    for one in refused:
        note(f"deepchart: {one.reason}")
    emit(
        as_json,
        {
            "added": [one.document.model_dump(mode="json") for one in added],
            "known": sorted({one.document.id for one in added if one.was_known}),
            "changed": {one.document.id: list(one.changed) for one in added if one.changed},
            "refused": [{"file": str(one.pdf), "reason": one.reason} for one in refused],
        },
        "\n".join(map(_registered, added)),
    )
    if not as_json:
        _next_step([one.document for one in added if not one.was_known])
    if refused:
        raise click.exceptions.Exit(1 if added else refused[0].error.exit_code)


@command.command("set")
@click.argument("document_id", metavar="ID")
@click.option("--domain", type=_DOMAINS, help="Decides how the PDF is read.")
@click.option("--title", help="Title as models will read it.")
@click.option("--company", help="Company of a filing.")
@click.option("--fiscal-year", "fiscal_years", multiple=True, type=int, help="Replaces the years there are.")
@common_options
def set_facts(
    document_id: str,
    domain: str | None,
    title: str | None,
    company: str | None,
    fiscal_years: tuple[int, ...],
    storage: str | None,
    as_json: bool,
) -> None:
    """Correct what is known of a document. What shows it becomes stale; the PDF stays as it is.

    \b
    Example: deepchart documents set 10k_apple_2022 --title "Apple Inc., annual report 2022"
    """
    given = _facts(domain, title, company, fiscal_years)
    if not given.stated():
        raise UsageError("nothing to set.", remedy="Give --domain, --title, --company or --fiscal-year.")
    with workbench(storage) as bench:
        before = bench.documents.get(document_id)
        after = bench.documents.change(document_id, given)
    stale = _stale(before, after)
    emit(
        as_json,
        {"document": after.model_dump(mode="json"), "stale": stale},
        f"{_line(after)}\n" + (f"Stale now: {', '.join(stale)}." if stale else "Nothing changed."),
    )


def _facts(domain: str | None, title: str | None, company: str | None, fiscal_years: tuple[int, ...]) -> DocumentFacts:
    return DocumentFacts(Domain(domain) if domain else None, title, company, tuple(sorted(set(fiscal_years))))


def _stale(before: Document, after: Document) -> list[str]:
    """The assets that show what changed: a title stands in contexts, a domain decides how a PDF is read."""
    if before == after:
        return []
    stale = ["raw_documents"]
    if before.domain is not after.domain:
        stale.append("ocr_contexts")
    if before.title != after.title or before.domain is not after.domain:
        stale.append("context_variants")
    return stale


@command.command("remove")
@click.argument("document_id", metavar="ID")
@common_options
def remove(document_id: str, storage: str | None, as_json: bool) -> None:
    """Forget a document and delete its copy of the PDF. What was read of it and made from that is kept: `deepchart
    status` shows it as orphaned or stale, `deepchart prune` deletes what is orphaned. To replace a PDF, remove its
    document and add the new one under the same id.

    \b
    Example: deepchart documents remove 10k_apple_2022
    """
    with workbench(storage) as bench:
        document = bench.documents.remove(document_id)
        _sync(bench.settings, [each.id for each in bench.documents.list()])
        readers = [query.uid for query in bench.library.queries() if document.id in query.document_ids]
    text = f"{document.id} is removed; what was read of it is kept until `deepchart prune`."
    if readers:
        text += f"\n{len(readers)} queries read it and cannot be made again without it: {', '.join(readers[:5])}"
    emit(as_json, {"removed": document.model_dump(mode="json"), "read_by": readers}, text)


@command.command("inbox")
@common_options
def inbox(storage: str | None, as_json: bool) -> None:
    """Register the PDFs that lie in STORAGE/inbox (made where it is not there).

    A subfolder finance, academic or ecosystem gives the domain of what lies in it. Registered files are moved to
    inbox/registered; refused ones stay, their reasons stand in inbox/refused.json; a file that is still being
    written is left for the next look. Exit code 1 where files were refused.

    \b
    Example: deepchart documents inbox --json
    """
    with workbench(storage) as bench:
        look = bench.inbox().look()
        if look.registered:
            _sync(bench.settings, [document.id for document in bench.documents.list()])
        folder = bench.inbox().folder
    for one in look.refused:
        note(f"deepchart: {one.file}: {one.reason}")
    emit(as_json, look.as_json(), "\n".join(_inbox_lines(look)) or f"No PDF to register in {folder}.")
    if not as_json:
        _next_step([one.document for one in look.registered if not one.was_known])
    if look.refused:
        raise click.exceptions.Exit(1)


def _inbox_lines(look: InboxLook) -> list[str]:
    return [
        *map(_registered, look.registered),
        *(f"{file}: still being written, left for the next look" for file in look.waiting),
    ]


@command.command("list")
@common_options
def list_documents(storage: str | None, as_json: bool) -> None:
    """List the registered documents: id, domain, years, what was read of them, title and file.

    \b
    Example: deepchart documents list --json
    """
    with workbench(storage) as bench:
        documents = bench.documents.list()
        read = [_read(bench.artifacts, document.id) for document in documents]
    emit(
        as_json,
        {
            "documents": [
                {**document.model_dump(mode="json"), "read": state}
                for document, state in zip(documents, read, strict=True)
            ]
        },
        "\n".join(_table(documents, read)) or "No documents yet: deepchart documents add FILE.pdf",
    )


def _read(store: ArtifactStore, document_id: str) -> str:
    """What came of reading a document the last time, in words. ``deepchart status`` says whether that is still so."""
    try:
        result = store.read("ocr_contexts", (), document_id)
        checked = result or store.read("raw_documents", (), document_id)
    except StorageError:
        return "damaged"  # `deepchart verify` names the file
    if checked is not None and checked.is_error:
        return "in error"
    if result is None:
        return "not read"
    n_pages, n_errors = result.value["n_pages"], result.value["n_page_errors"]
    return f"{n_pages} {'page' if n_pages == 1 else 'pages'}" + (f", {n_errors} in error" if n_errors else "")


def _table(documents: Sequence[Document], read: Sequence[str]) -> Iterator[str]:
    rows = [
        (document.id, document.domain.value, ", ".join(map(str, document.fiscal_years)), state)
        for document, state in zip(documents, read, strict=True)
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row, document in zip(rows, documents, strict=True):
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True) if width]
        yield "  ".join([*cells, *(" ".join(part.split()) for part in (document.title, document.file_name))])


def _line(document: Document) -> str:
    """Id, domain, title, years, and the file's name."""
    years = ", ".join(map(str, document.fiscal_years))
    parts = (document.id, document.domain.value, document.title, years, document.file_name)
    return "  ".join(" ".join(part.split()) for part in parts if part)


def _registered(one: Registration) -> str:
    """The document's line; of one that was there before, what is different now and what that makes stale."""
    if one.before is None:
        return _line(one.document)
    if not one.changed:
        return f"{_line(one.document)}  (registered before)"
    changed = ", ".join(name.replace("_", " ") for name in one.changed)
    stale = ", ".join(_stale(one.before, one.document))
    return f"{_line(one.document)}  (registered before; changed: {changed})\nStale now: {stale}."


# More would make a long line; without any, build takes every document that is not read yet.
_NAMED_AT_MOST = 3


def _next_step(documents: list[Document]) -> None:
    if documents:
        named = "".join(f" --document {document.id}" for document in documents)
        note(f"Next: deepchart contexts build{named if len(documents) <= _NAMED_AT_MOST else ''}")


def _sync(settings: Settings, ids: list[str]) -> None:
    from deepchart_dagster.cli.runs import Runs

    Runs(settings).sync_documents(ids)
