# SPDX-License-Identifier: MIT
"""What a test tries only in `make check-deep` (or with BATCHAID_DEEP=1): all of a long series, of which `make check` tries
a part that shows the same."""
import os

DEEP = os.environ.get("BATCHAID_DEEP", "") not in ("", "0")


def ends(series):
    """All of it, or the first, the middle and the last: of versions, whose tables differ little from one to the next."""
    series = list(series)
    return series if DEEP else [series[i] for i in sorted({0, len(series) // 2, len(series) - 1})]


def some(series, first=0, step=3):
    """All of it, or each `step`th from `first` on."""
    return list(series) if DEEP else list(series)[first % step :: step]
