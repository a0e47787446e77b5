# SPDX-License-Identifier: MIT
"""Requests per second: durable PUTs of new jobs, GETs of one job, and the whole list in pages."""

import json
import time
from statistics import median

from . import machine, stage
from .figures import Figure, short
from .load import Client, wrk
from .size import size

ROUNDS, SECONDS, SYNC_SECONDS = size(5), size(2), size(0.5, 0.1)
JOBS, LIST_ROUNDS = size(10_000, 100), size(7)
CONNECTIONS = (1, 16)
AIM_PUTS = {1: 500, 16: 3000}
AIM_GETS, AIM_LIST_MS = 15_000, 100


def echo_wrk(echo, method, body, connections):
    found = wrk(echo.endpoint, method, "/", "-", body, connections, seconds=SECONDS, pid=echo.process.pid)
    return found["rate"], found["cpu_us"]


class Samples:
    """Rates and CPU times of one kind of request, of the daemon and of the bare server."""

    def __init__(self):
        self.rate, self.cpu, self.echo_rate, self.echo_cpu = [], [], [], []
        self.commits, self.syncs = [], []

    def add(self, found, echo):
        self.rate.append(found["rate"])
        self.cpu.append(found["cpu_us"])
        self.echo_rate.append(echo[0])
        self.echo_cpu.append(echo[1])

    def add_counted(self, before, after):
        """What the daemon counted meanwhile, for each request."""
        n = max(after["requests"]["received"] - before["requests"]["received"], 1)
        self.commits.append((after["storage"]["commits"] - before["storage"]["commits"]) / n)
        self.syncs.append((after["storage"]["syncs"] - before["storage"]["syncs"]) / n)

    def counted_figures(self):
        return [Figure("  commits a request", "", self.commits), Figure("  syncs a request", "", self.syncs)]

    def figures(self, name, aim, **more):
        against = {"bare server": self.echo_rate, **more}
        return [
            Figure(name, "1/s", self.rate, aim, True, against),
            Figure("  CPU of the server", "us", self.cpu, against={"bare server": self.echo_cpu},
                   note=f"a core of its own: {short(1e6 / median(self.cpu))}/s"),
        ]


def connections_text(n):
    return f"{n} connection" + "s" * (n > 1)


def counters(daemon):
    with Client(daemon) as client:
        return json.loads(client.call("GET", "/batchaid/counters"))


def measure_puts():
    samples, syncs = {n: Samples() for n in CONNECTIONS}, []
    with stage.running_daemon() as daemon, machine.Echo(daemon.state_dir, b"") as echo:
        scene = stage.Stage(daemon, nodes=0)
        for number in range(ROUNDS):
            syncs.append(machine.syncs_per_second(daemon.state_dir, SYNC_SECONDS))
            for n in CONNECTIONS:
                peer = echo_wrk(echo, "PUT", scene.body(), n)
                name = f"job-{number}-{n}-%d"
                before = counters(daemon)
                samples[n].add(scene.wrk("PUT", name, connections=n, seconds=SECONDS), peer)
                samples[n].add_counted(before, counters(daemon))
    figures = []
    for n in CONNECTIONS:
        name = f"durable PUT, {connections_text(n)}"
        figures += samples[n].figures(name, AIM_PUTS[n], fdatasync=syncs) + samples[n].counted_figures()
    return figures


def measure_reads():
    with stage.running_daemon() as daemon:
        scene = stage.Stage(daemon, nodes=0)
        scene.fill(JOBS)
        return gets(daemon, scene) + lists(daemon, scene)


def gets(daemon, scene):
    samples, name = {n: Samples() for n in CONNECTIONS}, f"job-{JOBS // 2}"
    with Client(daemon) as client:
        reply = client.call("GET", scene.job_path(name))
    with machine.Echo(daemon.state_dir, reply) as echo:
        for _ in range(ROUNDS):
            for n in CONNECTIONS:
                peer = echo_wrk(echo, "GET", None, n)
                samples[n].add(scene.wrk("GET", name, connections=n, seconds=SECONDS), peer)
    figures = []
    for n in CONNECTIONS:
        aim = AIM_GETS if n == max(CONNECTIONS) else None
        figures += samples[n].figures(f"GET of one job, {connections_text(n)}", aim)
    return figures


def whole_list(client, scene):
    """Jobs, bytes and pages of the list; counts without parsing, which would cost more than asking."""
    pages = list(scene.pages(client))
    return sum(p.count(b'"executionState":') for p in pages), sum(map(len, pages)), len(pages)


def lists(daemon, scene):
    wall, cpu, pid = [], [], daemon.process.pid
    with Client(daemon) as client:
        for _ in range(LIST_ROUNDS):
            before, start = machine.cpu_seconds(pid), time.monotonic()
            jobs, size, pages = whole_list(client, scene)
            wall.append((time.monotonic() - start) * 1000)
            cpu.append((machine.cpu_seconds(pid) - before) * 1000)
            assert jobs == JOBS, f"{jobs} jobs in the list"
    note = f"{pages} pages, {size / 1e6:.1f} MB"
    return [
        Figure(f"list of {JOBS:,} jobs", "ms", wall, AIM_LIST_MS, note=note),
        Figure("  CPU of the server", "ms", cpu),
        Figure("  memory after it", "MB", [machine.rss_mb(pid)]),
    ]
