"""The published tables as text, in the paper's layout: by protocol and split, models by family."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

from deepchart_dagster.benchmark.model import Split
from deepchart_dagster.metrics.leaderboard import (
    METRIC_NAMES,
    METRICS,
    PROTOCOLS,
    Cell,
    LeaderboardRow,
    count_text,
    judge_names,
    row_order,
)
from deepchart_dagster.metrics.published import Average, CellPlace, Mixture, PaperCell, Published

_CELL_WIDTH = 19
_PAPERS_BENCHMARK = "deepchart"


def format_leaderboard(
    rows: Sequence[LeaderboardRow], published: Published | None = None, *, columns: int | None = None
) -> str:
    """The tables as text: per benchmark and protocol a block for each split, models grouped by family.

    A cell is the mean, its 95 % interval, and n of its own where it differs from the row's. With the paper's
    figures in ``published``, each model that the paper has is followed by its line there and the differences.
    Where the table is wider than ``columns``, each value has a line of its own below the model.
    """
    published = published or Published()
    if not rows:
        return "\n".join(["The leaderboard is empty: no scores have been made yet.", *_unscored_notes(published)])
    text = _Text(rows, published, columns)
    return "\n".join([*text.tables()[1:], "", *text.notes()])


class _Text:
    def __init__(self, rows: Sequence[LeaderboardRow], published: Published, columns: int | None) -> None:
        self.rows = sorted(rows, key=row_order)
        self.published = published
        names = [row.label for row in rows] + [_average_name(average) for average in published.averages]
        if published.paper is not None:
            names += ["  paper"] + [_papers_average(average) for average in published.averages]
        self.width = max(*(len(name) + 2 for name in names), *(len(row.split.value) for row in rows))
        self.rule = self.width + 2 + _CELL_WIDTH * len(METRICS) + 5
        self.is_list = columns is not None and columns < self.rule

    def tables(self) -> list[str]:
        lines: list[str] = []
        for benchmark in dict.fromkeys(row.benchmark for row in self.rows):
            for title, splits in PROTOCOLS:
                blocks = [line for split in splits for line in self._block(benchmark, split)]
                if blocks:
                    lines += ["", f"{title} · benchmark {benchmark}", *blocks]
        return lines

    def _block(self, benchmark: str, split: Split) -> list[str]:
        members = [row for row in self.rows if (row.benchmark, row.split) == (benchmark, split)]
        if not members:
            return []
        heads = "".join(METRIC_NAMES[metric].ljust(_CELL_WIDTH) for metric in METRICS)
        lines = [f"{split.value.ljust(self.width + 2)}{heads}n", "-" * self.rule]
        if self.is_list:
            lines = [split.value, "-" * len(split.value)]
        for family, of_family in groupby(members, key=lambda row: row.family):
            lines.append(f" {family}")
            lines += [line for row in of_family for line in self._model(row)]
        return lines + self._averages(benchmark, split)

    def _model(self, row: LeaderboardRow) -> list[str]:
        lines = [*self._line(row.label, {metric: _cell_text(row.cells[metric]) for metric in METRICS}, count_text(row))]
        places = {metric: CellPlace(row.benchmark, row.model, row.split, metric) for metric in METRICS}
        paper = {metric: cell for metric, place in places.items() if (cell := self.published.cell(place))}
        if paper:
            cells = {metric: _paper_text(cell) for metric, cell in paper.items()}
            lines += self._line("  paper", cells, str(max(cell.n for cell in paper.values())))
        return lines

    def _averages(self, benchmark: str, split: Split) -> list[str]:
        lines: list[str] = []
        for average in self.published.averages:
            if (average.benchmark, average.split) != (benchmark, split) or average.n_models < 2:
                continue
            lines += self._line(_average_name(average), _numbers(average.values), "")
            if self.published.paper is not None and average.paper_n_models and not average.scripted:
                lines += self._line(_papers_average(average), _numbers(average.paper), "")
        return lines

    def _line(self, name: str, cells: Mapping[str, str], count: str) -> list[str]:
        """One line, or in a list as many as there are values."""
        if self.is_list:
            values = [f"      {METRIC_NAMES[metric]:8}{cells.get(metric, '—')}" for metric in METRICS]
            return [f"  {name}", *values, *([f"      {'n':8}{count}"] if count else [])]
        texts = "".join(cells.get(metric, "—").ljust(_CELL_WIDTH) for metric in METRICS)
        return [f"  {name.ljust(self.width)}{texts}{count}".rstrip()]

    def notes(self) -> list[str]:
        rows = self.rows
        notes = ["Means over scored instances, failures counting 0; in brackets the 95 % bootstrap interval."]
        if any(row.scripted for row in rows):
            notes.append(
                "Scripted: a program stands in for the model; its numbers test the pipeline and measure no model."
            )
        runs = sorted({(row.split.value, row.benchmark, row.selection) for row in rows if row.selection})
        notes += [f"{split} of {benchmark}: {selection} instances run." for split, benchmark, selection in runs]
        if judges := judge_names(rows):
            notes.append(f"VAS judged by {', '.join(judges)}.")
        return notes + _unscored_notes(self.published) + self._mixture_notes() + self._comparison_notes()

    def _mixture_notes(self) -> list[str]:
        return [
            f"Not comparable throughout: {METRIC_NAMES[mixture.metric]} of {mixture.split.value} "
            f"({mixture.benchmark}): {_mixed_text(mixture)}. deepchart status says which are stale."
            for mixture in self.published.mixtures
        ]

    def _comparison_notes(self) -> list[str]:
        if self.published.paper is None:
            return []
        if not self.published.paper:
            return ["The paper has none of these models: names in models.yaml are compared with its tables' names."]
        notes = [
            "In brackets behind the paper's figures: ours less the paper's. n of the paper: what its ER is a count of."
        ]
        others = sorted({place.benchmark for place in self.published.paper} - {_PAPERS_BENCHMARK})
        notes += [
            f"{name} is not the paper's benchmark: its differences say nothing of a reproduction." for name in others
        ]
        return notes


def _unscored_notes(published: Published) -> list[str]:
    return [
        f"Not in the tables: {one.label} on {one.split.value} ({one.benchmark}), {one.n_error} of {one.n_instances} "
        "instances in error, none scored. deepchart status --partitions says why."
        for one in published.unscored
    ]


def _mixed_text(mixture: Mixture) -> str:
    texts = []
    if mixture.n_mixed:
        texts.append(
            f"models have it by different tasks, rules, references, rubrics or judges on {mixture.n_mixed} of "
            f"{mixture.n_instances} instances"
        )
    if mixture.n_rules > 1:
        texts.append(f"its instances are measured by {mixture.n_rules} rules (versions, scorers or judges)")
    return "; ".join(texts)


def _cell_text(cell: Cell) -> str:
    if cell.value is None or cell.low is None or cell.high is None:
        return "—"
    return f"{cell.value:.3f} [{cell.low:.2f}, {cell.high:.2f}]"


def _paper_text(cell: PaperCell) -> str:
    return f"{cell.value:.3f}" + (f" ({cell.difference:+.3f})" if cell.difference is not None else "")


def _numbers(values: Mapping[str, float | None]) -> dict[str, str]:
    return {metric: f"{value:.3f}" for metric, value in values.items() if value is not None}


def _average_name(average: Average) -> str:
    return f"average of {average.n_models}" + (" (scripted)" if average.scripted else "")


def _papers_average(average: Average) -> str:
    return f"average of the paper's {average.paper_n_models}"
