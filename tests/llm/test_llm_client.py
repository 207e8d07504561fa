"""Paid once, kept at once, asked politely: the client against a real server."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from deepchart_dagster.artifacts.canonical import sha256_bytes
from deepchart_dagster.errors import MissingInputError, ProviderRefusedRequest, StorageError, UpstreamError
from deepchart_dagster.llm.cache import AnswerCache
from deepchart_dagster.llm.client import LiteLLMClient
from deepchart_dagster.llm.ledger import read_ledger
from deepchart_dagster.llm.model import ChatRequest, ImagePart, Message, PictureFile, TextPart, Usage, price_usd
from deepchart_dagster.llm.registry import Prices

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c4944415408d763f8cfc000000301010018dd8db0"
    "0000000049454e44ae426082"
)


def test_an_answer_comes_with_usage_price_and_reason(server, client, make_request, replies):
    server.tell(replies.good("Revenue was 42."))
    answer = asyncio.run(client.complete(make_request()))
    assert answer.text == "Revenue was 42."
    assert answer.finish_reason == "stop"
    assert answer.usage == Usage(input_tokens=1000, output_tokens=200)
    assert answer.price_usd == pytest.approx(1000 * 2 / 1e6 + 200 * 10 / 1e6)
    assert answer.paid_usd == answer.price_usd
    assert not answer.cached


def test_the_server_sees_messages_and_parameters_as_given(server, client, make_request):
    request = make_request("Read the balance sheet.", parameters={"temperature": 0.25}, concurrency=2)
    asyncio.run(client.complete(request))
    (sent,) = server.requests
    assert sent["model"] == "local-model"
    assert sent["messages"] == [
        {"role": "system", "content": "Answer briefly."},
        {"role": "user", "content": "Read the balance sheet."},
    ]
    assert sent["temperature"] == 0.25
    assert not sent.get("stream")


def test_images_are_sent_as_data_urls_in_their_order(server, client, make_request):
    request = make_request()
    parts = (TextPart("before"), ImagePart(PNG, "image/png", 1, 1), TextPart("after"))
    asyncio.run(client.complete(ChatRequest(request.model, (Message("user", parts),), "judge", "p")))
    content = server.requests[0]["messages"][0]["content"]
    assert [part["type"] for part in content] == ["text", "image_url", "text"]
    assert content[1]["image_url"]["url"].startswith("data:image/png;base64,iVBORw0KGgo")


def pictured(make_request, picture: bytes | PictureFile) -> ChatRequest:
    parts = (TextPart("look"), ImagePart(picture, "image/png", 1, 1))
    return ChatRequest(make_request().model, (Message("user", parts),), "judge", "p")


def test_a_picture_is_the_same_in_memory_and_in_a_file(server, client, make_request, tmp_path):
    (tmp_path / "page.png").write_bytes(PNG)
    filed = pictured(make_request, PictureFile.at(tmp_path / "page.png", sha256_bytes(PNG)))
    asyncio.run(client.complete(filed))
    (_, part) = server.requests[0]["messages"][0]["content"]
    assert base64.b64decode(part["image_url"]["url"].partition("base64,")[2]) == PNG
    assert asyncio.run(client.complete(pictured(make_request, PNG))).cached


@pytest.mark.parametrize(
    ("spoil", "error"),
    [(lambda path: path.write_bytes(PNG[::-1]), UpstreamError), (lambda path: path.unlink(), MissingInputError)],
    ids=["changed", "gone"],
)
def test_a_picture_that_is_not_what_it_was_is_never_sent(server, client, make_request, tmp_path, spoil, error):
    path = tmp_path / "page.png"
    path.write_bytes(PNG)
    request = pictured(make_request, PictureFile.at(path, sha256_bytes(PNG)))
    spoil(path)
    with pytest.raises(error, match=r"the picture .*page\.png"):
        asyncio.run(client.complete(request))
    assert server.requests == []
    assert list((tmp_path / "llm" / "asking").iterdir()) == []


def test_the_same_request_again_asks_nobody(server, client, make_request, tmp_path):
    first = asyncio.run(client.complete(make_request()))
    again = asyncio.run(client.complete(make_request()))
    other_process = asyncio.run(LiteLLMClient(tmp_path).complete(make_request()))
    assert len(server.requests) == 1
    assert (again.cached, again.text, again.usage, again.price_usd) == (True, first.text, first.usage, first.price_usd)
    assert other_process.cached
    assert again.paid_usd == 0.0


def test_another_text_parameter_or_repeat_is_another_request(server, client, make_request):
    async def ask_all():
        for request in (
            make_request("a"),
            make_request("b"),
            make_request("a", parameters={"temperature": 1}),
            make_request("a", repeat=1),
        ):
            await client.complete(request)

    asyncio.run(ask_all())
    assert len(server.requests) == 4


def test_concurrent_identical_requests_pay_once(server, client, make_request, replies):
    server.tell(replies.good("slow", delay_s=0.4))

    async def ask_five():
        return await asyncio.gather(*(client.complete(make_request()) for _ in range(5)))

    answers = asyncio.run(ask_five())
    assert len(server.requests) == 1
    assert [answer.text for answer in answers] == ["slow"] * 5
    assert sorted(answer.cached for answer in answers) == [False, True, True, True, True]


def test_two_threads_with_loops_of_their_own_pay_once(server, client, make_request, replies):
    server.tell(replies.good(delay_s=0.4))
    answers = []
    threads = [
        threading.Thread(target=lambda: answers.append(asyncio.run(client.complete(make_request())))) for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(server.requests) == 1
    assert [answer.text for answer in answers] == ["fine", "fine"]


ASK_IN_ANOTHER_PROCESS = """
import asyncio, sys
from pathlib import Path
from deepchart_dagster.llm.client import LiteLLMClient
from deepchart_dagster.llm.litellm_library import litellm_library
from deepchart_dagster.llm.model import ChatRequest, Message
from deepchart_dagster.llm.registry import ModelSpec

storage, url = Path(sys.argv[1]), sys.argv[2]
model = ModelSpec(slug="local", litellm_model="openai/local-model", api_base=url)
request = ChatRequest(model, (Message.text("user", "the same"),), "stage1", "p1")
litellm_library()
print("ready", flush=True)
sys.stdin.readline()
answer = asyncio.run(LiteLLMClient(storage).complete(request))
print(answer.text, answer.cached, flush=True)
"""


@pytest.mark.slow
def test_two_processes_pay_once(server, replies, tmp_path):
    server.tell(replies.good("shared", delay_s=1.0))
    command = [sys.executable, "-c", ASK_IN_ANOTHER_PROCESS, str(tmp_path), server.url]
    processes = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=dict(os.environ))
        for _ in range(2)
    ]
    for process in processes:
        assert process.stdout.readline() == "ready\n"
    said = []
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in processes:
        said.append(process.communicate(timeout=120)[0].strip())
    assert sorted(said) == ["shared False", "shared True"]
    assert len(server.requests) == 1


def test_a_waiting_twin_asks_itself_when_the_first_one_failed(server, client, make_request, replies):
    server.tell(replies.bad(400, "too long"), replies.good("second"))

    async def ask_two():
        return await asyncio.gather(*(client.complete(make_request()) for _ in range(2)), return_exceptions=True)

    outcomes = asyncio.run(ask_two())
    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["ChatAnswer", "ProviderRefusedRequest"]
    assert len(server.requests) == 2


def test_no_more_calls_in_flight_than_the_model_allows(server, client, make_request, replies):
    server.tell(*(replies.good(delay_s=0.1) for _ in range(9)))

    async def ask_nine():
        await asyncio.gather(*(client.complete(make_request(f"q{n}", concurrency=3)) for n in range(9)))

    asyncio.run(ask_nine())
    assert len(server.requests) == 9
    assert server.most_at_once == 3


def test_every_step_may_run_its_own_loop(server, client, make_request):
    from deepchart_dagster.llm.event_loop import _states
    from deepchart_dagster.llm.litellm_library import litellm_library

    for number in range(4):
        asyncio.run(client.complete(make_request(f"q{number}")))
        kept = litellm_library().in_memory_llm_clients_cache.cache_dict
        assert not [name for name in kept if server.url in name], "a client outlived its loop"
        assert not list(_states)
    assert len(server.requests) == 4


def test_the_clients_of_another_thread_stay_open(server, client, make_request, replies):
    server.tell(replies.good("long", delay_s=0.8))
    outcome = []
    thread = threading.Thread(target=lambda: outcome.append(asyncio.run(client.complete(make_request("long")))))
    thread.start()
    while not server.requests:
        time.sleep(0.01)
    asyncio.run(client.complete(make_request("short")))  # its loop ends, and closes what is its own
    thread.join()
    assert [answer.text for answer in outcome] == ["long"]


def test_the_answer_file_holds_the_answer_and_hashes_for_the_context(server, client, make_request, tmp_path):
    secret_context = "the whole annual report " * 50
    request = make_request(secret_context, parameters={"temperature": 0.5})
    answer = asyncio.run(client.complete(request))
    path = AnswerCache(tmp_path).path(answer.key)
    assert path.parent.name == answer.key[3:5]
    stored = json.loads(path.read_text())
    assert stored["text"] == "fine"
    assert stored["answered_by"] == "local-model-2026"
    assert stored["parts"]["parameters"] == {"temperature": 0.5}
    user = stored["parts"]["messages"][1]["parts"][0]
    assert user == {"text_sha256": sha256_bytes(secret_context.encode()), "characters": len(secret_context)}
    assert "annual report" not in path.read_text()


@pytest.mark.parametrize("damage", [b"", b"{", b'{"format": "deepchart-answer/1"}', b"\xff\xfe\x00", b"[]"])
def test_a_damaged_answer_is_asked_again_and_replaced(server, client, make_request, tmp_path, damage):
    answer = asyncio.run(client.complete(make_request()))
    path = AnswerCache(tmp_path).path(answer.key)
    path.write_bytes(damage)
    assert not asyncio.run(client.complete(make_request())).cached
    assert asyncio.run(client.complete(make_request())).cached
    assert len(server.requests) == 2


def test_an_answer_under_the_wrong_name_is_not_taken(server, client, make_request, tmp_path):
    one = asyncio.run(client.complete(make_request("one")))
    cache = AnswerCache(tmp_path)
    other = make_request("two").key().digest
    cache.path(other).parent.mkdir(parents=True, exist_ok=True)
    cache.path(other).write_bytes(cache.path(one.key).read_bytes())
    assert not asyncio.run(client.complete(make_request("two"))).cached


def test_nothing_but_answers_and_ledger_is_left_behind(server, client, make_request, tmp_path, replies):
    server.tell(replies.bad(401))
    with pytest.raises(ProviderRefusedRequest):
        asyncio.run(client.complete(make_request()))
    asyncio.run(client.complete(make_request()))
    files = [path.relative_to(tmp_path).parts[:2] for path in tmp_path.rglob("*") if path.is_file()]
    assert sorted(files) == [("llm", "answers"), ("llm", "ledger")]


def test_the_ledger_has_a_row_an_attempt(server, client, make_request, tmp_path, replies):
    server.tell(replies.bad(500, "down"), replies.good())
    asyncio.run(client.complete(make_request()))
    asyncio.run(client.complete(make_request()))
    failed, paid, cached = read_ledger(tmp_path)
    assert (failed.attempt, failed.status, failed.error, failed.http_status) == (1, "error", "ProviderError", 500)
    assert failed.retry_in_s is not None
    assert (paid.attempt, paid.status, paid.input_tokens, paid.output_tokens) == (2, "ok", 1000, 200)
    assert paid.price_usd == pytest.approx(0.004)
    assert (cached.attempt, cached.cached, cached.price_usd, cached.output_tokens) == (0, True, 0.0, 200)
    assert {failed.key, paid.key, cached.key} == {make_request().key().digest}
    assert {row.purpose for row in (failed, paid, cached)} == {"stage1"}


def test_a_cancelled_call_is_in_the_ledger_and_not_in_the_cache(server, client, make_request, tmp_path, replies):
    server.tell(replies.good(delay_s=1.0))

    async def give_up_early():
        task = asyncio.create_task(client.complete(make_request()))
        while not server.requests:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(give_up_early())
    assert [row.status for row in read_ledger(tmp_path)] == ["cancelled"]
    assert not asyncio.run(client.complete(make_request())).cached


def test_parameters_that_a_provider_does_not_know_are_dropped_with_a_note(
    server, client, make_request, tmp_path, caplog
):
    # zai speaks the same protocol and, as litellm knows it, has no reasoning_effort.
    request = make_request(litellm_model="zai/glm-4.7", parameters={"reasoning_effort": "low", "temperature": 0.5})
    answer = asyncio.run(_with_key("ZAI_API_KEY", client, request))
    assert answer.dropped_parameters == ("reasoning_effort",)
    assert "reasoning_effort" not in server.requests[0]
    assert server.requests[0]["temperature"] == 0.5
    assert "zai/glm-4.7 does not know reasoning_effort: not sent." in caplog.messages
    assert [row.dropped_parameters for row in read_ledger(tmp_path)] == [("reasoning_effort",)]


async def _with_key(name, client, request):
    os.environ[name] = "zai-key-for-a-local-server"
    try:
        return await client.complete(request)
    finally:
        del os.environ[name]


def test_unknown_parameters_reach_a_compatible_server(server, client, make_request):
    asyncio.run(client.complete(make_request(parameters={"enable_thinking": True, "seed": 7})))
    assert server.requests[0]["enable_thinking"] is True
    assert server.requests[0]["seed"] == 7


@pytest.mark.parametrize(
    ("prices", "usage", "price"),
    [
        (Prices(input_per_million=3, output_per_million=15), Usage(2_000_000, 100_000), 7.5),
        (Prices(input_per_million=0, output_per_million=0), Usage(5, 5), 0.0),
        (Prices(input_per_million=3), Usage(1, 1), None),
        (Prices(), Usage(1, 1), None),
        (Prices(input_per_million=3, output_per_million=15), Usage(None, 5), None),
        (Prices(input_per_million=3, output_per_million=15), Usage(5, None), None),
    ],
)
def test_price(prices, usage, price):
    assert price_usd(prices, usage) == price


def test_importing_the_room_imports_no_litellm():
    modules = "client, registry, cache, ledger, doctor, provider_errors, event_loop, scripted.provider"
    names = [f"deepchart_dagster.llm.{name.strip()}" for name in modules.split(",")]
    code = f"import sys\nfor name in {names}: __import__(name)\nprint('litellm' in sys.modules, 'PIL' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False False"


def test_storage_that_cannot_be_written_is_said_and_nothing_is_paid(server, quick, make_request, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("no folder")
    from deepchart_dagster.errors import StorageError

    with pytest.raises(StorageError, match="file"):
        asyncio.run(LiteLLMClient(Path(blocked), retry=quick).complete(make_request()))
    assert server.requests == []


def test_an_answer_that_cannot_be_kept_is_on_the_bill_all_the_same(server, client, make_request, tmp_path):
    (tmp_path / "llm").mkdir()
    (tmp_path / "llm" / "answers").write_text("a file where the folder belongs")
    with pytest.raises(StorageError):
        asyncio.run(client.complete(make_request()))
    (row,) = read_ledger(tmp_path)
    assert (row.status, row.input_tokens, row.price_usd) == ("ok", 1000, pytest.approx(0.004))
