"""What differs between two keys, down to the member."""

from __future__ import annotations

import pytest
from pydantic import JsonValue

from deepchart_dagster.lineage.changes import changes

CASES: dict[str, tuple[dict[str, JsonValue], dict[str, JsonValue], list[tuple[str, str, JsonValue, JsonValue]]]] = {
    "which library": (
        {"runner": {"libraries": {"numpy": "1", "pandas": "2"}}},
        {"runner": {"libraries": {"numpy": "1", "pandas": "3"}}},
        [("runner.libraries.pandas", "library version pandas", "2", "3")],
    ),
    "of which program of a reference": (
        {"runner": [{"libraries": {"numpy": "1"}}, {"libraries": {"numpy": "1"}}]},
        {"runner": [{"libraries": {"numpy": "1"}}, {"libraries": {"numpy": "2"}}]},
        [("runner.1.libraries.numpy", "library version numpy", "1", "2")],
    ),
    "which document": (
        {"ocr": {"a": ["A", "h1"], "b": ["B", "h2"]}},
        {"ocr": {"a": ["A", "h1"], "b": ["B", "h3"], "c": ["C", "h4"]}},
        [
            ("ocr.b", "what was read of the document b", ["B", "h2"], ["B", "h3"]),
            ("ocr.c", "what was read of the document c", None, ["C", "h4"]),
        ],
    ),
    "which context file": (
        {"files": [["a.md", "1"], ["b.md", "2"]]},
        {"files": [["a.md", "1"], ["b.md", "3"]]},
        [("files.b.md", "context file b.md", "2", "3")],
    ),
    "which parameter, old and new": (
        {"parameters": {"temperature": 0}},
        {"parameters": {"temperature": 0.5, "seed": 1}},
        [
            ("parameters.seed", "model parameter seed", None, 1),
            ("parameters.temperature", "model parameter temperature", 0, 0.5),
        ],
    ),
    "a number is not its float": ({"version": 1}, {"version": 1.0}, [("version", "code version of the stage", 1, 1.0)]),
    "an object where a text was": (
        {"state": "h"},
        {"state": {"status": "failed"}},
        [
            ("state", "J (predicted_states)", "h", {"status": "failed"}),
        ],
    ),
    "nothing": ({"a": [1, {"b": None}]}, {"a": [1, {"b": None}]}, []),
}


@pytest.mark.parametrize("case", CASES)
def test_every_member_that_differs_is_named(case: str) -> None:
    old, new, expected = CASES[case]
    assert [(one.part, one.what, one.old, one.new) for one in changes(old, new)] == expected


@pytest.mark.parametrize(
    ("asset", "what"),
    [
        ("predicted_states", "time limit of the program (DEEPCHART_STAGE1_TIMEOUT_S)"),
        ("rendered_charts", "time limit of the program (DEEPCHART_CHART_TIMEOUT_S)"),
        ("backend_charts", "time limit of the program (DEEPCHART_CHART_TIMEOUT_S)"),
    ],
)
def test_a_time_limit_is_named_with_its_setting(asset: str, what: str) -> None:
    old, new = ({"limits": {"wall_s": seconds, "memory_mb": 4096}} for seconds in (60.0, 30.0))
    assert [(one.part, one.what) for one in changes(old, new, asset)] == [("limits.wall_s", what)]


def test_settings_that_alone_decide_a_member_are_named() -> None:
    old: dict[str, JsonValue] = {"engine": "auto", "drawing": {"dpi": 150, "max_pixels": 1}}
    new: dict[str, JsonValue] = {"engine": "rapidocr", "drawing": {"dpi": 200, "max_pixels": 2}}
    assert [one.what for one in changes(old, new, "ocr_contexts")] == [
        "resolution at which pages are drawn (DEEPCHART_OCR_DPI)",
        "largest picture of a page (DEEPCHART_OCR_MAX_PIXELS)",
        "OCR engine (DEEPCHART_OCR_ENGINE)",
    ]
