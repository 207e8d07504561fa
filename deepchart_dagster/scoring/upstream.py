"""The published harness's scorer, for comparison (design: upstream; ``--scorer upstream``).

It differs from the paper's rule in four ways, each of which costs a perfect prediction:

* every leaf of a reference JSON counts, so derived values are compared with source values too;
* a reference that is no JSON is scanned for number tokens, and a comma between two CSV cells joins them;
* each reference takes the nearest unused prediction in reading order, which is no maximum matching;
* two empty sides count 1.0.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections import defaultdict, deque
from collections.abc import Sequence

from deepchart_dagster.artifacts.bounded_json import decoded, load_json
from deepchart_dagster.benchmark.numbers import leaves, number_of
from deepchart_dagster.scoring.matching import Pair, accepts
from deepchart_dagster.scoring.tables import REFERENCE_MAX_BYTES

# An optional minus, a digit, a run of digits and commas, an optional point, one more digit; or else a
# single run of digits.
_TOKEN = re.compile(r"-?\d[\d,]*\.?\d+|\d+")


def upstream_leaves(value: object) -> list[float]:
    """Numeric leaves, where a string is whatever Python's float() takes once commas are removed."""
    numbers = (_loose_number(leaf) if isinstance(leaf, str) else number_of(leaf) for leaf in leaves(value))
    return [number for number in numbers if number is not None]


def _loose_number(text: str) -> float | None:
    try:
        number = float(text.replace(",", ""))
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def upstream_reference(data: bytes, suffix: str, *, name: str = "the reference") -> list[float]:
    """Raises BenchmarkFormatError for a file that cannot be read."""
    if suffix.lower() == ".json":
        return upstream_leaves(load_json(data, name=name, max_bytes=REFERENCE_MAX_BYTES))
    tokens = (float(token.replace(",", "")) for token in _TOKEN.findall(decoded(data, name=name)))
    return [number for number in tokens if math.isfinite(number)]


def match_nearest(reference: Sequence[float], predicted: Sequence[float]) -> list[Pair]:
    """For each reference in order, the nearest unused prediction within the tolerance; on a tie the first."""
    unused = _Unused(predicted)
    return [
        Pair(index, position)
        for index, value in enumerate(reference)
        if (position := unused.take_nearest(value)) is not None
    ]


class _Unused:
    """The predictions not taken yet, as distinct values in order, with links that skip spent ones."""

    def __init__(self, predicted: Sequence[float]) -> None:
        positions: defaultdict[float, deque[int]] = defaultdict(deque)
        for position, value in enumerate(predicted):
            positions[value].append(position)
        self._values = sorted(positions)
        self._positions = [positions[value] for value in self._values]
        # Slots are shifted by one, so that 0 and n + 1 are ends that no value has.
        self._below = list(range(len(self._values) + 2))
        self._above = list(range(len(self._values) + 2))

    def take_nearest(self, reference: float) -> int | None:
        slot = bisect_left(self._values, reference) + 1
        neighbours = (_follow(self._below, slot - 1), _follow(self._above, slot))
        candidates = [
            (abs(self._values[near - 1] - reference), self._positions[near - 1][0], near)
            for near in neighbours
            if 0 < near <= len(self._values) and accepts(reference, self._values[near - 1])
        ]
        return self._take(min(candidates)[2]) if candidates else None

    def _take(self, slot: int) -> int:
        position = self._positions[slot - 1].popleft()
        if not self._positions[slot - 1]:
            self._below[slot] = slot - 1
            self._above[slot] = slot + 1
        return position


def _follow(links: list[int], slot: int) -> int:
    """The slot that ``links`` lead to from ``slot``; the path is shortened for the next time."""
    end = slot
    while links[end] != end:
        end = links[end]
    while links[slot] != end:
        links[slot], slot = end, links[slot]
    return end
