# SPDX-License-Identifier: MIT
"""How often a job is looked at: closely in its first seconds, at most once in two seconds while nothing happens; and how long
a daemon that does not answer is waited for, so that its restart or upgrade ends no wait."""

from __future__ import annotations

import time

from .errors import BatchaidError, Unreachable

FIRST_S, LAST_S = 0.1, 2.0
SILENCE_S = 600.0
UNREADY = (429, 500, 502, 503, 504)


class Pauses:
    """Those of one wait. `until`: an instant of time.monotonic() that no pause goes beyond."""

    # An `except` with it catches what may pass; after_trouble() raises again what does not.
    passing = (BatchaidError,)

    def __init__(self, until: float = float("inf")) -> None:
        self.until = until
        self._next = FIRST_S
        self._silent_since: float | None = None

    def _sleep(self, seconds: float) -> None:
        time.sleep(max(0.0, min(seconds, self.until - time.monotonic())))

    def after_look(self, something: bool) -> None:
        """Waits; not for long if there was something new."""
        self._silent_since = None
        self._next = FIRST_S if something else self._next
        self._sleep(self._next)
        self._next = min(self._next * 1.5, LAST_S)

    def silent(self) -> float:
        """For how many seconds the daemon has not answered."""
        return 0.0 if self._silent_since is None else time.monotonic() - self._silent_since

    def after_trouble(self, e: BatchaidError) -> None:
        """Waits if it may pass, and raises it otherwise."""
        passing = e.temporary if isinstance(e, Unreachable) else e.status in UNREADY
        if self._silent_since is None:
            self._silent_since = time.monotonic()
        if not passing or self.silent() > SILENCE_S:
            raise e
        self._sleep(FIRST_S * 5 if self.silent() < 5 else LAST_S)
