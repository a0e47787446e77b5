# SPDX-License-Identifier: MIT
"""docs/batch.md: its commands by the real az, in their order."""

import re

from support.daemon import ROOT
from support.waiting import wait_for


def page():
    text = (ROOT / "docs" / "batch.md").read_text().replace("\\\n", " ")
    return [re.sub(r"\s+", " ", line) for line in re.findall(r"^    az (.*)", text, re.M)]


def test_the_page_runs(az, tmp_path):
    commands = page()
    assert len(commands) == 15
    said = []
    for command in commands:
        if command.startswith("batch task file list"):
            task = "batch task show --job-id job01 --task-id task01"
            wait_for(lambda show=task: az(show)["state"] == "completed", 30, "the task's end")
        command = command.replace("./stdout.txt", str(tmp_path / "stdout.txt")).replace("-o table", "").replace("-o tsv", "")
        said.append((command, az(command)))
    hello = (tmp_path / "stdout.txt").read_text()
    assert re.fullmatch(r"hello from tvm-\S+\n", hello)
    (nodes,) = [reply for command, reply in said if command.startswith("batch node list")]
    assert [n["state"] for n in nodes] == ["idle", "idle"] and hello.split()[-1] in [n["id"] for n in nodes]
    (counts,) = [reply for command, reply in said if "task-counts" in command]
    assert counts["taskCounts"]["succeeded"] == 1 and counts["taskCounts"]["failed"] == 0
    wait_for(lambda: az("batch pool list") == [] and az("batch job list") == [], 30, "their end")
    az("group delete -n testrg02 -y")
