# SPDX-License-Identifier: MIT
"""How long a small GET waits while somebody else asks for the most that can be asked for."""

import http.client
import json
import multiprocessing
import time

from support.world import Place, job_body

from . import stage
from .figures import Figure
from .load import Client
from .size import size

AIM_MS = 50
JOBS, LARGE_JOBS, LARGE_BYTES = size(10_000, 20), size(60, 2), 60_000
OLD = "api-version=2018-03-01"
BODY_MAX = 4 * 1024 * 1024


def ask(daemon, path, pipe):
    """Asks for one small thing again and again until it is told to end; then tells the longest wait, in ms."""
    with Client(daemon) as client:
        client.call("GET", path)
        pipe.send(None)
        worst = 0
        while not pipe.poll():
            start = time.monotonic()
            client.call("GET", path)
            worst = max(worst, (time.monotonic() - start) * 1000)
    pipe.send(worst)


def worst_wait(daemon, path, heavy):
    """In a process of its own, so that it does not wait for this one."""
    here, there = multiprocessing.Pipe()
    asker = multiprocessing.get_context("fork").Process(target=ask, args=(daemon, path, there))
    asker.start()
    here.recv()
    heavy()
    here.send(None)
    worst = here.recv()
    asker.join()
    return worst


class Heavy:
    """The most that can be asked for, one kind a method."""

    def __init__(self, daemon):
        self.daemon = daemon
        self.scene = stage.Stage(daemon, nodes=0, place=Place(daemon, workspace="migrated"), experiment="migrated")
        self.scene.fill(JOBS)
        self.client = Client(daemon)

    @property
    def old_list(self):
        return f"{self.scene.place.group_path}/providers/Microsoft.BatchAI/jobs?{OLD}"

    def try_call(self, method, path, body):
        """Whatever the answer is."""
        client = Client(self.daemon)
        try:
            client.http.request(method, path, body, client.head)
            client.http.getresponse().read()
        except (http.client.HTTPException, OSError):
            pass
        client.http.close()

    def nothing(self):
        time.sleep(1)

    def long_list(self):
        list(self.scene.pages(self.client))

    def filtered_list(self):
        terms = "%20or%20".join(f"name%20eq%20%27x{i}%27" for i in range(300))
        self.client.call("GET", f"{self.old_list}&$filter={terms}")
        self.client.call("GET", f"{self.old_list}&$filter=name%20eq%20%27x%27")

    def large_bodies(self):
        self.try_call("PUT", self.scene.job_path("junk"), '{"a":[' + "[]," * (BODY_MAX // 3 - 10) + "1]}")
        self.try_call("PUT", self.scene.job_path("text"), json.dumps({"properties": {"x": "y" * (BODY_MAX - 100)}}))

    def large_jobs(self):
        for i in range(LARGE_JOBS):
            env = [{"name": f"N{k}", "value": "v" * 1000} for k in range(LARGE_BYTES // 1000)]
            body = job_body(self.scene.cluster.path, environmentVariables=env)
            self.client.call("PUT", self.scene.job_path(f"large-{i}"), json.dumps(body))
        list(self.scene.pages(self.client))

    def deletion(self):
        self.client.call("DELETE", stage.versioned(self.scene.experiment.path))
        while self.scene.experiment.call("GET").status != 404:
            time.sleep(0.05)


KINDS = {
    "nobody": Heavy.nothing,
    f"a list of {JOBS:,} jobs": Heavy.long_list,
    "$filter at its limit": Heavy.filtered_list,
    "bodies of 4 MiB": Heavy.large_bodies,
    f"{LARGE_JOBS} jobs of {LARGE_BYTES // 1000} KB, put and listed": Heavy.large_jobs,
    f"the deletion of {JOBS:,} jobs": Heavy.deletion,
}


def measure():
    figures = []
    with stage.running_daemon() as daemon:
        heavy = Heavy(daemon)
        small = stage.versioned(heavy.scene.cluster.path)
        for name, kind in KINDS.items():
            worst = worst_wait(daemon, small, lambda: kind(heavy))
            figures.append(Figure(f"longest wait behind {name}", "ms", [worst], AIM_MS))
        heavy.client.http.close()
    return figures
