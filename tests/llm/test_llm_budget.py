"""Budgets: the call that would exceed them is not made, what there is is kept, how to go on is said."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
from datetime import datetime, timedelta

import pytest

from deepchart_dagster.artifacts.results import utc_now
from deepchart_dagster.errors import BudgetReached, ProviderTimeout
from deepchart_dagster.llm.budget import Limits, Sum, spent
from deepchart_dagster.llm.client import LiteLLMClient
from deepchart_dagster.llm.ledger import Ledger, LedgerRow, LedgerTail, read_ledger
from deepchart_dagster.llm.model import ChatAnswer
from deepchart_dagster.llm.registry import Prices
from deepchart_dagster.llm.usage_history import UsageHistory

# The server counts 1000 tokens in and 200 out; make_request's prices are 2 and 10 dollars a million.
PRICE = 0.004
TOKENS = 1200


def ask(client, make_request, count, *, concurrency=1, start=0, **model):
    async def all_of_them():
        requests = [make_request(f"q{start + n}", concurrency=concurrency, **model) for n in range(count)]
        return await asyncio.gather(*(client.complete(each) for each in requests), return_exceptions=True)

    return asyncio.run(all_of_them())


def kinds(outcomes):
    return [type(outcome).__name__ for outcome in outcomes]


def with_limits(tmp_path, quick, **limits):
    return LiteLLMClient(tmp_path, retry=quick, limits=Limits(**limits))


def learn(tmp_path, quick, make_request):
    """One call: from then on it is known what a call takes."""
    ask(with_limits(tmp_path, quick, max_tokens=10**9), make_request, 1, start=9)


@pytest.mark.parametrize("concurrency", [1, 8])
def test_money_stops_before_the_call_that_would_exceed_it(server, make_request, quick, tmp_path, concurrency):
    client = with_limits(tmp_path, quick, max_cost=10.5 * PRICE)
    outcomes = ask(client, make_request, 30, concurrency=concurrency)
    assert kinds(outcomes).count("ChatAnswer") == 10
    assert kinds(outcomes).count("BudgetReached") == 20
    assert len(server.requests) == 10
    assert sum(row.price_usd for row in read_ledger(tmp_path)) == pytest.approx(10 * PRICE)


@pytest.mark.parametrize("concurrency", [1, 8])
def test_tokens_stop_before_the_call_that_would_exceed_them(server, make_request, quick, tmp_path, concurrency):
    client = with_limits(tmp_path, quick, max_tokens=10 * TOKENS)
    ask(client, make_request, 30, concurrency=concurrency)
    assert len(server.requests) == 10


def test_a_budget_that_is_used_up_to_the_last_cent_is_no_budget_exceeded(server, make_request, quick, tmp_path):
    ask(with_limits(tmp_path, quick, max_cost=10 * PRICE), make_request, 30)
    assert len(server.requests) == 10


def test_the_error_says_how_much_and_how_to_go_on(server, make_request, quick, tmp_path):
    learn(tmp_path, quick, make_request)
    (error,) = ask(with_limits(tmp_path, quick, max_cost=PRICE), make_request, 1)
    assert type(error) is BudgetReached
    assert "0.004 US dollars: 1 calls took 0.0040, the next one (local, stage1) may take 0.0040" in error.message
    assert "--max-cost" in error.remedy
    assert "DEEPCHART_MAX_COST" in error.remedy
    assert "--retry-errors" in error.remedy
    assert len(server.requests) == 1


def test_what_was_answered_costs_nothing_even_when_the_budget_is_used_up(server, make_request, quick, tmp_path):
    ask(LiteLLMClient(tmp_path, retry=quick), make_request, 3)
    client = with_limits(tmp_path, quick, max_cost=PRICE / 2)
    assert kinds(ask(client, make_request, 4)) == ["ChatAnswer"] * 3 + ["BudgetReached"]
    assert len(server.requests) == 3


def test_going_on_with_a_larger_budget_asks_only_the_rest(server, make_request, quick, tmp_path):
    ask(with_limits(tmp_path, quick, max_tokens=4 * TOKENS), make_request, 10)
    assert len(server.requests) == 4
    outcomes = ask(with_limits(tmp_path, quick, max_tokens=100 * TOKENS), make_request, 10)
    assert kinds(outcomes) == ["ChatAnswer"] * 10
    assert len(server.requests) == 10


def test_rows_before_the_moment_do_not_count(server, make_request, quick, tmp_path):
    ask(LiteLLMClient(tmp_path, retry=quick), make_request, 3)
    last = max(row.time for row in read_ledger(tmp_path))
    since = last.replace("+", "9+", 1)  # a moment later than the last row
    assert spent(tmp_path) == Sum(cost=pytest.approx(3 * PRICE), tokens=3 * TOKENS, calls=3)
    assert spent(tmp_path, since) == Sum()
    outcomes = ask(with_limits(tmp_path, quick, max_cost=2 * PRICE, since=since), make_request, 5, start=10)
    assert kinds(outcomes).count("ChatAnswer") == 2


def test_a_clock_that_is_set_back_lets_no_call_beyond_the_budget(server, make_request, quick, tmp_path, monkeypatch):
    """Rows from before the budget's moment do not count: an hour long, none would."""

    class SetBack(datetime):
        @classmethod
        def now(cls, tz=None):
            return datetime.now(tz) - timedelta(hours=1)

    client = with_limits(tmp_path, quick, max_tokens=5 * TOKENS, since=utc_now())
    ask(client, make_request, 3)
    monkeypatch.setattr("deepchart_dagster.artifacts.results.datetime", SetBack)
    outcomes = ask(client, make_request, 5, start=3)
    assert kinds(outcomes).count("BudgetReached") == 3
    assert len(server.requests) == 5
    times = [row.time for row in read_ledger(tmp_path)]
    assert times == sorted(times)


def test_an_unknown_price_is_never_within_a_budget_of_money(server, make_request, quick, tmp_path):
    client = with_limits(tmp_path, quick, max_cost=1000.0)
    (error,) = ask(client, make_request, 1, prices=Prices(input_per_million=2.0))
    assert type(error) is BudgetReached
    assert "its price is unknown" in error.message
    assert "limit tokens" in error.remedy
    assert server.requests == []
    (answer,) = ask(with_limits(tmp_path, quick, max_tokens=10**6), make_request, 1, prices=Prices())
    assert isinstance(answer, ChatAnswer)
    assert answer.price_usd is None


def test_a_call_that_says_nothing_of_its_tokens_counts_as_expected(server, make_request, quick, tmp_path, replies):
    body = replies.completion()
    del body["usage"]
    server.tell(*(replies.Reply(body=json.dumps(body).encode()) for _ in range(30)))
    client = with_limits(tmp_path, quick, max_tokens=10_000)
    ask(client, make_request, 10)
    assert len(server.requests) == 3, "3000 expected of each, as long as nothing is known"
    rows = list(read_ledger(tmp_path))
    assert {row.price_usd for row in rows} == {None}, "unknown stays unknown in the ledger"
    assert all(3000 < row.may_take_tokens < 3100 and row.may_cost_usd > 0.03 for row in rows)


def test_a_time_out_counts_since_it_may_be_paid_and_a_refusal_does_not(server, make_request, quick, tmp_path, replies):
    learn(tmp_path, quick, make_request)
    server.tell(*(replies.bad(500) for _ in range(3)), *(replies.good(delay_s=1.0) for _ in range(2)))
    client = with_limits(tmp_path, quick, max_tokens=100 * TOKENS)
    refused, late = (ask(client, make_request, 1, start=n, timeout_s=0.3)[0] for n in range(2))
    assert type(late) is ProviderTimeout
    assert refused.status == 500
    assert spent(tmp_path).calls == 3, "the first, and two attempts that were too late"
    assert spent(tmp_path).tokens == pytest.approx(3 * TOKENS, rel=0.01)


def test_scripted_models_take_nothing(tmp_path, quick):
    Ledger(tmp_path).append(
        LedgerRow(
            time="2026-11-30T10:00:00.000+00:00",
            model="oracle",
            litellm_model="scripted/oracle",
            purpose="stage1",
            key="k1-x",
            attempt=1,
            status="ok",
            seconds=0.1,
            input_tokens=10**9,
            output_tokens=5,
            price_usd=0.0,
        )
    )
    assert spent(tmp_path) == Sum()


ANOTHER_PROCESS = """
import asyncio, sys
from pathlib import Path
from deepchart_dagster.llm.budget import Limits
from deepchart_dagster.llm.client import LiteLLMClient
from deepchart_dagster.llm.litellm_library import litellm_library
from deepchart_dagster.llm.model import ChatRequest, Message
from deepchart_dagster.llm.registry import ModelSpec, Prices

storage, url, name = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
model = ModelSpec(slug="local", litellm_model="openai/local-model", api_base=url, concurrency=8,
                  prices=Prices(input_per_million=2.0, output_per_million=10.0))
litellm_library()
print("ready", flush=True)
sys.stdin.readline()
client = LiteLLMClient(storage, limits=Limits(max_cost=20 * 0.004))

async def ask():
    messages = [(Message.text("system", "Answer briefly."), Message.text("user", f"{name}{n}")) for n in range(30)]
    requests = [ChatRequest(model, each, "stage1", "p1") for each in messages]
    return await asyncio.gather(*(client.complete(each) for each in requests), return_exceptions=True)

print(sum(not isinstance(one, Exception) for one in asyncio.run(ask())), flush=True)
"""


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_two_processes_share_a_budget(server, make_request, quick, tmp_path, replies):
    learn(tmp_path, quick, make_request)
    server.tell(*(replies.good(delay_s=0.1) for _ in range(60)))
    command = [sys.executable, "-c", ANOTHER_PROCESS, str(tmp_path), server.url]
    processes = [
        subprocess.Popen(
            [*command, name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=dict(os.environ)
        )
        for name in "ab"
    ]
    for process in processes:
        assert process.stdout.readline() == "ready\n"
    said = []
    threads = [
        threading.Thread(target=lambda each=each: said.append(int(each.communicate("go\n", timeout=200)[0])))
        for each in processes
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(said) == 19, "and the one that was asked before"
    assert len(server.requests) == 20


def row(**changes) -> LedgerRow:
    fields = {"time": "t", "model": "m", "litellm_model": "openai/m", "purpose": "stage1", "key": "k", "attempt": 1}
    return LedgerRow(**{**fields, "status": "ok", "seconds": 1.0, **changes})


def test_history_is_of_a_model_and_a_purpose():
    history = UsageHistory()
    for tokens in range(100, 1100, 100):
        history.add(row(output_tokens=tokens, input_tokens=tokens * 3, counted_input_tokens=tokens * 2))
    history.add(row(output_tokens=9999, status="cached"))
    seen = history.output("openai/m", "stage1")
    assert (seen.low, seen.expected, seen.high, seen.calls) == (200, 550, 1000, 10)
    assert history.input_tokens("openai/m", "stage1", 1000) == 1500
    assert history.output("openai/m", "stage2").calls == 0
    assert history.input_tokens("openai/n", "stage1", 1000) == 1000


def test_a_tail_reads_every_row_once_and_leaves_half_a_line_for_later(tmp_path):
    tail, ledger = LedgerTail(tmp_path), Ledger(tmp_path)
    assert list(tail.new_rows()) == []
    ledger.append(row(key="k1", time="2026-11-30T10:00:00.000+00:00"))
    assert [each.key for each in tail.new_rows()] == ["k1"]
    (path,) = (tmp_path / "llm" / "ledger").iterdir()
    line = path.read_bytes().replace(b"k1", b"k2")
    with path.open("ab") as stream:
        stream.write(line[:40])
    assert list(tail.new_rows()) == []
    with path.open("ab") as stream:
        stream.write(line[40:])
    Ledger(tmp_path).append(row(key="k3", time="2026-11-30T10:00:00.000+00:00"))
    assert sorted(each.key for each in tail.new_rows()) == ["k2", "k3"]
