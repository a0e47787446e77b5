# SPDX-License-Identifier: MIT
"""Tests wait for conditions; they never sleep for a fixed time."""

import os
import time

# Sanitizer builds and busy machines are slower; a limit is only reached by something broken.
PATIENCE = float(os.environ.get("BATCHAID_TEST_PATIENCE", "1"))


def wait_for(condition, limit=20.0, what=None, every=0.01):
    """Calls condition() until it returns something true, and returns that.

    `what` says in the failure what was awaited: a text, or a function that describes the state."""
    end = time.monotonic() + limit * PATIENCE
    pause = every
    while True:
        result = condition()
        if result:
            return result
        if time.monotonic() > end:
            seen = what() if callable(what) else what
            raise AssertionError(f"not within {limit:g} s: {seen or condition}; last seen: {result!r}")
        time.sleep(pause)
        pause = min(pause * 1.5, 0.2)
