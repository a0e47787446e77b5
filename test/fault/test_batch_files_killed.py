# SPDX-License-Identifier: MIT
"""Files of Azure Batch's tasks while the daemon is killed: nothing is lost, and no command runs twice. And without
room for them on the node."""

import pytest
from support.batch import BatchGround
from support.batch_jobs import Jobs, add_pool
from support.waiting import wait_for


@pytest.fixture
def job(own_daemon):
    d = own_daemon()
    plane = BatchGround(d).plane
    add_pool(plane, "pool", targetDedicatedNodes=1)
    made = Jobs(plane, "pool")()
    made.daemon = d
    return made


def killed(job):
    job.daemon.crash()


def asked(others, path):
    wait_for(lambda: any(p == path for _, p, _, _ in others.seen), what=f"{path} was asked for")
    others.seen.clear()


def outcome(job):
    (done,) = job.wait("t")
    info = done["executionInfo"]
    assert info.get("exitCode") == 0 and info["result"].lower() == "success", info
    return info


def test_during_a_download(job, others):
    others.files["/c/x"] = b"x\n"
    others.trouble["/c/x"] = "hang"
    job.add("/bin/sh -c 'cat x; echo ran >> ../ran'", id="t", resourceFiles=[{"httpUrl": f"{others.url}/c/x", "filePath": "x"}])
    asked(others, "/c/x")
    others.trouble.clear()
    killed(job)
    outcome(job)
    assert job.text("t") == "x\n" and job.text("t", "ran") == "ran\n"


def test_during_an_upload(job, others):
    others.trouble["/c/y"] = "hang"
    output = {
        "filePattern": "y",
        "destination": {"container": {"containerUrl": f"{others.url}/c"}},
        "uploadOptions": {"uploadCondition": "taskcompletion"},
    }
    job.add("/bin/sh -c 'echo y > y; echo ran >> ../ran'", id="t", outputFiles=[output])
    asked(others, "/c/y")
    assert job.task("t")["state"] == "running"
    others.trouble.clear()
    killed(job)
    outcome(job)
    assert others.files["/c/y"] == b"y\n" and job.text("t", "ran") == "ran\n"


def test_a_command_that_runs_keeps_what_it_made_of_its_files(job, others):
    """They are not put there once more under its feet."""
    others.files["/c/z"] = b"old\n"
    command = "echo mine > z; echo ran >> ../ran; until test -e ../go; do sleep 0.1; done; cat z"
    job.add(f"/bin/sh -c '{command}'", id="t", resourceFiles=[{"httpUrl": f"{others.url}/c/z", "filePath": "z"}])
    wait_for(lambda: job.plane.call("GET", f"{job.url}/tasks/t/files/ran").status == 200, what="the command has begun")
    others.seen.clear()
    killed(job)
    wait_for(lambda: job.plane.call("GET", f"{job.url}/tasks/t/files/ran").status == 200, what="its node is back")
    (top,) = job.daemon.state_dir.glob("nodes/**/workitems/*/job-1/t")
    (top / "go").touch()
    outcome(job)
    assert job.text("t") == "mine\n" and job.text("t", "ran") == "ran\n" and not others.seen


def test_a_file_that_the_disk_has_no_room_for(small_disk, own_daemon, others):
    d = own_daemon(state_dir=small_disk)
    d.expect_log(r"db\.|storage|request|run\.|batch_|pool\.|node\.|task\.")
    plane = BatchGround(d).plane
    add_pool(plane, "pool", targetDedicatedNodes=1)
    job = Jobs(plane, "pool")()
    others.files |= {"/c/large": bytes(20_000_000), "/c/x": b"x\n"}
    failed = job.done("/bin/true", id="t", resourceFiles=[{"httpUrl": f"{others.url}/c/large", "filePath": "large"}])
    info = failed["executionInfo"]["failureInfo"]
    assert info["code"] == "DiskFull" and "/c/large" in str(info["details"])
    done = job.done("/bin/cat x", id="next", resourceFiles=[{"httpUrl": f"{others.url}/c/x", "filePath": "x"}])
    assert done["executionInfo"]["exitCode"] == 0
