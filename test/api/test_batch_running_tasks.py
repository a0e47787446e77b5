# SPDX-License-Identifier: MIT
"""What becomes of tasks of Azure Batch that run, when their job, their node or their time ends."""

import os
import signal

import pytest
from support.batch_jobs import add_pool
from support.daemon import processes_of
from support.waiting import wait_for
from support.world import instant

OWN_POOL = {"id": "running", "targetDedicatedNodes": 1, "taskSlotsPerNode": 4}


def wait(go):
    return f"/bin/sh -c 'while [ ! -e {go} ]; do sleep 0.05; done'"


def node(plane):
    (n,) = plane.all("/pools/running/nodes")
    return n


# --- constraints ---------------------------------------------------------------------------------------------------


def constrain(job, task, **limits):
    job.plane.call("PUT", f"{job.url}/tasks/{task}", {"constraints": limits}, expect=200)


def test_the_time_limit_of_a_task_that_runs_can_be_set(jobs):
    job = jobs()
    task = job.begin("sleep 1000")
    constrain(job, task, maxWallClockTime="PT0.5S")
    (ended,) = job.wait(task)
    assert ended["executionInfo"]["failureInfo"]["code"] == "TaskEnded"


def test_the_retries_of_a_task_that_runs_can_be_set(jobs, go):
    job = jobs()
    task = job.begin(wait(go).replace("done", "done; exit 3"))
    constrain(job, task, maxTaskRetryCount=2)
    go.touch()
    (ended,) = job.wait(task)
    assert (ended["executionInfo"]["retryCount"], ended["executionInfo"]["exitCode"]) == (2, 3)


# --- jobs ----------------------------------------------------------------------------------------------------------


def test_a_job_is_disabled_and_its_tasks_end(jobs, plane):
    job = jobs()
    task = job.begin("sleep 1000")
    job.disable("terminate")
    ended = job.task(task)
    assert ended["state"] == "completed" and ended["executionInfo"]["failureInfo"]["code"] == "TaskEnded"
    late = job.add("/bin/true")
    job.enable()
    job.wait(late)


def test_what_is_being_deleted_is_not_added_again(jobs, plane, go):
    """Tasks that do not heed SIGTERM keep both there."""
    stubborn = {"id": "t", "commandLine": wait(go).replace("while", 'trap "" TERM; while')}
    in_pool = {"poolInfo": {"poolId": "running"}}
    schedule = {"id": "going", "schedule": {}, "jobSpecification": in_pool}
    plane.call("POST", "/jobschedules", schedule, expect=201)
    wait_for(lambda: plane.call("GET", "/jobs/going:job-1").status == 200, what="its job")
    job = jobs()
    for url in job.url, "/jobs/going:job-1":
        plane.call("POST", f"{url}/tasks", stubborn, expect=201)
        wait_for(lambda url=url: plane.get(f"{url}/tasks/t")["state"] == "running", what="running")
    plane.call("DELETE", f"{job.url}/tasks/t", expect=200)
    plane.refused(404, "TaskNotFound", "GET", f"{job.url}/tasks/t")
    assert plane.all(f"{job.url}/tasks") == []
    there = plane.refused(409, "TaskExists", "POST", f"{job.url}/tasks", stubborn)  # the service has no other code for tasks
    assert "is being deleted" in there["Reason"]
    plane.call("DELETE", job.url, expect=202)
    plane.call("DELETE", "/jobschedules/going", expect=202)
    plane.refused(409, "JobBeingDeleted", "POST", "/jobs", {"id": job.url.split("/")[-1], **in_pool})
    plane.refused(409, "JobScheduleBeingDeleted", "POST", "/jobschedules", schedule)
    go.touch()
    wait_for(lambda: plane.call("GET", job.url).status == 404, what="its end")
    wait_for(lambda: plane.call("GET", "/jobschedules/going").status == 404, what="its end")


def test_a_job_is_disabled_once_its_tasks_have_ended(jobs, plane, go):
    job = jobs(maxParallelTasks=1)
    first, next = job.add(wait(go)), job.add("/bin/true")
    job.wait_running(first)
    plane.call("POST", f"{job.url}/disable", {"disableTasks": "wait"}, expect=202)
    wait_for(lambda: job.get()["state"] == "disabling", what="disabling")
    assert job.task(first)["state"] == "running"
    go.touch()
    job.wait_state("disabled")
    assert job.task(first)["executionInfo"]["result"] == "success"
    assert job.task(next)["state"] == "active"
    job.enable()
    job.wait(next)


def test_a_job_that_is_disabling_is_asked_again(jobs, plane):
    job = jobs()
    task = job.begin("sleep 1000")
    plane.call("POST", f"{job.url}/disable", {"disableTasks": "wait"}, expect=202)
    wait_for(lambda: job.get()["state"] == "disabling", what="disabling")
    plane.call("POST", f"{job.url}/disable", {"disableTasks": "terminate"}, expect=202)
    job.wait_state("disabled")
    assert job.task(task)["executionInfo"]["failureInfo"]["code"] == "TaskEnded"


def test_a_job_whose_time_is_up_ends_with_its_tasks(jobs, plane):
    job = jobs(constraints={"maxWallClockTime": "PT2S"})
    task = job.add("sleep 1000")
    ended = job.wait_state("completed")
    assert ended["executionInfo"]["terminateReason"] == "MaxWallClockTimeExpiry"
    info = ended["executionInfo"]
    assert (instant(info["endTime"]) - instant(info["startTime"])).total_seconds() >= 2
    assert job.task(task)["executionInfo"]["failureInfo"]["code"] == "TaskEnded"


@pytest.mark.parametrize("limit", ["PT1S", "PT0S"])
def test_the_time_of_a_job_can_be_cut_short(jobs, plane, limit):
    job = jobs()
    job.wait_running(job.add("sleep 1000"))
    plane.call("PATCH", job.url, {"constraints": {"maxWallClockTime": limit}}, expect=200)
    assert job.wait_state("completed")["executionInfo"]["terminateReason"] == "MaxWallClockTimeExpiry"


def test_the_time_of_a_job_counts_while_it_is_disabled(jobs, plane, go):
    """A job that was disabled with "wait" leaves its tasks alone, but not for longer than its limit."""
    waiting, still = (jobs(constraints={"maxWallClockTime": "PT3S"}) for _ in range(2))
    waiting.wait_running(waiting.add(wait(go)))
    for job in waiting, still:
        plane.call("POST", f"{job.url}/disable", {"disableTasks": "wait"}, expect=202)
    for job in waiting, still:
        assert job.wait_state("completed")["executionInfo"]["terminateReason"] == "MaxWallClockTimeExpiry"


def test_the_time_of_a_task_is_of_each_try(jobs):
    """A task that runs out of time is not tried again."""
    job = jobs()
    ended = job.done("sleep 1000", constraints={"maxWallClockTime": "PT1S", "maxTaskRetryCount": 3})
    info = ended["executionInfo"]
    assert info["failureInfo"]["code"] == "TaskEnded" and info["retryCount"] == 0 and "exitCode" not in info


# --- slots ---------------------------------------------------------------------------------------------------------


def test_tasks_take_as_many_slots_as_they_require(jobs, plane, go):
    job = jobs()
    three, two = job.add(wait(go), requiredSlots=3), job.add(wait(go), requiredSlots=2)
    job.wait_running(three)
    assert job.task(two)["state"] == "active"
    slots = plane.get(f"{job.url}/taskcounts")["taskSlotCounts"]
    assert (slots["running"], slots["active"]) == (3, 2)
    go.touch()
    job.wait(three, two)
    assert plane.get(f"{job.url}/taskcounts")["taskSlotCounts"]["succeeded"] == 5


def test_tasks_that_require_more_than_a_node_has_let_others_pass(jobs):
    """However many they are: more than a pool looks at."""
    job, other = jobs(), jobs()
    for first in range(0, 300, 100):
        large = [{"id": f"large{first + n}", "commandLine": "/bin/true", "requiredSlots": 5} for n in range(100)]
        jobs.plane.call("POST", f"{job.url}/addtaskcollection", {"value": large}, expect=200)
    other.wait(other.add("/bin/true"))
    job.wait(job.add("/bin/true"))
    assert job.task("large1")["state"] == "active"


# --- nodes ---------------------------------------------------------------------------------------------------------


def test_a_node_that_is_restarted_gives_its_tasks_back(jobs, plane, go):
    job = jobs(constraints={"maxTaskRetryCount": 1})
    task = job.begin(wait(go))
    began = job.task(task)["executionInfo"]["startTime"]
    plane.call("POST", f"/pools/running/nodes/{node(plane)['id']}/reboot", {"nodeRebootOption": "requeue"}, expect=202)
    wait_for(lambda: job.task(task)["executionInfo"].get("startTime", began) != began, what="another start")
    job.wait_running(task)
    info = job.task(task)["executionInfo"]
    assert (info["requeueCount"], info["retryCount"]) == (1, 0) and "lastRequeueTime" in info
    go.touch()
    assert job.wait(task)[0]["executionInfo"]["result"] == "success"


def test_a_node_that_is_restarted_ends_its_tasks_if_that_is_wanted(jobs, plane):
    job = jobs(constraints={"maxTaskRetryCount": 1})
    task = job.begin("sleep 1000")
    plane.call("POST", f"/pools/running/nodes/{node(plane)['id']}/reboot", {"nodeRebootOption": "terminate"}, expect=202)
    (ended,) = job.wait(task)
    assert ended["executionInfo"]["requeueCount"] == 0 and ended["executionInfo"]["result"] == "failure"
    wait_for(lambda: node(plane)["state"] == "idle", what="idle")


@pytest.mark.parametrize("how,requeued", [("requeue", 1), ("terminate", 0), ("taskcompletion", 0)])
def test_a_node_that_gets_no_more_tasks(jobs, plane, go, how, requeued):
    job = jobs()
    task, url = job.add(wait(go)), f"/pools/running/nodes/{node(plane)['id']}"
    job.wait_running(task)
    plane.call("POST", f"{url}/disablescheduling", {"nodeDisableSchedulingOption": how}, expect=200)
    if how == "taskcompletion":
        go.touch()
    wait_for(lambda: node(plane)["state"] == "offline", what="offline")
    wait_for(lambda: job.task(task)["state"] != "running", what="not running")
    assert job.task(task)["state"] == ("active" if how == "requeue" else "completed")
    assert job.task(task)["executionInfo"]["requeueCount"] == requeued
    plane.call("POST", f"{url}/enablescheduling", expect=200)
    go.touch()
    job.wait(task)
    assert job.task(task)["executionInfo"]["result"] == ("failure" if how == "terminate" else "success")


def processes_with(daemon, go):
    return [p for p, command in processes_of(daemon.state_dir / "nodes").items() if str(go) in command]


def test_a_task_that_vanishes_from_its_node_is_queued_again(jobs, plane, daemon, go):
    """Its supervisor is killed: nobody knows how it ended. That is no failure of the task."""
    job = jobs()
    task = job.begin(wait(go), constraints={"maxTaskRetryCount": 0})
    mine = wait_for(lambda: processes_with(daemon, go), what="its process")
    supervisors = {int(open(f"/proc/{p}/stat").read().rsplit(")", 1)[1].split()[1]) for p in mine}
    for p in [s for s in supervisors if s > 1 and s != daemon.process.pid] + mine:
        try:
            os.kill(p, signal.SIGKILL)
        except ProcessLookupError:
            pass
    wait_for(lambda: job.task(task)["executionInfo"]["requeueCount"] == 1, what="queued again")
    job.wait_running(task)
    assert job.task(task)["executionInfo"]["retryCount"] == 0
    go.touch()
    job.wait(task)


# --- pools ---------------------------------------------------------------------------------------------------------


def test_tasks_of_a_deleted_pool_wait_for_another(jobs, plane, go):
    """Those that ran and those that were about to are as if they had never begun; their job can be given another pool."""
    add_pool(plane, "leaving", targetDedicatedNodes=1)
    job = jobs(pool="leaving", constraints={"maxTaskRetryCount": 0})
    ran, waited = job.add(wait(go)), job.add("/bin/true")
    job.wait_running(ran)
    plane.remove_pool("leaving")
    wait_for(lambda: set(job.states().values()) == {"active"}, what="both wait")
    assert "startTime" not in job.task(ran)["executionInfo"]
    assert [job.task(t)["executionInfo"]["requeueCount"] for t in (ran, waited)] == [1, 0]
    go.touch()
    job.disable("requeue")
    plane.call("PATCH", job.url, {"poolInfo": {"poolId": "running"}}, expect=200)
    job.enable()
    assert [t["executionInfo"]["result"] for t in job.wait(ran, waited)] == ["success", "success"]


def test_a_pool_is_deleted_after_its_tasks_were_ended(jobs, plane):
    """Whoever wants them ended takes the nodes away first."""
    add_pool(plane, "emptied", targetDedicatedNodes=1)
    job = jobs(pool="emptied")
    task = job.begin("sleep 1000")
    less = {"targetDedicatedNodes": 0, "nodeDeallocationOption": "terminate"}
    plane.call("POST", "/pools/emptied/resize", less, expect=202)
    (ended,) = job.wait(task)
    assert ended["executionInfo"]["result"] == "failure" and ended["executionInfo"]["requeueCount"] == 0
    plane.call("DELETE", "/pools/emptied", expect=202)
