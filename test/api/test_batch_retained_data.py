# SPDX-License-Identifier: MIT
"""Nodes that leave, or begin anew, when their tasks have ended and the files of these are no longer kept. The clock is
the test's."""

import pytest
from support.batch import V, BatchGround
from support.batch_jobs import Jobs, add_pool
from support.testing import Clock
from support.waiting import wait_for

# A restart may come while a node is being removed; a start task fails.
EXPECTS = (r"node\.orphan_found", r"node\.unusable")
CLOCK = {"rate": 1}


@pytest.fixture(scope="module")
def plane(tested):
    made = BatchGround(tested)
    yield made.plane
    made.remove()


@pytest.fixture
def pool(plane):
    """A pool of two nodes; its name."""
    add_pool(plane, "kept", targetDedicatedNodes=2, enableInterNodeCommunication=True)
    wait_for(lambda: [n["state"] for n in nodes(plane)] == ["idle"] * 2, what="two nodes")
    yield "kept"
    plane.remove_pool("kept")


@pytest.fixture
def jobs(plane, pool, temporary):
    return temporary(Jobs(plane, pool))


def nodes(plane):
    return plane.all("/pools/kept/nodes")


def names(plane):
    return sorted(n["id"] for n in nodes(plane))


def reimage(plane, name, how="requeue"):
    """Waits until it has begun anew."""
    booted = plane.get(f"/pools/kept/nodes/{name}")["lastBootTime"]
    ask = {"nodeReimageOption": how}
    plane.at(V["20.0"]).call("POST", f"/pools/kept/nodes/{name}/reimage", ask, expect=202)

    def anew():
        node = plane.get(f"/pools/kept/nodes/{name}")
        return node["lastBootTime"] > booted and node["state"] == "idle"

    wait_for(anew, 60, f"{name} to be reimaged")


def run_on_each(jobs, plane, retention):
    """A task on each node, whose files are kept so long; its job."""
    job = jobs()
    for n in nodes(plane):
        near = {"affinityInfo": {"affinityId": n["affinityId"]}}
        done = job.done("/bin/true", constraints={"retentionTime": retention}, **near)
        assert done["nodeInfo"]["nodeId"] == n["id"]
    return job


def resize(plane, n, timeout="PT30M", how="retaineddata"):
    body = {"targetDedicatedNodes": n, "nodeDeallocationOption": how, "resizeTimeout": timeout}
    plane.call("POST", "/pools/kept/resize", body, expect=202)


def settled(plane):
    return plane.get("/pools/kept")["allocationState"] == "steady"


def test_nodes_leave_when_the_files_of_their_tasks_are_no_longer_kept(jobs, plane, clock):
    run_on_each(jobs, plane, "PT10M")
    resize(plane, 0)
    clock.advance("PT5M")
    assert len(nodes(plane)) == 2 and not settled(plane)
    clock.advance("PT6M")
    wait_for(lambda: nodes(plane) == [], what="both to leave")
    wait_for(lambda: settled(plane) and "resizeErrors" not in plane.get("/pools/kept"), what="steady")


def test_a_node_without_files_leaves_first_and_at_once(jobs, plane):
    done = jobs().done("/bin/true")
    resize(plane, 1)
    wait_for(lambda: names(plane) == [done["nodeInfo"]["nodeId"]], what="the other to leave")
    wait_for(lambda: settled(plane), what="steady")


def test_no_task_begins_on_a_node_that_waits(jobs, plane):
    job = run_on_each(jobs, plane, "PT10M")
    resize(plane, 0)
    task = job.add("/bin/true")
    wait_for(lambda: not settled(plane), what="the resize")
    assert job.task(task)["state"] == "active"
    job.delete()  # and with it the files
    wait_for(lambda: nodes(plane) == [], what="both to leave")


def test_the_wait_ends_with_the_resize(jobs, plane, clock):
    run_on_each(jobs, plane, "P7D")
    resize(plane, 0, timeout="PT10M")
    clock.advance("PT11M")
    wait_for(lambda: settled(plane), what="steady")
    pool = plane.get("/pools/kept")
    assert pool["currentDedicatedNodes"] == 2 and pool["resizeErrors"][0]["code"] == "AllocationTimedout"
    job = jobs()
    job.wait(job.add("/bin/true"))  # the nodes are as good as before


def test_nodes_that_are_removed_or_restarted_wait_too(jobs, plane, clock):
    run_on_each(jobs, plane, "PT10M")
    first, second = names(plane)
    body = {"nodeList": [first], "nodeDeallocationOption": "retaineddata"}
    plane.call("POST", "/pools/kept/removenodes", body, expect=202)
    plane.call("POST", f"/pools/kept/nodes/{second}/reboot", {"nodeRebootOption": "retaineddata"}, expect=202)
    clock.advance("PT5M")
    assert names(plane) == [first, second]
    assert all(n["state"] not in ("starting", "offline") for n in nodes(plane))
    clock.advance("PT6M")
    wait_for(lambda: names(plane) == [second], what="the first to leave")
    wait_for(lambda: nodes(plane)[0]["state"] == "idle", what="the second to be back")


def test_a_node_is_reimaged_when_the_files_are_no_longer_kept(jobs, plane, clock):
    """And has none then; the other node goes on meanwhile."""
    job = run_on_each(jobs, plane, "PT10M")
    first, second = names(plane)
    (kept,) = [t for t in plane.all(f"{job.url}/tasks") if t["nodeInfo"]["nodeId"] == first]
    file = f"{job.url}/tasks/{kept['id']}/files/stdout.txt"
    ask = {"nodeReimageOption": "retaineddata"}
    plane.at(V["20.0"]).call("POST", f"/pools/kept/nodes/{first}/reimage", ask, expect=202)
    booted = plane.get(f"/pools/kept/nodes/{first}")["lastBootTime"]
    clock.advance("PT5M")
    assert plane.get(f"/pools/kept/nodes/{first}")["lastBootTime"] == booted
    plane.call("GET", file, expect=200)
    done = job.done("/bin/true", constraints={"retentionTime": "PT0S"})
    assert done["nodeInfo"]["nodeId"] == second
    clock.advance("PT6M")

    def anew():
        node = plane.get(f"/pools/kept/nodes/{first}")
        return node["lastBootTime"] > booted and node["state"] == "idle"

    wait_for(anew, 60, "it to be reimaged")
    listed = [f["name"] for f in plane.all(f"/pools/kept/nodes/{first}/files?recursive=true")]
    assert not any(name.endswith("/stdout.txt") for name in listed), listed


def test_files_that_a_reimage_removed_are_waited_for_no_more(jobs, plane):
    """Those of tasks, of a task on several nodes, and of a job's preparation; the other node's files are still there."""
    kept = {"constraints": {"retentionTime": "P7D"}}
    job = jobs(jobPreparationTask={"commandLine": "/bin/true", **kept})
    on = {}
    for n in nodes(plane):
        near = {"affinityInfo": {"affinityId": n["affinityId"]}}
        on[n["id"]] = job.done("/bin/true", **near, **kept)["id"]
    wide = {"numberOfInstances": 2, "coordinationCommandLine": "/bin/true"}
    job.done("/bin/true", multiInstanceSettings=wide, **kept)
    first, second = names(plane)
    reimage(plane, first)
    plane.refused(409, "TaskFilesCleanedup", "GET", f"{job.url}/tasks/{on[first]}/files/stdout.txt")
    plane.call("GET", f"{job.url}/tasks/{on[second]}/files/stdout.txt", expect=200)
    reimage(plane, first, "retaineddata")
    resize(plane, 0)
    wait_for(lambda: names(plane) == [second], what="the empty node to leave")
    assert not settled(plane)


def test_files_that_a_reimage_removed_are_gone_though_the_start_task_failed_then(plane, temporary, tmp_path):
    bad = tmp_path / "bad"
    start = {"commandLine": f"/bin/sh -c '! test -e {bad}'", "waitForSuccess": True}
    add_pool(plane, "kept", targetDedicatedNodes=1, startTask=start)
    job = temporary(Jobs(plane, "kept"))()
    done = job.done("/bin/true", constraints={"retentionTime": "P7D"})
    node = f"/pools/kept/nodes/{done['nodeInfo']['nodeId']}"
    bad.touch()
    plane.at(V["20.0"]).call("POST", f"{node}/reimage", {"nodeReimageOption": "requeue"}, expect=202)
    wait_for(lambda: plane.get(node)["state"] == "starttaskfailed", 60, "the start task to fail")
    plane.refused(409, "TaskFilesCleanedup", "GET", f"{job.url}/tasks/{done['id']}/files/stdout.txt")
    plane.remove_pool("kept")


def test_files_of_a_task_that_ended_without_another_start_after_a_reimage_are_gone(jobs, plane):
    """It ran before, was queued again, and ended afterwards, while its job was disabled."""
    job = jobs()
    task = job.begin("/bin/sleep 300", constraints={"retentionTime": "P7D"})
    node = job.task(task)["nodeInfo"]["nodeId"]
    plane.call("POST", f"{job.url}/disable", {"disableTasks": "requeue"}, expect=202)
    wait_for(lambda: job.task(task)["state"] == "active", what="the task to be queued again")
    reimage(plane, node)
    job.end(task)
    plane.refused(409, "TaskFilesCleanedup", "GET", f"{job.url}/tasks/{task}/files/stdout.txt")
    resize(plane, 0)
    wait_for(lambda: nodes(plane) == [], what="both to leave")


def test_files_of_after_a_reimage_are_kept_though_the_clock_was_set_back(jobs, plane):
    Clock(plane.daemon).advance("PT1H")
    first, _ = names(plane)
    reimage(plane, first)
    plane.daemon.restart()  # its clock is the real one again
    wait_for(lambda: [n["state"] for n in nodes(plane)] == ["idle"] * 2, 30, "both idle")
    job = jobs()
    (node,) = [n for n in nodes(plane) if n["id"] == first]
    near = {"affinityInfo": {"affinityId": node["affinityId"]}}
    done = job.done("/bin/true", constraints={"retentionTime": "P7D"}, **near)
    assert done["nodeInfo"]["nodeId"] == first
    plane.call("GET", f"{job.url}/tasks/{done['id']}/files/stdout.txt", expect=200)
    resize(plane, 0)
    wait_for(lambda: names(plane) == [first], what="the other to leave")
    assert not settled(plane)


def test_reimaging_waits_over_a_restart_of_the_daemon(jobs, plane):
    run_on_each(jobs, plane, "PT10M")
    first, _ = names(plane)
    booted = plane.get(f"/pools/kept/nodes/{first}")["lastBootTime"]
    ask = {"nodeReimageOption": "retaineddata"}
    plane.at(V["20.0"]).call("POST", f"/pools/kept/nodes/{first}/reimage", ask, expect=202)
    plane.daemon.restart()
    assert plane.get(f"/pools/kept/nodes/{first}")["lastBootTime"] == booted
    later = Clock(plane.daemon)  # a daemon that starts again has another key
    later.advance("PT11M")
    wait_for(lambda: plane.get(f"/pools/kept/nodes/{first}")["lastBootTime"] > booted, 60, "it to be reimaged")
    wait_for(lambda: [n["state"] for n in nodes(plane)] == ["idle"] * 2, 30, "both idle")
    later.change(real=True)


def test_a_formula_may_say_so(jobs, plane, clock):
    run_on_each(jobs, plane, "PT10M")
    formula = "$TargetDedicatedNodes = 0; $NodeDeallocationOption = retaineddata;"
    body = {"autoScaleFormula": formula, "autoScaleEvaluationInterval": "PT5M"}
    plane.call("POST", "/pools/kept/enableautoscale", body, expect=200)
    wait_for(lambda: "autoScaleRun" in plane.get("/pools/kept"), what="the formula to be reckoned")
    clock.advance("PT5M")
    assert len(nodes(plane)) == 2
    clock.advance("PT6M")
    wait_for(lambda: nodes(plane) == [], what="both to leave")


def test_the_wait_goes_on_over_a_restart_of_the_daemon(jobs, plane):
    run_on_each(jobs, plane, "PT20S")
    resize(plane, 0)
    plane.daemon.restart()
    assert len(nodes(plane)) == 2 and not settled(plane)
    wait_for(lambda: nodes(plane) == [], 60, "both to leave")
