# SPDX-License-Identifier: MIT
"""Many at once: 200 daemons side by side, and 200 tests in parallel in subscriptions of one daemon. None sees what is
another's: resources, rules, faults, log."""

import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from support.daemon import BATCHAID, BUILD, ROOT, processes_of
from support.waiting import PATIENCE, wait_for
from support.world import cluster_body, job_body

sys.path.insert(0, str(ROOT / "etc/wheel"))

from batchaid import BatchaidError, Cloud  # noqa: E402

MANY = 200
AT_ONCE = 16
RM, AI = "?api-version=2019-10-01", "?api-version=2018-05-01"
STAGE_SECONDS = 120


@pytest.fixture
def surroundings(tmp_path, monkeypatch):
    """Daemons are of this build, and their states below a directory of the test's own."""
    for name in list(os.environ):
        if name.startswith(("BATCHAID_", "AZURE_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("BATCHAID", str(BATCHAID))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def by_all(function, items, at_once=AT_ONCE):
    with ThreadPoolExecutor(at_once) as pool:
        return list(pool.map(function, items))


def test_daemons_side_by_side(surroundings):
    """Each has its own port, key and state; all end when they are told, and leave nothing."""
    if "asan" in BUILD.name:
        pytest.skip("the sanitizers take too much memory 200 times")
    clouds = [Cloud() for _ in range(MANY)]
    try:
        by_all(Cloud.start, clouds)
        assert len({c.endpoint for c in clouds}) == MANY
        assert len({c.environment["BATCHAID_TESTING_KEY"] for c in clouds}) == MANY

        def use(numbered):
            i, cloud = numbered
            groups = f"/subscriptions/{cloud.environment['AZURE_SUBSCRIPTION_ID']}/resourceGroups"
            cloud.call("PUT", f"{groups}/g{i}{RM}", {"location": "here"})
            return [g["name"] for g in cloud.call("GET", groups + RM)["value"]]

        assert by_all(use, enumerate(clouds)) == [[f"g{i}"] for i in range(MANY)]
        assert all(c.process.poll() is None for c in clouds)
    finally:
        by_all(Cloud.stop, [c for c in clouds if c.process])
    wait_for(lambda: not processes_of(surroundings), 30, "all processes to be gone")
    assert list(surroundings.iterdir()) == []


class Test:
    """One of the tests: it uses the names that all others use."""

    __test__ = False

    def __init__(self, cloud, number):
        self.number = number
        self.own = cloud.subscription()
        self.cloud = cloud
        self.group = f"/subscriptions/{self.own.id}/resourceGroups/g"
        self.place = f"{self.group}/providers/Microsoft.BatchAI/workspaces/w"
        self.job = f"{self.place}/experiments/e/jobs/train"

    def _made(self, path, body=None):
        self.cloud.call("PUT", path + AI, body)
        ready = lambda: self.cloud.call("GET", path + AI)["properties"]["provisioningState"] == "succeeded"
        wait_for(ready, 60, path)

    def make(self):
        """A job whose exit code a rule of this test says, and a fault with a status of its own."""
        self.own.rule(name="train", exitCode=1 + self.number)
        self.cloud.call("PUT", self.group + RM, {"location": "here"})
        self._made(self.place, {"location": "here"})
        self._made(f"{self.place}/clusters/c", cluster_body(1, vmSize="FAKE_1"))
        self._made(f"{self.place}/experiments/e")
        self.own.fault(operation="ResourceGroups_Get", reply={"status": 400 + self.number % 100, "code": f"Own{self.number}"})
        self.cloud.call("PUT", self.job + AI, job_body(f"{self.place}/clusters/c"))

    def check(self):
        with pytest.raises(BatchaidError) as e:
            self.cloud.call("GET", self.group + RM)
        assert (e.value.status, e.value.code) == (400 + self.number % 100, f"Own{self.number}")
        self.cloud.call("GET", self.group + RM)
        ended = lambda: self.cloud.call("GET", self.job + AI)["properties"]["executionState"] in ("succeeded", "failed")
        wait_for(ended, 60, "the job to end")
        info = self.cloud.call("GET", self.job + AI)["properties"]["executionInfo"]
        assert info["exitCode"] == 1 + self.number, info
        groups = self.cloud.call("GET", f"/subscriptions/{self.own.id}/resourceGroups{RM}")["value"]
        assert [g["name"] for g in groups] == ["g"]
        assert len(self.own.rules()) == 1 and self.own.unused_rules() == []
        assert {r["subscription"] for r in self.own.requests()} == {self.own.id}
        assert len(self.own.requests(operation="Jobs_Create")) == 1

    def leave(self):
        """Every second one empties its subscription; the others are to keep all of theirs."""
        if self.number % 2 == 0:
            self.own.reset()

    def is_as_left(self):
        there = [g["name"] for g in self.cloud.call("GET", f"/subscriptions/{self.own.id}/resourceGroups{RM}")["value"]]
        assert there == ([] if self.number % 2 == 0 else ["g"])
        if self.number % 2:
            assert self.cloud.call("GET", self.job + AI)["properties"]["executionInfo"]["exitCode"] == 1 + self.number


def test_tests_in_parallel_in_one_daemon(surroundings):
    """All of them are in the same stage at any time."""
    together = threading.Barrier(MANY, timeout=STAGE_SECONDS * PATIENCE)
    with open(surroundings / "log", "w") as log, Cloud(log=log) as cloud:
        cloud.token()

        def run(number):
            try:
                test = Test(cloud, number)
                for stage in (test.make, test.check, test.leave, test.is_as_left):
                    together.wait()
                    stage()
                return None
            except Exception as e:
                together.abort()
                return e

        failures = [e for e in by_all(run, range(MANY), at_once=MANY) if e is not None]
    real = [e for e in failures if not isinstance(e, threading.BrokenBarrierError)]
    assert not failures, (real or failures)[0]
