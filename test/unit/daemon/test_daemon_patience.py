# SPDX-License-Identifier: MIT
"""Commands that outlive a token, a connection or the daemon that they talk to. Faults are injected by the daemon (docs/testing.md)."""
import json
import os
import pwd
import signal

import pytest
from support.testing import Clock, Testing, testing_daemon
from support.waiting import wait_for
from support.world import fresh

from test_daemon_everyday import Started
from test_daemon_submit import Desk


@pytest.fixture(scope="module")
def tested():
    with testing_daemon() as d:
        yield d


@pytest.fixture
def faults(tested):
    yield Testing(tested)
    Testing(tested).forget()  # with the key of a restarted daemon


@pytest.fixture
def desk(tested, tmp_path):
    tmp_path.chmod(0o755)
    return Desk(tested, tmp_path / "project")


def waits(desk, faults, name, *more):
    """`batchaid wait`, which has read the job's state: it asks a second time."""
    before = faults.last()
    p = Started(desk, "wait", *more, name)
    assert faults.expect(after=before, count=2, timeout=60, path=f"/batchaid/jobs/*/{name}").status == 200
    return p


def copies(desk):
    """Of folders, on shares."""
    return set(desk.daemon.state_dir.rglob("folder-*.tar"))


# --- tokens -----------------------------------------------------------------------------------------


def test_followed_for_longer_than_a_token_lives(desk, faults):
    flag, clock = desk.folder.parent / "go", Clock(desk.daemon)
    desk.submit("--name", "long", "--time", "20h", "--no-copy", "--", f'echo one; while [ ! -e "{flag}" ]; do sleep 0.02; done; echo two')
    logs, wait = Started(desk, "logs", "-f", "long").until("one"), waits(desk, faults, "long")
    clock.advance("PT3H")
    flag.touch()
    assert (logs.end(), logs.said) == (0, "one\ntwo\n")
    assert (wait.end(), wait.said) == (0, "")
    clock.change(real=True)


@pytest.mark.parametrize("operation", ["File_UploadRange", "Jobs_Create"])
def test_a_token_that_ends_while_the_folder_is_copied(desk, faults, operation):
    desk.write("in", "content\n")
    made = faults.fault({"operation": operation}, reply={"status": 401, "code": "ExpiredAuthenticationToken", "message": "It has expired."})
    assert desk.run("run", "--", "cat in").stdout == "content\n"
    assert [f["hits"] for f in faults.get("/faults")["value"] if f["id"] == made["id"]] == [1]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_copy_is_removed(desk, faults, number):
    faults.fault({"operation": "File_UploadRange"}, times=0, delayMilliseconds=300)
    with open(desk.folder / "big", "wb") as f:
        f.truncate(100 << 20)
    before, started = copies(desk), Started(desk, "submit", "--", "true")
    wait_for(lambda: copies(desk) - before, 10, "the copy")
    started.process.send_signal(number)
    assert started.end() == -number and copies(desk) == before


def test_a_lent_token_is_not_replaced(desk, faults):
    d = desk.daemon
    lent = {"BATCHAID_TOKEN": d.token(), "SSL_CERT_FILE": str(d.ca), "AZURE_SUBSCRIPTION_ID": d.subscription, "BATCHAID_ENDPOINT": d.endpoint}
    faults.fault({"path": "/batchaid/queue"}, reply={"status": 401, "code": "ExpiredAuthenticationToken", "message": "It has expired."})
    assert "It has expired." in desk.run("queue", check=False, BATCHAID_STATE_DIR="", **lent).stderr


# --- a job that removes its files -------------------------------------------------------------------


@pytest.mark.parametrize("operation, skip, left, says", [
    ("JobFiles_Get", 0, ["r/b", "z"], "/r/a was not fetched, and is as it was: "),
    ("JobFiles_List", 1, ["z"], ""),
])
def test_get_goes_on_after_what_is_gone(desk, faults, operation, skip, left, says):
    """The daemon answers as if the file or folder had been removed since it was listed."""
    name = fresh("removes")
    desk.submit("--name", name, "--no-copy", "--", "mkdir r; touch r/a r/b z")[1].succeed()
    faults.fault({"operation": operation}, skip=skip, reply={"status": 404, "code": "FileNotFound", "message": "It is gone."})
    done = desk.run("get", name, check=False)
    assert done.returncode == 1 and says in done.stderr and done.stderr.count("It is gone.") == 1
    assert sorted(done.stdout.split()) == [f"{name}/{file}" for file in left]


# --- outages ----------------------------------------------------------------------------------------

WAITING = "batchaid: waiting up to 10 minutes for the daemon\n"


def test_a_daemon_that_restarts_is_waited_for(desk, faults):
    flag, daemon = desk.folder.parent / "go", desk.daemon
    desk.submit("--name", "outlives", "--no-copy", "--", f'echo one; while [ ! -e "{flag}" ]; do sleep 0.02; done; echo two')
    logs, wait = Started(desk, "logs", "-f", "outlives").until("one"), waits(desk, faults, "outlives", "--timeout", "900")
    top = Started(desk, "ps", "--watch").until("outlives")
    daemon.stop()
    for p in (logs, wait):
        p.until(WAITING)
    top.until("no batchaid daemon is serving")
    daemon.start()
    top.until("outlives")
    top.process.terminate()
    top.end()
    flag.touch()
    assert (logs.end(), logs.said.replace("\r\n", "\n").count(WAITING)) == (0, 1)
    assert logs.said.startswith("one\nbatchaid: the daemon at ") and logs.said.endswith("for the daemon\ntwo\n")
    assert wait.end() == 0


def test_a_shell_waits_for_its_node_over_a_restart(desk, faults):
    flag = desk.folder.parent / "go"
    desk.submit("--name", "ahead", "--no-copy", "--", f'while [ ! -e "{flag}" ]; do sleep 0.02; done')
    p = Started(desk, "shell", "--name", "behind", "--after", "ahead", terminal=True).until("behind waits for its node")
    desk.daemon.stop()
    p.until("for the daemon")
    desk.daemon.start()
    flag.touch()
    os.write(p.ours, b"echo is-$((6 * 7)); exit 4\n")
    assert p.end() == 4 and "is-42" in p.said and p.said.count("for the daemon") == 1


def test_a_shell_that_cannot_begin_is_cancelled(desk, faults):
    _, job = desk.submit("--name", "first-of-all", "--no-copy", "--", "echo begun; sleep 1000")
    p = Started(desk, "shell", "--name", "given-up", "--after", "first-of-all", terminal=True).until("given-up waits for its node")
    faults.fault({"path": "/batchaid/jobs"}, reply={"status": 403, "code": "AuthorizationFailed", "message": "You may not."})
    assert p.end() == 255 and "batchaid: given-up is cancelled: You may not." in p.said
    assert desk.run("cancel", "given-up").stdout == "given-up has ended already (failed)\n"
    p = Started(desk, "shell", "--name", "left", "--after", "first-of-all", terminal=True).until("left waits for its node")
    p.process.terminate()
    assert p.end() == 255 and "batchaid: left is cancelled: a signal ended the wait" in p.said
    desk.run("cancel", "first-of-all")
    job.fail()


@pytest.mark.parametrize("fault", [{"reply": {"status": 503, "code": "ServerBusy", "message": "Soon."}}, {"cut": "before"}])
def test_a_request_that_fails_is_repeated(desk, faults, fault):
    desk.submit("--name", fresh("busy"), "--no-copy", "--", "echo out")[1].succeed()
    faults.fault({"operation": "Jobs_ListOutputFiles"}, **fault)
    done = desk.run("logs", "-f", "-")
    assert done.stdout == "out\n" and WAITING in done.stderr
    faults.fault({"operation": "Jobs_ListOutputFiles"}, **fault)
    assert desk.run("logs", "-", check=False).returncode == 1
    faults.fault({"operation": "Jobs_ListOutputFiles"}, reply={"status": 403, "code": "AuthorizationFailed", "message": "You may not."})
    done = desk.run("logs", "-f", "-", check=False)
    assert done.returncode == 1 and "You may not." in done.stderr and WAITING not in done.stderr


def test_run_keeps_the_exit_code_without_a_list_of_files(desk, faults):
    faults.fault({"operation": "Jobs_ListOutputFiles"}, times=0, reply={"status": 404, "code": "NoFiles", "message": "They were removed."})
    done = desk.run("run", "--no-copy", "--", "exit 3", check=False)
    assert done.returncode == 3 and "batchaid: They were removed.\n" in done.stderr
    done = desk.run("logs", "-", check=False)
    assert done.returncode == 1 and "They were removed." in done.stderr and "has no output" in done.stderr


# --- refusals ---------------------------------------------------------------------------------------


def test_a_copy_that_no_job_needs_is_removed(desk, faults):
    share = desk.daemon.share("jobsroot" if os.geteuid() == 0 else f"jobs{pwd.getpwuid(os.geteuid()).pw_name}", "jobs")
    before = set(share.iterdir())
    desk.write("in", "content\n")
    faults.fault({"operation": "Jobs_Create"}, times=0, reply={"status": 400, "code": "InvalidPropertyValue", "message": "Not so."})
    done = desk.run("submit", "--name", "refused", "--", "true", check=False)
    assert done.returncode == 1 and "copied 1 file" in done.stderr and "Not so." in done.stderr
    assert set(share.iterdir()) == before
    faults.forget()
    desk.submit("--name", "accepted", "--", "true")
    assert len(set(share.iterdir()) - before) == 1


def test_why_a_cluster_is_not_made(desk, faults):
    faults.fault({"operation": "Clusters_Create"}, reply={"status": 409, "code": "QuotaExceeded", "message": "No cores are left."})
    done = desk.run("submit", "--group", "another", "--no-copy", "--", "true", check=False)
    assert done.returncode == 1 and done.stderr.endswith("is missing, and was not made: No cores are left.\n")
    faults.fault({"operation": "Clusters_Create"}, reply={"status": 403, "code": "AuthorizationFailed", "message": "You may not."})
    assert "cannot be made by you; somebody with the role Contributor can" in desk.run("submit", "--group", "another", "--no-copy", "x", check=False).stderr


# --- downloads --------------------------------------------------------------------------------------


def test_get_keeps_a_file_whose_download_fails(desk, faults):
    desk.submit("--name", "kept", "--no-copy", "--", "mkdir d; echo new >d/a")[1].succeed()
    mine = desk.write("kept/d/a", "mine", 0o600)
    faults.fault({"path": "/batchaid/jobs/*/files/content"}, cut="before")
    done = desk.run("get", "kept", check=False)
    assert done.returncode == 1 and "kept/d/a was not fetched, and is as it was: " in done.stderr
    assert mine.read_text() == "mine" and [f.name for f in mine.parent.iterdir()] == ["a"]
    faults.fault({"path": "/batchaid/jobs/*/files/content"}, reply={"status": 401, "code": "ExpiredAuthenticationToken", "message": "Over."})
    desk.run("get", "kept")
    assert mine.read_text() == "new\n" and mine.stat().st_mode & 0o777 == 0o600


def test_json_has_what_was_fetched_before_a_failure(desk, faults):
    desk.submit("--name", "some", "--no-copy", "--", "echo a >a; echo b >b")[1].succeed()
    faults.fault({"path": "/batchaid/jobs/*/files/content"}, skip=1, cut="before")
    done = desk.run("get", "--json", "some", "*", "z", check=False)
    assert done.returncode == 1 and "some/b was not fetched" in done.stderr
    assert json.loads(done.stdout) == {"value": [{"path": "some/a", "bytes": 2}], "older": 0, "gone": 0, "leftOut": 0, "missing": []}


def test_ctrl_c_leaves_nothing_half(desk, faults):
    desk.submit("--name", "half", "--no-copy", "--", "echo new >a")[1].succeed()
    faults.fault({"path": "/batchaid/jobs/*/files/content"}, hold=True)
    p = Started(desk, "get", "half")
    wait_for(lambda: list((desk.folder / "half").glob(".batchaid-*.part")), 20, "the download to begin")
    p.process.terminate()
    assert p.end() == -15 and list((desk.folder / "half").iterdir()) == []
