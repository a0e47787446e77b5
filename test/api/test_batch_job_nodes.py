# SPDX-License-Identifier: MIT
"""Preparation and release tasks of Azure Batch's jobs: once on each node, before its first task and after its last."""

import os
import signal
from contextlib import suppress

from support.batch import BatchGround
from support.batch_jobs import Jobs, add_pool
from support.daemon import processes_of
from support.metrics import page, samples
from support.waiting import wait_for
from support.world import Place, instant

PREPARATION = "jobPreparationTaskExecutionInfo"
RELEASE = "jobReleaseTaskExecutionInfo"

OWN_POOL = {"id": "prepared", "targetDedicatedNodes": 2, "taskSlotsPerNode": 2}


def command(text, **more):
    return {"commandLine": f"/bin/sh -c '{text}'", **more}


def status(job, **params):
    return job.plane.all(f"{job.url}/jobpreparationandreleasetaskstatus", **params)


def test_a_node_is_prepared_once_before_its_first_task(jobs):
    job = jobs(
        jobPreparationTask=command("echo x >> $AZ_BATCH_NODE_SHARED_DIR/$AZ_BATCH_JOB_ID; echo ready > ready"),
        jobReleaseTask=command("rm $AZ_BATCH_NODE_SHARED_DIR/$AZ_BATCH_JOB_ID"),
    )
    say = "cat $AZ_BATCH_JOB_PREP_WORKING_DIR/ready $AZ_BATCH_NODE_SHARED_DIR/$AZ_BATCH_JOB_ID; echo $AZ_BATCH_JOB_PREP_DIR"
    tasks = [job.add(f"/bin/sh -c '{say}'") for _ in range(8)]
    for task in job.wait(*tasks):
        assert task["executionInfo"]["exitCode"] == 0, task
        ready, *marks, where = job.text(task["id"]).split()
        assert (ready, marks) == ("ready", ["x"])
        assert where.endswith(f"workitems/{job.id}/job-1/jobpreparation")
    for row in status(job):
        info = row[PREPARATION]
        assert (info["state"], info["result"], info["exitCode"]) == ("completed", "success", 0)
        assert info["taskRootDirectory"] == f"workitems/{job.id}/job-1/jobpreparation"
        assert RELEASE not in row
        mine = [t for t in map(job.task, tasks) if t["nodeInfo"]["nodeId"] == row["nodeId"]]
        first = min(instant(t["executionInfo"]["startTime"]) for t in mine)
        assert instant(info["endTime"]) <= first
    assert len(status(job)) == len({job.task(t)["nodeInfo"]["nodeId"] for t in tasks})


def test_the_release_runs_where_the_job_was_prepared(jobs, plane):
    job = jobs(
        jobPreparationTask=command("true", id="before"),
        jobReleaseTask=command("echo $AZ_BATCH_TASK_ID $AZ_BATCH_JOB_PREP_DIR", id="after"),
    )
    job.done("/bin/true")
    ended = job.end()
    (row,) = status(job)
    assert row[RELEASE]["result"] == "success" and row["poolId"] == "prepared"
    assert instant(row[RELEASE]["endTime"]) <= instant(ended["executionInfo"]["endTime"])
    url = row[RELEASE]["taskRootDirectoryUrl"].removeprefix(plane.url)
    said = plane.call("GET", f"{url}/stdout.txt", expect=200, validate=False).content.decode().split()
    assert said[0] == "after" and said[1].endswith(f"workitems/{job.id}/job-1/before")
    assert status(job, **{"$filter": f"{RELEASE}/result eq 'success' and nodeId eq '{row['nodeId']}'"}) == [row]
    assert status(job, **{"$filter": f"{PREPARATION}/exitCode gt 0"}) == []
    assert status(job, **{"$select": "nodeId"}) == [{"nodeId": row["nodeId"]}]


def test_the_release_runs_on_a_node_whose_scheduling_is_disabled(jobs, plane):
    job = jobs(jobPreparationTask=command("true"), jobReleaseTask=command("true"))
    node = f"/pools/prepared/nodes/{job.done('/bin/true')['nodeInfo']['nodeId']}"
    plane.call("POST", f"{node}/disablescheduling", {"nodeDisableSchedulingOption": "requeue"}, expect=200)
    try:
        job.end()
        assert status(job)[0][RELEASE]["result"] == "success"
        assert plane.get(node)["schedulingState"] == "disabled"
    finally:
        plane.call("POST", f"{node}/enablescheduling", expect=200)


def test_disabled_scheduling_does_not_end_a_release_that_runs(jobs, plane, go):
    job = jobs(jobPreparationTask=command("true"), jobReleaseTask=command(f"while [ ! -e {go} ]; do sleep 0.05; done"))
    node = f"/pools/prepared/nodes/{job.done('/bin/true')['nodeInfo']['nodeId']}"
    plane.call("POST", f"{job.url}/terminate", expect=202)
    wait_for(lambda: status(job)[0].get(RELEASE, {}).get("state") == "running", what="release running")
    began = status(job)[0][RELEASE]["startTime"]
    plane.call("POST", f"{node}/disablescheduling", {"nodeDisableSchedulingOption": "terminate"}, expect=200)
    try:
        go.touch()
        job.wait_state("completed")
        assert (status(job)[0][RELEASE]["result"], status(job)[0][RELEASE]["startTime"]) == ("success", began)
    finally:
        plane.call("POST", f"{node}/enablescheduling", expect=200)


def test_a_removed_node_that_waits_for_its_tasks_also_runs_the_release(jobs, plane, go):
    add_pool(plane, "leaves", targetDedicatedNodes=1)
    job = jobs(pool="leaves", jobPreparationTask=command("true"), jobReleaseTask=command("true"))
    job.begin(command(f"while [ ! -e {go} ]; do sleep 0.05; done")["commandLine"])
    plane.call("PATCH", job.url, {"onAllTasksComplete": "terminatejob"}, expect=200)
    wait_for(lambda: plane.get("/pools/leaves")["allocationState"] == "steady", what="steady")
    (node,) = plane.all("/pools/leaves/nodes")
    leave = {"nodeList": [node["id"]], "nodeDeallocationOption": "taskcompletion"}
    plane.call("POST", "/pools/leaves/removenodes", leave, expect=202)
    go.touch()
    job.wait_state("completed")
    assert status(job)[0][RELEASE]["result"] == "success"
    wait_for(lambda: plane.all("/pools/leaves/nodes") == [], what="the node has left")


def move(job, pool="elsewhere"):
    job.disable("wait")
    job.plane.call("PATCH", job.url, {"poolInfo": {"poolId": pool}}, expect=200)
    job.enable()
    job.wait_state("active")


def files_of(job, node):
    names = (f["name"] for f in job.plane.all(f"/pools/prepared/nodes/{node}/files", recursive="true"))
    return [name for name in names if name.startswith(f"workitems/{job.id}/")]


def test_the_release_runs_where_the_job_was_prepared_also_after_a_change_of_its_pool(jobs, plane):
    job = jobs(jobPreparationTask=command("true"), jobReleaseTask=command("test $AZ_BATCH_POOL_ID = prepared"))
    job.done("/bin/true")
    move(job)
    job.end()
    (row,) = status(job)
    assert row[RELEASE]["result"] == "success" and row["poolId"] == "prepared"
    assert files_of(job, row["nodeId"])
    job.delete()
    wait_for(lambda: not files_of(job, row["nodeId"]), what="its files go")


def test_the_files_of_a_deleted_job_go_from_its_earlier_pool(jobs):
    job = jobs()
    node = job.done("/bin/true")["nodeInfo"]["nodeId"]
    move(job)
    assert files_of(job, node)
    job.delete()
    wait_for(lambda: not files_of(job, node), what="its files go")


def test_their_files_go_when_their_time_is_up(jobs, plane):
    short = {"constraints": {"retentionTime": "PT1S"}}
    job = jobs(
        jobPreparationTask=command("true", id="before", **short),
        jobReleaseTask=command("true", id="after", retentionTime="PT1S"),
    )
    task = job.add("/bin/true", id="task")
    other = jobs(jobPreparationTask=command("true", id="before"), jobReleaseTask=command("true", id="after"))
    job.wait(task)
    near = {"affinityInfo": {"affinityId": f"{job.task(task)['nodeInfo']['affinityId']}"}}
    other.done("/bin/true", id="task", **near)
    (row,) = status(job)
    node = f"/pools/prepared/nodes/{row['nodeId']}/files"

    def there(job):
        top = f"workitems/{job.id}/job-1/"
        names = (f["name"] for f in plane.all(node, recursive="true"))
        return {name[len(top) :].split("/")[0] for name in names if name.startswith(top)}

    wait_for(lambda: there(job) == {"task"}, what="the preparation's files go")
    for j in (job, other):
        j.end()
    wait_for(lambda: there(job) == {"task"}, what="the release's files go")
    assert there(other) == {"before", "task", "after"}


def test_tasks_wait_for_the_preparation(jobs, plane, go):
    job = jobs(jobPreparationTask=command(f"while [ ! -e {go} ]; do sleep 0.05; done"))
    task = job.add("/bin/true")
    wait_for(lambda: job.task(task)["state"] == "preparing", what="preparing")
    assert plane.get(f"{job.url}/taskcounts")["taskCounts"]["running"] == 1
    (row,) = status(job)
    assert row[PREPARATION]["state"] == "running" and "endTime" not in row[PREPARATION]
    go.touch()
    (done,) = job.wait(task)
    assert done["previousState"] == "running" and done["executionInfo"]["result"] == "success"


def parent(pid):
    return int(open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[1])


def test_a_preparation_that_vanishes_from_its_node_is_begun_again(jobs, daemon, go):
    """Its supervisor is killed: nobody knows how it ended. That is no failure of the task."""
    job = jobs(jobPreparationTask=command(f"while [ ! -e {go} ]; do sleep 0.05; done"))
    task = job.add("/bin/true")

    def mine():
        return [p for p, line in processes_of(daemon.state_dir / "nodes").items() if str(go) in line]

    before = wait_for(mine, what="preparing")
    for pid in [*({parent(p) for p in before} - {1, daemon.process.pid, *before}), *before]:
        with suppress(ProcessLookupError):  # it ends with its supervisor
            os.kill(pid, signal.SIGKILL)
    wait_for(lambda: set(mine()) - set(before), what="begun again")
    go.touch()
    job.wait(task)
    assert status(job)[0][PREPARATION]["retryCount"] == 0


def test_one_that_is_not_awaited_may_fail(jobs):
    job = jobs(jobPreparationTask=command("exit 4", waitForSuccess=False))
    assert job.done("/bin/true")["executionInfo"]["result"] == "success"
    wait_for(lambda: status(job)[0][PREPARATION]["state"] == "completed", what="preparation completed")
    assert status(job)[0][PREPARATION]["exitCode"] == 4


def test_a_node_that_cannot_be_prepared_gets_no_task(jobs, plane):
    """The first node that is tried fails; then the other one, and the task waits, while other jobs go on."""
    job = jobs(jobPreparationTask=command("exit 7", constraints={"maxTaskRetryCount": 1}))
    task = job.add("/bin/true")
    wait_for(lambda: [r[PREPARATION]["state"] for r in status(job)] == ["completed"] * 2, what="both nodes tried")
    for row in status(job):
        info = row[PREPARATION]
        assert (info["result"], info["exitCode"], info["retryCount"]) == ("failure", 7, 1)
        assert info["failureInfo"]["code"] == "FailureExitCode"
    jobs().done("/bin/true")
    wait_for(lambda: job.task(task)["state"] == "active", what="active")
    job.end()


def test_each_node_that_is_prepared_is_a_series_of_metrics(jobs, daemon, go):
    job = jobs(jobPreparationTask=command(f"while [ ! -e {go} ]; do sleep 0.05; done"))
    tasks = [job.add("/bin/true") for _ in range(4)]  # of two slots each

    def prepared():
        found = samples(page(daemon, "/metrics/jobs").text)
        return sum(key[0] == "batchaid_job_info" and {("experiment", job.id), ("job", "")} <= set(key[1:]) for key in found)

    wait_for(lambda: prepared() == 2, what="both nodes are prepared")
    go.touch()
    job.wait(*tasks)


def test_a_preparation_shows_its_task_in_the_queue_and_no_job_of_batch_ai(own_daemon, go):
    """The numbers of preparations and those of Batch AI's jobs are two series: the first of each has number 1."""
    d = own_daemon()
    place = Place(d).make()
    place.job(place.cluster(1), "true").succeed()
    g = BatchGround(d)
    add_pool(g.plane, "prepared", targetDedicatedNodes=1)
    job = Jobs(g.plane, "prepared")(jobPreparationTask=command(f"while [ ! -e {go} ]; do sleep 0.05; done"))
    task = job.add("/bin/true")
    wait_for(lambda: job.task(task)["state"] == "preparing", what="preparing")
    queue = [(one["name"], one.get("kind"), one["state"]) for one in d.get("/batchaid/queue")["value"]]
    go.touch()
    assert queue == [(task, "task", "running")]


def test_a_job_that_ends_ends_its_preparation(jobs, plane):
    job = jobs(jobPreparationTask=command("sleep 1000"), jobReleaseTask=command("true"))
    task = job.add("/bin/true")
    wait_for(lambda: job.task(task)["state"] == "preparing", what="preparing")
    job.end()
    assert job.task(task)["executionInfo"]["failureInfo"]["code"] == "TaskEnded"
    (row,) = status(job)
    assert row[PREPARATION]["result"] == "failure" and RELEASE not in row


def test_a_job_without_them_has_no_list(jobs, plane):
    job = jobs()
    plane.refused(
        409, "JobPreparationTaskOrReleaseTaskNotSpecified", "GET", f"{job.url}/jobpreparationandreleasetaskstatus"
    )


def test_their_ids_are_no_tasks(jobs, plane):
    job = jobs(jobPreparationTask=command("true"), jobReleaseTask=command("true"))
    for id, code in (("jobpreparation", "Preparation"), ("jobrelease", "Release")):
        plane.refused(
            409, f"TaskIdSameAsJob{code}Task", "POST", f"{job.url}/tasks", {"id": id, "commandLine": "true"}
        )


def test_the_tasks_of_a_job_itself_have_different_ids(plane):
    one, two = command("true", id="one"), command("true", id="two")
    for own, code in (
        ({"jobManagerTask": command("true", id="ONE"), "jobPreparationTask": one}, "Preparation"),
        ({"jobManagerTask": two, "jobPreparationTask": one, "jobReleaseTask": two}, "Release"),
        ({"jobPreparationTask": one, "jobReleaseTask": one}, "Preparation"),
        ({"jobManagerTask": command("true", id="jobpreparation"), "jobPreparationTask": command("true")}, "Preparation"),
    ):
        job = {"poolInfo": {"poolId": "any"}, **own}
        plane.refused(409, f"TaskIdSameAsJob{code}Task", "POST", "/jobs", {"id": "equal", **job})
        schedule = {"id": "equal", "schedule": {}, "jobSpecification": job}
        plane.refused(409, f"TaskIdSameAsJob{code}Task", "POST", "/jobschedules", schedule)


def test_a_release_task_has_a_quarter_of_an_hour(plane):
    long = {"jobPreparationTask": command("true"), "jobReleaseTask": command("true", maxWallClockTime="PT15M1S")}
    said = plane.refused(400, "InvalidPropertyValue", "POST", "/jobs", {"id": "long", "poolInfo": {"poolId": "any"}, **long})
    assert said["PropertyName"].endswith("maxWallClockTime")


def test_a_restarted_node_is_prepared_again_if_the_job_wants_that(jobs, plane):
    mark = "echo x >> $AZ_BATCH_NODE_SHARED_DIR/$AZ_BATCH_JOB_ID"
    again = jobs(jobPreparationTask=command(mark))
    once = jobs(jobPreparationTask=command(mark, rerunOnNodeRebootAfterSuccess=False))
    node = plane.all("/pools/prepared/nodes")[0]
    near = {"affinityInfo": {"affinityId": node["affinityId"]}}
    for job in (again, once):
        task = job.done("/bin/true", **near)
        assert task["nodeInfo"]["nodeId"] == node["id"]
    plane.call("POST", f"/pools/prepared/nodes/{node['id']}/reboot", expect=202)

    def is_back():
        seen = plane.get(f"/pools/prepared/nodes/{node['id']}")
        return seen["state"] == "idle" and seen["lastBootTime"] != node["lastBootTime"]

    wait_for(is_back, what="restarted")
    for job, marks in ((again, 2), (once, 1)):
        task, _ = job.ran("/bin/sh -c 'cat $AZ_BATCH_NODE_SHARED_DIR/$AZ_BATCH_JOB_ID'", **near)
        assert job.text(task).split() == ["x"] * marks


def test_a_preparation_goes_on_after_a_restart_of_the_daemon(own_daemon, go):
    d = own_daemon()
    g = BatchGround(d)
    add_pool(g.plane, "pool", targetDedicatedNodes=1)
    made = Jobs(g.plane, "pool")
    wait = f"while [ ! -e {go} ]; do sleep 0.05; done"
    job = made(jobPreparationTask=command(wait), jobReleaseTask=command(wait))
    task = job.add("/bin/true")
    wait_for(lambda: job.task(task)["state"] == "preparing", what="preparing")
    d.crash()
    assert job.task(task)["state"] == "preparing"
    go.touch()
    job.wait(task)
    go.unlink()
    g.plane.call("POST", f"{job.url}/terminate", expect=202)
    wait_for(lambda: status(job)[0].get(RELEASE, {}).get("state") == "running", what="release running")
    d.crash()
    go.touch()
    job.wait_state("completed")
    assert status(job)[0][RELEASE]["result"] == "success"
