# SPDX-License-Identifier: MIT
"""The n-th write, sync, fork or connect of the daemon fails, for n over a walkthrough: requests may be refused,
but the daemon ends only where that is what the documents say (a failed sync: docs/architecture.md), what was
acknowledged is there afterwards, and each job that was accepted runs exactly once.

BATCHAID_FAULT_POINTS says at how many places of each kind (default 10, spread over the walkthrough; 0: all)."""

import os
from pathlib import Path

import pytest
import requests
from support.daemon import BATCHAID, NODE_AGENT
from support.failing import environment
from support.sshd import Sshd
from support.waiting import wait_for
from support.world import MOUNT, Place, cluster_body, job_body

POINTS = int(os.environ.get("BATCHAID_FAULT_POINTS", "10"))
KINDS = ("write", "sync", "fork")
VM_SIZE = "STANDARD_NC6"
ENDS_IT = ("sync",)  # the kernel may have dropped the pages


class Walk:
    """One walkthrough with a fault in it; what was acknowledged."""

    def __init__(self, make, library, kind, at, folder, machine=None):
        self.count = folder / f"{kind}-{at}"
        self.count.touch()
        self.d = make(start=False, environment=environment(library, kind, at, self.count))
        self.d.expect_log(r".")  # whatever it has to say of it
        self.at, self.kind, self.machine = at, kind, machine
        if machine:
            # Its node root is this walk's own; the share comes to it as a folder of this machine.
            source = f"{self.d.state_dir}/storage/{{account}}/files/{{share}}"
            self.d.config = {
                "inventory": [machine.group(vm_sizes=[VM_SIZE], node_root=str(machine.dir / f"root-{at}"))],
                "mounts": [{"match": "*/*", "type": "bind", "source": source}],
                "ssh": {"connect_timeout_s": 5, "keepalive_s": 1},
                "machines": {"health_interval_s": 1, "min_free_disk_mb": 1},
                "local": {"nodes": 0},
            }
        self.acknowledged, self.refused, self.job = set(), False, None

    @property
    def calls(self):
        return self.count.stat().st_size

    def put(self, path, body):
        try:
            reply = self.d.call("PUT", path, body, validate=False)
        except requests.RequestException:
            self.refused = True
            return  # it ended under this request
        # What it stands in may have been refused.
        assert reply.status in (200, 201, 202) or reply.status >= 500 or (reply.status == 404 and self.refused), reply
        self.refused = self.refused or reply.status >= 300
        if reply.status < 300:
            self.acknowledged.add(path)

    def make_share(self):
        self.place = Place(self.d, "rg", "ws")
        self.place.share_folder = self.d.share("acct", "share")

    def begin(self):
        """A start that fails says so and leaves a directory that the next start can use."""
        try:
            self.d.start()
            try:
                self.make_share()
            except AssertionError:
                if not self.d.running:
                    raise
                self.make_share()  # it was refused; only one call fails
            assert self.d.subscription
        except AssertionError:
            assert self.d.environment["FAILING_AT"] != "0" and self.at <= self.calls, self.d.log_tail()
            if self.d.process is not None:  # it was ready, and then ended
                wait_for(lambda: not self.d.running, 10, lambda: self.d.log_tail())
                assert self.kind in ENDS_IT, f"it ended: {self.d.log_tail()}"
                self.d.kill9()
            self.d.environment["FAILING_AT"] = "0"
            self.begin()

    def run(self):
        self.begin()
        place = self.place
        cluster, job = place.cluster_at("c"), place.job_at("j", "e")
        self.put(place.group_path, {"location": "eastus"})
        self.put(place.path, {"location": "eastus"})
        self.put(place.experiment_path("e"), {})
        self.put(cluster.path, self.cluster_body())
        self.put(job.path, job_body(cluster.path, f"echo ran >> {MOUNT}/runs"))
        self.job = job if job.path in self.acknowledged else None
        if self.job:
            wait_for(lambda: not self.d.running or self.ended(), 30, lambda: self.d.log_tail())

    def cluster_body(self):
        if not self.machine:
            return cluster_body(1)
        self.place.share().chmod(0o777)
        # The machine is this one: an account that it has not.
        user = {"adminUserName": f"nth{os.getpid()}"}
        return cluster_body(1, vmSize=VM_SIZE, userAccountSettings=user)

    def give_back(self):
        """What the machine has of this walk."""
        Place(self.d, "rg", "ws").remove()
        self.d.stop()
        assert not list(Path(self.machine.dir).glob("root-*/mnt/*/*")), "a mount is left"

    def ended(self):
        try:
            reply = self.job.call("GET")
        except requests.RequestException:
            return False
        return reply.status == 200 and reply.json["properties"]["executionState"] in ("succeeded", "failed")

    def judge(self):
        if not self.d.running:
            assert self.kind in ENDS_IT, f"it ended: {self.d.log_tail()}"
            self.d.kill9()
        else:
            self.d.stop()
        self.d.exit_codes.clear()
        self.d.environment = {}
        self.d.start()
        for path in self.acknowledged:
            assert self.d.call("GET", path, validate=False).status == 200, f"lost: {path}"
        if self.job:
            wait_for(self.ended, 60, lambda: self.d.log_tail())
            ran = [f.read_text() for f in Path(self.d.dir).rglob("runs") if f.is_file()]
            assert "".join(ran).count("ran") <= 1, "it ran twice"
            state = self.job.call("GET").json["properties"]
            if self.machine:  # whoever cannot connect tries again
                assert state["executionState"] == "succeeded", state
            if state["executionState"] == "succeeded":
                assert "".join(ran) == "ran\n"


def spread(calls):
    if POINTS == 0 or calls <= POINTS:
        return list(range(1, calls + 1))
    return sorted({1 + i * (calls - 1) // (POINTS - 1) for i in range(POINTS)})


def walk_with_each(make, library, kind, folder, machine=None):
    whole = Walk(make, library, kind, 0, folder, machine)
    whole.run()
    assert len(whole.acknowledged) == 5, whole.d.log_tail()
    calls = whole.calls
    whole.judge()
    if machine:
        whole.give_back()
    assert calls, f"the walkthrough has no {kind}"
    print(f"{calls} of {kind}")
    for at in spread(calls):
        walk = Walk(make, library, kind, at, folder, machine)
        walk.run()
        walk.judge()
        if machine:
            walk.give_back()


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_acknowledged_is_lost(own_daemon, library, kind, tmp_path):
    walk_with_each(own_daemon, library, kind, tmp_path)


@pytest.fixture
def machine(tmp_path):
    if os.geteuid() != 0:
        pytest.skip("a share is bound into a machine's node as root")
    with Sshd(tmp_path / "machine") as sshd:
        yield sshd


def test_a_machine_is_reached_all_the_same(machine, own_daemon, library, tmp_path):
    walk_with_each(own_daemon, library, "connect", tmp_path, machine)


def test_what_is_released_has_no_faults_to_turn_on():
    """Faults come from the preloaded library alone: neither program looks for its variables."""
    for program in (BATCHAID, NODE_AGENT):
        text = program.read_bytes()
        assert b"FAULT_POINT" not in text and b"FAILING_" not in text, program
