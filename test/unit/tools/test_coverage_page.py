# SPDX-License-Identifier: MIT
"""docs/api-coverage.md is what the route and field tables say."""
import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
BUILD = ROOT / os.environ.get("BUILD_DIR", "build")


def printed():
    return subprocess.run(
        [BUILD / "tools" / "coverage"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout


def test_the_page_is_not_stale():
    page = (ROOT / "docs" / "api-coverage.md").read_text()
    assert page == printed(), "docs/api-coverage.md is stale; run make docs-update"


def test_it_says_which_versions_know_what():
    lines = printed().splitlines()

    def marks(start):
        (line,) = [x for x in lines if x.startswith(start)]
        return [cell.strip() for cell in line.split("|")[3:6]]

    assert lines.count("### Job") == 1
    assert marks("| Usage_List ") == ["-", "yes", "-"]
    assert marks("| Jobs_ListByExperiment ") == ["-", "-", "yes"]
    assert marks("| properties.schedulingPriority ") == ["-", "-", "yes"]
    assert marks("| properties.nodeSetup.setupTask.runElevated ") == ["yes", "yes", "-"]
    assert not [x for x in lines if "adminUserPassword" in x and "secret" not in x]
