# SPDX-License-Identifier: MIT
"""A task of Azure Batch runs while something goes wrong: it runs once, and its end is known."""

import os
import resource
import signal
import time
from contextlib import suppress

import pytest
from support.batch import V, BatchGround
from support.batch_jobs import Job, add_pool
from support.daemon import agents_of
from support.small_disk import LOG_THROUGH_PIPE, fill, let_write
from support.waiting import wait_for
from support.world import wait_flag

DAY = 86400
SHARED = "$AZ_BATCH_NODE_SHARED_DIR"
COMMAND = f"/bin/sh -c 'echo ran >> {SHARED}/runs; {wait_flag(f'{SHARED}/go')}; exit 7'"


class Scene:
    """A daemon with a pool of one node, where a task runs until it is let go."""

    def __init__(self, d):
        self.d = d
        self.plane = BatchGround(d).plane
        add_pool(self.plane, "pool", targetDedicatedNodes=1)
        self.job = Job(self.plane, "pool")
        self.job.add(COMMAND, id="task", constraints={"maxWallClockTime": "PT1H"})
        wait_for(lambda: list(self.files("runs")), what="the task to run")
        wait_for(lambda: self.job.task("task")["state"] == "running", what="running")

    def files(self, name):
        return self.d.state_dir.glob(f"nodes/*/batch/shared/{name}")

    def let_go(self):
        (runs,) = self.files("runs")
        (runs.parent / "go").touch()

    def ends_once(self):
        (done,) = self.job.wait("task")
        assert done["executionInfo"]["exitCode"] == 7 and done["executionInfo"]["requeueCount"] == 0
        (runs,) = self.files("runs")
        assert runs.read_text() == "ran\n"
        self.job.wait(self.job.add("/bin/true"))


def test_it_ends_on_a_full_disk(small_disk, own_daemon):
    d = own_daemon(state_dir=small_disk, prefix=LOG_THROUGH_PIPE)
    d.expect_log(r"db\.|storage|request|run\.|pool\.|task\.|node\.|batch")
    scene, before = Scene(d), len(d.log())
    filler = d.state_dir / "filler"
    fill(filler)
    let_write(d, 0)
    scene.let_go()  # an empty file needs no room; from here on nobody asks the daemon for anything
    wait_for(lambda: sum("db.transaction_lost" in line for line in d.log()[before:]) >= 3, 20, d.log_tail)
    assert not any("run.failed" in line for line in d.log()), "told, but not yet on disk"
    filler.unlink()
    let_write(d, resource.RLIM_INFINITY)
    scene.ends_once()


def free(path):
    disk = os.statvfs(path)
    return disk.f_bavail * disk.f_frsize


def test_a_node_whose_disk_its_tasks_have_filled_is_reimaged(small_disk, own_daemon):
    """A quarter of the disk is the least that a node must have free. Most of it stays for the daemon."""
    d = own_daemon(state_dir=small_disk, config={"machines": {"health_interval_s": 1}})
    d.expect_log(r"node\.|pool\.")
    plane = BatchGround(d).plane.at(V["20.0"])
    add_pool(plane, "pool", targetDedicatedNodes=1)
    (node,) = plane.all("/pools/pool/nodes")
    job = Job(plane, "pool")
    job.done(f"/bin/sh -c 'head -c {free(d.state_dir) - (2 << 20)} /dev/zero > {SHARED}/much'")
    job.add("/bin/sleep 2")  # nodes are asked while a task runs
    wait_for(lambda: "NodeDiskUnusable" in str(plane.all("/pools/pool/nodes")), 60, "its disk to be full")
    plane.call("POST", f"/pools/pool/nodes/{node['id']}/reimage", {}, expect=202)
    assert job.done("/bin/true")["executionInfo"]["result"] == "success"
    assert not list(d.state_dir.glob("nodes/*/batch/shared/much"))


def test_a_backup_is_put_back(own_daemon, tmp_path):
    d = own_daemon()
    scene, copy = Scene(d), tmp_path / "copy.db"
    d.tool("backup", str(copy))
    scene.job.add("/bin/true", id="later")
    d.kill9()
    d.tool("restore", str(copy))
    d.start()
    assert scene.plane.call("GET", f"{scene.job.url}/tasks/later").status == 404
    assert scene.job.task("task")["state"] == "running"
    scene.let_go()
    scene.ends_once()


@pytest.mark.parametrize("by", (DAY, -DAY))
def test_the_clock_is_set(own_daemon, clock, by):
    d = own_daemon(environment=clock.environment)
    scene = Scene(d)
    clock.set(by)
    for _ in range(3):  # its loop turns
        d.call("GET", "/batchaid/ca.pem", token=False, validate=False)
    clock.set(-by)
    assert scene.job.task("task")["state"] == "running"
    scene.let_go()
    scene.ends_once()


def test_the_agent_hangs(own_daemon):
    d = own_daemon()
    d.expect_log("node")
    scene = Scene(d)
    agents = agents_of(d)
    assert agents
    try:
        for pid in agents:
            os.kill(pid, signal.SIGSTOP)
        scene.let_go()
        began = time.monotonic()
        scene.plane.call("POST", f"{scene.job.url}/disable", {"disableTasks": "wait"}, expect=202)
        assert scene.job.get()["state"] == "disabling" and time.monotonic() - began < 10
    finally:
        for pid in agents:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)
    scene.job.wait_state("disabled")
    scene.plane.call("POST", f"{scene.job.url}/enable", expect=202)
    scene.ends_once()
