# SPDX-License-Identifier: MIT
"""The agent for aarch64, where it was built: that it runs, and that a daemon with machines takes it."""
import json
import platform
import shutil
import subprocess

import pytest
from support.daemon import BUILD, NODE_AGENT

CROSS = BUILD / "batchai-node-aarch64"
QEMU = shutil.which("qemu-aarch64-static")

needs_cross = pytest.mark.skipif(not CROSS.exists(), reason="no cross compiler for aarch64")
needs_qemu = pytest.mark.skipif(not QEMU and platform.machine() != "aarch64",
                                reason="nothing here runs aarch64")
MACHINES = "inventory: [{hosts: 127.0.0.1:1, agent_socket: /nowhere}]\nlocal: {nodes: 1}\n"


def cross(*arguments, **more):
    return subprocess.run([*([QEMU] if QEMU else []), CROSS, *arguments], capture_output=True,
                          timeout=60, **more)


@needs_cross
@needs_qemu
def test_it_is_static_and_of_the_same_version():
    assert cross("version").stdout == subprocess.run([NODE_AGENT, "version"], capture_output=True).stdout
    headers = subprocess.run(["readelf", "-l", CROSS], capture_output=True, text=True).stdout
    assert "INTERP" not in headers


@needs_cross
@needs_qemu
def test_it_answers_a_daemon(tmp_path):
    hello = json.dumps({"id": 1, "op": "hello", "version": 1}).encode()
    done = cross("agent", "--root", str(tmp_path / "root"),
                 input=len(hello).to_bytes(4, "big") + hello)
    size = int.from_bytes(done.stdout[:4], "big")
    reply = json.loads(done.stdout[4:4 + size])
    assert reply["ok"] is True, done.stderr
    assert reply["node"]["arch"] == "aarch64"


@pytest.fixture
def agents(tmp_path):
    """A folder with a copy of the agent, and a configuration with a machine."""
    if platform.machine() == "aarch64":
        pytest.skip("here the other architecture is x86_64")
    (tmp_path / "bin").mkdir()
    shutil.copy(NODE_AGENT, tmp_path / "bin/batchai-node")
    (tmp_path / "c.yaml").write_text(MACHINES)
    return tmp_path / "bin"


def test_one_architecture_is_enough(serve, agents):
    daemon = serve("--config", "c.yaml", env={"BATCHAI_NODE": str(agents / "batchai-node")})
    assert daemon.stop() == (0, "")


def test_the_agent_of_another_architecture_is_read_from_beside_the_own_one(run, agents):
    (agents / "batchai-node-aarch64").write_bytes(b"")
    done = run("serve", "--config", "c.yaml", "--state-dir", "state",
               env={"BATCHAI_NODE": str(agents / "batchai-node")})
    assert (done.returncode, done.stdout) == (1, "")
    assert f"the node agent for aarch64: {agents}/batchai-node-aarch64 is an empty file" in done.stderr
