# SPDX-License-Identifier: MIT
"""Strict mode on machines over SSH: their real work takes what it takes, and is shown no sooner than by the service's
times, by the daemon's clock."""

from support.racked import VM_SIZE
from support.testing import Clock, Strict
from support.waiting import wait_for
from support.world import cluster_body, job_body


def test_machines_are_shown_by_the_services_times(racked):
    site = racked(arguments=["--testing", "--strict"])
    site.daemon.expect_log("testing")
    clock = Clock(site.daemon)
    clock.change(rate=0)
    site.share()
    clock.advance("PT1M")
    cluster = site.cluster_at("c")
    cluster.call("PUT", body=cluster_body(1, vmSize=VM_SIZE), expect=202)
    site.experiment()
    job = site.job_at("j")
    site.daemon.call("PUT", job.path, job_body(cluster.path, "true"), expect=202)
    clock.advance("PT89S")
    assert cluster.properties["currentNodeCount"] == 0
    clock.advance("PT1S")
    clock.advance("PT119S")
    assert cluster.counts()["preparingNodeCount"] == 1
    assert job.properties["executionState"] == "queued"
    clock.advance("PT1S")
    wait_for(lambda: job.properties["executionState"] == "succeeded", 60, "the machine's real work")
    cluster.resize(0)
    wait_for(lambda: cluster.counts()["leavingNodeCount"] == 1, what="it leaves")
    clock.advance("PT4M")
    assert cluster.counts()["leavingNodeCount"] == 1
    clock.advance("PT30S")
    wait_for(lambda: cluster.properties["currentNodeCount"] == 0, 30, "it is given back")
    Strict(site.daemon).call("POST", "/strict", {"strict": False}, expect=200)
    clock.change(real=True)
