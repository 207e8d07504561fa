"""A context within a budget: what is kept, what is counted, what is said to be left out."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deepchart_dagster.artifacts.canonical import sha256_text
from deepchart_dagster.benchmark.model import Modality
from deepchart_dagster.contexts import tokens
from deepchart_dagster.contexts.model import ContextFile, ImageChunk, ModelContext
from deepchart_dagster.contexts.model_input import Cut, budget_identity, chunk_cap, fit_context, picture_tokens
from deepchart_dagster.errors import ConfigurationError, MissingInputError
from deepchart_dagster.llm.registry import ModelSpec


def model(window: int, **more: object) -> ModelSpec:
    return ModelSpec(slug="m", litellm_model="openai/m", context_window=window, **more)


def context_of(folder: Path, texts: dict[str, str], *, n_chunks: int = 0, pages: tuple[int, ...] = ()) -> ModelContext:
    files = []
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8", newline="")
        files.append(
            ContextFile(name=name, document_id="d", title="T", path=name, sha256=sha256_text(text), pages=pages)
        )
    chunks = tuple(
        ImageChunk(
            index=index,
            document_id="d",
            first_page=8 * index - 7,
            last_page=8 * index,
            path=f"{index}.jpg",
            sha256="0" * 64,
            width=900,
            height=1200,
        )
        for index in range(1, n_chunks + 1)
    )
    modality = Modality.MULTIMODAL if n_chunks else Modality.TEXT
    return ModelContext(uid="t/1", split="finance-long", modality=modality, files=tuple(files), chunks=chunks)


def test_what_fits_is_given_whole(tmp_path: Path) -> None:
    given_input = fit_context(context_of(tmp_path, {"a": "one two", "b": "three"}), tmp_path, model(1000), 700)
    assert [item.text for item in given_input.documents] == ["one two", "three"]
    assert (given_input.context_tokens, given_input.budget_tokens, given_input.tokens) == (3, 800, 703)
    assert given_input.cut == Cut()
    assert given_input.record()["cut"] is None


def test_the_budget_is_eighty_percent_of_the_window_for_instructions_and_context_together(tmp_path: Path) -> None:
    text = "".join(f" {number}" for number in range(100, 200))  # a blank and three digits: two tokens each
    assert tokens.count(text) == 200
    exactly = fit_context(context_of(tmp_path, {"a": text}), tmp_path, model(1000), 600)
    assert not exactly.cut
    over = fit_context(context_of(tmp_path, {"a": text}), tmp_path, model(1000), 601)
    assert over.documents[0].text == text[: -len("199")]
    assert over.cut == Cut(tokens=1, cut_file="d/a")


def test_texts_after_the_cut_are_left_out_and_named(tmp_path: Path) -> None:
    texts = {"a": " one" * 50, "b": " two" * 100, "c": " three" * 10, "d": "x"}
    given_input = fit_context(context_of(tmp_path, texts), tmp_path, model(1000), 710)
    assert [(item.name, item.text) for item in given_input.documents] == [("a", " one" * 50), ("b", " two" * 40)]
    assert given_input.cut == Cut(tokens=60 + 10 + 1, files=("d/c", "d/d"), cut_file="d/b")


def test_a_name_that_begins_with_its_document_is_not_doubled(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    context = context_of(tmp_path, {"a": " one" * 90, "d/context.md": " two", "data.md": " two"})
    assert fit_context(context, tmp_path, model(1000), 710).cut.files == ("d/context.md", "d/data.md")


def test_a_text_of_which_nothing_fits_is_left_out_whole(tmp_path: Path) -> None:
    given_input = fit_context(context_of(tmp_path, {"a": " one" * 90, "b": " two"}), tmp_path, model(1000), 710)
    assert [item.name for item in given_input.documents] == ["a"]
    assert given_input.cut == Cut(tokens=1, files=("d/b",))


def test_the_last_page_that_is_kept_is_told(tmp_path: Path) -> None:
    pages = "".join(f"<!-- page {number} -->\n" + " word" * 50 + "\n" for number in range(1, 9))
    given_input = fit_context(context_of(tmp_path, {"a": pages}), tmp_path, model(1000), 600)
    kept = given_input.documents[0].text
    assert f"<!-- page {given_input.cut.last_page} -->" in kept
    assert f"<!-- page {given_input.cut.last_page + 1} -->" not in kept
    one_page = context_of(tmp_path, {"a": " word" * 500}, pages=(34,))
    assert fit_context(one_page, tmp_path, model(1000), 600).cut.last_page == 34
    two_pages = context_of(tmp_path, {"a": " word" * 500}, pages=(34, 35))
    assert fit_context(two_pages, tmp_path, model(1000), 600).cut.last_page is None


@settings(max_examples=60, deadline=None)
@given(
    parts=st.lists(st.text(st.characters(codec="utf-8"), max_size=80), min_size=1, max_size=4), room=st.integers(1, 60)
)
def test_what_is_given_is_a_prefix_within_the_budget_and_nothing_is_lost_unsaid(
    parts: list[str], room: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("context")
    texts = {str(number): text for number, text in enumerate(parts)}
    given_input = fit_context(context_of(folder, texts), folder, model(1000), 800 - room)
    total = sum(tokens.count(text) for text in parts)
    assert given_input.fixed_tokens + given_input.context_tokens <= given_input.budget_tokens
    assert given_input.context_tokens + given_input.cut.tokens == total
    *whole, last = [item.text for item in given_input.documents] or [""]
    assert whole == parts[: len(whole)]
    assert parts[len(whole)].startswith(last)
    named = len(given_input.documents) + len(given_input.cut.files)
    assert named == len(parts)


@pytest.mark.parametrize(
    ("window", "cap"),
    [
        (32_000, 32),
        (128_000, 32),
        (131_072, 32),
        (200_000, 48),
        (262_144, 48),
        (400_000, 64),
        (524_288, 64),
        (1_000_000, 120),
    ],
)
def test_chunks_are_capped_by_window(tmp_path: Path, window: int, cap: int) -> None:
    given_input = fit_context(context_of(tmp_path, {}, n_chunks=130), tmp_path, model(window), 500)
    assert [chunk.index for chunk in given_input.chunks] == list(range(1, cap + 1))
    assert given_input.record()["n_chunks"] == cap
    assert given_input.cut == Cut(chunks=130 - cap)
    assert given_input.picture_tokens == cap * 1440


def test_a_cap_of_the_model_itself_comes_first(tmp_path: Path) -> None:
    capped = model(1_000_000, max_image_chunks=5)
    assert chunk_cap(capped) == 5
    assert len(fit_context(context_of(tmp_path, {}, n_chunks=9), tmp_path, capped, 500).chunks) == 5
    assert not fit_context(context_of(tmp_path, {}, n_chunks=5), tmp_path, capped, 500).cut


def test_picture_tokens_grow_with_the_picture() -> None:
    assert (picture_tokens(750, 1), picture_tokens(751, 1), picture_tokens(3600, 2400)) == (1, 2, 11520)


def test_the_key_names_the_budget_that_counts() -> None:
    text = {"version": 1, "tokens": 800, "tokenizer": "cl100k_base"}
    assert budget_identity(model(1000), Modality.TEXT) == text
    assert budget_identity(model(1000), Modality.MULTIMODAL) == {**text, "chunks": 32}
    claude = model(1000).model_copy(update={"litellm_model": "anthropic/claude-opus-4-5"})
    assert budget_identity(claude, Modality.TEXT)["tokenizer"] == "anthropic"


def test_a_text_is_cut_by_the_models_own_tokenizer(tmp_path: Path) -> None:
    context = context_of(tmp_path, {"a": "お誕生日おめでとう " * 500})
    spec = model(1000).model_copy(update={"litellm_model": "deepseek/deepseek-chat"})
    given_input = fit_context(context, tmp_path, spec, 300)
    counter = tokens.TokenCounter("deepseek")
    (document,) = given_input.documents
    assert given_input.tokenizer == given_input.record()["tokenizer"] == "deepseek"
    assert 495 <= given_input.context_tokens == counter.count(document.text) <= 500
    assert given_input.cut.tokens == counter.count("お誕生日おめでとう " * 500) - given_input.context_tokens


def test_instructions_that_fill_the_window_are_an_error_that_names_the_setting(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="context_window"):
        fit_context(context_of(tmp_path, {"a": "x"}), tmp_path, model(1000), 800)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    context = context_of(tmp_path, {"Balance_Sheet.md": "x"})
    (tmp_path / "Balance_Sheet.md").unlink()
    with pytest.raises(MissingInputError, match=r"Balance_Sheet\.md"):
        fit_context(context, tmp_path, model(1000), 10)
