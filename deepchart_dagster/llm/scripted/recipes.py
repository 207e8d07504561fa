"""What the scripted models know of each mini query: where to look, how to derive, how to draw. No values.

``recipe.yaml`` lies in the query's folder: ``sources`` are look-ups (llm.scripted.lookups), ``derive`` is the
text of a Python function ``derive(src)`` that copes with what was not found. The chart is drawn by the
query's ``stage2.py``, which holds no data: J is put in place of ``__J__``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import yaml
from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from deepchart_dagster.artifacts.canonical import content_hash, sha256_bytes
from deepchart_dagster.benchmark.mini.catalogue import folder_of, mini_queries
from deepchart_dagster.benchmark.model import Query
from deepchart_dagster.benchmark.state import python_literal, with_state
from deepchart_dagster.errors import BenchmarkFormatError
from deepchart_dagster.llm.scripted.lookups import Found, Lookup

_QUERY, _RECIPE, _CHART = "query.json", "recipe.yaml", "stage2.py"

_STAGE1 = """import json
import sys
from pathlib import Path

SRC = {src}


{derive}

Path(sys.argv[1]).write_text(json.dumps({{"src_data": SRC, "der_data": derive(SRC)}}), encoding="utf-8")
"""


class Recipe(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    sources: tuple[Lookup, ...] = Field(min_length=1)
    derive: str


@dataclass(frozen=True)
class KnownQuery:
    """A query of the mini benchmark that the scripted models can answer."""

    query: Query
    recipe: Recipe
    chart_code: str

    def stage1_program(self, found: list[Found], derive: str | None = None) -> str:
        """A program with ``found`` as literals and the derivation as code; ``derive`` takes the recipe's place."""
        code = (derive or self.recipe.derive).rstrip()
        return _STAGE1.format(src=python_literal(source_data(found)), derive=code)

    def stage2_program(self, state: JsonValue) -> str:
        """A program that draws ``state`` (J)."""
        return with_state(self.chart_code, state)


def recognise(text: str) -> KnownQuery | None:
    """The query whose chart purpose stands in ``text``, or None where no mini query's does."""
    seen = " ".join(text.split())
    return next((known for known in known_queries() if _purpose_pattern(known.query.chart_purpose).search(seen)), None)


@lru_cache
def _purpose_pattern(purpose: str) -> re.Pattern[str]:
    """A purpose with whatever code type is named where it leaves that open."""
    around = " ".join(purpose.split()).split("{code_type}")
    return re.compile(r".{1,40}?".join(map(re.escape, around)))


@lru_cache(maxsize=1)
def known_queries() -> tuple[KnownQuery, ...]:
    """All mini queries with their recipes. Raises BenchmarkFormatError naming a recipe that cannot be read."""
    return tuple(_known(query) for query in mini_queries())


@lru_cache(maxsize=1)
def recipes_hash() -> str:
    """Of every file that ``known_queries`` is made from: another recipe or chart program, another answer."""
    files = [folder_of(query) / name for query in mini_queries() for name in (_QUERY, _RECIPE, _CHART)]
    return content_hash([[path.parent.name, path.name, sha256_bytes(path.read_bytes())] for path in files])[:16]


def _known(query: Query) -> KnownQuery:
    folder = folder_of(query)
    path = folder / _RECIPE
    try:
        recipe = Recipe.model_validate(yaml.safe_load(_text(path)))
    except (OSError, yaml.YAMLError, ValidationError) as error:
        raise BenchmarkFormatError(f"{path}: no recipe ({error}).") from error
    return KnownQuery(query=query, recipe=recipe, chart_code=_text(folder / _CHART))


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def source_data(found: list[Found]) -> dict[str, JsonValue]:
    """src_data: the values at their paths, those of a list appended in their order."""
    data: dict[str, JsonValue] = {}
    for value in found:
        place = data
        for name in value.path[:-1]:
            inner = place.setdefault(name, {})
            assert isinstance(inner, dict)
            place = inner
        if value.listed:
            series = place.setdefault(value.path[-1], [])
            assert isinstance(series, list)
            series.append(value.value)
        else:
            place[value.path[-1]] = value.value
    return data
