# SPDX-License-Identifier: MIT
"""What ran on a node vanishes, as when the machine is rebooted: the job ends by its cluster's rule."""

import json
import os
import signal

import pytest
from support.daemon import children, processes_of
from support.waiting import wait_for
from support.world import MOUNT, Place, wait_flag


def kill_everything_but_the_agent(d):
    """Supervisors and tasks of all nodes, at one blow."""
    found = processes_of(d.state_dir / "nodes")
    doomed = set(found) - {d.process.pid, *children(d.process.pid)}
    assert doomed, found
    for signo in (signal.SIGSTOP, signal.SIGKILL):  # stopped first: none may notice another's end
        for pid in doomed:
            try:
                os.kill(pid, signo)
            except ProcessLookupError:
                pass  # a short-lived one


@pytest.fixture
def place(own_daemon):
    d = own_daemon()
    d.expect_log(r"node|task|job")
    return Place(d).make()


def running_job(place, option):
    cluster = place.cluster(nodes=1, scaleSettings={"manual": {"nodeDeallocationOption": option}})
    runs = place.share() / "runs"
    _, path = place.flag("flag")
    job = place.job(cluster, f"echo run >> {MOUNT}/runs; {wait_flag(path)}").running()
    wait_for(runs.exists, what="the first run")
    return job, runs


@pytest.mark.parametrize("daemon_too", [False, True], ids=["daemon stays", "daemon killed as well"])
def test_a_job_whose_processes_vanished_is_queued_again(place, daemon_too):
    job, runs = running_job(place, "requeue")
    d = place.daemon
    kill_everything_but_the_agent(d)
    if daemon_too:
        d.crash()
    wait_for(lambda: runs.read_text() == "run\nrun\n", 10, lambda: d.log_tail() + json.dumps(job.get()))
    (place.share() / "flag").touch()
    job.succeed()
    assert runs.read_text() == "run\nrun\n"


def test_a_job_whose_processes_vanished_fails_if_its_cluster_says_terminate(place):
    job, runs = running_job(place, "terminate")
    kill_everything_but_the_agent(place.daemon)
    (error,) = job.fail()["executionInfo"]["errors"]
    assert "tvm-" in json.dumps(error), "it names the node"
    assert runs.read_text() == "run\n"
