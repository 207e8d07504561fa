"""What changes a request's key, and what does not."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepchart_dagster.benchmark.mini import catalogue
from deepchart_dagster.llm.cache import summarised_parts
from deepchart_dagster.llm.model import ChatRequest, ImagePart, Message, TextPart
from deepchart_dagster.llm.registry import ModelSpec, Prices
from deepchart_dagster.llm.scripted import judge, oracle, recipes

texts = st.text(max_size=30)
images = st.builds(
    ImagePart, st.binary(max_size=30), st.sampled_from(["image/png", "image/jpeg"]), st.just(2), st.just(3)
)
parts = st.one_of(texts.map(TextPart), images)
messages = st.lists(
    st.builds(
        Message, st.sampled_from(["system", "user", "assistant"]), st.lists(parts, min_size=1, max_size=3).map(tuple)
    ),
    min_size=1,
    max_size=3,
).map(tuple)
names = st.text(alphabet="abcdef_", min_size=1, max_size=6)
parameters = st.dictionaries(names, st.one_of(st.booleans(), st.integers(0, 9), st.floats(0, 2), texts), max_size=3)


def ask(model: dict, **request) -> ChatRequest:
    spec = ModelSpec(**{"slug": "m", "litellm_model": "openai/m", **model})
    fields = {"messages": (Message.text("user", "q"),), "purpose": "stage1", "prompt_hash": "p", **request}
    return ChatRequest(model=spec, **fields)


def key(model: dict | None = None, **request) -> str:
    return ask(model or {}, **request).key().digest


@given(
    messages=messages,
    slug=st.sampled_from(["m", "other-slug"]),
    name=texts.filter(str.isprintable),
    price=st.one_of(st.none(), st.floats(0, 1e3)),
    concurrency=st.integers(1, 1024),
    timeout=st.floats(0.1, 86_400),
    window=st.integers(1, 10**7),
    chunks=st.one_of(st.none(), st.integers(1, 200)),
    purpose=st.sampled_from(["stage1", "stage2", "rubric", "judge"]),
)
def test_price_and_pace_change_no_key(messages, slug, name, price, concurrency, timeout, window, chunks, purpose):
    changed = {
        "slug": slug,
        "name": name,
        "family": name,
        "prices": Prices(input_per_million=price, output_per_million=price),
        "concurrency": concurrency,
        "timeout_s": timeout,
        "context_window": window,
        "max_image_chunks": chunks,
    }
    assert key(changed, messages=messages, purpose=purpose) == key(messages=messages)


def test_an_endpoints_address_is_in_no_key_and_a_revision_is():
    moved = {"api_base": "http://elsewhere/v1"}
    assert key(moved) == key()
    first, second = (key({**moved, "revision": revision}) for revision in ("2026-10", "2026-11"))
    assert len({key(), first, second}) == 3
    assert "revision" not in ask({}).key().parts


@given(one=messages, other=messages)
def test_messages_have_the_same_key_only_if_they_are_the_same(one, other):
    assert (key(messages=one) == key(messages=other)) == (one == other)


@given(one=st.binary(min_size=1, max_size=50), at=st.integers(0, 49), bit=st.integers(0, 7))
def test_one_bit_of_an_image_changes_the_key(one, at, bit):
    flipped = bytearray(one)
    flipped[at % len(one)] ^= 1 << bit

    def with_image(data: bytes) -> str:
        return key(messages=(Message("user", (TextPart("see"), ImagePart(data, "image/png", 1, 1))),))

    assert with_image(bytes(flipped)) != with_image(one)


@given(one=parameters, other=parameters)
def test_parameters_change_the_key_wherever_they_come_from(one, other):
    def typed(values: dict) -> dict:
        return {name: (type(value), value) for name, value in values.items()}

    same = typed(one) == typed(other)
    assert (key(parameters=one) == key(parameters=other)) == same
    assert (key({"parameters": one}) == key(parameters=other)) == same


@given(one=parameters, other=parameters)
def test_a_requests_parameter_overrides_the_models(one, other):
    assert key({"parameters": one}, parameters=other) == key(parameters={**one, **other})


def test_model_prompt_and_repeat_change_the_key():
    keys = [
        key(),
        key({"litellm_model": "openai/n"}),
        key(prompt_hash="p2"),
        key(repeat=1),
        key(messages=(Message("user", (TextPart("q"), TextPart(""))),)),
        key(messages=(Message.text("system", "q"),)),
    ]
    assert len(set(keys)) == len(keys)


def test_the_version_of_a_program_is_in_its_key_and_in_no_other(monkeypatch):
    scripted = {"litellm_model": "scripted/oracle"}
    assert ask(scripted).key().parts["program"] == f"{oracle.VERSION}, files {oracle.followed_files_hash()}"
    assert ask({"litellm_model": "scripted/judge"}).key().parts["program"] == judge.VERSION
    assert ask({"litellm_model": "scripted/nobody"}).key().parts["program"] is None
    before, real = key(scripted), key()
    monkeypatch.setattr(oracle, "VERSION", "another")
    assert key(scripted) != before
    assert key() == real


@pytest.fixture
def query_folder(tmp_path, monkeypatch):
    """A copy of the mini queries that the scripted models follow for the length of a test."""
    folder = Path(shutil.copytree(catalogue.QUERY_FOLDER, tmp_path / "queries"))
    monkeypatch.setattr(catalogue, "QUERY_FOLDER", folder)
    recipes.recipes_hash.cache_clear()
    yield folder
    recipes.recipes_hash.cache_clear()


@pytest.mark.parametrize("name", ["recipe.yaml", "stage2.py", "query.json"])
def test_a_changed_file_of_a_mini_query_changes_the_key_of_who_follows_it(query_folder, name):
    programs = [{"litellm_model": f"scripted/{one}"} for one in ("oracle", "misreads", "judge")]
    before = [key(program) for program in programs]
    path = query_folder / "finance-marrow-ccc" / name
    path.write_text(path.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    recipes.recipes_hash.cache_clear()  # as in a new process
    after = [key(program) for program in programs]
    assert [one == other for one, other in zip(before, after, strict=True)] == [False, False, True]


def test_the_keys_of_answers_that_were_paid_for_stay_as_they_are():
    """The digest stands in users' caches: were it another, every answer would be paid for again."""
    assert key() == "k1-7e0d2b5026f18010ae0f3b1620806f1c46602738f571ed6edf6c379d4f4f20eb"


def test_a_text_never_passes_for_an_image():
    image = ImagePart(b"x", "image/png", 1, 1)
    as_image = key(messages=(Message("user", (image,)),))
    as_text = key(messages=(Message("user", (TextPart(image.sha256),)),))
    assert as_image != as_text


@given(messages=messages)
def test_the_stored_parts_hold_no_text_and_differ_where_keys_do(messages):
    request = ask({}, messages=messages)
    stored = summarised_parts(request, request.key().parts)
    sizes = [part.get("characters", part.get("bytes")) for entry in stored["messages"] for part in entry["parts"]]
    expected = [
        len(part.text) if isinstance(part, TextPart) else len(part.data) for entry in messages for part in entry.parts
    ]
    assert sizes == expected
    assert {name: value for name, value in stored.items() if name != "messages"} == {
        name: value for name, value in request.key().parts.items() if name != "messages"
    }
    assert not any("text" in part for entry in stored["messages"] for part in entry["parts"])
