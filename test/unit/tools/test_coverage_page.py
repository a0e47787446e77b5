# SPDX-License-Identifier: MIT
"""docs/api-coverage.md and docs/batch-coverage.md are what the tables of routes and of fields say; and what these say of
Azure Batch is what was published."""

import os
import re
import subprocess
from pathlib import Path

import pytest
from support import batch, batch_rm

ROOT = Path(__file__).resolve().parents[3]
BUILD = ROOT / os.environ.get("BUILD_DIR", "build")
PAGES = {"coverage": "api-coverage.md", "batch_coverage": "batch-coverage.md"}


def printed(tool):
    return subprocess.run([BUILD / "tools" / tool], cwd=ROOT, check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize("tool", PAGES)
def test_the_page_is_not_stale(tool):
    page = (ROOT / "docs" / PAGES[tool]).read_text()
    assert page == printed(tool), f"docs/{PAGES[tool]} is stale; run make docs-update"


def test_it_says_which_versions_know_what():
    lines = printed("coverage").splitlines()

    def versions(start):
        (line,) = [x for x in lines if x.startswith(start)]
        return line.split("|")[3].strip()

    assert lines.count("### Job") == 1
    assert versions("| Usage_List ") == "2018-03-01"
    assert versions("| Jobs_ListByExperiment ") == "2018-05-01"
    assert versions("| Operations_List ") == "all"
    assert versions("| properties.schedulingPriority ") == "2018-05-01"
    assert versions("| properties.nodeSetup.setupTask.runElevated ") == "2017-09-01-preview, 2018-03-01"
    assert not [x for x in lines if "adminUserPassword" in x and "secret" not in x]


def served(heading):
    """(operation, request, first and last version) of one table of the page of Azure Batch."""
    part = printed("batch_coverage").split(f"## {heading}\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| (\w+) \| `([^`]+)` \| (\S+) \| (\S+) \|", part, re.M)
    assert len(rows) > 30
    return rows


@pytest.mark.skipif(not batch.PRESENT, reason="the published tables of Azure Batch are not here")
@pytest.mark.parametrize(
    "heading, versions, table",
    [("Pools, jobs and tasks", batch.VERSIONS, "operations-data.tsv"), ("Accounts", batch_rm.VERSIONS, "operations-arm.tsv")],
)
def test_versions_are_those_that_were_published(heading, versions, table):
    published = {op.id: op for op in map(batch.TableOperation, batch.rows(table))}
    wrong = []
    for name, request, first, last in served(heading):
        if batch_rm.UNDOCUMENTED.search(request):
            continue
        known = [v for v in versions if published[name].known(v)]
        if (first, last) != (known[0], known[-1]):
            wrong.append(f"{name}: {first} to {last}, published {known[0]} to {known[-1]}")
    assert not wrong, "\n".join(wrong)
