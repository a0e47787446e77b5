# SPDX-License-Identifier: MIT
"""Files of tasks of Azure Batch over the daemon's own host, as its page reads them: lists, parts, downloads; and who may not."""

from urllib.parse import quote

import pytest
from support.batch import Plane
from support.batch_jobs import POOL, Jobs
from support.browser import Browser, first
from support.people import Person
from support.testing import Testing
from support.waiting import wait_for

OWN_POOL = {"id": "pool", "targetDedicatedNodes": 1, "taskSlotsPerNode": 2}
COMMAND = """/bin/sh -c '
printf 0123456789 > ten.bin
mkdir -p deep/er && echo leaf > deep/er/leaf.txt
echo "<script>alert(1)</script>" > page.html
echo to stdout; echo to stderr >&2'"""


class Files:
    def __init__(self, daemon, account, job, task, person=None):
        self.daemon = person or daemon
        self.path = f"/batchaid/batch/{account}/jobs/{job}/tasks/{task}/files"

    def call(self, end="", expect=200, method="GET", headers=None, **params):
        query = "&".join(f"{k}={quote(str(v), safe='')}" for k, v in params.items())
        return self.daemon.call(method, self.path + end + ("?" + query if query else ""), api_version=None, headers=headers, expect=expect)

    def list(self, **params):
        return self.call(**params).json

    def names(self, **params):
        return [f["name"] for f in self.list(**params)["value"]]

    def get(self, path, **more):
        return self.call("/content", path=path, **more)


@pytest.fixture(scope="module")
def written(daemon, ground, pool):
    """A job whose task has written files."""
    jobs = Jobs(ground.plane, pool)
    job = jobs()
    job.task_id = job.add(COMMAND)
    job.succeed(job.task_id)
    yield job
    jobs.remove()


@pytest.fixture
def files(daemon, ground, written):
    return Files(daemon, ground.name, written.id, written.task_id)


def test_directories_are_listed_one_at_a_time(files):
    found = {f["name"]: f for f in files.list()["value"]}
    assert {"stdout.txt", "stderr.txt", "wd"} <= set(found) and list(found) == sorted(found)
    assert found["wd"]["isDirectory"] is True and found["stdout.txt"]["size"] == 10 and found["stdout.txt"]["modifiedTime"]
    assert files.names(path="wd") == ["deep", "page.html", "ten.bin"]
    assert files.list(path=".") == files.list()
    (leaf,) = files.list(path="wd/deep/er")["value"]
    assert (leaf["path"], leaf["size"], leaf["isDirectory"]) == ("wd/deep/er/leaf.txt", 5, False)


def test_pages_of_a_directory(files):
    page = files.list(path="wd", max=2)
    assert [f["name"] for f in page["value"]] == ["deep", "page.html"]
    rest = files.list(path="wd", after=page["next"])
    assert [f["name"] for f in rest["value"]] == ["ten.bin"] and "next" not in rest


@pytest.mark.parametrize("range, status, body, where", [
    (None, 200, b"0123456789", None),
    ("bytes=-3", 206, b"789", "bytes 7-9/10"),
    ("bytes=2-4", 206, b"234", "bytes 2-4/10"),
    ("bytes=10-", 416, None, "bytes */10"),
])
def test_parts_of_a_file(files, range, status, body, where):
    reply = files.get("wd/ten.bin", expect=status, headers={"Range": range} if range else None)
    assert reply.headers.get("Content-Range") == where and reply.headers["Accept-Ranges"] == "bytes"
    if body:
        assert reply.content == body and reply.headers["ETag"]
    else:
        assert reply.error["code"] == "InvalidRange"


def test_a_part_of_the_same_file_alone(files):
    head = files.get("wd/ten.bin", method="HEAD")
    assert head.headers["Content-Length"] == "10" and head.content == b""
    part = {"Range": "bytes=0-0", "If-Range": head.headers["ETag"]}
    assert files.get("wd/ten.bin", headers=part, expect=206).content == b"0"
    assert files.get("wd/ten.bin", headers={**part, "If-Range": '"0x1"'}).content == b"0123456789"


def test_a_browser_runs_nothing_of_it(files):
    reply = files.get("wd/page.html")
    assert reply.content == b"<script>alert(1)</script>\n" and reply.headers["Content-Type"] == "application/octet-stream"
    assert reply.headers["X-Content-Type-Options"] == "nosniff" and "sandbox" in reply.headers["Content-Security-Policy"]
    assert files.get("stdout.txt").headers["Content-Type"].startswith("text/plain")
    assert files.get("wd/page.html", download="true").headers["Content-Disposition"].startswith('attachment; filename="page.html"')


def test_a_cookie_is_enough(daemon, files):
    browser = Browser(daemon)
    browser.log_in(**first(daemon))
    assert b'"stdout.txt"' in browser.call("GET", files.path).content
    assert browser.call("GET", f"{files.path}/content?path=stdout.txt").content == b"to stdout\n"


def test_a_task_that_has_not_run_has_no_files(daemon, ground, written):
    first_task = written.begin("sleep 1000")
    waits = Files(daemon, ground.name, written.id, written.add("/bin/true", requiredSlots=2))
    assert waits.list() == {"value": []}
    assert waits.get("stdout.txt", expect=409).error["code"] == "TaskFilesUnavailable"
    written.end(first_task)
    wait_for(lambda: "stdout.txt" in waits.names())


@pytest.mark.parametrize("end, params, status, code", [
    ("", {"path": "../.."}, 400, "InvalidPath"),
    ("/content", {"path": "wd/../../x"}, 400, "InvalidPath"),
    ("/content", {"path": "/etc/passwd"}, 400, "InvalidPath"),
    ("/content", {}, 400, "InvalidQueryParameterValue"),
    ("/content", {"path": "none.txt"}, 404, "FileNotFound"),
    ("/content", {"path": "wd"}, 404, "FileNotFound"),
    ("", {"path": "none"}, 404, "FileNotFound"),
    ("", {"max": "0"}, 400, "InvalidQueryParameterValue"),
])
def test_what_is_wrong_is_refused_by_name(files, end, params, status, code):
    error = files.call(end, expect=status, **params).error
    assert error["code"] == code and error["message"]


@pytest.mark.parametrize("end, path, message", [
    ("/content", "none.txt", "There is no file 'none.txt'."),
    ("/content", "wd/none/t.csv", "There is no file 'wd/none/t.csv'."),
    ("/content", "wd", "wd is not a regular file"),
    ("", "none", "There is no directory 'none'."),
    ("", "stdout.txt", "There is no directory 'stdout.txt'."),
])
def test_an_error_names_the_file_by_its_path_in_the_task(files, end, path, message):
    assert files.call(end, expect=404, path=path).error["message"] == message


def test_a_task_that_is_not_there(daemon, ground, written):
    assert Files(daemon, ground.name, written.id, "none").call(expect=404).error["code"] == "TaskNotFound"


def test_who_may_read_the_job_may_read_its_files(daemon, ground, written, temporary):
    account = f"{ground.accounts.path}/{ground.name}"
    here = (ground.name, written.id, written.task_id)
    assert "stdout.txt" in Files(daemon, *here, temporary(Person(daemon, "Reader", account))).names()
    other = Files(daemon, *here, temporary(Person(daemon, "Owner", f"/subscriptions/{daemon.subscription}/resourceGroups/elsewhere")))
    for call in (other.call, lambda expect: other.get("stdout.txt", expect=expect)):
        assert "Microsoft.Batch/batchAccounts/jobs/read" in call(expect=403).error["message"]


def test_files_of_a_seeded_task_look_as_others_do(tested):
    files = {"stdout.txt": "said\n", "wd/a-b": "1", "wd/a/x": "22", "wd/a/y": "333", "wd/a0": "4"}
    done = {"commandLine": "true", "state": {"state": "completed", "exitCode": 0}, "files": files}
    account = {"location": "eastus", "pools": {"p": {**POOL, "targetDedicatedNodes": 0}}, "jobs": {"j": {"poolInfo": {"poolId": "p"}, "tasks": {"t": done}}}}
    Testing(tested).seed({"groups": {"lab": {"location": "eastus", "batchAccounts": {"seeded": account}}}})
    assert Plane(tested, "seeded", by="token").call("GET", "/jobs/j/tasks/t/files/stdout.txt", expect=200).content == b"said\n"
    f = Files(tested, "seeded", "j", "t")
    assert f.names() == ["stdout.txt", "wd"] and f.names(path="wd") == ["a", "a-b", "a0"] and f.names(path="wd/a") == ["x", "y"]
    assert f.get("wd/a/y", headers={"Range": "bytes=-2"}, expect=206).content == b"33"
    assert f.get("stdout.txt").content == b"said\n" and f.get("wd/a", expect=404).error["code"] == "FileNotFound"
