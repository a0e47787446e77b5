# SPDX-License-Identifier: MIT
"""`batchaid explain GROUP/ACCOUNT/JOB/TASK`: what became of a task, and what it waits for."""

import json

import pytest
from support.batch import BatchGround, V
from support.batch_jobs import Jobs, add_pool
from support.people import Person
from support.refusals import refused
from support.waiting import wait_for
from support.world import In

OWN_POOL = {"id": "pool", "targetDedicatedNodes": 1, "taskSlotsPerNode": 2}


@pytest.fixture
def explain(daemon, ground):
    def of(job, task):
        name = f"{ground.accounts.group}/{ground.name}/{job.id}/{task}"
        told = json.loads(daemon.tool("explain", "--json", name).stdout)
        lines = daemon.tool("explain", name).stdout.splitlines()
        assert told["kind"] == "task" and lines[0].startswith(f"task {task} in {ground.accounts.group}/{ground.name}/{job.id}, ")
        return told["job"]["state"], [line["text"] for line in told["story"]]

    return of


def test_why_it_failed_and_where_its_output_is(jobs, explain):
    job = jobs()
    done = job.done("/bin/sh -c 'echo the disk is on fire >&2; exit 7'", id="bad")
    details = {d["name"]: d["value"] for d in done["executionInfo"]["failureInfo"]["details"]}
    assert details["StandardError"] == "the disk is on fire\n"
    _, story = explain(job, "bad")
    assert any(line.startswith("stderr: the disk is on fire") for line in story), story
    assert f"its output: az batch task file list --job-id {job.id} --task-id bad" in story


def test_how_it_ended(jobs, explain):
    job = jobs(constraints={"maxTaskRetryCount": 1}, usesTaskDependencies=True)
    job.wait(job.add("/bin/true", id="good"), job.add("/bin/sh -c 'exit 7'", id="bad"))
    state, story = explain(job, "good")
    assert state == "succeeded"
    assert story[0] == f"added to job {job.id} of pool pool: it needs 1 slot"
    assert story[1].startswith("began on tvm-") and story[2] == "succeeded, exit code 0" and len(story) == 3
    state, story = explain(job, "bad")
    assert state == "failed" and "tried again: 1 in all" in story
    assert story[-2].startswith("failed, exit code 7: FailureExitCode: ")
    assert story[-1] == "tasks that depend on it do not begin"


def test_why_it_could_not_begin(jobs, explain):
    job = jobs()
    job.done("nosuch-program -v", id="t")
    (line,) = [text for text in explain(job, "t")[1] if text.startswith("failed")]
    assert line == ("failed: CommandProgramNotFound: The task's command could not be started: "
                    "cannot execute nosuch-program: No such file or directory")  # fmt: skip


def test_a_terminal_is_for_jobs_alone(daemon, jobs):
    job = jobs()
    job.done("/bin/true", id="t")
    for command, *rest in ("exec", "--", "true"), ("ssh",), ("forward", "80"):
        done = daemon.tool(command, f"{job.id}/t", *rest, check=False)
        assert f"'{job.id}/t' is a task of Azure Batch, and this command is for jobs" in done.stderr, command
    done = daemon.tool("submit", "--no-copy", "--dry-run", "--after", f"{job.id}/t", "--", "true", check=False)
    assert done.returncode == 1 and f"batchaid: --after: '{job.id}/t' is a task of Azure Batch" in done.stderr


def test_what_it_waits_for(daemon, jobs, explain, ground):
    job = jobs(usesTaskDependencies=True, maxParallelTasks=1)
    job.begin("sleep 1000", id="1")
    (queued,) = [one for one in daemon.get("/batchaid/queue")["value"] if one["experiment"] == job.id]
    assert (queued["kind"], queued["workspace"], queued["name"]) == ("task", ground.name, "1")
    job.add("/bin/true", id="turn")
    job.add("/bin/true", id="after", dependsOn={"taskIds": ["1", "x"], "taskIdRanges": [{"start": 1, "end": 3}]})
    assert explain(job, "1")[1][-1].startswith("it runs on tvm-")
    assert explain(job, "turn") == ("queued", [f"added to job {job.id} of pool pool: it needs 1 slot",
                                               "its job may run 1 tasks at once, and already does"])  # fmt: skip
    assert explain(job, "after")[1][-1] == "it waits for task 1, task x, 3 of the tasks 1 to 3"
    ground.plane.call("POST", f"{job.url}/disable", {"disableTasks": "wait"}, expect=202)
    assert explain(job, "turn")[1][-1] == "its job is disabling: no task begins"
    ground.plane.call("POST", f"{job.url}/tasks/1/terminate", expect=204)


def test_what_its_pool_lacks(jobs, explain):
    nowhere, large, busy = jobs(pool="nowhere"), jobs(), jobs()
    nowhere.add("/bin/true", id="t")
    large.add("/bin/true", id="t", requiredSlots=4)
    assert explain(nowhere, "t")[1][-1] == "there is no pool nowhere"
    assert explain(large, "t")[1][-1] == "it needs 4 slots, but nodes of pool pool have 2"
    busy.begin("sleep 1000", id="first", requiredSlots=2)
    busy.add("/bin/true", id="t")
    wait_for(lambda: "in place" in explain(busy, "t")[1][-1], what="its place in the queue")


def test_a_manager_that_needs_a_dedicated_node_is_told_when_its_pool_has_none(ground, jobs, explain):
    add_pool(ground.plane, "spot", targetLowPriorityNodes=1)
    job = jobs(pool="spot", jobManagerTask={"id": "boss", "commandLine": "/bin/true", "allowLowPriorityNode": False})
    assert explain(job, "boss")[1][-1] == "it needs a dedicated node, but the target of pool spot is 0"


def test_a_task_without_a_time_limit_has_no_end_in_the_queue(daemon, jobs):
    times = ("limitTime", "expectedStartTime")
    for limits, known in ({}, [(), ()]), ({"maxWallClockTime": "PT1H"}, [("limitTime",), ("expectedStartTime",)]):
        job = jobs()
        job.begin("sleep 1000", id="1", requiredSlots=2, constraints=limits)
        job.add("/bin/true", id="2", requiredSlots=2)
        queued = sorted((one for one in daemon.get("/batchaid/queue")["value"] if one["experiment"] == job.id), key=lambda one: one["name"])
        assert [tuple(time for time in times if time in one) for one in queued] == known, queued
        job.end()


def test_a_preparation_that_failed_on_every_node(jobs, explain, ground):
    """As in the service the task waits for another node; here it is said why."""
    job = jobs(jobPreparationTask={"commandLine": "/bin/sh -c 'exit 3'"}, usesTaskDependencies=True)
    job.add("/bin/true", id="t")
    job.add("/bin/true", id="after", dependsOn={"taskIds": ["t"]})
    (node,) = ground.plane.all("/pools/pool/nodes")
    wait_for(lambda: len(explain(job, "t")[1]) == 4, what="all lines")
    state, (_, again, failed, waits) = explain(job, "t")
    assert state == "queued" and again == "queued again for another node: 1 in all"
    assert failed.startswith("the preparation task of its job has failed on 1 of 1 nodes of pool pool, last on ")
    assert f"last on {node['id']} with exit code 3: FailureExitCode: " in failed
    assert waits == "it waits for a new or reimaged node, on which the preparation has not failed"
    assert explain(job, "after")[1][-2:] == [failed, "it waits for task t"]
    job.add("/bin/true", id="later")
    assert explain(job, "later")[1][-2:] == [failed, waits] and job.task("later")["state"] == "active"
    at = ground.plane.at(V["19.0"])
    before = node["stateTransitionTime"]
    look = lambda: at.get(f"/pools/pool/nodes/{node['id']}")  # noqa: E731
    at.call("POST", f"/pools/pool/nodes/{node['id']}/reboot", expect=202)
    up = lambda n: n["state"] == "idle" and n["stateTransitionTime"] > before  # noqa: E731
    wait_for(lambda: up(look()), what="up again")
    bad, output = jobs(), "its output: az batch task file list"
    bad.done("/bin/false", id="bad")
    assert any(line.startswith(output) for line in explain(bad, "bad")[1])
    assert explain(job, "t")[1] == ["added to job " + job.id + " of pool pool: it needs 1 slot", again, failed, waits]
    at.call("POST", f"/pools/pool/nodes/{node['id']}/reimage", expect=202)
    wait_for(lambda: "queued again for another node: 2 in all" in explain(job, "t")[1], what="another try there")
    assert not any(line.startswith(output) for line in explain(bad, "bad")[1])  # it went with the reimage


def test_its_name_is_enough_as_long_as_it_tells_which_is_meant(daemon, ground, jobs, temporary):
    job = jobs()
    job.done("/bin/true", id="known")
    heads = lambda name: daemon.tool("explain", name).stdout.splitlines()[0]  # noqa: E731
    whole = f"{ground.accounts.group}/{ground.name}/{job.id}/known"
    for name in (f"{job.id}/known", f"{ground.name}/{job.id}/known", whole):
        assert heads(name) == f"task known in {ground.accounts.group}/{ground.name}/{job.id}, succeeded"
    other = temporary(BatchGround(daemon))
    temporary(Jobs(other.plane, "nowhere"))(id=job.id).add("/bin/true", id="known")
    done = daemon.tool("explain", f"{job.id}/known", check=False)
    assert done.returncode == 1 and whole in done.stderr and f"{other.accounts.group}/{other.name}/{job.id}/known" in done.stderr
    assert heads(f"{other.name}/{job.id}/known").endswith(f"/{other.name}/{job.id}, queued")
    assert daemon.get(f"/batchaid/tasks?job={job.id}&name=known&account={ground.name}")["value"][0]["workspace"] == ground.name
    assert daemon.get(f"/batchaid/tasks?job={job.id}&name=known&resourceGroup=none")["value"] == []
    assert daemon.get("/batchaid/tasks?job=none&name=known")["value"] == []
    assert daemon.get(f"/batchaid/tasks?job={job.id}&name=known&subscription={daemon.subscription.upper()}")["value"]
    assert daemon.get(f"/batchaid/tasks?job={job.id}&name=known&subscription=none")["value"] == []
    refused(daemon.call("GET", f"/batchaid/tasks?job={job.id}"), 400, "InvalidQueryParameterValue", words=["name"])


def test_a_task_is_found_in_each_subscription(daemon, temporary):
    added = daemon.call("POST", "/batchaid/subscriptions", expect=201).json["subscriptionId"]
    there = BatchGround(In(daemon, added))
    job = Jobs(there.plane, "nowhere")(id="elsewhere")
    job.add("/bin/true", id="lone")
    for more in ((), ("--subscription", added)):
        assert json.loads(daemon.tool("explain", "--json", "elsewhere/lone", *more).stdout)["job"]["subscription"] == added
    assert daemon.tool("explain", "elsewhere/lone", "--subscription", daemon.subscription, check=False).returncode == 1
    assert temporary(Person(daemon, "Reader")).get("/batchaid/tasks", params={"job": job.id, "name": "lone"})["value"] == []
    there.remove()
    daemon.call("DELETE", f"/batchaid/subscriptions/{added}", expect=204)


def test_what_is_not_there(daemon, ground):
    done = daemon.tool("explain", f"{ground.accounts.group}/{ground.name}/job/task", check=False)
    assert done.returncode == 1 and f"there is no job or task '{ground.accounts.group}/{ground.name}/job/task'" in done.stderr
    done = daemon.tool("explain", f"{ground.accounts.group}/{ground.name}/job", check=False)
    assert done.returncode == 1 and "there is no job or task" in done.stderr and "tasks of Azure Batch are JOB/TASK" in done.stderr
