# SPDX-License-Identifier: MIT
"""Tasks that manage their job, and the tokens that tasks speak to the service with."""

import json

import pytest
from support.batch import V
from support.batch_jobs import add_pool, resize
from support.waiting import wait_for
from support.world import fresh

NUMBER = iter(range(1000))


@pytest.fixture(scope="module")
def pool(plane):
    """A dedicated node and one of low priority, of two slots each."""
    add_pool(plane, "managed", targetDedicatedNodes=1, targetLowPriorityNodes=1, taskSlotsPerNode=2)
    wait_for(lambda: [n["state"] for n in plane.all("/pools/managed/nodes")] == ["idle"] * 2, what="two idle nodes")
    yield "managed"
    plane.call("DELETE", "/pools/managed", expect=202)


def command(text, **more):
    return {"commandLine": f"/bin/sh -c '{text}'", **more}


def test_the_job_ends_with_its_manager(jobs):
    job = jobs(jobManagerTask=command("true", id="boss"), constraints={"maxTaskRetryCount": 2})
    assert job.wait_state("completed")["executionInfo"]["terminateReason"] == "JMComplete"
    manager = job.task("boss")
    assert manager["executionInfo"]["result"] == "success" and manager["constraints"]["maxTaskRetryCount"] == 2
    shown = job.get()["jobManagerTask"]
    assert shown["killJobOnCompletion"] and shown["runExclusive"] and shown["allowLowPriorityNode"]
    assert shown["constraints"]["maxTaskRetryCount"] == 2


def test_a_manager_whose_end_is_not_the_jobs(jobs, plane):
    job = jobs(jobManagerTask=command("true", id="boss", killJobOnCompletion=False))
    job.wait("boss")
    assert job.get()["state"] == "active"
    job.done("/bin/true")


def test_the_end_of_a_manager_ends_the_other_tasks(jobs, plane, go):
    job = jobs(jobManagerTask=command(f"while [ ! -e {go} ]; do sleep 0.05; done", id="boss", runExclusive=False))
    task = job.begin("sleep 1000")
    go.touch()
    job.wait_state("completed")
    assert job.task(task)["executionInfo"]["failureInfo"]["code"] == "TaskEnded"


def test_a_manager_is_alone_on_a_dedicated_node(jobs, plane, go):
    wait = f"while [ ! -e {go} ]; do sleep 0.05; done"
    job = jobs(jobManagerTask=command(wait, id="boss", allowLowPriorityNode=False))
    others = [job.add(f"/bin/sh -c '{wait}'") for _ in range(3)]
    wait_for(lambda: list(job.states().values()).count("running") == 3, what="three tasks running")
    node = {n["id"]: n for n in plane.all("/pools/managed/nodes")}
    mine = job.task("boss")["nodeInfo"]["nodeId"]
    assert node[mine]["isDedicated"]
    running = [t for t in map(job.task, others) if t["state"] == "running"]
    assert len(running) == 2 and all(t["nodeInfo"]["nodeId"] != mine for t in running)
    go.touch()
    job.wait_state("completed")


def test_a_manager_that_wants_a_dedicated_node_waits_for_one(jobs, plane, go):
    (dedicated,) = [n for n in plane.all("/pools/managed/nodes") if n["isDedicated"]]
    first = jobs()
    near = {"affinityInfo": {"affinityId": dedicated["affinityId"]}}
    busy = first.begin(f"/bin/sh -c 'while [ ! -e {go} ]; do sleep 0.05; done'", **near)
    assert first.task(busy)["nodeInfo"]["nodeId"] == dedicated["id"]
    job = jobs(jobManagerTask=command("true", id="boss", allowLowPriorityNode=False))
    other = jobs()
    other.wait(other.add("/bin/true"))  # the node of low priority serves others meanwhile
    assert job.task("boss")["state"] == "active"
    go.touch()
    job.wait_state("completed")
    assert job.task("boss")["nodeInfo"]["nodeId"] == dedicated["id"]


@pytest.mark.parametrize("slots, changed", [(4, 2), (2, 4)])
def test_a_manager_that_waits_is_alone_whatever_becomes_of_its_pool(plane, jobs, go, slots, changed):
    pool = fresh("pool")
    add_pool(plane, pool, taskSlotsPerNode=slots)
    job = jobs(pool=pool, jobManagerTask=command(f"while [ ! -e {go} ]; do sleep 0.05; done", id="boss", killJobOnCompletion=False))
    others = [job.add("/bin/true") for _ in range(3)]
    plane.at(V["20.0"]).call("PATCH", f"/pools/{pool}", {"taskSlotsPerNode": changed}, expect=200)
    resize(plane, pool, 1)
    job.wait_running("boss")
    assert set(job.states().values()) == {"running", "active"}
    go.touch()
    boss, *rest = job.wait("boss", *others)
    assert all(t["executionInfo"]["startTime"] >= boss["executionInfo"]["endTime"] for t in rest)
    plane.call("DELETE", f"/pools/{pool}", expect=202)


# --- tokens --------------------------------------------------------------------------------------------------------


def token_of(job, task):
    job.wait_running(task)
    path = f"{job.url}/tasks/{task}/files/stdout.txt"
    wait_for(lambda: job.plane.call("GET", path, validate=False).content.endswith(b"\n"), what="token written")
    token, url = job.plane.call("GET", path, expect=200).content.decode().split()
    return token, url


class Bearer:
    """Requests with a task's token."""

    def __init__(self, plane, token):
        self.plane, self.head = plane, {"Authorization": f"Bearer {token}"}

    def call(self, method, path, body=None, **more):
        return self.plane.call(method, path, body, headers=self.head, **more)


def test_a_task_speaks_for_its_job_alone(jobs, plane, daemon):
    say = "echo $AZ_BATCH_AUTHENTICATION_TOKEN $AZ_BATCH_ACCOUNT_URL; sleep 1000"
    job, other = jobs(), jobs()
    task = job.add(f"/bin/sh -c '{say}'", authenticationTokenSettings={"access": ["job"]})
    token, url = token_of(job, task)
    assert url == f"{daemon.endpoint}/"
    mine = Bearer(plane, token)
    assert mine.call("GET", job.url, expect=200).json["id"] == job.id
    mine.call("POST", f"{job.url}/tasks", {"id": "made", "commandLine": "/bin/true"}, expect=201)
    job.wait("made")
    for method, path in (("GET", other.url), ("GET", "/jobs"), ("GET", "/pools/managed"), ("DELETE", "/pools/managed")):
        reply = mine.call(method, path, expect=403)
        assert reply.json["code"] == "InsufficientAccountPermissions"
    reply = Bearer(plane, token[:-2] + "xy").call("GET", job.url, expect=403)
    assert reply.json["code"] == "AuthenticationFailed"
    job.end(task)
    assert mine.call("GET", job.url, expect=403).json["code"] == "AuthenticationFailed"


def test_an_account_may_forbid_the_tokens_of_tasks(jobs, plane, ground):
    job = jobs()
    say = "echo $AZ_BATCH_AUTHENTICATION_TOKEN $AZ_BATCH_ACCOUNT_URL; sleep 1000"
    task = job.add(f"/bin/sh -c '{say}'", authenticationTokenSettings={"access": ["job"]})
    mine = Bearer(plane, token_of(job, task)[0])
    for modes, status in ((["SharedKey", "AAD"], 403), (["SharedKey", "AAD", "TaskAuthenticationToken"], 200)):
        ground.accounts.call("PATCH", f"/{plane.account}", {"properties": {"allowedAuthenticationModes": modes}}, expect=200)
        mine.call("GET", job.url, expect=status)
    job.end(task)


def test_a_task_without_settings_has_no_token(jobs):
    done = jobs().done("/bin/sh -c 'test -z \"$AZ_BATCH_AUTHENTICATION_TOKEN\"'")
    assert done["executionInfo"]["exitCode"] == 0


def test_a_manager_adds_tasks_from_its_node(jobs, plane):
    """As programs do it: with what is in its environment, over TLS."""
    text = json.dumps({"id": "made", "commandLine": "/bin/true"}).replace('"', '\\"')
    ask = (
        'curl -skf -X POST -H "Authorization: Bearer $AZ_BATCH_AUTHENTICATION_TOKEN" '
        '-H "Content-Type: application/json; odata=minimalmetadata" -d "%s" '
        '"${AZ_BATCH_ACCOUNT_URL}jobs/$AZ_BATCH_JOB_ID/tasks?api-version=2022-10-01.16.0"'
    ) % text
    job = jobs(
        jobManagerTask=command(
            ask, id="boss", killJobOnCompletion=False, authenticationTokenSettings={"access": ["job"]}
        )
    )
    (boss,) = job.wait("boss")
    assert boss["executionInfo"]["exitCode"] == 0
    job.wait("made")


def test_the_jobs_of_a_schedule_have_managers(plane, pool):
    id = f"schedule{next(NUMBER)}"
    plane.call("POST", "/jobschedules", {
        "id": id, "schedule": {},
        "jobSpecification": {"poolInfo": {"poolId": pool}, "jobManagerTask": command("true", id="boss")},
    }, expect=201)  # fmt: skip
    wait_for(lambda: plane.get(f"/jobschedules/{id}")["state"] == "completed", what="the schedule completed")
    (job,) = plane.all(f"/jobschedules/{id}/jobs")
    assert job["executionInfo"]["terminateReason"] == "JMComplete"
    plane.call("DELETE", f"/jobschedules/{id}", expect=202)
