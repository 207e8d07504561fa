"""How many calls are in flight: fewer when a provider is out of breath, more again when it answers, and no more than
there is memory for.

A refusal for lack of capacity (429, 503, 529) takes half a place away, so that a round of calls that were all
refused halves the places, and one of which a tenth was refused loses a twentieth. Answers give places back: a round
of them doubles the places, or gives an eighth of what models.yaml allows if that is less. The two balance where a
fifth is refused: up to there the provider is asked at full width, beyond that less, down to one call at a time.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

_TAKEN_BY_A_REFUSAL = 0.5
_GIVEN_BY_A_ROUND = 1 / 8
# Longer than any wait between two attempts: what was refused before that was another run's.
_FORGOTTEN_AFTER_S = 600.0


class Pace:
    """Places of one model, from 1 to ``most``. Shared by all event loops of a process: a step goes on at the pace
    that the one before had come to. Safe among threads, to within a place."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._places = float(most)
        self._silent_since: float | None = None
        self._refused_at = 0.0

    @property
    def places(self) -> int:
        return int(self._places)

    def answered(self) -> None:
        self._silent_since = None
        given = max(1.0, self.most * _GIVEN_BY_A_ROUND) / self._places
        self._places = min(float(self.most), self._places + min(1.0, given))

    def refused(self) -> None:
        now = time.monotonic()
        if self._silent_since is None or now - self._refused_at > _FORGOTTEN_AFTER_S:
            self._silent_since = now
        self._refused_at = now
        self._places = max(1.0, self._places - _TAKEN_BY_A_REFUSAL)

    @property
    def silent_s(self) -> float:
        """How long everybody has been refused; 0 where the latest call was answered."""
        since = self._silent_since
        return 0.0 if since is None else time.monotonic() - since


class Gate:
    """Lets as many tasks of one event loop in as the pace has places, in the order they came."""

    def __init__(self, pace: Pace) -> None:
        self.pace = pace
        self._inside = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    @asynccontextmanager
    async def place(self) -> AsyncIterator[None]:
        await self._enter()
        try:
            yield
        finally:
            self._inside -= 1
            self._let_in()

    async def _enter(self) -> None:
        if not self._waiting and self._inside < self.pace.places:
            self._inside += 1
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # let in just then: somebody else may have the place
                self._inside -= 1
                self._let_in()
            elif turn in self._waiting:  # not passed over yet by one that left when all were cancelled
                self._waiting.remove(turn)
            raise

    def _let_in(self) -> None:
        while self._waiting and self._inside < self.pace.places:
            turn = self._waiting.popleft()
            if not turn.done():
                self._inside += 1
                turn.set_result(None)


class Room:
    """Memory for the requests of one event loop that are being sent or waited for, in bytes of their texts and
    pictures. Each byte is there three to four times while its call lasts (itself, as base64, as the body of the HTTP
    request), and eight reports of 400 pages at once would take gigabytes. What is larger than the room enters alone."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._taken = 0
        self._inside = 0
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()

    @asynccontextmanager
    async def holding(self, size: int) -> AsyncIterator[None]:
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append((size, turn))
        self._let_in()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._leave(size)
            elif (size, turn) in self._waiting:  # see Gate
                self._waiting.remove((size, turn))
                self._let_in()
            raise
        try:
            yield
        finally:
            self._leave(size)

    def _leave(self, size: int) -> None:
        self._taken -= size
        self._inside -= 1
        self._let_in()

    def _let_in(self) -> None:
        while self._waiting and (not self._inside or self._taken + self._waiting[0][0] <= self._most):
            size, turn = self._waiting.popleft()
            if not turn.done():
                self._taken += size
                self._inside += 1
                turn.set_result(None)
