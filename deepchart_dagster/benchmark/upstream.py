"""Reading a clone of the published benchmark as it is laid out (instances/<domain>.jsonl and named files).

The record is followed, folders are never searched: stray files exist there. What the published data says
in another way is translated here and nowhere else: its domain names, its variant names, indicators in two
languages, years as strings, HTML programs beside a code type list that leaves HTML out.
"""

from __future__ import annotations

import re
from pathlib import Path

from pydantic import BaseModel, ValidationError

from deepchart_dagster.artifacts.files import storage_errors
from deepchart_dagster.benchmark.import_report import ImportWarning, SkippedRecord, SourceReading, SourceRecord
from deepchart_dagster.benchmark.library import load_json
from deepchart_dagster.benchmark.model import CodeType, ContextVariant, Domain, Modality, Query, References
from deepchart_dagster.errors import BenchmarkFormatError, NoWorkPossible, in_words

DEFAULT_NAME = "deepchart"
DOMAINS = {
    "academic": Domain.ACADEMIC,
    "finance": Domain.FINANCE,
    "research_report": Domain.ECOSYSTEM,
}
VARIANTS = {
    "normal": ContextVariant.NORMAL,
    "long": ContextVariant.LONG,
    "ultra_long": ContextVariant.ULTRA_LONG,
}

# Paper, table 6, finance.
INDICATORS = (
    "Graham’s net-net working capital (NNWC)",
    "Earnings quality spread",
    "Defensive interval ratio (DIR)",
    "EBITDA",
    "Piotroski F-Score",
    "Return on invested capital (ROIC)",
    "Economic value added (EVA)",
    "Quality of income ratio",
    "Internal growth rate (IGR)",
    "Altman Z-Score",
    "Reinvestment rate",
    "Sloan ratio",
    "DuPont return on equity (ROE)",
    "Cash conversion cycle (CCC)",
    "Cash burn runway",
    "Sustainable growth rate (SGR)",
)


class _Source(BaseModel):
    doc_id: str | None = None


class _ChartDescription(BaseModel):
    chart_type: str | None = None
    layout: str | None = None


class _Info(BaseModel):
    chart_type: str | None = None
    chart_type_subclass: str | None = None
    chart_description: _ChartDescription | None = None


class _Metadata(BaseModel):
    company: str | None = None
    indicator: str | None = None
    indicator_full: str | None = None
    start_year: str | int | None = None
    end_year: str | int | None = None


class _QueryText(BaseModel):
    template: str
    code_types: list[CodeType] = [CodeType.PYTHON]
    metadata: _Metadata | None = None


class _Context(BaseModel):
    modality: Modality = Modality.TEXT
    variants: dict[str, list[str]]


class _Programs(BaseModel):
    stage1_extract: str | None = None
    stage2_python: str | None = None
    stage2_html: str | None = None


class _References(BaseModel):
    d_src: str | None = None
    d_der: str | None = None
    program: _Programs | None = None
    chart_image: str | None = None


class _Record(BaseModel):
    """A published record, as far as it is used."""

    uid: str
    domain: str
    orig_id: str | int | None = None
    source: _Source | None = None
    info: _Info | None = None
    query: _QueryText
    context: _Context
    references: _References = _References()


def is_upstream(folder: Path) -> bool:
    return (folder / "instances").is_dir()


def read_upstream(folder: Path) -> SourceReading:
    """All records of a clone; one that cannot be read is skipped with file, line and reason.

    Raises NoWorkPossible where instances/ holds no .jsonl file.
    """
    files = sorted((folder / "instances").glob("*.jsonl"))
    if not files:
        raise NoWorkPossible(f"{folder / 'instances'} holds no .jsonl file.", remedy="Is the clone complete?")
    records: list[SourceRecord] = []
    skipped: list[SkippedRecord] = []
    for path in files:
        with storage_errors(path, "read"):
            lines = path.read_bytes().split(b"\n")
        for number, line in enumerate(lines, start=1):
            if line.strip():
                place = f"instances/{path.name} line {number}"
                outcome = read_record(line, place)
                records.append(outcome) if isinstance(outcome, SourceRecord) else skipped.append(outcome)
    return SourceReading(name=DEFAULT_NAME, folder=folder, records=tuple(records), skipped=tuple(skipped))


def read_record(line: bytes, place: str) -> SourceRecord | SkippedRecord:
    """One published record, translated; ``place`` is named in reasons and warnings."""
    uid: str | None = None
    try:
        raw = load_json(line, place)
        said = raw.get("uid") if isinstance(raw, dict) else None
        uid = said if isinstance(said, str) else None
        return _translate(_Record.model_validate(raw), place)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        return SkippedRecord(
            uid=uid, reason=f"{place}: {f'{where}: ' if where else 'the record '}{in_words(first['msg'])}."
        )
    except BenchmarkFormatError as error:
        return SkippedRecord(uid=uid, reason=error.message)


def _translate(record: _Record, place: str) -> SourceRecord:
    info = record.info or _Info()
    description = info.chart_description or _ChartDescription()
    metadata = record.query.metadata or _Metadata()
    notes = _Notes(record, place, metadata)
    variants = {_variant(name, place): tuple(paths) for name, paths in record.context.variants.items()}
    query = Query(
        uid=record.uid,
        benchmark=DEFAULT_NAME,
        domain=_domain(record.domain, place),
        orig_id=None if record.orig_id is None else str(record.orig_id),
        document_ids=_document_ids(record),
        query_type=notes.query_type,
        indicator=metadata.indicator_full or metadata.indicator,
        company=metadata.company,
        years=notes.years,
        chart_type=description.chart_type or info.chart_type or None,
        chart_family=info.chart_type or None,
        chart_subclass=info.chart_type_subclass or None,
        chart_purpose=record.query.template,
        chart_layout=description.layout or None,
        code_types=notes.code_types,
        modality=record.context.modality,
        variants=tuple(variant for variant in ContextVariant if variant in variants),
        context_files=variants,
        references=_references(record.references),
    )
    return SourceRecord(query=query, place=place, warnings=notes.warnings)


def _domain(name: str, place: str) -> Domain:
    if name not in DOMAINS:
        raise BenchmarkFormatError(f"{place}: the domain {name!r} is unknown; known are {', '.join(DOMAINS)}.")
    return DOMAINS[name]


def _variant(name: str, place: str) -> ContextVariant:
    if name not in VARIANTS:
        known = ", ".join(VARIANTS)
        raise BenchmarkFormatError(f"{place}: the context variant {name!r} is unknown; known are {known}.")
    return VARIANTS[name]


def _references(references: _References) -> References:
    programs = references.program or _Programs()
    return References(
        d_src=references.d_src,
        d_der=references.d_der,
        stage1=programs.stage1_extract,
        stage2_python=programs.stage2_python,
        stage2_html=programs.stage2_html,
        chart_image=references.chart_image,
    )


_FILING = re.compile(r"data/finance/[^/]+/[^/]+/([^/]+)/[^/]+")


def _document_ids(record: _Record) -> tuple[str, ...]:
    """The filings that the context paths name, in their order; elsewhere the source's own document id."""
    paths = [path for paths in record.context.variants.values() for path in paths]
    filings = dict.fromkeys(match[1] for path in paths if (match := _FILING.fullmatch(path)))
    if filings:
        return tuple(filings)
    return (record.source.doc_id,) if record.source and record.source.doc_id else ()


class _Notes:
    """What of a record has to be interpreted, and the warnings that come of it."""

    def __init__(self, record: _Record, place: str, metadata: _Metadata) -> None:
        self._uid = record.uid
        self._place = place
        self._warnings: list[ImportWarning] = []
        self.code_types = self._code_types(record)
        self.query_type = self._query_type(metadata)
        self.years = self._years(metadata)

    @property
    def warnings(self) -> tuple[ImportWarning, ...]:
        return tuple(self._warnings)

    def _warn(self, file: str, message: str) -> None:
        self._warnings.append(ImportWarning(uid=self._uid, file=file, message=message))

    def _code_types(self, record: _Record) -> tuple[CodeType, ...]:
        listed = tuple(record.query.code_types) or (CodeType.PYTHON,)
        html = record.references.program.stage2_html if record.references.program else None
        if html is None or CodeType.HTML in listed:
            return listed
        self._warn(html, "the record names an HTML program, though its code_types leave html out: html is added.")
        return (*listed, CodeType.HTML)

    def _query_type(self, metadata: _Metadata) -> str | None:
        name = metadata.indicator_full or metadata.indicator
        if not name:
            return None
        label = indicator_label(name) or indicator_label(metadata.indicator or "")
        if label is None:
            self._warn(self._place, f"the indicator {name!r} is none of the paper's: its query type stays unknown.")
        return label

    def _years(self, metadata: _Metadata) -> tuple[int, ...]:
        if metadata.start_year is None and metadata.end_year is None:
            return ()
        try:
            first, last = int(str(metadata.start_year)), int(str(metadata.end_year))
        except ValueError:
            first, last = 1, 0
        if not 0 <= last - first <= _MOST_YEARS:
            said = f"{metadata.start_year!r} to {metadata.end_year!r}"
            self._warn(self._place, f"the years {said} are no range of years: they stay unknown.")
            return ()
        return tuple(range(first, last + 1))


_MOST_YEARS = 100


def indicator_label(name: str) -> str | None:
    """The label of the paper's table 6 for a published indicator, or None.

    ``name`` is Chinese with English in brackets, "息税… (Earnings …, EBITDA)", or a code such as
    "07_EBITDA". Its acronym decides, or all of its English words.
    """
    bracketed = re.search(r"[(（](.+)[)）]\s*$", name)
    english = bracketed[1] if bracketed else re.sub(r"^\d+_", "", name)
    candidates = {_words(english), _words(english.rpartition(",")[2]), _words(english.rpartition(",")[0])}
    candidates |= {_words(part) for part in re.split(r"[()（）]", english)}
    for label in INDICATORS:
        whole, _, acronym = label.partition("(")
        if candidates & ({_words(label), _words(whole), _words(acronym)} - {""}):
            return label
    return None


def _words(text: str) -> str:
    """The letters and digits of ``text``, lower case: spelling apart, two names are equal or not."""
    return re.sub(r"[^0-9a-z]", "", text.casefold())
