# SPDX-License-Identifier: MIT
"""Terminals while the daemon, an agent or a client is killed."""

import os
import signal
import subprocess
from pathlib import Path

from support.daemon import BATCHAID, children
from support.terminals import Terminal
from support.waiting import PATIENCE, wait_for
from support.world import Place, fresh, wait_flag


def running(place, nodes=1):
    flag, path = place.flag(fresh("go"))
    begun, there = place.flag(fresh("begun"))
    made = place.job(place.cluster(nodes=nodes), f">{there}\n{wait_flag(path)}\nexit 0", nodes=nodes)
    wait_for(begun.exists, what="the job's command")
    made.flag = flag
    return made


def lives(pid):
    try:
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rsplit(") ", 1)[1][0] != "Z"
    except OSError:
        return False


def entered(job):
    t = Terminal(job, command="echo $$; exec sleep 10000")
    t.until(b"\n")
    return t, int(t.out)


def finish(job):
    job.flag.touch()
    assert job.succeed()["executionInfo"]["exitCode"] == 0


def test_the_daemon_is_killed(own_daemon):
    """Its commands end: at the next daemon's word, or by themselves without one. The job goes on."""
    d = own_daemon()
    job = running(Place(d).make())
    _, first = entered(job)
    d.kill9()
    wait_for(lambda: not lives(first), limit=60, what="the end of a command without a daemon")
    d.start()
    job.wait("running")
    wait_for(lambda: answers(job), limit=60, what="a terminal after the restart")
    _, second = entered(job)
    d.kill9()
    d.start()
    wait_for(lambda: not lives(second), limit=60, what="the end of a command at the next daemon's word")
    finish(job)


def answers(job):
    try:
        entered(job)[0].close()
        return True
    except Exception:
        return False


def test_a_stop_ends_them_at_once(own_daemon):
    d = own_daemon()
    job = running(Place(d).make())
    _, pid = entered(job)
    d.stop()
    wait_for(lambda: not lives(pid), limit=60, what="the end of a command without a daemon")
    d.start()
    finish(job)


def agents(d):
    """Not the supervisors of tasks, which have the same command line."""
    return [pid for pid in children(d.process.pid) if b"batchai-node" in Path(f"/proc/{pid}/cmdline").read_bytes()]


def test_an_agent_is_killed(own_daemon):
    """The command goes on over the next link."""
    d = own_daemon()
    d.expect_log("node.link_lost")
    job = running(Place(d).make())
    with Terminal(job, command="cat; echo over") as t:
        t.input(b"one\n")
        t.until(b"one\n")
        for pid in agents(d):
            os.kill(pid, signal.SIGKILL)
        t.input(b"two\n")
        t.until(b"two\n").end_input()
        assert t.finish() == (0, 0) and t.out == b"one\ntwo\nover\n"
    finish(job)


def test_a_client_is_killed(own_daemon):
    d = own_daemon()
    job = running(Place(d).make())
    argv = [BATCHAID, "exec", "--state-dir", d.state_dir, job.name, "--", "echo $$; exec sleep 10000"]
    client = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    pid = int(client.stdout.readline())
    client.kill()
    client.wait(timeout=10 * PATIENCE)
    wait_for(lambda: not lives(pid), limit=30, what="the end of its command")
    finish(job)
