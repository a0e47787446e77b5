# SPDX-License-Identifier: MIT
"""The processes of jobs. Each has a session, an environment and an output of its own.

    Executed   a command
    Forked     pytest, as a fork of a process that has already imported what most tests import: the imports take longer
               than many a file of tests

The checks run this file as the program that forks; its standard input is their connection (forks()). It has one thread and
ends with that connection. It imports nothing of support/, because some of those modules read the environment when they
are imported, and environments differ by job."""
import contextlib
import importlib
import json
import os
import signal
import socket
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PYTHON = "/usr/bin/python3"
# A library that is not installed here is imported by nobody.
COMMON = ("azure.storage.blob", "azure.storage.fileshare", "_pytest.assertion.rewrite", "_pytest.fixtures", "_pytest.python", "_pytest.terminal", "_pytest.tmpdir", "_pytest.junitxml",
          "concurrent.futures.thread", "cryptography.x509", "email.utils", "http.client", "http.server", "jsonschema", "pytest",
          "requests", "sqlite3", "uuid", "xml.etree.ElementTree", "yaml", "zipfile")
LARGEST = 1 << 17  # bytes of a request: arguments and environment


# --- the part of the checks ------------------------------------------------------------------------


class Executed:
    """.pid is its process and the group of all that it starts; wait() returns its exit code (negative: the signal)
    and the processor time, in seconds, of it and of all its descendants that were waited for."""

    def __init__(self, argv, env, output):
        self.process = subprocess.Popen(argv, cwd=ROOT, env=env, stdin=subprocess.DEVNULL, stdout=output,
                                        stderr=subprocess.STDOUT, start_new_session=True)
        self.pid = self.process.pid

    def wait(self):
        _, status, usage = os.wait4(self.pid, 0)
        self.process.returncode = os.waitstatus_to_exitcode(status)
        return self.process.returncode, usage.ru_utime + usage.ru_stime


class Forked:
    """The same of a run of pytest; `connection` is to the process that waits for it."""

    def __init__(self, connection):
        self.connection = connection
        self.pid = self.answer()["pid"]

    def answer(self):
        data = self.connection.recv(LARGEST)
        if not data:
            raise RuntimeError("the process that forks has ended")
        return json.loads(data)

    def wait(self):
        end = self.answer()
        self.connection.close()
        return os.waitstatus_to_exitcode(end["status"]), end["cpu"]


class Forks:
    def __init__(self, connection):
        self.connection = connection

    def start(self, argv, env, output):
        """`argv`: the arguments of pytest."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            ask = json.dumps({"argv": argv, "env": env}).encode()
            socket.send_fds(self.connection, [ask], [theirs.fileno(), output.fileno()])
        return Forked(ours)


@contextlib.contextmanager
def forks():
    """The process that forks, until then."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    path = os.pathsep.join(filter(None, [os.path.join(ROOT, "test"), os.environ.get("PYTHONPATH")]))
    with ours, theirs, subprocess.Popen([PYTHON, "-m", "checks.processes"], stdin=theirs, cwd=ROOT,
                                        env={**os.environ, "PYTHONPATH": path}) as process:
        theirs.close()
        yield Forks(ours)
        ours.close()
        process.wait()


# --- the process that forks ------------------------------------------------------------------------


def run(ask, output):
    """Becomes what `python3 -m pytest` would be in a new session; never returns."""
    os.setsid()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for fd, number in ((nothing, 0), (output, 1), (output, 2)):
        os.dup2(fd, number)
    os.closerange(3, 64)
    os.environ.clear()
    os.environ.update(ask["env"])
    sys.argv[:] = ["pytest", *ask["argv"]]
    import pytest

    sys.exit(pytest.main(ask["argv"]))


def watch(ask, connection, output):
    """A process between the two that knows only this run: waits for its end and tells the checks."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    pid = os.fork()
    if pid == 0:
        run(ask, output)
    connection.send(json.dumps({"pid": pid}).encode())
    os.close(output)
    _, status, usage = os.wait4(pid, 0)
    with contextlib.suppress(OSError):
        connection.send(json.dumps({"status": status, "cpu": usage.ru_utime + usage.ru_stime}).encode())
    os._exit(0)


def serve(asks):
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those between
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for name in COMMON:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    while True:
        ask, fds, _, _ = socket.recv_fds(asks, LARGEST, 2)
        if not ask:
            return
        if os.fork() == 0:
            asks.close()
            watch(json.loads(ask), socket.socket(fileno=fds[0]), fds[1])
        for fd in fds:
            os.close(fd)


if __name__ == "__main__":
    serve(socket.socket(fileno=os.dup(0)))
