"""One-to-one matching of predicted and reference values (paper, appendix B.2), exact and fast.

A prediction p matches a reference r where |p - r| <= 1e-4 * |r|; for r == 0 that is p == 0. The
matching is a maximum one: no other assignment pairs more values, and the order in which values are
given does not matter. (Giving each reference its nearest free prediction in reading order is neither.)

Sorting both sides and walking through them once is enough, because both ends of the interval that a
reference accepts, r ± 1e-4 * |r|, grow with r. Take the smallest reference and the smallest prediction
left. If they match, pairing them is safe: every other reference that accepts this prediction also
reaches at least as far up as this one. If the prediction lies below the interval, it lies below all
later ones; if above, so do all later predictions. One of the two can go: O(n log n) for sorting, the
rest linear. Rounding does not break this: near r the difference p - r is exact (Sterbenz), and the
rounding of 1e-4 * |r| is smaller than the distance to the next reference.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

TOLERANCE = 1e-4


class Pair(NamedTuple):
    """Positions in the sequences that were given to ``match``."""

    reference: int
    predicted: int


# As Pair(*places), in half the time: making the pairs takes as long as finding them.
_AS_PAIR = partial(tuple.__new__, Pair)


def accepts(reference: float, predicted: float, tolerance: float = TOLERANCE) -> bool:
    """Whether a prediction counts as this reference value. Both are finite."""
    return abs(predicted - reference) <= tolerance * abs(reference)


def match(reference: Sequence[float], predicted: Sequence[float], tolerance: float = TOLERANCE) -> list[Pair]:
    """A maximum one-to-one matching of finite values, sorted by position in ``reference``."""
    references = sorted(range(len(reference)), key=reference.__getitem__)
    predictions = sorted(range(len(predicted)), key=predicted.__getitem__)
    wanted = [reference[at] for at in references]
    reaches = [tolerance * abs(value) for value in wanted]
    partners: list[int | None] = [None] * len(references)
    at, end = 0, len(references)
    for among in predictions:
        given = predicted[among]
        while at < end and given - wanted[at] > reaches[at]:  # beyond this reference's interval: so are all that follow
            at += 1
        if at == end:
            break
        if wanted[at] - given <= reaches[at]:
            partners[references[at]] = among
            at += 1
    found = ((here, there) for here, there in enumerate(partners) if there is not None)
    return list(map(_AS_PAIR, found))
