# SPDX-License-Identifier: MIT
"""What is counted of the tasks of a node and of a job."""

import pytest
from support.batch import V
from support.batch_jobs import Job, Jobs, add_pool
from support.waiting import wait_for
from support.world import instant


@pytest.fixture
def jobs(plane):
    add_pool(plane, "counted", targetDedicatedNodes=1, taskSlotsPerNode=4)
    made = Jobs(plane, "counted")
    yield made
    made.remove()
    plane.remove_pool("counted")


def node(plane):
    (n,) = plane.all("/pools/counted/nodes")
    assert plane.get(f"/pools/counted/nodes/{n['id']}").get("recentTasks") == n.get("recentTasks")
    return n


def counts(n):
    return [n[k] for k in ("totalTasksRun", "totalTasksSucceeded", "runningTasksCount", "runningTaskSlotsCount")]


def test_tasks_of_a_node(jobs, plane):
    job = jobs(jobPreparationTask={"commandLine": "/bin/true"})
    assert counts(node(plane)) == [0, 0, 0, 0] and "recentTasks" not in node(plane)
    good, bad = job.add("/bin/true"), job.add("/bin/false")
    job.wait(good, bad)
    runs = job.begin("sleep 1000", requiredSlots=3)
    wait_for(lambda: counts(node(plane)) == [2, 1, 1, 3], what="what ended is cleaned up")
    recent = {t["taskId"]: t for t in node(plane)["recentTasks"]}
    assert set(recent) == {good, bad, runs}
    assert recent[runs]["taskState"] == "running" and recent[runs]["jobId"] == job.id
    assert recent[runs]["taskUrl"] == f"{plane.url}{job.url}/tasks/{runs}"
    assert recent[bad]["executionInfo"]["failureInfo"]["code"] == "FailureExitCode"
    assert recent[bad]["executionInfo"]["exitCode"] == 1 and recent[good]["executionInfo"]["result"] == "success"
    assert "runningTaskSlotsCount" not in node(plane.at(V["11.0"]))
    job.delete()
    assert counts(node(plane))[:2] == [2, 1]  # they stay, as they are the node's


def seconds(span):
    assert span.startswith("PT") and span.endswith("S"), span
    return float(span[2:-1])


def test_statistics_are_shown_if_they_are_asked_for(jobs, plane):
    job = jobs(constraints={"maxTaskRetryCount": 1})
    good, bad = job.add("/bin/sleep 0.3"), job.add("/bin/false")
    ended = job.wait(good, bad)
    assert "stats" not in job.get() and "stats" not in ended[0]
    of_job = plane.get(job.url, **{"$expand": "stats"})["stats"]
    assert (of_job["numSucceededTasks"], of_job["numFailedTasks"], of_job["numTaskRetries"]) == ("1", "1", "1")
    assert of_job["url"] == f"{plane.url}{job.url}"
    listed = {t["id"]: t["stats"] for t in plane.all(f"{job.url}/tasks", **{"$expand": "stats"})}
    assert listed[good] == plane.get(f"{job.url}/tasks/{good}", **{"$expand": "stats"})["stats"]
    assert seconds(listed[good]["wallClockTime"]) >= 0.3
    info = ended[0]["executionInfo"]
    ran = (instant(info["endTime"]) - instant(info["startTime"])).total_seconds()
    assert abs(seconds(listed[good]["wallClockTime"]) - ran) < 0.001
    both = sum(seconds(listed[t]["wallClockTime"]) for t in (good, bad))
    assert abs(seconds(of_job["wallClockTime"]) - both) < 0.001
    (shown,) = [j for j in plane.all("/jobs", **{"$expand": "stats"}) if j["id"] == job.id]
    assert shown["stats"]["wallClockTime"] == of_job["wallClockTime"]
    for version in ("6.0", "11.0", "20.0"):
        assert plane.at(V[version]).get(job.url, **{"$expand": "stats"})["stats"]["numFailedTasks"] == "1"


def test_those_of_a_schedule_are_of_the_jobs_that_it_has(plane, jobs):
    body = {"id": "totals", "schedule": {}, "jobSpecification": {"poolInfo": {"poolId": "counted"}}}
    plane.call("POST", "/jobschedules", body, expect=201)

    def stats(at=plane):
        return at.get("/jobschedules/totals", **{"$expand": "stats"})["stats"]

    wait_for(lambda: plane.all("/jobschedules/totals/jobs"), what="a job")
    job = Job.of(plane, "totals:job-1")
    assert (stats()["numSucceededTasks"], stats()["wallClockTime"]) == ("0", "PT0S")
    good, bad = job.add("/bin/sleep 0.3"), job.add("/bin/false")
    job.wait(good, bad)
    assert "stats" not in plane.get("/jobschedules/totals")
    seen, of_job = stats(), plane.get(job.url, **{"$expand": "stats"})["stats"]
    assert (seen["numSucceededTasks"], seen["numFailedTasks"], seen["numTaskRetries"]) == ("1", "1", "0")
    assert seen["wallClockTime"] == of_job["wallClockTime"] and seconds(seen["wallClockTime"]) >= 0.3
    assert seen["url"] == f"{plane.url}/jobschedules/totals"
    assert seen["startTime"] == plane.get("/jobschedules/totals")["creationTime"]
    (listed,) = [s for s in plane.all("/jobschedules", **{"$expand": "stats"}) if s["id"] == "totals"]
    assert listed["stats"]["numFailedTasks"] == "1"
    assert plane.get("/jobschedules/totals", **{"$expand": "stats", "$select": "stats"}).keys() == {"odata.metadata", "stats"}
    assert stats(plane.at(V["6.0"]))["numSucceededTasks"] == "1"
    plane.call("DELETE", "/jobschedules/totals", expect=202)
    wait_for(lambda: plane.call("GET", "/jobschedules/totals").status == 404, what="the schedule gone")
