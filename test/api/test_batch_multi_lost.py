# SPDX-License-Identifier: MIT
"""Tasks of Azure Batch on several nodes, of which one leaves or is lost."""

import pytest
from support.batch_jobs import add_pool
from support.waiting import wait_for


@pytest.fixture
def pool(plane):
    add_pool(plane, "leaves", targetDedicatedNodes=3, enableInterNodeCommunication=True)
    yield "leaves"
    plane.remove_pool("leaves")


def subtasks(job, task):
    return job.plane.all(f"{job.url}/tasks/{task}/subtasksinfo")


def running(job, task, again=0):
    """Until it runs on two nodes; the names of these."""

    def there():
        t, parts = job.task(task), subtasks(job, task)
        runs = t["state"] == "running" and t["executionInfo"]["requeueCount"] == again
        return t if runs and [p["state"] for p in parts] == ["completed"] else None

    first = wait_for(there, what="it runs")
    return first["nodeInfo"]["nodeId"], subtasks(job, task)[0]["nodeInfo"]["nodeId"]


MULTI = {"numberOfInstances": 2, "coordinationCommandLine": "/bin/true"}


@pytest.mark.parametrize("rank", [0, 1])
def test_a_node_that_is_removed_has_the_task_begin_anew(jobs, plane, rank):
    job = jobs()
    task = job.add("sleep 1000", multiInstanceSettings=MULTI)
    nodes = running(job, task)
    plane.call("POST", "/pools/leaves/removenodes", {"nodeList": [nodes[rank]]}, expect=202)
    now = running(job, task, again=1)
    assert nodes[rank] not in now and nodes[1 - rank] in now


def test_a_node_that_restarts_has_the_task_begin_anew(jobs, plane):
    job = jobs()
    task = job.add("sleep 1000", multiInstanceSettings=MULTI)
    _, second = running(job, task)
    plane.call("POST", f"/pools/leaves/nodes/{second}/reboot", {"nodeRebootOption": "requeue"}, expect=202)
    running(job, task, again=1)


def test_a_pool_that_is_too_small_lets_it_wait(jobs, plane):
    job = jobs()
    task = job.add("/bin/true", multiInstanceSettings={**MULTI, "numberOfInstances": 4})
    job.wait(job.add("/bin/true"))
    assert job.task(task)["state"] == "active"
    wait_for(lambda: plane.get("/pools/leaves")["allocationState"] == "steady", what="steady")
    plane.call("POST", "/pools/leaves/resize", {"targetDedicatedNodes": 4}, expect=202)
    (done,) = job.wait(task)
    assert done["executionInfo"]["result"] == "success"
    assert len(subtasks(job, task)) == 3
