# SPDX-License-Identifier: MIT
"""The disk is full: writes are refused with a clear error, what was acknowledged stays, and once there
is room again everything goes on."""

import os
import resource
import signal
import subprocess
import time
from contextlib import contextmanager

import pytest
from support.daemon import BATCHAID, agents_of, processes_of
from support.small_disk import LOG_THROUGH_PIPE, fill, let_write
from support.waiting import wait_for
from support.world import MOUNT, Place, wait_flag

# No file may grow beyond this; writing on fails as on a full disk would.
LIMIT_KIB = 2048
SMALL_DISK = ["bash", "-c", f"trap '' XFSZ; ulimit -f {LIMIT_KIB}; exec \"$@\"", "bash"]


def test_writes_are_refused_and_nothing_acknowledged_is_lost(own_daemon):
    d = own_daemon(prefix=SMALL_DISK)
    d.expect_log(r"db\.|storage|request|samples\.")
    place = Place(d).make()
    place.experiment("first")
    tags = {f"tag{i}": "x" * 200 for i in range(50)}
    acknowledged, refusal = set(), None
    for i in range(600):
        path = f"{place.path}-{i}"
        reply = d.call("PUT", path, {"location": "eastus", "tags": tags}, validate=False)
        if reply.status != 200:
            refusal = reply
            break
        acknowledged.add(f"{place.workspace}-{i}")
    assert refusal is not None and refusal.status in (500, 503, 507), "the disk never filled up"
    assert refusal.code and refusal.error["message"]
    assert len(acknowledged) > 3

    def names():
        listed = d.get(f"{place.group_path}/providers/Microsoft.BatchAI/workspaces")["value"]
        return {w["name"] for w in listed}

    assert names() == acknowledged | {place.workspace}, "reading works, and shows what was acknowledged"
    d.prefix = []
    d.restart()
    assert names() == acknowledged | {place.workspace}
    assert d.call("PUT", refusal.url, {"location": "eastus"}).status == 200


# What the log may say while the disk is full: each try tells of itself, and tries are a second apart.
LINES, LINES_PER_S = 40, 20


def test_a_job_that_ends_on_a_full_disk_is_not_run_again(small_disk, own_daemon):
    d = own_daemon(state_dir=small_disk, prefix=LOG_THROUGH_PIPE)
    d.expect_log(r"db\.|storage|request|run\.|pool\.|node\.|samples\.")
    place = Place(d).make()
    cluster = place.cluster(nodes=1)
    runs = place.share() / "runs"
    flag, path = place.flag("flag")
    job = place.job(cluster, f"echo ran >> {MOUNT}/runs; {wait_flag(path)}; echo sorry >&2; exit 7")
    job.wait("running")
    wait_for(runs.exists, what="the first run")
    filler = d.state_dir / "filler"
    fill(filler)
    let_write(d, 0)

    before, began = len(d.log()), time.monotonic()
    flag.touch()  # an empty file needs no room; from here on nobody asks the daemon for anything

    def since():
        return d.log()[before:]

    def ends():
        return [line for line in d.log() if "run.failed" in line]

    wait_for(lambda: sum("db.transaction_lost" in line for line in since()) >= 3, 20, d.log_tail)
    allowed = LINES + LINES_PER_S * (time.monotonic() - began)
    assert len(since()) <= allowed, d.log_tail(100)
    assert not ends(), "told, but not yet on disk"
    filler.unlink()
    let_write(d, resource.RLIM_INFINITY)
    wait_for(ends, 10, lambda: "the end written without traffic:\n" + d.log_tail())
    info = job.fail()["executionInfo"]
    assert info["exitCode"] == 7, info
    assert "sorry" in str(info["errors"])
    cluster.wait_steady(1)
    assert runs.read_text() == "ran\n"
    assert len(ends()) == 1, ends()
    place.job(cluster, "true").succeed()


@contextmanager
def full_disk_on(folder):
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=100k,mode=0777", "none", folder], capture_output=True).returncode:
        pytest.skip("no file system can be mounted here")
    try:
        fill(folder / "filler")
        yield
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


def test_a_job_whose_output_has_no_room_says_where(own_daemon):
    d = own_daemon()
    d.expect_log(r"node\.step_failed")
    place = Place(d).make()
    cluster = place.cluster(nodes=1)
    with full_disk_on(place.share()):
        (error,) = place.job(cluster).fail()["executionInfo"]["errors"]
    assert "/mounts/out/" in error["message"] and "No space left on device" in error["message"], error
    place.job(cluster).succeed()


def test_a_command_that_ends_before_the_daemon_reads_the_failure_makes_no_success(own_daemon):
    d = own_daemon()
    d.expect_log(r"node\.step_failed")
    place = Place(d).make()
    cluster = place.cluster(nodes=1)
    ran, path = place.flag("ran")
    (agent,) = agents_of(d)
    with full_disk_on(place.share()):
        os.kill(agent, signal.SIGSTOP)
        try:
            job = place.job(cluster, f"touch {path}")
            wait_for(lambda: any("run.started" in line for line in d.log()), what=d.log_tail)
            job.get()  # the turn that sent the requests is over
            os.kill(d.process.pid, signal.SIGSTOP)
            os.kill(agent, signal.SIGCONT)
            wait_for(ran.exists, what="the command")
            wait_for(lambda: set(processes_of(d.state_dir / "nodes")) <= {agent, d.process.pid}, what="the end of its processes")
        finally:
            os.kill(agent, signal.SIGCONT)
            os.kill(d.process.pid, signal.SIGCONT)
        (error,) = job.fail()["executionInfo"]["errors"]
    assert "No space left on device" in error["message"], error


def test_a_start_on_a_full_disk_names_the_file(tmp_path):
    with full_disk_on(tmp_path):
        argv = [BATCHAID, "serve", "--state-dir", tmp_path, "--listen", "localhost:0"]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=30)
    assert done.returncode != 0 and str(tmp_path) in done.stderr and "No space left on device" in done.stderr, done.stderr
