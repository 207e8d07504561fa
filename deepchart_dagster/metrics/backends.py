"""The table of rendering backends (paper, table 5), read from the marts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path

from pydantic import JsonValue

from deepchart_dagster.metrics.leaderboard import database_path, family_rank, open_read_only, records

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
    import duckdb

    path = database_path(storage)
    connection = open_read_only(path)
    sql = (
        "select * exclude (rendering_backends_key, model_name, er_value, vas_value), "
        "model_name as name, er_value as er, vas_value as vas "
        "from marts.rendering_backends where ? is null or benchmark = ?"
    )
    try:
        with connection:
            found = records(connection, sql, [benchmark, benchmark])
    except duckdb.CatalogException:
        return []  # marts of an earlier version
    return sorted((BackendRow(**record) for record in found), key=_place)


def _place(row: BackendRow) -> tuple[object, ...]:
    return (row.benchmark, family_rank(row.family), row.family, row.name.lower(), _ORDER.index(row.backend))


def format_backends(rows: Sequence[BackendRow]) -> str:
    """Table 5 as text: ER and VAS side by side for Python, HTML and free choice, and what was chosen."""
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
            lines.append(_line(list(of_model), width))
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


def _number(value: float | None) -> str:
    return f"{'—' if value is None else format(value, '.3f'):>8}"
