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
    head = tokens.DEFAULT.head(text, limit)
    assert text.startswith(head)
    if tokens.count(text) <= limit:
        assert head == text
    if text.isascii():
        assert tokens.count(head) <= limit


def test_the_head_of_a_long_text_fills_its_room() -> None:
    text = "The balance sheet shows total assets of 352,755 million dollars. " * 4000
    head = tokens.DEFAULT.head(text, 1000)
    assert 990 <= tokens.count(head) <= 1000


# The models' own tokenizers


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("openai/gpt-5.2-2025-12-11", "o200k_base"),
        ("azure/gpt-4o-mini", "o200k_base"),
        ("openai/gpt-4-turbo", "cl100k_base"),
        ("openai/a-model-of-ones-own", "cl100k_base"),
        ("anthropic/claude-opus-4-5-20251101", "anthropic"),
        ("anthropic/claude-3-haiku-20240307", "cl100k_base"),
        ("openrouter/deepseek/deepseek-v3.2", "deepseek"),
        ("deepseek/deepseek-chat", "deepseek"),
        ("gemini/gemini-3-flash-preview", "cl100k_base"),
        ("scripted/oracle", "cl100k_base"),
    ],
)
def test_a_model_is_counted_by_its_own_tokenizer_where_there_is_one(model: str, name: str) -> None:
    assert tokens.counter_of(model).name == name


@pytest.mark.slow  # litellm takes seconds to import
def test_the_choice_is_litellms() -> None:
    import litellm
    from litellm.utils import huggingface_tokenizer_kind

    from deepchart_dagster.llm.registry import load_models
    from deepchart_dagster.settings import DEFAULTS

    for spec in load_models(DEFAULTS.models_file).values():
        name = spec.litellm_model.partition("/")[2]
        theirs = huggingface_tokenizer_kind(name)
        ours = tokens.counter_of(spec.litellm_model)
        if theirs in ("anthropic", "deepseek"):
            assert ours.name == theirs, spec.slug
        else:
            assert ours.name in ("cl100k_base", "o200k_base"), spec.slug
    text = "Net sales of $394,328 million, お誕生日おめでとう, antidisestablishmentarianism."
    assert tokens.TokenCounter("o200k_base").count(text) == litellm.token_counter(model="gpt-4o", text=text)


@pytest.mark.parametrize("name", ["o200k_base", "anthropic", "deepseek"])
def test_every_tokenizer_counts_words_and_numbers(name: str) -> None:
    counter = tokens.TokenCounter(name)
    assert counter.count("") == 0
    assert counter.count("Hello world") == 2
    text = "The balance sheet shows total assets of 352,755 million dollars. " * 3000
    head = counter.head(text, 1000)
    assert text.startswith(head)
    assert 990 <= counter.count(head) <= 1000


@pytest.mark.parametrize("name", ["anthropic", "deepseek"])
@given(text=st.text(max_size=80), limit=st.integers(0, 30))
def test_a_head_by_a_shipped_tokenizer_never_takes_more(name: str, text: str, limit: int) -> None:
    counter = tokens.TokenCounter(name)
    head = counter.head(text, limit)
    assert text.startswith(head)
    assert counter.count(head) <= limit
    if counter.count(text) <= limit:
        assert head == text
