"""Context variants of all six splits, from documents and from shipped files."""

from __future__ import annotations

import shutil
from pathlib import Path

import pymupdf
import pytest
from contexts_drawing import PROSE, filing_pages, save_pdf, tables_in
from contexts_room import Room

from deepchart_dagster.artifacts.canonical import sha256_text
from deepchart_dagster.artifacts.results import InstanceResult
from deepchart_dagster.artifacts.steps import StepSummary
from deepchart_dagster.benchmark.model import ContextVariant, Domain, Modality, Query, Split
from deepchart_dagster.contexts import tokens
from deepchart_dagster.contexts.model import ModelContext

EVERY_TEXT = (ContextVariant.NORMAL, ContextVariant.LONG, ContextVariant.ULTRA_LONG)


def query(uid: str, domain: Domain, **fields: object) -> Query:
    defaults: dict[str, object] = {"chart_purpose": "A chart", "variants": (ContextVariant.NORMAL,)}
    return Query.model_validate({"uid": uid, "benchmark": "b", "domain": domain, **defaults, **fields})


def add(room: Room, source: Path, *queries: Query) -> None:
    room.library.add("b", queries, source)


def context_of(room: Room, summary: StepSummary, uid: str) -> tuple[ModelContext, InstanceResult, Path]:
    result = next(result for result in summary.results if result.uid == uid)
    assert not result.is_error, result.problem
    folder = room.store.folder("context_variants", summary.partition, uid)
    return ModelContext.model_validate_json((folder / "context.json").read_text()), result, folder


@pytest.fixture(scope="module")
def read_filings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A storage root with filings of 2019 to 2022, read once for all tests of this module."""
    folder = tmp_path_factory.mktemp("filings")
    room = Room(folder / "storage")
    for year in range(2019, 2023):
        pdf = save_pdf(folder / f"acme-{year}.pdf", *filing_pages(year))
        room.documents.add(pdf, Domain.FINANCE, title=f"Acme {year} 10-K")
        room.read(pdf)
    return folder


@pytest.fixture
def filings(room: Room, read_filings: Path, tmp_path: Path) -> Room:
    """The filings, and a query for 2020 to 2022 that may use three of them."""
    shutil.copytree(read_filings / "storage", room.root)
    shutil.copy(read_filings / "acme-2022.pdf", tmp_path)
    asked = query(
        "q/growth",
        Domain.FINANCE,
        document_ids=("acme-2020", "acme-2021", "acme-2022"),
        years=(2020, 2021, 2022),
        variants=EVERY_TEXT,
        evidence_hint={"statements": ["income_statement"]},
    )
    add(room, tmp_path, asked)
    return room


def test_finance_normal_is_the_needed_statements_of_the_fewest_filings(filings: Room) -> None:
    summary = filings.variants.run(Split.FINANCE_NORMAL)
    context, result, folder = context_of(filings, summary, "q/growth")
    (file,) = context.files
    assert (file.title, file.document_id, file.pages) == ("Acme 2022 10-K: Income statement", "acme-2022", (3,))
    text = (folder / file.path).read_text()
    assert file.sha256 == sha256_text(text)
    (table,) = tables_in(text)
    assert [table.value("Net income", year) for year in ("2022", "2021", "2020")] == ["$113", "$98", "$73"]
    assert table.value("Other income (expense), net", "2022") == "(7)"
    assert "CONSOLIDATED STATEMENTS OF OPERATIONS" in text
    assert "(In millions)" in text
    assert "Total assets" not in text
    assert PROSE not in text
    assert context.notes == (
        "acme-2020: left out, the other filings show every year asked for",
        "acme-2021: left out, the other filings show every year asked for",
        "acme-2022: taken for income_statement 2022, 2021, 2020",
    )
    assert result.value == {"n_files": 1, "n_chunks": 0, "n_tokens": tokens.count(text)}


def test_finance_long_has_text_around_the_table_and_ultra_long_the_whole_filing(filings: Room) -> None:
    long, _, folder = context_of(filings, filings.variants.run(Split.FINANCE_LONG), "q/growth")
    (file,) = long.files
    around = (folder / file.path).read_text()
    assert (file.name, file.title) == ("context.md", "Acme 2022 10-K")
    assert "Index to consolidated financial statements" in around
    assert "Total assets" in around  # the balance sheet stands within 20 lines below
    whole, _, folder = context_of(filings, filings.variants.run(Split.FINANCE_ULTRA_LONG), "q/growth")
    text = (folder / whole.files[0].path).read_text()
    assert [text.count(f"<!-- page {n} -->") for n in range(1, 7)] == [1] * 6
    assert len(text) >= len(around)


def test_long_windows_hold_twenty_lines_on_either_side(room: Room, tmp_path: Path) -> None:
    prose = [[(50.0, 60.0 + 40 * at, f"Paragraph {page}-{at} ends here.") for at in range(15)] for page in range(3)]
    room.read(save_pdf(tmp_path / "acme.pdf", *prose, *filing_pages(2022)[2:5], *prose))
    asked = query("q", Domain.FINANCE, document_ids=("acme",), variants=EVERY_TEXT)
    add(room, tmp_path, asked)
    context, _, folder = context_of(room, room.variants.run(Split.FINANCE_LONG), "q")
    lines = [line for line in (folder / context.files[0].path).read_text().split("\n") if line and "<!--" not in line]
    tables = [at for at, line in enumerate(lines) if line.startswith("<table>")]
    assert len(tables) == 3
    assert tables[0] == 20  # the first table is the 21st line: 20 above it
    assert len(lines) - tables[-1] - 1 == 20
    assert lines[0] == "Paragraph 1-12 ends here."


def test_two_year_balance_sheets_need_every_other_filing(filings: Room, tmp_path: Path) -> None:
    asked = query(
        "q",
        Domain.FINANCE,
        document_ids=tuple(f"acme-{year}" for year in range(2019, 2023)),
        years=(2019, 2020, 2021, 2022, 2030),
        evidence_hint={"statements": ["balance_sheet"]},
    )
    add(filings, tmp_path, asked)
    context, _, _ = context_of(filings, filings.variants.run(Split.FINANCE_NORMAL), "q")
    assert [file.document_id for file in context.files] == ["acme-2020", "acme-2022"]
    assert context.notes[-1] == "no filing shows balance_sheet 2030"


def test_years_that_no_filing_shows_are_an_error_of_the_instance(filings: Room, tmp_path: Path) -> None:
    lost = query("q/lost", Domain.FINANCE, document_ids=("acme-2022",), years=(1999,))
    filings.library.add("b", [lost], tmp_path, keep_others=True)
    summary = filings.variants.run(Split.FINANCE_NORMAL)
    assert (summary.n_ok, summary.n_error) == (1, 1)
    assert "q/lost: none of acme-2022 shows" in summary.errors[0].message


def test_a_document_that_was_not_read_blocks_its_instance_only(filings: Room, tmp_path: Path) -> None:
    unread = filings.documents.add(save_pdf(tmp_path / "unread.pdf", [(50, 60, PROSE)]), Domain.FINANCE)
    waiting = query("q/waiting", Domain.FINANCE, document_ids=(unread.id,))
    filings.library.add("b", [waiting], tmp_path, keep_others=True)
    summary = filings.variants.run(Split.FINANCE_NORMAL)
    assert (summary.n_ok, summary.n_error) == (1, 1)
    assert summary.errors[0].kind == "UpstreamError"
    assert "unread has not been read yet. Run deepchart contexts build --document unread." in summary.errors[0].message


def test_a_second_run_computes_nothing_and_a_new_title_does(filings: Room, tmp_path: Path) -> None:
    filings.variants.run(Split.FINANCE_NORMAL)
    assert filings.variants.run(Split.FINANCE_NORMAL).n_computed == 0
    filings.documents.add(tmp_path / "acme-2022.pdf", Domain.FINANCE, title="Another title")
    assert filings.variants.run(Split.FINANCE_NORMAL).n_computed == 1


def test_a_statement_that_does_not_exist_is_named(filings: Room, tmp_path: Path) -> None:
    odd = query("q/odd", Domain.FINANCE, document_ids=("acme-2022",), evidence_hint={"statements": ["equity"]})
    filings.library.add("b", [odd], tmp_path, keep_others=True)
    errors = filings.variants.run(Split.FINANCE_NORMAL).errors
    assert "q/odd: there is no statement 'equity'" in errors[0].message


# Academic


def paper(path: Path) -> Path:
    """A page with a drawn chart between text and its caption, its own labels and values in it."""
    pdf = pymupdf.open()
    page = pdf.new_page()
    page.insert_text((60, 80), "We measured the respiration of roots in two lines of barley, as Figure 3 shows below.")
    page.draw_rect(pymupdf.Rect(100, 150, 400, 350))
    for at, height in enumerate((60, 120)):
        page.draw_rect(pymupdf.Rect(140 + 120 * at, 350 - height, 200 + 120 * at, 350), fill=(0.2, 0.4, 0.6))
        page.insert_text((155 + 120 * at, 345 - height), f"{height}.75", fontsize=9)
        page.insert_text((150 + 120 * at, 362), f"Line {at + 1}", fontsize=9)
    page.insert_text((80, 300), "Respiration of roots", fontsize=9, rotate=90)
    page.insert_text((60, 400), "Figure 3. Root respiration by line. Bars are means of six plants.")
    page.insert_text(
        (60, 440), "The second line breathes more than the first one does in every soil that we have tried."
    )
    pdf.save(str(path))
    return path


BLOCK = "| Line | Respiration |\n|:--|--:|\n| 1 | 60.75 |\n| 2 | 120.75 |\n"


@pytest.fixture
def papers(room: Room, tmp_path: Path) -> Room:
    room.read(paper(tmp_path / "roots.pdf"), Domain.ACADEMIC)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "figure-3.md").write_text(BLOCK)
    hint = {"figure": "3", "data": "data/figure-3.md"}
    asked = query("q/roots", Domain.ACADEMIC, document_ids=("roots",), variants=EVERY_TEXT[:2], evidence_hint=hint)
    add(room, tmp_path, asked)
    return room


def test_academic_normal_is_the_data_of_the_chart(papers: Room) -> None:
    context, _, folder = context_of(papers, papers.variants.run(Split.ACADEMIC_NORMAL), "q/roots")
    (file,) = context.files
    assert (folder / file.path).read_text() == BLOCK
    assert file.title == "roots: data of figure 3"


def test_academic_long_has_the_data_where_the_chart_was_and_nothing_of_the_chart(papers: Room) -> None:
    context, _, folder = context_of(papers, papers.variants.run(Split.ACADEMIC_LONG), "q/roots")
    text = (folder / context.files[0].path).read_text()
    places = [text.index(part) for part in ("We measured", BLOCK.strip(), "Figure 3. Root", "The second line")]
    assert places == sorted(places)
    outside = text.replace(BLOCK.strip(), "")
    assert "60.75" not in outside
    assert "120.75" not in outside
    assert "Respiration of roots" not in outside
    assert "at its caption on page 1" in context.notes[0]


def test_without_a_caption_the_data_stand_at_the_first_mention(papers: Room, tmp_path: Path) -> None:
    pdf = save_pdf(
        tmp_path / "plain.pdf", [(50, 60, PROSE), (50, 120, "As Figure 3 shows, it grew."), (50, 180, PROSE)]
    )
    papers.read(pdf, Domain.ACADEMIC)
    hint = {"figure": "3", "data": "data/figure-3.md"}
    asked = query("q/plain", Domain.ACADEMIC, document_ids=("plain",), variants=EVERY_TEXT[:2], evidence_hint=hint)
    papers.library.add("b", [asked], tmp_path, keep_others=True)
    context, _, folder = context_of(papers, papers.variants.run(Split.ACADEMIC_LONG), "q/plain")
    text = (folder / context.files[0].path).read_text()
    assert text.index(PROSE) < text.index("| 1 | 60.75 |") < text.index("As Figure 3 shows")
    assert "no caption of figure 3 was found; its data stand before the first mention on page 1" in context.notes[0]


def test_a_missing_data_block_is_named(papers: Room, tmp_path: Path) -> None:
    hint = {"figure": "3", "data": "data/gone.md"}
    asked = query("q/gone", Domain.ACADEMIC, document_ids=("roots",), evidence_hint=hint)
    papers.library.add("b", [asked], tmp_path, keep_others=True)
    summary = papers.variants.run(Split.ACADEMIC_NORMAL)
    assert (summary.n_ok, summary.n_error) == (1, 1)
    assert "data/gone.md" in summary.errors[0].message


# Files as the benchmark ships them


def test_shipped_files_keep_order_text_and_the_name_of_their_filing(room: Room, tmp_path: Path) -> None:
    names = [
        f"data/finance/1/normal/nyse-abbv-{year}/{name}"
        for year in (2017, 2019)
        for name in ("Balance_Sheet.md", "Cash_Flow.md")
    ]
    for at, name in enumerate(names):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"table {at}")
    add(room, tmp_path, query("finance/1", Domain.FINANCE, context_files={"normal": names}))
    context, result, folder = context_of(room, room.variants.run(Split.FINANCE_NORMAL), "finance/1")
    assert [file.title for file in context.files] == [
        "nyse-abbv-2017: Balance Sheet",
        "nyse-abbv-2017: Cash Flow",
        "nyse-abbv-2019: Balance Sheet",
        "nyse-abbv-2019: Cash Flow",
    ]
    assert [(folder / file.path).read_text() for file in context.files] == [f"table {at}" for at in range(4)]
    assert context.modality is Modality.TEXT
    assert result.value["n_files"] == 4


def test_missing_shipped_files_are_an_error_that_names_the_first_and_counts_the_rest(
    room: Room, tmp_path: Path
) -> None:
    (tmp_path / "a.md").write_text("here")
    good = query("good", Domain.FINANCE, context_files={"normal": ["a.md"]})
    bad = query("bad", Domain.FINANCE, context_files={"normal": ["x/first.md", "a.md", "x/second.md"]})
    add(room, tmp_path, good, bad)
    summary = room.variants.run(Split.FINANCE_NORMAL)
    assert (summary.n_ok, summary.n_error) == (1, 1)
    (problem,) = summary.errors
    assert (problem.uid, problem.kind) == ("bad", "MissingInputError")
    assert "x/first.md" in problem.message
    assert "1 more of its 3 context files are missing" in problem.message


def test_a_query_that_names_nothing_is_told_what_to_name(room: Room, tmp_path: Path) -> None:
    add(room, tmp_path, query("empty", Domain.FINANCE))
    (problem,) = room.variants.run(Split.FINANCE_NORMAL).errors
    assert "empty: neither context files nor documents are named" in problem.message
