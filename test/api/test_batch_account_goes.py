# SPDX-License-Identifier: MIT
"""The deletion of a Batch account, or of its group, takes all that is in it along."""


import pytest
from support.batch import BatchGround
from support.batch_jobs import Jobs, add_pool
from support.waiting import wait_for

TABLES = ("batch_account", "batch_pool", "batch_job", "batch_task", "batch_schedule", "run", "node")


def rows(d):
    return {t: n for t in TABLES if (n := d.rows(f"SELECT count(*) FROM {t}")[0][0])}


@pytest.mark.parametrize("what", ["jobs that wait for a pool", "a task that runs", "a schedule"])
def test_nothing_of_it_is_left(own_daemon, what):
    d = own_daemon()
    ground = BatchGround(d)
    plane = ground.plane
    if what == "a task that runs":
        add_pool(plane, "pool", targetDedicatedNodes=1)
    if what == "a schedule":
        body = {"id": "s", "schedule": {}, "jobSpecification": {"poolInfo": {"poolId": "none"}}}
        plane.call("POST", "/jobschedules", body, expect=201)
    else:
        job = Jobs(plane, "pool")()
        tasks = {"value": [{"id": f"t{i}", "commandLine": "/bin/sleep 1234"} for i in range(100)]}
        for n in range(4):
            more = {"value": [{**t, "id": f"{t['id']}-{n}"} for t in tasks["value"]]}
            plane.call("POST", f"{job.url}/addtaskcollection", more, expect=200)
        if what == "a task that runs":
            counts = f"{job.url}/taskcounts"
            wait_for(lambda: plane.call("GET", counts).json["taskCounts"]["running"] == 1, what="a task that runs")
    assert rows(d)["batch_account"] == 1
    ground.remove()
    wait_for(lambda: rows(d) == {}, what="empty tables")
