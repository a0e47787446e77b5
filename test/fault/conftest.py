# SPDX-License-Identifier: MIT
from support.failing import clock, killer, library  # noqa: F401 (fixtures)
