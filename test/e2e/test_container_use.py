# SPDX-License-Identifier: MIT
"""What jobs in containers used: measured by their containers' cgroups, whose processes are no children of the agent."""

import os

import pytest
from support.containers import TOOLKIT
from support.waiting import wait_for
from support.world import MOUNT, wait_flag

TICKS = 60  # of processor time, in 1/100 s
# Until its shell has used them (/proc/PID/stat), which has 32 MiB of its own then, until samples have seen that.
BURN = f"""x=0123456789abcdef
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21; do x=$x$x; done
until set -- $(cat /proc/$$/stat) && [ ${{14}} -ge {TICKS} ]; do
    i=0
    while [ $i -lt 10000 ]; do i=$((i+1)); done
done
sleep 3"""


@pytest.fixture(scope="module")
def place(engine_place):
    if os.geteuid() != 0:
        pytest.skip("a container has a cgroup of its own where the engine is root's")
    return engine_place


@pytest.fixture(scope="module")
def cluster(place):
    return place.cluster(nodes=1)


def use(place, cluster, command, **more):
    settings = {"containerSettings": {"imageSourceRegistry": {"image": TOOLKIT}}}
    return use_of(place, place.job(cluster, command, **settings, **more).succeeded())


def use_of(place, job):
    path = f"/batchaid/usage/{place.group}/{place.workspace}/exp/{job.name}"
    told = lambda: place.daemon.call("GET", path, api_version=None).json
    return wait_for(lambda: (got := told())["use"]["attempts"] > 0 and got)


def time_of(use):
    return use["userMicroseconds"] + use["kernelMicroseconds"]


def test_a_container_is_measured(place, cluster):
    got = use(place, cluster, BURN)
    used, (part,) = got["use"], got["allocations"]
    assert used["unmeasured"] == 0
    assert time_of(used) >= TICKS * 10_000
    assert 32 << 20 <= part["memoryUsedBytes"] < used["memoryPeakBytes"] < 1 << 30


def test_what_the_preparation_used_counts_and_no_note_of_it_stays(place, cluster):
    got = use(place, cluster, "true", jobPreparation={"commandLine": BURN})
    assert time_of(got["use"]) >= TICKS * 10_000
    assert not list(place.daemon.state_dir.glob("nodes/*/containers/*"))


def test_what_a_command_on_another_node_used_outlasts_the_daemon(place, cluster):
    """No process of the job works on its second node, so nobody else tells what the container there used."""
    cluster.resize(2)
    go, path = place.share() / "go", f"{MOUNT}/go"
    command = f"ssh 1 '{BURN}'; touch {MOUNT}/burnt; {wait_flag(path)}"
    settings = {"containerSettings": {"imageSourceRegistry": {"image": TOOLKIT}}}
    job = place.job(cluster, command, nodes=2, **settings)
    wait_for(lambda: (place.share() / "burnt").exists(), 60, "the command")
    tasks = lambda: list(place.daemon.state_dir.glob("nodes/*/tasks/*ssh*"))
    wait_for(lambda: not tasks(), what="the node to forget the command")
    place.daemon.restart()
    go.touch()
    job.succeeded()
    got = use_of(place, job)
    second = next(part for part in got["allocations"] if part["rank"] == 1)
    assert got["use"]["unmeasured"] == 0 and time_of(got["use"]) >= TICKS * 10_000 and second["memoryUsedBytes"] >= 32 << 20
