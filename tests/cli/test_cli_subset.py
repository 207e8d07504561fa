"""``deepchart subset``: what is run of finance-ultra-long, beside the whole split."""

from __future__ import annotations

from pathlib import Path

from cli_command import deepchart

from deepchart_dagster.benchmark.library import Library
from deepchart_dagster.benchmark.model import ContextVariant, Domain, EvidenceCounts, Query


def sixty() -> list[Query]:
    """Thirty for each of two indicators, every third a line chart, with 1 to 60 source values."""
    return [
        Query(
            uid=f"finance/{number:02}",
            benchmark="published",
            domain=Domain.FINANCE,
            query_type="EBITDA" if number % 2 else "IGR",
            chart_family="Line Chart" if number % 3 == 0 else "Bar Chart",
            chart_purpose="Draw it.",
            variants=(ContextVariant.ULTRA_LONG,),
            evidence=EvidenceCounts(source_values=number),
        )
        for number in range(1, 61)
    ]


def test_the_subset_stands_beside_its_split(tmp_path: Path) -> None:
    storage = tmp_path / "storage"
    Library(storage).add("published", sixty(), tmp_path)
    shown = deepchart("subset", "--storage", storage)
    lines = shown.out.splitlines()
    assert lines[0] == "finance-ultra-long of published: 50 of 60, seed 20260 instances run"
    assert lines[1].split() == ["run", "all"]
    assert lines[2].split() == ["mean", "tokens", "of", "the", "context", "unknown", "unknown"]
    assert lines[3].startswith("mean source values")
    assert lines[3].endswith("30.5")  # (1 + … + 60) / 60
    assert any(line.startswith("chart type Bar Chart") and line.endswith("40 (67%)") for line in lines)
    assert any(line.split() == ["indicator", "IGR", "25", "(50%)", "30", "(50%)"] for line in lines)

    (report,) = deepchart("subset", "--storage", storage, "--json").json
    uids = deepchart("subset", "--storage", storage, "--uids").out.splitlines()
    assert uids == report["uids"]
    assert len(set(uids)) == 50


def test_a_list_of_ones_own_and_the_whole_split(tmp_path: Path) -> None:
    storage, listed = tmp_path / "storage", tmp_path / "uids.txt"
    Library(storage).add("published", sixty(), tmp_path)
    listed.write_text("finance/07\nfinance/08\n", encoding="utf-8")
    by_list = deepchart("subset", "--storage", storage, "--uids", environment={"DEEPCHART_ULTRA_LONG": str(listed)})
    assert by_list.out.splitlines() == ["finance/07", "finance/08"]
    whole = deepchart("subset", "--storage", storage, "--uids", environment={"DEEPCHART_ULTRA_LONG": "all"})
    assert len(whole.out.splitlines()) == 60
    lost = deepchart("subset", "--storage", storage, environment={"DEEPCHART_ULTRA_LONG": str(tmp_path / "no.txt")})
    assert lost.code == 2
    assert "the list of uids" in lost.complaint


def test_nothing_to_show_is_said(tmp_path: Path) -> None:
    assert deepchart("subset", "--storage", tmp_path / "storage").code == 3
