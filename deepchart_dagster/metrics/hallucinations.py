"""Charts that look right and are not: a high VAS over source or derived data that are wrong (design: metrics)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from pydantic import JsonValue

from deepchart_dagster.metrics.leaderboard import open_marts, records
from deepchart_dagster.settings import Settings


@dataclass(frozen=True)
class Thresholds:
    """A chart looks right from ``vas`` on; data are wrong below ``f1``."""

    vas: float
    f1: float

    @classmethod
    def of(cls, settings: Settings) -> Thresholds:
        return cls(vas=settings.hidden_vas, f1=settings.hidden_f1)

    @property
    def words(self) -> str:
        return f"VAS ≥ {self.vas:g} with F1_src or F1_der < {self.f1:g}"


@dataclass(frozen=True)
class HiddenInstance:
    uid: str
    vas: float
    f1_src: float | None
    f1_der: float | None

    def as_text(self) -> str:
        return f"{self.uid}  VAS {self.vas:.2f}  F1_src {_f1(self.f1_src)}  F1_der {_f1(self.f1_der)}"


@dataclass(frozen=True)
class HiddenRow:
    """One model on one split. ``n_judged`` instances have a VAS and an F1, ``n_looking_right`` of them charts that look
    right, and of these the data of ``instances`` are wrong."""

    benchmark: str
    split: str
    model: str
    name: str
    scripted: bool
    n_judged: int
    n_looking_right: int
    instances: tuple[HiddenInstance, ...]

    @property
    def label(self) -> str:
        return f"{self.name} (scripted)" if self.scripted else self.name

    @property
    def share(self) -> float | None:
        """Of the charts that look right."""
        return len(self.instances) / self.n_looking_right if self.n_looking_right else None

    def as_json(self) -> dict[str, JsonValue]:
        instances: list[JsonValue] = [asdict(one) for one in self.instances]
        return {
            "benchmark": self.benchmark,
            "split": self.split,
            "model": self.model,
            "name": self.name,
            "scripted": self.scripted,
            "n_judged": self.n_judged,
            "n_looking_right": self.n_looking_right,
            "n_hidden": len(self.instances),
            "share": self.share,
            "instances": instances,
        }


_WRONG = "vas >= $vas and (f1_src < $f1 or f1_der < $f1)"
_SQL = f"""
    select benchmark, split, model, min(model_name) as name, bool_or(scripted) as scripted,
        count(*) as n_judged,
        count(*) filter (where vas >= $vas) as n_looking_right,
        coalesce(list({{'uid': uid, 'vas': vas, 'f1_src': f1_src, 'f1_der': f1_der}} order by uid)
            filter (where {_WRONG}), []) as instances
    from marts.instance_scores
    where vas is not null and (f1_src is not null or f1_der is not null)
        and ($benchmark is null or benchmark = $benchmark)
    group by benchmark, split, model
    order by benchmark, split, scripted, lower(min(model_name)), model
"""  # noqa: S608 - our own words


def read_hidden(storage: Path, thresholds: Thresholds, benchmark: str | None = None) -> list[HiddenRow]:
    """A row for each model and split that has charts judged. Raises UpstreamError where the marts have not been built,
    StorageError where the file cannot be read."""
    parameters: dict[str, object] = {"vas": thresholds.vas, "f1": thresholds.f1, "benchmark": benchmark}
    with open_marts(storage) as connection:
        found = records(connection, _SQL, parameters)
    return [
        HiddenRow(**{**row, "instances": tuple(HiddenInstance(**one) for one in row["instances"])}) for row in found
    ]


def format_hidden(rows: Sequence[HiddenRow], thresholds: Thresholds) -> str:
    if not rows:
        return "No chart has been judged yet."
    lines = [f"Charts that look right and are not: {thresholds.words}."]
    width = max(len(row.label) for row in rows)
    for row in rows:
        share = "—" if row.share is None else f"{100 * row.share:.0f} %"
        found = f"{len(row.instances):>4} of {row.n_looking_right} that look right ({share}), {row.n_judged} judged"
        lines.append(f"{row.benchmark}  {row.split:<18}  {row.label:<{width}}  {found}")
        lines += [f"    {one.as_text()}" for one in row.instances]
    return "\n".join(lines)


def _f1(value: float | None) -> str:
    return "n/a" if value is None else f"{value:.2f}"
