# SPDX-License-Identifier: MIT
"""From exec to the line `ready ...`, and what memory an idle daemon and a node's agent hold."""

import subprocess
import time

from support.daemon import BATCHAID

from . import machine, stage
from .figures import Figure
from .size import size

ROUNDS = size(10)
AIM_MS, AIM_MB, AIM_READY_MB = 50, 20, 10
JOBS = size(10_000, 20)


def timed(daemon):
    start = time.monotonic()
    daemon.start()
    return (time.monotonic() - start) * 1000


def fresh():
    daemon = stage.new_daemon()
    try:
        return timed(daemon)
    finally:
        stage.close(daemon)


def again(daemon):
    daemon.stop()
    return timed(daemon)


def bare():
    """The same program, which only prints its version."""
    start = time.monotonic()
    subprocess.run([str(BATCHAID), "version"], stdout=subprocess.DEVNULL, check=True)
    return (time.monotonic() - start) * 1000


def with_jobs():
    with stage.running_daemon() as daemon:
        stage.Stage(daemon, nodes=0).fill(JOBS)
        return [again(daemon) for _ in range(ROUNDS)]


def measure():
    peer = {"batchaid version": [bare() for _ in range(ROUNDS)]}
    with stage.running_daemon() as daemon:
        existing = [again(daemon) for _ in range(ROUNDS)]
    return [
        Figure("start, fresh state", "ms", [fresh() for _ in range(ROUNDS)], AIM_MS, against=peer),
        Figure("start, existing state", "ms", existing, AIM_MS, against=peer),
        Figure(f"start, {JOBS:,} queued jobs", "ms", with_jobs(), AIM_MS, against=peer),
    ]


def measure_memory():
    with stage.running_daemon() as daemon:
        pid = daemon.process.pid
        alone = machine.rss_mb(pid)
        stage.Stage(daemon, nodes=1)
        with_node = machine.rss_mb(pid)
        (agent,) = machine.children(pid)
        return [
            Figure("memory at ready", "MB", [alone], AIM_READY_MB),
            Figure("memory with one idle node", "MB", [with_node], AIM_MB),
            Figure("memory of its agent", "MB", [machine.rss_mb(agent)]),
        ]
