# SPDX-License-Identifier: MIT
"""Application packages of tasks, on local nodes."""

import pytest
from support.batch import Plane
from support.batch_jobs import POOL, Jobs, add_pool
from support.batch_packages import hostile, package, package_of, packaged
from support.waiting import wait_for
from support.world import fresh


@pytest.fixture(scope="module")
def accounts(daemon, temporary_in_file):
    return temporary_in_file(packaged(daemon))


@pytest.fixture(scope="module")
def plane(daemon, accounts):
    return Plane(daemon, accounts.name, accounts.keys(accounts.name)[0])


@pytest.fixture(scope="module")
def jobs(plane):
    add_pool(plane, "packaged", targetDedicatedNodes=1)
    made = Jobs(plane, "packaged")
    yield made
    made.remove()
    plane.call("DELETE", "/pools/packaged", expect=202)


def said(job, task):
    return job.plane.call("GET", f"{job.url}/tasks/{task}/files/stdout.txt", expect=200).content


def refs(*packages):
    return [{"applicationId": a, **({"version": v} if v else {})} for a, v in packages]


def test_a_task_has_its_packages(accounts, jobs):
    package(accounts, "app01", "1.0", "one")
    package(accounts, "my-app", "2", "two", default=True)
    job = jobs()
    command = "/bin/sh -c '$AZ_BATCH_APP_PACKAGE_app01_1_0/bin/say.sh; $AZ_BATCH_APP_PACKAGE_my_app/bin/say.sh'"
    task = job.add(command, applicationPackageReferences=refs(("app01", "1.0"), ("my-app", None)))
    (done,) = job.wait(task)
    assert done["executionInfo"]["exitCode"] == 0 and said(job, task) == b"one\ntwo\n"


def test_a_package_that_is_activated_again_is_another_directory(accounts, jobs):
    package(accounts, "again", "1", "old")
    job = jobs()
    command = "/bin/sh -c 'echo $AZ_BATCH_APP_PACKAGE_again_1; $AZ_BATCH_APP_PACKAGE_again_1/bin/say.sh'"
    first, same = (job.add(command, applicationPackageReferences=refs(("again", "1"))) for _ in range(2))
    job.wait(first, same)
    package(accounts, "again", "1", "new")
    second, _ = job.ran(command, applicationPackageReferences=refs(("again", "1")))
    old, new = said(job, first).split(), said(job, second).split()
    assert said(job, same).split() == old
    assert old[1:] == [b"old"] and new[1:] == [b"new"] and old[0] != new[0]
    assert b"/applications/again_1_" in old[0]


def test_nobody_changes_a_package(accounts, jobs):
    package(accounts, "fixed", "1", "fixed")
    job = jobs()
    command = "/bin/sh -c 'stat -c %a $AZ_BATCH_APP_PACKAGE_fixed_1/bin/say.sh'"
    task, _ = job.ran(command, applicationPackageReferences=refs(("fixed", "1")))
    assert said(job, task) == b"555\n"


NOT_THERE = [("nothing", "1"), ("app01", "9"), ("app01", None)]


@pytest.mark.parametrize("app, version", NOT_THERE)
def test_a_reference_to_no_package_is_refused(accounts, jobs, app, version):
    package(accounts, "app01", "1.0", "one")
    job, plane = jobs(), jobs.plane
    task = {"id": "t", "commandLine": "/bin/true", "applicationPackageReferences": refs((app, version))}
    code = "InvalidApplicationPackageReferences"
    assert app in plane.refused(409, code, "POST", f"{job.url}/tasks", task)
    entries = plane.call("POST", f"{job.url}/addtaskcollection", {"value": [task, {**task, "id": "u", "applicationPackageReferences": []}]}, expect=200)
    first, second = entries.json["value"]
    assert (first["error"]["code"], second["status"]) == (code, "Success") and "error" not in second
    pool = {**POOL, "id": fresh("pool"), "applicationPackageReferences": refs((app, version))}
    assert app in plane.refused(409, code, "POST", "/pools", pool)
    given = {"applicationPackageReferences": refs((app, version))}
    assert app in plane.refused(409, code, "PATCH", "/pools/packaged", given)
    manager = {"id": "m", "commandLine": "/bin/true", **given}
    body = {"id": fresh("job"), "poolInfo": {"poolId": "packaged"}, "jobManagerTask": manager}
    assert app in plane.refused(409, code, "POST", "/jobs", body)
    made = {"poolLifetimeOption": "job", "pool": {**POOL, **given}}
    own_pool = {"poolInfo": {"autoPoolSpecification": made}}
    assert app in plane.refused(409, code, "POST", "/jobs", {"id": fresh("job"), **own_pool})
    schedule = fresh("schedule")
    for of_schedule in (own_pool, {"poolInfo": {"poolId": "packaged"}, "jobManagerTask": manager}):
        body = {"id": schedule, "schedule": {}, "jobSpecification": of_schedule}
        assert app in plane.refused(409, code, "POST", "/jobschedules", body)
    later = {"doNotRunUntil": "2100-01-01T00:00:00Z"}
    body = {"id": schedule, "schedule": later, "jobSpecification": {"poolInfo": {"poolId": "packaged"}}}
    plane.call("POST", "/jobschedules", body, expect=201)
    assert app in plane.refused(409, code, "PATCH", f"/jobschedules/{schedule}", {"jobSpecification": own_pool})
    plane.call("DELETE", f"/jobschedules/{schedule}", expect=202)


def test_a_package_that_is_gone_fails_the_task(accounts, jobs):
    package(accounts, "app02", "1.0", "one")
    job = jobs()
    job.plane.call("POST", f"{job.url}/disable", {"disableTasks": "requeue"}, expect=202)
    task = job.add("/bin/true", applicationPackageReferences=refs(("app02", "1.0")))
    accounts.call("DELETE", f"/{accounts.name}/applications/app02/versions/1.0", expect=200)
    wait_for(lambda: job.plane.get(job.url)["state"] == "disabled")
    job.enable()
    (done,) = job.wait(task)
    info = done["executionInfo"]
    assert info["result"] == "failure" and "exitCode" not in info
    assert "app02" in str(info["failureInfo"])


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("case", range(10))
def test_a_task_fails_whose_package_cannot_be_unpacked(accounts, jobs, case):
    archive, why = hostile()[case]
    app = fresh("bad")
    package_of(accounts, app, "1", archive)
    job = jobs()
    done = job.done("/bin/true", applicationPackageReferences=refs((app, "1")))
    info = done["executionInfo"]
    assert info["result"] == "failure" and "exitCode" not in info
    assert (info["failureInfo"]["category"], info["failureInfo"]["code"]) == ("ServerError", "ApplicationPackageError")
    said = {d["name"]: d["value"] for d in info["failureInfo"]["details"]}["Message"]
    assert f"{app}#1" in said and why in said
    done = job.good("/bin/true")
