# SPDX-License-Identifier: MIT
"""The n-th write, sync, fork or connect of the daemon fails, for n over a walkthrough: requests may be refused,
but the daemon ends only where that is what the documents say (a failed sync: docs/architecture.md), what was
acknowledged is there afterwards, and each job that was accepted runs exactly once.

BATCHAID_FAULT_POINTS says at how many places of each kind (default 10, spread over the walkthrough; 0: all)."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
import requests
from support.waiting import wait_for
from support.world import MOUNT, Place, cluster_body, job_body

POINTS = int(os.environ.get("BATCHAID_FAULT_POINTS", "10"))
SOURCE = Path(__file__).resolve().parents[1] / "support" / "failing.c"
KINDS = ("write", "sync", "fork", "connect")
ENDS_IT = ("sync",)  # the kernel may have dropped the pages


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    made = tmp_path_factory.mktemp("failing") / "failing.so"
    cc = shutil.which("cc")
    if cc is None:
        pytest.skip("no C compiler")
    subprocess.run([cc, "-D_GNU_SOURCE", "-shared", "-fPIC", "-O1", "-o", made, SOURCE, "-ldl"], check=True)
    return made


class Walk:
    """One walkthrough with a fault in it; what was acknowledged."""

    def __init__(self, make, library, kind, at, folder):
        self.count = folder / f"{kind}-{at}"
        self.count.touch()
        sanitizer = os.environ.get("ASAN_OPTIONS", "")
        self.d = make(start=False, environment={
            "LD_PRELOAD": str(library), "FAILING_CALL": kind, "FAILING_AT": str(at),
            "FAILING_COUNT": str(self.count), "ASAN_OPTIONS": f"{sanitizer}:verify_asan_link_order=0".lstrip(":")})
        self.d.expect_log(r".")  # whatever it has to say of it
        self.at, self.kind = at, kind
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

    def begin(self):
        """A start that fails says so and leaves a directory that the next start can use."""
        try:
            self.d.start()
            self.place = Place(self.d, "rg", "ws")
            self.place.share_folder = self.d.share("acct", "share")
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
        self.put(cluster.path, cluster_body(1))
        self.put(job.path, job_body(cluster.path, f"echo ran >> {MOUNT}/runs"))
        self.job = job if job.path in self.acknowledged else None
        if self.job:
            wait_for(lambda: not self.d.running or self.ended(), 30, lambda: self.d.log_tail())

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
            if state["executionState"] == "succeeded":
                assert "".join(ran) == "ran\n"


def spread(calls):
    if POINTS == 0 or calls <= POINTS:
        return list(range(1, calls + 1))
    return sorted({1 + i * (calls - 1) // (POINTS - 1) for i in range(POINTS)})


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_acknowledged_is_lost(own_daemon, library, kind, tmp_path):
    whole = Walk(own_daemon, library, kind, 0, tmp_path)
    whole.run()
    assert len(whole.acknowledged) == 5, whole.d.log_tail()
    calls = whole.calls
    whole.judge()
    if not calls:
        pytest.skip(f"the walkthrough has no {kind}")
    for at in spread(calls):
        walk = Walk(own_daemon, library, kind, at, tmp_path)
        walk.run()
        walk.judge()
