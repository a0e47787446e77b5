# SPDX-License-Identifier: MIT
"""Jobs that run: from PUT to the first line of one job, and how many go through 16 nodes."""

import json
import sys
import time
from contextlib import ExitStack
from datetime import datetime

from support.waiting import wait_for
from support.world import MOUNT

from . import machine, slurm, stage
from .figures import Figure, percentile
from .load import Client
from .size import size

PROBES, PEER_PROBES = size(50, 2), size(10)
AIM_START_MS = 10
JOBS, NODES, ROUNDS, PEER_JOBS = size(1_000, 16), size(16, 2), size(3), size(400, 8)
AIM_JOBS = 300
STAMP = "echo $EPOCHREALTIME"


def instant(text):
    return datetime.fromisoformat(text).timestamp()


def probe(client, scene, number, share):
    """Runs a job whose shell reads the clock, into the folder that is its share. Returns the instant
    before the PUT, the one at which it was allocated, and that clock."""
    name = f"probe-{number}"
    body, url = json.dumps(scene.body(f"{STAMP} > {MOUNT}/{name}")), scene.job_path(name)
    start = time.time()
    client.call("PUT", url, body)
    wait_for(lambda: b'"executionState":"succeeded"' in client.call("GET", url), what=name)
    info = json.loads(client.call("GET", url))["properties"]["executionInfo"]
    return start, instant(info["startTime"]), float((share / name).read_text())


def first_line_of(peer, number):
    """Its controller looks by the clock: each probe begins at another moment of its second."""
    time.sleep(number / PEER_PROBES)
    return peer.first_line_ms(number)


def measure_latency():
    waited, spawned, files = [], [], []
    with stage.running_daemon() as daemon, Client(daemon) as client:
        scene = stage.Stage(daemon, nodes=1)
        for number in range(PROBES):
            put, _, first_line = probe(client, scene, number, scene.share)
            waited.append((first_line - put) * 1000)
            spawned.append(machine.spawn_seconds(STAMP) * 1000)
            files.append(1000 / machine.job_files_per_second(daemon.dir, 1))
    against = {"posix_spawn of bash": spawned, "a job's files alone": files}
    if peer_is_here():
        with slurm.Slurm(1) as peer:
            against["Slurm"] = [first_line_of(peer, number) for number in range(PEER_PROBES)]
    note = f"p95 {percentile(waited, 95):.1f} (bare {percentile(spawned, 95):.1f})"
    return [Figure("PUT to job's first line", "ms", waited, AIM_START_MS, against=against, note=note)]


def ended_jobs(client, scene, prefix):
    """The end of each job whose name starts so; only looks at all of them once the last is through."""
    last = client.call("GET", scene.job_path(f"{prefix}-{JOBS}"))
    if b'"endTime"' not in last:
        return None
    mine = [j["properties"] for j in scene.jobs(client) if j["name"].startswith(prefix)]
    failed = [p for p in mine if p["executionState"] == "failed"]
    assert not failed, failed[0]
    ends = [p["executionInfo"]["endTime"] for p in mine if p["executionState"] == "succeeded"]
    return ends if len(ends) == JOBS else None


def run_jobs(client, scene, prefix):
    """Jobs per second from the first PUT to the last end, and the seconds the PUTs alone took."""
    start = time.time()
    submitted = scene.fill(JOBS, prefix)
    ends = wait_for(lambda: ended_jobs(client, scene, prefix), limit=120, what="all jobs to end")
    return JOBS / (max(map(instant, ends)) - start), submitted["seconds"]


def peer_is_here():
    reason = slurm.missing()
    if reason:
        print(f"bench: without Slurm: {reason}", file=sys.stderr)
    return not reason


class Runs:
    """Rounds of jobs on the nodes of a daemon of its own: their rates, those of the PUTs, the daemon's time for each."""

    def __init__(self, stack, config=None):
        self.daemon = stack.enter_context(stage.running_daemon(config))
        self.client = stack.enter_context(Client(self.daemon))
        self.scene = stage.Stage(self.daemon, nodes=NODES)
        self.rates, self.submissions, self.cpu = [], [], []

    def one_more(self):
        before = machine.cpu_seconds(self.daemon.process.pid)
        rate, seconds = run_jobs(self.client, self.scene, f"batch{len(self.rates)}")
        self.cpu.append((machine.cpu_seconds(self.daemon.process.pid) - before) * 1e6 / JOBS)
        self.rates.append(rate)
        self.submissions.append(JOBS / seconds)


def measure_throughput():
    spawns, files, peers = [], [], []
    with ExitStack() as stack:
        peer = stack.enter_context(slurm.Slurm(NODES)) if peer_is_here() else None
        apart = Runs(stack)  # each job with an account of its own, where the daemon is root
        alike = Runs(stack, {"jobs": {"uids": 0}})  # all as one account, like the peer's
        for _ in range(ROUNDS):
            apart.one_more()
            alike.one_more()
            if peer:
                peers.append(peer.jobs_per_second(PEER_JOBS))
        for _ in range(ROUNDS):  # behind all jobs: for some minutes ext4 looks at each inode that was removed
            spawns.append(machine.spawns_per_second(JOBS, NODES))
            files.append(machine.job_files_per_second(apart.daemon.dir, JOBS))
    name = f"{JOBS:,} jobs on {NODES} nodes"
    slurms = {"Slurm": peers} if peers else {}
    against = {f"xargs -P{NODES} bash": spawns, "their files alone": files, **slurms}
    return [
        Figure(name, "1/s", apart.rates, AIM_JOBS, True, against),
        Figure("  their submission alone", "1/s", apart.submissions),
        Figure("  CPU of the daemon for each", "us", apart.cpu, note="submission, run and looks at the list"),
        Figure("  all as one account, like Slurm's", "1/s", alike.rates, against=slurms),
    ]
