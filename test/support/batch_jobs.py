# SPDX-License-Identifier: MIT
"""Jobs of Azure Batch as tests speak to them."""

import itertools

import pytest

from .waiting import wait_for

numbers = itertools.count(1)
IMAGE = {"publisher": "canonical", "offer": "0001-com-ubuntu-server-jammy", "sku": "22_04-lts"}
POOL = {
    "vmSize": "standard_d2_v3",
    "virtualMachineConfiguration": {"imageReference": IMAGE, "nodeAgentSKUId": "batch.node.ubuntu 22.04"},
}


def add_pool(plane, id, **more):
    reply = plane.call("POST", "/pools", {"id": id, **POOL, **more})
    if reply.status == 400 and reply.json["code"] == "InvalidUri":
        pytest.skip("the data plane has no pools")
    assert reply.status == 201, reply.content


def resize(plane, id, nodes):
    """Until it has so many."""
    pool = lambda: plane.get(f"/pools/{id}")
    wait_for(lambda: pool()["allocationState"] == "steady", 60, "steady")
    plane.call("POST", f"/pools/{id}/resize", {"targetDedicatedNodes": nodes}, expect=202)
    wait_for(lambda: (p := pool())["allocationState"] == "steady" and p["currentDedicatedNodes"] == nodes, 60, f"{nodes} nodes")


class Job:
    def __init__(self, plane, pool, **more):
        self.plane, self.id = plane, more.pop("id", None) or f"job{next(numbers)}"
        self.url = f"/jobs/{self.id}"
        plane.call("POST", "/jobs", {"id": self.id, "poolInfo": {"poolId": pool}, **more}, expect=201)

    @classmethod
    def of(cls, plane, id):
        """One that is there."""
        job = cls.__new__(cls)
        job.plane, job.id, job.url = plane, id, f"/jobs/{id}"
        return job

    def add(self, command, id=None, **more):
        id = id or f"task{next(numbers)}"
        self.plane.call("POST", f"{self.url}/tasks", {"id": id, "commandLine": command, **more}, expect=201)
        return id

    def task(self, id):
        return self.plane.get(f"{self.url}/tasks/{id}")

    def get(self):
        return self.plane.get(self.url)

    def states(self):
        return {t["id"]: t["state"] for t in self.plane.all(f"{self.url}/tasks")}

    def wait(self, *ids, limit=20):
        """Until these tasks are completed; what they became."""
        wait_for(lambda: all(self.task(i)["state"] == "completed" for i in ids), limit, f"{ids} completed")
        return [self.task(i) for i in ids]

    def done(self, command, id=None, limit=20, **more):
        """What became of a new task."""
        return self.wait(self.add(command, id, **more), limit=limit)[0]

    def ran(self, command, **more):
        """The id of a new task, and what became of it."""
        task = self.add(command, **more)
        return task, self.wait(task)[0]

    def succeed(self, task):
        """What became of a task, which is all right."""
        (done,) = self.wait(task)
        info = done["executionInfo"]
        assert info.get("exitCode") == 0 and info.get("result", "success").lower() == "success", info
        return done

    def good(self, command, **more):
        """What became of a new task, which is all right."""
        return self.succeed(self.add(command, **more))

    def begin(self, command, **more):
        """The id of a new task, once it runs."""
        task = self.add(command, **more)
        self.wait_running(task)
        return task

    def wait_running(self, *ids):
        wait_for(lambda: all(self.task(i)["state"] == "running" for i in ids), what=f"{ids} running")

    def text(self, task, path="stdout.txt"):
        """A file of a task."""
        return self.plane.call("GET", f"{self.url}/tasks/{task}/files/{path}", expect=200).content.decode()

    def disable(self, tasks):
        self.plane.call("POST", f"{self.url}/disable", {"disableTasks": tasks}, expect=202)
        return self.wait_state("disabled")

    def enable(self):
        self.plane.call("POST", f"{self.url}/enable", expect=202)

    def end(self, task=None):
        """Terminates the job, or one of its tasks; what became of it."""
        if task:
            self.plane.call("POST", f"{self.url}/tasks/{task}/terminate", expect=204)
            return self.wait(task)[0]
        self.plane.call("POST", f"{self.url}/terminate", expect=202)
        return self.wait_state("completed")

    def wait_state(self, state):
        wait_for(lambda: self.get()["state"] == state, what=f"{self.id} {state}")
        return self.get()

    def delete(self):
        self.plane.call("DELETE", self.url, expect=202)
        wait_for(lambda: self.plane.call("GET", self.url).status == 404, what=f"{self.id} gone")


class Jobs:
    """Makes jobs, and removes them in the end."""

    def __init__(self, plane, pool):
        self.plane, self.pool, self.made = plane, pool, []

    def __call__(self, **more):
        self.made.append(Job(self.plane, more.pop("pool", self.pool), **more))
        return self.made[-1]

    def remove(self):
        for job in self.made:
            reply = self.plane.call("GET", job.url)
            if reply.status == 200 and reply.json["state"] != "deleting":
                self.plane.call("DELETE", job.url, expect=202)
            # A task whose command had not begun is sent SIGKILL alone, 30 s later.
            wait_for(lambda url=job.url: self.plane.call("GET", url).status == 404, 60, "job gone")
