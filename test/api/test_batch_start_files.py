# SPDX-License-Identifier: MIT
"""What nodes of Azure Batch's pools have before tasks run there: packages of the pool, resource files of its start
task."""

import pytest
from support.batch import Plane
from support.batch_jobs import POOL, Jobs, add_pool
from support.batch_packages import package, package_of, packaged
from support.waiting import wait_for
from support.world import fresh

INFO = "startTaskInfo"


@pytest.fixture(scope="module")
def accounts(daemon, temporary_in_file):
    b = temporary_in_file(packaged(daemon))
    b.plane = Plane(daemon, b.name, b.keys(b.name)[0])
    return b


@pytest.fixture
def pools(accounts):
    """pools(...) -> the name of a new pool with one node."""
    made, plane = [], accounts.plane

    def make(**more):
        made.append(fresh("pool"))
        add_pool(plane, made[-1], targetDedicatedNodes=1, **more)
        return made[-1]

    yield make
    for name in made:
        plane.call("DELETE", f"/pools/{name}", expect=202)


def node(accounts, pool, state):
    def there():
        nodes = accounts.plane.all(f"/pools/{pool}/nodes")
        return nodes[0] if nodes and nodes[0]["state"] == state else None

    return wait_for(there, what=f"a node of {pool} is {state}")


def on_node(accounts, pool, path):
    id = accounts.plane.all(f"/pools/{pool}/nodes")[0]["id"]
    return accounts.plane.call("GET", f"/pools/{pool}/nodes/{id}/files/{path}", expect=200).content.decode()


def start(line, *files, **more):
    return {"commandLine": f"/bin/sh -c '{line}'", "resourceFiles": list(files), "waitForSuccess": True, **more}


def test_a_start_task_has_its_files(accounts, pools, others):
    others.files["/s/hello.txt"] = b"hello\n"
    pool = pools(startTask=start("cat in/hello.txt", {"httpUrl": f"{others.url}/s/hello.txt", "filePath": "in/hello.txt"}))
    assert node(accounts, pool, "idle")[INFO]["exitCode"] == 0
    assert on_node(accounts, pool, "startup/stdout.txt") == "hello\n"


def test_each_further_try_has_them_too(accounts, pools, others):
    others.files["/s/n"] = b"1\n"
    line = "n=$(wc -l < n); echo 2 >> n; echo x >> ../../shared/tries; exit $((2 - $(wc -l < ../../shared/tries)))"
    pool = pools(startTask=start(line, {"httpUrl": f"{others.url}/s/n", "filePath": "n"}, maxTaskRetryCount=3))
    assert node(accounts, pool, "idle")[INFO]["retryCount"] == 1
    assert on_node(accounts, pool, "startup/wd/n") == "1\n2\n"


@pytest.mark.parametrize(
    "path, code", [("/s/none?secret=1", "BlobNotFound"), ("/s/closed?secret=1", "BlobAccessDenied")]
)
def test_a_start_task_without_a_file_fails_once(daemon, accounts, pools, others, path, code):
    others.trouble["/s/closed"] = 403
    daemon.expect_log(r"warn node\.unusable")
    files = {"httpUrl": f"{others.url}{path}", "filePath": "x"}
    pool = pools(startTask=start("exit 0", files, maxTaskRetryCount=2))
    info = node(accounts, pool, "starttaskfailed")[INFO]
    assert info["failureInfo"]["code"] == code and "secret" not in str(info)
    assert info["result"].lower() == "failure" and info["retryCount"] == 0 and "exitCode" not in info


def test_a_start_task_that_may_fail_may_lack_a_file(accounts, pools, others):
    files = {"autoStorageContainerName": "nothing"}
    pool = pools(startTask={**start("exit 0", files), "waitForSuccess": False})
    node(accounts, pool, "idle")
    info = wait_for(lambda: node(accounts, pool, "idle")[INFO].get("failureInfo"), what="it fails")
    assert info["code"] == "BlobNotFound"


def test_packages_of_a_pool_are_on_its_nodes(accounts, pools, temporary):
    package(accounts, "tool", "1.0", "one")
    package(accounts, "usual", "7", "seven", default=True)
    line = "$AZ_BATCH_APP_PACKAGE_tool_1_0/bin/say.sh; $AZ_BATCH_APP_PACKAGE_usual/bin/say.sh"
    refs = [{"applicationId": "tool", "version": "1.0"}, {"applicationId": "usual"}]
    pool = pools(applicationPackageReferences=refs, startTask=start(line))
    node(accounts, pool, "idle")
    assert on_node(accounts, pool, "startup/stdout.txt") == "one\nseven\n"
    job = temporary(Jobs(accounts.plane, pool))()
    job.done(f"/bin/sh -c '{line}'", id="t")
    assert job.plane.call("GET", f"{job.url}/tasks/t/files/stdout.txt", expect=200).content == b"one\nseven\n"


def test_a_package_that_is_gone_makes_nodes_unusable(daemon, accounts, pools):
    daemon.expect_log(r"warn node\.unusable")
    package(accounts, "gone", "1", "x")
    name = fresh("pool")
    refs = [{"applicationId": "gone", "version": "1"}]
    accounts.plane.call("POST", "/pools", {"id": name, **POOL, "applicationPackageReferences": refs}, expect=201)
    accounts.call("DELETE", f"/{accounts.name}/applications/gone/versions/1", expect=(200, 204))
    resize = {"targetDedicatedNodes": 1}
    wait_for(lambda: accounts.plane.call("POST", f"/pools/{name}/resize", resize).status == 202, what="a steady pool")
    failed = node(accounts, name, "unusable")
    assert failed["errors"][0]["code"] == "ApplicationPackageError" and "gone#1" in failed["errors"][0]["message"]
    accounts.plane.call("DELETE", f"/pools/{name}", expect=202)


def test_a_package_that_is_no_archive_makes_nodes_unusable_until_it_is_one(daemon, accounts, pools):
    daemon.expect_log(r"warn node\.unusable")
    package_of(accounts, "broken", "1", b"no archive")
    pool = pools(applicationPackageReferences=[{"applicationId": "broken", "version": "1"}])
    (error,) = node(accounts, pool, "unusable")["errors"]
    assert error["code"] == "ApplicationPackageError" and "not a zip file" in error["message"]
    package(accounts, "broken", "1", "whole")
    name = accounts.plane.all(f"/pools/{pool}/nodes")[0]["id"]
    accounts.plane.call("POST", f"/pools/{pool}/nodes/{name}/reboot", {}, expect=202)
    node(accounts, pool, "idle")
