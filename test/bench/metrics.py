# SPDX-License-Identifier: MIT
"""A scrape of /metrics and of its pages, at 2,000 machines of 8 GPUs that run a job each and 100,000 jobs, and how long it
keeps others waiting. The machines are simulated (sim.py), and each gives samples of itself and its GPUs; their jobs run
until the end of the measurement."""

import time

from support.metrics import of, page
from support.testing import Testing
from support.waiting import wait_for
from support.world import Place, wishes

from . import machine, sim, stage
from .figures import Figure, short
from .load import Client
from .size import size
from .waits import worst_wait

NODES, JOBS, ARRAY = size(2_000, 20), size(100_000, 200), size(1_000, 100)
ROUNDS, GPUS = size(10, 2), 8
AIM_MS, AIM_NODES_MS, AIM_TURN_MS = 20, 500, 10


def fill(d):
    """A cluster of fake nodes which all run a member of an array, and arrays that wait for them."""
    Testing(d).rules({"duration": "PT10H"})
    place = Place(d).make()
    submit(place, place.cluster(NODES, vmSize="FAKE_ND40"))


def submit(place, cluster, command="true"):
    for _ in range(JOBS // ARRAY):
        place.job(cluster, command, environmentVariables=wishes(ARRAY=f"1-{ARRAY}"))
    wait_for(lambda: of(place.daemon, "batchaid_runs", kind="job", state="running") == NODES, 600)


def fill_machines(d):
    """The same on simulated machines, once all of them have given a sample."""
    place = Place(d).make()
    submit(place, place.cluster(NODES), sim.HOLDS)
    gpus = lambda: page(d, "/metrics/nodes").text.count("\nbatchaid_gpu_busy_ratio{")
    wait_for(lambda: gpus() == NODES * GPUS, 120, lambda: f"samples of {NODES * GPUS} GPUs: {gpus()}", every=1)


def scrape(client, path):
    start = time.monotonic()
    page = client.call("GET", path)
    return (time.monotonic() - start) * 1000, page


def measure():
    figures = []
    with sim.Agents() as agents, stage.running_daemon(sim.config(NODES), agents.daemon) as d:
        fill_machines(d)
        with Client(d) as client:
            for path, aim in (("/metrics", AIM_MS), ("/metrics/nodes", AIM_NODES_MS), ("/metrics/jobs", None)):
                name = f"{path}, {NODES:,} nodes, {JOBS:,} jobs"
                cpu = machine.cpu_seconds(d.process.pid)
                took, pages = zip(*(scrape(client, path) for _ in range(ROUNDS)))
                each = (machine.cpu_seconds(d.process.pid) - cpu) / ROUNDS * 1000
                note = f"{short(len(pages[0]) / 1e6)} MB; {short(each)} ms of processor"
                figures.append(Figure(name, "ms", took, aim, note=note))
                worst = worst_wait(d, "/batchaid/ca.pem", lambda path=path: [scrape(client, path) for _ in range(ROUNDS)])
                figures.append(Figure(f"others beside {path}, the longest", "ms", [worst], AIM_TURN_MS))
    return figures
