"""Asking a model: from the response cache, or through litellm, one at a time for the same key, never paid twice.

An answer is written to the cache before anything else happens with it: a kill at any moment loses at most
the calls in flight. Every attempt leaves a row in the ledger.

Scripted models are always asked anew: they cost nothing, and their code can change without its version.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from deepchart_dagster.artifacts.canonical import InputKey, canonical_json
from deepchart_dagster.artifacts.results import utc_now
from deepchart_dagster.errors import ProviderError, ProviderRefusedRequest, StorageError
from deepchart_dagster.llm.budget import Budget, Expected, Limits
from deepchart_dagster.llm.cache import AnswerCache, StoredAnswer, summarised_parts
from deepchart_dagster.llm.event_loop import loop_state
from deepchart_dagster.llm.in_flight import CallInFlight, recorded
from deepchart_dagster.llm.ledger import AttemptStatus, Ledger, LedgerRow
from deepchart_dagster.llm.litellm_call import Received, dropped_parameters, send, sent_parameters
from deepchart_dagster.llm.litellm_library import litellm_is_loaded, litellm_library
from deepchart_dagster.llm.model import ChatAnswer, ChatRequest, Usage, price_usd
from deepchart_dagster.llm.picture_store import PictureStore
from deepchart_dagster.llm.places import place_at
from deepchart_dagster.llm.provider_errors import Trouble, is_out_of_breath, shortened, trouble
from deepchart_dagster.llm.registry import ModelSpec, ProviderLimit
from deepchart_dagster.llm.retry import RetryPolicy
from deepchart_dagster.llm.wire import to_wire

log = logging.getLogger(__name__)

# litellm's objects of a call are a circle that holds what was sent, and bytes do not bring the collector round: of
# sixteen reports 0.6 GB were left lying. A collection takes some 50 ms.
_LARGE_BYTES = 10_000_000
# Of an error on a line about another attempt; the ledger has all of it.
_LONGEST_SAID = 160


@dataclass(frozen=True)
class _Call:
    """One request on its way. ``dropped``: parameters that its provider does not know and will not see;
    ``expected``: what it may take, where a budget wants to know; ``addresses``: of its pictures, by sha256, where they
    are not sent along."""

    request: ChatRequest
    key: InputKey
    dropped: tuple[str, ...]
    expected: Expected | None = None
    addresses: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def model(self) -> ModelSpec:
        return self.request.model

    @property
    def size(self) -> int:
        """What is sent: characters of the texts, bytes of the pictures that are sent along."""
        sent = (picture for picture in self.request.pictures if picture.sha256 not in self.addresses)
        return sum(map(len, self.request.texts)) + sum(picture.size for picture in sent)

    def row(self, *, attempt: int, status: AttemptStatus, seconds: float) -> LedgerRow:
        return LedgerRow(
            time=utc_now(),
            model=self.model.slug,
            litellm_model=self.model.litellm_model,
            purpose=self.request.purpose,
            key=self.key.digest,
            attempt=attempt,
            status=status,
            seconds=round(seconds, 3),
            dropped_parameters=self.dropped,
            about=self.request.about,
            counted_input_tokens=self.expected.counted if self.expected else None,
        )

    def may_have_taken(self) -> dict[str, float | int | None]:
        """For the row of an attempt that may have been paid without a word on how much."""
        return self.expected.on_record() if self.expected else {}

    def in_flight(self, attempt: int) -> CallInFlight:
        return CallInFlight(
            key=self.key.digest,
            model=self.model.slug,
            purpose=self.request.purpose,
            about=self.request.about,
            attempt=attempt,
            since=utc_now(),
            timeout_s=self.model.timeout_s,
            process=os.getpid(),
        )


class LiteLLMClient:
    """Implements llm.model.ChatModel over one storage root. Safe among tasks, threads and processes.

    ``providers``: the limits of models.yaml by provider. ``limits``: what all calls together may take.
    ``pictures``: where pictures are put for providers to read; None: they are sent along.
    """

    def __init__(
        self,
        storage: Path,
        *,
        retry: RetryPolicy | None = None,
        providers: Mapping[str, ProviderLimit] | None = None,
        limits: Limits | None = None,
        pictures: PictureStore | None = None,
    ) -> None:
        self._storage = storage
        self._retry = retry or RetryPolicy()
        self._providers = dict(providers or {})
        self._budget = Budget(storage, limits) if limits else None
        self._pictures = pictures
        self._cache = AnswerCache(storage)
        self._ledger = Ledger(storage)
        self._dropped: dict[str, tuple[str, ...]] = {}

    async def complete(self, request: ChatRequest) -> ChatAnswer:
        """The answer, paid at most once. An empty answer comes back as "": the stage decides what it means.

        Raises ProviderError (or a subclass) when all attempts failed, BudgetReached where the call would have
        exceeded the budget, StorageError when nothing can be kept or a picture cannot be uploaded.
        """
        key = request.key()
        if request.model.scripted:
            return _answer(await self._ask(request, key), request.model, cached=False)
        begun = time.monotonic()
        stored = await self._stored(key)
        if stored is None:
            async with self._cache.asking(key.digest):
                stored = await self._stored(key)
                if stored is None:
                    return _answer(await self._ask(request, key), request.model, cached=False)
        self._note_cached(_Call(request, key, stored.dropped_parameters), stored, time.monotonic() - begun)
        return _answer(stored, request.model, cached=True)

    async def _stored(self, key: InputKey) -> StoredAnswer | None:
        # Reading may wait for the disk; that there is nothing to read is known at once.
        return await asyncio.to_thread(self._cache.get, key.digest) if self._cache.path(key.digest).exists() else None

    async def _ask(self, request: ChatRequest, key: InputKey) -> StoredAnswer:
        if not litellm_is_loaded():  # before the clock runs, and beside the loop: importing it takes seconds
            await asyncio.to_thread(litellm_library)
        addresses = await self._addresses(request)
        asked = _Call(request, key, self._dropped_parameters(request), addresses=addresses)
        size = asked.size
        state = await loop_state()
        gate, streak = state.gate(request.model), state.streak(request.model)
        # The place is kept while waiting to try again: a model that is out of breath is asked less.
        async with gate.place():
            errors: list[ProviderError] = []
            while True:
                streak.raise_if_long()
                attempt = len(errors) + 1
                async with state.room.holding(size), self._in_flight(asked, attempt) as call:
                    begun = time.monotonic()
                    result = await self._attempt(call, attempt=attempt)
                    seconds = time.monotonic() - begun
                    if size > _LARGE_BYTES:
                        gc.collect()
                    if isinstance(result, Received):
                        gate.pace.answered()
                        streak.answered()
                        return await self._keep(call, result, attempt=attempt, seconds=seconds)
                    errors.append(result.error)
                    if is_out_of_breath(result.error):
                        gate.pace.refused()
                    wait_s = self._retry.wait_s(errors, result.retry_after_s, gate.pace.silent_s)
                    wait_s = None if streak.goes_on_with(result.error) else wait_s
                    self._note_failed(call, errors, wait_s, seconds)
                if wait_s is None:
                    streak.given_up(result.error)
                    raise result.error
                await asyncio.sleep(wait_s)

    async def _addresses(self, request: ChatRequest) -> dict[str, str]:
        if self._pictures is None or request.model.scripted:
            return {}
        return await asyncio.to_thread(self._pictures.addresses, request.pictures)

    @asynccontextmanager
    async def _in_flight(self, call: _Call, attempt: int) -> AsyncIterator[_Call]:
        """One of the provider's places, and the record that others see, until the attempt stands in the ledger."""
        state = await loop_state()
        async with AsyncExitStack() as held:
            limit = self._providers.get(call.model.provider)
            if limit is not None:
                turn = state.turn(call.model.provider)
                place = place_at(self._storage, call.model.provider, limit.concurrency, turn)
                await held.enter_async_context(place)
            if call.model.scripted:
                yield call
                return
            record = call.in_flight(attempt)
            if self._budget is None:
                held.enter_context(recorded(self._storage, record))
            else:
                counted = await self._budget.count(call.request)
                reserved = self._budget.reserved(record, call.request, counted)
                call = replace(call, expected=await held.enter_async_context(reserved))
            held.enter_context(state.watch.over(record))
            yield call

    async def _attempt(self, call: _Call, *, attempt: int) -> Received | Trouble:
        messages = await _as_sent(call)
        begun = time.monotonic()
        try:
            # One asynchronous path of litellm ignores its time-out: this cap holds on all of them.
            return await asyncio.wait_for(send(call.request, messages, self._storage), call.model.timeout_s)
        except asyncio.CancelledError:
            row = call.row(attempt=attempt, status="cancelled", seconds=time.monotonic() - begun)
            self._ledger.append(row.model_copy(update=call.may_have_taken()))
            raise
        except Exception as raised:  # noqa: BLE001 - whatever a provider's library raises becomes an error of ours
            return trouble(call.model, raised)

    async def _keep(self, call: _Call, received: Received, *, attempt: int, seconds: float) -> StoredAnswer:
        stored = StoredAnswer(
            key=call.key.digest,
            model=call.model.litellm_model,
            purpose=call.request.purpose,
            text=received.text,
            finish_reason=received.finish_reason,
            input_tokens=received.usage.input_tokens,
            output_tokens=received.usage.output_tokens,
            seconds=round(seconds, 3),
            answered_at=utc_now(),
            answered_by=received.answered_by,
            dropped_parameters=call.dropped,
            parts=summarised_parts(call.request, call.key.parts),
        )
        row = call.row(attempt=attempt, status="ok", seconds=seconds)
        price = price_usd(call.model.prices, received.usage)
        unsaid = {} if received.usage.input_tokens is not None else call.may_have_taken()
        row = row.model_copy(update={**_facts(stored, price), **unsaid})
        if not call.model.scripted:
            try:
                await asyncio.to_thread(self._cache.put, stored)
            except StorageError:
                with suppress(StorageError):  # it was paid: a row may fit where the answer does not
                    self._ledger.append(row)
                raise
        self._ledger.append(row)
        return stored

    def _note_cached(self, call: _Call, stored: StoredAnswer, seconds: float) -> None:
        row = call.row(attempt=0, status="cached", seconds=seconds)
        self._ledger.append(row.model_copy(update=_facts(stored, 0.0)))

    def _note_failed(self, call: _Call, errors: list[ProviderError], wait_s: float | None, seconds: float) -> None:
        error = errors[-1]
        next_step = "given up" if wait_s is None else f"again in {wait_s:.1f} s"
        # The last error comes back as the instance's: as a warning it would be told twice.
        level = logging.INFO if wait_s is None else logging.WARNING
        which = f"{call.request.about}, attempt" if call.request.about else "attempt"
        said = shortened(error.message, _LONGEST_SAID)
        log.log(level, "%s %d: %s: %s (%s)", which, len(errors), type(error).__name__, said, next_step)
        row = call.row(attempt=len(errors), status="error", seconds=seconds)
        update = {
            "error": type(error).__name__,
            "http_status": error.status,
            "message": error.message,
            "retry_in_s": None if wait_s is None else round(wait_s, 3),
            # A provider that says no takes nothing; one that falls silent may have worked.
            **({} if error.status or isinstance(error, ProviderRefusedRequest) else call.may_have_taken()),
        }
        self._ledger.append(row.model_copy(update=update))

    def _dropped_parameters(self, request: ChatRequest) -> tuple[str, ...]:
        """Worked out, and said in the log, once for each model and set of parameters."""
        parameters = sent_parameters(request)
        name = canonical_json([request.model.litellm_model, request.model.api_base, parameters])
        if name not in self._dropped:
            dropped = self._dropped[name] = dropped_parameters(request.model, parameters)
            if dropped:
                log.warning("%s does not know %s: not sent.", request.model.litellm_model, ", ".join(dropped))
        return self._dropped[name]


async def _as_sent(call: _Call) -> list[dict[str, Any]]:
    """Raises MissingInputError, UpstreamError for a picture that is gone or was changed."""
    if not call.request.pictures:
        return to_wire(call.request.messages)
    # Pictures are read and encoded beside the loop: those of a report take a second.
    return await asyncio.to_thread(to_wire, call.request.messages, call.addresses)


def _facts(stored: StoredAnswer, price: float | None) -> dict[str, object]:
    return {
        "input_tokens": stored.input_tokens,
        "output_tokens": stored.output_tokens,
        "finish_reason": stored.finish_reason,
        "price_usd": price,
    }


def _answer(stored: StoredAnswer, model: ModelSpec, *, cached: bool) -> ChatAnswer:
    usage = Usage(input_tokens=stored.input_tokens, output_tokens=stored.output_tokens)
    return ChatAnswer(
        text=stored.text,
        finish_reason=stored.finish_reason,
        usage=usage,
        price_usd=price_usd(model.prices, usage),
        seconds=stored.seconds,
        cached=cached,
        key=stored.key,
        dropped_parameters=stored.dropped_parameters,
    )
