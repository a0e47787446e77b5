# SPDX-License-Identifier: MIT
"""The program from outside: its command line, and daemons without any resource in them."""
import os
import select
import signal
import subprocess

import pytest
from support.daemon import BATCHAID, NODE_AGENT, SANITIZER

UNSET = ("BATCHAID_STATE_DIR", "STATE_DIRECTORY", "XDG_STATE_HOME", "NOTIFY_SOCKET")


def environment(tmp_path, **more):
    """The test's own, with nothing in it that says where the state is but HOME."""
    env = {k: v for k, v in os.environ.items() if k not in UNSET}
    return {**env, "HOME": str(tmp_path), "BATCHAI_NODE": str(NODE_AGENT), **more}


@pytest.fixture
def clean_env(tmp_path):
    return environment(tmp_path)


@pytest.fixture
def run(tmp_path):
    """run("env", ...) -> the finished process; its directory is the test's."""

    def call(*arguments, env=None):
        done = subprocess.run([str(BATCHAID), *map(str, arguments)], cwd=tmp_path, text=True,
                              capture_output=True, env=environment(tmp_path, **(env or {})),
                              stdin=subprocess.DEVNULL, timeout=60)
        assert not SANITIZER.search(done.stderr), done.stderr
        return done

    return call


class Serving:
    def __init__(self, directory, arguments, env):
        self.stderr_path = directory / "stderr.log"
        with open(self.stderr_path, "ab") as stderr:
            self.process = subprocess.Popen([str(BATCHAID), "serve", *map(str, arguments)],
                                            cwd=directory, env=environment(directory, **env),
                                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                            stderr=stderr)
        ready, _, _ = select.select([self.process.stdout], [], [], 60)
        self.first_line = self.process.stdout.readline().decode() if ready else "(nothing)"
        if not self.first_line.startswith("ready https://"):
            self.process.kill()
            self.process.wait()
            raise AssertionError(f"{self.first_line!r}: {self.log}")
        self.url = self.first_line.split()[1]
        self.port = int(self.url.rsplit(":", 1)[1])

    @property
    def log(self):
        return self.stderr_path.read_text()

    def stop(self, signo=signal.SIGTERM):
        """(exit code, what else came on stdout)"""
        self.process.send_signal(signo)
        rest, _ = self.process.communicate(timeout=60)
        return self.process.returncode, rest.decode()


@pytest.fixture
def serve(tmp_path):
    """serve("--state-dir", ...) -> a daemon on a free loopback port, in the state directory `state`
    unless said otherwise; it must end well."""
    made = []

    def start(*arguments, env=None, listen=("localhost:0",)):
        if "--state-dir" not in arguments:
            arguments += ("--state-dir", tmp_path / "state")
        for address in listen:
            arguments += ("--listen", address)
        made.append(Serving(tmp_path, arguments, env or {}))
        return made[-1]

    yield start
    for s in made:
        if s.process.poll() is None:
            assert s.stop()[0] == 0, s.log
        assert not SANITIZER.search(s.log), s.log
