"""Figures of the report, drawn by matplotlib as SVG. Equal numbers make equal bytes: no dates, no random ids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import TYPE_CHECKING

from deepchart_dagster.metrics.leaderboard import METRIC_NAMES, METRICS, Cell, LeaderboardRow
from deepchart_dagster.reporting.content import SplitTable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Distinct in hue and in lightness (Okabe and Ito), darker ones first: readable on white, also without colour.
_PALETTE = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#56B4E9",
    "#E69F00",
    "#5B5B9E",
    "#8C6D31",
    "#8B8B8B",
    "#B03A5B",
    "#2F6B5E",
    "#C9B84C",
)
_INK = "#1f2430"
_QUIET = "#6b7280"
_GROUP_WIDTH = 0.84
_MOST_LABELLED = 3


def model_colors(rows: Sequence[LeaderboardRow]) -> dict[str, str]:
    """Slug -> colour, the same one in every figure."""
    models = list(dict.fromkeys(row.model for row in rows))
    return {model: _PALETTE[index % len(_PALETTE)] for index, model in enumerate(models)}


def stage_figure(table: SplitTable, colors: Mapping[str, str]) -> bytes:
    """The four metrics of one split, a bar a model with its 95 % interval; scripted models are hatched."""
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with matplotlib.rc_context({"svg.hashsalt": "deepchart", "font.size": 10.5, "hatch.linewidth": 0.6}):
        figure = Figure(figsize=(5.2, 3.3), layout="constrained")
        FigureCanvasSVG(figure)
        axes = figure.add_subplot()
        for index, row in enumerate(table.rows):
            _bars(axes, row, colors[row.model], index, len(table.rows))
        _dress(axes, table)
        content = BytesIO()
        figure.savefig(content, format="svg", metadata={"Date": None, "Creator": None})
    return content.getvalue()


def _bars(axes: Axes, row: LeaderboardRow, color: str, index: int, n_models: int) -> None:
    width = _GROUP_WIDTH / n_models
    for place, metric in enumerate(METRICS):
        at = place + (index - (n_models - 1) / 2) * width
        cell = row.cells[metric]
        label = row.name if place == 0 else None
        _bar(axes, cell, at, width * 0.9, color, hatch="////" if row.scripted else None, label=label)
        if n_models <= _MOST_LABELLED and cell.value is not None:
            top = cell.high if cell.high is not None else cell.value
            axes.annotate(
                f"{cell.value:.2f}", (at, top), (0, 2), textcoords="offset points", ha="center", fontsize=8, color=_INK
            )


def _bar(axes: Axes, cell: Cell, at: float, width: float, color: str, *, hatch: str | None, label: str | None) -> None:
    axes.bar(at, cell.value or 0.0, width, color=color, edgecolor="white", linewidth=0.5, hatch=hatch, label=label)
    if cell.value is None:
        axes.annotate("n/a", (at, 0), (0, 2), textcoords="offset points", ha="center", fontsize=7.5, color=_QUIET)
    elif cell.low is not None and cell.high is not None:
        axes.vlines(at, cell.low, cell.high, color=_INK, linewidth=1.1)


def _dress(axes: Axes, table: SplitTable) -> None:
    axes.set_title(f"{table.benchmark} · {table.split.value}", loc="left", fontsize=11.5, color=_INK)
    axes.set_xticks(range(len(METRICS)), [METRIC_NAMES[metric] for metric in METRICS])
    axes.set_ylim(0, 1.12)
    axes.set_yticks([0, 0.25, 0.5, 0.75, 1.0])
    axes.tick_params(length=0, colors=_INK)
    axes.grid(axis="y", color="#e5e7eb", linewidth=0.8)
    axes.set_axisbelow(True)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color("#9ca3af")
    columns = 2 if len(table.rows) <= 4 else 3
    axes.figure.legend(loc="outside lower center", ncols=columns, frameon=False, fontsize=9)
