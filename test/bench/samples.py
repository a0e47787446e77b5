# SPDX-License-Identifier: MIT
"""Samples: what one costs an agent, and what those of 2,000 nodes with 8 GPUs cost the daemon."""

import json
import os
import socket
import struct
import subprocess
import tempfile
import time
from pathlib import Path

from support.daemon import NODE_AGENT

from . import machine, sim, stage
from .figures import Figure, percentile, short
from .machines import resized
from .size import size

EVERY_S, GPUS = 15, 8
SAMPLES = size(300, 5)
NODES, SETTLE_S, WATCHED_S = size(2_000, 20), size(40), size(45)
AIM_AGENT_PERCENT, AIM_AGENT_MB, AIM_TURN_MS = 0.3, 2, 10
LINE = "{0}, GPU-6e1f9a28-{0}, 97, 60000, 81559, 650.10, 71, 0, 0x0000000000000004"


class Agent:
    """An agent that this process asks; its GPUs are those of a program of ours."""

    def __enter__(self):
        self.dir = tempfile.TemporaryDirectory(prefix="batchaid-samples-")
        program = Path(self.dir.name) / "nvidia-smi"
        lines = "\n".join(LINE.format(i) for i in range(GPUS))
        program.write_text(f"#!/bin/sh\ncase $1 in --query-gpu*) echo '{lines}'; exec sleep 1000;; esac\n")
        program.chmod(0o755)
        self.socket, theirs = socket.socketpair()
        self.process = subprocess.Popen(
            [NODE_AGENT, "agent", "--root", f"{self.dir.name}/root"],
            stdin=theirs,
            stdout=theirs,
            env={**os.environ, "PATH": f"{self.dir.name}:{os.environ['PATH']}"},
        )
        theirs.close()
        self.id = 0
        self.ask("hello", version=1)
        return self

    def __exit__(self, *why):
        self.socket.close()
        self.process.wait()
        self.dir.cleanup()

    def _read(self, n):
        got = b""
        while len(got) < n:
            more = self.socket.recv(n - len(got))
            assert more, "the agent has ended"
            got += more
        return got

    def ask(self, op, **members):
        self.id += 1
        body = json.dumps({"id": self.id, "op": op, **members}).encode()
        self.socket.sendall(struct.pack(">I", len(body)) + body)
        while True:
            reply = json.loads(self._read(struct.unpack(">I", self._read(4))[0]))
            if reply.get("id") == self.id:
                return reply


def measure_agent():
    with Agent() as agent:
        before = machine.rss_mb(agent.process.pid)
        while not agent.ask("sample", gpus=True)["sample"]["gpus"]:
            time.sleep(0.02)
        cpu = machine.cpu_seconds(agent.process.pid)
        for _ in range(SAMPLES):
            agent.ask("sample", gpus=True)
        each = (machine.cpu_seconds(agent.process.pid) - cpu) / SAMPLES
        grown = machine.rss_mb(agent.process.pid) - before
        return [
            Figure("an agent's samples of itself and 8 GPUs", "%", [each / EVERY_S * 100], AIM_AGENT_PERCENT,
                   note=f"of a core; {short(each * 1e6)} us each, without nvidia-smi"),
            Figure("  memory for them", "MB", [grown], AIM_AGENT_MB),
        ]  # fmt: skip


def watched(daemon, seconds):
    """Milliseconds that answers take meanwhile, and the part of a core that the daemon takes. A turn of the
    loop delays each answer that comes meanwhile."""
    cpu, begin, waited = machine.cpu_seconds(daemon.process.pid), time.monotonic(), []
    while time.monotonic() - begin < seconds:
        start = time.monotonic()
        daemon.call("GET", "/batchaid/ready", api_version=None, token=None, expect=200, validate=False)
        waited.append((time.monotonic() - start) * 1000)
        time.sleep(0.02)
    return waited, (machine.cpu_seconds(daemon.process.pid) - cpu) / (time.monotonic() - begin)


def measure_daemon():
    with sim.Agents() as agents, stage.running_daemon(sim.config(NODES), agents.daemon) as daemon:
        scene = stage.Stage(daemon, nodes=1)
        time.sleep(1)
        before, idle = watched(daemon, WATCHED_S)
        resized(scene.cluster, NODES)
        time.sleep(SETTLE_S)
        waited, used = watched(daemon, WATCHED_S)
        begin = time.monotonic()
        nodes = daemon.call("GET", "/batchaid/nodes", api_version=None, validate=False).json["value"]
        listed = (time.monotonic() - begin) * 1000
        assert sum("sample" in n for n in nodes) == NODES
        name = f"samples of {NODES:,} nodes with {GPUS} GPUs"
        return [
            Figure(f"{name}: an answer meanwhile, p99", "ms", [percentile(waited, 99)], AIM_TURN_MS,
                   against={"without nodes": [percentile(before, 99)]}, note=f"the longest {max(waited):.1f}"),
            Figure("  CPU of the daemon, with answers and history", "%", [used * 100],
                   against={"without nodes": [idle * 100]}, note="of a core"),
            Figure("  GET /batchaid/nodes", "ms", [listed]),
        ]  # fmt: skip


def measure():
    return measure_agent() + measure_daemon()
