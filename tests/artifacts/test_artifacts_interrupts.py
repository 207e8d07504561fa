"""A request to end in the middle of a step: what runs is cancelled, what is done is kept, the handler is told after."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from deepchart_dagster.artifacts.canonical import InputKey
from deepchart_dagster.artifacts.interrupts import in_thread, run_until_done
from deepchart_dagster.artifacts.results import Outcome
from deepchart_dagster.artifacts.steps import Step, Work, run_step
from deepchart_dagster.artifacts.store import ArtifactStore


class Ended(BaseException):
    """What a handler raises, as Dagster's does."""


@pytest.fixture(params=[signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
def number(request: pytest.FixtureRequest) -> Iterator[signal.Signals]:
    def end(*_: object) -> None:
        raise Ended

    before = {each: signal.signal(each, end) for each in (signal.SIGINT, signal.SIGTERM)}
    yield request.param
    for each, handler in before.items():
        signal.signal(each, handler)


def test_the_work_ends_first_and_the_handler_is_told_after(number: signal.Signals) -> None:
    said: list[str] = []
    handler = signal.getsignal(number)

    async def work() -> None:
        try:
            os.kill(os.getpid(), number)
            said.append("goes on until it waits")
            await asyncio.sleep(60)
        finally:
            said.append("cleaned up")

    with pytest.raises(Ended):
        run_until_done(work())
    assert said == ["goes on until it waits", "cleaned up"]
    assert signal.getsignal(number) is handler


def test_a_request_that_comes_with_the_result(number: signal.Signals) -> None:
    async def work() -> int:
        os.kill(os.getpid(), number)
        return 1

    with pytest.raises(Ended):
        run_until_done(work())


def test_without_a_request_there_is_a_result() -> None:
    handler = signal.getsignal(signal.SIGINT)

    async def work() -> int:
        await asyncio.sleep(0)
        return 7

    assert run_until_done(work()) == 7
    assert signal.getsignal(signal.SIGINT) is handler


def test_work_that_cancels_itself_is_no_request() -> None:
    async def work() -> None:
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        run_until_done(work())


def test_a_handler_that_returns_does_not_make_a_result(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, frame: told.append(number))
    try:

        async def work() -> None:
            os.kill(os.getpid(), signal.SIGTERM)
            await asyncio.sleep(60)

        with pytest.raises(KeyboardInterrupt):
            run_until_done(work())
    finally:
        signal.signal(signal.SIGTERM, before)
    assert told == [signal.SIGTERM]


def test_in_another_thread_it_is_asyncios_own() -> None:
    found: list[int] = []

    async def work() -> int:
        await asyncio.sleep(0)
        return 3

    thread = threading.Thread(target=lambda: found.append(run_until_done(work())))
    thread.start()
    thread.join(20)
    assert found == [3]


def test_a_step_keeps_what_was_done(tmp_path: Path, number: signal.Signals) -> None:
    computed: list[str] = []
    store, step = ArtifactStore(tmp_path), Step("things", ("p",), ("p",))

    def works(interrupting: str | None) -> list[Work]:
        def work(uid: str) -> Work:
            async def compute(folder: Path) -> Outcome:
                (folder / "out.txt").write_text(uid, encoding="utf-8")
                if uid == interrupting:
                    os.kill(os.getpid(), number)
                    await asyncio.sleep(60)
                computed.append(uid)
                return Outcome()

            return Work(uid=uid, key=InputKey.of(uid=uid), compute=compute)

        return [work(uid) for uid in ("a", "b", "c")]

    with pytest.raises(Ended):
        run_step(store, step, works("b"))
    assert computed == ["a"]
    assert sorted(path.name for path in (tmp_path / "things/p").iterdir()) == ["a"]

    summary = run_step(store, step, works(None))
    assert computed == ["a", "b", "c"]
    assert (summary.n_reused, summary.n_computed) == (1, 2)


def test_a_thread_that_writes_has_ended_before_its_folder_is_removed(tmp_path: Path, number: signal.Signals) -> None:
    ended = threading.Event()

    def write(folder: Path) -> None:
        os.kill(os.getpid(), number)
        time.sleep(0.3)
        folder.mkdir(exist_ok=True)  # what a write into a folder that was removed would do
        (folder / "late.txt").write_text("late", encoding="utf-8")
        ended.set()

    async def compute(folder: Path) -> Outcome:
        await in_thread(write, folder)
        return Outcome()

    with pytest.raises(Ended):
        run_step(
            ArtifactStore(tmp_path),
            Step("things", ("p",), ("p",)),
            [Work(uid="a", key=InputKey.of(uid="a"), compute=compute)],
        )
    assert ended.is_set()
    assert list((tmp_path / "things/p").iterdir()) == []


def test_what_fails_in_a_thread_is_told() -> None:
    def fail() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        asyncio.run(in_thread(fail))
