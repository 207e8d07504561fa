"""Why values did not match, counted by class for each model and split, as the marts have it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path

from pydantic import JsonValue

from deepchart_dagster.metrics.leaderboard import open_marts, records

_SIDES = {"src": "source", "der": "derived"}


@dataclass(frozen=True)
class ClassCount:
    """``n_reference`` values of the reference were not matched, ``n_predicted`` of the prediction matched nothing."""

    benchmark: str
    split: str
    model: str
    name: str
    scripted: bool
    side: str
    diagnosis_class: str
    n_reference: int
    n_predicted: int
    n_instances: int

    @property
    def label(self) -> str:
        return f"{self.name} (scripted)" if self.scripted else self.name

    def as_json(self) -> dict[str, JsonValue]:
        return asdict(self)


def read_classes(storage: Path, model: str | None = None, split: str | None = None) -> list[ClassCount]:
    """The most frequent class first. Raises UpstreamError where the marts have not been built, StorageError where the
    file cannot be read."""
    with open_marts(storage) as connection:
        found = records(connection, _SQL, {"model": model, "split": split})
    return [ClassCount(**row) for row in found]


_SQL = """
    select benchmark, split, model, model_name as name, scripted, side, diagnosis_class,
        n_reference, n_predicted, n_instances
    from marts.diagnosis_classes
    where ($model is null or model = $model) and ($split is null or split = $split)
    order by benchmark, split, scripted, lower(model_name), model, side desc, n_reference + n_predicted desc,
        diagnosis_class
"""


def format_classes(rows: Sequence[ClassCount]) -> str:
    if not rows:
        return "Every value matched, or nothing has been diagnosed yet."
    lines = []
    for (benchmark, split, label), group in groupby(rows, key=lambda row: (row.benchmark, row.split, row.label)):
        lines += ["", f"{label} · {split} · benchmark {benchmark}"]
        lines += [_line(row) for row in group]
    return "\n".join(lines[1:])


def _line(row: ClassCount) -> str:
    counts = f"{row.n_reference:>6} not matched {row.n_predicted:>6} wrong"
    instances = f"{row.n_instances} instance{'s' if row.n_instances != 1 else ''}"
    return f"  {_SIDES[row.side]:<8} {row.diagnosis_class:<20} {counts}   in {instances}"
