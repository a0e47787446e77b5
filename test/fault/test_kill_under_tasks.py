# SPDX-License-Identifier: MIT
"""kill -9 at random moments while clients add tasks of Azure Batch, terminate, reactivate and delete them. The seed is
printed; BATCHAID_FAULT_SEED repeats a run, BATCHAID_FAULT_KILLS sets how often (default 30).

Clients remember what was acknowledged. After every restart all of that must be there. In the end each task that nobody
ended has run exactly once, and none that was never accepted has run."""

import collections
import os
import random

from support.batch import BatchGround
from support.batch_jobs import add_pool
from support.gate import Gate, Writer, kill_again_and_again
from support.waiting import wait_for

KILLS = int(os.environ.get("BATCHAID_FAULT_KILLS", "30"))
SEED = int(os.environ.get("BATCHAID_FAULT_SEED", random.SystemRandom().randrange(1 << 32)))
ADDS_A_CYCLE = 4  # of each client, so that the machine keeps up
COLLECTION = 5


class Client(Writer):
    """Writes to a job of its own."""

    def __init__(self, plane, number, gate):
        super().__init__(gate, random.Random(SEED * 100 + number))
        self.plane = plane
        self.job = f"job{number}"
        self.ended = set()  # somebody has asked for their end
        plane.call("POST", "/jobs", {"id": self.job, "poolInfo": {"poolId": "pool"}}, expect=201)

    def step(self):
        choice = self.rng.random()
        if choice < 0.3:
            self.add(1)
        elif choice < 0.6:
            self.add(COLLECTION)
        elif self.there:
            self.end() if choice < 0.8 else self.delete()

    def body(self, name):
        line = f"echo {self.job}-{name} >> $AZ_BATCH_NODE_SHARED_DIR/runs"
        return {"id": name, "commandLine": f"/bin/sh -c '{line}'"}

    def add(self, count):
        if not self.gate.may_submit(self):
            return
        names = [f"t{self.counter + n}" for n in range(count)]
        self.counter += count
        self.unknown |= set(names)
        url = f"/jobs/{self.job}"
        if count == 1:
            self.plane.call("POST", f"{url}/tasks", self.body(names[0]), expect=201)
        else:
            body = {"value": [self.body(name) for name in names]}
            reply = self.plane.call("POST", f"{url}/addtaskcollection", body, expect=200).json
            assert {r["status"] for r in reply["value"]} == {"Success"}, reply
        self.unknown -= set(names)
        self.there |= set(names)
        self.acknowledged += count

    def end(self):
        name = self.rng.choice(sorted(self.there))
        self.ended.add(name)
        reply = self.plane.call("POST", f"/jobs/{self.job}/tasks/{name}/terminate", expect=(204, 409))
        self.acknowledged += reply.status == 204

    def delete(self):
        name = self.rng.choice(sorted(self.there))
        self.ended.add(name)
        self.there.discard(name)
        self.unknown.add(name)
        self.plane.call("DELETE", f"/jobs/{self.job}/tasks/{name}", expect=200)
        self.unknown.discard(name)
        self.gone.add(name)
        self.acknowledged += 1

    def listed(self):
        return {t["id"]: t for t in self.plane.all(f"/jobs/{self.job}/tasks")}

    def verify(self):
        listed = self.listed()
        lost = self.there - set(listed)
        assert not lost, f"acknowledged but lost: {sorted(lost)}"
        back = [name for name in self.gone if self.plane.call("GET", f"/jobs/{self.job}/tasks/{name}").status != 404]
        assert not back, f"deleted and there again: {back}"
        invented = set(listed) - self.there - self.gone - self.unknown
        assert not invented, f"never asked for: {sorted(invented)}"
        counts = self.plane.get(f"/jobs/{self.job}/taskcounts")["taskCounts"]
        assert counts["active"] + counts["running"] + counts["completed"] >= len(self.there)


def test_nothing_acknowledged_is_lost_and_each_task_runs_once(own_daemon):
    print(f"BATCHAID_FAULT_SEED={SEED}")
    rng = random.Random(SEED)
    d = own_daemon()
    plane = BatchGround(d).plane
    add_pool(plane, "pool", targetDedicatedNodes=3, taskSlotsPerNode=2)
    gate = Gate(ADDS_A_CYCLE)
    clients = [Client(plane, n, gate) for n in range(4)]
    kill_again_and_again(d, gate, clients, KILLS, rng)
    verify_runs(clients, d.state_dir.glob("nodes/*/batch/shared/runs"))


def verify_runs(clients, files):
    """Every task is completed; what nobody ended has succeeded, and has run exactly once."""

    def open_tasks():
        return [t for c in clients for t in c.listed().values() if t["state"] != "completed"]

    wait_for(lambda: not open_tasks(), 60, lambda: f"all tasks to end; not so: {open_tasks()[:3]}")
    count = collections.Counter(word for file in files for word in file.read_text().split())
    for c in clients:
        c.verify()
        for name, task in c.listed().items():
            times = count[f"{c.job}-{name}"]
            if name in c.ended:
                assert times <= 1, f"{name} ran {times} times"
            else:
                assert times == 1 and task["executionInfo"]["result"] == "success", f"{name} ran {times} times: {task}"
        assert all(count[f"{c.job}-{name}"] <= 1 for name in c.gone | c.unknown)
    known = {f"{c.job}-{name}" for c in clients for name in c.there | c.gone | c.unknown}
    assert set(count) <= known
