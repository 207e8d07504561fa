from __future__ import annotations

import hashlib
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepchart_dagster.artifacts.canonical import (
    InputKey,
    canonical_json,
    changed_parts,
    content_hash,
    jsonable,
    sha256_file,
)

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda children: st.lists(children, max_size=4) | st.dictionaries(st.text(), children, max_size=4),
    max_leaves=12,
)


def test_canonical_text_is_sorted_and_compact() -> None:
    assert canonical_json({"b": [1, 2.5, None, True], "a": "ä"}) == '{"a":"ä","b":[1,2.5,null,true]}'


@given(json_values)
def test_canonical_text_reads_back_as_the_same_value(value: object) -> None:
    assert json.loads(canonical_json(value)) == value


@given(st.dictionaries(st.text(), json_values, max_size=6), st.randoms(use_true_random=False))
def test_member_order_does_not_matter(value: dict[str, object], random: object) -> None:
    names = list(value)
    random.shuffle(names)  # type: ignore[attr-defined]
    assert canonical_json({name: value[name] for name in names}) == canonical_json(value)


@given(json_values, json_values)
def test_different_values_have_different_keys(one: object, other: object) -> None:
    same = canonical_json(one) == canonical_json(other)
    assert (content_hash(one) == content_hash(other)) is same


def test_one_and_one_point_zero_and_true_are_three_settings() -> None:
    assert len({content_hash(1), content_hash(1.0), content_hash(True)}) == 3


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_not_a_number_has_no_canonical_form(value: float) -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        canonical_json({"x": value})


@pytest.mark.parametrize("value", [{1: "a"}, {"a": {None: 1}}, {"a": object()}, b"bytes", {1, 2}])
def test_what_json_cannot_hold_is_refused(value: object) -> None:
    with pytest.raises(TypeError):
        canonical_json(value)


def test_a_key_is_versioned_and_is_the_hash_of_its_parts() -> None:
    key = InputKey.of(stage="x/1", settings={"limit": 60.0}, files=("a", "b"))
    text = '{"files":["a","b"],"settings":{"limit":60.0},"stage":"x/1"}'
    assert str(key) == "k1-" + hashlib.sha256(text.encode()).hexdigest()
    assert key.parts == {"stage": "x/1", "settings": {"limit": 60.0}, "files": ["a", "b"]}


@given(st.dictionaries(st.text(min_size=1), json_values, max_size=5), st.dictionaries(st.text(min_size=1), json_values))
def test_changed_parts_are_exactly_those_that_differ(old: dict[str, object], new: dict[str, object]) -> None:
    old_plain, new_plain = jsonable(old), jsonable(new)
    assert isinstance(old_plain, dict)
    assert isinstance(new_plain, dict)
    changes = changed_parts(old_plain, new_plain)
    patched = {**old_plain, **{name: new_plain[name] for name in changes if name in new_plain}}
    for name in changes:
        if name not in new_plain:
            del patched[name]
    assert canonical_json(patched) == canonical_json(new_plain)
    assert changed_parts(old_plain, old_plain) == {}


def test_file_hash_is_that_of_its_bytes(tmp_path: object) -> None:
    path = tmp_path / "f"  # type: ignore[operator]
    path.write_bytes(b"x" * 3_000_000)
    assert sha256_file(path) == hashlib.sha256(b"x" * 3_000_000).hexdigest()
