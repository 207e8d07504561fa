"""Calls in flight can be seen from outside, with the oldest first; what a kill leaves is no call."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta

from deepchart_dagster.llm.event_loop import loop_state
from deepchart_dagster.llm.in_flight import CallInFlight, Watch, asking_folder, calls_in_flight


def test_calls_are_seen_while_they_last_the_oldest_first(server, client, make_request, replies, tmp_path):
    server.tell(replies.good(delay_s=1.0), replies.good(delay_s=1.0))

    async def look_on():
        first = asyncio.create_task(client.complete(make_request("one", about="finance/x")))
        while not server.requests:
            await asyncio.sleep(0.01)
        second = asyncio.create_task(client.complete(make_request("two")))
        while len(server.requests) < 2:
            await asyncio.sleep(0.01)
        seen = calls_in_flight(tmp_path)
        await asyncio.gather(first, second)
        return seen

    oldest, newest = asyncio.run(look_on())
    assert (oldest.key, newest.key) == (make_request("one").key().digest, make_request("two").key().digest)
    assert (oldest.model, oldest.purpose, oldest.about, oldest.attempt) == ("local", "stage1", "finance/x", 1)
    assert oldest.process == os.getpid()
    assert oldest.in_words().startswith("local stage1 finance/x, attempt 1, ")
    assert oldest.in_words().endswith(" of 20 s")
    assert calls_in_flight(tmp_path) == []
    assert list(asking_folder(tmp_path).iterdir()) == []


def test_the_attempt_is_told(server, client, make_request, replies, tmp_path):
    server.tell(replies.bad(500), replies.good(delay_s=0.5))

    async def look_on():
        task = asyncio.create_task(client.complete(make_request()))
        while len(server.requests) < 2:
            await asyncio.sleep(0.01)
        seen = calls_in_flight(tmp_path)
        await task
        return seen

    assert [call.attempt for call in asyncio.run(look_on())] == [2]


HOLD = """
import sys, time
from pathlib import Path
from filelock import FileLock
from deepchart_dagster.llm.in_flight import CallInFlight, lock_path, recorded
storage = Path(sys.argv[1])
path = lock_path(storage, "k1-held")
path.parent.mkdir(parents=True)
call = CallInFlight(key="k1-held", model="m", purpose="judge", about="u", attempt=1, process=0,
                    since="2026-11-30T10:00:00.000+00:00", timeout_s=600)
with FileLock(path), recorded(storage, call):
    print("held", flush=True)
    time.sleep(600)
"""


def test_a_call_of_another_process_is_seen_until_that_process_is_killed(tmp_path):
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "held\n"
        assert [call.key for call in calls_in_flight(tmp_path)] == ["k1-held"]
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert len(list(asking_folder(tmp_path).iterdir())) == 2
    assert calls_in_flight(tmp_path) == []
    assert list(asking_folder(tmp_path).iterdir()) == [], "what the killed process left is gone"


def test_a_call_from_before_the_clock_was_set_back_has_lasted_no_time_and_is_told_all_the_same(caplog):
    ahead = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
    call = CallInFlight(
        key="k1-a", model="m", purpose="judge", about="u", attempt=1, since=ahead, timeout_s=600, process=0
    )
    assert call.in_words() == "m judge u, attempt 1, 0 of 600 s"
    assert call.as_json()["seconds"] == 0.0

    async def watched():
        with Watch(every_s=0.6).over(call):
            await asyncio.sleep(0.9)

    asyncio.run(watched())
    assert caplog.messages == ["1 calls in flight; the oldest: m judge u, attempt 1, 1 of 600 s"]


def test_what_is_no_record_is_passed_over(tmp_path):
    asking_folder(tmp_path).mkdir(parents=True)
    (asking_folder(tmp_path) / "k1-x.json").write_text("{")
    assert calls_in_flight(tmp_path) == []
    assert CallInFlight.model_fields["attempt"].is_required()


def test_a_run_says_once_a_while_what_its_oldest_call_is(server, client, make_request, replies, caplog):
    server.tell(replies.good(delay_s=2.0), replies.good(delay_s=2.0))

    async def ask_two():
        (await loop_state()).watch = Watch(every_s=0.5)
        first = asyncio.create_task(client.complete(make_request("one", about="finance/x")))
        while not server.requests:
            await asyncio.sleep(0.01)
        await asyncio.gather(first, client.complete(make_request("two")))

    asyncio.run(ask_two())
    said = [message for message in caplog.messages if "in flight" in message]
    assert 1 <= len(said) <= 5
    assert all("the oldest: local stage1 finance/x, attempt 1, " in message for message in said[:2])
    assert any(message.startswith("2 calls in flight; ") for message in said)


def test_quick_calls_are_not_talked_about_and_no_run_waits_for_its_watch(server, client, make_request, caplog):
    begun = time.monotonic()
    asyncio.run(client.complete(make_request()))
    assert time.monotonic() - begun < 50, "it looks once a minute"
    assert not [message for message in caplog.messages if "in flight" in message]
