"""What providers do wrong, and what becomes of it: class, message, number of calls, nothing cached."""

from __future__ import annotations

import asyncio
import json
import logging
import time
import traceback
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from deepchart_dagster.errors import (
    BadProviderAnswer,
    ProviderError,
    ProviderRefusedRequest,
    ProviderTimeout,
    RateLimited,
)
from deepchart_dagster.llm.client import LiteLLMClient
from deepchart_dagster.llm.doctor import key_names
from deepchart_dagster.llm.ledger import read_ledger
from deepchart_dagster.llm.litellm_library import litellm_library
from deepchart_dagster.llm.registry import load_judges, load_models
from deepchart_dagster.llm.retry import RetryPolicy
from deepchart_dagster.settings import PROJECT_ROOT


def failed(client, request):
    with pytest.raises(ProviderError) as caught:
        asyncio.run(client.complete(request))
    return caught.value


@pytest.mark.parametrize(
    ("status", "kind", "calls"),
    [
        (400, ProviderRefusedRequest, 1),
        (401, ProviderRefusedRequest, 1),
        (402, ProviderRefusedRequest, 1),
        (403, ProviderRefusedRequest, 1),
        (404, ProviderRefusedRequest, 1),
        (408, ProviderTimeout, 2),
        (409, ProviderError, 3),
        (413, ProviderRefusedRequest, 1),
        (429, RateLimited, 3),
        (500, ProviderError, 3),
        (502, ProviderError, 3),
        (503, ProviderError, 3),
        (504, ProviderTimeout, 2),
        (529, ProviderError, 3),
    ],
)
def test_a_status_has_its_class_and_its_number_of_calls(server, client, make_request, replies, status, kind, calls):
    server.tell(*(replies.bad(status, "not now") for _ in range(5)))
    error = failed(client, make_request())
    assert type(error) is kind
    assert error.status == status
    assert "local (openai/local-model)" in error.message
    assert "not now" in error.message
    assert error.remedy
    assert len(server.requests) == calls


@pytest.mark.parametrize("status", [429, 500, 503, 529])
def test_a_passing_trouble_passes(server, client, make_request, replies, status):
    server.tell(replies.bad(status), replies.bad(status), replies.good("at last"))
    assert asyncio.run(client.complete(make_request())).text == "at last"
    assert len(server.requests) == 3


def test_a_line_about_another_attempt_names_the_instance(server, client, make_request, replies, caplog):
    server.tell(replies.bad(503), replies.bad(503))
    asyncio.run(client.complete(make_request(about="finance/7")))
    said = [message for message in caplog.messages if "(again in" in message]
    assert said[0].startswith("finance/7, attempt 1: ProviderError: local (openai/local-model): no.")
    assert said[1].startswith("finance/7, attempt 2: ")


def test_errors_are_never_cached(server, client, make_request, replies):
    server.tell(*(replies.bad(500) for _ in range(3)))
    failed(client, make_request())
    assert not asyncio.run(client.complete(make_request())).cached
    assert len(server.requests) == 4


@pytest.mark.parametrize(
    "said",
    [
        "You exceeded your current quota, please check your plan",
        "Request too large for gpt-x on tokens per min (TPM): Limit 30000, Requested 98213",
    ],
)
def test_a_429_that_no_waiting_helps_is_not_tried_again(server, client, make_request, replies, said):
    server.tell(replies.bad(429, said))
    assert type(failed(client, make_request())) is ProviderRefusedRequest
    assert len(server.requests) == 1


def test_retry_after_in_seconds_is_waited_for(server, client, make_request, replies):
    server.tell(replies.bad(429, retry_after="0.7"))
    asyncio.run(client.complete(make_request()))
    first, second = server.arrivals
    assert 0.7 <= second - first < 3


def test_retry_after_as_a_date_is_waited_for(server, client, make_request, replies):
    # Dates have whole seconds: two seconds from now is at least one.
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=2), usegmt=True)
    server.tell(replies.bad(503, retry_after=date))
    asyncio.run(client.complete(make_request()))
    first, second = server.arrivals
    assert second - first > 0.9


def test_retry_after_as_a_date_is_by_the_provider_s_clock(server, make_request, replies, tmp_path, monkeypatch):
    """An hour ahead of ours: the hour is no part of the wait."""
    theirs = datetime.now(UTC) + timedelta(hours=1)
    monkeypatch.setattr(server.RequestHandlerClass, "date_time_string", lambda _: format_datetime(theirs, usegmt=True))
    server.tell(replies.bad(429, retry_after=format_datetime(theirs + timedelta(seconds=7), usegmt=True)))
    error = failed(LiteLLMClient(tmp_path, retry=RetryPolicy(attempts=1, patience_s=0.0)), make_request())
    assert error.retry_after_s == 7.0


def test_retry_after_is_known_to_the_error(server, make_request, replies, tmp_path):
    server.tell(replies.bad(429, retry_after="2"))
    error = failed(LiteLLMClient(tmp_path, retry=RetryPolicy(attempts=1, patience_s=0.0)), make_request())
    assert isinstance(error, RateLimited)
    assert error.retry_after_s == 2.0


def test_a_provider_that_wants_too_long_a_wait_is_given_up(server, client, make_request, replies):
    server.tell(replies.bad(429, retry_after="86400"))
    begun = time.monotonic()
    assert isinstance(failed(client, make_request()), RateLimited)
    assert time.monotonic() - begun < 5
    assert len(server.requests) == 1


def test_without_retry_after_the_waits_grow(server, make_request, replies, tmp_path):
    server.tell(*(replies.bad(429) for _ in range(4)))
    client = LiteLLMClient(
        tmp_path, retry=RetryPolicy(attempts=4, patience_s=0.0, first_wait_s=0.05, longest_wait_s=10)
    )
    failed(client, make_request())
    waits = [row.retry_in_s for row in read_ledger(tmp_path)]
    assert waits[3] is None
    for wait, full in zip(waits, (0.05, 0.1, 0.2), strict=False):
        assert full / 2 - 0.001 <= wait <= full + 0.001


def test_an_answer_beyond_the_cap_is_a_timeout(server, client, make_request, replies):
    server.tell(*(replies.good(delay_s=1.5) for _ in range(3)))
    begun = time.monotonic()
    error = failed(client, make_request(timeout_s=0.3))
    assert type(error) is ProviderTimeout
    assert len(server.requests) == 2  # timeout_attempts: each of them may be paid
    assert time.monotonic() - begun < 1.4


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_an_answer_after_ninety_seconds_is_waited_for_or_not_as_the_cap_says(server, make_request, replies, tmp_path):
    """At the real scale: layers below (the SDK, the HTTP library, a proxy's idle time-out) have caps of their own."""
    server.tell(replies.good("late", delay_s=90), replies.good("late", delay_s=90))
    client = LiteLLMClient(tmp_path, retry=RetryPolicy(attempts=1))

    async def ask_both():
        patient = client.complete(make_request("patient", timeout_s=120.0))
        hasty = client.complete(make_request("hasty", timeout_s=60.0))
        begun = time.monotonic()
        outcomes = await asyncio.gather(patient, hasty, return_exceptions=True)
        return outcomes, time.monotonic() - begun

    (patient, hasty), seconds = asyncio.run(ask_both())
    assert patient.text == "late"
    assert 90 <= patient.seconds < 110
    assert type(hasty) is ProviderTimeout
    assert "no answer within 60 s" in hasty.message
    assert 90 <= seconds < 110
    assert len(server.requests) == 2


def test_a_trickle_within_each_read_is_still_capped(server, client, make_request, replies, monkeypatch):
    """A time-out of a single read never fires while bytes keep coming: the wall-clock cap does."""

    def trickle(handler, reply):
        handler.send_response(200)
        handler.send_header("content-type", "application/json")
        handler.send_header("content-length", "1000")
        handler.end_headers()
        for _ in range(40):
            handler.wfile.write(b" ")
            handler.wfile.flush()
            time.sleep(0.1)
        handler.close_connection = True

    monkeypatch.setattr(server.RequestHandlerClass, "_send", trickle)
    begun = time.monotonic()
    assert type(failed(client, make_request(timeout_s=0.4))) is ProviderTimeout
    assert time.monotonic() - begun < 3


@pytest.mark.parametrize("cut", [0, 40])
def test_a_connection_that_breaks_in_mid_body_is_tried_again(server, client, make_request, replies, cut):
    whole = replies.good("whole")
    server.tell(replies.Reply(body=whole.body, cut=cut), whole)
    assert asyncio.run(client.complete(make_request())).text == "whole"
    server.tell(*(replies.Reply(body=whole.body, cut=cut) for _ in range(3)))
    assert type(failed(client, make_request("again"))) is ProviderError


def test_nobody_listening_is_a_provider_error(client, make_request, server):
    error = failed(client, make_request(api_base="http://127.0.0.1:9/v1"))
    assert type(error) is ProviderError
    assert error.status is None


@pytest.mark.parametrize(
    "body",
    [b'{"id": "x", "choi', b"[1, 2]", b'"text"', b"", b'{"choices": null}', b'{"id": "x", "choices": []}', b"{}"],
)
def test_a_body_that_is_no_completion_is_a_bad_answer(server, client, make_request, replies, body):
    server.tell(*(replies.Reply(body=body) for _ in range(3)))
    assert type(failed(client, make_request())) is BadProviderAnswer
    assert len(server.requests) == 3


@pytest.mark.parametrize("finish", ["network_error", "insufficient_system_resource", "error", "abort"])
def test_an_answer_that_the_provider_broke_off_is_not_the_model_s(
    server, client, make_request, replies, tmp_path, finish
):
    """litellm calls each of these "stop": the half answer would be kept, and scored as the model's."""
    server.tell(*(replies.good("import mat", finish) for _ in range(3)))
    error = failed(client, make_request())
    assert type(error) is ProviderError
    assert finish in error.message
    assert len(server.requests) == 3
    assert not (tmp_path / "llm" / "answers").exists()


@pytest.mark.parametrize("message", [{}, {"role": "assistant"}, {"role": "assistant", "content": None}])
def test_an_empty_choice_without_usage_is_a_bad_answer(server, client, make_request, replies, message):
    body = replies.completion(choices=[{"index": 0, "message": message}])
    del body["usage"]
    server.tell(*(replies.Reply(body=json.dumps(body).encode()) for _ in range(3)))
    assert type(failed(client, make_request())) is BadProviderAnswer
    assert len(server.requests) == 3


@pytest.mark.parametrize("content_type", ["text/plain", "application/octet-stream", "text/html"])
def test_a_whole_answer_under_a_wrong_content_type_is_read(server, client, make_request, replies, content_type):
    server.tell(replies.Reply(body=replies.good("whole").body, content_type=content_type))
    assert asyncio.run(client.complete(make_request())).text == "whole"


def test_a_web_page_in_place_of_an_answer_is_a_bad_answer(server, client, make_request, replies):
    page = replies.Reply(body=b"<html><body>Sign in to the network</body></html>", content_type="text/html")
    server.tell(page, page, page)
    error = failed(client, make_request())
    assert type(error) is BadProviderAnswer
    assert "Sign in to the network" in error.message


ANTHROPIC_ANSWER = {
    "id": "m",
    "type": "message",
    "role": "assistant",
    "model": "claude",
    "content": [{"type": "text", "text": "fine"}],
    "stop_reason": "end_turn",
    "usage": {"input_tokens": 10, "output_tokens": 5},
}
GEMINI_ANSWER = {
    "candidates": [{"content": {"parts": [{"text": "fine"}], "role": "model"}, "finishReason": "STOP"}],
    "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15},
}
SHIPPED = sorted(
    {
        model.litellm_model
        for file in (load_models(PROJECT_ROOT / "models.yaml"), load_judges(PROJECT_ROOT / "judges.yaml").judges)
        for model in file.values()
        if not model.scripted
    }
)
ONE_OF_EACH_PROVIDER = sorted({name.split("/")[0]: name for name in SHIPPED}.values())


@pytest.mark.parametrize("litellm_model", ONE_OF_EACH_PROVIDER)
def test_every_shipped_provider_fails_the_same_way(server, make_request, replies, tmp_path, monkeypatch, litellm_model):
    """litellm has a path of its own for several of them, and each writes other statuses on the same trouble."""
    provider = litellm_model.split("/")[0]
    for name in key_names(make_request(litellm_model=litellm_model).model):
        monkeypatch.setenv(name, f"local-key-of-{name}")
    answer = {"anthropic": ANTHROPIC_ANSWER, "gemini": GEMINI_ANSWER}.get(provider, replies.completion())
    whole = replies.Reply(body=json.dumps(answer).encode())
    troubles = [
        (replies.bad(400), ProviderRefusedRequest, 400, 1),
        (replies.bad(401), ProviderRefusedRequest, 401, 1),
        (replies.bad(404), ProviderRefusedRequest, 404, 1),
        (replies.bad(422), ProviderRefusedRequest, 422, 1),
        (replies.bad(429, retry_after="0.05"), RateLimited, 429, 2),
        (replies.bad(500), ProviderError, 500, 2),
        (replies.bad(503), ProviderError, 503, 2),
        (replies.bad(529), ProviderError, 529, 2),
        (replies.Reply(body=b'{"a": '), BadProviderAnswer, None, 2),
        (replies.Reply(body=b"<html>", content_type="text/html"), BadProviderAnswer, None, 2),
        (replies.Reply(body=b"{}"), BadProviderAnswer, None, 2),
        (replies.Reply(body=whole.body, cut=20), ProviderError, None, 2),
    ]
    client = LiteLLMClient(tmp_path, retry=RetryPolicy(attempts=2, patience_s=0.0, first_wait_s=0.01))
    base = server.url.removesuffix("/v1") if provider == "anthropic" else server.url
    request = make_request(litellm_model=litellm_model, api_base=base)
    for reply, kind, status, calls in troubles:
        before = len(server.requests)
        server.tell(*[reply] * calls)
        error = failed(client, request)
        assert (type(error), error.status) == (kind, status), reply
        assert len(server.requests) - before == calls, reply
        assert "Traceback" not in error.message
        assert "litellm." not in error.message
    assert "max_retries" not in server.requests[-1]
    server.tell(whole)
    answered = asyncio.run(client.complete(request))
    assert (answered.text, answered.finish_reason) == ("fine", "stop")


def test_missing_usage_is_unknown_and_so_is_the_price(server, client, make_request, replies):
    body = replies.completion()
    del body["usage"]
    server.tell(replies.Reply(body=json.dumps(body).encode()))
    answer = asyncio.run(client.complete(make_request()))
    assert (answer.usage.input_tokens, answer.usage.output_tokens, answer.price_usd) == (None, None, None)
    assert asyncio.run(client.complete(make_request())).price_usd is None


@pytest.mark.parametrize(
    ("text", "finish", "expected_text", "expected_reason"),
    [
        ("print(1", "length", "print(1", "length"),
        ("", "stop", "", "stop"),
        (None, "stop", "", "stop"),
        (None, "content_filter", "", "refusal"),
        ("half", "tool_calls", "half", "other"),
        ("half", "MALFORMED_FUNCTION_CALL", "half", "other"),
        ("half", "model_context_window_exceeded", "half", "length"),
        ("half", "sensitive", "half", "refusal"),
        ("whole", "end_turn", "whole", "stop"),
        ("done", None, "done", "stop"),
    ],
)
def test_finish_reasons_and_empty_answers_are_told_apart(
    server, client, make_request, replies, text, finish, expected_text, expected_reason
):
    server.tell(replies.good(text, finish))
    answer = asyncio.run(client.complete(make_request()))
    assert (answer.text, answer.finish_reason) == (expected_text, expected_reason)
    again = asyncio.run(client.complete(make_request()))
    assert (again.text, again.finish_reason, again.cached) == (expected_text, expected_reason, True)


def test_a_refusal_in_its_own_field_is_a_refusal(server, client, make_request, replies):
    message = {"role": "assistant", "content": None, "refusal": "I cannot help with that."}
    server.tell(replies.good(choices=[{"index": 0, "finish_reason": "stop", "message": message}]))
    answer = asyncio.run(client.complete(make_request()))
    assert (answer.text, answer.finish_reason) == ("I cannot help with that.", "refusal")


def test_half_a_surrogate_pair_is_kept_readable(server, client, make_request, replies):
    server.tell(replies.Reply(body=replies.good("MARK").body.replace(b"MARK", rb"a\ud83dz \ud83d\ude00")))
    assert asyncio.run(client.complete(make_request())).text == "a\ufffdz \U0001f600"
    assert asyncio.run(client.complete(make_request())).cached


@pytest.mark.parametrize("stream", [False, True])
def test_a_key_that_the_provider_repeats_appears_nowhere(
    server, client, make_request, replies, tmp_path, caplog, capfd, provider_key, stream
):
    caplog.set_level(logging.DEBUG)
    server.tell(replies.bad(401, f"Incorrect API key provided: {provider_key}."))
    error = failed(client, make_request(stream=stream))
    assert server.requests[0]["authorization"] == f"Bearer {provider_key}"
    told = "".join(traceback.format_exception(error))
    written = "".join(path.read_text() for path in tmp_path.rglob("*") if path.is_file())
    printed = "".join(capfd.readouterr())
    for text in (str(error), told, caplog.text, written, printed, repr(error.__context__), repr(error.__cause__)):
        assert provider_key not in text
        assert provider_key[5:] not in text
    assert "OPENAI_API_KEY" in error.remedy
    assert "[redacted]" in written


def test_a_missing_key_names_the_variable_and_calls_nobody(server, client, make_request, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY")
    error = failed(client, make_request())
    assert type(error) is ProviderRefusedRequest
    assert "OPENAI_API_KEY" in str(error)
    assert server.requests == []


@pytest.mark.parametrize("litellm_model", ["nobody/some-model", "some-model"])
def test_a_provider_that_litellm_does_not_know_is_refused(server, client, make_request, litellm_model):
    error = failed(client, make_request(litellm_model=litellm_model, api_base=None))
    assert type(error) is ProviderRefusedRequest
    assert error.message.endswith(f"({litellm_model}): litellm knows no such provider.")
    assert "provider/model" in error.remedy


@pytest.mark.parametrize("wish", ["Mon, 01 Jan 2024 00:00:00 +99999999999999999999", "soon", "-5", "nan"])
def test_a_retry_after_that_is_none_changes_nothing(server, client, make_request, replies, wish):
    server.tell(replies.bad(429, retry_after=wish), replies.good("at last"))
    assert asyncio.run(client.complete(make_request())).text == "at last"


def test_a_delay_in_the_body_that_is_no_number_changes_nothing(server, client, make_request, replies):
    server.tell(replies.bad(429, '"retryDelay": "1.2.3s"'), replies.good("at last"))
    assert asyncio.run(client.complete(make_request())).text == "at last"


def test_an_error_in_words_that_no_file_holds_is_on_record_and_tried_again(
    server, client, make_request, replies, tmp_path
):
    """Half a surrogate pair stopped the ledger; NUL and escapes are for no terminal."""
    strange = replies.Reply(status=500, body=rb'{"error": {"message": "half \ud800, nul \u0000, red \u001b[31m"}}')
    server.tell(strange, replies.good("at last"))
    assert asyncio.run(client.complete(make_request())).text == "at last"
    first, _ = read_ledger(tmp_path)
    assert first.message == "local (openai/local-model): half �, nul , red [31m."


def test_an_error_as_long_as_a_web_page_is_looked_through_in_no_time():
    from deepchart_dagster.llm.provider_errors import _safe

    begun = time.process_time()
    assert len(_safe("api_key=" + "x" * 50_000_000)) < 100
    assert time.process_time() - begun < 1


@pytest.mark.parametrize("status", [200, 429, 500])
@pytest.mark.parametrize("litellm_model", ["openai/local-model", "anthropic/claude", "gemini/gemini-3"])
def test_an_answer_in_error_of_megabytes_takes_no_time_and_leaves_one_line(
    server, make_request, replies, tmp_path, monkeypatch, litellm_model, status
):
    """litellm looked through all of it for keys, twice: 8 s of processor time for each attempt."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "local-key-of-anthropic")
    monkeypatch.setenv("GEMINI_API_KEY", "local-key-of-gemini")
    litellm_library()
    body = json.dumps({"error": {"message": "it is down and " * 350_000}}).encode()
    server.tell(replies.Reply(status=status, body=body))
    client = LiteLLMClient(tmp_path, retry=RetryPolicy(attempts=1, patience_s=0.0))
    base = server.url.removesuffix("/v1") if litellm_model.startswith("anthropic") else server.url
    begun = time.process_time()
    error = failed(client, make_request(litellm_model=litellm_model, api_base=base))
    assert time.process_time() - begun < 3
    assert "it is down and it is down" in error.message
    assert len(str(error)) < 600


@pytest.mark.parametrize(
    ("litellm_model", "path"), [("openai/local-model", "/v1/chat/completions"), ("anthropic/claude", "/v1/messages")]
)
def test_a_call_that_is_sent_on_to_another_host_is_not_followed(
    server, client, make_request, replies, monkeypatch, litellm_model, path
):
    """The HTTP library would give the other host what stands in x-api-key."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "key-for-this-host-alone")
    elsewhere = server.url.replace("127.0.0.1", "localhost").removesuffix("/v1") + path
    server.tell(replies.Reply(status=307, headers={"location": elsewhere}))
    base = server.url if litellm_model.startswith("openai") else server.url.removesuffix("/v1")
    error = failed(client, make_request(litellm_model=litellm_model, api_base=base))
    assert type(error) is ProviderRefusedRequest
    assert "http://127.0.0.1 sends the call on to http://localhost, which is not followed" in error.message
    assert len(server.requests) == 1


def test_why_a_connection_failed_is_said(client, make_request, server):
    error = failed(client, make_request(api_base="http://127.0.0.1:9/v1"))
    assert "Cannot connect to host 127.0.0.1:9" in error.message
    assert "api_base" in error.remedy


@pytest.mark.parametrize("stream", [False, True])
def test_a_key_that_an_answer_repeats_is_kept_nowhere(
    server, client, make_request, replies, tmp_path, provider_key, stream
):
    """As a gateway does that echoes what it was sent, headers and all."""
    text = f"print(1)  # Authorization: Bearer {provider_key}"
    if stream:
        middle = len(text) - 10  # in two pieces, the key in both
        pieces = [replies.piece(text[:middle]), replies.piece(text[middle:]), replies.piece("", "stop")]
        server.tell(replies.streamed(*pieces, replies.usage))
    else:
        server.tell(replies.good(text, model=provider_key))
    answer = asyncio.run(client.complete(make_request(stream=stream)))
    assert answer.text == "print(1)  # Authorization: Bearer [redacted]"
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and provider_key in path.read_text()]


@pytest.mark.parametrize("name", [5, None, "\ud800", "m" * 5000])
def test_an_answer_counts_whatever_the_provider_calls_its_model(server, client, make_request, replies, name):
    server.tell(replies.good("paid for", model=name))
    assert asyncio.run(client.complete(make_request())).text == "paid for"
    again = asyncio.run(client.complete(make_request()))
    assert (again.cached, again.text) == (True, "paid for")


@pytest.mark.parametrize("usage", [(-5, -7), (10**20, 10**25)])
def test_counts_that_no_call_can_have_are_unknown(server, client, make_request, replies, usage):
    given, made = usage
    counts = {"prompt_tokens": given, "completion_tokens": made, "total_tokens": given + made}
    server.tell(replies.good("fine", usage=counts))
    answer = asyncio.run(client.complete(make_request()))
    assert (answer.usage.input_tokens, answer.usage.output_tokens, answer.price_usd) == (None, None, None)
