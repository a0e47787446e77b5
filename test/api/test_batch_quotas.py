# SPDX-License-Identifier: MIT
"""Quotas that a site sets for Batch accounts."""

import pytest
from support.batch import BatchGround
from support.batch_jobs import POOL, Job, add_pool
from support.waiting import wait_for

JOB = {"poolInfo": {"poolId": "nopool"}}


@pytest.fixture
def ground(own_daemon):
    return BatchGround(own_daemon(config={"quota": {"batch_jobs": 2, "batch_pools": 1}}))


def test_an_account_has_no_more_jobs_and_schedules_than_its_quota(ground):
    plane = ground.plane
    schedule = {"id": "s", "schedule": {"doNotRunUntil": "2090-01-01T00:00:00Z"}, "jobSpecification": JOB}
    plane.call("POST", "/jobs", {"id": "a", **JOB}, expect=201)
    plane.call("POST", "/jobschedules", schedule, expect=201)
    code = "ActiveJobAndScheduleQuotaReached"
    assert "2 jobs" in plane.refused(409, code, "POST", "/jobs", {"id": "b", **JOB})["Reason"]
    plane.refused(409, code, "POST", "/jobschedules", {**schedule, "id": "t"})
    plane.call("POST", "/jobs/a/terminate", expect=202)
    plane.call("POST", "/jobs", {"id": "b", **JOB}, expect=201)
    other = ground.accounts.account()
    other = type(plane)(plane.daemon, other, ground.accounts.keys(other)[0])
    other.call("POST", "/jobs", {"id": "b", **JOB}, expect=201)


def test_an_account_has_no_more_pools_than_its_quota(ground):
    plane = ground.plane
    add_pool(plane, "one")
    pool = plane.get("/pools/one")
    body = {"id": "two", "vmSize": pool["vmSize"], "virtualMachineConfiguration": pool["virtualMachineConfiguration"]}
    plane.refused(409, "PoolQuotaReached", "POST", "/pools", body)
    vm = pool["virtualMachineConfiguration"]
    deployment = {"imageReference": {k: v for k, v in vm["imageReference"].items() if k != "exactVersion"}, "nodeAgentSkuId": vm["nodeAgentSKUId"]}
    body = {"properties": {"vmSize": "a", "deploymentConfiguration": {"virtualMachineConfiguration": deployment}}}
    reply = ground.accounts.call("PUT", f"/{ground.name}/pools/two", body, expect=409)
    assert reply.code == "PoolQuotaReached"
    ground.accounts.call("PUT", f"/{ground.name}/pools/one", body, expect=(200, 400))  # it is there already


def auto(life):
    return {"autoPoolSpecification": {"poolLifetimeOption": life, "pool": {**POOL, "targetDedicatedNodes": 1}}}


def test_a_pool_for_a_job_counts_as_any_other(ground):
    """As in the service the job is completed at once; when the account has room again, the next job gets its pool."""
    plane = ground.plane
    add_pool(plane, "one")
    job = Job(plane, None, poolInfo=auto("job"))
    ended = job.wait_state("completed")["executionInfo"]
    assert "poolId" not in ended
    why = ended["schedulingError"]
    assert (why["category"].lower(), why["code"]) == ("usererror", "AutoPoolCreationFailedWithQuotaReached")
    assert why["details"] == [{"name": "Message", "value": "the account has 1 pools, and may not have more"}]
    assert [p["id"] for p in plane.all("/pools")] == ["one"]
    plane.remove_pool("one")
    job = Job(plane, None, poolInfo=auto("job"))
    made = job.get()["executionInfo"]["poolId"]
    plane.refused(409, "PoolQuotaReached", "POST", "/pools", {"id": "one", **POOL})
    job.delete()
    wait_for(lambda: plane.call("GET", f"/pools/{made}").status == 404, what="its pool gone")


def test_a_pool_that_is_being_deleted_does_not_refuse_the_pool_of_the_next_job(ground):
    """A job is completed before the nodes of its pool have left. A request for a pool is refused until then."""
    plane = ground.plane
    first = Job(plane, None, poolInfo=auto("job"), jobManagerTask={"id": "boss", "commandLine": "/bin/true"})
    wait_for(lambda: first.get()["state"] == "completed", 60, what="the first job to be completed")
    second = Job(plane, None, poolInfo=auto("job")).get()["executionInfo"]
    assert "schedulingError" not in second and second["poolId"] != first.get()["executionInfo"]["poolId"]
    plane.refused(409, "PoolQuotaReached", "POST", "/pools", {"id": "one", **POOL})


def test_a_pool_for_a_schedule_counts_too(ground):
    plane = ground.plane
    add_pool(plane, "one")
    work = {"poolInfo": auto("jobschedule"), "jobManagerTask": {"id": "boss", "commandLine": "/bin/true"}}
    plane.call("POST", "/jobschedules", {"id": "s", "schedule": {}, "jobSpecification": work}, expect=201)
    wait_for(lambda: [j["state"] for j in plane.all("/jobschedules/s/jobs")] == ["completed"], what="its job completed")
    (job,) = plane.all("/jobschedules/s/jobs")
    assert job["executionInfo"]["schedulingError"]["code"] == "AutoPoolCreationFailedWithQuotaReached"
    assert [p["id"] for p in plane.all("/pools")] == ["one"]


def test_quotas_are_shown(ground):
    seen = ground.accounts.get(ground.name)["properties"]
    assert (seen["poolQuota"], seen["activeJobAndJobScheduleQuota"]) == (1, 2)
