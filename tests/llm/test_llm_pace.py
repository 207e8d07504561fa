"""Concurrency that shrinks where a provider refuses and recovers where it answers; places shared by all processes."""

from __future__ import annotations

import asyncio
import random
import threading
import time
from functools import partial

import pytest

from deepchart_dagster.errors import ConfigurationError, ProviderTimeout, RateLimited
from deepchart_dagster.llm.client import LiteLLMClient
from deepchart_dagster.llm.pace import Gate, Pace, Room
from deepchart_dagster.llm.registry import ProviderLimit, load_models, load_providers
from deepchart_dagster.llm.retry import RetryPolicy


def test_a_round_of_refusals_halves_the_places():
    pace = Pace(64)
    for _ in range(64):
        pace.refused()
    assert pace.places == 32


def test_there_is_always_a_place():
    pace = Pace(4)
    for _ in range(100):
        pace.refused()
    assert pace.places == 1


def test_answers_bring_the_places_back_and_no_more():
    pace = Pace(64)
    for _ in range(200):
        pace.refused()
    rounds = 0
    while pace.places < 64:
        for _ in range(pace.places):
            pace.answered()
        rounds += 1
    assert rounds <= 14, "doubled up to an eighth, then an eighth a round"
    pace.answered()
    assert pace.places == 64


@pytest.mark.parametrize(("share", "least", "most"), [(0.05, 60, 64), (0.2, 40, 64), (0.5, 4, 20), (0.9, 1, 2)])
def test_a_fifth_refused_is_borne_more_is_given_way_to(share, least, most):
    pace, dice = Pace(64), random.Random(7)
    seen = []
    for number in range(6000):
        (pace.refused if dice.random() < share else pace.answered)()
        if number > 2000:
            seen.append(pace.places)
    assert least <= sum(seen) / len(seen) <= most


def test_silence_is_measured_from_the_first_refusal_after_an_answer():
    pace = Pace(4)
    assert pace.silent_s == 0.0
    pace.refused()
    time.sleep(0.05)
    pace.refused()
    assert pace.silent_s >= 0.05
    pace.answered()
    assert pace.silent_s == 0.0


def test_a_gate_lets_in_by_turns_and_loses_no_place_to_a_cancelled_task():
    async def scenario():
        gate, entered = Gate(Pace(2)), []

        async def inside(name, hold):
            async with gate.place():
                entered.append(name)
                await hold.wait()

        hold = asyncio.Event()
        tasks = [asyncio.create_task(inside(name, hold)) for name in "abcd"]
        await asyncio.sleep(0)
        assert entered == ["a", "b"]
        tasks[2].cancel()
        tasks[0].cancel()
        await asyncio.gather(*tasks[:1], *tasks[2:3], return_exceptions=True)
        await asyncio.sleep(0)
        assert entered == ["a", "b", "d"]
        hold.set()
        await asyncio.gather(tasks[1], tasks[3])
        async with gate.place(), gate.place():
            entered.append("both places are free again")

    asyncio.run(scenario())


def test_a_task_that_is_let_in_and_cancelled_at_once_gives_its_place_back():
    async def scenario():
        gate = Gate(Pace(1))
        holder = gate.place()
        await holder.__aenter__()
        inside_again = []

        async def inside():
            async with gate.place():
                inside_again.append(1)

        waiting = asyncio.create_task(inside())
        await asyncio.sleep(0)
        await holder.__aexit__(None, None, None)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        await asyncio.wait_for(inside(), 1)
        return waiting.cancelled(), inside_again

    assert asyncio.run(scenario()) == (True, [1])


def test_a_room_holds_no_more_than_it_has_place_for_and_the_largest_alone():
    async def scenario():
        room, inside, largest = Room(100), [], []

        async def hold(size):
            async with room.holding(size):
                inside.append(size)
                largest.append(sum(inside))
                await asyncio.sleep(0.01)
                inside.remove(size)

        await asyncio.gather(*(hold(size) for size in (60, 60, 30, 500, 10, 90, 0)))
        return largest

    largest = asyncio.run(scenario())
    assert sorted(size for size in largest if size > 100) == [500]
    assert len(largest) == 7


def test_a_cancelled_task_leaves_no_hole_in_the_room():
    async def scenario():
        room = Room(100)

        async def hold(size):
            async with room.holding(size):
                await asyncio.sleep(10)

        first, waiting = asyncio.create_task(hold(80)), asyncio.create_task(hold(80))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
        async with asyncio.timeout(1), room.holding(100):
            return True

    assert asyncio.run(scenario())


@pytest.mark.parametrize("entering", [Gate(Pace(2)).place, partial(Room(2).holding, 1)], ids=["gate", "room"])
def test_everybody_cancelled_at_once_ends_as_cancelled(entering):
    """Those that hold a place leave it, and so pass over the others, before these have noticed."""

    async def hold():
        async with entering():
            await asyncio.sleep(10)

    async def scenario():
        tasks = [asyncio.create_task(hold()) for _ in range(6)]
        await asyncio.sleep(0.01)
        for task in tasks:
            task.cancel()
        return await asyncio.gather(*tasks, return_exceptions=True)

    assert [type(ended) for ended in asyncio.run(scenario())] == [asyncio.CancelledError] * 6


class Capacity:
    """A server that answers ``most`` calls at once and refuses the others."""

    def __init__(self, server, replies, most, monkeypatch):
        self.refused = 0
        self._busy, self._lock = 0, threading.Lock()
        handler = server.RequestHandlerClass
        answer = handler._send

        def send(connection, reply):
            with self._lock:
                free = self._busy < most
                self._busy += free
                self.refused += not free
            if not free:
                answer(connection, replies.bad(429))
                return
            time.sleep(0.1)
            with self._lock:
                self._busy -= 1
            answer(connection, reply)

        monkeypatch.setattr(handler, "_send", send)


def test_a_provider_of_small_capacity_is_asked_at_its_own_pace(server, make_request, replies, tmp_path, monkeypatch):
    capacity = Capacity(server, replies, 4, monkeypatch)
    client = LiteLLMClient(tmp_path, retry=RetryPolicy(attempts=12, first_wait_s=0.1, longest_wait_s=0.2))

    async def ask_all():
        requests = [make_request(f"q{number}", concurrency=32) for number in range(80)]
        return await asyncio.gather(*(client.complete(request) for request in requests))

    answers = asyncio.run(ask_all())
    assert {answer.text for answer in answers} == {"fine"}, "nobody was given up while others were answered"
    # At full width seven in eight would be refused, again and again: 560 and more.
    assert capacity.refused < 280
    from deepchart_dagster.llm.event_loop import _paces

    (pace,) = (pace for (_, base, _), pace in _paces.items() if base == server.url)
    assert pace.places < 24


def test_a_minute_s_limit_costs_no_call(server, make_request, replies, tmp_path):
    """Refusals until the minute is over: more of them than ``attempts``."""
    server.tell(*(replies.bad(429) for _ in range(9)))
    client = LiteLLMClient(
        tmp_path, retry=RetryPolicy(attempts=3, patience_s=30.0, first_wait_s=0.01, longest_wait_s=0.02)
    )
    assert asyncio.run(client.complete(make_request())).text == "fine"
    assert len(server.requests) == 10


def test_a_provider_that_answers_nobody_for_long_is_given_up_at_once():
    policy = RetryPolicy(attempts=6)
    refusals = [RateLimited("no", status=429)]
    assert policy.wait_s(refusals, None, silent_s=80.0) is not None
    assert policy.wait_s(refusals * 6, None, silent_s=70.0) is not None
    assert policy.wait_s(refusals * 6, None, silent_s=80.0) is None
    assert policy.wait_s(refusals, None, silent_s=140.0) is None
    assert policy.wait_s(refusals * 24, None, silent_s=0.0) is None, "others are answered, this one never is"
    assert policy.wait_s([*refusals * 5, ProviderTimeout("late"), ProviderTimeout("late")], None, 0.0) is None


def test_a_provider_s_places_hold_for_all_of_its_models(server, make_request, replies, quick, tmp_path):
    server.tell(*(replies.good(delay_s=0.1) for _ in range(12)))
    client = LiteLLMClient(tmp_path, retry=quick, providers={"openai": ProviderLimit(concurrency=3)})

    async def ask_both():
        requests = [make_request(f"q{n}", litellm_model=f"openai/m{n % 2}", concurrency=6) for n in range(12)]
        await asyncio.gather(*(client.complete(request) for request in requests))

    asyncio.run(ask_both())
    assert len(server.requests) == 12
    assert server.most_at_once == 3


def test_a_provider_s_places_hold_for_all_loops(server, make_request, replies, quick, tmp_path):
    """Two threads stand for two processes here: the places are locks on files."""
    server.tell(*(replies.good(delay_s=0.1) for _ in range(12)))

    def ask_six(name):
        client = LiteLLMClient(tmp_path, retry=quick, providers={"openai": ProviderLimit(concurrency=2)})

        async def ask():
            await asyncio.gather(*(client.complete(make_request(f"{name}{n}", concurrency=6)) for n in range(6)))

        asyncio.run(ask())

    threads = [threading.Thread(target=ask_six, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(server.requests) == 12
    assert server.most_at_once == 2


MODELS = "models:\n  m:\n    litellm_model: openai/m\n"


def test_limits_of_providers_are_read_from_models_yaml(tmp_path):
    path = tmp_path / "models.yaml"
    path.write_text(MODELS + "providers:\n  openai: {concurrency: 5}\n  gemini: {concurrency: 2}\n")
    assert load_providers(path) == {"openai": ProviderLimit(concurrency=5), "gemini": ProviderLimit(concurrency=2)}
    assert list(load_models(path)) == ["m"]
    path.write_text(MODELS)
    assert load_providers(path) == {}


@pytest.mark.parametrize(
    ("section", "said"),
    [
        (
            "  opanai: {concurrency: 5}\n",
            "line 5: providers.opanai: no model is reached through 'opanai'; did you mean",
        ),
        ("  openai: {concurrency: 0}\n", "line 5: providers.openai.concurrency"),
        ("  openai: {concurrency: 5, rpm: 5}\n", "providers.openai.rpm: unknown key"),
    ],
)
def test_a_limit_that_cannot_be_is_named_with_its_line(tmp_path, section, said):
    path = tmp_path / "models.yaml"
    path.write_text(MODELS + "providers:\n" + section)
    with pytest.raises(ConfigurationError) as caught:
        load_models(path)
    assert said in str(caught.value)
