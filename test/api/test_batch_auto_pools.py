# SPDX-License-Identifier: MIT
"""Pools that Azure Batch makes for a job, or for the jobs of a schedule."""

import re

import pytest
from support.batch import V
from support.batch_jobs import POOL, Job
from support.people import Person
from support.waiting import wait_for


def auto(life="job", keep=False, **more):
    pool = {**POOL, "targetDedicatedNodes": 1, **more}
    return {"autoPoolSpecification": {"autoPoolIdPrefix": "auto", "poolLifetimeOption": life, "keepAlive": keep, "pool": pool}}


def add_job(plane, **more):
    info = more.pop("poolInfo", None) or auto()
    return Job(plane, None, poolInfo=info, **more)


def gone(plane, pool):
    wait_for(lambda: plane.call("GET", f"/pools/{pool}").status == 404, what=f"{pool} gone")


def test_a_pool_is_made_for_a_job_and_goes_with_it(plane):
    job = add_job(plane)
    name = job.get()["executionInfo"]["poolId"]
    assert re.fullmatch(r"auto_[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}", name)
    shown = job.get()["poolInfo"]["autoPoolSpecification"]
    assert (shown["poolLifetimeOption"], shown["keepAlive"], shown["pool"]["taskSlotsPerNode"]) == ("job", False, 1)
    assert plane.get(f"/pools/{name}")["vmSize"] == POOL["vmSize"]
    assert job.done("/bin/true")["nodeInfo"]["poolId"] == name
    job.end()
    gone(plane, name)
    job.delete()


def test_a_deleted_job_takes_its_pool_along(plane):
    job = add_job(plane)
    name = job.get()["executionInfo"]["poolId"]
    job.delete()
    gone(plane, name)


def test_a_pool_that_is_kept_stays(plane):
    job = add_job(plane)
    name = job.get()["executionInfo"]["poolId"]
    plane.call("PATCH", job.url, {"poolInfo": auto(keep=True)}, expect=200)
    assert job.get()["poolInfo"]["autoPoolSpecification"]["keepAlive"] is True
    assert job.get()["executionInfo"]["poolId"] == name
    values = plane.refused(400, "InvalidPropertyValue", "PATCH", job.url, {"poolInfo": {"poolId": "other"}})
    assert values["PropertyName"] == "poolInfo"
    job.delete()
    assert plane.get(f"/pools/{name}")["state"] == "active"
    plane.call("DELETE", f"/pools/{name}", expect=202)
    gone(plane, name)


def test_secrets_and_release_tasks_of_a_pool_of_its_own(plane):
    """The account of the pool is made of the job's secrets, and is not shown; the release runs before the pool goes."""
    users = [{"name": "ada", "password": "s3cret-Pass", "elevationLevel": "admin"}]
    job = add_job(
        plane, poolInfo=auto(userAccounts=users), jobPreparationTask={"commandLine": "/bin/true"},
        jobReleaseTask={"commandLine": "/bin/true"},
    )  # fmt: skip
    name = job.get()["executionInfo"]["poolId"]
    assert b"s3cret" not in plane.call("GET", job.url).content
    assert [u["name"] for u in plane.get(f"/pools/{name}")["userAccounts"]] == ["ada"]
    job.done("/bin/true")
    job.end()
    (row,) = plane.all(f"{job.url}/jobpreparationandreleasetaskstatus")
    assert row["jobReleaseTaskExecutionInfo"]["result"] == "success"
    gone(plane, name)
    job.delete()


def test_a_job_whose_pool_cannot_be_made_is_completed(plane):
    for more, code in (
        ({"enableAutoScale": True, "autoScaleFormula": "$TargetDedicatedNodes=;"}, "InvalidAutoScaleFormulaInAutoPool"),
    ):
        more.setdefault("targetDedicatedNodes", None)
        info = auto(**more)
        pool = info["autoPoolSpecification"]["pool"]
        info["autoPoolSpecification"]["pool"] = {k: v for k, v in pool.items() if v is not None}
        job = add_job(plane, poolInfo=info)
        ended = job.wait_state("completed")
        assert ended["executionInfo"]["schedulingError"]["code"] == code
        assert "poolId" not in ended["executionInfo"]
        job.delete()


@pytest.mark.parametrize("info,code,name", [
    (auto("jobschedule"), "InvalidPropertyValue", "poolLifetimeOption"),
    ({}, "MissingRequiredProperty", "poolInfo"),
    ({"poolId": "p", **auto()}, "InvalidPropertyValue", "poolInfo"),
])  # fmt: skip
def test_what_is_wrong_is_named(plane, info, code, name):
    values = plane.refused(400, code, "POST", "/jobs", {"id": "wrong", "poolInfo": info})
    assert values["PropertyName"] == name


def test_an_old_version_makes_one_too(plane):
    old = plane.at(V["6.0"])
    job = Job(old, None, poolInfo=auto())
    assert old.get(job.url)["poolInfo"]["autoPoolSpecification"]["pool"]["maxTasksPerNode"] == 1
    job.plane = plane
    job.delete()


def add_schedule(plane, id, info):
    plane.call("POST", "/jobschedules", {
        "id": id, "schedule": {"recurrenceInterval": "PT1M"},
        "jobSpecification": {"poolInfo": info, "jobManagerTask": {"id": "boss", "commandLine": "/bin/true"}},
    }, expect=201)  # fmt: skip


def wait_job(plane, id):
    wait_for(lambda: plane.all(f"/jobschedules/{id}/jobs"), what="a job")
    return Job.of(plane, plane.all(f"/jobschedules/{id}/jobs")[0]["id"])


def test_a_pool_lives_as_long_as_its_schedule(plane):
    add_schedule(plane, "living", auto("jobschedule"))
    name = wait_job(plane, "living").wait_state("completed")["executionInfo"]["poolId"]
    assert plane.get(f"/pools/{name}")["state"] == "active"
    plane.call("POST", "/jobschedules/living/terminate", expect=202)
    gone(plane, name)
    plane.call("DELETE", "/jobschedules/living", expect=202)


def test_a_deleted_schedule_takes_its_pool_along(plane):
    add_schedule(plane, "deleted", auto("jobschedule"))
    name = wait_job(plane, "deleted").wait_state("completed")["executionInfo"]["poolId"]
    plane.call("DELETE", "/jobschedules/deleted", expect=202)
    gone(plane, name)


def test_each_job_of_a_schedule_may_have_a_pool_of_its_own(plane):
    add_schedule(plane, "each", auto("job"))
    gone(plane, wait_job(plane, "each").wait_state("completed")["executionInfo"]["poolId"])
    plane.call("DELETE", "/jobschedules/each", expect=202)


def test_who_makes_no_pools_has_none_made(ground, plane):
    """A job or a schedule that brings a pool along asks for what Pool_Add asks for; its life alone does, too."""
    submitter, contributor = (
        Person(plane.daemon, f"Azure Batch {name}", ground.accounts.base) for name in ("Job Submitter", "Data Contributor")
    )

    def call(person, method, path, body):
        head = {"Authorization": f"Bearer {person.token()}", "Content-Type": "application/json; odata=minimalmetadata"}
        return plane.call(method, path, body, headers=head, validate=False)

    job = {"id": "brings-a-pool", "poolInfo": auto()}
    daily = {"id": "brings-pools", "schedule": {"recurrenceInterval": "P1D"}, "jobSpecification": {"poolInfo": auto()}}
    later = {**daily, "schedule": {"doNotRunUntil": "2999-01-01T00:00:00Z"}}
    try:
        for path, body in (("/jobs", job), ("/jobschedules", daily)):
            reply = call(submitter, "POST", path, body)
            assert (reply.status, reply.json["code"]) == (403, "Forbidden")
            assert "Microsoft.Batch/batchAccounts/pools/write" in reply.content.decode()
        assert call(contributor, "POST", "/jobs", job).status == 201
        kept = {"poolInfo": auto(keep=True)}
        assert call(submitter, "PATCH", "/jobs/brings-a-pool", kept).status == 403
        assert call(submitter, "PUT", "/jobs/brings-a-pool", {"poolInfo": auto(), "priority": 7}).status == 200
        assert call(contributor, "PATCH", "/jobs/brings-a-pool", kept).status == 200
        assert call(contributor, "POST", "/jobschedules", later).status == 201
        for method in ("PATCH", "PUT"):
            reply = call(submitter, method, "/jobschedules/brings-pools", {k: later[k] for k in ("schedule", "jobSpecification")})
            assert reply.status == 403
        assert call(submitter, "PATCH", "/jobschedules/brings-pools", {"schedule": later["schedule"]}).status == 200
        named = {**later, "id": "names-a-pool", "jobSpecification": {"poolInfo": {"poolId": "none"}}}
        assert call(submitter, "POST", "/jobschedules", named).status == 201
    finally:
        made = [f"/pools/{pool['id']}" for pool in plane.all("/pools")]
        for path in ("/jobs/brings-a-pool", "/jobschedules/brings-pools", "/jobschedules/names-a-pool", *made):
            plane.call("DELETE", path)
        for person in (submitter, contributor):
            person.remove()


def test_the_token_of_a_task_keeps_no_pool(plane):
    """It is the submitter's program, who may make no pools."""
    job = add_job(plane)
    say = "/bin/sh -c 'echo $AZ_BATCH_AUTHENTICATION_TOKEN > token; sleep 1000'"
    job.add(say, id="t", authenticationTokenSettings={"access": ["job"]})

    def read():
        reply = plane.call("GET", f"{job.url}/tasks/t/files/wd/token", validate=False)
        return reply.status == 200 and reply.content.decode().strip()

    head = {"Authorization": f"Bearer {wait_for(read)}", "Content-Type": "application/json; odata=minimalmetadata"}

    def change(**more):
        return plane.call("PATCH", job.url, more, headers=head, validate=False)

    reply = change(poolInfo=auto(keep=True))
    assert (reply.status, reply.json["code"]) == (403, "InsufficientAccountPermissions"), reply
    assert "Microsoft.Batch/batchAccounts/pools/write" in reply.content.decode()
    assert job.get()["poolInfo"]["autoPoolSpecification"]["keepAlive"] is False
    assert change(poolInfo=auto(), priority=7).status == 200
    plane.call("PATCH", job.url, {"poolInfo": auto(keep=True)}, expect=200)
    plane.call("PATCH", job.url, {"poolInfo": auto(keep=False)}, expect=200)
    job.delete()
