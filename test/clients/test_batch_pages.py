# SPDX-License-Identifier: MIT
"""The walks of docs/ through Azure Batch that need published packages."""

from support.clients import az_of_pypi, needs_names
from support.shell_page import ShellPage


def test_the_walkthrough_with_the_newest_az(tmp_path):
    needs_names()
    ShellPage("batch-walkthrough.md").walk(tmp_path, [az_of_pypi("2.91.0").parent])
