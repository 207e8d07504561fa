"""Why an answer is not stored: which part of its key differs from that of the answer before."""

from __future__ import annotations

import asyncio

import pytest

from deepchart_dagster.llm.misses import answer_state


@pytest.fixture
def asked(server, client, make_request):
    request = make_request("What was revenue?", about="finance/x", parameters={"temperature": 0.5})
    asyncio.run(client.complete(request))
    return request


def test_a_stored_answer_is_stored(asked, tmp_path):
    state = answer_state(tmp_path, asked)
    assert (state.key, state.stored, state.before, state.changed) == (asked.key().digest, True, None, {})
    assert state.as_text() == f"the answer is stored: {state.key}"


def test_a_changed_text_and_parameter_are_named_where_they_are(asked, make_request, tmp_path):
    now = make_request("What was net income?", about="finance/x", parameters={"temperature": 1, "seed": 3})
    state = answer_state(tmp_path, now)
    assert (state.stored, state.before) == (False, asked.key().digest)
    assert set(state.changed) == {
        "messages[1].parts[0].text_sha256",
        "messages[1].parts[0].characters",
        "parameters.temperature",
        "parameters.seed",
    }
    assert state.changed["parameters.temperature"] == (0.5, 1)
    assert state.changed["parameters.seed"] == (None, 3)
    assert state.changed["messages[1].parts[0].characters"] == (17, 20)
    assert "parameters.temperature: 0.5 -> 1" in state.as_text()


@pytest.mark.parametrize("other", [{"about": "finance/y"}, {"about": ""}, {"about": "finance/x", "slug": "another"}])
def test_what_was_never_asked_is_compared_with_nothing(asked, make_request, tmp_path, other):
    state = answer_state(tmp_path, make_request("Something else", **other))
    assert (state.stored, state.before, state.changed) == (False, None, {})
    assert state.as_text() == f"no answer is stored: {state.key}"


def test_an_answer_whose_file_is_gone_cannot_be_compared(asked, make_request, tmp_path):
    for path in (tmp_path / "llm" / "answers").rglob("*.json"):
        path.unlink()
    state = answer_state(tmp_path, make_request("Something else", about="finance/x"))
    assert (state.stored, state.before) == (False, None)
