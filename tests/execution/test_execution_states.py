"""Bounds on the JSON of stage 1."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepchart_dagster.execution import states

_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**18), 10**18)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(_JSON)
def test_whatever_json_writes_is_taken(value: object) -> None:
    assert states.json_problem(json.dumps(value).encode()) == ""
    assert states.json_problem(json.dumps(value, ensure_ascii=False, indent=2).encode()) == ""


@given(st.integers(1, 150))
def test_depth_is_counted(depth: int) -> None:
    problem = states.json_problem(b"[" * depth + b"]" * depth)
    assert bool(problem) == (depth > states.MAX_DEPTH)


def test_brackets_in_strings_are_not_depth() -> None:
    assert states.json_problem(json.dumps(["[" * 5000 + '\\"' + "{" * 5000]).encode()) == ""


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "empty"),
        (b"  \n", "empty"),
        (b"{'a': 1}", "no JSON"),
        (b'{"a": 1', "no JSON"),
        (b'{"a": 1} {"b": 2}', "no JSON"),
        (b'{"a": NaN}', "NaN"),
        (b"[-Infinity]", "-Infinity"),
        (b"[1e999]", "1e999"),
        (b"\xff\xfe\x00", "no JSON"),
        (b"[" * 100_000 + b"]" * 100_000, "100 levels"),
        (b"[" * 100_000, "100 levels"),
        (b"[" * 500 + b"]" * 500, "100 levels"),
        (b'{"a":' * 50_000 + b"1" + b"}" * 50_000, "100 levels"),
        (b"[" + b"9" * 1_900_000 + b"]", "no JSON"),
        (b"[" + b"1," * 1_500_000 + b"1]", "3000003 bytes"),
        (b"[" + b"[]," * 600_000 + b"[]]", ""),
        (b'"' + b"\\" * 2_000_000, "no JSON"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_what_is_not_taken_is_found_out_quickly(data: bytes, says: str) -> None:
    start = time.process_time()
    problem = states.json_problem(data)
    assert time.process_time() - start < 1.0
    assert says in problem
    assert bool(problem) == bool(says)


def test_a_byte_order_mark_is_no_obstacle() -> None:
    assert states.json_problem(b'\xef\xbb\xbf{"a": 1}') == ""
