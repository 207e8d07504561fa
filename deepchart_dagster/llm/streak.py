"""Calls in a row that brought the same, and no chat completion: a wrong address, a sign-in page, a proxy.

A call that comes after one which used all of its attempts on this is tried once; after three such calls the step makes
no further one. The next step begins with one call. Whatever is answered ends the streak.
"""

from __future__ import annotations

import logging
import time

from deepchart_dagster.errors import BadProviderAnswer, ProviderError

log = logging.getLogger(__name__)

_CALLS = 3
# As with refusals (llm.pace): what came before that was another run's.
_FORGOTTEN_AFTER_S = 600.0


class Streak:
    """Of one model at one address. Shared by the event loops of a process; safe among threads, to within a call."""

    def __init__(self) -> None:
        self._last: BadProviderAnswer | None = None
        self._calls = 0
        self._at = 0.0

    def answered(self) -> None:
        self._last, self._calls = None, 0

    def next_step(self) -> None:
        """One call is made again before the streak is long enough."""
        if time.monotonic() - self._at > _FORGOTTEN_AFTER_S:
            self.answered()
        self._calls = min(self._calls, _CALLS - 1)

    def goes_on_with(self, error: ProviderError) -> bool:
        """Whether an earlier call was given up for the same: trying again would not help this one either."""
        return self._last is not None and isinstance(error, BadProviderAnswer) and error.came == self._last.came

    def given_up(self, error: ProviderError) -> None:
        """A call was given up for ``error``. The one that ends the step's calls is said in the log."""
        if not isinstance(error, BadProviderAnswer) or not error.came:
            self.answered()
            return
        self._calls = self._calls + 1 if self.goes_on_with(error) else 1
        self._last, self._at = error, time.monotonic()
        if self._calls == _CALLS:
            log.warning("%s No further call is made in this step. %s", error.message, error.remedy)

    def raise_if_long(self) -> None:
        """Raises BadProviderAnswer for the call that is not made."""
        if self._last is not None and self._calls >= _CALLS:
            raise BadProviderAnswer(
                f"{self._last.message} It was not asked again after {_CALLS} such answers in a row.",
                remedy=self._last.remedy,
                came=self._last.came,
            )
