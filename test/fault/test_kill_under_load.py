# SPDX-License-Identifier: MIT
"""kill -9 at random moments while clients write. The seed is printed; BATCHAID_FAULT_SEED repeats a
run, BATCHAID_FAULT_KILLS sets how often (default 50).

Clients remember what was acknowledged. After every restart all of that must be there; what was under
way when the connection broke may or may not have happened. In the end each job that exists has run
exactly once, and none that was never accepted has run."""

import collections
import os
import random

from support.gate import Gate, Writer, kill_again_and_again
from support.waiting import wait_for
from support.world import MOUNT, Place, cluster_body, job_body

KILLS = int(os.environ.get("BATCHAID_FAULT_KILLS", "50"))
SEED = int(os.environ.get("BATCHAID_FAULT_SEED", random.SystemRandom().randrange(1 << 32)))
JOBS_A_CYCLE = 6  # of each client, so that the machine keeps up


class Client(Writer):
    """Writes to an experiment and a cluster of its own."""

    def __init__(self, place, number, gate):
        super().__init__(gate, random.Random(SEED * 100 + number))
        self.place, self.number = place, number
        self.experiment = f"exp{number}"
        self.shared = f"{place.path}/clusters/shared"
        self.cluster = place.cluster_at(f"own{number}")
        self.cluster_there = None  # None: unknown
        self.cluster_target = None

    def step(self):
        choice = self.rng.random()
        if choice < 0.6:
            self.put_job()
        elif choice < 0.75 and self.there:
            self.delete_job()
        elif choice < 0.9:
            self.scale_cluster()
        else:
            self.delete_cluster()

    def put_job(self):
        if not self.gate.may_submit(self):
            return
        name = f"j{self.number}-{self.counter}"
        self.counter += 1
        self.unknown.add(name)
        body = job_body(self.shared, f"echo {name} >> {MOUNT}/runs")
        self.place.job_at(name, self.experiment).call("PUT", body=body, expect=202)
        self.unknown.discard(name)
        self.there.add(name)
        self.acknowledged += 1

    def delete_job(self):
        """Only jobs that have ended, so that each has run when it goes."""
        job = self.place.job_at(self.rng.choice(sorted(self.there)), self.experiment)
        p = job.call("GET", expect=200).json["properties"]
        if p["executionState"] != "succeeded":
            return
        self.there.discard(job.name)
        self.unknown.add(job.name)
        job.call("DELETE", expect=202)
        self.unknown.discard(job.name)
        self.gone.add(job.name)
        self.acknowledged += 1

    def scale_cluster(self):
        target, was = self.rng.randrange(3), self.cluster_there
        self.cluster_there = self.cluster_target = None
        reply = self.cluster.call("PUT", body=cluster_body(target))
        if reply.status == 409 and was is not True:
            return  # it is being deleted still
        assert reply.status in (200, 202), reply
        self.cluster_there, self.cluster_target = True, target
        self.acknowledged += 1

    def delete_cluster(self):
        self.cluster_there = self.cluster_target = None
        reply = self.cluster.call("DELETE", expect=(202, 204))
        self.cluster_there = False
        self.acknowledged += reply.status == 202

    def names_listed(self):
        """What the experiment's list shows, deleted ones that are still going left out."""
        names, url = {}, self.place.experiment_path(self.experiment) + "/jobs"
        while url:
            page = self.place.daemon.get(url)
            names.update({j["name"]: j["properties"] for j in page["value"]})
            url = page.get("nextLink")
        return names

    def verify(self):
        listed = self.names_listed()
        lost = self.there - set(listed)
        assert not lost, f"acknowledged but lost: {sorted(lost)}"
        for name in self.gone & set(listed):
            assert listed[name]["provisioningState"] == "deleting", f"{name} came back"
        invented = set(listed) - self.there - self.gone - self.unknown
        assert not invented, f"never asked for: {sorted(invented)}"
        if self.cluster_there:
            got = self.cluster.call("GET", expect=200).json["properties"]
            assert got["scaleSettings"]["manual"]["targetNodeCount"] == self.cluster_target


def test_nothing_acknowledged_is_lost_and_each_job_runs_once(own_daemon):
    print(f"BATCHAID_FAULT_SEED={SEED}")
    rng = random.Random(SEED)
    d = own_daemon()
    place = Place(d, "group", "ws").make()
    place.cluster(nodes=4, name="shared")
    gate = Gate(JOBS_A_CYCLE)
    clients = [Client(place, n, gate) for n in range(4)]
    for c in clients:
        place.experiment(c.experiment)
    kill_again_and_again(d, gate, clients, KILLS, rng)
    verify_runs(place, clients)


def verify_runs(place, clients):
    """Every job ends, succeeds, and has run exactly once."""

    def ended():
        return all(p["executionState"] == "succeeded" for c in clients for p in c.names_listed().values())

    def states():
        return [
            (n, p) for c in clients for n, p in c.names_listed().items() if p["executionState"] != "succeeded"
        ][:3]

    wait_for(ended, 60, lambda: f"all jobs to succeed; not so: {states()}")
    runs = collections.Counter((place.share() / "runs").read_text().split())
    for c in clients:
        c.verify()
        listed = set(c.names_listed())
        wrong = {n: runs[n] for n in listed | c.gone if runs[n] != 1}
        assert not wrong, f"did not run exactly once: {wrong}"
        for name in c.unknown - listed:
            assert runs[name] <= 1
    known = set().union(*(c.there | c.gone | c.unknown for c in clients))
    assert set(runs) <= known
