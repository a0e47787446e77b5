# SPDX-License-Identifier: MIT
"""The deletion of a Batch account, or of its group, takes all that is in it along."""

import json

import pytest
from support.batch import BatchGround
from support.batch_jobs import POOL, Jobs, add_pool
from support.late_bodies import LateBody
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


def late(plane, path, body):
    data = json.dumps(body).encode()
    head = plane.head("POST", path, [("api-version", plane.version)], data, {})
    return LateBody(plane.daemon, "POST", f"{path}?api-version={plane.version}", head, data)


def test_no_late_body_makes_anything_in_it(own_daemon):
    """A request whose head came before the deletion, and whose body ends behind it."""
    d = own_daemon()
    ground = BatchGround(d)
    plane = ground.plane
    add_pool(plane, "pool", targetDedicatedNodes=1)
    job = Jobs(plane, "pool")()
    job.begin("/bin/bash -c 'trap \"\" TERM; sleep 1234'")
    of_pool = {"poolInfo": {"poolId": "pool"}}
    made = {
        "/pools": {"id": "late", **POOL},
        "/jobs": {"id": "late", **of_pool},
        "/jobschedules": {"id": "late-schedule", "schedule": {}, "jobSpecification": of_pool},
    }
    requests = [late(plane, path, body) for path, body in made.items()]
    ground.accounts.delete(ground.name)
    ends = [r.end() for r in requests]
    refusals = {(403, "AccountIsDisabled"), (404, "ResourceNotFound")}  # the second if the account has gone already
    assert {(status, document["code"]) for status, document in ends} <= refusals
    wait_for(lambda: rows(d) == {}, what="empty tables")
    ground.remove()
