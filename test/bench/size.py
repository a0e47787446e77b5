# SPDX-License-Identifier: MIT
"""How much is measured. With BENCH_SIZE=smallest each measurement runs once, with as little as it can: its figures
mean nothing then, but a measurement that no longer runs fails."""

import os

SIZES = ("whole", "smallest")
SIZE = os.environ.get("BENCH_SIZE", "whole")
if SIZE not in SIZES:
    raise SystemExit(f"bench: BENCH_SIZE is '{SIZE}'; it must be one of: {', '.join(SIZES)}")


def size(whole, smallest=1):
    """The number of the size that was asked for."""
    return whole if SIZE == "whole" else smallest
