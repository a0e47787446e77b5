# SPDX-License-Identifier: MIT
"""Several clients of Azure Batch at the same things at once, and deletions during everything."""

import random
import threading

import pytest
from support.batch_jobs import POOL, Job, add_pool
from support.waiting import wait_for

# What a race may be answered with.
FAIR = {200, 201, 202, 204, 404, 409, 412, 503}


def at_once(*work):
    """Runs all of these beside each other, and fails with the first that fails."""
    failed, barrier = [], threading.Barrier(len(work))

    def run(fn):
        try:
            barrier.wait(20)
            fn()
        except BaseException as e:  # shown by the test
            failed.append(e)

    threads = [threading.Thread(target=run, args=(fn,), daemon=True) for fn in work]
    for t in threads:
        t.start()
    for t in threads:
        t.join(60)
        assert not t.is_alive(), "a client hangs"
    if failed:
        raise failed[0]


def test_one_of_those_who_change_what_they_saw_wins(plane):
    job = Job(plane, "nowhere")
    for _ in range(5):
        seen, statuses = job.get()["eTag"], []

        def change(priority, seen=seen, statuses=statuses):
            body = {"priority": priority}
            reply = plane.call("PATCH", job.url, body, headers={"If-Match": seen}, expect=(200, 412))
            statuses.append((reply.status, priority))

        at_once(*[lambda n=n: change(n) for n in range(6)])
        (winner,) = [priority for status, priority in statuses if status == 200]
        now = job.get()
        assert now["priority"] == winner and now["eTag"] != seen
    job.delete()


@pytest.mark.parametrize("what", ["pools", "jobs"])
def test_one_of_those_who_add_the_same_wins(plane, what):
    statuses = []
    body = {"id": "same", **POOL} if what == "pools" else {"id": "same", "poolInfo": {"poolId": "nowhere"}}
    at_once(*[lambda: statuses.append(plane.call("POST", f"/{what}", body, expect=(201, 409)).status)] * 6)
    assert sorted(statuses) == [201] + [409] * 5
    plane.call("DELETE", f"/{what}/same", expect=202)
    wait_for(lambda: plane.call("GET", f"/{what}/same").status == 404, what="gone")


class Vandal:
    """Adds, ends, changes and deletes jobs, tasks and pools of few names, in any order."""

    def __init__(self, plane, seed):
        self.plane, self.rng, self.seen = plane, random.Random(seed), set()

    def call(self, *request):
        reply = self.plane.call(*request)
        assert reply.status in FAIR, f"{request}: {reply.status} {reply.content[:500]}"
        self.seen.add(reply.status)

    def step(self):
        pool, job = self.rng.choice(("p1", "p2")), self.rng.choice(("a", "b"))
        task = f"t{self.rng.randrange(4)}"
        url = f"/jobs/{job}"
        command = self.rng.choice(("/bin/true", "sleep 1000"))
        moves = [
            ("POST", "/pools", {"id": pool, **POOL, "targetDedicatedNodes": 1, "taskSlotsPerNode": 4}),
            ("DELETE", f"/pools/{pool}"),
            ("POST", f"/pools/{pool}/resize", {"targetDedicatedNodes": self.rng.randrange(3)}),
            ("POST", "/jobs", {"id": job, "poolInfo": {"poolId": pool}}),
            ("DELETE", url),
            ("POST", f"{url}/{self.rng.choice(('terminate', 'enable'))}", {}),
            ("POST", f"{url}/disable", {"disableTasks": self.rng.choice(("requeue", "terminate", "wait"))}),
            ("PATCH", url, {"priority": self.rng.randrange(5)}),
            ("GET", f"{url}/tasks"),
            ("GET", f"{url}/tasks/{task}/files"),
            ("DELETE", f"{url}/tasks/{task}"),
            ("POST", f"{url}/tasks/{task}/terminate"),
            ("POST", f"{url}/tasks/{task}/reactivate"),
        ]
        add = ("POST", f"{url}/tasks", {"id": task, "commandLine": command})
        self.call(*self.rng.choice([*moves, add, add, add]))

    def run(self, steps):
        for _ in range(steps):
            self.step()


def test_deletions_during_everything(own_daemon):
    """Nobody is answered with an error of the server; what is left is whole, works, and can be deleted."""
    from support.batch import BatchGround

    plane = BatchGround(own_daemon()).plane
    vandals = [Vandal(plane, seed) for seed in range(5)]
    at_once(*[lambda v=v: v.run(120) for v in vandals])
    assert set().union(*(v.seen for v in vandals)) >= {200, 201, 202, 409}
    wait_for(lambda: all(j["state"] != "deleting" for j in plane.all("/jobs")), 60, "no job being deleted")
    for job in [Job.of(plane, j["id"]) for j in plane.all("/jobs")]:
        states = list(job.states().values())
        counts = plane.call("GET", f"{job.url}/taskcounts")
        if counts.status == 200 and job.get()["state"] == "disabled":
            counts = counts.json["taskCounts"]
            assert counts["completed"] == states.count("completed") and counts["running"] == 0
        plane.call("DELETE", job.url, expect=(202, 404, 409))
    for pool in plane.all("/pools"):
        plane.call("DELETE", f"/pools/{pool['id']}", expect=(202, 404, 409))
    wait_for(lambda: plane.all("/jobs") == [] and plane.all("/pools") == [], 60, "all gone")
    add_pool(plane, "p1", targetDedicatedNodes=1)
    job = Job(plane, "p1", id="a")
    job.done("/bin/true", id="t0")
