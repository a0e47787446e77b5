# SPDX-License-Identifier: MIT
import json
import os
import re
import shlex
import subprocess

import pytest
from support.accounts import account_name
from support.containers import TOOLKIT, docker, podman
from support.daemon import BATCHAID, BUILD, Daemon
from support.host_image import loaded
from support.waiting import PATIENCE
from support.world import Place

POLL = re.compile(r"Request URL: '[^']*/operationresults/")


class Az:
    """`batchaid az ARGS...` with a home of its own, so that nothing of the user's is touched."""

    def __init__(self, daemon, home):
        self.daemon = daemon
        self.env = {"HOME": str(home), "AZURE_CORE_COLLECT_TELEMETRY": "no", "AZURE_CORE_NO_COLOR": "1"}
        self.polls = None

    def run(self, command, check=True):
        """A command line as a user types it, without the `az`; returns the finished process."""
        return self.daemon.tool("az", *shlex.split(command), check=check, env=self.env, limit=60)

    def __call__(self, command):
        """Runs it and returns what it printed, read as JSON."""
        out = self.run(command).stdout
        return json.loads(out) if out.strip() else None

    def timed(self, command):
        """Like a call; counts in .polls how often it had to ask for the operation's result."""
        done = self.run(command + " --debug")
        self.polls = len(POLL.findall(done.stderr))
        return json.loads(done.stdout)

    def table(self, command):
        """The rows of a table, as lists of its columns' texts."""
        lines = self.run(command + " -o table").stdout.splitlines()
        columns = [m.span() for m in re.finditer(r"-+", lines[1])]
        ends = [start for start, _ in columns[1:]] + [None]
        return [[line[s:e].strip() for (s, _), e in zip(columns, ends)] for line in [lines[0], *lines[2:]]]

    def stream(self, command):
        """The lines it prints, as they come."""
        argv = [str(BATCHAID), "az", "--state-dir", str(self.daemon.state_dir), *shlex.split(command)]
        env = {**os.environ, **self.env, "PYTHONUNBUFFERED": "1"}
        with subprocess.Popen(
            argv, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        ) as p:
            yield from p.stdout
        assert p.returncode == 0

    def fails(self, command):
        done = self.run(command, check=False)
        assert done.returncode != 0, done.stdout
        return done.stderr


@pytest.fixture(scope="session")
def az_of(tmp_path_factory):
    """az_of(daemon) -> the az that talks to it"""
    return lambda daemon: Az(daemon, tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="session")
def az(az_of, daemon):
    return az_of(daemon)


@pytest.fixture(scope="module")
def account(az):
    """A storage account, in a group `group-NAME`; its name."""
    name = account_name()
    az(f"group create -n group-{name} -l eastus")
    az(f"storage account create -n {name} --sku Standard_LRS -g group-{name} -l eastus")
    yield name
    az(f"group delete -n group-{name} -y")


@pytest.fixture
def shell(daemon, tmp_path):
    """shell(line) -> what it prints, typed by somebody whose az knows nothing yet."""
    mine = {"HOME": tmp_path, "BATCHAID_STATE_DIR": daemon.state_dir, "PATH": f"{BUILD}:{os.environ['PATH']}"}
    env = {**os.environ, **{k: str(v) for k, v in mine.items()}, "AZURE_CORE_COLLECT_TELEMETRY": "no"}

    def run(line):
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", line], env=env, capture_output=True, text=True, timeout=60 * PATIENCE)
        assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    return run


@pytest.fixture(scope="module", params=["docker", "podman"])
def engine(request):
    """A container engine of the tests' own, with the image TOOLKIT. Terminals run the agent in the container, and an
    agent with sanitizers is linked dynamically."""
    files = loaded(BATCHAID.with_name("batchai-node"))
    if request.param == "docker":
        with docker() as found:
            found.add_image(TOOLKIT, files=files)
            yield found
        return
    with podman() as found:
        found.add_image(TOOLKIT, files=files)
        yield found


@pytest.fixture(scope="module")
def engine_place(engine):
    """A workspace on a daemon whose nodes have the engine."""
    with Daemon(config={"containers": {"runtimes": [engine.program]}}, environment=engine.environment) as d:
        p = Place(d).make()
        yield p
        p.remove()
