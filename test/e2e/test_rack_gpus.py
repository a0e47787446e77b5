# SPDX-License-Identifier: MIT
"""GPUs of machines: the lasting nvidia-smi of the agent, which holds the devices, so that `nodes drain` ends it; and the
files that tell dcgm-exporter whose they are."""

import time

import pytest
from support.racked import group
from support.waiting import wait_for
from support.world import wishes

PLACE, PROGRAM = "/usr/local/sbin", r"^/bin/sh \S*nvidia-smi --query-gpu"
SMI = """#!/bin/sh
line() { echo "$1, GPU-0$1, 97, 60000, 81559, 650.10, 71, 0, 0x0000000000000004"; }
case "$1" in
--query-gpu*) while :; do line 0; line 1; sleep 1; done ;;
esac
"""


@pytest.fixture
def machine(rack):
    """One with a program nvidia-smi, which only it sees."""
    (first, *_) = rack
    first.run(f"mount -t tmpfs tmpfs {PLACE}")
    try:
        program = first.path(f"{PLACE}/nvidia-smi")
        program.write_text(SMI)
        program.chmod(0o755)
        yield first
    finally:
        first.run(f"umount -l {PLACE}")


def test_drain_lets_the_devices_go_and_undrain_watches_them_again(racked, machine):
    site = racked([group(machine.rack, [machine], fake_gpus=2)])
    site.cluster(nodes=1)
    name = machine.address

    def states():
        return [g["state"] for g in site.node_of(machine).get("gpus", [])]

    wait_for(lambda: states() == ["busy", "busy"], 60, "samples of GPUs")
    (first,) = machine.processes(PROGRAM)
    begin = time.monotonic()
    site.daemon.tool("nodes", "drain", name)
    wait_for(lambda: not machine.processes(PROGRAM), 10, "the end of the program")
    assert time.monotonic() - begin < 10, "at once, not with the next sample"
    wait_for(lambda: states() == ["free", "free"], 60, "no samples of GPUs")
    site.daemon.tool("nodes", "undrain", name)
    wait_for(lambda: machine.processes(PROGRAM), 10, "the program")
    assert first not in machine.processes(PROGRAM)
    wait_for(lambda: states() == ["busy", "busy"], 60, "samples of GPUs again")


def test_a_file_for_each_gpu_names_the_jobs_that_have_it(racked, rack):
    (first, *_) = rack
    jobs = "/run/batchaid-gpu-jobs"
    try:
        site = racked([group(rack, [first], fake_gpus=2)], machines={"gpu_jobs_directory": jobs})
        cluster = site.cluster(nodes=1)

        def files():
            return [first.path(f"{jobs}/{n}").read_text() for n in range(2) if first.path(f"{jobs}/{n}").exists()]

        one, whole = site.flag("one"), site.flag("whole")
        a = site.job(cluster, f"until test -e {one[1]}; do sleep 0.1; done", environmentVariables=wishes(GPUS=1))
        a.running(limit=60)
        wait_for(lambda: sorted(files()) == ["", f"{a.name}\n"], 30, files)
        one[0].touch()
        a.succeed()
        wait_for(lambda: files() == ["", ""], 30, files)
        b = site.job(cluster, f"until test -e {whole[1]}; do sleep 0.1; done")
        b.running(limit=60)
        wait_for(lambda: files() == [f"{b.name}\n"] * 2, 30, files)
        whole[0].touch()
        b.succeed()
    finally:
        first.run(f"rm -rf {jobs}")
