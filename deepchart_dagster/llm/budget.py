"""Money and tokens that calls may take: the call that would exceed them is not made.

What was spent is read from the ledger, from a moment on (a command's beginning, or the first row); what the calls
in flight may come to is read from their records. So one budget holds for all processes on a storage, and a run
that goes on after a kill goes on counting.

What a call will take is known only afterwards. Before it, its input is counted, its output guessed from what the
model's calls took so far (usage_history). While others are in flight a call that may not fit waits for what they
really take; where none is left and it still does not fit, it is not made, and nothing after it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from filelock import FileLock

from deepchart_dagster.errors import BudgetReached
from deepchart_dagster.llm.counting import request_tokens
from deepchart_dagster.llm.in_flight import CallInFlight, calls_in_flight, recorded
from deepchart_dagster.llm.ledger import LedgerRow, LedgerTail
from deepchart_dagster.llm.locks import acquire
from deepchart_dagster.llm.model import ChatRequest, Usage, price_usd
from deepchart_dagster.llm.registry import SCRIPTED_PREFIX
from deepchart_dagster.llm.usage_history import UsageHistory

_POLL_S = 0.05
_GO_ON = (
    "What is answered is kept. To go on: the same command with a larger --max-cost or --max-tokens "
    "(DEEPCHART_MAX_COST, DEEPCHART_MAX_TOKENS) and --retry-errors."
)


@dataclass(frozen=True)
class Limits:
    """None: without limit. ``since``: ledger rows from this moment on count (as the ledger writes it); "" all."""

    max_cost: float | None = None
    max_tokens: int | None = None
    since: str = ""

    def __bool__(self) -> bool:
        return self.max_cost is not None or self.max_tokens is not None


@dataclass(frozen=True)
class Sum:
    """Dollars and tokens; ``calls``: how many calls they are of, ``unknown`` of which at a price nobody knows."""

    cost: float = 0.0
    tokens: int = 0
    calls: int = 0
    unknown: int = 0

    def within(self, limits: Limits) -> bool:
        # A sum of prices is off by its last binary digits: that decides nothing.
        fits_cost = limits.max_cost is None or self.cost <= limits.max_cost * (1 + 1e-9)
        return fits_cost and (limits.max_tokens is None or self.tokens <= limits.max_tokens)

    def __add__(self, other: Sum) -> Sum:
        return Sum(
            self.cost + other.cost, self.tokens + other.tokens, self.calls + other.calls, self.unknown + other.unknown
        )


@dataclass(frozen=True)
class Expected:
    """What a call may take. ``cost`` None: the model's price is not known. ``counted``: its input as we count it."""

    cost: float | None
    tokens: int
    counted: int

    @property
    def sum(self) -> Sum:
        return Sum(self.cost or 0.0, self.tokens, 1)

    def on_record(self) -> dict[str, float | int | None]:
        """For a call in flight, and for the ledger row of one that may have been paid without a word on how much."""
        return {"may_cost_usd": self.cost, "may_take_tokens": self.tokens}


class Budget:
    """Decides, call by call. Safe among tasks of a loop, and among processes (by a lock on a file)."""

    def __init__(self, storage: Path, limits: Limits) -> None:
        self.limits = limits
        self._storage = storage
        self._tail = LedgerTail(storage)
        self._history = UsageHistory()
        self._spent = Sum()
        self._reached: str | None = None

    async def count(self, request: ChatRequest) -> int:
        """The input as we count it. Raises BudgetReached where it was reached before, or where nobody can say what the
        call costs."""
        self._raise_if_reached()
        model = request.model
        if self.limits.max_cost is not None and not model.prices.known:
            raise BudgetReached(
                f"{model.slug}: its price is unknown, so nobody can say whether a call keeps within "
                f"{self.limits.max_cost:g} US dollars: it was not made.",
                remedy="Fill in its prices in the models or judges file, or limit tokens in place of money.",
            )
        return await asyncio.to_thread(request_tokens, request)

    @asynccontextmanager
    async def reserved(self, call: CallInFlight, request: ChatRequest, counted: int) -> AsyncIterator[Expected]:
        """The call's record is there while the block runs, with what it may take. Raises BudgetReached."""
        path = self._storage / "llm" / "budget.lock"
        with ExitStack() as held:
            while True:
                self._raise_if_reached()
                lock = FileLock(path, thread_local=False)
                await acquire(lock, path)
                try:
                    # In this order: a call that ends in between is counted twice, and never not at all.
                    others = _may_take(calls_in_flight(self._storage))
                    self._read_ledger()
                    expected = self._expected(request, counted)
                    if (self._spent + others + expected.sum).within(self.limits):
                        held.enter_context(recorded(self._storage, call.model_copy(update=expected.on_record())))
                        break
                    if not others.calls:
                        self._reached = self._in_words(call, expected)
                finally:
                    lock.release()
                await asyncio.sleep(_POLL_S)
            yield expected

    def _expected(self, request: ChatRequest, counted: int) -> Expected:
        name, purpose = request.model.litellm_model, request.purpose
        given = self._history.input_tokens(name, purpose, counted)
        seen = self._history.output(name, purpose)
        made = seen.high if seen.calls else seen.expected
        return Expected(price_usd(request.model.prices, Usage(given, made)), given + made, counted)

    def _raise_if_reached(self) -> None:
        if self._reached is not None:
            raise BudgetReached(self._reached, remedy=_GO_ON)

    def _read_ledger(self) -> None:
        for row in self._tail.new_rows():
            self._history.add(row)
            if row.time >= self.limits.since:
                self._spent += _taken(row)

    def _in_words(self, call: CallInFlight, expected: Expected) -> str:
        spent, wanted = self._spent, expected.sum
        parts = []
        if self.limits.max_cost is not None:
            parts.append(
                f"{self.limits.max_cost:g} US dollars: {spent.calls} calls took {spent.cost:.4f}, the next one "
                f"({call.model}, {call.purpose}) may take {wanted.cost:.4f}"
            )
        if self.limits.max_tokens is not None:
            parts.append(
                f"{self.limits.max_tokens:,} tokens: {spent.calls} calls took {spent.tokens:,}, the next one "
                f"({call.model}, {call.purpose}) may take {wanted.tokens:,}"
            )
        unknown = f"; {spent.unknown} more calls had a price that is not known" if spent.unknown else ""
        return f"the budget is reached, and no further call is made ({'; '.join(parts)}{unknown})."


def _may_take(calls: Iterable[CallInFlight]) -> Sum:
    return sum((Sum(call.may_cost_usd or 0.0, call.may_take_tokens, 1) for call in calls), Sum())


def _taken(row: LedgerRow) -> Sum:
    """What a row adds: as the provider counted it, or what was reserved where it may have been paid uncounted."""
    if row.status == "cached" or row.litellm_model.startswith(SCRIPTED_PREFIX):
        return Sum()
    if row.status == "error" and row.may_cost_usd is None and row.may_take_tokens is None:
        return Sum()
    known = row.price_usd if row.price_usd is not None else row.may_cost_usd
    counted = (row.input_tokens or 0) + (row.output_tokens or 0)
    tokens = counted if row.input_tokens is not None else row.may_take_tokens or 0
    taken = Sum(cost=known or 0.0, tokens=tokens, calls=1)
    return taken if known is not None else replace(taken, unknown=1)


def spent(storage: Path, since: str = "") -> Sum:
    """What all calls from ``since`` on took."""
    return sum((_taken(row) for row in LedgerTail(storage).new_rows() if row.time >= since), Sum())
