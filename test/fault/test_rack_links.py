# SPDX-License-Identifier: MIT
"""The way to a machine fails while a job runs there: the job goes on, is run once, and its end is
known afterwards, whatever it was that failed."""

import json
import re

import pytest
from support.racked import group
from support.waiting import wait_for
from support.world import MOUNT, wait_flag

# Long enough for nothing to be given up in these tests.
PATIENT = {"machines": {"unusable_after_s": 60}}


class Running:
    """A job that runs on one node until finish() and then exits with `code`."""

    def __init__(self, site, code=0, **properties):
        cluster = site.cluster(nodes=1)
        self.flag, path = site.flag("finish")
        self.runs = site.share() / "runs"
        command = f"echo run >>{MOUNT}/runs; {wait_flag(path)}; echo over; exit {code}"
        self.job = site.job(cluster, command, **properties)
        self.job.wait("running")
        wait_for(self.runs.exists, what="the job's first word")
        (self.machine,) = site.machines_of(cluster)

    def finish(self):
        self.flag.touch()

    def ended_with(self, code):
        properties = self.job.wait()
        assert properties["executionInfo"]["exitCode"] == code, json.dumps(properties)
        assert self.runs.read_text() == "run\n", "it ran once"
        assert self.job.read("stdout.txt") == "over\n"


@pytest.fixture
def site(racked):
    return racked(**PATIENT)


def test_a_job_goes_on_behind_a_link_that_is_down_and_its_exit_code_is_kept(site):
    running = Running(site, code=7)
    running.machine.cut_link()
    site.wait_node(running.machine, reason=re.compile("."))
    assert running.job.state == "running"
    running.finish()
    wait_for(lambda: not running.machine.processes("runs; while"), what="the job to end on the machine")
    assert running.job.state == "running", "nobody can know yet"
    running.machine.restore_link()
    running.ended_with(7)


def test_a_job_that_runs_on_is_still_running_when_the_link_is_back(site):
    running = Running(site)
    running.machine.cut_link()
    site.wait_node(running.machine, reason=re.compile("."))
    running.machine.restore_link()
    site.wait_node(running.machine, reason=None)
    assert running.job.state == "running"
    running.finish()
    running.ended_with(0)


def test_killing_sshd_and_all_its_sessions_does_not_end_a_job(site):
    running = Running(site, code=3)
    running.machine.kill_sshd()
    running.finish()
    running.machine.start_sshd()
    running.ended_with(3)


def test_killing_the_agent_does_not_end_a_job(site):
    running = Running(site, code=4)
    running.machine.kill_agent()
    running.finish()
    running.ended_with(4)


def test_killing_the_daemon_does_not_end_a_job(site):
    running = Running(site, code=5)
    site.daemon.kill9()
    running.finish()
    wait_for(lambda: not running.machine.processes("runs; while"), what="the job to end on the machine")
    site.daemon.start()
    running.ended_with(5)


def test_a_daemon_that_was_killed_finds_the_job_still_running(site):
    running = Running(site)
    site.daemon.crash()
    site.wait_node(running.machine, reason=None)
    assert running.job.state == "running"
    running.finish()
    running.ended_with(0)


def test_an_upload_that_the_link_cut_short_is_done_again_and_leaves_nothing(racked, rack):
    machine = rack[0]
    machine.cut_link_after(300_000)
    site = racked([group(rack, [machine])])
    cluster = site.cluster(nodes=1, steady=False)
    site.wait_node(machine, reason=re.compile("upload|answer|byte|dead|stall", re.I))
    assert cluster.counts()["preparingNodeCount"] == 1
    machine.restore_link()
    cluster.wait_steady(1)
    (agent,) = machine.run("ls ~batchai/.cache/batchai-node").stdout.split()
    assert re.fullmatch("batchai-node-[0-9a-f]{64}", agent)


def test_an_agent_that_is_there_is_not_uploaded_again(racked, rack):
    machine = rack[0]
    site = racked([group(rack, [machine])])
    cluster = site.cluster(nodes=1)
    stamp = "stat -c '%i %z' ~batchai/.cache/batchai-node/*"
    before = machine.run(stamp).stdout
    machine.reboot()
    site.daemon.restart()
    cluster.wait_steady(1)
    assert machine.run(stamp).stdout == before
