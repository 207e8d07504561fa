"""When tables and report would come out differently."""

from __future__ import annotations

from pathlib import Path

import pytest

from deepchart_dagster.metrics import freshness
from deepchart_dagster.metrics.freshness import record_published, reports_are_fresh


def test_a_page_of_an_earlier_version_is_built_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project, page = tmp_path / "dbt", tmp_path / "index.html"
    project.mkdir()
    page.write_text("<html>", encoding="utf-8")
    published = tmp_path / "metrics" / "deepchart.duckdb"
    published.parent.mkdir()
    published.write_bytes(b"rows")
    assert not reports_are_fresh(tmp_path, project, page)
    record_published(tmp_path, project)
    assert reports_are_fresh(tmp_path, project, page)
    monkeypatch.setattr(freshness, "REPORT_VERSION", "the next")
    assert not reports_are_fresh(tmp_path, project, page)


def test_a_store_that_is_gone_is_built_again(tmp_path: Path) -> None:
    project, page, published = tmp_path / "dbt", tmp_path / "index.html", tmp_path / "metrics" / "deepchart.duckdb"
    for file in (project / "models.sql", page, published):
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(b"-")
    record_published(tmp_path, project)
    assert reports_are_fresh(tmp_path, project, page)
    published.unlink()
    assert not reports_are_fresh(tmp_path, project, page)
