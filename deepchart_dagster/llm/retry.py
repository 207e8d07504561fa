"""When a failed call is made again, and after how long. The only retry policy: the layers below have none."""

from __future__ import annotations

import random
from dataclasses import dataclass

from deepchart_dagster.errors import ProviderError, ProviderRefusedRequest, ProviderTimeout

_random = random.SystemRandom()


@dataclass(frozen=True)
class RetryPolicy:
    """Waits double from ``first_wait_s`` to ``longest_wait_s``, each shortened at random by up to a half.

    attempts               calls made at most, the first included
    timeout_attempts       of which may run into the wall-clock cap: each of those waits long and may be paid
    longest_retry_after_s  a provider that wants us to wait longer is given up; the next run asks again
    """

    attempts: int = 6
    timeout_attempts: int = 2
    first_wait_s: float = 1.0
    longest_wait_s: float = 60.0
    longest_retry_after_s: float = 300.0

    def wait_s(self, errors: list[ProviderError], retry_after_s: float | None) -> float | None:
        """Seconds before the next attempt after these failed ones (the latest last); None: give up."""
        if isinstance(errors[-1], ProviderRefusedRequest) or len(errors) >= self.attempts:
            return None
        if sum(isinstance(error, ProviderTimeout) for error in errors) >= self.timeout_attempts:
            return None
        if retry_after_s is not None and retry_after_s > self.longest_retry_after_s:
            return None
        doubled: float = self.first_wait_s * 2.0 ** min(len(errors) - 1, 30)
        wait = min(self.longest_wait_s, doubled) * _random.uniform(0.5, 1.0)
        return max(wait, retry_after_s or 0.0)
