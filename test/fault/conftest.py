# SPDX-License-Identifier: MIT
from support.failing import clock, killer, loser, library  # noqa: F401 (fixtures)
