"""What people say of the validation subset's charts, by the same questions as the judge (paper, appendix B.4).

Two annotators answer every item for themselves. Where they agree, that is the human label; where they do not, a third
person adjudicates. Nobody sees who drew a chart, of which domain it is, what the judge said or what the others said: a
sheet holds pictures and questions under opaque names, in an order of its own for each annotator.

    <root>/validation/<benchmark>/labels/<annotator>.json
"""

from __future__ import annotations

import csv
import hashlib
import io
import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from deepchart_dagster.artifacts.files import is_slug, storage_errors, write_json
from deepchart_dagster.errors import BenchmarkFormatError, DamagedFile, UsageError
from deepchart_dagster.scoring.agreement import Item, Points
from deepchart_dagster.scoring.validation_subset import StudyChart, StudyQuestion, SubsetStore, ValidationSubset

LABELS_FORMAT: Final = "deepchart-labels/1"
SHEET_COLUMNS = ("item", "chart", "question", "answer")
FORMULA_SIGNS = ("=", "+", "-", "@")
_DELIMITERS = ",;\t"  # what spreadsheets write, by country
_MOST_BYTES = 16 << 20

Answer = Literal["yes", "no"]
Role = Literal["annotator", "adjudicator"]
_ANSWERS: dict[str, Answer] = {"yes": "yes", "y": "yes", "no": "no", "n": "no"}


class Labels(BaseModel):
    """One person's answers, by item. ``note``: who that was and how the labels came about, in their words."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal["deepchart-labels/1"] = LABELS_FORMAT
    benchmark: str
    annotator: str
    role: Role
    note: str
    answers: dict[str, Answer]


def check_annotator(name: str) -> None:
    """Raises UsageError for what cannot be the name of a file, or stand in a page."""
    if not is_slug(name):
        raise UsageError(f"{name!r} is no name for labels.", remedy="Use letters, digits, - and _.")


@dataclass(frozen=True)
class SheetItem:
    """A question about a chart as a sheet has it. ``id`` tells neither the chart's origin nor the aspect."""

    id: str
    chart: StudyChart
    question: StudyQuestion

    @property
    def place(self) -> Item:
        return Item(self.chart.id, self.question.id)


def sheet_items(subset: ValidationSubset) -> dict[str, SheetItem]:
    """Every item of the subset, by its id."""
    items = (SheetItem(_item_id(chart, one), chart, one) for chart in subset.charts for one in chart.questions)
    return {item.id: item for item in items}


def _item_id(chart: StudyChart, question: StudyQuestion) -> str:
    """Begins with a letter: a spreadsheet takes twelve hexadecimal digits for a number now and then, and rounds it."""
    return "i" + hashlib.sha256(f"{chart.id}/{question.id}/{question.question}".encode()).hexdigest()[:12]


def shuffled(subset: ValidationSubset, annotator: str, only: Iterable[str] | None = None) -> list[SheetItem]:
    """The items (``only`` of these ids) in this annotator's order: charts shuffled, each chart's questions too."""
    wanted = None if only is None else set(only)
    items = [item for item in sheet_items(subset).values() if wanted is None or item.id in wanted]
    chance = random.Random(f"{subset.seed}/{subset.benchmark}/{annotator}")  # noqa: S311 - has to repeat
    chance.shuffle(items)
    charts = {chart: place for place, chart in enumerate(dict.fromkeys(item.chart.id for item in items))}
    return sorted(items, key=lambda item: charts[item.chart.id])  # stable: questions stay shuffled


def sheet_csv(items: Iterable[SheetItem]) -> str:
    """The sheet as CSV, to be filled in: the column answer takes Yes or No."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(SHEET_COLUMNS)
    writer.writerows([item.id, f"charts/{item.chart.id}.png", _as_words(item.question.question), ""] for item in items)
    return text.getvalue()


def _as_words(question: str) -> str:
    """So that no spreadsheet computes it: models write questions, and a cell that begins like this is a formula."""
    return f"'{question}" if question.startswith(FORMULA_SIGNS) else question


def read_sheet(path: Path, subset: ValidationSubset) -> dict[str, Answer]:
    """The answers of a filled-in sheet, by item; rows without an answer are left out.

    Raises BenchmarkFormatError that names file and line for what is no sheet of this subset.
    """
    items = sheet_items(subset)
    answers: dict[str, Answer] = {}
    for row in _rows(path):
        place = f"{path}, line {row.line}"
        if row.item not in items:
            raise BenchmarkFormatError(f"{place}: {row.item!r} is no item of the subset of {subset.benchmark}.")
        if not row.said:
            continue
        answer = _ANSWERS.get(row.said.lower())
        if answer is None:
            raise BenchmarkFormatError(f"{place}: the answer is {row.said!r}; write Yes or No, or leave it empty.")
        if answers.setdefault(row.item, answer) != answer:
            raise BenchmarkFormatError(f"{place}: item {row.item} has two different answers.")
    if not answers:
        raise BenchmarkFormatError(f"{path} has no answers: fill in the column answer of its rows.")
    return answers


@dataclass(frozen=True)
class _Row:
    line: int
    item: str
    said: str


def _rows(path: Path) -> list[_Row]:
    text = _sheet_text(path)
    delimiter = max(_DELIMITERS, key=text.partition("\n")[0].count)
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        names = list(reader.fieldnames or ())
        if names.count("item") != 1 or names.count("answer") != 1:
            raise BenchmarkFormatError(f"{path} is no sheet: its first line does not name the columns item and answer.")
        return [
            _Row(reader.line_num, (row["item"] or "").strip(), (row["answer"] or "").strip())
            for row in reader
            if any(row.values())
        ]
    except csv.Error as error:
        raise BenchmarkFormatError(f"{path} is no CSV file ({error}).") from error


def _sheet_text(path: Path) -> str:
    with storage_errors(path, "read"), path.open("rb") as file:
        data = file.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise BenchmarkFormatError(f"{path} is too large for a sheet of labels.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BenchmarkFormatError(f"{path} is no CSV file in UTF-8 ({error}).") from error


@dataclass(frozen=True)
class Adjudicated:
    """The human labels of a subset, and what became of every item.

    ``points`` are 1 for Yes and 0 for No. ``open`` items are those that the two disagree on and nobody adjudicated;
    ``unlabelled`` lack an answer of one of the two.
    """

    points: Points
    n_agreed: int
    n_adjudicated: int
    open: tuple[str, ...]
    unlabelled: tuple[str, ...]


@dataclass(frozen=True)
class LabelStore:
    """The labels of a storage, beside the subset that they belong to."""

    subsets: SubsetStore

    def folder(self, benchmark: str) -> Path:
        return self.subsets.folder(benchmark) / "labels"

    def add(self, labels: Labels) -> Path:
        """Keep one person's labels; their own earlier ones are replaced.

        Raises UsageError for a name that is none, a third annotator, a second adjudicator, or one who would decide
        between two answers of which one is their own.
        """
        check_annotator(labels.annotator)
        everybody = self.all(labels.benchmark)
        if any(one.annotator == labels.annotator and one.role != labels.role for one in everybody):
            raise UsageError(
                f"{labels.annotator} has labelled {labels.benchmark} in another part already.",
                remedy="Annotators and the one who decides between them are three different people.",
            )
        others = [one for one in everybody if one.annotator != labels.annotator]
        same_role = [one.annotator for one in others if one.role == labels.role]
        most = 2 if labels.role == "annotator" else 1
        if len(same_role) >= most:
            raise UsageError(
                f"{labels.benchmark} has its {'two annotators' if most == 2 else 'adjudicator'} already: "
                f"{', '.join(same_role)}.",
                remedy="A third person decides where the two disagree: --adjudicator. Or delete a file in "
                f"{self.folder(labels.benchmark)}.",
            )
        path = self.folder(labels.benchmark) / f"{labels.annotator}.json"
        write_json(path, labels.model_dump(mode="json"))
        return path

    def all(self, benchmark: str) -> list[Labels]:
        """Everybody's, annotators first, by name. Raises DamagedFile for a file that is no labels."""
        found = [self._read(path) for path in sorted(self.folder(benchmark).glob("*.json"))]
        return sorted(found, key=lambda one: (one.role != "annotator", one.annotator))

    def _read(self, path: Path) -> Labels:
        with storage_errors(path, "read"):
            content = path.read_bytes()
        try:
            return Labels.model_validate_json(content)
        except ValidationError as error:
            raise DamagedFile(
                f"{path} holds no labels: {error.errors()[0]['msg']}.", remedy="Import the sheet again."
            ) from error


def adjudicated(subset: ValidationSubset, everybody: Iterable[Labels]) -> Adjudicated:
    """Human labels from two annotators and, where they disagree, the adjudicator. Raises UsageError without two."""
    by_role: dict[Role, list[Labels]] = {"annotator": [], "adjudicator": []}
    for one in everybody:
        by_role[one.role].append(one)
    if len(by_role["annotator"]) != 2:
        raise UsageError(
            f"{subset.benchmark} has labels of {len(by_role['annotator'])} annotators; two are needed.",
            remedy="Export a sheet for each (deepchart validation sheet), import both (deepchart validation import).",
        )
    first, second = (one.answers for one in by_role["annotator"])
    third = by_role["adjudicator"][0].answers if by_role["adjudicator"] else {}
    return _settled(subset, first, second, third)


def _settled(
    subset: ValidationSubset, first: Mapping[str, Answer], second: Mapping[str, Answer], third: Mapping[str, Answer]
) -> Adjudicated:
    points: dict[Item, int] = {}
    n_agreed = n_adjudicated = 0
    undecided: list[str] = []
    unlabelled: list[str] = []
    for item in sheet_items(subset).values():
        one, two = first.get(item.id), second.get(item.id)
        if one is None or two is None:
            unlabelled.append(item.id)
        elif one == two:
            points[item.place] = int(one == "yes")
            n_agreed += 1
        elif item.id in third:
            points[item.place] = int(third[item.id] == "yes")
            n_adjudicated += 1
        else:
            undecided.append(item.id)
    return Adjudicated(points, n_agreed, n_adjudicated, tuple(undecided), tuple(unlabelled))


def points_of(subset: ValidationSubset, labels: Labels) -> Points:
    items = sheet_items(subset)
    return {items[name].place: int(answer == "yes") for name, answer in labels.answers.items() if name in items}
