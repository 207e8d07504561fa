"""Rubrics that somebody gives instead of having them written: of another storage, or of the published benchmark.

    <root>/given_rubrics/<uid>.json

A given rubric takes the writer's place for its query; where it asks what the writer's valid questions ask, the written
one stays for as long as it stands. Its questions are checked on the reference chart like any
other's (``checked``), and those that do not hold are kept as invalid, not replaced; or they count as they stand.

Two files are read:

deepchart-rubrics/1   what ``deepchart rubrics export`` wrote: {"format", "rubrics": [rubric.json, …]}
published             {uid: {"evaluation_questions": {"ic_1": "…", "dt_1": "…", "pq_1": "…"}}}, or a folder with one
                      such object for each query, at <uid>.json; ic, dt and pq are the three aspects
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError

from deepchart_dagster.artifacts.bounded_json import load_json
from deepchart_dagster.artifacts.canonical import content_hash
from deepchart_dagster.artifacts.files import path_segment, storage_errors, write_json
from deepchart_dagster.errors import BenchmarkFormatError, DamagedFile
from deepchart_dagster.scoring.rubric_writing import Aspect, RubricItem

EXPORT_FORMAT: Final = "deepchart-rubrics/1"
_MOST_BYTES = 64 << 20
_PUBLISHED_ASPECTS = {
    "ic": Aspect.INSTRUCTION_COMPLIANCE,
    "dt": Aspect.DATA_MAPPING_TOPOLOGY,
    "pq": Aspect.PRESENTATION_QUALITY,
}


class GivenQuestion(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    aspect: Aspect
    question: str


class GivenRubric(BaseModel):
    """The questions for one query. ``source`` is the file they came from, by its name."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal["deepchart-given-rubric/1"] = "deepchart-given-rubric/1"
    uid: str
    source: str
    checked: bool
    questions: tuple[GivenQuestion, ...]

    @property
    def unusual_aspects(self) -> tuple[Aspect, ...]:
        """Aspects with fewer or more questions than the paper's: they count as they are."""
        counts = Counter(one.aspect for one in self.questions)
        return tuple(aspect for aspect in Aspect if not aspect.fewest <= counts[aspect] <= aspect.most)

    def asks(self, items: Iterable[RubricItem]) -> bool:
        """Whether these are its questions, in whatever order."""
        own = sorted((one.aspect, one.question) for one in self.questions)
        return own == sorted((item.aspect, item.question) for item in items)

    def identity(self) -> str:
        """What a rubric made from this depends on."""
        return content_hash([self.checked, *([one.aspect.value, one.question] for one in self.questions)])


@dataclass(frozen=True)
class GivenRubrics:
    """Those of one storage root."""

    root: Path

    @property
    def folder(self) -> Path:
        return self.root / "given_rubrics"

    def path(self, uid: str) -> Path:
        return self.folder / f"{path_segment(uid)}.json"

    def read(self, uid: str) -> GivenRubric | None:
        """None where none is given. Raises DamagedFile for a file that is none."""
        path = self.path(uid)
        if not path.is_file():
            return None
        with storage_errors(path, "read"):
            content = path.read_bytes()
        try:
            return GivenRubric.model_validate_json(content)
        except ValidationError as error:
            raise DamagedFile(
                f"{path} is no given rubric: {error.errors()[0]['msg']}.", remedy="Delete it, or import it again."
            ) from error

    def add(self, rubrics: Iterable[GivenRubric]) -> None:
        for rubric in rubrics:
            write_json(self.path(rubric.uid), rubric.model_dump(mode="json"))

    def forget(self, uid: str) -> bool:
        """Whether there was one. The writer writes the query's rubric again."""
        path = self.path(uid)
        there = path.is_file()
        with storage_errors(path, "delete"):
            path.unlink(missing_ok=True)
        return there


def read_given(path: Path, *, checked: bool) -> list[GivenRubric]:
    """The rubrics in a file or a folder, sorted by uid. Raises BenchmarkFormatError that names file and place."""
    if path.is_dir():
        found = [
            _published(file.name, str(file.relative_to(path).with_suffix("")), _load(file), checked)
            for file in sorted(path.rglob("*.json"))
        ]
    else:
        found = list(_in_file(path, _load(path), checked))
    if not found:
        raise BenchmarkFormatError(f"{path} holds no rubric.")
    twice = [uid for uid, count in Counter(rubric.uid for rubric in found).items() if count > 1]
    if twice:
        raise BenchmarkFormatError(f"{path} has two rubrics for {twice[0]}.", remedy="Leave one of them.")
    return sorted(found, key=lambda rubric: rubric.uid)


def _load(path: Path) -> dict[str, JsonValue]:
    with storage_errors(path, "read"), path.open("rb") as file:
        data = file.read(_MOST_BYTES + 1)
    value = load_json(data, name=str(path), max_bytes=_MOST_BYTES)
    if not isinstance(value, dict):
        raise BenchmarkFormatError(f"{path} is JSON, but no object.")
    return value


def _in_file(path: Path, value: dict[str, JsonValue], checked: bool) -> Iterator[GivenRubric]:
    if isinstance(value.get("format"), str) and value["format"] != EXPORT_FORMAT:
        raise BenchmarkFormatError(
            f"{path} is written as {value['format']!r}.",
            remedy=f"This version reads {EXPORT_FORMAT}, and the published layout.",
        )
    if "format" not in value:
        for uid, rubric in value.items():
            yield _published(path.name, uid, rubric, checked)
        return
    rubrics = value.get("rubrics")
    for rubric in rubrics if isinstance(rubrics, list) else []:
        yield _exported(path.name, rubric, checked)


def _published(source: str, uid: str, rubric: JsonValue, checked: bool) -> GivenRubric:
    questions = rubric.get("evaluation_questions") if isinstance(rubric, dict) else None
    if not isinstance(questions, dict):
        raise BenchmarkFormatError(f"{source}, {uid}: there are no evaluation_questions.")
    return _given(source, uid, checked, [(_aspect(source, uid, name), text) for name, text in questions.items()])


def _aspect(source: str, uid: str, name: str) -> Aspect:
    aspect = _PUBLISHED_ASPECTS.get(name.partition("_")[0].lower())
    if aspect is None:
        raise BenchmarkFormatError(f"{source}, {uid}: question {name!r} is of no aspect (ic_…, dt_…, pq_…).")
    return aspect


def _exported(source: str, rubric: JsonValue, checked: bool) -> GivenRubric:
    """Only the questions that held on the reference chart: the others were replaced by these."""
    members = rubric if isinstance(rubric, dict) else {}
    uid, items = members.get("uid"), members.get("items")
    if not isinstance(uid, str) or not isinstance(items, list):
        raise BenchmarkFormatError(f"{source}: a rubric lacks its uid or items.")
    valid = [item for item in items if isinstance(item, dict) and item.get("valid") is True]
    try:
        return _given(source, uid, checked, [(Aspect(str(item.get("aspect"))), item.get("question")) for item in valid])
    except ValueError as error:
        raise BenchmarkFormatError(f"{source}, {uid}: {error}.") from error


def _given(source: str, uid: str, checked: bool, questions: list[tuple[Aspect, JsonValue]]) -> GivenRubric:
    texts = [" ".join(text.split()) for _, text in questions if isinstance(text, str)]
    if not texts or len(texts) < len(questions) or not all(texts):
        raise BenchmarkFormatError(f"{source}, {uid}: a question is empty or no text.")
    if len(set(texts)) < len(texts):
        raise BenchmarkFormatError(f"{source}, {uid}: a question comes twice.")
    given = sorted(
        (GivenQuestion(aspect=aspect, question=text) for (aspect, _), text in zip(questions, texts, strict=True)),
        key=lambda one: list(Aspect).index(one.aspect),
    )
    return GivenRubric(uid=uid, source=source, checked=checked, questions=tuple(given))
