# SPDX-License-Identifier: MIT
"""Whom tasks of Azure Batch run as: automatic users of task and pool, administrators, accounts of the pool."""

import os

import pytest
from support.batch import BatchGround
from support.batch_fixtures import ground, jobs, plane  # noqa: F401 (fixtures)
from support.batch_jobs import Jobs, add_pool
from support.daemon import Daemon
from support.waiting import wait_for

ACCOUNTS = [
    {"name": "worker", "password": "pa55word-1", "elevationLevel": "nonadmin"},
    {"name": "chief", "password": "pa55word-2", "elevationLevel": "admin"},
]
ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only a daemon that is root gives tasks accounts")


@pytest.fixture(scope="module")
def pool(plane):
    add_pool(plane, "users", targetDedicatedNodes=1, taskSlotsPerNode=4, userAccounts=ACCOUNTS)
    yield "users"
    plane.call("DELETE", "/pools/users", expect=202)


def auto(scope="pool", elevation="nonadmin"):
    return {"userIdentity": {"autoUser": {"scope": scope, "elevationLevel": elevation}}}


def named(name):
    return {"userIdentity": {"username": name}}


def said(job, task):
    (done,) = job.wait(task)
    assert done["executionInfo"]["result"] == "success", done["executionInfo"]
    return job.plane.call("GET", f"{job.url}/tasks/{task}/files/stdout.txt", expect=200).content.decode().split()


@ROOT
def test_who_is_who(jobs):
    job = jobs()
    who = lambda **more: said(job, job.add("id -u", **more))[0]
    pool, again, own, other = who(**auto()), who(), who(**auto("task")), who(**auto("task"))
    worker, chief = who(**named("worker")), who(**named("chief"))
    assert pool == again and worker == who(**named("worker"))
    assert len({pool, own, other, worker, chief, "0"}) == 6


def test_each_has_its_own_directory_and_all_may_pass(jobs):
    job = jobs()
    check = "/bin/sh -ec 'echo mine > file; cat $AZ_BATCH_TASK_WORKING_DIR/file; ls $AZ_BATCH_NODE_SHARED_DIR'"
    slow = job.add("/bin/sh -ec 'until [ -e go ]; do sleep 0.05; done'", **auto("task"))
    wait_for(lambda: job.task(slow)["state"] == "running", what="it runs")
    for identity in (auto(), auto("task"), named("worker"), named("chief")):
        assert said(job, job.add(check, **identity)) == ["mine"]
    assert job.task(slow)["state"] == "running"


def test_sudo_is_the_administrators_alone(jobs):
    job = jobs()
    command = "/bin/sh -c 'sudo -n -E NAME=value sh -c \"echo \\$NAME \\$(id -u)\"; id -u'"
    for identity in (auto("pool", "admin"), auto("task", "admin"), named("chief")):
        value, sudo, own = said(job, job.add(command, **identity))
        assert value == "value" and sudo == own
    task = job.add("/bin/sh -c 'command -v sudo'", **auto())
    job.wait(task)
    assert "/sudo/sudo" not in job.plane.call("GET", f"{job.url}/tasks/{task}/files/stdout.txt").content.decode()


@ROOT
def test_an_administrator_is_not_root_here(jobs):
    job = jobs()
    assert said(job, job.add("sudo id -u", **auto("pool", "admin"))) != ["0"]


@ROOT
def test_a_site_may_make_administrators_root():
    with Daemon(config={"batch": {"admin_is_root": True}}) as d:
        g = BatchGround(d)
        add_pool(g.plane, "roots", targetDedicatedNodes=1, userAccounts=ACCOUNTS)
        jobs = Jobs(g.plane, "roots")
        job = jobs()
        assert said(job, job.add("sudo id -u", **auto("task", "admin"))) == ["0"]
        assert said(job, job.add("sudo id -u", **named("chief"))) == ["0"]
        assert said(job, job.add("id -u", **named("worker"))) != ["0"]
        jobs.remove()
        g.remove()


def test_an_account_that_the_pool_does_not_have(jobs):
    job = jobs()
    (done,) = job.wait(job.add("/bin/true", **named("nobody")))
    info = done["executionInfo"]["failureInfo"]
    assert info["code"] == "CommandLaunchFailed" and "nobody" in str(info)


def test_a_start_task_of_an_administrator_has_sudo(plane):
    start = {"commandLine": "/bin/sh -c 'command -v sudo; sudo -n true'", **auto("pool", "admin")}
    add_pool(plane, "started", targetDedicatedNodes=1, startTask=start)
    wait_for(lambda: [n["state"] for n in plane.all("/pools/started/nodes")] == ["idle"], what="it succeeds")
    (node,) = plane.all("/pools/started/nodes")
    out = plane.call("GET", f"/pools/started/nodes/{node['id']}/files/startup%2Fstdout.txt", expect=200).content
    assert out.endswith(b"/sudo/sudo\n")
    plane.call("DELETE", "/pools/started", expect=202)
