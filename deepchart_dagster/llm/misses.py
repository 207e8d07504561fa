"""Whether a request's answer is stored, and if not, in what it differs from the one that was answered before."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue

from deepchart_dagster.artifacts.canonical import changed_parts
from deepchart_dagster.llm.cache import AnswerCache, summarised_parts
from deepchart_dagster.llm.ledger import LedgerTail
from deepchart_dagster.llm.model import ChatRequest


@dataclass(frozen=True)
class AnswerState:
    """``before`` is the key of the latest other answer to the same purpose about the same instance by the same entry of
    models.yaml; ``changed`` names the parts of the two keys that differ: (before, now)."""

    key: str
    stored: bool
    before: str | None
    changed: dict[str, tuple[JsonValue, JsonValue]]

    def as_json(self) -> dict[str, JsonValue]:
        changed: dict[str, JsonValue] = {name: [old, new] for name, (old, new) in self.changed.items()}
        return {"key": self.key, "stored": self.stored, "before": self.before, "changed": changed}

    def as_text(self) -> str:
        if self.stored:
            return f"the answer is stored: {self.key}"
        if self.before is None:
            return f"no answer is stored: {self.key}"
        lines = [f"no answer is stored: {self.key}; the one before is {self.before}, which differs in"]
        lines += [f"    {name}: {old!s} -> {new!s}" for name, (old, new) in self.changed.items()]
        return "\n".join(lines if self.changed else [f"no answer is stored: {self.key}"])


def answer_state(storage: Path, request: ChatRequest) -> AnswerState:
    """Reads files only. Raises StorageError. A scripted model's answers are never stored."""
    key, cache = request.key(), AnswerCache(storage)
    if request.model.scripted or cache.get(key.digest) is not None:
        return AnswerState(key.digest, not request.model.scripted, None, {})
    before = _answered_before(storage, request, key.digest)
    old = cache.get(before) if before else None
    if old is None:
        return AnswerState(key.digest, False, None, {})
    now = summarised_parts(request, key.parts)
    return AnswerState(key.digest, False, before, changed_parts(dict(_leaves(old.parts)), dict(_leaves(now))))


def _answered_before(storage: Path, request: ChatRequest, key: str) -> str | None:
    if not request.about:
        return None
    wanted = (request.about, request.purpose, request.model.slug)
    rows = (
        row
        for row in LedgerTail(storage).new_rows()
        if row.status in ("ok", "cached") and row.key != key and (row.about, row.purpose, row.model) == wanted
    )
    latest = max(rows, key=lambda row: row.time, default=None)
    return latest.key if latest else None


def _leaves(value: JsonValue, name: str = "") -> Iterator[tuple[str, JsonValue]]:
    """messages[1].parts[0].text_sha256 and the like, so that a change is named where it is."""
    if isinstance(value, dict):
        for member, inside in value.items():
            yield from _leaves(inside, f"{name}.{member}" if name else member)
    elif isinstance(value, list):
        for index, inside in enumerate(value):
            yield from _leaves(inside, f"{name}[{index}]")
    else:
        yield name, value
