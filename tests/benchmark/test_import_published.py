"""Importing a clone of the published benchmark: every record of the sample by value, every fault by reason."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from deepchart_dagster.benchmark.import_report import ImportReport
from deepchart_dagster.benchmark.importers import import_benchmark
from deepchart_dagster.benchmark.library import Library
from deepchart_dagster.benchmark.model import CodeType, ContextVariant, Domain, Modality, Query, References, Split
from deepchart_dagster.benchmark.upstream import INDICATORS, indicator_label
from deepchart_dagster.errors import MissingInputError, NoWorkPossible, UsageError

SHARED = Path(__file__).parents[3] / "shared"
SAMPLE = SHARED / "upstream-sample"
REPORT_UID = "research_report/book-of-scouting-reports-2025-fintech-100__query-01"

needs_sample = pytest.mark.skipif(not SAMPLE.is_dir(), reason="../shared/upstream-sample is not here")


@pytest.fixture
def library(tmp_path: Path) -> Library:
    return Library(tmp_path / "storage")


@pytest.fixture
def imported(library: Library) -> ImportReport:
    return import_benchmark(SAMPLE, library)


@needs_sample
def test_all_six_records_come_in(library: Library, imported: ImportReport) -> None:
    assert (imported.read, imported.imported, imported.skipped) == (6, 6, ())
    assert imported.name == "deepchart"
    assert [query.uid for query in library.queries()] == [
        "academic/1",
        "academic/176",
        "finance/1",
        "finance/287",
        "finance/4",
        REPORT_UID,
    ]
    assert {split.value: len(library.instances(split)) for split in Split} == {
        "academic-normal": 2,
        "academic-long": 0,
        "finance-normal": 3,
        "finance-long": 3,
        "finance-ultra-long": 3,
        "ecosystem": 1,
    }


def common(query: Query) -> tuple[object, ...]:
    return (query.domain, query.orig_id, query.document_ids, query.query_type, query.indicator, query.company)


def chart(query: Query) -> tuple[object, ...]:
    return (query.chart_type, query.chart_family, query.chart_subclass, query.chart_layout)


def references_below(folder: str, d_src: str, *, html: bool = True) -> References:
    return References(
        d_src=f"{folder}/{d_src}",
        d_der=f"{folder}/d_der.json",
        stage1=f"{folder}/stage1.py",
        stage2_python=f"{folder}/stage2.py",
        stage2_html=f"{folder}/stage2.html" if html else None,
        chart_image=f"{folder}/chart.png",
    )


@needs_sample
@pytest.mark.parametrize(
    ("uid", "document", "chart_type", "subclass", "layout", "purpose_end"),
    [
        (
            "academic/1",
            "41586-025-09755-9",
            "Grouped bar chart with overlaid individual datapoints and error bars (mean ± s.e.m.)",
            "Bar Chart with Individual Data Points",
            "Single-panel vertical bars along an x-axis of experimental conditions (arranged left to right) with a "
            "common y-axis; individual subject points jittered over each bar; statistical annotation lines above bars.",
            "and to indicate which dose comparisons reach statistical significance.",
        ),
        (
            "academic/176",
            "s44284-025-00305-y",
            "radial multi-series bar chart (circular/rose chart)",
            "Grouped Circular Bar Plot",
            "single circular plot with categorical bars radiating from the center; two sets of bars per category "
            "(one per funding source) arranged around the circumference",
            "the concentric dashed circles provide reference levels for total counts.",
        ),
    ],
)
@pytest.mark.usefixtures("imported")
def test_academic_records(
    library: Library, uid: str, document: str, chart_type: str, subclass: str, layout: str, purpose_end: str
) -> None:
    query = library.query(uid)
    number = uid.split("/")[1]

    assert common(query) == (Domain.ACADEMIC, number, (document,), None, None, None)
    assert chart(query) == (chart_type, "Bar Chart", subclass, layout)
    assert query.years == ()
    assert query.chart_purpose.startswith(f"Generate an {{code_type}}-rendered {chart_type} for visualizing ")
    assert query.chart_purpose.endswith(purpose_end)
    assert query.purpose_for(CodeType.HTML).startswith(f"Generate an html-rendered {chart_type}")
    assert query.code_types == (CodeType.PYTHON, CodeType.HTML)
    assert query.modality is Modality.TEXT
    assert query.variants == (ContextVariant.NORMAL,)
    files = (f"data/academic/{number}/normal/{'s' if number == '1' else ''}{document}.md",)
    assert query.context_files == {ContextVariant.NORMAL: files}
    assert query.references == references_below(f"references/academic/{number}", "d_src.md")
    assert (query.evidence.source_values, query.evidence.derived_values) == (None, None)


ABBV = ("2017-10K-17620484", "2019-10K-19638382", "2021-10K-21654278", "2023-10K-23641440", "2025-10K-25626115")
XOM = ("2017-10K-17629081", "2019-10K-19637956", "2021-10K-21674541", "2023-10K-23653785", "2025-10K-25641012")


@needs_sample
@pytest.mark.parametrize(
    ("number", "company", "indicator", "query_type", "family", "filings"),
    [
        ("1", "abbv", "内部增长率 (Internal Growth Rate, IGR)", "Internal growth rate (IGR)", "Line Chart", ABBV),
        (
            "4",
            "abbv",
            "息税折旧摊销前利润 (Earnings Before Interest, Taxes, Depreciation, and Amortization, EBITDA)",
            "EBITDA",
            "Bar Chart",
            ABBV,
        ),
        ("287", "xom", "盈余-现金质量剪刀差 (Earnings Quality Spread)", "Earnings quality spread", "Bar Chart", XOM),
    ],
)
@pytest.mark.usefixtures("imported")
def test_finance_records(
    library: Library, number: str, company: str, indicator: str, query_type: str, family: str, filings: tuple[str, ...]
) -> None:
    query = library.query(f"finance/{number}")
    names = tuple(f"nyse-{company}-{filing}" for filing in filings)

    assert common(query) == (Domain.FINANCE, number, names, query_type, indicator, company)
    assert chart(query) == (family, family, family, None)
    assert query.years == (2016, 2017, 2018, 2019, 2020, 2021, 2022, 2023, 2024)
    assert query.chart_purpose == (
        f"Generate an {{code_type}}-rendered {family}, showing the change of {company}'s {indicator} from 2016 to 2024."
        " Ensure the data is accurate and reliable the chart design is clean."
    )
    assert query.code_types == (CodeType.PYTHON, CodeType.HTML)
    assert query.modality is Modality.TEXT
    assert query.variants == (ContextVariant.NORMAL, ContextVariant.LONG, ContextVariant.ULTRA_LONG)
    base = f"data/finance/{number}"
    statements = ("Balance_Sheet", "Income_Statement", "Cash_Flow")
    assert query.context_files == {
        ContextVariant.NORMAL: tuple(f"{base}/normal/{name}/{file}.md" for name in names for file in statements),
        ContextVariant.LONG: tuple(f"{base}/long/{name}/context.md" for name in names),
        ContextVariant.ULTRA_LONG: tuple(f"{base}/ultra_long/{name}/{name}.md" for name in names),
    }
    assert query.references == references_below(f"references/finance/{number}", "d_src.csv")


@needs_sample
@pytest.mark.usefixtures("imported")
def test_the_research_report_record(library: Library) -> None:
    query = library.query(REPORT_UID)
    document = "book-of-scouting-reports-2025-fintech-100"

    assert common(query) == (Domain.ECOSYSTEM, "query-01", (document,), None, None, None)
    assert chart(query) == (None, None, None, None)
    assert query.years == ()
    assert query.chart_purpose.startswith("Create a ranked bar chart for the top 15 fintech companies with `Headcount")
    assert query.purpose_for(CodeType.PYTHON) == query.chart_purpose
    assert query.code_types == (CodeType.PYTHON,)
    assert query.modality is Modality.MULTIMODAL
    folder = f"data/{REPORT_UID}/normal"
    assert query.context_files == {
        ContextVariant.NORMAL: (f"{folder}/{document}.md", f"{folder}/{document}.pdf"),
    }
    assert query.references == references_below(f"references/{REPORT_UID}", "d_src.json", html=False)


@needs_sample
def test_every_named_file_is_copied_or_warned_about(library: Library, imported: ImportReport) -> None:
    present = [path.relative_to(SAMPLE) for path in SAMPLE.rglob("*") if path.is_file() and path.suffix != ".jsonl"]
    folder = library.folder("deepchart")
    assert len(present) == 58
    for relative in present:
        assert (folder / relative).read_bytes() == (SAMPLE / relative).read_bytes()

    missing = {warning.file for warning in imported.warnings if "missing from the source" in warning.message}
    named = {
        path
        for query in library.queries()
        for path in (
            *(path for paths in query.context_files.values() for path in paths),
            *(value for value in query.references.model_dump().values() if isinstance(value, str)),
        )
    }
    assert missing == named - {str(relative) for relative in present}
    assert f"data/{REPORT_UID}/normal/book-of-scouting-reports-2025-fintech-100.pdf" in missing
    html = [warning.uid for warning in imported.warnings if "html is added" in warning.message]
    assert html == ["academic/1", "academic/176", "finance/1", "finance/4", "finance/287"]
    with pytest.raises(MissingInputError, match=r"academic/1: .*s41586-025-09755-9\.md"):
        library.file(library.query("academic/1"), "data/academic/1/normal/s41586-025-09755-9.md")


@needs_sample
@pytest.mark.usefixtures("imported")
def test_the_same_import_again_changes_nothing(library: Library) -> None:
    before = {path: path.stat().st_mtime_ns for path in library.root.rglob("*") if path.suffix != ".lock"}
    again = import_benchmark(SAMPLE, library)

    assert again.changed is False
    assert (again.imported, again.name) == (6, "deepchart")
    after = {path: path.stat().st_mtime_ns for path in library.root.rglob("*") if path.suffix != ".lock"}
    assert {path: at for path, at in after.items() if path != library.root / "benchmarks"} == {
        path: at for path, at in before.items() if path != library.root / "benchmarks"
    }


@needs_sample
def test_only_some_records(library: Library) -> None:
    report = import_benchmark(SAMPLE, library, name="few", only=["finance/4"])
    assert (report.read, report.imported) == (1, 1)
    assert [query.uid for query in library.queries()] == ["finance/4"]

    import_benchmark(SAMPLE, library, name="few", only=["finance/1"])
    assert [query.uid for query in library.queries()] == ["finance/1", "finance/4"]

    with pytest.raises(UsageError, match="no record with the uid finance/999"):
        import_benchmark(SAMPLE, library, only=["finance/999", "finance/1"])


@needs_sample
@pytest.mark.usefixtures("imported")
def test_records_that_another_benchmark_has_are_skipped(library: Library) -> None:
    with pytest.raises(NoWorkPossible, match=r"none of the 6 records .* is taken by .*benchmarks/deepchart/queries"):
        import_benchmark(SAMPLE, library, name="again")
    assert library.names() == ["deepchart"]


# A clone of our own making, so that faults can be put into it.


def a_record(uid: str = "finance/7", **changes: object) -> dict[str, object]:
    record: dict[str, object] = {
        "uid": uid,
        "domain": "finance",
        "query": {"template": "Draw it in {code_type}.", "code_types": ["python"]},
        "context": {"modality": "text", "variants": {"normal": ["data/finance/7/normal/f-1/Income_Statement.md"]}},
        "references": {"d_src": "references/finance/7/d_src.csv", "d_der": None, "program": None, "chart_image": None},
    }
    return record | changes


def a_clone(folder: Path, *lines: object) -> Path:
    for relative in ("data/finance/7/normal/f-1/Income_Statement.md", "references/finance/7/d_src.csv"):
        path = folder / relative
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("Revenue,1\n", encoding="utf-8")
    (folder / "instances").mkdir()
    text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
    (folder / "instances" / "finance.jsonl").write_text(text + "\n", encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("fault", "uid", "reason"),
    [
        ("{broken", None, "instances/finance.jsonl line 2: no valid JSON"),
        ("[" * 100_000, None, "instances/finance.jsonl line 2: no valid JSON"),
        ("9" * 5_000, None, "instances/finance.jsonl line 2: no valid JSON"),
        ('"a string"', None, "instances/finance.jsonl line 2: "),
        (a_record("cooking/1", domain="cooking"), "cooking/1", "line 2: the domain 'cooking' is unknown; known are ac"),
        (a_record(), "finance/7", "line 2: the uid finance/7 is taken by instances/finance.jsonl line 1"),
        ({"uid": "finance/8", "domain": "finance"}, "finance/8", "line 2: query: is missing"),
        (
            a_record("finance/8", context={"variants": {"short": []}}),
            "finance/8",
            "line 2: the context variant 'short' is unknown",
        ),
        (a_record("finance/8", context={"variants": {}}), "finance/8", "at least one context variant"),
        (a_record("finance/8", domain="research_report", context={"variants": {"long": []}}), "finance/8", "no long"),
        (
            a_record("finance/8", context={"variants": {"normal": ["../../etc/passwd"]}}),
            "finance/8",
            "'../../etc/passwd' leaves the benchmark's folder",
        ),
        (a_record("finance/8", references={"d_src": "/etc/passwd"}), "finance/8", "leaves the benchmark's folder"),
        (a_record("finance/8", references={"d_src": "link.csv"}), "finance/8", "leaves the benchmark's folder through"),
        (a_record("finance/8", references={"d_src": "loop.csv"}), "finance/8", "'loop.csv'"),
        (a_record("finance/8", references={"d_src": "x" * 300}), "finance/8", "can be no file's name"),
        (a_record("finance/8", references={"d_src": "a\0b"}), "finance/8", "can be no file's name"),
        (a_record("年" * 100), "年" * 100, "too long for storage"),
    ],
)
def test_a_faulty_record_is_skipped_and_the_others_come_in(
    library: Library, tmp_path: Path, fault: object, uid: str | None, reason: str
) -> None:
    clone = a_clone(tmp_path / "clone", a_record(), fault, a_record("finance/9"))
    (tmp_path / "secret").write_text("not yours")
    (clone / "link.csv").symlink_to(tmp_path / "secret")
    (clone / "loop.csv").symlink_to(clone / "loop.csv")

    report = import_benchmark(clone, library)

    assert (report.read, report.imported) == (3, 2)
    assert [skipped.uid for skipped in report.skipped] == [uid]
    assert reason in report.skipped[0].reason
    assert [query.uid for query in library.queries()] == ["finance/7", "finance/9"]


def test_the_report_as_json(library: Library, tmp_path: Path) -> None:
    clone = a_clone(tmp_path / "clone", a_record(), "{broken")
    (clone / "references/finance/7/d_src.csv").unlink()

    report = import_benchmark(clone, library).as_json()

    assert json.loads(json.dumps(report)) == {
        "name": "deepchart",
        "changed": True,
        "read": 2,
        "imported": 1,
        "skipped": [
            {
                "uid": None,
                "reason": "instances/finance.jsonl line 2: no valid JSON (Expecting property name enclosed in "
                "double quotes: line 1 column 2 (char 1)).",
            }
        ],
        "warnings": [
            {
                "uid": "finance/7",
                "file": "references/finance/7/d_src.csv",
                "message": "missing from the source: source data cannot be scored.",
            }
        ],
    }


def test_nothing_importable_changes_nothing(library: Library, tmp_path: Path) -> None:
    import_benchmark(a_clone(tmp_path / "good", a_record()), library)
    with pytest.raises(NoWorkPossible, match=r"none of the 2 records .* line 1: no valid JSON"):
        import_benchmark(a_clone(tmp_path / "bad", "{broken", "{broken"), library)
    assert [query.uid for query in library.queries()] == ["finance/7"]


def test_an_empty_clone_and_what_is_no_benchmark(library: Library, tmp_path: Path) -> None:
    with pytest.raises(NoWorkPossible, match="holds no records"):
        import_benchmark(a_clone(tmp_path / "empty"), library)
    (tmp_path / "hollow" / "instances").mkdir(parents=True)
    with pytest.raises(NoWorkPossible, match=r"no \.jsonl file"):
        import_benchmark(tmp_path / "hollow", library)
    (tmp_path / "plain").mkdir()
    with pytest.raises(UsageError, match=r"neither benchmark\.json nor a folder instances/"):
        import_benchmark(tmp_path / "plain", library)
    with pytest.raises(UsageError, match="is no folder"):
        import_benchmark(tmp_path / "nowhere", library)


def test_a_git_lfs_pointer_is_no_file(library: Library, tmp_path: Path) -> None:
    clone = a_clone(tmp_path / "clone", a_record())
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n"
    (clone / "references/finance/7/d_src.csv").write_text(pointer)

    report = import_benchmark(clone, library)

    assert [warning.message for warning in report.warnings] == [
        "only a Git LFS pointer (run git lfs pull in the clone): source data cannot be scored."
    ]
    with pytest.raises(MissingInputError, match=r"d_src\.csv"):
        library.file(library.query("finance/7"), "references/finance/7/d_src.csv")


def test_stray_files_are_left_where_they_are(library: Library, tmp_path: Path) -> None:
    clone = a_clone(tmp_path / "clone", a_record())
    shutil.copy(clone / "references/finance/7/d_src.csv", clone / "data/finance/7/normal/f-1/stray.md")
    import_benchmark(clone, library)
    assert not (library.folder("deepchart") / "data/finance/7/normal/f-1/stray.md").exists()


def test_odd_metadata_is_a_warning(library: Library, tmp_path: Path) -> None:
    metadata = {"indicator": "99_Luck", "indicator_full": "运气 (Luck)", "start_year": "soon", "end_year": "2020"}
    query = {"template": "Draw luck.", "metadata": metadata}
    report = import_benchmark(a_clone(tmp_path / "clone", a_record(query=query)), library)

    stored = library.query("finance/7")
    assert (stored.query_type, stored.indicator, stored.years) == (None, "运气 (Luck)", ())
    assert [(warning.file, warning.message.split(":")[0]) for warning in report.warnings] == [
        ("instances/finance.jsonl line 1", "the indicator '运气 (Luck)' is none of the paper's"),
        ("instances/finance.jsonl line 1", "the years 'soon' to '2020' are no range of years"),
    ]


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("内部增长率 (Internal Growth Rate, IGR)", "Internal growth rate (IGR)"),
        ("盈余-现金质量剪刀差 (Earnings Quality Spread)", "Earnings quality spread"),
        ("(Graham's Net-Net Working Capital, NNWC)", "Graham’s net-net working capital (NNWC)"),
        ("x (Piotroski F-Score)", "Piotroski F-Score"),
        ("投入资本回报率（Return on Invested Capital, ROIC）", "Return on invested capital (ROIC)"),
        ("07_EBITDA", "EBITDA"),
        ("11_Earnings_Quality_Spread", "Earnings quality spread"),
        ("x (DuPont Return on Equity, ROE)", "DuPont return on equity (ROE)"),
        ("营业收入 (Revenue)", None),
        ("运气", None),
        ("", None),
    ],
)
def test_indicator_labels(name: str, label: str | None) -> None:
    assert indicator_label(name) == label


def test_every_label_of_the_paper_is_its_own() -> None:
    assert [indicator_label(label) for label in INDICATORS] == list(INDICATORS)


@pytest.mark.skipif(not SHARED.is_dir(), reason="../shared is not here")
def test_the_labels_are_those_of_the_papers_table() -> None:
    rows = (SHARED / "paper/tables/query_types.csv").read_text(encoding="utf-8").splitlines()
    assert list(INDICATORS) == [row.split(",")[1] for row in rows if row.startswith("finance,")]
