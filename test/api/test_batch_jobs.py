# SPDX-License-Identifier: MIT
"""Jobs and tasks of Azure Batch whose pool does not exist: what is accepted, refused and shown."""

import pytest
from support.batch import V
from support.batch_jobs import Jobs


@pytest.fixture
def jobs(plane, temporary):
    return temporary(Jobs(plane, "no-such-pool"))


def test_a_collection_says_what_became_of_each(jobs, plane):
    job = jobs()
    job.add("/bin/true", id="there")
    body = {"value": [{"id": "there", "commandLine": "x"}, {"id": "a b", "commandLine": "x"}, {"id": "new", "commandLine": "true"}]}
    first, second, third = plane.call("POST", f"{job.url}/addtaskcollection", body, expect=200).json["value"]
    assert first["status"] == "ClientError" and first["error"]["code"] == "TaskExists"
    assert second["status"] == "ClientError" and second["error"]["code"] == "InvalidPropertyValue"
    assert third["status"] == "Success" and third["location"].endswith("/tasks/new")
    many = {"value": [{"id": f"x{i}", "commandLine": "true"} for i in range(101)]}
    plane.refused(400, "InvalidPropertyValue", "POST", f"{job.url}/addtaskcollection", many, validate=False)
    huge = {"value": [{"id": f"x{i}", "commandLine": "true " + "x" * 20000} for i in range(60)]}
    plane.refused(413, "RequestBodyTooLarge", "POST", f"{job.url}/addtaskcollection", huge)


@pytest.mark.parametrize(
    "body, code, name",
    [
        ({"id": "x" * 65, "poolInfo": {"poolId": "p"}}, "InvalidPropertyValue", "id"),
        ({"id": "a b", "poolInfo": {"poolId": "p"}}, "InvalidPropertyValue", "id"),
        ({"id": "x"}, "MissingRequiredProperty", "poolInfo"),
        ({"id": "x", "poolInfo": {"poolId": "p"}, "priority": 1001}, "InvalidPropertyValue", "priority"),
        ({"id": "x", "poolInfo": {"poolId": "p"}, "maxParallelTasks": 0}, "InvalidPropertyValue", "maxParallelTasks"),
        ({"id": "x", "poolInfo": {"poolId": "p"}, "jobReleaseTask": {"commandLine": "x"}}, "InvalidPropertyValue", "jobReleaseTask"),
    ],
)
def test_bad_jobs(plane, body, code, name):
    assert plane.refused(400, code, "POST", "/jobs", body)["PropertyName"] == name


@pytest.mark.parametrize(
    "body, code",
    [
        ({"id": "x", "commandLine": ""}, "InvalidPropertyValue"),
        ({"id": "x"}, "MissingRequiredProperty"),
        ({"id": "x", "commandLine": "x", "dependsOn": {"taskIds": ["y"]}}, "TaskDependenciesNotSpecifiedOnJob"),
        ({"id": "x", "commandLine": "x", "resourceFiles": [{"filePath": "a"}]}, "InvalidPropertyValue"),
        ({"id": "x", "commandLine": "x", "resourceFiles": [{"httpUrl": "http://a/b", "filePath": "../a"}]}, "InvalidPropertyValue"),
        ({"id": "x", "commandLine": "x", "resourceFiles": [{"httpUrl": "http://a/b", "filePath": "\\data\\in.csv"}]}, "InvalidPropertyValue"),
    ],
)
def test_bad_tasks(jobs, plane, body, code):
    plane.refused(400, code, "POST", f"{jobs().url}/tasks", body)


def test_etags_guard_writes(jobs, plane):
    job = jobs()
    etag = plane.call("GET", job.url).headers["ETag"]
    plane.call("PATCH", job.url, {"priority": 5}, headers={"If-Match": etag}, expect=200)
    plane.refused(412, "ConditionNotMet", "PATCH", job.url, {"priority": 6}, headers={"If-Match": etag})
    assert job.get()["priority"] == 5
    plane.refused(409, "JobExists", "POST", "/jobs", {"id": job.id.upper(), "poolInfo": {"poolId": "p"}})


def test_a_limit_of_no_tasks_is_refused(jobs, plane):
    url, none = jobs().url, {"maxParallelTasks": 0}
    where = {"poolInfo": {"poolId": "p"}}
    each = {"id": "each", "schedule": {"recurrenceInterval": "P1D"}, "jobSpecification": {**none, **where}}
    for method, path, body in (("PATCH", url, none), ("PUT", url, {**none, **where}), ("POST", "/jobschedules", each)):
        values = plane.refused(400, "InvalidPropertyValue", method, path, body)
        assert values["PropertyName"].endswith("maxParallelTasks") and "at least 1" in values["Reason"]


def test_the_end_with_its_tasks_is_not_taken_back(jobs, plane):
    job = jobs()
    job.add("true")
    plane.call("PATCH", job.url, {"onAllTasksComplete": "terminatejob"}, expect=200)
    pool = job.get()["poolInfo"]
    for method, body in (("PATCH", {"onAllTasksComplete": "noaction"}), ("PUT", {"poolInfo": pool})):
        assert plane.refused(400, "InvalidPropertyValue", method, job.url, body)["PropertyName"] == "onAllTasksComplete"
    plane.call("PUT", job.url, {"poolInfo": pool, "onAllTasksComplete": "terminatejob"}, expect=200)
    plane.call("PATCH", job.url, {"priority": 1}, expect=200)
    assert job.get()["onAllTasksComplete"] == "terminatejob"


def test_tasks_wait_for_their_pool(jobs, plane):
    job = jobs()
    tasks = [{"id": f"t{i}", "commandLine": "true"} for i in range(5)]
    plane.call("POST", f"{job.url}/addtaskcollection", {"value": tasks}, expect=200)
    assert plane.get(f"{job.url}/taskcounts")["taskCounts"]["active"] == 5
    assert plane.at(V["6.1"]).get(f"{job.url}/taskcounts")["validationStatus"] == "Validated"
    assert [t["id"] for t in plane.all(f"{job.url}/tasks", maxresults=2)] == [f"t{i}" for i in range(5)]
    assert plane.all(f"{job.url}/tasks", **{"$filter": "id eq 't3'", "$select": "id"}) == [{"id": "t3"}]
    plane.call("POST", f"{job.url}/tasks/t0/terminate", expect=204)
    assert job.task("t0")["executionInfo"]["result"] == "failure" and job.task("t0")["nodeInfo"] == {}
    plane.call("PUT", f"{job.url}/tasks/t1", {"constraints": {"maxTaskRetryCount": 3}}, expect=200)
    assert job.task("t1")["constraints"]["maxTaskRetryCount"] == 3
    plane.call("DELETE", f"{job.url}/tasks/t1", expect=200)
    assert plane.get(f"{job.url}/taskcounts")["taskCounts"] == {
        "active": 3, "running": 0, "completed": 1, "succeeded": 0, "failed": 1,
    }  # fmt: skip


def test_a_job_without_pool_is_disabled_moved_and_ended(jobs, plane):
    job = jobs(metadata=[{"name": "a", "value": "b"}])
    job.add("true")
    plane.refused(409, "JobNotDisabled", "PATCH", job.url, {"poolInfo": {"poolId": "other"}})
    assert job.disable("terminate")["previousState"] == "disabling"
    plane.call("PUT", job.url, {"poolInfo": {"poolId": "other"}, "priority": 3}, expect=200)
    shown = job.get()
    assert shown["executionInfo"]["poolId"] == "other" and shown["priority"] == 3 and "metadata" not in shown
    job.enable()
    job.wait_state("active")
    assert job.end()["executionInfo"]["terminateReason"] == "UserTerminate"
