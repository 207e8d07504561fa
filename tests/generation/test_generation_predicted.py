"""Reading J; generation and scoring must agree on what it holds, whichever of them reads it."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deepchart_dagster.generation.predicted import DERIVED_NAMES, SOURCE_NAMES, count_numbers, parse_state
from deepchart_dagster.scoring.numbers import numeric_leaves
from deepchart_dagster.scoring.prediction import NAMES, find_part, invalidity


def state(value: object):
    return parse_state(json.dumps(value).encode())


def test_the_first_known_name_counts_at_the_top_before_data_list() -> None:
    both = {"raw_data": [1], "scr_data": [2], "data_list": {"src_data": [3], "der_data": [4]}}
    assert (state(both).source.name, state(both).source.data) == ("scr_data", [2])
    assert state(both).misspelled == {"src_data": "scr_data"}
    assert state({"src_data": [1], "der_data": [2]}).misspelled == {}
    assert state({}).source.name is None


@pytest.mark.parametrize("empty", [None, "", [], {}])
def test_nothing_counts_as_empty(empty: object) -> None:
    assert state({"src_data": empty}).source.is_empty
    assert state({}).source.is_empty


@pytest.mark.parametrize("full", [0, False, [None], {"a": []}, " ", 1.5])
def test_something_does_not(full: object) -> None:
    assert not state({"src_data": full}).source.is_empty


def test_a_byte_order_mark_and_nan_are_read_as_programs_write_them() -> None:
    read = parse_state(b'\xef\xbb\xbf{"src_data": [NaN, 1, -Infinity], "der_data": ["2"]}')
    assert (count_numbers(read.source.data), count_numbers(read.derived.data)) == (1, 1)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "not JSON"),
        (b"{'a': 1}", "not JSON"),
        (b"\xff\xfe{}", "not JSON"),
        (b"[1]", "a JSON list"),
        (b"3", "a JSON int"),
        (b'{"a": ' + b"[" * 250 + b"]" * 250 + b"}", "nested more than 200"),
        (b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "nested more than 200"),
    ],
)
def test_what_is_no_j_says_why(data: bytes, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        parse_state(data)


def test_numbers_of_any_size_are_no_crash() -> None:
    read = parse_state(b'{"src_data": [' + b"9" * 5000 + b", 1e999, 7, true, null]}")
    assert count_numbers(read.source.data) == 1


_LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=6)
    | st.sampled_from(["3,717", " 42 ", "-1.5e-3", "1_000", "2,17", "nan", "5%", "(5)", "１２", "+5", ".5", "1e999"])
)
_LIST = st.lists(_LEAVES, max_size=3)
_VALUES = _LEAVES | _LIST | st.fixed_dictionaries({"a": _LIST, "b": st.lists(_LIST, max_size=2)})
_NAMES = st.sampled_from([*SOURCE_NAMES, *DERIVED_NAMES])
_MEMBERS = st.dictionaries(_NAMES, _VALUES, max_size=3)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(value=_MEMBERS, inner=st.none() | _MEMBERS, needs_derived=st.booleans())
def test_scoring_reads_the_same_state(value: dict[str, object], inner: object, needs_derived: bool) -> None:
    value = {**value, "data_list": inner}
    assert (NAMES["src"], NAMES["der"]) == (SOURCE_NAMES, DERIVED_NAMES)
    read, plain = state(value), json.loads(json.dumps(value))
    for member, side in ((read.source, "src"), (read.derived, "der")):
        part = find_part(plain, side)
        assert member.name == (part.member.removeprefix("data_list.") if part else None)
        assert part is None or count_numbers(member.data) == len(numeric_leaves(part.content))
    missing = "missing_src_data" if read.source.is_empty else None
    missing = missing or ("missing_der_data" if needs_derived and read.derived.is_empty else None)
    assert invalidity(plain, needs_derived=needs_derived) == missing
