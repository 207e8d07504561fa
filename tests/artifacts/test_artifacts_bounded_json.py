"""Bounds on JSON that somebody else wrote, read as data (NaN is passed over) and as a program's output (it is not)."""

from __future__ import annotations

import json
import math
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepchart_dagster.artifacts.bounded_json import MAX_DEPTH, load_json
from deepchart_dagster.errors import BenchmarkFormatError

MAX_BYTES = 2 * 1024 * 1024
_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**18), 10**18)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


def read(data: bytes, *, finite: bool = True) -> object:
    return load_json(data, name="state.json", max_bytes=MAX_BYTES, finite=finite)


@pytest.mark.parametrize("finite", [True, False])
@given(value=_JSON)
def test_whatever_json_writes_is_read_back(value: object, finite: bool) -> None:
    assert read(json.dumps(value).encode(), finite=finite) == value
    assert read(json.dumps(value, ensure_ascii=False, indent=2).encode(), finite=finite) == value


@given(st.integers(1, 300))
def test_depth_is_counted(depth: int) -> None:
    data = b"[" * depth + b"]" * depth
    if depth <= 200:
        assert json.dumps(read(data)).encode() == data
    else:
        with pytest.raises(BenchmarkFormatError, match="too deeply"):
            read(data)


def test_the_depth_limit_is_exact_and_counts_objects_and_lists_alike() -> None:
    assert MAX_DEPTH == 200
    allowed = '[{"a":' * 100 + "1" + "}]" * 100
    assert json.dumps(read(allowed.encode()), separators=(",", ":")) == allowed

    with pytest.raises(BenchmarkFormatError, match="too deeply"):
        read(f"[{allowed}]".encode())


def test_brackets_in_strings_are_not_depth() -> None:
    value = ["[" * 5000 + '\\"' + "{" * 5000]
    assert read(json.dumps(value).encode()) == value


@pytest.mark.parametrize("finite", [True, False])
@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "no valid JSON"),
        (b"  \n", "no valid JSON"),
        (b"{'a': 1}", "no valid JSON"),
        (b'{"a": 1', "no valid JSON"),
        (b'{"a": 1} {"b": 2}', "no valid JSON"),
        (b"\xff\xfe\x00", "not UTF-8"),
        (b"\xff\xfe[1]", "not UTF-8"),
        (b"[" * 100_000 + b"]" * 100_000, "too deeply: 200 levels"),
        (b"[" * 100_000, "too deeply: 200 levels"),
        (b"[" * 500 + b"]" * 500, "too deeply: 200 levels"),
        (b'{"a":' * 50_000 + b"1" + b"}" * 50_000, "too deeply: 200 levels"),
        (b'"' + b"\\" * 2_000_000, "no valid JSON"),
        (b"[" + b"1," * 1_500_000 + b"1]", "too large: 3000003 bytes, 2097152 at most"),
        (b"[0]" + b" " * MAX_BYTES, "too large: 2097155 bytes, 2097152 at most"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_what_is_not_taken_is_found_out_quickly(data: bytes, says: str, finite: bool) -> None:
    begun = time.process_time()
    with pytest.raises(BenchmarkFormatError, match=says) as refusal:
        read(data, finite=finite)

    assert time.process_time() - begun < 1.0
    assert refusal.value.message.startswith("state.json is ")
    assert len(refusal.value.message.splitlines()) == 1


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b'{"a": NaN}', "NaN is no JSON number"),
        (b"[-Infinity]", "-Infinity is no JSON number"),
        (b"[1e999]", "1e999 is larger than a number can be"),
        (b"[-1e999]", "-1e999 is larger than a number can be"),
        (b"[1" + b"0" * 309 + b"]", "larger than a number can be"),
        (b"[-1" + b"0" * 309 + b"]", "larger than a number can be"),
        (b"[" + b"9" * 1_900_000 + b"]", "9{40} is larger than a number can be"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_a_program_that_writes_no_number_has_written_no_json(data: bytes, says: str) -> None:
    begun = time.process_time()
    with pytest.raises(BenchmarkFormatError, match=says):
        read(data)

    assert time.process_time() - begun < 1.0


def test_the_largest_numbers_are_numbers() -> None:
    largest = 10**308
    assert read(b"[%d, -1.7976931348623157e308, 1e-999]" % largest) == [largest, -1.7976931348623157e308, 0.0]


def test_in_data_numbers_out_of_range_are_read_as_not_finite() -> None:
    value = read(b'[1e999, -1e999, NaN, -Infinity, 1e-999, "1e999"]', finite=False)

    assert isinstance(value, list)
    assert [math.isfinite(number) for number in value[:4]] == [False] * 4
    assert value[4:] == [0.0, "1e999"]


def test_in_data_integers_of_millions_of_digits_are_read_and_are_infinite() -> None:
    data = b"[" + b"7" * 5_000_000 + b", -" + b"7" * 5000 + b", 3]"

    begun = time.process_time()
    value = load_json(data, name="reference.json", max_bytes=10_000_000)

    assert value == [math.inf, -math.inf, 3]
    assert time.process_time() - begun < 5


def test_of_duplicate_members_the_last_holds() -> None:
    assert read(b'{"a": 1, "a": 2, "b": {"c": 3, "c": [4, 5]}}') == {"a": 2, "b": {"c": [4, 5]}}


def test_a_byte_order_mark_is_no_error() -> None:
    assert read(b'\xef\xbb\xbf{"a": 1}') == {"a": 1}


@pytest.mark.parametrize("unit", [b"0,", b"[],", b'"0",', b'{"":0},', b"0.1,"])
def test_two_megabytes_of_anything_are_read_quickly(unit: bytes) -> None:
    count = MAX_BYTES // len(unit) - 2

    begun = time.process_time()
    value = read(b"[" + unit * count + b"0]")

    assert isinstance(value, list)
    assert len(value) == count + 1
    assert time.process_time() - begun < 10


def test_the_remedy_comes_with_every_refusal() -> None:
    for data in (b"{", b"\xff", b"[" * 500 + b"]" * 500, b" " * 100):
        with pytest.raises(BenchmarkFormatError) as refusal:
            load_json(data, name="a.json", max_bytes=99 if data[:1] == b" " else 2000, remedy="Correct it.")
        assert refusal.value.remedy == "Correct it."
