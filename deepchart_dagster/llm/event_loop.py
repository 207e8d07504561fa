"""What belongs to one event loop: who waits for a place, and the HTTP clients.

Every step runs a loop of its own (asyncio.run). A waiting task or an HTTP client of a loop that has ended
must never meet the next one. The pace that a model has come to outlives them.
"""

from __future__ import annotations

import asyncio
import inspect
import weakref
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Any

from deepchart_dagster.llm.in_flight import Watch
from deepchart_dagster.llm.litellm_library import litellm_library
from deepchart_dagster.llm.pace import Gate, Pace, Room
from deepchart_dagster.llm.registry import ModelSpec
from deepchart_dagster.llm.streak import Streak

# Three reports of 400 pages, or thirty contexts of 1.2 million tokens.
_ROOM_BYTES = 150_000_000

_Reached = tuple[str, str | None, int]
_paces: dict[_Reached, Pace] = {}
_streaks: dict[_Reached, Streak] = {}


@dataclass
class LoopState:
    gates: dict[_Reached, Gate] = field(default_factory=dict)
    streaks: dict[_Reached, Streak] = field(default_factory=dict)
    turns: dict[str, asyncio.Lock] = field(default_factory=dict)
    watch: Watch = field(default_factory=Watch)
    room: Room = field(default_factory=lambda: Room(_ROOM_BYTES))
    closer: AsyncGenerator[None, None] | None = None

    def gate(self, model: ModelSpec) -> Gate:
        """Lets ``model.concurrency`` calls through at once, fewer while its provider refuses some."""
        reached = _reached(model)
        pace = _paces.setdefault(reached, Pace(model.concurrency))
        return self.gates.setdefault(reached, Gate(pace))

    def streak(self, model: ModelSpec) -> Streak:
        """Of answers that are none; it outlives the loop, and each loop begins with a call."""
        reached = _reached(model)
        if reached not in self.streaks:
            self.streaks[reached] = _streaks.setdefault(reached, Streak())
            self.streaks[reached].next_step()
        return self.streaks[reached]

    def turn(self, provider: str) -> asyncio.Lock:
        """Held by the one task of this loop that looks for a place at ``provider``."""
        return self.turns.setdefault(provider, asyncio.Lock())


def _reached(model: ModelSpec) -> _Reached:
    return (model.litellm_model, model.api_base, model.concurrency)


_states: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, LoopState] = weakref.WeakKeyDictionary()


async def loop_state() -> LoopState:
    """The running loop's state. When that loop ends, its HTTP clients are closed and its state is forgotten."""
    loop = asyncio.get_running_loop()
    state = _states.get(loop)
    if state is None:
        state = _states[loop] = LoopState()
        state.closer = _when_loop_ends(loop)
        await anext(state.closer)
    return state


async def _when_loop_ends(loop: asyncio.AbstractEventLoop) -> AsyncGenerator[None, None]:
    """Suspended until asyncio.run shuts its generators down: the last moment when its clients can be closed."""
    try:
        yield
    finally:
        _states.pop(loop, None)
        await _close_clients()


async def _close_clients() -> None:
    """Close and forget litellm's clients of the running loop, and only those: other threads have loops, too."""
    cache = litellm_library().in_memory_llm_clients_cache
    mine = cache.update_cache_key_with_event_loop("")
    for key in [key for key in cache.cache_dict if key.endswith(mine)]:
        client = cache.cache_dict.pop(key)
        cache.ttl_dict.pop(key, None)
        await _close(client)


async def _close(client: Any) -> None:
    close = getattr(client, "aclose", None) or getattr(client, "close", None)
    done = close() if close else None
    if inspect.isawaitable(done):
        await done
