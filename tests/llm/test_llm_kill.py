"""Kill -9 at any moment: nothing that was answered is asked again, at most what was in flight is repeated."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter

import pytest

from deepchart_dagster.llm.cache import AnswerCache
from deepchart_dagster.llm.in_flight import asking_folder, calls_in_flight
from deepchart_dagster.llm.ledger import read_ledger
from deepchart_dagster.llm.model import ChatRequest, Message
from deepchart_dagster.llm.registry import ModelSpec

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

CALLS, KILLS, CONCURRENCY = 200, 30, 8

# litellm takes seconds to import: a process that has it makes one child a run, as a new process would be.
RUNNER = """
import asyncio, os, signal, sys
from pathlib import Path
from deepchart_dagster.llm.client import LiteLLMClient
from deepchart_dagster.llm.litellm_library import litellm_library
from deepchart_dagster.llm.model import ChatRequest, Message
from deepchart_dagster.llm.registry import ModelSpec

storage, url, calls, concurrency = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])

async def ask_all():
    model = ModelSpec(slug="local", litellm_model="openai/local-model", api_base=url, concurrency=concurrency)
    client = LiteLLMClient(storage)
    requests = [ChatRequest(model, (Message.text("user", f"q{n}"),), "stage1", "p1") for n in range(calls)]
    return await asyncio.gather(*(client.complete(each) for each in requests))

litellm_library()
for line in sys.stdin:
    child = os.fork()
    if child == 0:
        answers = asyncio.run(ask_all())
        os._exit(0 if {answer.text for answer in answers} == {"fine"} else 1)
    print(child, flush=True)
    print(os.waitpid(child, 0)[1], flush=True)
"""


def key(number: int, url: str) -> str:
    model = ModelSpec(slug="local", litellm_model="openai/local-model", api_base=url)
    return ChatRequest(model, (Message.text("user", f"q{number}"),), "stage1", "p1").key().digest


def asked(server) -> Counter[str]:
    return Counter(request["messages"][0]["content"] for request in list(server.requests))


def test_thirty_kills_of_a_run_of_two_hundred_calls(server, replies, tmp_path):
    dice = random.Random(20261130)
    server.tell(*(replies.good(delay_s=dice.uniform(0.02, 0.2)) for _ in range(CALLS * 3)))
    cache = AnswerCache(tmp_path)
    keys = {f"q{number}": key(number, server.url) for number in range(CALLS)}

    def answered() -> set[str]:
        return {text for text, digest in keys.items() if cache.get(digest) is not None}

    command = [sys.executable, "-c", RUNNER, str(tmp_path), server.url, str(CALLS), str(CONCURRENCY)]
    runner = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=dict(os.environ))

    def run(arrivals: int | None, then_s: float = 0.0) -> int:
        """The wait status of a run that is killed ``then_s`` after its ``arrivals``-th call came in (None: never)."""
        before = len(server.requests)
        runner.stdin.write("run\n")
        runner.stdin.flush()
        child = int(runner.stdout.readline())
        if arrivals is not None:
            _wait_until(lambda: len(server.requests) >= before + arrivals)
            time.sleep(then_s)
            os.kill(child, signal.SIGKILL)
        return int(runner.stdout.readline())

    killed = 0
    try:
        for _ in range(KILLS):
            known, before = answered(), asked(server)
            status = run(dice.randint(1, 12), dice.uniform(0.0, 0.15))
            killed += os.WIFSIGNALED(status)
            again = asked(server) - before
            assert not known & set(again), "asked although its answer was there in full"
            _wait_until(lambda: not server.at_once)
        known, before = answered(), asked(server)
        assert run(None) == 0, "the last run goes to its end"
        again = asked(server) - before
    finally:
        runner.stdin.close()
        runner.wait(timeout=60)
    assert killed == KILLS
    assert not known & set(again)
    assert answered() == set(keys), "none is missing"
    assert set(asked(server)) == set(keys)
    repeated = sum(count - 1 for count in asked(server).values())
    assert repeated <= killed * CONCURRENCY, "at most those in flight"
    assert set(again.values()) <= {1}, "without a kill nothing is asked twice"
    assert calls_in_flight(tmp_path) == []
    assert not list(asking_folder(tmp_path).glob("*.json")), "what the kills left is gone"
    paid = Counter(row.key for row in read_ledger(tmp_path) if row.status == "ok")
    assert set(paid.values()) == {1}, "an answer is in the ledger once"
    assert repeated > 0, "or the kills came where nothing was in flight"


def _wait_until(condition) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, "the run does not come to the moment of its kill"
        time.sleep(0.005)
