"""Programs behind the same litellm path as real models: what they see is what was sent."""

from __future__ import annotations

import asyncio
import io
import subprocess
import sys
import types
from collections.abc import Callable

import pytest
from PIL import Image

from deepchart_dagster.errors import ProviderRefusedRequest, StorageError
from deepchart_dagster.llm.client import LiteLLMClient
from deepchart_dagster.llm.ledger import read_ledger
from deepchart_dagster.llm.litellm_library import litellm_library
from deepchart_dagster.llm.model import ChatRequest, ImagePart, Message, TextPart
from deepchart_dagster.llm.registry import ModelSpec, Prices
from deepchart_dagster.llm.scripted.base import (
    BEHAVIOURS,
    ScriptedReply,
    ScriptedRequest,
    behaviour_version,
    load_behaviour,
)
from deepchart_dagster.llm.scripted.questions import QUESTIONS_VERSION
from deepchart_dagster.llm.wire import from_wire, to_wire

PARAMETERS = {"rate": 0.5, "seed": 2026, "share": 0.25, "temperature": 0, "count": 3, "names": ["a"]}


def picture(size: tuple[int, int], kind: str) -> ImagePart:
    stream = io.BytesIO()
    Image.new("RGB", size, (10, 200, 30)).save(stream, format=kind)
    return ImagePart(stream.getvalue(), f"image/{kind.lower()}", *size)


@pytest.fixture
def behave(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[ScriptedRequest]]:
    """Makes scripted/probe answer with a function; returns the list that collects its requests."""

    def behave(answer: Callable[[ScriptedRequest], ScriptedReply]) -> list[ScriptedRequest]:
        seen: list[ScriptedRequest] = []

        def collect(request: ScriptedRequest) -> ScriptedReply:
            seen.append(request)
            return answer(request)

        module = types.ModuleType("probe_behaviour")
        module.__dict__.update(collect=collect, VERSION="1")
        monkeypatch.setitem(sys.modules, "probe_behaviour", module)
        monkeypatch.setitem(BEHAVIOURS, "probe", "probe_behaviour:collect")
        return seen

    return behave


def ask(name: str = "probe", *parts: TextPart | ImagePart) -> ChatRequest:
    model = ModelSpec(
        slug="probe",
        litellm_model=f"scripted/{name}",
        parameters=PARAMETERS,
        prices=Prices(input_per_million=0, output_per_million=0),
    )
    messages = (Message.text("system", "rules"), Message("user", parts or (TextPart("hello"),)))
    return ChatRequest(model, messages, "stage1", "p", parameters={"temperature": 0.5})


def test_messages_parameters_and_storage_arrive_unchanged(client, behave, tmp_path):
    seen = behave(lambda request: ScriptedReply("ok"))
    request = ask("probe", TextPart("first"), picture((7, 5), "PNG"), picture((30, 20), "JPEG"), TextPart("last"))
    answer = asyncio.run(client.complete(request))
    (received,) = seen
    assert received.messages == request.messages
    assert received.parameters == {**PARAMETERS, "temperature": 0.5}
    assert received.storage == tmp_path
    assert (answer.text, answer.price_usd, answer.cached) == ("ok", 0.0, False)


def test_evidence_of_the_same_storage_is_seen(client, behave, tmp_path):
    from deepchart_dagster.artifacts.evidence import EvidenceStore

    image = picture((4, 4), "PNG")
    EvidenceStore(tmp_path).put("drawn", image.sha256, {"figures": 1})
    behave(lambda request: ScriptedReply(str(request.evidence.get("drawn", request.messages[1].parts[0].sha256))))
    assert asyncio.run(client.complete(ask("probe", image))).text == "{'figures': 1}"


@pytest.mark.parametrize("reason", ["stop", "length", "refusal", "other"])
def test_finish_reasons_come_through(client, behave, reason):
    behave(lambda request: ScriptedReply("text", reason))
    assert asyncio.run(client.complete(ask())).finish_reason == reason


def test_an_empty_answer_comes_through(client, behave):
    behave(lambda request: ScriptedReply(""))
    answer = asyncio.run(client.complete(ask()))
    assert (answer.text, answer.finish_reason, answer.usage.output_tokens) == ("", "stop", 0)


def test_usage_looks_like_a_providers(client, behave):
    behave(lambda request: ScriptedReply("x" * 41))
    answer = asyncio.run(client.complete(ask("probe", TextPart("y" * 400), picture((300, 100), "PNG"))))
    assert answer.usage.input_tokens == 2 + 100 + 40  # "rules", the text, 30,000 pixels
    assert answer.usage.output_tokens == 11


def test_a_program_is_asked_every_time_and_nothing_of_it_is_cached(client, behave, tmp_path):
    seen = behave(lambda request: ScriptedReply("ok"))
    for _ in range(2):
        asyncio.run(client.complete(ask()))
    assert len(seen) == 2
    assert not (tmp_path / "llm" / "answers").exists()
    assert [(row.status, row.price_usd) for row in read_ledger(tmp_path)] == [("ok", 0.0), ("ok", 0.0)]


def test_an_unknown_name_lists_the_known_ones(client):
    with pytest.raises(ProviderRefusedRequest, match=r"no scripted model 'orcale'.*oracle, misreads"):
        asyncio.run(client.complete(ask("orcale")))


def test_a_program_that_breaks_is_an_error_and_not_tried_again(client, behave):
    def broken(request: ScriptedRequest) -> ScriptedReply:
        raise KeyError("page")

    seen = behave(broken)
    with pytest.raises(ProviderRefusedRequest, match="scripted model 'probe' broke: KeyError: 'page'"):
        asyncio.run(client.complete(ask()))
    assert len(seen) == 1


def test_an_error_of_ours_keeps_its_words(client, behave):
    def damaged(request: ScriptedRequest) -> ScriptedReply:
        raise StorageError("evidence/x.json is damaged.", remedy="Delete it; it is made again.")

    behave(damaged)
    with pytest.raises(ProviderRefusedRequest, match=r"evidence/x\.json is damaged\. Delete it"):
        asyncio.run(client.complete(ask()))


def test_a_program_that_never_ends_meets_the_cap(tmp_path, behave):
    import threading

    from deepchart_dagster.errors import ProviderTimeout

    release = threading.Event()
    behave(lambda request: ScriptedReply(str(release.wait(10))))
    request = ask()
    slow = ChatRequest(request.model.model_copy(update={"timeout_s": 0.2}), request.messages, "stage1", "p")
    litellm_library()

    async def ask_and_release():
        try:
            await LiteLLMClient(tmp_path).complete(slow)
        finally:
            release.set()

    with pytest.raises(ProviderTimeout, match=r"no answer within 0\.2 s"):
        asyncio.run(ask_and_release())


def test_the_synchronous_way_answers_too(behave, tmp_path):
    behave(lambda request: ScriptedReply("sync"))
    response = litellm_library().completion(
        model="scripted/probe", messages=[{"role": "user", "content": "q"}], api_base=str(tmp_path)
    )
    assert response.choices[0].message.content == "sync"


def test_an_image_that_is_none_is_refused_as_a_provider_would(client, behave):
    behave(lambda request: ScriptedReply("never"))
    with pytest.raises(ProviderRefusedRequest, match="an image that cannot be read"):
        asyncio.run(client.complete(ask("probe", ImagePart(b"no image", "image/png", 1, 1))))


def test_the_wire_and_back():
    messages = (
        Message.text("system", "s"),
        Message("user", (TextPart("a"), picture((3, 2), "PNG"), TextPart("b"))),
        Message("assistant", (picture((2, 2), "JPEG"),)),
    )
    assert from_wire(to_wire(messages)) == messages


@pytest.mark.parametrize("url", ["https://host/chart.png", "data:image/png;base64,", "data:image/png;base64,%%%"])
def test_an_image_url_that_cannot_be_read(url):
    with pytest.raises(ProviderRefusedRequest):
        from_wire([{"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]}])


@pytest.mark.parametrize("name", ["rubric-writer", "judge", "oracle", "misreads"])
def test_every_named_behaviour_exists(name):
    assert callable(load_behaviour(name))


@pytest.mark.parametrize("name", BEHAVIOURS)
def test_every_behaviour_has_a_version_of_its_own(name):
    module = load_behaviour(name).__module__
    assert behaviour_version(name).startswith(sys.modules[module].VERSION)
    assert behaviour_version(name)[0].isdigit()


def test_what_uses_the_work_of_another_says_so_in_its_version():
    assert behaviour_version("misreads").endswith(f"oracle {behaviour_version('oracle')}")
    assert behaviour_version("judge").endswith(f"questions {QUESTIONS_VERSION}")
    assert behaviour_version("rubric-writer").endswith(f"questions {QUESTIONS_VERSION}")


def test_nobody_has_no_version():
    assert behaviour_version("nobody") is None
    assert behaviour_version("") is None


FIRST_CALL = """
import asyncio, sys
from pathlib import Path
from deepchart_dagster.llm.client import LiteLLMClient
from deepchart_dagster.llm.model import ChatRequest, Message
from deepchart_dagster.llm.registry import ModelSpec

model = ModelSpec(slug="x", litellm_model="scripted/nobody")
try:
    asyncio.run(LiteLLMClient(Path(sys.argv[1])).complete(
        ChatRequest(model, (Message.text("user", "q"),), "stage1", "p")))
except Exception as error:
    print(type(error).__name__)
"""


@pytest.mark.slow
def test_litellm_is_quiet_and_reads_no_env_file(tmp_path):
    (tmp_path / ".env").write_text("OPENAI_API_KEY=sk-from-a-file-0123456789\n")
    code = FIRST_CALL + "\nimport os\nprint('OPENAI_API_KEY' in os.environ)"
    environ = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=environ,
        check=True,
    )
    assert done.stdout == "ProviderRefusedRequest\nFalse\n"
    # The caller has the error: nothing else is said.
    assert done.stderr == ""
