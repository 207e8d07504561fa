"""What calls took so far, from the ledger: the base of every guess at what the next one takes.

A guess from nothing is a poor one. It is good enough to let a first call through, and from then on what the
provider counted counts: models differ in how much they think, and tokenizers in how they cut.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field
from statistics import fmean

from deepchart_dagster.llm.ledger import LedgerRow
from deepchart_dagster.llm.model import Purpose

# Output tokens of one call, thinking included, where nothing is known of the model: (low, expected, high).
_UNSEEN: dict[Purpose, tuple[int, int, int]] = {
    "stage1": (600, 3000, 12_000),
    "stage2": (800, 3500, 12_000),
    "rubric": (150, 800, 4000),
    "judge": (1, 50, 1000),
}
# Tokenizers differ from the one we count with where a model's own is not at hand.
_UNSEEN_RATIO = (0.9, 1.0, 1.25)
_KEPT = 200


@dataclass(frozen=True)
class OutputTokens:
    """``calls``: from how many calls this is known; 0: a guess from nothing."""

    low: int
    expected: int
    high: int
    calls: int


@dataclass(frozen=True)
class Ratio:
    low: float
    expected: float
    high: float


@dataclass
class _Seen:
    outputs: deque[int] = field(default_factory=lambda: deque(maxlen=_KEPT))
    ratios: deque[float] = field(default_factory=lambda: deque(maxlen=_KEPT))


class UsageHistory:
    """The last calls of every model and purpose."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, Purpose], _Seen] = {}

    def add(self, row: LedgerRow) -> None:
        """Takes note of what a provider counted; answers from the cache are old news."""
        if row.status != "ok" or row.output_tokens is None:
            return
        seen = self._seen.setdefault((row.litellm_model, row.purpose), _Seen())
        seen.outputs.append(row.output_tokens)
        if row.input_tokens and row.counted_input_tokens:
            seen.ratios.append(row.input_tokens / row.counted_input_tokens)

    def output(self, litellm_model: str, purpose: Purpose) -> OutputTokens:
        """The tenth, the mean and the largest of what was seen."""
        seen = self._seen.get((litellm_model, purpose))
        if seen is None or not seen.outputs:
            low, expected, high = _UNSEEN[purpose]
            return OutputTokens(low, expected, high, calls=0)
        ordered = sorted(seen.outputs)
        return OutputTokens(
            low=ordered[len(ordered) // 10],
            expected=round(fmean(ordered)),
            high=ordered[-1],
            calls=len(ordered),
        )

    def input_ratio(self, litellm_model: str, purpose: Purpose) -> Ratio:
        """How the provider's count of an input compares with ours."""
        seen = self._seen.get((litellm_model, purpose))
        if seen is None or not seen.ratios:
            return Ratio(*_UNSEEN_RATIO)
        return Ratio(min(seen.ratios), fmean(seen.ratios), max(seen.ratios))

    def input_tokens(self, litellm_model: str, purpose: Purpose, counted: int) -> int:
        """What the provider may count where we count ``counted``: at the largest ratio that was seen."""
        seen = self._seen.get((litellm_model, purpose))
        return math.ceil(counted * max(seen.ratios)) if seen is not None and seen.ratios else counted
