# SPDX-License-Identifier: MIT
"""Azure Batch's jobs and tasks in seeds and dumps: ends, dependencies, managers, schedules."""

import pytest
from support.batch import Plane
from support.batch_jobs import POOL
from support.seeds import CLUSTER, t  # noqa: F401 (a fixture)
from support.testing import Strict
from support.waiting import wait_for
from support.world import cluster_body, job_body

JOB = "/resourceGroups/lab/providers/Microsoft.BatchAI/workspaces/ws/experiments/e/jobs/q"
ARGUMENTS = ("--fake-nodes",)
ACCOUNT = "seedends"
DID = {"state": {"state": "completed", "exitCode": 0}}


def task(**more):
    return {"commandLine": "true", **more}


def seed(jobs, **more):
    """Jobs of a pool without nodes."""
    account = {"location": "eastus", "pools": {"p": {**POOL, "targetDedicatedNodes": 0}}, "jobs": jobs, **more}
    return {"groups": {"lab": {"location": "eastus", "batchAccounts": {ACCOUNT: account}}}}


def job(**more):
    return {"poolInfo": {"poolId": "p"}, **more}


def plane(tested):
    return Plane(tested, ACCOUNT, by="token")


def jobs_of(tested, state):
    return state["subscriptions"][tested.subscription]["groups"]["lab"]["batchAccounts"][ACCOUNT]["jobs"]


def dumped(tested, t):  # noqa: F811
    """The jobs of a dump that seeds to the same."""
    state = t.dump()
    t.seed_again(state)
    return jobs_of(tested, state)


def nodes_of(tested, n):
    plane(tested).call("POST", "/pools/p/resize", {"targetDedicatedNodes": n}, expect=202)


def ended(p, name):
    wait_for(lambda: p.get(f"/jobs/{name}")["state"] == "completed", what="the job to end")


# --- ends -----------------------------------------------------------------------------------------


def test_what_was_ended_before_its_start_is_seeded_again(tested, t):  # noqa: F811
    state = seed({"j": job(tasks={"t": task()})})
    state["groups"]["lab"]["workspaces"] = {
        "ws": {"location": "eastus", "clusters": {"c": cluster_body(0)}, "experiments": {"e": {"jobs": {"q": job_body(CLUSTER)}}}}
    }
    t.seed(state)
    p = plane(tested)
    p.call("POST", "/jobs/j/tasks/t/terminate", expect=204)
    path = f"/subscriptions/{tested.subscription}{JOB}"
    tested.call("POST", f"{path}/terminate", expect=(200, 202))
    wait_for(lambda: p.get("/jobs/j/tasks/t")["state"] == "completed", what="the task to end")
    wait_for(lambda: tested.get(path)["properties"]["executionState"] == "failed", what="the job to end")
    end = dumped(tested, t)["j"]["tasks"]["t"]["state"]
    assert "startTime" not in end and end["endTime"]
    assert "startTime" not in p.get("/jobs/j/tasks/t")["executionInfo"]


def test_a_job_that_was_terminated_keeps_its_waiting_tasks(tested, t):  # noqa: F811
    t.seed(seed({"j": job(tasks={"t": task()})}))
    p = plane(tested)
    p.call("POST", "/jobs/j/terminate", {"terminateReason": "enough"}, expect=202)
    ended(p, "j")
    found = dumped(tested, t)["j"]
    assert found["state"]["state"] == "completed" and found["tasks"]["t"]["state"]["state"] == "active"
    assert p.get("/jobs/j/tasks/t")["state"] == "active"


def test_a_job_that_is_being_terminated_is_dumped_with_its_tasks_ended(tested, t):  # noqa: F811
    t.seed(seed({"j": job(tasks={"t": task()})}))
    p = plane(tested)
    t.rules({"duration": "PT1H"})
    nodes_of(tested, 1)
    wait_for(lambda: p.get("/jobs/j/tasks/t")["state"] == "running", what="the task to run")
    strict = Strict(tested)
    strict.set(batchAccountCreation="PT0S", batchJobChange="PT1H")
    p.call("POST", "/jobs/j/terminate", expect=202)
    assert p.get("/jobs/j")["state"] == "terminating"
    state = t.dump()
    strict.off()
    t.seed_again(state)
    found = jobs_of(tested, state)["j"]
    assert found["state"]["state"] == found["tasks"]["t"]["state"]["state"] == "completed"
    assert found["tasks"]["t"]["state"]["failureInfo"]["code"] == "TaskEnded"


# --- dependencies ---------------------------------------------------------------------------------


def test_completed_tasks_release_those_that_depend_on_them(tested, t):  # noqa: F811
    satisfies = {"default": {"dependencyAction": "satisfy"}}
    failed = {"state": "completed", "exitCode": 3, "failureInfo": {"category": "usererror", "code": "FailureExitCode", "message": "3"}}
    t.seed(
        seed(
            {
                "names": job(usesTaskDependencies=True, tasks={"a": task(dependsOn={"taskIds": ["b"]}), "b": task(**DID)}),
                "ranges": job(
                    usesTaskDependencies=True,
                    tasks={"1": task(**DID), "2": task(**DID), "3": task(dependsOn={"taskIdRanges": [{"start": 1, "end": 2}]})},
                ),
                "exits": job(
                    usesTaskDependencies=True,
                    tasks={"a": task(dependsOn={"taskIds": ["b"]}), "b": task(exitConditions=satisfies, state=failed)},
                ),
                "blocked": job(
                    usesTaskDependencies=True, tasks={"a": task(dependsOn={"taskIds": ["b"]}), "b": task(state=failed)}
                ),
            }
        )
    )
    nodes_of(tested, 1)
    p = plane(tested)
    for path in ("/jobs/names/tasks/a", "/jobs/ranges/tasks/3", "/jobs/exits/tasks/a"):
        wait_for(lambda at=path: p.get(at)["state"] == "completed", what=f"{path} to run")
    assert p.get("/jobs/blocked/tasks/a")["state"] == "active"


# --- managers -------------------------------------------------------------------------------------


def test_a_manager_that_waits_is_seeded_again(tested, t):  # noqa: F811
    t.seed(seed({"j": job(jobManagerTask={"id": "Boss", "commandLine": "true"}, tasks={"t": task()})}))
    found = dumped(tested, t)["j"]
    assert found["tasks"]["Boss"] == {"state": {"state": "active"}} and found["jobManagerTask"]["id"] == "Boss"


def test_a_manager_that_ran_does_not_run_again(tested, t):  # noqa: F811
    manager = {"id": "boss", "commandLine": "true", "killJobOnCompletion": False}
    over = {"state": {"state": "completed", "exitCode": 0}, "files": {"stdout.txt": "done"}}
    t.seed(seed({"j": job(jobManagerTask=manager, tasks={"boss": over, "t": task()}, state={"state": "completed"})}))
    found = dumped(tested, t)["j"]["tasks"]["boss"]
    assert set(found) == {"state", "files"} and found["state"]["state"] == "completed"
    assert plane(tested).get("/jobs/j/tasks/boss")["executionInfo"]["exitCode"] == 0


def test_a_manager_is_described_by_its_job_alone(tested, t):  # noqa: F811
    manager = {"id": "boss", "commandLine": "true"}
    said = t.seed(seed({"j": job(jobManagerTask=manager, tasks={"boss": task()})}), expect=400)["error"]["message"]
    assert "'commandLine'" in said and "jobManagerTask" in said


# --- schedules ------------------------------------------------------------------------------------


def test_jobs_of_a_schedule_with_a_long_name(tested, t):  # noqa: F811
    name = "s" * 64
    schedule = {
        "schedule": {"recurrenceInterval": "PT1H"}, "jobSpecification": {"poolInfo": {"poolId": "p"}},
        "state": {"state": "active", "jobs": 1, "nextRunTime": "2090-01-01T00:00:00Z"},
    }
    t.seed(seed({f"{name}:job-1": job()}, jobSchedules={name: schedule}))
    assert list(dumped(tested, t)) == [f"{name}:job-1"]


# --- pools of jobs and schedules ------------------------------------------------------------------


def auto(life="job", keep=False):
    pool = {**POOL, "targetDedicatedNodes": 0}
    return {"autoPoolSpecification": {"autoPoolIdPrefix": "auto", "poolLifetimeOption": life, "keepAlive": keep, "pool": pool}}


def pools(p):
    return {pool["id"] for pool in p.all("/pools") if pool["state"] == "active"} - {"p"}


def test_a_job_with_a_pool_of_its_own_has_one_again(tested, t):  # noqa: F811
    t.seed(seed({"open": {"poolInfo": auto()}}))
    p = plane(tested)
    assert len(pools(p)) == 1
    dumped(tested, t)
    assert pools(p) == {p.get("/jobs/open")["executionInfo"]["poolId"]}
    p.call("POST", "/jobs/open/terminate", expect=202)
    ended(p, "open")
    dumped(tested, t)
    assert pools(p) == set()


def test_a_pool_that_a_job_has_kept_is_there_once(tested, t):  # noqa: F811
    t.seed(seed({"j": {"poolInfo": auto(keep=True)}}))
    p = plane(tested)
    before = pools(p)
    p.call("POST", "/jobs/j/terminate", expect=202)
    ended(p, "j")
    dumped(tested, t)
    assert pools(p) == before and len(before) == 1


def test_jobs_of_a_schedule_share_its_pool(tested, t):  # noqa: F811
    schedule = {
        "schedule": {"recurrenceInterval": "PT1H"}, "jobSpecification": {"poolInfo": auto("jobschedule")},
        "state": {"state": "active", "jobs": 2, "nextRunTime": "2090-01-01T00:00:00Z"},
    }
    info = {"poolInfo": auto("jobschedule")}
    t.seed(seed({"s:job-1": {**info, "state": {"state": "completed"}}, "s:job-2": info}, jobSchedules={"s": schedule}))
    p = plane(tested)
    assert list(dumped(tested, t)) == ["s:job-1", "s:job-2"]
    assert pools(p) == {p.get("/jobs/s:job-2")["executionInfo"]["poolId"]}
    p.call("POST", "/jobschedules/s/terminate", expect=202)
    wait_for(lambda: p.get("/jobschedules/s")["state"] == "completed", what="the schedule to end")
    assert pools(p) == set()
    dumped(tested, t)
    assert pools(p) == set()


def test_a_job_without_a_schedule_has_no_pool_of_one(tested, t):  # noqa: F811
    said = t.seed(seed({"j": {"poolInfo": auto("jobschedule")}}), expect=400)["error"]["message"]
    assert "SCHEDULE:job-NUMBER" in said


@pytest.mark.parametrize("state", ["completed", 1, None], ids=["text", "number", "null"])
@pytest.mark.parametrize("kind", ["job", "schedule", "task", "ai job"])
def test_a_state_that_is_no_object_is_refused(tested, t, kind, state):  # noqa: F811
    later = {"schedule": {"doNotRunUntil": "2090-01-01T00:00:00Z"}, "jobSpecification": {"poolInfo": {"poolId": "p"}}}
    made = {
        "job": lambda: seed({"j": job(state=state)}),
        "schedule": lambda: seed({}, jobSchedules={"s": {**later, "state": state}}),
        "task": lambda: seed({"j": job(tasks={"t": task(state=state)})}),
        "ai job": lambda: seed({}),
    }[kind]()
    if kind == "ai job":
        made["groups"]["lab"]["workspaces"] = {
            "ws": {
                "location": "eastus", "clusters": {"c": cluster_body(0)},
                "experiments": {"e": {"jobs": {"q": {**job_body(CLUSTER), "state": state}}}},
            }
        }
    assert "state" in t.seed(made, expect=400)["error"]["message"]
    assert tested.get(f"/subscriptions/{tested.subscription}/resourcegroups")["value"] == []
