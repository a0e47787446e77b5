# SPDX-License-Identifier: MIT
"""The commands of docs/batch.md by the real az, in their order, and those that its sentences and docs/formulas.md name."""

import re

from support.daemon import ROOT
from support.pages import inline, inlines
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


def test_the_shell_of_the_page(az, shell):
    az("group create -n testrg02 -l westus")
    az("batch account create -g testrg02 -n test02 -l westus")
    lines = [inline("batch.md", start) for start in (r'eval "', "batchaid az-login", "batchaid nodes", "batchaid queue")]
    first = next(c for c in page() if c.startswith("batch account login"))
    pool = "az batch pool list --query '[].id' -o tsv"
    shell("; ".join([lines[1], lines[0], f"az {first}", pool, *lines[2:]]))
    az("group delete -n testrg02 -y")


# What the sentences name and az can be asked beside the page's walk, with what it wants besides.
NAMED = {
    "az batch pool supported-images list": "",
    "az batch pool usage-metrics list": "",
    "az batch pool autoscale evaluate": "--pool-id pool02 --auto-scale-formula '$TargetDedicatedNodes = 0'",
}
ELSEWHERE = {
    "az batch node service-logs upload",  # test/clients/test_az_batch_logs.py
}


def test_what_the_sentences_name(az):
    named = {line for name in ("batch.md", "formulas.md") for line in inlines(name) if line.startswith("az ")}
    assert named == set(NAMED) | ELSEWHERE
    az("group create -n testrg03 -l westus")
    az("batch account create -g testrg03 -n test03 -l westus")
    az("batch account login -g testrg03 -n test03")
    az(
        "batch pool create --id pool02 --vm-size Standard_A1 --image canonical:ubuntuserver:18.04-lts"
        " --node-agent-sku-id 'batch.node.ubuntu 18.04'"
    )
    az("batch pool autoscale enable --pool-id pool02 --auto-scale-formula '$TargetDedicatedNodes = 0'")
    said = {line: az(f"{line.removeprefix('az ')} {more}") for line, more in NAMED.items()}
    assert "$TargetDedicatedNodes=0" in said["az batch pool autoscale evaluate"]["results"]
    assert said["az batch pool supported-images list"] and isinstance(said["az batch pool usage-metrics list"], list)
    az("group delete -n testrg03 -y")
