"""The table of agreement on a benchmark's validation subset: every pair of judges, and the people where they labelled.

Written to ``<root>/validation/<benchmark>/agreement.json``, so that the figures are there without asking again.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue

from deepchart_dagster.artifacts.files import write_json
from deepchart_dagster.artifacts.inputs import read_output
from deepchart_dagster.artifacts.results import InstanceResult, Status
from deepchart_dagster.artifacts.store import ArtifactStore
from deepchart_dagster.errors import UpstreamError, UsageError
from deepchart_dagster.scoring.agreement import Agreement, Item, Points, agreement, all_pairs
from deepchart_dagster.scoring.human_labels import Adjudicated, Labels, LabelStore, adjudicated, points_of
from deepchart_dagster.scoring.judge_study import ASSET, instance_uid
from deepchart_dagster.scoring.validation_subset import StudyChart, SubsetStore, ValidationSubset
from deepchart_dagster.scoring.visual import VERDICTS_NAME

HUMAN = "human labels"


@dataclass(frozen=True)
class HumanSummary:
    """How the human labels came about. ``between`` is the agreement of the two annotators with each other."""

    between: Agreement
    n_agreed: int
    n_adjudicated: int
    n_open: int
    n_unlabelled: int
    notes: tuple[str, ...]

    def as_json(self) -> dict[str, JsonValue]:
        counts: dict[str, JsonValue] = {
            "n_agreed": self.n_agreed,
            "n_adjudicated": self.n_adjudicated,
            "n_open": self.n_open,
            "n_unlabelled": self.n_unlabelled,
        }
        return {"between": self.between.as_json(), **counts, "notes": list(self.notes)}


@dataclass(frozen=True)
class AgreementTable:
    """``judges``: pairs of judges; ``with_people``: each judge against the human labels, where there are any.

    ``n_unclear``: answers of each judge that were neither Yes nor No, and count as No.
    """

    benchmark: str
    primary: str
    n_charts: int
    judges: tuple[Agreement, ...]
    with_people: tuple[Agreement, ...]
    people: HumanSummary | None
    n_unclear: dict[str, int]

    def as_json(self) -> dict[str, JsonValue]:
        return {
            "benchmark": self.benchmark,
            "primary": self.primary,
            "n_charts": self.n_charts,
            "judges": [pair.as_json() for pair in self.judges],
            "with_people": [pair.as_json() for pair in self.with_people],
            "people": self.people.as_json() if self.people else None,
            "n_unclear": dict(self.n_unclear),
        }


@dataclass(frozen=True)
class AgreementTables:
    store: ArtifactStore
    subsets: SubsetStore

    def make(self, benchmark: str) -> AgreementTable:
        """The table as it stands, written beside the subset.

        Raises UpstreamError where there is no subset yet, DamagedFile for files that cannot be read.
        """
        subset = self.subsets.read(benchmark)
        if subset is None:
            raise UpstreamError(
                f"{benchmark} has no validation subset yet.", remedy="Draw it: deepchart validation draw."
            )
        raters, n_unclear = self._judges(subset)
        people = self._people(subset)
        table = AgreementTable(
            benchmark=benchmark,
            primary=subset.primary,
            n_charts=len(subset.charts),
            judges=tuple(all_pairs(raters)),
            with_people=tuple(
                agreement(judge, points, HUMAN, people.points) for judge, points in raters.items() if people
            ),
            people=self._summary(subset, people) if people else None,
            n_unclear=n_unclear,
        )
        write_json(self.path(benchmark), table.as_json())
        return table

    def path(self, benchmark: str) -> Path:
        return self.subsets.folder(benchmark) / "agreement.json"

    def _judges(self, subset: ValidationSubset) -> tuple[dict[str, Points], dict[str, int]]:
        """What each judge of the study said, the primary one first, and how often it was unclear."""
        judges = sorted((judge for (judge,) in self.store.manifests(ASSET)), key=lambda slug: slug != subset.primary)
        points: dict[str, Points] = {}
        n_unclear: dict[str, int] = {}
        for judge in judges:
            said = {
                item: answer for chart in subset.charts for item, answer in self._said(subset, chart, judge).items()
            }
            if said:
                points[judge] = {item: int(answer == "yes") for item, answer in said.items()}
                n_unclear[judge] = list(said.values()).count("unclear")
        return points, n_unclear

    def _said(self, subset: ValidationSubset, chart: StudyChart, judge: str) -> dict[Item, str]:
        result = self.store.read(ASSET, (judge,), instance_uid(subset, chart))
        if result is None or result.status is not Status.OK or result.key_parts.get("chart") != chart.chart_sha256:
            return {}
        return {Item(chart.id, str(row["id"])): str(row["verdict"]) for row in self._rows(result)}

    def _rows(self, result: InstanceResult) -> list[dict[str, JsonValue]]:
        return [json.loads(line) for line in read_output(self.store, result, VERDICTS_NAME).splitlines()]

    def _people(self, subset: ValidationSubset) -> Adjudicated | None:
        """None where two people have not labelled yet."""
        try:
            return adjudicated(subset, self._labels(subset))
        except UsageError:
            return None

    def _labels(self, subset: ValidationSubset) -> list[Labels]:
        return LabelStore(self.subsets).all(subset.benchmark)

    def _summary(self, subset: ValidationSubset, people: Adjudicated) -> HumanSummary:
        everybody = self._labels(subset)
        first, second = (one for one in everybody if one.role == "annotator")
        return HumanSummary(
            between=agreement(first.annotator, points_of(subset, first), second.annotator, points_of(subset, second)),
            n_agreed=people.n_agreed,
            n_adjudicated=people.n_adjudicated,
            n_open=len(people.open),
            n_unlabelled=len(people.unlabelled),
            notes=tuple(f"{one.annotator} ({one.role}): {one.note}" for one in everybody if one.note),
        )


def format_agreement(table: AgreementTable, paper: Sequence[Agreement] = ()) -> str:
    """The table as text, in the columns of the paper's table 9; ``paper`` are its own lines, to stand below."""
    names = [f"{pair.first} – {pair.second}" for pair in (*table.judges, *table.with_people)]
    between = table.people.between if table.people else None
    if between:
        names.append(f"{between.first} – {between.second}")
    if not names:
        return (
            f"{table.benchmark}: nothing to compare yet. Have the subset judged by two judges or more "
            "(deepchart materialize judge_verdicts --judge A --judge B), or labelled by two people."
        )
    width = max(map(len, [*names, *(f"{pair.first} – {pair.second}" for pair in paper)]))
    heads = ("items", "acc.", "F1", "κ", "Pearson", "Spearman", "MAE")
    lines = [
        f"Validation subset of {table.benchmark}: {table.n_charts} charts, primary judge {table.primary}",
        "".ljust(width) + "".join(head.rjust(10) for head in heads),
        *(_line(pair, width) for pair in (*table.judges, *table.with_people)),
    ]
    if table.people and between:
        lines += [_line(between, width), "", _people_text(table.people), *table.people.notes]
    if paper:
        lines += ["", "The paper's (table 9, 180 charts)", *(_line(pair, width) for pair in paper)]
    unclear = [f"{judge} {n}" for judge, n in table.n_unclear.items() if n]
    if unclear:
        lines += ["", f"Neither Yes nor No, counted as No: {', '.join(unclear)}."]
    return "\n".join(lines)


def _line(pair: Agreement, width: int) -> str:
    figures = (pair.accuracy, pair.macro_f1, pair.kappa, pair.pearson, pair.spearman, pair.mae)
    texts = ["—" if figure is None else f"{figure:.3f}" for figure in figures]
    return f"{pair.first} – {pair.second}".ljust(width) + "".join(
        text.rjust(10) for text in (str(pair.n_items or "—"), *texts)
    )


def _people_text(people: HumanSummary) -> str:
    return (
        f"Human labels: {people.n_agreed} items agreed, {people.n_adjudicated} adjudicated, {people.n_open} open, "
        f"{people.n_unlabelled} without two answers."
    )
