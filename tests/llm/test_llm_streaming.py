"""Answers that come piece by piece: whole ones are read as any other, broken ones are errors and never kept."""

from __future__ import annotations

import asyncio
import json

import pytest

from deepchart_dagster.errors import BadProviderAnswer, ProviderError, ProviderTimeout, RateLimited
from deepchart_dagster.llm.ledger import read_ledger
from deepchart_dagster.llm.model import Usage


def ask(client, make_request, text="What was revenue?", **model):
    return asyncio.run(client.complete(make_request(text, stream=True, **model)))


def failed(client, make_request, **model):
    with pytest.raises(ProviderError) as caught:
        ask(client, make_request, **model)
    return caught.value


def hello(replies, finish="stop"):
    return [replies.piece("hel"), replies.piece("lo"), replies.piece("", finish)]


def test_a_stream_is_put_together(server, client, make_request, replies):
    server.tell(replies.streamed(*hello(replies), replies.usage))
    answer = ask(client, make_request)
    assert (answer.text, answer.finish_reason) == ("hello", "stop")
    assert answer.usage == Usage(1000, 200)
    assert answer.price_usd == pytest.approx(0.004)
    (sent,) = server.requests
    assert (sent["stream"], sent["stream_options"]) == (True, {"include_usage": True})
    assert "max_retries" not in sent


def test_streaming_changes_no_key(server, client, make_request, replies):
    server.tell(replies.streamed(*hello(replies), replies.usage))
    ask(client, make_request)
    whole = asyncio.run(client.complete(make_request()))
    assert (whole.cached, whole.text) == (True, "hello")
    assert len(server.requests) == 1


def test_the_server_s_own_name_for_the_model_is_kept(server, client, make_request, replies, tmp_path):
    server.tell(replies.streamed(*hello(replies), replies.usage))
    ask(client, make_request)
    (path,) = (tmp_path / "llm" / "answers").rglob("*.json")
    assert json.loads(path.read_text())["answered_by"] == "local-model-2026"


def test_tokens_that_the_provider_did_not_count_are_unknown(server, client, make_request, replies):
    """litellm would count them itself, and say so nowhere."""
    server.tell(replies.streamed(*hello(replies)))
    answer = ask(client, make_request)
    assert (answer.text, answer.usage, answer.price_usd) == ("hello", Usage(None, None), None)


@pytest.mark.parametrize(
    ("finish", "reason"), [("length", "length"), ("content_filter", "refusal"), ("tool_calls", "other")]
)
def test_finish_reasons(server, client, make_request, replies, finish, reason):
    server.tell(replies.streamed(*hello(replies, finish), replies.usage))
    answer = ask(client, make_request)
    assert (answer.text, answer.finish_reason) == ("hello", reason)


def test_a_stream_of_nothing_with_a_count_is_an_empty_answer(server, client, make_request, replies):
    server.tell(replies.streamed(replies.piece("", "stop"), replies.usage))
    answer = ask(client, make_request)
    assert (answer.text, answer.finish_reason) == ("", "stop")


BROKEN = {
    "no finish reason, connection closed": (ProviderError, lambda r: r.streamed(*hello(r)[:2], done=False)),
    "no finish reason, yet a proper end": (ProviderError, lambda r: r.streamed(*hello(r)[:2])),
    "reset in mid-body": (ProviderError, lambda r: r.streamed(*hello(r), cut=220)),
    "reset before the first byte": (ProviderError, lambda r: r.streamed(*hello(r), cut=0)),
    "an error in its midst": (
        ProviderError,
        lambda r: r.streamed(r.piece("hel"), {"error": {"message": "overloaded", "code": 503}}),
    ),
    "broken off by the provider": (ProviderError, lambda r: r.streamed(*hello(r, "insufficient_system_resource"))),
    "invalid JSON": (
        BadProviderAnswer,
        lambda r: r.Reply(body=b'data: {"id": \n\ndata: [DONE]\n\n', content_type="text/event-stream"),
    ),
    "no event at all": (BadProviderAnswer, lambda r: r.streamed()),
    "an empty choice, no usage": (BadProviderAnswer, lambda r: r.streamed(r.piece("", "stop"))),
    "a web page": (BadProviderAnswer, lambda r: r.Reply(body=b"<html>sign in</html>", content_type="text/html")),
    "an answer that is no stream": (BadProviderAnswer, lambda r: r.good("whole")),
    "500": (ProviderError, lambda r: r.bad(500)),
    "529": (ProviderError, lambda r: r.bad(529)),
    "429": (RateLimited, lambda r: r.bad(429)),
}


@pytest.mark.parametrize("litellm_model", ["openai/local-model", "zai/glm-4.7"])
@pytest.mark.parametrize("trouble", BROKEN)
def test_a_broken_stream_is_an_error_and_is_asked_again(
    server, client, make_request, replies, tmp_path, monkeypatch, trouble, litellm_model
):
    monkeypatch.setenv("ZAI_API_KEY", "zai-key-for-a-local-server")
    kind, reply = BROKEN[trouble]
    server.tell(*(reply(replies) for _ in range(3)))
    error = failed(client, make_request, litellm_model=litellm_model)
    assert type(error) is kind, error
    assert "litellm." not in error.message
    assert "Traceback" not in error.message
    assert len(server.requests) == 3
    assert not (tmp_path / "llm" / "answers").exists()
    assert {row.status for row in read_ledger(tmp_path)} == {"error"}
    server.tell(replies.streamed(*hello(replies), replies.usage))
    assert ask(client, make_request, litellm_model=litellm_model).text == "hello"


def test_a_429_in_a_stream_names_its_wish(server, client, make_request, replies):
    server.tell(replies.bad(429, retry_after="0.6"), replies.streamed(*hello(replies), replies.usage))
    assert ask(client, make_request).text == "hello"
    first, second = server.arrivals
    assert second - first >= 0.6


def test_a_stream_that_trickles_on_is_capped(server, client, make_request, replies, monkeypatch):
    import time

    def trickle(handler, reply):
        handler.send_response(200)
        handler.send_header("content-type", "text/event-stream")
        handler.end_headers()
        for _ in range(40):
            handler.wfile.write(f"data: {json.dumps(replies.piece('x'))}\n\n".encode())
            handler.wfile.flush()
            time.sleep(0.1)
        handler.close_connection = True

    monkeypatch.setattr(server.RequestHandlerClass, "_send", trickle)
    begun = time.monotonic()
    assert type(failed(client, make_request, timeout_s=0.5)) is ProviderTimeout
    assert time.monotonic() - begun < 3
