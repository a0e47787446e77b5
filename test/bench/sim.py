# SPDX-License-Identifier: MIT
"""Machines that do not exist: one process plays their agents, and a daemon that is built with another
transport of frames (link_sim.c) talks to it. All else of that daemon is the real one."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from support.daemon import BUILD, NODE_AGENT, Daemon

HOLDS = "sim-agents-hold"  # a command that never ends
BATCHAID_SIM, AGENTS = BUILD / "bench" / "batchaid-sim", BUILD / "bench" / "sim-agents"


def config(count):
    """Nobody ever listens there, nor needs to; what the keys name must be there."""
    group = {"hosts": f"sim[1-{count}]", "user": "batchai", "agent_socket": os.devnull}
    return {"inventory": [group], "mounts": [{"type": "local", "source": "/mnt/{share}"}]}


class SimDaemon(Daemon):
    def command(self):
        return [str(BATCHAID_SIM), *super().command()[1:]]


class Agents:
    """The process that plays all agents."""

    def __enter__(self):
        self.dir = Path(tempfile.mkdtemp(prefix="batchaid-sim-"))
        argv = [AGENTS, self.dir / "socket"]
        self.process = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout.readline() == "ready\n"
        return self

    def __exit__(self, *why):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        shutil.rmtree(self.dir)

    def daemon(self, config, state_dir):
        """As stage.new_daemon() makes one."""
        ours = {"BATCHAID_SIM_AGENTS": str(self.dir / "socket"), "BATCHAI_NODE": str(NODE_AGENT)}
        return SimDaemon(config, state_dir, environment=ours)
