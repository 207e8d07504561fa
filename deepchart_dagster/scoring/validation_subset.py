"""The fixed charts on which judges, and people, are compared (paper, appendix B.4).

From each domain 60 charts: all charts that were judged in the main run are sorted by their primary VAS, cut into
three strata of equal size (low, medium, high), and 20 of each are drawn with a seed. The same charts and the same seed
give the same subset on every machine.

    <root>/validation/<benchmark>/subset.json       what was drawn, with the questions about each chart
    <root>/validation/<benchmark>/charts/<id>.png   the charts' bytes, as they were judged

A subset is drawn once and then stands: charts and questions are copied into it, so that labels which people gave stay
true whatever is computed again later. A chart's ``id`` is opaque: whoever labels it learns neither model nor domain.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from deepchart_dagster.artifacts.canonical import sha256_bytes
from deepchart_dagster.artifacts.files import new_folder, path_segment, storage_errors, write_bytes, write_json
from deepchart_dagster.artifacts.inputs import read_output
from deepchart_dagster.artifacts.results import Status
from deepchart_dagster.artifacts.store import ArtifactStore
from deepchart_dagster.benchmark.library import Library
from deepchart_dagster.benchmark.model import Domain, Query, Split
from deepchart_dagster.errors import DamagedFile, UpstreamError
from deepchart_dagster.generation.charts import CHART_ASSET
from deepchart_dagster.scoring.rubric_writing import Aspect
from deepchart_dagster.scoring.rubrics import CHART_NAME, RUBRIC_NAME, Rubric

CHARTS_PER_STRATUM = 20
SUBSET_SEED = 20264
SUBSET_FORMAT: Final = "deepchart-validation/1"
STRATA: tuple[Stratum, ...] = ("low", "medium", "high")
_SCORES = "visual_accuracy"

Stratum = Literal["low", "medium", "high"]


class StudyQuestion(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    aspect: Aspect
    question: str


class StudyChart(BaseModel):
    """One chart of the subset. ``primary_vas`` is what put it into its stratum."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    domain: Domain
    split: Split
    model: str
    uid: str
    stratum: Stratum
    primary_vas: float
    chart_sha256: str
    questions: tuple[StudyQuestion, ...]


class ValidationSubset(BaseModel):
    """``n_eligible``: charts that there were to draw from, by domain; ``primary``: the judge that scored them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal["deepchart-validation/1"] = SUBSET_FORMAT
    benchmark: str
    seed: int
    primary: str
    n_eligible: dict[Domain, int]
    charts: tuple[StudyChart, ...]

    def of(self, domain: Domain) -> tuple[StudyChart, ...]:
        return tuple(chart for chart in self.charts if chart.domain is domain)


@dataclass(frozen=True)
class Candidate:
    """A chart that the main run judged."""

    domain: Domain
    split: Split
    model: str
    uid: str
    primary_vas: float
    chart_sha256: str

    @property
    def name(self) -> str:
        return f"{self.split.value}/{self.model}/{self.uid}"

    @property
    def id(self) -> str:
        return hashlib.sha256(f"{self.name}/{self.chart_sha256}".encode()).hexdigest()[:12]


@dataclass(frozen=True)
class Drawn:
    candidate: Candidate
    stratum: Stratum


def draw(
    candidates: Iterable[Candidate], *, per_stratum: int = CHARTS_PER_STRATUM, seed: int = SUBSET_SEED
) -> list[Drawn]:
    """``per_stratum`` of each domain's tertiles by primary VAS, or all of a stratum that has no more."""
    drawn: list[Drawn] = []
    for domain, members in _by_domain(candidates).items():
        for stratum, charts in zip(STRATA, _tertiles(members), strict=True):
            chance = random.Random(f"{seed}/{domain.value}/{stratum}")  # noqa: S311 - has to repeat
            chosen = chance.sample(charts, min(per_stratum, len(charts)))
            drawn += [Drawn(chart, stratum) for chart in sorted(chosen, key=_by_vas)]
    return drawn


def _by_domain(candidates: Iterable[Candidate]) -> dict[Domain, list[Candidate]]:
    groups: dict[Domain, list[Candidate]] = {domain: [] for domain in Domain}
    for candidate in candidates:
        groups[candidate.domain].append(candidate)
    return {domain: sorted(members, key=_by_vas) for domain, members in groups.items()}


def _by_vas(candidate: Candidate) -> tuple[float, str]:
    return candidate.primary_vas, candidate.name


def _tertiles(ordered: Sequence[Candidate]) -> Iterator[Sequence[Candidate]]:
    bounds = [round(len(ordered) * third / 3) for third in range(4)]
    for low, high in pairwise(bounds):
        yield ordered[low:high]


@dataclass(frozen=True)
class SubsetStore:
    """The subsets of a storage, one a benchmark."""

    root: Path

    def folder(self, benchmark: str) -> Path:
        return self.root / "validation" / path_segment(benchmark)

    def read(self, benchmark: str) -> ValidationSubset | None:
        """None where none has been drawn. Raises DamagedFile for one that cannot be read."""
        path = self.folder(benchmark) / "subset.json"
        if not path.is_file():
            return None
        with storage_errors(path, "read"):
            content = path.read_bytes()
        try:
            return ValidationSubset.model_validate_json(content)
        except ValidationError as error:
            raise DamagedFile(
                f"{path} is no validation subset: {error.errors()[0]['msg']}.",
                remedy="Labels belong to it: put it back from a copy, or delete the folder and draw anew.",
            ) from error

    def chart(self, benchmark: str, chart: StudyChart) -> bytes:
        """The chart's bytes. Raises DamagedFile where they are not those that were drawn."""
        path = self.folder(benchmark) / "charts" / f"{chart.id}.png"
        with storage_errors(path, "read"):
            data = path.read_bytes() if path.is_file() else b""
        if sha256_bytes(data) != chart.chart_sha256:
            raise DamagedFile(
                f"{path} is missing or not the chart that was drawn into the subset.",
                remedy="Put it back from a copy, or delete the subset's folder and draw anew.",
            )
        return data

    def write(self, subset: ValidationSubset, charts: Mapping[str, bytes]) -> None:
        with new_folder(self.folder(subset.benchmark)) as folder:
            for chart in subset.charts:
                write_bytes(folder / "charts" / f"{chart.id}.png", charts[chart.id])
            write_json(folder / "subset.json", subset.model_dump(mode="json"))


@dataclass(frozen=True)
class SubsetDrawing:
    """Draws a benchmark's subset from what the main run has judged.

    ``primary`` is the judge whose VAS counts: charts that another one judged are not eligible.
    """

    store: ArtifactStore
    library: Library
    subsets: SubsetStore

    def draw(self, benchmark: str, primary: str) -> ValidationSubset:
        """The subset that stands, or a new one. Raises UpstreamError where no chart has been judged."""
        standing = self.subsets.read(benchmark)
        return standing if standing is not None else self._drawn(benchmark, primary)

    def _drawn(self, benchmark: str, primary: str) -> ValidationSubset:
        candidates = list(self.candidates(benchmark, primary))
        if not candidates:
            raise UpstreamError(
                f"{benchmark}: {primary} has judged no chart yet.",
                remedy="Judge some: deepchart materialize visual_accuracy --model M --split S.",
            )
        charts: dict[str, bytes] = {}
        members: list[StudyChart] = []
        for drawn in draw(candidates):
            candidate = drawn.candidate
            charts[candidate.id] = self._bytes(candidate)
            members.append(self._member(drawn))
        subset = ValidationSubset(
            benchmark=benchmark,
            seed=SUBSET_SEED,
            primary=primary,
            n_eligible={domain: len(group) for domain, group in _by_domain(candidates).items()},
            charts=tuple(members),
        )
        self.subsets.write(subset, charts)
        return subset

    def candidates(self, benchmark: str, primary: str) -> Iterator[Candidate]:
        """Every chart of ``benchmark`` that has a VAS by ``primary``, in no order that matters."""
        for split_name, model in self.store.manifests(_SCORES):
            split = Split(split_name)
            for instance in self.library.instances(split):
                if instance.query.benchmark == benchmark:
                    yield from self._candidate(instance.query, split, model, primary)

    def _candidate(self, query: Query, split: Split, model: str, primary: str) -> Iterator[Candidate]:
        scope = (split.value, model)
        score = self.store.read(_SCORES, scope, query.uid)
        chart = self.store.read(CHART_ASSET, scope, query.uid)
        if score is None or chart is None or score.status is not Status.OK or CHART_NAME not in chart.files:
            return
        vas, judge = score.value.get("vas"), score.value.get("judge")
        sha256 = chart.files[CHART_NAME].sha256
        # A chart that was drawn again since is not the one that the score is of.
        if judge == primary and isinstance(vas, int | float) and score.key_parts.get("chart") == sha256:
            yield Candidate(query.domain, split, model, query.uid, float(vas), sha256)

    def _bytes(self, candidate: Candidate) -> bytes:
        scope = (candidate.split.value, candidate.model)
        chart = self.store.read(CHART_ASSET, scope, candidate.uid)
        assert chart is not None
        return read_output(self.store, chart, CHART_NAME)

    def _member(self, drawn: Drawn) -> StudyChart:
        candidate = drawn.candidate
        result = self.store.read("rubrics", (), candidate.uid)
        if result is None or RUBRIC_NAME not in result.files:
            raise UpstreamError(
                f"{candidate.uid}: its rubric is gone.", remedy="Write it again: deepchart materialize rubrics."
            )
        rubric = Rubric.read(read_output(self.store, result, RUBRIC_NAME), f"{candidate.uid} {RUBRIC_NAME}")
        return StudyChart(
            id=candidate.id,
            domain=candidate.domain,
            split=candidate.split,
            model=candidate.model,
            uid=candidate.uid,
            stratum=drawn.stratum,
            primary_vas=candidate.primary_vas,
            chart_sha256=candidate.chart_sha256,
            questions=tuple(
                StudyQuestion(id=item.id, aspect=item.aspect, question=item.question) for item in rubric.valid_items
            ),
        )
