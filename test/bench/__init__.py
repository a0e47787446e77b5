# SPDX-License-Identifier: MIT
"""The bench: figures of the real daemon, with peers measured in the same run. See docs/performance.md."""
