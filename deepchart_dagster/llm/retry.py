"""When a failed call is made again, and after how long. The only retry policy: the layers below have none."""

from __future__ import annotations

import random
from dataclasses import dataclass

from deepchart_dagster.errors import ProviderError, ProviderRefusedRequest, ProviderTimeout, RateLimited

_random = random.SystemRandom()
_MOST_REFUSALS = 4
_GIVEN_UP_AFTER_S = 60.0


@dataclass(frozen=True)
class RetryPolicy:
    """Waits double from ``first_wait_s`` to ``longest_wait_s``, each shortened at random by up to a half.

    attempts               calls made at most, the first included
    patience_s             a rate limited call is tried beyond ``attempts`` until its model has answered nobody for so
                           long: many providers count by the minute, and what they refuse until it is over says
                           nothing about the call. A minute more, and it is not tried again at all
    timeout_attempts       of which may run into the wall-clock cap: each of those waits long and may be paid
    longest_retry_after_s  a provider that wants us to wait longer is given up; the next run asks again
    """

    attempts: int = 6
    patience_s: float = 75.0
    timeout_attempts: int = 2
    first_wait_s: float = 1.0
    longest_wait_s: float = 60.0
    longest_retry_after_s: float = 300.0

    def wait_s(self, errors: list[ProviderError], retry_after_s: float | None, silent_s: float) -> float | None:
        """Seconds before the next attempt after these failed ones (the latest last); None: give up.

        ``silent_s``: how long the model has been refusing everybody.
        """
        if isinstance(errors[-1], ProviderRefusedRequest):
            return None
        if retry_after_s is not None and retry_after_s > self.longest_retry_after_s:
            return None
        if self._is_enough(errors, silent_s):
            return None
        doubled: float = self.first_wait_s * 2.0 ** min(len(errors) - 1, 30)
        wait = min(self.longest_wait_s, doubled) * _random.uniform(0.5, 1.0)
        return max(wait, retry_after_s or 0.0)

    def _is_enough(self, errors: list[ProviderError], silent_s: float) -> bool:
        limited = sum(isinstance(error, RateLimited) for error in errors)
        timeouts = sum(isinstance(error, ProviderTimeout) for error in errors)
        if len(errors) - limited >= self.attempts or timeouts >= self.timeout_attempts:
            return True
        if limited >= _MOST_REFUSALS * self.attempts:  # others are answered, this call never is
            return True
        tried = len(errors) >= self.attempts or silent_s > self.patience_s + _GIVEN_UP_AFTER_S
        return isinstance(errors[-1], RateLimited) and tried and silent_s > self.patience_s
