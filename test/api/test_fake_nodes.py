# SPDX-License-Identifier: MIT
"""What fake nodes answer besides running scripted work: logins, files, states, and the variables of formulas."""

import pytest
from support.batch import BatchGround
from support.batch_jobs import Jobs, add_pool
from support.testing_fixtures import place  # noqa: F401 (a fixture)
from support.waiting import wait_for

ARGUMENTS = ["--ephemeral", "--fake-nodes"]
EXPECTS = (".",)


@pytest.fixture
def ground(tested, hurried):
    return hurried(BatchGround(tested))


@pytest.fixture
def node(ground, t):
    """The url of a node whose start task has said something."""
    t.rules({"match": {"role": "setup"}, "stdout": ["the node is set up"]})
    add_pool(ground.plane, "p", vmSize="fake", targetDedicatedNodes=1, startTask={"commandLine": "set-up", "waitForSuccess": True})
    return f"/pools/p/nodes/{idle(ground.plane)['id']}"


def idle(plane, pool="p", count=1):
    def nodes():
        found = plane.all(f"/pools/{pool}/nodes")
        return len(found) == count and all(n["state"] == "idle" for n in found) and found

    return wait_for(nodes, 30, "its nodes")[0]


def logins(d):
    """What takes logins at nodes of this machine."""
    return list((d.state_dir / "nodes").glob("*/login"))


def test_users_are_kept_and_nobody_can_log_in(ground, node):
    plane = ground.plane
    plane.call("POST", f"{node}/users", {"name": "ada", "password": "Passw0rd!", "isAdmin": True}, expect=201)
    plane.call("PUT", f"{node}/users/ada", {"password": "An0ther!"}, expect=200)
    told = plane.get(f"{node}/remoteloginsettings")
    assert (told["remoteLoginIPAddress"], told["remoteLoginPort"]) == ("127.0.0.1", 50000)
    assert logins(plane.daemon) == []
    plane.call("DELETE", f"{node}/users/ada", expect=200)
    assert plane.call("DELETE", f"{node}/users/ada").status == 404


def test_logins_of_a_cluster_are_told_and_nobody_can_log_in(place):
    told = place.cluster(2).call("POST", "/listRemoteLoginInformation", expect=200).json["value"]
    assert [(n["ipAddress"], n["port"]) for n in told] == [("127.0.0.1", 50000), ("127.0.0.1", 50001)]
    assert logins(place.daemon) == []


def test_files_of_a_node_are_those_of_its_start_task_and_tasks(ground, node):
    plane = ground.plane
    assert plane.call("GET", f"{node}/files/startup/stdout.txt", expect=200).content == b"the node is set up\n"
    job = Jobs(plane, "p")()
    task, _ = job.ran("work")
    names = [f["name"] for f in plane.all(f"{node}/files?recursive=true")]
    assert any(name.endswith(f"{task}/stdout.txt") for name in names), names
    assert plane.call("GET", f"{node}/files/nowhere").status == 404


def test_a_node_is_rebooted_taken_out_and_put_back(ground, node):
    plane = ground.plane
    plane.call("POST", f"{node}/reboot", {"nodeRebootOption": "requeue"}, expect=202)
    idle(plane)
    plane.call("POST", f"{node}/disablescheduling", {}, expect=200)
    assert plane.get(node)["schedulingState"] == "disabled"
    plane.call("POST", f"{node}/enablescheduling", expect=200)
    assert plane.get(node)["schedulingState"] == "enabled"
    assert plane.call("GET", f"{node}/rdp").status == 409


def test_a_resource_file_that_cannot_be_had_fails_its_task(ground, node):
    job = Jobs(ground.plane, "p")()
    url = f"{ground.plane.daemon.endpoint}/nowhere"
    (ended,) = job.wait(job.add("work", resourceFiles=[{"httpUrl": url, "filePath": "in.txt"}]))
    assert ended["executionInfo"]["failureInfo"]["category"] in ("userError", "serverError", "UserError", "ServerError")


# --- formulas -----------------------------------------------------------------------------------------

VARIABLES = ["CurrentDedicatedNodes", "CurrentLowPriorityNodes", "PreemptedNodeCount"]
SAMPLED = ["ActiveTasks", "RunningTasks", "PendingTasks", "SucceededTasks", "FailedTasks"]


def evaluated(plane, pool, formula):
    """The variables that a formula leaves."""
    run = plane.call("POST", f"/pools/{pool}/evaluateautoscale", {"autoScaleFormula": formula}, expect=200).json
    assert "error" not in run, run
    return dict(pair.split("=", 1) for pair in run["results"].split(";"))


def counts(plane, pool):
    formula = "".join(f"{name}=${name};" for name in VARIABLES) + "$TargetDedicatedNodes=1;"
    seen = evaluated(plane, pool, formula)
    return [float(seen[name]) for name in VARIABLES]


def scales(plane, pool):
    formula = "$TargetDedicatedNodes=1;$TargetLowPriorityNodes=2;"
    plane.call("POST", f"/pools/{pool}/enableautoscale", {"autoScaleFormula": formula}, expect=200)


def test_preempted_nodes_are_counted_in_formulas_until_they_are_back(ground, t, clock):
    clock.change(rate=0)
    plane = ground.plane
    add_pool(plane, "low", vmSize="fake", targetDedicatedNodes=1, targetLowPriorityNodes=2)
    clock.advance("PT10S")
    idle(plane, "low", 3)
    scales(plane, "low")
    assert counts(plane, "low") == [1, 2, 0]
    t.rules({"duration": "PT1H"})
    t.fault({"pool": "low"}, skip=2, node={"effect": "preempted", "after": "PT30S", "duration": "PT10M"})
    job = Jobs(plane, "low")()
    for _ in range(3):
        job.add("long")
    clock.advance("PT1M")
    states = [n["state"] for n in plane.all("/pools/low/nodes")]
    dedicated, low, preempted = counts(plane, "low")
    assert preempted == states.count("preempted") == 1 and dedicated + low >= 2
    clock.advance("PT15M")
    assert counts(plane, "low")[2] == 0


def test_tasks_of_each_state_are_counted_in_formulas(ground, t, clock):
    clock.change(rate=0)
    plane = ground.plane
    add_pool(plane, "counted", vmSize="fake", targetDedicatedNodes=1)
    clock.advance("PT10S")
    idle(plane, "counted")
    plane.call("POST", "/pools/counted/enableautoscale", {"autoScaleFormula": "$TargetDedicatedNodes=1"}, expect=200)
    t.rules({"match": {"command": "bad"}, "exitCode": 1}, {"match": {"command": "long"}, "hold": True})
    job = Jobs(plane, "counted")()
    for command in ("good", "good", "bad", "long", "long", "long"):
        job.add(command)
        clock.advance("PT1S")
    clock.advance("PT2M")
    formula = "".join(f"{name}=${name}.GetSample(1);" for name in SAMPLED) + "$TargetDedicatedNodes=1;"
    seen = evaluated(plane, "counted", formula)
    got = [float(seen[name].strip("[]").split(",")[-1]) for name in SAMPLED]
    assert got == [2, 1, 3, 2, 1], seen
