# SPDX-License-Identifier: MIT
"""Nodes of Azure Batch that are restarted, reimaged, deallocated and started: what becomes of the task that runs there,
what they keep, and who is shown what of it. `retaineddata`: test_batch_retained_data.py."""

import os
import tempfile
from pathlib import Path

import pytest
from support.batch import V
from support.batch_jobs import Jobs, add_pool
from support.waiting import wait_for
from support.world import fresh

OPTION = {"reboot": "nodeRebootOption", "reimage": "nodeReimageOption", "deallocate": "nodeDeallocateOption"}


@pytest.fixture(scope="module")
def plane(ground):
    return ground.plane.at(V["20.0"])


class Node:
    """The one node of a pool of its own."""

    def __init__(self, plane):
        self.plane, self.pool = plane, fresh("pool")
        add_pool(plane, self.pool, targetDedicatedNodes=1)
        self.jobs = Jobs(plane, self.pool)
        wait_for(lambda: [n["state"] for n in self.all()] == ["idle"], what="the node")
        self.id = self.all()[0]["id"]
        self.url = f"/pools/{self.pool}/nodes/{self.id}"

    def all(self):
        return self.plane.all(f"/pools/{self.pool}/nodes")

    def get(self):
        return self.plane.get(self.url)

    def ask(self, operation, how=None):
        body = {OPTION[operation]: how} if how else {}
        self.plane.call("POST", f"{self.url}/{operation}", body, expect=202)

    def start(self):
        self.plane.call("POST", f"{self.url}/start", expect=202)

    def wait(self, state):
        wait_for(lambda: self.get()["state"] == state, 60, f"the node is {state}")

    def after(self, operation, boot):
        """Until it has been done, and tasks run there again."""
        if operation == "deallocate":
            self.wait("deallocated")
            self.start()
        wait_for(lambda: self.get()["lastBootTime"] > boot and self.get()["state"] in ("idle", "running"), 60, "its boot")

    def remove(self):
        self.jobs.remove()
        self.plane.remove_pool(self.pool)


@pytest.fixture
def place():
    """A folder that tasks may write to, whoever they run as."""
    with tempfile.TemporaryDirectory(prefix="batchaid-test-", ignore_cleanup_errors=True) as made:
        os.chmod(made, 0o777)
        yield Path(made)


@pytest.fixture
def node(plane, temporary):
    return temporary(Node(plane))


def running(node, place):
    """A task that ends when the file `go` is there, and notes each of its beginnings; its job."""
    job = node.jobs()
    job.add(f"/bin/sh -c 'echo begun >> {place}/log; until [ -e {place}/go ]; do sleep 0.05; done'", id="t")
    wait_for((place / "log").exists, what="the task has begun")
    return job


def begun(place):
    return (place / "log").read_text().count("begun")


@pytest.mark.parametrize("operation", OPTION)
@pytest.mark.parametrize("how", [None, "requeue"])
def test_the_task_is_queued_again(node, place, operation, how):
    job, boot = running(node, place), node.get()["lastBootTime"]
    node.ask(operation, how)
    if operation == "deallocate":
        node.wait("deallocated")
        assert job.task("t")["state"] == "active" and begun(place) == 1
    node.after(operation, boot)
    wait_for(lambda: begun(place) == 2, 60, "the task begins again")
    (place / "go").touch()
    (done,) = job.wait("t")
    assert done["executionInfo"]["exitCode"] == 0 and done["executionInfo"]["requeueCount"] == 1


@pytest.mark.parametrize("operation", OPTION)
def test_the_task_is_ended(node, place, operation):
    job, boot = running(node, place), node.get()["lastBootTime"]
    node.ask(operation, "terminate")
    (done,) = job.wait("t")
    assert done["executionInfo"]["failureInfo"]["code"] == "TaskEnded", done["executionInfo"]
    node.after(operation, boot)
    job.done("/bin/true")
    assert begun(place) == 1


@pytest.mark.parametrize("operation", OPTION)
def test_the_task_goes_on_until_it_ends_and_no_other_begins(node, place, operation):
    job, boot = running(node, place), node.get()["lastBootTime"]
    node.ask(operation, "taskcompletion")
    other = job.add("/bin/true")
    assert job.states() == {"t": "running", other: "active"} and node.get()["lastBootTime"] == boot
    (place / "go").touch()
    (done,) = job.wait("t")
    assert done["executionInfo"]["exitCode"] == 0
    node.after(operation, boot)
    (later,) = job.wait(other)
    assert later["executionInfo"]["startTime"] > node.get()["lastBootTime"]


@pytest.mark.parametrize("operation, kept", [("reboot", True), ("reimage", False), ("deallocate", True)])
def test_what_it_keeps(node, operation, kept):
    job = node.jobs()
    job.done("/bin/sh -c 'echo mine > x; echo all > $AZ_BATCH_NODE_SHARED_DIR/y'", id="t")
    before = node.get()
    node.ask(operation)
    node.after(operation, before["lastBootTime"])
    after = node.get()
    assert all(after[k] == before[k] for k in ("id", "affinityId", "allocationTime", "ipAddress"))
    wanted = 200 if kept else 404
    node.plane.call("GET", f"{job.url}/tasks/t/files/wd%2Fx", expect=wanted if kept else (404, 409))
    node.plane.call("GET", f"{node.url}/files/shared%2Fy", expect=wanted)


def test_a_node_that_is_to_be_reimaged_may_not_rest_with_its_files(node, place):
    job, boot = running(node, place), node.get()["lastBootTime"]
    node.ask("reimage", "taskcompletion")
    assert node.id in str(node.plane.refused(409, "NodeBeingReimaged", "POST", f"{node.url}/deallocate", {}))
    (place / "go").touch()
    job.wait("t")
    node.after("reimage", boot)
    node.plane.call("GET", f"{job.url}/tasks/t/files/stdout.txt", expect=(404, 409))


def test_a_node_that_is_to_leave_takes_no_other_request(node, place):
    """And it is the node that leaves."""
    plane, pool = node.plane, f"/pools/{node.pool}"
    job = running(node, place)
    wait_for(lambda: plane.get(pool)["allocationState"] == "steady", what="steady")
    plane.call("POST", f"{pool}/resize", {"targetDedicatedNodes": 2}, expect=202)
    wait_for(lambda: [n["state"] for n in node.all() if n["id"] != node.id] == ["idle"], what="another node")
    wait_for(lambda: plane.get(pool)["allocationState"] == "steady", what="steady")
    leave = {"nodeList": [node.id], "nodeDeallocationOption": "taskcompletion"}
    plane.call("POST", f"{pool}/removenodes", leave, expect=202)
    assert node.get()["state"] == "leavingpool" and job.task("t")["state"] == "running"
    for operation in OPTION:
        assert "leavingpool" in str(plane.refused(409, "OperationInvalidForCurrentState", "POST", f"{node.url}/{operation}", {}))
    (place / "go").touch()
    (done,) = job.wait("t")
    assert done["executionInfo"]["exitCode"] == 0
    wait_for(lambda: plane.get(pool)["allocationState"] == "steady", what="steady")
    assert [n["id"] == node.id for n in node.all()] == [False]


def test_a_deallocated_node_is_shown_and_rests_until_it_is_started(node, ground):
    plane = node.plane
    plane.daemon.expect_log(r"warn node\.orphan_found")  # of pools that are just being removed
    node.ask("deallocate")
    node.wait("deallocated")
    job = node.jobs()
    job.add("/bin/true", id="t")
    for operation in OPTION:
        assert "deallocated" in str(plane.refused(409, "OperationInvalidForCurrentState", "POST", f"{node.url}/{operation}", {}))
    plane.daemon.restart()
    assert node.get()["state"] == "deallocated" and job.task("t")["state"] == "active"
    p = plane.get(f"/pools/{node.pool}")
    assert p["allocationState"] == "steady" and p["currentDedicatedNodes"] == p["targetDedicatedNodes"] == 1
    (counts,) = [c for c in plane.all("/nodecounts") if c["poolId"] == node.pool]
    assert counts["dedicated"]["deallocated"] == counts["dedicated"]["total"] == 1
    managed = ground.accounts.call("GET", f"/{ground.name}/pools/{node.pool}", expect=200).json["properties"]
    assert (managed["allocationState"], managed["currentDedicatedNodes"]) == ("Steady", 1)
    node.start()
    job.wait("t")
    plane.refused(409, "OperationInvalidForCurrentState", "POST", f"{node.url}/start")
