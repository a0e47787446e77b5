# SPDX-License-Identifier: MIT
"""Terminals on machines over SSH: the link is cut, sshd is killed, the machine loses power, a client reads nothing."""

import re
import signal
import subprocess
import urllib.request

import pytest
from support.daemon import BATCHAID, memory_bound
from support.terminals import Refused, Terminal, run
from support.waiting import PATIENCE, wait_for
from support.world import fresh, wait_flag

# Long enough for no job to be given up in these tests.
PATIENT = {"machines": {"unusable_after_s": 120}}
MANY = 50_000_000  # bytes
SLEEP = "sleep 9876543"
FAR_END = "batchai-node remote"


@pytest.fixture
def site(racked):
    return racked(**PATIENT)


@pytest.fixture
def job(site):
    """A job that runs on one machine, `job.machine`, until job.flag is there; it must succeed in the end."""
    cluster = site.cluster(nodes=1)
    flag, path = site.flag(fresh("go"))
    begun, there = site.flag(fresh("begun"))
    made = site.job(cluster, f">{there}\n{wait_flag(path)}")
    wait_for(begun.exists, 60, "the job's command")
    (made.machine,) = site.machines_of(cluster)
    yield made
    made.machine.restore_link()
    flag.touch()
    made.succeed()


def start(job, *arguments):
    argv = [str(BATCHAID), arguments[0], "--state-dir", str(job.daemon.state_dir), *arguments[1:]]
    return subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def sleeper(job):
    """An open terminal with a command that never ends, which the machine has."""
    t = Terminal(job, limit=90 * PATIENCE, command=f"echo on; {SLEEP}")
    t.until(b"on\n")
    wait_for(lambda: job.machine.processes(SLEEP), what="the command")
    assert job.machine.processes(FAR_END)
    return t


def answers(job):
    try:
        return run(job, "hostname") == ((0, 0), f"{job.machine.name}\n".encode(), b"")
    except Refused:
        return False


def nothing_is_left(job, limit=60):
    """No process of a terminal: neither its command nor its far end."""
    wait_for(lambda: not job.machine.processes(f"{SLEEP}|{FAR_END}"), limit, lambda: job.machine.processes())


def test_a_command_a_shell_and_a_port_of_a_machine(job):
    end, out, err = run(job, "hostname; id -un; tty; exit 7")
    host, account, _ = out.decode().splitlines()
    assert end == (7, 0) and host == job.machine.name and account not in ("root", "batchai"), err
    with Terminal(job, rows=33, columns=101) as t:
        t.send("i", b"stty size; hostname; exit 4\n")
        assert t.finish() == (4, 0)
    assert b"33 101\r\n" in t.out and f"\r\n{job.machine.name}\r\n".encode() in t.out
    with Terminal(job, command="cd /etc; exec python3 -u -m http.server --bind 127.0.0.1 0") as server:
        server.until(b") ...\n")
        port = re.search(rb"port (\d+)", server.out)[1].decode()
        forward = start(job, "forward", job.name, f"0:{port}")
        url = re.match(rb"http://127.0.0.1:\d+", forward.stdout.readline())[0].decode()
        with urllib.request.urlopen(f"{url}/hostname", timeout=30 * PATIENCE) as reply:
            assert reply.read().decode() == f"{job.machine.name}\n"
        forward.send_signal(signal.SIGTERM)
        forward.communicate(timeout=30 * PATIENCE)
    nothing_is_left(job)


def test_a_link_that_is_cut_for_long(job):
    """The client is told which node is silent; the command ends on the machine, which nobody reaches."""
    t = sleeper(job)
    shell = start(job, "exec", job.name, "--", f"echo on; {SLEEP}")
    assert shell.stdout.readline() == b"on\n"
    job.machine.cut_link()
    end = t.finish()
    assert re.fullmatch(rf"the node \S+ \({re.escape(job.machine.address)}\) does not answer; the command ends there", end), end
    _, err = shell.communicate(timeout=60 * PATIENCE)
    assert shell.returncode == 255 and f"({job.machine.address}) does not answer" in err.decode()
    nothing_is_left(job)
    with pytest.raises(Refused) as refused:
        Terminal(job, command="true")
    assert refused.value.code == "Conflict" and "its link is broken; try again in a moment" in refused.value.message
    job.machine.restore_link()
    wait_for(lambda: answers(job), 60, "a terminal over the next link")
    nothing_is_left(job)


def test_a_link_that_is_cut_for_a_moment(job):
    """The terminal goes on: nothing is lost, nothing comes twice."""
    with Terminal(job, limit=60 * PATIENCE, command="cat; echo over") as t:
        t.input(b"one\n")
        t.until(b"one\n")
        job.machine.kill_sshd()
        t.input(b"two\n")
        job.machine.start_sshd()
        t.until(b"two\n").end_input()
        assert t.finish() == (0, 0) and t.out == b"one\ntwo\nover\n"
    assert answers(job)
    nothing_is_left(job)


def test_a_client_that_leaves_while_the_link_is_cut(job):
    t = sleeper(job)
    job.machine.cut_link()
    t.close()
    nothing_is_left(job)
    job.machine.restore_link()
    wait_for(lambda: answers(job), 60, "a terminal over the next link")


def test_a_client_that_reads_nothing_of_50_megabytes(job):
    """The command waits with the client. The daemon keeps little of its output and serves others; a client that reads
    at last gets all."""
    before = job.daemon.resident()
    stalled = [Terminal(job, limit=60 * PATIENCE, command=f"head -c {MANY} /dev/zero") for _ in range(4)]
    for t in stalled:
        t.until(lambda t=t: t.out)
    assert [answers(job) for _ in range(3)] == [True] * 3
    assert job.daemon.call("GET", "/batchaid/queue").status == 200
    assert job.daemon.resident() - before < memory_bound(16 << 20)
    assert len(job.machine.processes(rf"^head -c {MANY}")) == 4, "they wait"
    first, *others = stalled
    assert first.finish() == (0, 0) and len(first.out) == MANY and not first.out.strip(b"\0")
    for t in others:
        t.close()
    nothing_is_left(job)
    wait_for(lambda: not job.machine.processes(rf"head -c {MANY}"), 30, "the end of the commands")
