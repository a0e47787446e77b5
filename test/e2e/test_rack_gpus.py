# SPDX-License-Identifier: MIT
"""The lasting nvidia-smi of a machine's agent: it holds the devices, so `nodes drain` ends it."""

import time

import pytest
from support.racked import group
from support.waiting import wait_for

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
