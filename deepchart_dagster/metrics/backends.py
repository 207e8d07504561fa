"""The table of rendering backends (paper, table 5), read from the marts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path

from pydantic import JsonValue

from deepchart_dagster.metrics.leaderboard import family_rank, open_marts, records

_MATERIALISE = 'Make it: deepchart materialize "backend_charts+" --model M, after the rubrics of the text splits.'
_ORDER = ("python", "html", "free")
_HEADS = "{:>8}    html    free"


@dataclass(frozen=True)
class BackendRow:
    """One model asked in one backend. ``er`` and ``vas`` are means of the text settings' means, None where unscored;
    ``n_python`` and ``n_html`` say what it wrote."""

    benchmark: str
    model: str
    name: str
    family: str
    scripted: bool
    backend: str
    er: float | None
    vas: float | None
    n_settings: int
    n_total: int
    n_scored: int
    n_failed: int
    n_error: int
    n_python: int
    n_html: int
    judge: str | None
    judge_scripted: bool

    def as_json(self) -> dict[str, JsonValue]:
        return asdict(self)


def read_backends(storage: Path, benchmark: str | None = None) -> list[BackendRow]:
    """Sorted by benchmark, family, name and backend; empty where no chart of the study is scored.

    Raises UpstreamError where there is no store, StorageError where it cannot be read.
    """
    sql = (
        "select benchmark, model, model_name as name, family, scripted, backend, er_value as er, vas_value as vas, "
        "n_settings, n_total, n_scored, n_failed, n_error, n_python, n_html, judge, judge_scripted "
        "from marts.rendering_backends where ? is null or benchmark = ?"
    )
    with open_marts(storage) as connection:
        found = records(connection, sql, [benchmark, benchmark])
    return sorted((BackendRow(**record) for record in found), key=_place)


def _place(row: BackendRow) -> tuple[object, ...]:
    return (row.benchmark, family_rank(row.family), row.family, row.name.lower(), _ORDER.index(row.backend))


@dataclass(frozen=True)
class PaperBackends:
    """A line of the paper's table 5; ``model`` as it is called there."""

    model: str
    er_python: float
    er_html: float
    vas_python: float
    vas_html: float

    def is_of(self, row: BackendRow) -> bool:
        """Table 5 calls some models by other names than the tables before it: by the provider's, as slugs do."""
        return _plain(self.model) in (_plain(row.name), _plain(row.model))


def _plain(name: str) -> str:
    return name.lower().replace(" ", "-")


def read_paper_backends(storage: Path) -> list[PaperBackends]:
    """Raises UpstreamError where there is no store, StorageError where it cannot be read."""
    sql = "select model, er_python, er_html, vas_python, vas_html from paper.paper_rendering_backends"
    with open_marts(storage) as connection:
        return [PaperBackends(**record) for record in records(connection, sql, [])]


def format_backends(rows: Sequence[BackendRow], paper: Sequence[PaperBackends] = ()) -> str:
    """Table 5 as text: ER and VAS side by side for Python, HTML and free choice, and what was chosen; below a model the
    paper's figures, where they are given and have it."""
    if not rows:
        return f"No chart of the study of rendering backends is scored yet. {_MATERIALISE}"
    width = max(len("model"), *(len(_label(row)) for row in rows)) + 2
    lines: list[str] = []
    for benchmark, of_benchmark in groupby(rows, key=lambda row: row.benchmark):
        lines += [
            "",
            f"Rendering backends · benchmark {benchmark}: visualize only, from the references' data",
            f"{'model'.ljust(width)}{_HEADS.format('ER py')}   {_HEADS.format('VAS py')}   free chose",
        ]
        for _, of_model in groupby(of_benchmark, key=lambda row: row.model):
            members = list(of_model)
            lines.append(_line(members, width))
            lines += [_paper_line(one, width) for one in paper if one.is_of(members[0])]
    notes = ["Each the mean of the text settings' means over scored charts; a model's failures count 0."]
    if errors := sum(row.n_error for row in rows):
        notes.append(f"{errors} charts in error are left out; the next run tries them again.")
    return "\n".join([*lines[1:], "", *notes])


def _label(row: BackendRow) -> str:
    return f"{row.name} (scripted)" if row.scripted else row.name


def _line(rows: Sequence[BackendRow], width: int) -> str:
    by_backend = {row.backend: row for row in rows}
    columns = [by_backend.get(name) for name in _ORDER]
    er = "".join(_number(row.er if row else None) for row in columns)
    vas = "".join(_number(row.vas if row else None) for row in columns)
    free = by_backend.get("free")
    chose = f"   {free.n_python} python, {free.n_html} html of {free.n_total}" if free else ""
    return f"{_label(rows[0]).ljust(width)}{er}   {vas}{chose}"


def _paper_line(paper: PaperBackends, width: int) -> str:
    er, vas = (paper.er_python, paper.er_html, None), (paper.vas_python, paper.vas_html, None)
    return f"{'  paper'.ljust(width)}{''.join(map(_number, er))}   {''.join(map(_number, vas))}"


def _number(value: float | None) -> str:
    return f"{'—' if value is None else format(value, '.3f'):>8}"
