# SPDX-License-Identifier: MIT
"""What the tests share: a daemon under control, the published spec as a judge, bodies, waiting."""
