"""Token counts, offline."""

from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepchart_dagster.contexts import tokens


@pytest.mark.parametrize(
    ("text", "n"),
    # Counts of cl100k_base as OpenAI's cookbook prints them for "antidisestablishmentarianism" (6),
    # "2 + 2 = 4" (7) and "お誕生日おめでとう" (9).
    [("", 0), ("antidisestablishmentarianism", 6), ("2 + 2 = 4", 7), ("お誕生日おめでとう", 9)],
)
def test_counts(text: str, n: int) -> None:
    assert tokens.count(text) == n


def test_special_tokens_in_a_document_are_plain_text() -> None:
    assert tokens.count("<|endoftext|>") > 1


def test_counting_leaves_the_environment_as_it_was() -> None:
    before = os.environ.get("TIKTOKEN_CACHE_DIR")
    tokens._load.cache_clear()
    tokens.count("a")
    assert os.environ.get("TIKTOKEN_CACHE_DIR") == before


@given(st.text(max_size=200), st.integers(0, 50))
def test_a_head_is_a_leading_part_of_at_most_so_many_tokens(text: str, limit: int) -> None:
    head = tokens.head(text, limit)
    assert text.startswith(head)
    if tokens.count(text) <= limit:
        assert head == text
    if text.isascii():
        assert tokens.count(head) <= limit


def test_the_head_of_a_long_text_fills_its_room() -> None:
    text = "The balance sheet shows total assets of 352,755 million dollars. " * 4000
    head = tokens.head(text, 1000)
    assert 990 <= tokens.count(head) <= 1000
