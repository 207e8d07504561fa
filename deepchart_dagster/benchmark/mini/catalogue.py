"""The mini benchmark's queries as they stand in their folders."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from deepchart_dagster.benchmark.mini import BENCHMARK_NAME
from deepchart_dagster.benchmark.model import Query
from deepchart_dagster.errors import BenchmarkFormatError

QUERY_FOLDER = Path(__file__).resolve().parent / "queries"
_STAGE1, _STAGE2 = "stage1.py", "stage2.py"


@lru_cache(maxsize=1)
def mini_queries() -> tuple[Query, ...]:
    """All queries, by uid; the paths in them are relative to QUERY_FOLDER.

    Raises BenchmarkFormatError naming the file that is no query.
    """
    queries = [_read(path) for path in QUERY_FOLDER.glob("*/query.json")]
    return tuple(sorted(queries, key=lambda query: query.uid))


def folder_of(query: Query) -> Path:
    """The folder that a mini query lies in."""
    return QUERY_FOLDER / query.uid.removeprefix(f"{BENCHMARK_NAME}/")


def _read(path: Path) -> Query:
    name = path.parent.name
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        return Query.model_validate_json(json.dumps(_completed(name, record)))
    except (json.JSONDecodeError, ValidationError) as error:
        raise BenchmarkFormatError(f"{path}: no query of the mini benchmark ({error}).") from error


def _completed(name: str, record: dict[str, Any]) -> dict[str, Any]:
    """``record`` with what its folder says already: uid, benchmark, reference programs, place of the data block."""
    hint = dict(record.get("evidence_hint", {}))
    if "data" in hint:
        hint["data"] = f"{name}/{hint['data']}"
    references = {
        "stage1": f"{name}/{_STAGE1}",
        "stage2_python": f"{name}/{_STAGE2}",
        "programs_are_truth": True,
    }
    uid = f"{BENCHMARK_NAME}/{name}"
    given = {"uid": uid, "benchmark": BENCHMARK_NAME, "orig_id": name, "references": references}
    return {**record, **given, "evidence_hint": hint}
