# SPDX-License-Identifier: MIT
"""Application packages of tasks, on local nodes."""

import io
import zipfile
from urllib.parse import urlsplit

import pytest
from support.accounts import Accounts
from support.batch import Plane
from support.batch_jobs import Jobs, add_pool
from support.batch_rm import BatchAccounts


@pytest.fixture(scope="module")
def accounts(daemon):
    b = BatchAccounts(daemon).make()
    store = Accounts(daemon, b.group)
    b.name = b.account(autoStorage={"storageAccountId": f"{store.path}/{store.account()}"})
    yield b
    b.remove()


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


def package(accounts, app, version, text, default=False):
    path = f"/{accounts.name}/applications/{app}"
    accounts.call("PUT", path, expect=200)
    made = accounts.call("PUT", f"{path}/versions/{version}", expect=200).json
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as z:
        program = zipfile.ZipInfo("bin/say.sh")
        program.external_attr = 0o100755 << 16
        z.writestr(program, f"#!/bin/sh\necho {text}\n")
    place = urlsplit(made["properties"]["storageUrl"])
    head = {"Host": place.netloc, "x-ms-blob-type": "BlockBlob", "x-ms-version": "2018-03-28"}
    target = f"{place.path}?{place.query}"
    accounts.daemon.call("PUT", target, data=archive.getvalue(), headers=head, token="", validate=False, expect=201)
    accounts.call("POST", f"{path}/versions/{version}/activate", {"format": "zip"}, expect=200)
    if default:
        accounts.call("PATCH", path, {"properties": {"defaultVersion": version}}, expect=200)


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
    second = job.add(command, applicationPackageReferences=refs(("again", "1")))
    job.wait(second)
    old, new = said(job, first).split(), said(job, second).split()
    assert said(job, same).split() == old
    assert old[1:] == [b"old"] and new[1:] == [b"new"] and old[0] != new[0]
    assert b"/applications/again_1_" in old[0]


def test_nobody_changes_a_package(accounts, jobs):
    package(accounts, "fixed", "1", "fixed")
    job = jobs()
    command = "/bin/sh -c 'stat -c %a $AZ_BATCH_APP_PACKAGE_fixed_1/bin/say.sh'"
    task = job.add(command, applicationPackageReferences=refs(("fixed", "1")))
    job.wait(task)
    assert said(job, task) == b"555\n"


@pytest.mark.parametrize("app, version", [("nothing", "1"), ("app01", "9"), ("app01", None)])
def test_a_package_that_is_not_there_fails_the_task(accounts, jobs, app, version):
    package(accounts, "app01", "1.0", "one")
    job = jobs()
    task = job.add("/bin/true", applicationPackageReferences=refs((app, version)))
    (done,) = job.wait(task)
    info = done["executionInfo"]
    assert info["result"] == "failure" and "exitCode" not in info
    assert app in str(info["failureInfo"])
