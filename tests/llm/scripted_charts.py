"""Charts as they are drawn, and a scripted writer and judge that look at them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from deepchart_dagster.artifacts.evidence import EvidenceStore
from deepchart_dagster.llm.model import ImagePart, Message, TextPart
from deepchart_dagster.llm.scripted import judge, rubric_writer
from deepchart_dagster.llm.scripted.base import ScriptedReply, ScriptedRequest
from deepchart_dagster.llm.scripted.drawing import Drawing, read_drawing

Json = dict[str, Any]
COUNTS = {"instruction compliance": (3, 5), "data mapping topology": (2, 3), "presentation quality": (3, 5)}
YEARS = ["2019", "2020", "2021", "2022"]


def drawn(*marks: Json, **axes: Any) -> Json:
    plain: Json = {
        "title": "",
        "projection": "rectilinear",
        "box": [0.1, 0.1, 0.8, 0.8],
        "xlabel": "",
        "ylabel": "",
        "xscale": "linear",
        "yscale": "linear",
        "xlim": [-1.0, 10.0],
        "ylim": [-200.0, 200.0],
        "xticks": [],
        "yticks": [],
        "legend": None,
        "texts": [],
        "marks": list(marks),
    }
    figure = {"title": "", "width_px": 800, "height_px": 600, "texts": [], "axes": [{**plain, **axes}]}
    return {"format": "deepchart-drawn/1", "library": "matplotlib", "figures": [figure]}


def bars(values: list[float | None], label: str = "", offset: float = 0.0, **more: Any) -> Json:
    return {
        "type": "bars",
        "label": label,
        "color": "#1f77b4",
        "orientation": "vertical",
        "categories": YEARS[: len(values)],
        "positions": [index + offset for index in range(len(values))],
        "values": values,
        "bases": [0.0] * len(values),
        **more,
    }


def line(values: list[float], label: str = "", color: str = "#ff7f0e") -> Json:
    x = [2019.0 + index for index in range(len(values))]
    return {"type": "line", "label": label, "color": color, "x": x, "y": values, "marker": True}


def points(x: list[Any], y: list[Any], label: str = "") -> Json:
    return {"type": "scatter", "label": label, "color": "#1f77b4", "x": x, "y": y, "sizes": []}


def ticks(labels: list[str]) -> list[Json]:
    return [{"at": float(index), "label": label} for index, label in enumerate(labels)]


AT_YEARS: Json = {
    "xticks": [{"at": 2019.0, "label": "2019"}, {"at": 2021.0, "label": "2021"}],
    "yticks": ticks(["0", "1", "2"]),
}


def legend(*labels: str) -> Json:
    return {"title": "", "entries": [{"label": label, "color": f"#{index:06x}"} for index, label in enumerate(labels)]}


def error_bars(count: int) -> Json:
    centers = [float(index) for index in range(count)]
    return {
        "type": "errorbars",
        "label": "",
        "orientation": "vertical",
        "centers": centers,
        "low": [1.0] * count,
        "high": [2.0] * count,
    }


USUAL_CHARTS: dict[str, Json] = {
    "bare bars": drawn(bars([3.0, 1.0, 2.0]), ylim=[0.0, 4.0], yticks=ticks(["0", "1", "2"])),
    "bars with everything": drawn(
        bars([3.0, 1.0, 2.0, 5.0], "Revenue"),
        title="Revenue",
        xlabel="Year",
        ylabel="Revenue (US$ millions)",
        xticks=ticks(YEARS),
        yticks=ticks(["0", "2", "4"]),
        legend=legend("Revenue"),
    ),
    "grouped bars with error bars": drawn(
        bars([3.0, 1.0], "WT", 0.0),
        error_bars(2),
        bars([2.0, 4.0], "KO", 0.4),
        error_bars(2),
        legend=legend("WT", "KO"),
    ),
    "stacked bars": drawn(bars([3.0, 1.0], "A"), bars([2.0, 4.0], "B", bases=[3.0, 1.0]), legend=legend("A", "B")),
    "line": drawn(line([1.0, 3.0, 2.0]), xlim=[2018.9, 2021.1], ylim=[0.0, 4.0], **AT_YEARS),
    "two lines": drawn(
        line([1.0, 3.0, 2.0], "A"),
        line([4.0, 1.0, 0.5], "B", "#000000"),
        legend=legend("A", "B"),
        xlim=[2018, 2022],
        ylim=[0.0, 5.0],
        **AT_YEARS,
    ),
    "scatter": drawn(points([1.0, 2.0, 3.0], [1.0, 4.0, 5.0]), xticks=ticks(["0", "1"]), yticks=ticks(["0", "1"])),
    "horizontal bars": drawn(
        bars([3.0, 1.0, 2.0], orientation="horizontal"), ylim=[2.5, -0.5], xlim=[0.0, 4.0], yticks=ticks(YEARS[:3])
    ),
    "dumbbell": drawn(
        {
            "type": "segments",
            "label": "",
            "color": None,
            "segments": [[[1.0, 0.0], [2.0, 0.0]], [[3.0, 1.0], [5.0, 1.0]]],
        },
        points([1.0, 3.0], [0.0, 1.0], "before"),
        points([2.0, 5.0], [0.0, 1.0], "after"),
        yticks=ticks(["Rust", "Go"]),
        legend=legend("before", "after"),
    ),
    "heat map": drawn(
        {"type": "heatmap", "label": "", "rows": ["a", "b"], "columns": ["x", "y"], "values": [[1.0, 2.0], [3.0, 0.0]]},
        ylim=[1.5, -0.5],
        xticks=ticks(["x", "y"]),
        yticks=ticks(["a", "b"]),
    ),
    "bars around a circle": drawn(
        bars([3.0, 1.0, 2.0]), projection="polar", title="By year", ylim=[0.0, 4.0], xticks=ticks(YEARS[:3])
    ),
    "violins with medians": drawn(
        {
            "type": "violins",
            "label": "",
            "labels": ["", ""],
            "medians": [2.0, 5.0],
            "low": [0.0, 3.0],
            "high": [4.0, 7.0],
        },
        points([0.0, 1.0], [2.0, 5.0], "Median"),
        xticks=ticks(["WT", "KO"]),
        legend=legend("Median"),
    ),
    "pie": drawn({"type": "pie", "labels": ["a", "b", "c"], "fractions": [0.5, 0.3, 0.2]}, xlim=[-1, 1], ylim=[-1, 1]),
    "boxes": drawn(
        {
            "type": "boxes",
            "labels": ["WT", "KO"],
            "medians": [2.0, 5.0],
            "q1": [1.0, 4.0],
            "q3": [3.0, 6.0],
            "low": [0.0, 3.0],
            "high": [4.0, 7.0],
        },
        title="t",
        xticks=ticks(["WT", "KO"]),
        yticks=ticks(["0", "5"]),
    ),
    "area": drawn(
        {
            "type": "area",
            "label": "",
            "color": None,
            "x": [1.0, 2.0, 3.0],
            "low": [0.0, 0.0, 0.0],
            "high": [1.0, 2.0, 4.0],
        },
        ylabel="Users",
        xticks=ticks(["1", "2"]),
        yticks=ticks(["0", "2"]),
    ),
    "one bar": drawn(bars([3.0])),
    "equal bars": drawn(bars([3.0, 3.0, 3.0])),
}


class Room:
    """A scripted judge and writer with an evidence store of their own."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.evidence = EvidenceStore(root)

    def picture(self, drawn_data: Json | None, name: str) -> ImagePart:
        image = ImagePart(data=name.encode(), media_type="image/png", width=10, height=10)
        if drawn_data is not None:
            self.evidence.put("drawn", image.sha256, drawn_data)
        return image

    def send(
        self, behaviour: Callable[[ScriptedRequest], ScriptedReply], system: str, user: str, image: ImagePart | None
    ) -> ScriptedReply:
        parts = (TextPart(user), image) if image else (TextPart(user),)
        messages = (Message.text("system", system), Message("user", parts))
        return behaviour(ScriptedRequest(messages=messages, parameters={}, evidence=self.evidence, storage=self.root))

    def write(self, aspect: str, image: ImagePart, user: str = "Requirement: {}") -> list[str]:
        reply = self.send(rubric_writer.answer, f"You write questions.\nAspect: {aspect}", user, image)
        return list(json.loads(reply.text).values())

    def judge(self, question: str, image: ImagePart | None) -> str:
        return self.send(judge.answer, "Yes or No.", f"Look.\n\nQuestion: {question}", image).text


def drawing_of(data: Json) -> Drawing:
    drawing = read_drawing(data)
    assert drawing is not None
    return drawing
