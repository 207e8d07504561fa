"""Reading J: its two sides under the names that models give them, and whether it is valid."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepchart_dagster.benchmark.numbers import numeric_leaves
from deepchart_dagster.benchmark.state import (
    NAMES,
    STATE_MAX_BYTES,
    StatePart,
    content_of,
    find_part,
    invalidity,
    load_state,
    missing_side,
    python_literal,
    reading_limits,
    with_state,
)
from deepchart_dagster.errors import BenchmarkFormatError


def test_the_names_are_those_of_the_published_harness_the_right_one_first() -> None:
    assert NAMES == {
        "src": ("src_data", "scr_data", "raw_data", "source_data"),
        "der": ("der_data", "derived_data", "final_chart_data", "chart_data"),
    }


def test_the_first_known_name_counts_at_the_top_before_data_list() -> None:
    both = {"raw_data": [1], "scr_data": [2], "data_list": {"src_data": [3], "der_data": [4]}}

    source, derived = find_part(both, "src"), find_part(both, "der")
    assert source == StatePart(side="src", member="scr_data", content=[2])
    assert derived == StatePart(side="der", member="data_list.der_data", content=[4])
    assert (source.name, source.is_misspelt) == ("scr_data", True)
    assert (derived.name, derived.is_misspelt) == ("der_data", False)
    assert (content_of(both, "src"), content_of(both, "der")) == ([2], [4])


@pytest.mark.parametrize("state", [{}, [], None, "src_data", 3, {"data_list": [1]}, {"data_list": None}])
def test_there_may_be_no_side(state: object) -> None:
    assert find_part(state, "src") is None
    assert content_of(state, "src") is None
    assert missing_side(state, ("der", "src")) == "der"


@pytest.mark.parametrize("empty", [None, "", [], {}])
def test_nothing_counts_as_empty(empty: object) -> None:
    part = find_part({"src_data": empty}, "src")
    assert part is not None
    assert part.is_empty


@pytest.mark.parametrize("full", [0, False, [None], {"a": []}, " ", 1.5])
def test_something_does_not(full: object) -> None:
    part = find_part({"src_data": full}, "src")
    assert part is not None
    assert not part.is_empty


@pytest.mark.parametrize(
    ("state", "needs_derived", "kind", "message"),
    [
        ([1], True, "invalid_output", "J is a JSON list, not an object"),
        (3, True, "invalid_output", "J is a JSON int, not an object"),
        ({}, True, "missing_src_data", "J has no src_data, or it is empty"),
        ({"scr_data": {}, "der_data": [1]}, True, "missing_src_data", "J has no src_data, or it is empty"),
        ({"src_data": [1]}, True, "missing_der_data", "J has no der_data, or it is empty"),
        ({"src_data": [1], "chart_data": ""}, True, "missing_der_data", "J has no der_data, or it is empty"),
        ({"der_data": [1]}, False, "missing_src_data", "J has no src_data, or it is empty"),
    ],
)
def test_an_invalid_state_says_why(state: object, needs_derived: bool, kind: str, message: str) -> None:
    invalid = invalidity(state, needs_derived=needs_derived)
    assert invalid is not None
    assert (invalid.kind, invalid.message) == (kind, message)


@pytest.mark.parametrize(
    ("state", "needs_derived"),
    [
        ({"src_data": [1], "der_data": [2]}, True),
        ({"data_list": {"raw_data": "1", "derived_data": {"a": None}}}, True),
        ({"src_data": [1]}, False),
        ({"src_data": [1], "der_data": []}, False),
    ],
)
def test_a_valid_state_has_what_it_needs(state: object, needs_derived: bool) -> None:
    assert invalidity(state, needs_derived=needs_derived) is None


_CONTENT = st.sampled_from([None, "", [], {}, 0, "x", [None], {"a": 1}])
_MEMBERS = st.dictionaries(st.sampled_from([*NAMES["src"], *NAMES["der"]]), _CONTENT, max_size=4)


@given(outer=_MEMBERS, inner=st.none() | _MEMBERS, needs_derived=st.booleans())
def test_valid_means_every_needed_side_has_something(
    outer: dict[str, object], inner: dict[str, object] | None, needs_derived: bool
) -> None:
    def found(names: tuple[str, ...]) -> object:
        """The first name at the top, else the first under data_list, written out once more."""
        for holder in (outer, inner or {}):
            for name in names:
                if name in holder:
                    return holder[name]
        return None

    has_source, has_derived = (found(NAMES[side]) not in (None, "", [], {}) for side in ("src", "der"))
    expected = None if has_source else "missing_src_data"
    if has_source and needs_derived and not has_derived:
        expected = "missing_der_data"

    invalid = invalidity({**outer, "data_list": inner}, needs_derived=needs_derived)
    assert (invalid.kind if invalid else None) == expected


def test_a_byte_order_mark_is_read_and_strings_of_numbers_count() -> None:
    state = load_state(
        b'\xef\xbb\xbf{"src_data": [null, 1, true], "der_data": ["2", "nan", "2,17"]}', name="state.json"
    )
    assert numeric_leaves(content_of(state, "src")) == [1.0]
    assert numeric_leaves(content_of(state, "der")) == [2.0]


@pytest.mark.parametrize("number", [b"NaN", b"Infinity", b"-Infinity", b"1e999", b"9" * 5000])
def test_what_is_no_json_number_makes_a_state_unreadable(number: bytes) -> None:
    with pytest.raises(BenchmarkFormatError, match=r"state\.json is no valid JSON"):
        load_state(b'{"src_data": [1, ' + number + b'], "der_data": [7]}', name="state.json")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "no valid JSON"),
        (b"{'a': 1}", "no valid JSON"),
        (b"\xff\xfe{}", "not UTF-8"),
        (b'{"a": ' + b"[" * 250 + b"]" * 250 + b"}", "nested too deeply: 200"),
        (b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "nested too deeply: 200"),
        (b'"' + b"a" * STATE_MAX_BYTES + b'"', "too large: 2097154 bytes"),
    ],
)
def test_what_is_no_json_says_why(data: bytes, said: str) -> None:
    with pytest.raises(BenchmarkFormatError, match=said):
        load_state(data, name="state.json")


def test_keys_know_the_limits_of_reading() -> None:
    assert reading_limits() == {"max_bytes": 2_097_152, "max_depth": 200, "finite": True}


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
        max_leaves=12,
    )
)
def test_a_program_finds_its_state_again(state: object) -> None:
    found: dict[str, object] = {}
    exec(with_state("import math\nJ = __J__\n", state), found)
    assert found["J"] == state


def test_a_literal_has_a_line_for_each_member() -> None:
    assert python_literal({"src_data": [1, None], "der_data": {"a": True}}) == (
        "{\n    'src_data': [1, None],\n    'der_data': {'a': True},\n}"
    )
    assert python_literal({}) == "{}"
