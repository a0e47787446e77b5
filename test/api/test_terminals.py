# SPDX-License-Identifier: MIT
"""Commands, shells and connections beside a running job's processes."""

import fcntl
import hashlib
import os
import signal
import struct
import termios

import pytest
from support.daemon import processes_of
from support.terminals import Refused, Terminal, run
from support.waiting import wait_for
from support.world import Place, fresh, wait_flag


def running(place, cluster, command="", nodes=1, **more):
    """A job on this cluster, whose command has begun, and waits for `job.flag`."""
    flag, path = place.flag(fresh("go"))
    begun, there = place.flag(fresh("begun"))
    made = place.job(cluster, f"echo $AZ_BATCHAI_JOB_TEMP >here; {command}\n>{there}\n{wait_flag(path)}", nodes=nodes, **more)
    wait_for(begun.exists, what="the job's command")
    made.flag = flag
    return made


@pytest.fixture(scope="module")
def ground(daemon, temporary_in_file):
    return temporary_in_file(Place(daemon).make())


@pytest.fixture(scope="module")
def cluster(ground):
    return ground.cluster(nodes=2)


@pytest.fixture(scope="module")
def job(ground, cluster):
    """A running job on one node."""
    return running(ground, cluster)


def test_a_command_runs_beside_the_job(job):
    end, out, err = run(job, "echo out; echo err >&2; exit 7")
    assert (end, out, err) == ((7, 0), b"out\n", b"err\n")


def test_as_the_jobs_own_processes(job):
    end, out, _ = run(job, "cat here; echo $AZ_BATCHAI_JOB_TEMP; id -u; pwd")
    assert end == (0, 0)
    here, temp, uid, pwd = out.decode().splitlines()
    assert here == temp and (os.geteuid() != 0 or int(uid) != 0)


def test_input_and_output_are_bytes(job):
    data = os.urandom(3_000_000)
    with Terminal(job, command="sha256sum; head -c 3000000 /dev/zero") as t:
        t.input(data)
        t.end_input()
        assert t.finish() == (0, 0)
    text, zeros = t.out.split(b"\n", 1)
    assert text.split()[0].decode() == hashlib.sha256(data).hexdigest() and zeros == bytes(3_000_000)


def test_signals(job):
    with Terminal(job, command="trap 'echo caught; exit 3' INT; echo on; while :; do sleep 0.05; done") as t:
        t.until(b"on\n")
        t.send("s", bytes([signal.SIGINT]))
        assert t.finish() == (3, 0) and t.out == b"on\ncaught\n"
    with Terminal(job, command="echo on; exec sleep 1000") as t:
        t.until(b"on\n")
        t.send("s", bytes([signal.SIGKILL]))
        assert t.finish() == (0, signal.SIGKILL)


INPUT = bytes(320 << 10)  # what a pipe and the node take


def bytes_in_stdin(pid):
    """How many bytes wait in the pipe that the process does not read."""
    pipe = os.open(f"/proc/{pid}/fd/0", os.O_RDONLY | os.O_NONBLOCK)
    try:
        return struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, b"\0" * 4))[0]
    finally:
        os.close(pipe)


def fill_input(terminal, pid):
    """Sends more input than the command's pipe and the node take from the daemon."""
    terminal.input(INPUT)
    wait_for(lambda: bytes_in_stdin(pid) == 64 << 10, what="a full pipe")
    for _ in range(20):
        terminal.input(b"x")


def test_pings_and_signals_overtake_input_that_the_command_does_not_read(job):
    with Terminal(job, command="trap 'echo caught; exit 3' INT; echo $$; while :; do sleep 0.05; done") as t:
        fill_input(t, int(t.until(b"\n").out))
        t.send("p")
        t.until(lambda: t.pings == 1)
        t.send("s", bytes([signal.SIGINT]))
        assert t.finish() == (3, 0) and t.out.endswith(b"\ncaught\n")


def test_input_that_is_read_late_arrives_whole(job):
    script = "trap 'echo usr1' USR1; trap read=1 INT; echo $$; until test \"$read\"; do sleep 0.05; done; exec sha256sum"
    with Terminal(job, command=script) as t:
        fill_input(t, int(t.until(b"\n").out))
        t.send("s", bytes([signal.SIGUSR1]))
        t.until(b"usr1\n")
        t.send("s", bytes([signal.SIGINT]))
        t.end_input()
        assert t.finish() == (0, 0)
    assert t.out.split()[-2].decode() == hashlib.sha256(INPUT + b"x" * 20).hexdigest()


def test_a_shell_with_a_terminal(job):
    with Terminal(job, rows=33, columns=101, term="xterm") as t:
        t.send("i", b"stty size; echo $TERM; tty; exit 4\n")
        assert t.finish() == (4, 0)
    assert b"33 101\r\n" in t.out and b"\r\nxterm\r\n" in t.out and b"/dev/pts/" in t.out


def test_the_size_of_a_terminal_changes(job):
    script = "trap 'stty size; exit' WINCH; echo on; while :; do sleep 0.05; done"
    with Terminal(job, command=script, rows=24, columns=80) as t:
        t.until(b"on\r\n")
        t.send("w", bytes([0, 50, 0, 132]))
        assert t.finish() == (0, 0) and b"50 132" in t.out
