"""Whatever answers at the address is no chat API: what is said of it, and that it is not asked call after call."""

from __future__ import annotations

import asyncio
import logging
import time

import pytest

from deepchart_dagster.errors import BadProviderAnswer, ProviderError
from deepchart_dagster.llm.ledger import read_ledger
from deepchart_dagster.llm.no_completion import Came, address, of_body

PAGE = b"""<!doctype html><html><head><title>Sign in to the network</title><script>let x = "<p>"</script></head>
<body>Please sign in. %s</body></html>"""


@pytest.fixture
def page(replies):
    return replies.Reply(body=PAGE % (b"word " * 2000), content_type="text/html")


def ask(client, make_request, numbers, **model):
    """What became of the calls of one step."""

    async def all_of_them():
        calls = (client.complete(make_request(f"question {n}", about=f"finance/{n}", **model)) for n in numbers)
        return await asyncio.gather(*calls, return_exceptions=True)

    return asyncio.run(all_of_them())


def test_a_gateway_that_answers_with_web_pages_is_given_up_after_three_calls(
    server, client, make_request, page, tmp_path, caplog
):
    server.tell(*[page] * 40)
    outcomes = ask(client, make_request, range(10), concurrency=1)
    assert {type(outcome) for outcome in outcomes} == {BadProviderAnswer}
    assert len(server.requests) == len(list(read_ledger(tmp_path))) == 3 + 1 + 1
    what = (
        f'local (openai/local-model): {server.url} answers with a web page ("Sign in to the network") '
        "and no chat completion."
    )
    not_made = f"{what} It was not asked again after 3 such answers in a row."
    assert sorted(outcome.message for outcome in outcomes) == [what] * 3 + [not_made] * 7
    assert {outcome.remedy.split(":")[0] for outcome in outcomes} == {"Check api_base of this model"}
    said = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert len(said) == 3  # two more attempts of the first, and the end
    assert f", attempt 1: BadProviderAnswer: {what} (again in " in said[0]
    assert said[2].startswith(f"{what} No further call is made in this step. Check api_base")


def test_calls_side_by_side_have_their_attempts_and_the_rest_is_not_made(server, client, make_request, page):
    server.tell(*[page] * 60)
    outcomes = ask(client, make_request, range(20), concurrency=4)
    assert {type(outcome) for outcome in outcomes} == {BadProviderAnswer}
    assert 3 + 2 <= len(server.requests) <= 4 * 3 + 2  # two begin before the third is given up


def test_the_next_step_begins_with_one_call(server, client, make_request, page, replies):
    server.tell(*[page] * 6)
    ask(client, make_request, range(5), concurrency=1)
    outcomes = ask(client, make_request, range(5), concurrency=1)
    assert {type(outcome) for outcome in outcomes} == {BadProviderAnswer}
    assert len(server.requests) == 3 + 1 + 1 + 1
    outcomes = ask(client, make_request, range(5), concurrency=1)  # somebody has signed in
    assert [outcome.text for outcome in outcomes] == ["fine"] * 5


def test_an_answer_in_between_ends_the_row(server, client, make_request, page, replies):
    server.tell(*[page] * 3, page, replies.good(), *[page] * 3, page, replies.good())
    outcomes = ask(client, make_request, range(6), concurrency=1)
    assert [isinstance(outcome, ProviderError) for outcome in outcomes] == [True, True, False, True, True, False]


@pytest.mark.parametrize(
    "body", [b'{"error": {"message": "context of 200000 tokens is too long"}}', b'{"id": "x", "choi']
)
def test_an_answer_that_is_about_its_call_stops_no_other(server, client, make_request, replies, body):
    """The provider says what is wrong, or its answer breaks off: another call may well be answered."""
    server.tell(*[replies.Reply(body=body)] * 12)
    outcomes = ask(client, make_request, range(5), concurrency=1)
    assert [isinstance(outcome, ProviderError) for outcome in outcomes] == [True, True, True, True, False]
    assert len(server.requests) == 4 * 3 + 1


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("litellm_model", ["openai/local-model", "anthropic/claude", "gemini/gemini-3"])
def test_every_way_through_litellm_gives_up(server, client, make_request, page, monkeypatch, litellm_model, stream):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "local-key-of-anthropic")
    monkeypatch.setenv("GEMINI_API_KEY", "local-key-of-gemini")
    server.tell(*[page] * 40)
    base = server.url.removesuffix("/v1") if litellm_model.startswith("anthropic") else server.url
    model = {"litellm_model": litellm_model, "api_base": base, "stream": stream, "concurrency": 1}
    outcomes = ask(client, make_request, range(6), **model)
    assert len(server.requests) == 3 + 1 + 1
    came = "nothing of a stream" if stream else 'a web page ("Sign in to the network")'
    assert outcomes[-1].message.startswith(f"local ({litellm_model}): {base} answers with {came} and no chat")


def test_an_address_of_the_environment_is_said(server, client, make_request, page, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    server.tell(*[page] * 3)
    (error,) = ask(client, make_request, [1], api_base=None)
    assert f" {server.url} answers with a web page" in error.message


@pytest.mark.parametrize(
    ("url", "said"), [("http://me:pass@gateway:8000/v1?token=tokentoken#x", "http://gateway:8000/v1"), ("", "openai")]
)
def test_an_address_is_said_without_its_secrets(make_request, monkeypatch, url, said):
    monkeypatch.setenv("OPENAI_BASE_URL", url)
    assert address(make_request(api_base=None).model) == said


def test_a_line_about_another_attempt_is_short(server, client, make_request, replies, caplog):
    server.tell(replies.bad(503, "we are very sorry " * 50))
    ask(client, make_request, [1])
    (said,) = [message for message in caplog.messages if "(again in" in message]
    assert len(said) < 250
    assert said.startswith("finance/1, attempt 1: ProviderError: local (openai/local-model): we are very sorry")


@pytest.mark.parametrize(
    ("body", "came"),
    [
        ("", Came("an empty body")),
        (" \n", Came("an empty body")),
        ("Ollama is running", Came("a text", "Ollama is running")),
        ("<html><style>p {}</style><p>Down for <b>repairs</b></p>", Came("a web page", "Down for  repairs")),
        ("[1, 2]", Came("a text", "[1, 2]")),
        ('{"id": "x", "choi', None),
    ],
)
def test_what_a_body_is(body, came):
    assert of_body(body) == came


def test_a_long_page_is_read_in_no_time():
    begun = time.process_time()
    of_body("<script " * 1_000_000)
    assert time.process_time() - begun < 1
