"""Which of the imported benchmarks the splits are made of."""

from __future__ import annotations

from pydantic import Field

from resources.base import SettingsResource


class BenchmarkResource(SettingsResource):
    """Which of the imported benchmarks a run is about."""

    benchmarks: list[str] | None = Field(
        default=None, description="names of benchmarks in the storage; empty: DEEPCHART_BENCHMARKS, or all of them"
    )
