"""One attempt: ask a model for a program, find it in the answer, run it. Both stages are made of attempts.

What the model did wrong ends the attempt with a ``Failure``; what went wrong on our side is an exception of
errors.py. ``messages.json``, ``answer.txt`` and the program are written as soon as they are known, so that a
failure can be looked at.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, ParamSpec

from pydantic import JsonValue

from deepchart_dagster.artifacts.files import write_json, write_text
from deepchart_dagster.artifacts.interrupts import in_thread
from deepchart_dagster.artifacts.results import Outcome
from deepchart_dagster.benchmark.library import Library
from deepchart_dagster.benchmark.model import CodeType, Instance, Query, Split
from deepchart_dagster.contexts.tokens import TokenCounter
from deepchart_dagster.errors import SandboxUnavailable
from deepchart_dagster.execution.model import Limits, Program, ProgramRunner, RunResult, RunStatus
from deepchart_dagster.generation.answers import Code, extract_code, language_of
from deepchart_dagster.llm.model import ChatAnswer, ChatModel, ChatRequest, ImagePart, Message, TextPart
from deepchart_dagster.llm.pace import Room
from deepchart_dagster.llm.registry import ModelSpec

MESSAGES_NAME = "messages.json"
ANSWER_NAME = "answer.txt"
PROGRAM_NAMES = {CodeType.PYTHON: "program.py", CodeType.HTML: "program.html"}

MESSAGES_FORMAT = "deepchart-messages/1"

# Twenty-five contexts of 1.2 million tokens. Each is there once, or several times while its request is prepared.
_TEXT_BYTES = 125_000_000
# Few: or the first call would wait for a thread until all requests are made.
_PREPARED_AT_ONCE = 4

_Arguments = ParamSpec("_Arguments")


@dataclass(frozen=True)
class Failure:
    """Why an attempt ended without a result; kinds are listed in docs/architecture.md."""

    kind: str
    message: str

    def outcome(self, observations: Mapping[str, JsonValue]) -> Outcome:
        return Outcome.failed(self.kind, self.message).model_copy(update={"observations": dict(observations)})


@dataclass(frozen=True)
class Gates:
    """How much goes on at once in one step: texts in memory, requests being made, and programs with a thread each.

    How many calls are made at once is the client's business: it knows how its provider feels.

    A pool of its own, since the event loop's has a handful of threads, whatever ``workers`` says. Its threads
    start with the first program: making one costs nothing.
    """

    texts: Room
    preparing: asyncio.Semaphore
    programs: ThreadPoolExecutor

    @classmethod
    def of(cls, *, programs: int) -> Gates:
        return cls(
            texts=Room(_TEXT_BYTES),
            preparing=asyncio.Semaphore(_PREPARED_AT_ONCE),
            programs=ThreadPoolExecutor(max_workers=programs, thread_name_prefix="program"),
        )

    async def prepared(
        self, prepare: Callable[_Arguments, ChatRequest], *args: _Arguments.args, **kwargs: _Arguments.kwargs
    ) -> ChatRequest:
        """What ``prepare`` makes, in a thread: reading and counting a long context takes seconds."""
        async with self.preparing:
            return await in_thread(prepare, *args, **kwargs)


def instances_at_once(model: ModelSpec, workers: int) -> int:
    """More than calls and programs: the next requests are ready, and what came of the last ones is being written,
    while all of the model's places are taken."""
    return model.concurrency + math.ceil(model.concurrency / 4) + workers


@dataclass(frozen=True)
class Asked:
    """What a model's answer came to, and what the call took (observations of the result).

    ``backend`` is what was asked for, or what the model chose; None where there is no program to tell.
    """

    code: Code | Failure
    backend: CodeType | None
    observations: dict[str, JsonValue]


@dataclass(frozen=True)
class Attempt:
    """How an attempt ended: with the bytes that the program left, or not."""

    ended: Made | Failure
    observations: dict[str, JsonValue]


@dataclass(frozen=True)
class Made:
    """``output`` is JSON (stage 1) or a PNG (stage 2); ``drawn`` what the chart draws, where it could be seen."""

    output: bytes
    drawn: JsonValue


def asked_instances(library: Library, split: Split, model: ModelSpec) -> list[Instance]:
    """What ``model`` can be asked in ``split``: nothing where it does not speak the split's protocol."""
    if not model.speaks(split.modality):
        return []
    return [instance for instance in library.instances(split) if model.knows(instance.query.benchmark)]


def first_backend(query: Query) -> CodeType:
    """The code type a query is asked in unless somebody chooses: Python where it allows Python."""
    if CodeType.PYTHON in query.code_types or not query.code_types:
        return CodeType.PYTHON
    return query.code_types[0]


def intent_of(query: Query, code_type: CodeType) -> dict[str, JsonValue]:
    """The intent as prompts name it; None where the source has no type or layout."""
    return {
        "chart_type": query.chart_type,
        "chart_purpose": query.purpose_for(code_type),
        "chart_layout": query.chart_layout,
    }


def text_tokens(messages: Sequence[Message], counter: TokenCounter) -> int:
    """Tokens of the texts of ``messages``, as contexts.tokens counts them."""
    return sum(counter.count(part.text) for message in messages for part in message.parts if isinstance(part, TextPart))


def write_messages(folder: Path, messages: Sequence[Message], given: Mapping[str, JsonValue]) -> None:
    """``messages.json``: texts as sent, pictures by the hash of their bytes; ``given`` is what was counted and cut."""
    record = {"format": MESSAGES_FORMAT, "messages": messages_json(messages), "input": dict(given)}
    write_json(folder / MESSAGES_NAME, record, sync=False)


def messages_json(messages: Sequence[Message]) -> list[JsonValue]:
    return [{"role": message.role, "parts": [_part(part) for part in message.parts]} for message in messages]


def _part(part: TextPart | ImagePart) -> dict[str, JsonValue]:
    if isinstance(part, TextPart):
        return {"text": part.text}
    return {"image": part.sha256, "media_type": part.media_type, "width": part.width, "height": part.height}


@dataclass(frozen=True)
class Asking:
    """The collaborators of an attempt.

    stage     1 (J) or 2 (chart)
    backend   Python in stage 1; None where the model chooses (paper, 5.4)
    """

    client: ChatModel
    runner: ProgramRunner
    limits: Limits
    gates: Gates
    stage: Literal[1, 2]
    backend: CodeType | None

    async def ask(self, request: ChatRequest, folder: Path) -> Asked:
        """Leaves answer.txt and the program in ``folder``. Raises ProviderError, StorageError."""
        answer = await self.client.complete(request)
        # Writing waits for the disk: other calls go on meanwhile.
        return await in_thread(self._read, answer, folder)

    def _read(self, answer: ChatAnswer, folder: Path) -> Asked:
        # What an instance leaves is checked by its size before it is used, and the answer is in the response cache.
        write_text(folder / ANSWER_NAME, answer.text, sync=False)
        observed = _observed_of_answer(answer)
        backend = self.backend or language_of(answer.text)
        code = program_in(answer, backend)
        if isinstance(code, Failure):
            return Asked(code=code, backend=self.backend, observations=observed)
        write_text(folder / PROGRAM_NAMES[backend], code.source, sync=False)
        return Asked(code=code, backend=backend, observations={**observed, "code_origin": code.origin})

    async def run(self, asked: Asked) -> Attempt:
        """Runs what was found. Raises SandboxUnavailable, BrowserUnavailable: ours, never the model's."""
        if isinstance(asked.code, Failure):
            return Attempt(ended=asked.code, observations=asked.observations)
        backend = asked.backend or CodeType.PYTHON
        program = Program(source=asked.code.source, stage=self.stage, backend=backend, limits=self.limits)
        loop = asyncio.get_running_loop()
        result = await loop.run_in_executor(self.gates.programs, self.runner.run, program)
        if result.status is RunStatus.REFUSED:
            raise SandboxUnavailable(
                f"the program was not run: {result.message or 'no sandbox on this host can hold it'}.",
                remedy="deepchart doctor says which sandbox tiers this host has.",
            )
        return Attempt(ended=_ended(result), observations={**asked.observations, **_observed_of_run(result)})


def program_in(answer: ChatAnswer, language: CodeType) -> Code | Failure:
    """The program in an answer, or why there is none.

    A complete program counts even where the provider says that the answer was cut off or filtered later on.
    """
    code = extract_code(answer.text, language)
    if answer.finish_reason == "length" and (code is None or _may_be_cut(code, language)):
        return Failure("truncated", "the answer ends at the model's output limit, inside the program or before it")
    if answer.finish_reason == "refusal" and code is None:
        return Failure("refusal", "the model or its provider declined to answer")
    if not answer.text.strip():
        return Failure("empty_answer", "the model answered with nothing")
    if code is None:
        return Failure("no_code", f"no {language.value} program could be found in the answer")
    return code


def _may_be_cut(code: Code, language: CodeType) -> bool:
    """A closed fence or ``</html>`` proves that the program has its end; unfenced Python proves nothing."""
    return not code.complete or (language is CodeType.PYTHON and code.origin in ("whole", "after_preamble"))


def _ended(result: RunResult) -> Made | Failure:
    if result.status is RunStatus.OK and result.output:
        return Made(output=result.output, drawn=result.drawn)
    kind = RunStatus.NO_OUTPUT if result.status is RunStatus.OK else result.status
    last_line = next((line.strip() for line in reversed(result.stderr_tail.splitlines()) if line.strip()), "")
    said = result.message or last_line or f"exit code {result.exit_code}, signal {result.signal}"
    return Failure(kind.value, f"the program ended with {kind.value}: {said}")


def _observed_of_answer(answer: ChatAnswer) -> dict[str, JsonValue]:
    """``calls`` and ``price_usd`` are what this run took; tokens and ``answer_price_usd`` belong to the answer."""
    return {
        "calls": 0 if answer.cached else 1,
        "price_usd": answer.paid_usd,
        "answer_price_usd": answer.price_usd,
        "input_tokens": answer.usage.input_tokens,
        "output_tokens": answer.usage.output_tokens,
        "call_seconds": answer.seconds,
        "finish_reason": answer.finish_reason,
        "answer_key": answer.key,
        "dropped_parameters": list(answer.dropped_parameters),
    }


def _observed_of_run(result: RunResult) -> dict[str, JsonValue]:
    return {
        "program_seconds": result.wall_s,
        "cpu_s": result.cpu_s,
        "max_rss_mb": result.max_rss_mb,
        "tier": result.tier,
        "exit_code": result.exit_code,
        "signal": result.signal,
        "stderr_tail": result.stderr_tail,
        **({"requests": [asdict(request) for request in result.requests]} if result.requests else {}),
    }
