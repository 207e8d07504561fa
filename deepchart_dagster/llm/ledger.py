"""The call ledger: one row an attempt, and one for every answer that the cache gave.

    storage/llm/ledger/<day>-<process>.jsonl

Each process appends to a file of its own, a whole line a write: nobody waits for anybody, and a kill can
tear only a file's last line. Prices are US dollars at the time of the call, null where unknown; what the
cache gave cost 0. Messages hold no secrets (llm.redaction).
"""

from __future__ import annotations

import errno
import logging
import os
import uuid
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from deepchart_dagster.artifacts.files import storage_errors
from deepchart_dagster.llm.model import FinishReason, Purpose

log = logging.getLogger(__name__)

AttemptStatus = Literal["ok", "cached", "error", "cancelled"]


class LedgerRow(BaseModel):
    """One attempt.

    time               UTC, when the attempt ended
    attempt            counted from 1 within one request; 0 for an answer from the cache
    price_usd          None where unknown
    error              class name in errors.py; http_status where there was one
    retry_in_s         the wait before the next attempt; None where there is none
    about              the instance
    counted_input_tokens         the input as we counted it before the call, where a budget had it counted
    may_cost_usd, may_take_tokens    what a budget counts for an attempt that the provider may have been paid for
                                 without a word on how much (no usage, a time-out, cancelled)
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    time: str
    model: str
    litellm_model: str
    purpose: Purpose
    key: str
    attempt: int
    status: AttemptStatus
    seconds: float
    input_tokens: int | None = None
    output_tokens: int | None = None
    price_usd: float | None = None
    finish_reason: FinishReason | None = None
    error: str | None = None
    http_status: int | None = None
    message: str | None = None
    retry_in_s: float | None = None
    dropped_parameters: tuple[str, ...] = ()
    about: str = ""
    counted_input_tokens: int | None = None
    may_cost_usd: float | None = None
    may_take_tokens: int | None = None

    @property
    def cached(self) -> bool:
        return self.status == "cached"


class Ledger:
    """Appends to the file of this process and day."""

    def __init__(self, storage: Path) -> None:
        self._folder = ledger_folder(storage)
        self._token = uuid.uuid4().hex[:6]

    def append(self, row: LedgerRow) -> None:
        """Raises StorageError (no permission, disk full)."""
        # The process number is asked for each time: a forked child must not share its parent's file.
        path = self._folder / f"{row.time[:10]}-{os.getpid()}-{self._token}.jsonl"
        line = (row.model_dump_json() + "\n").encode()
        with storage_errors(path, "append to"):
            self._folder.mkdir(parents=True, exist_ok=True)
            with path.open("ab", buffering=0) as stream:
                written = stream.write(line)
                if written < len(line):  # the disk is full: half a row would make the next one unreadable as well
                    stream.truncate(stream.tell() - written)
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))


def ledger_folder(storage: Path) -> Path:
    return storage / "llm" / "ledger"


class LedgerTail:
    """Reads the rows of all processes, each once, as they come in. A line without its end is left for later."""

    def __init__(self, storage: Path) -> None:
        self._folder = ledger_folder(storage)
        self._read: dict[Path, int] = {}

    def new_rows(self) -> Iterator[LedgerRow]:
        """Raises StorageError. What is no row is passed over: read_ledger names it."""
        for path in sorted(self._folder.glob("*.jsonl")):
            for line in self._new_lines(path):
                with suppress(ValidationError):
                    yield LedgerRow.model_validate_json(line)

    def _new_lines(self, path: Path) -> list[bytes]:
        begin = self._read.get(path, 0)
        with storage_errors(path, "read"):
            if path.stat().st_size <= begin:
                return []
            with path.open("rb") as stream:
                stream.seek(begin)
                data = stream.read()
        whole = data[: data.rfind(b"\n") + 1]
        self._read[path] = begin + len(whole)
        return whole.splitlines()


def read_ledger(storage: Path) -> Iterator[LedgerRow]:
    """All rows, file by file in order of day. A torn last line is passed over; any other bad one is logged."""
    for path in sorted(ledger_folder(storage).glob("*.jsonl")):
        with storage_errors(path, "read"):
            lines = path.read_bytes().splitlines(keepends=True)
        for number, line in enumerate(lines, start=1):
            try:
                yield LedgerRow.model_validate_json(line)
            except ValidationError as error:
                if line.endswith(b"\n"):
                    log.warning("%s, line %d: no ledger row (%s); passed over.", path, number, error.errors()[0]["msg"])
