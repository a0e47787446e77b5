# SPDX-License-Identifier: MIT
"""docs/batch-walkthrough.md, with Debian's az."""

from support.clients import needs, needs_names
from support.shell_page import ShellPage


def test_the_page_runs(tmp_path):
    needs("az")
    needs_names()
    ShellPage("batch-walkthrough.md").walk(tmp_path)
