# SPDX-License-Identifier: MIT
"""Machines of the inventory: connecting and preparing many, dispatching to one, watching idle ones."""

import time
from statistics import median

from support.world import SHARE

from . import machine, sim, stage
from .figures import Figure, percentile, short
from .fleet import Fleet, Master
from .jobs import STAMP, probe
from .load import Client
from .size import size

MACHINES, ROUNDS = size(100, 2), size(3)
PROBES = size(50, 2)
# Each is asked for its health when it becomes idle, then every 48 to 72 s: until the second round begins,
# and as long as the mean of the interval.
SETTLE_S, IDLE_S = size(46), size(60)
AIM_KB, AIM_PERCENT = 100, 1
SIMULATED = size(2_000, 20)


# --- connecting and preparing -----------------------------------------------------------------------


def nodes_ready(cluster, count):
    found = cluster.properties
    return found["nodeStateCounts"]["idleNodeCount"] == found["currentNodeCount"] == count


def resized(cluster, count):
    """Seconds until the cluster has so many idle nodes, and no others."""
    start = time.monotonic()
    cluster.resize(count)
    end = start + 120
    while not nodes_ready(cluster, count):
        assert time.monotonic() < end, f"not {count} nodes: {cluster.properties}"
        time.sleep(0.02)
    return time.monotonic() - start


def measure_connect():
    times = {"first": [], "again": [], "pdsh": [], "parallel-ssh": [], "cpu": []}
    with Fleet(MACHINES) as fleet, stage.running_daemon(fleet.config()) as daemon:
        cluster, pid = stage.Stage(daemon, nodes=0).cluster, daemon.process.pid
        for _ in range(ROUNDS):
            fleet.empty_homes()
            times["first"].append(resized(cluster, MACHINES))
            resized(cluster, 0)
            before = machine.cpu_seconds(pid)
            times["again"].append(resized(cluster, MACHINES))
            times["cpu"].append((machine.cpu_seconds(pid) - before) * 1000 / MACHINES)
            resized(cluster, 0)
            times["pdsh"].append(fleet.pdsh("true"))
            times["parallel-ssh"].append(fleet.parallel_ssh("true"))
    peers = {f"{p} true": times[p] for p in ("pdsh", "parallel-ssh")}
    return [
        Figure(f"{MACHINES} machines to idle, first time", "s", times["first"], against=peers,
               note="the agent is uploaded to each"),
        Figure(f"{MACHINES} machines to idle, again", "s", times["again"], against=peers),
        Figure("  CPU of the daemon for each", "ms", times["cpu"]),
    ]  # fmt: skip


# --- dispatching --------------------------------------------------------------------------------------


def ssh_times(master):
    """Milliseconds until the command of an ssh reads the clock, and that a whole `ssh true` takes."""
    start = time.time()
    first_line = float(master.run(STAMP))
    again = time.time()
    master.run("true")
    return (first_line - start) * 1000, (time.time() - again) * 1000


def measure_dispatch():
    waited, started, first, whole = [], [], [], []
    with (
        Fleet(1) as fleet,
        stage.running_daemon(fleet.config()) as daemon,
        Client(daemon) as client,
        Master(fleet, fleet.hosts[0]) as master,
    ):
        scene = stage.Stage(daemon, nodes=1)
        for number in range(PROBES):
            put, allocated, first_line = probe(client, scene, number, fleet.share / SHARE)
            waited.append((first_line - put) * 1000)
            started.append((first_line - allocated) * 1000)
            for times, ms in zip((first, whole), ssh_times(master)):
                times.append(ms)
    against = {"ssh ControlMaster, true": whole, "its first line": first}
    note = f"p95 {percentile(waited, 95):.1f} (ssh {percentile(whole, 95):.1f})"
    aim = median(whole)
    return [
        Figure("PUT to first line over SSH", "ms", waited, aim, against=against, note=note),
        Figure("  from its allocation on", "ms", started, aim, against=against),
    ]


# --- being idle ---------------------------------------------------------------------------------------


class Idlers:
    """A daemon with so many nodes that have nothing to do. The first one's memory does not count: it
    brings in libraries and buffers that all of them share."""

    def __init__(self, daemon, count, name):
        self.pid, self.count, self.name = daemon.process.pid, count, name
        cluster = stage.Stage(daemon, nodes=1).cluster
        self.before = machine.rss_mb(self.pid)
        resized(cluster, count)

    def begin(self):
        self.cpu, self.start = machine.cpu_seconds(self.pid), time.monotonic()

    def figures(self):
        cpu = (machine.cpu_seconds(self.pid) - self.cpu) / (time.monotonic() - self.start)
        kb = (machine.rss_mb(self.pid) - self.before) * 1000 / (self.count - 1)
        note = f"of a core; {short(cpu / self.count * 1e6)} us/s each"
        aim = AIM_PERCENT if self.count >= SIMULATED else None
        return [
            Figure(f"{self.count:,} {self.name}: memory for each more", "KB", [kb], AIM_KB),
            Figure("  CPU for all of them", "%", [cpu * 100], aim, note=note),
        ]


def measure_idle():
    """Both kinds at the same time, as that takes a while."""
    with (
        Fleet(MACHINES) as fleet,
        stage.running_daemon(fleet.config()) as real,
        sim.Agents() as agents,
        stage.running_daemon(sim.config(SIMULATED), agents.daemon) as simulated,
    ):
        idlers = [
            Idlers(real, MACHINES, "idle machines over SSH"),
            Idlers(simulated, SIMULATED, "idle simulated machines"),
        ]
        time.sleep(SETTLE_S)
        for some in idlers:
            some.begin()
        time.sleep(IDLE_S)
        return [figure for some in idlers for figure in some.figures()]
