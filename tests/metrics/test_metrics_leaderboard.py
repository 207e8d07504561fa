"""The leaderboard as values and as text."""

from __future__ import annotations

import csv
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import duckdb
import pytest

from deepchart_dagster.artifacts.results import Outcome
from deepchart_dagster.benchmark.model import Split
from deepchart_dagster.errors import StorageError, UpstreamError
from deepchart_dagster.metrics.backends import BackendRow, format_backends, read_paper_backends
from deepchart_dagster.metrics.bootstrap import mean_interval
from deepchart_dagster.metrics.dbt import build_marts
from deepchart_dagster.metrics.leaderboard import (
    Cell,
    LeaderboardRow,
    database_path,
    open_read_only,
    read_leaderboard,
)
from deepchart_dagster.metrics.leaderboard_text import format_leaderboard
from deepchart_dagster.metrics.published import (
    Average,
    CellPlace,
    Mixture,
    PaperCell,
    Published,
    Unscored,
    read_paper_judges,
    read_published,
)
from deepchart_dagster.metrics.store import build_metrics

DBT_PROJECT = Path(__file__).parents[2] / "dbt_reports"
JUDGE = {"slug": "scripted-judge", "model": "scripted/judge", "parameters": {}}


@pytest.mark.slow
def test_values_counts_and_intervals(built: Any) -> None:
    m1, robot = read_leaderboard(built.root)

    assert (m1.benchmark, m1.model, m1.split, m1.label) == ("shop", "m-1", Split.FINANCE_NORMAL, "M-1")
    src, der, vas = (mean_interval(values) for values in ([1.0, 0.5, 0.0], [0.8, 0.0], [0.75, 0.0, 0.0]))
    er = mean_interval([1.0, 1.0, 0.0, 0.0])
    assert m1.cells == {
        "er": Cell(0.5, er.low, er.high, n_total=4, n_scored=4, n_failed=2, n_error=0),
        "f1_src": Cell(0.5, src.low, src.high, n_total=4, n_scored=3, n_failed=1, n_error=1),
        "f1_der": Cell(0.4, der.low, der.high, n_total=4, n_scored=2, n_failed=1, n_error=1),
        "vas": Cell(0.25, vas.low, vas.high, n_total=4, n_scored=3, n_failed=2, n_error=1),
    }
    assert (robot.label, robot.scripted, robot.judge, robot.judge_scripted) == (
        "Robot (scripted)",
        True,
        "scripted-judge",
        True,
    )
    assert {cell.value for cell in robot.cells.values()} == {1.0}


@pytest.mark.slow
def test_the_shape_that_scripts_rely_on(built: Any) -> None:
    row = read_leaderboard(built.root)[0].as_json()
    assert {"model", "split", "er", "f1_src", "f1_der", "vas"} <= row.keys()
    for metric in ("er", "f1_src", "f1_der", "vas"):
        assert set(row[metric]) == {"value", "low", "high", "n_total", "n_scored", "n_failed", "n_error"}  # type: ignore[arg-type]


@pytest.mark.slow
def test_one_benchmark_only(built: Any) -> None:
    assert len(read_leaderboard(built.root, "shop")) == 2
    assert read_leaderboard(built.root, "elsewhere") == []


@pytest.mark.slow
def test_marts_of_another_version_are_named(built: Any, tmp_path: Path) -> None:
    older = built.copy_to(tmp_path / "storage")
    with duckdb.connect(database_path(older.root)) as connection:
        connection.execute("alter table marts.leaderboard rename column family to kin")
    with pytest.raises(UpstreamError, match=r"this version reads \(no column family\).*deepchart report"):
        read_leaderboard(older.root)


@pytest.mark.slow
def test_a_model_of_which_nothing_is_scored_is_named(built: Any, tmp_path: Path) -> None:
    unscored = built.copy_to(tmp_path / "storage")
    with duckdb.connect(database_path(unscored.root)) as connection:
        connection.execute("delete from marts.leaderboard where model = 'm-1'")
    published = read_published(unscored.root)
    assert published.unscored == (Unscored("shop", Split.FINANCE_NORMAL, "M-1", n_instances=4, n_error=1),)
    note = (
        "Not in the tables: M-1 on finance-normal (shop), 1 of 4 instances in error, none scored. "
        "deepchart status --partitions says why."
    )
    assert note in format_leaderboard(read_leaderboard(unscored.root), published)
    assert note in format_leaderboard([], published)
    assert read_published(built.root).unscored == ()


def test_without_marts_it_says_what_to_do(tree: Any) -> None:
    with pytest.raises(UpstreamError, match=r"deepchart\.duckdb is not there.*deepchart demo"):
        read_leaderboard(tree.root)
    raw = build_metrics(tree.root).path
    raw.rename(raw.with_name("deepchart.duckdb"))
    with pytest.raises(UpstreamError, match=r"this version reads .*staging.*deepchart report"):
        read_leaderboard(tree.root)


WRITER = "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print('open', flush=True); sys.stdin.read()"


def test_a_writer_is_waited_for(tree: Any) -> None:
    path = build_metrics(tree.root).path
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdout is not None
        assert writer.stdin is not None
        assert writer.stdout.readline() == "open\n"
        threading.Timer(0.3, writer.stdin.close).start()
        with open_read_only(path) as connection:
            assert connection.execute("select count(*) from pipeline.scores").fetchall() == [(88,)]


def test_a_damaged_store_is_named(tmp_path: Path) -> None:
    path = tmp_path / "deepchart.duckdb"
    path.write_bytes(b"x" * 5000)
    with pytest.raises(StorageError, match=r"deepchart\.duckdb cannot be read"):
        open_read_only(path)


def a_cell(value: float | None, scored: int = 6, total: int = 6, error: int = 0) -> Cell:
    low, high = (None, None) if value is None else (value - 0.04, value + 0.04)
    return Cell(value, low, high, n_total=total, n_scored=scored, n_failed=0, n_error=error)


def a_row(name: str, split: Split, **changes: Any) -> LeaderboardRow:
    fields: dict[str, Any] = {
        "benchmark": "b",
        "model": name.lower(),
        "name": name,
        "split": split,
        "family": "proprietary",
        "scripted": False,
        "judge": None,
        "judge_scripted": False,
        "selection": None,
        "cells": {"er": a_cell(0.8), "f1_src": a_cell(0.5), "f1_der": a_cell(0.25), "vas": a_cell(0.36)},
    }
    return LeaderboardRow(**fields | changes)


def test_the_text_says_what_of_a_split_was_run() -> None:
    rows = [a_row("Open", Split.FINANCE_ULTRA_LONG, selection="50 of 290, seed 20260")]
    assert "finance-ultra-long of b: 50 of 290, seed 20260 instances run." in format_leaderboard(rows).splitlines()
    assert rows[0].as_json()["selection"] == "50 of 290, seed 20260"


def test_text_in_the_papers_layout() -> None:
    rows = [
        a_row("Robot", Split.ECOSYSTEM, family="scripted", scripted=True),
        a_row("Open", Split.FINANCE_NORMAL, family="open-weight"),
        a_row("Closed", Split.FINANCE_NORMAL),
        a_row("Closed", Split.ACADEMIC_LONG),
    ]
    text = format_leaderboard(rows)
    assert text.splitlines()[:8] == [
        "Normal context · benchmark b",
        "finance-normal      ER                 F1_src             F1_der             VAS                n",
        "-" * 101,
        " proprietary",
        "  Closed            0.800 [0.76, 0.84] 0.500 [0.46, 0.54] 0.250 [0.21, 0.29] 0.360 [0.32, 0.40] 6/6",
        " open-weight",
        "  Open              0.800 [0.76, 0.84] 0.500 [0.46, 0.54] 0.250 [0.21, 0.29] 0.360 [0.32, 0.40] 6/6",
        "",
    ]
    titles = [line for line in text.splitlines() if "· benchmark" in line]
    assert titles == [
        "Normal context · benchmark b",
        "Long context · benchmark b",
        "Multimodal reports · benchmark b",
    ]
    assert "  Robot (scripted)  0.800" in text
    assert "measure no model" in text


def test_a_table_that_is_wider_than_the_terminal_has_a_line_for_each_value() -> None:
    rows = [a_row("Closed", Split.FINANCE_NORMAL)]
    assert format_leaderboard(rows, columns=97).splitlines()[1].startswith("finance-normal  ER")
    assert format_leaderboard(rows, columns=40).splitlines()[:10] == [
        "Normal context · benchmark b",
        "finance-normal",
        "--------------",
        " proprietary",
        "  Closed",
        "      ER      0.800 [0.76, 0.84]",
        "      F1_src  0.500 [0.46, 0.54]",
        "      F1_der  0.250 [0.21, 0.29]",
        "      VAS     0.360 [0.32, 0.40]",
        "      n       6/6",
    ]


def test_text_shows_where_n_differs_and_what_is_unscored() -> None:
    cells = {"er": a_cell(1.0), "f1_src": a_cell(0.5), "f1_der": a_cell(None, scored=0), "vas": a_cell(0.5, 4, 6, 2)}
    text = format_leaderboard([a_row("M", Split.ECOSYSTEM, cells=cells)])
    line = next(line for line in text.splitlines() if line.startswith("  M "))
    assert line.split()[0:7] == ["M", "1.000", "[0.96,", "1.04]", "0.500", "[0.46,", "0.54]"]
    assert line.split()[7] == "—"
    assert line.endswith("6/6 (F1_der 0/6, VAS 4/6), 2 in error")


def test_a_judge_is_named_once_also_where_no_chart_of_a_model_came_to_be_judged() -> None:
    rows = [
        a_row("Failed throughout", Split.ECOSYSTEM, judge="scripted-judge", judge_scripted=False),
        a_row("Judged", Split.ECOSYSTEM, judge="scripted-judge", judge_scripted=True),
        a_row("By another", Split.ECOSYSTEM, judge="own-judge", judge_scripted=False),
    ]
    said = [line for line in format_leaderboard(rows).splitlines() if "judged by" in line]
    assert said == ["VAS judged by own-judge, scripted-judge (scripted)."]


def test_an_empty_leaderboard_says_so() -> None:
    assert format_leaderboard([]) == "The leaderboard is empty: no scores have been made yet."


OURS = [
    "0.800",
    "[0.76,",
    "0.84]",
    "0.500",
    "[0.46,",
    "0.54]",
    "0.250",
    "[0.21,",
    "0.29]",
    "0.360",
    "[0.32,",
    "0.40]",
    "6/6",
]


def test_text_beside_the_papers_figures() -> None:
    rows = [a_row("GPT-5.2", Split.FINANCE_NORMAL), a_row("Mine", Split.FINANCE_NORMAL, family="other")]
    published = Published(
        averages=(Average("b", Split.FINANCE_NORMAL, False, 2, {"er": 0.8, "vas": None}, {"er": 0.7, "vas": 0.4}, 8),),
        mixtures=(
            Mixture("b", Split.FINANCE_NORMAL, "vas", n_mixed=3, n_instances=290, n_rules=1),
            Mixture("b", Split.FINANCE_NORMAL, "f1_src", n_mixed=0, n_instances=290, n_rules=2),
        ),
        paper={
            CellPlace("b", "gpt-5.2", Split.FINANCE_NORMAL, "er"): PaperCell(0.8415, 284, -0.0416),
            CellPlace("b", "gpt-5.2", Split.FINANCE_NORMAL, "vas"): PaperCell(0.5265, 284, None),
        },
    )
    lines = format_leaderboard(rows, published).splitlines()
    assert [line.split() for line in lines[4:10]] == [
        ["GPT-5.2", *OURS],
        ["paper", "0.842", "(-0.042)", "—", "—", "0.526", "284"],
        ["other"],
        ["Mine", *OURS],
        ["average", "of", "2", "0.800", "—", "—", "—"],
        ["average", "of", "the", "paper's", "8", "0.700", "—", "—", "0.400"],
    ]
    assert [line for line in lines if line.startswith("Not comparable throughout: ")] == [
        "Not comparable throughout: VAS of finance-normal (b): models have it by different tasks, rules, references, "
        "rubrics or judges on 3 of 290 instances. deepchart status says which are stale.",
        "Not comparable throughout: F1_src of finance-normal (b): its instances are measured by 2 rules (versions, "
        "scorers or judges). deepchart status says which are stale.",
    ]
    assert any(line.startswith("b is not the paper's benchmark") for line in lines)


def test_text_says_where_the_paper_has_no_such_model() -> None:
    text = format_leaderboard([a_row("Mine", Split.ECOSYSTEM)], Published(paper={}))
    assert "The paper has none of these models" in text


@pytest.mark.slow
def test_the_papers_figures_by_name_and_split_and_what_was_not_measured_alike(tree: Any) -> None:
    tree.models.pop("robot")
    tree.add_model("m-1", name="GPT-5.2")
    tree.add_model("robot", name="deepseek-v3.2")
    visual = Outcome(value={"vas": 1.0, "n_yes": 1, "judge": "scripted-judge"})
    uids = ("shop/1", "shop/2", "shop/3", "shop/4")
    tree.write("visual_accuracy", "robot", dict.fromkeys(uids, visual), judge=JUDGE, rubric="another")
    tree.export_everything()
    build_metrics(tree.root)
    build_marts(tree.root, DBT_PROJECT)

    published = read_published(tree.root, compare=True)

    split = Split.FINANCE_NORMAL
    assert published.cell(CellPlace("shop", "m-1", split, "er")) == PaperCell(0.8415, 284, pytest.approx(0.5 - 0.8415))
    assert published.cell(CellPlace("shop", "robot", split, "vas")) == PaperCell(
        0.2313, 284, pytest.approx(1.0 - 0.2313)
    )
    (average,) = published.averages
    assert (average.n_models, average.paper_n_models) == (2, 8)
    assert average.values == {"er": 0.75, "f1_src": 0.75, "f1_der": 0.7, "vas": 0.625}
    # Averages that the paper's text states for Finance-Normal (section 5.2).
    assert average.paper["vas"] == pytest.approx(0.421, abs=5e-4)
    assert average.paper["f1_src"] == pytest.approx(0.385, abs=5e-4)
    assert average.paper["f1_der"] == pytest.approx(0.249, abs=5e-4)
    assert read_published(tree.root).paper is None
    # Robot was judged by another rubric. m-1 has a verdict on one instance; it failed or is unscored on the rest.
    assert published.mixtures == (Mixture("shop", Split.FINANCE_NORMAL, "vas", n_mixed=1, n_instances=4, n_rules=1),)


def test_the_papers_n_is_the_only_one_that_its_execution_rates_are_counts_of() -> None:
    with (DBT_PROJECT / "seeds/paper_main_results.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    sizes = {"finance-normal": 290, "finance-long": 290, "academic-normal": 178, "academic-long": 178, "ecosystem": 256}
    for split, size in sizes.items():
        rates = [float(row["er"]) for row in rows if row["split"] == split]
        fits = [n for n in range(40, size + 1) if all(abs(round(er * n) / n - er) <= 0.5001e-4 for er in rates)]
        assert {int(row["n"]) for row in rows if row["split"] == split} == set(fits)
    assert {int(row["n"]) for row in rows if row["split"] == "finance-ultra-long"} == {50}


@pytest.mark.slow
def test_the_papers_other_tables_are_in_the_store(built: Any) -> None:
    judges = {(pair.first, pair.second): pair for pair in read_paper_judges(built.root)}
    assert len(judges) == 6
    assert judges["gpt-5.2", "qwen3.5-plus"].kappa == 0.755
    backends = {line.model: line for line in read_paper_backends(built.root)}
    assert (backends["GPT-5.2"].er_python, backends["GPT-5.2"].er_html) == (0.765, 0.983)
    fields = {"benchmark": "b", "scripted": False, "er": 0.5, "vas": 0.25, "judge": None, "judge_scripted": False}
    counts = dict.fromkeys(("n_settings", "n_total", "n_scored", "n_failed", "n_error", "n_python", "n_html"), 4)
    row = BackendRow(model="kimi-k2-thinking", name="Kimi-K2", family="open-weight", backend="html", **fields, **counts)
    text = format_backends([row], list(backends.values()))
    # Ours has no chart in Python and none by free choice; the paper has no free choice in its table.
    assert [line.split() for line in text.splitlines() if line.strip().startswith(("Kimi", "paper"))] == [
        ["Kimi-K2", "—", "0.500", "—", "—", "0.250", "—"],
        ["paper", "0.620", "0.623", "—", "0.401", "0.357", "—"],
    ]
