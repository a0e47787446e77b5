# SPDX-License-Identifier: MIT
"""How clusters grow, shrink and scale by themselves, and what becomes of the jobs on them."""

import json
import re
import time

import pytest
from support.daemon import Daemon
from support.waiting import wait_for
from support.world import MOUNT, Place, cluster_body, fresh, instant, wait_flag


def busy(place, cluster, n=1, **more):
    """A job that runs until its flag is made, and that flag."""
    flag, path = place.flag(fresh("flag"))
    return place.job(cluster, wait_flag(path), nodes=n, **more), flag


def test_the_counts_always_add_up_while_a_cluster_moves(own_place):
    cluster = own_place.cluster(nodes=0)
    seen = []

    def look():
        p = cluster.properties
        assert sum(p["nodeStateCounts"].values()) == p["currentNodeCount"], json.dumps(p)
        seen.append(p)
        return p

    for target in (4, 1, 3, 0):
        cluster.resize(target)
        wait_for(
            lambda: (p := look())["allocationState"] == "steady" and p["currentNodeCount"] == target,
            what=lambda: f"{target} nodes: {json.dumps(seen[-1])}",
        )
    assert {p["currentNodeCount"] for p in seen} >= {0, 1, 3, 4}


def test_patch_answers_with_the_new_settings_and_the_old_state(own_place):
    cluster = own_place.cluster(nodes=0)
    before = cluster.properties
    reply = cluster.resize(2).json["properties"]
    assert reply["scaleSettings"]["manual"]["targetNodeCount"] == 2
    assert reply["currentNodeCount"] == 0
    assert reply["creationTime"] == before["creationTime"]
    cluster.wait_steady(2)
    assert cluster.counts() == {
        "runningNodeCount": 0,
        "idleNodeCount": 2,
        "unusableNodeCount": 0,
        "preparingNodeCount": 0,
        "leavingNodeCount": 0,
    }
    assert instant(cluster.properties["allocationStateTransitionTime"]) > instant(
        before["allocationStateTransitionTime"]
    )


def test_a_put_of_an_existing_cluster_is_an_update_of_what_patch_may_change(own_place):
    cluster = own_place.cluster(nodes=1)
    reply = cluster.call(
        "PUT", body=cluster_body(2, scaleSettings={"manual": {"nodeDeallocationOption": "terminate"}})
    )
    assert reply.status == 200
    manual = reply.json["properties"]["scaleSettings"]["manual"]
    assert manual == {"targetNodeCount": 2, "nodeDeallocationOption": "terminate"}
    cluster.wait_steady(2)


def test_a_patch_keeps_what_it_does_not_mention(own_place):
    cluster = own_place.cluster(nodes=1, scaleSettings={"manual": {"nodeDeallocationOption": "terminate"}})
    reply = cluster.call("PATCH", body={"properties": {}}, expect=200)
    assert reply.json["properties"]["scaleSettings"]["manual"]["targetNodeCount"] == 1
    assert cluster.properties["vmSize"] == "STANDARD_D1"


def test_nodes_have_the_names_of_the_service_and_ports_of_their_own(own_place):
    cluster = own_place.cluster(nodes=3)
    logins = cluster.call("POST", "/listRemoteLoginInformation", expect=200).json["value"]
    assert [list(login) for login in logins] == [["nodeId", "ipAddress", "port"]] * 3
    assert len({login["port"] for login in logins}) == 3
    assert len({login["nodeId"] for login in logins}) == 3
    for i, login in enumerate(logins, 1):
        assert re.fullmatch(rf"tvm-\d{{9,10}}_{i}-\d{{8}}t\d{{6}}z", login["nodeId"])
    low = own_place.cluster(nodes=1, vmPriority="lowpriority")
    (login,) = low.call("POST", "/listRemoteLoginInformation").json["value"]
    assert login["nodeId"].endswith("z-p")


def test_a_running_job_shows_in_the_counts(own_place):
    cluster = own_place.cluster(nodes=2)
    job, flag = busy(own_place, cluster)
    job.wait("running")
    counts = cluster.counts()
    assert (counts["runningNodeCount"], counts["idleNodeCount"]) == (1, 1)
    flag.touch()
    job.succeed()
    wait_for(lambda: cluster.counts()["idleNodeCount"] == 2, what="both nodes idle again")


def test_shrinking_with_requeue_puts_the_job_back_and_runs_it_again_later(own_place):
    cluster = own_place.cluster(nodes=1)
    flag, path = own_place.flag(fresh("flag"))
    runs = own_place.share() / fresh("runs")
    job = own_place.job(cluster, f"echo run >> {MOUNT}/{runs.name}; {wait_flag(path)}").running()
    wait_for(runs.exists, what="the first run")
    cluster.resize(0, "requeue")
    assert "executionInfo" not in job.wait("queued")
    cluster.wait_steady(0)
    flag.touch()
    cluster.resize(1)
    job.succeed()
    assert runs.read_text() == "run\nrun\n"


def test_shrinking_with_terminate_ends_the_job(own_place):
    cluster = own_place.cluster(nodes=1)
    job, _ = busy(own_place, cluster)
    job.wait("running")
    cluster.resize(0, "terminate")
    assert job.fail()["executionInfo"]["errors"], "it says why"
    cluster.wait_steady(0)


def test_shrinking_can_wait_for_the_job(own_place):
    cluster = own_place.cluster(nodes=1)
    job, flag = busy(own_place, cluster)
    job.wait("running")
    cluster.resize(0, "waitforjobcompletion")
    wait_for(lambda: cluster.properties["allocationState"] == "resizing", what="resizing")
    assert job.state == "running"
    flag.touch()
    job.succeed()
    cluster.wait_steady(0)


def test_shrinking_takes_idle_nodes_before_busy_ones(own_place):
    cluster = own_place.cluster(nodes=3)
    job, flag = busy(own_place, cluster)
    job.wait("running")
    cluster.resize(1, "requeue")
    wait_for(lambda: cluster.properties["currentNodeCount"] == 1, what="two idle nodes to go")
    assert job.state == "running"
    flag.touch()
    job.succeed()


@pytest.fixture(scope="module")
def quick_scaler():
    """A daemon whose automatically scaled nodes are let go at once when idle."""
    with Daemon(config={"local": {"autoscale_idle_s": 0}}) as d:
        p = Place(d).make()
        yield p
        p.remove()


def test_automatic_scaling_follows_the_queue_up_and_down(quick_scaler):
    place = quick_scaler
    auto = {"minimumNodeCount": 0, "maximumNodeCount": 3}
    cluster = place.cluster(nodes=0, scaleSettings={"manual": None, "autoScale": auto}, steady=False)
    cluster.wait_steady(0)
    jobs = [busy(place, cluster) for _ in range(5)]
    wait_for(lambda: cluster.counts()["runningNodeCount"] == 3, what=lambda: json.dumps(cluster.properties))
    assert cluster.properties["currentNodeCount"] == 3, "never more than the maximum"
    for job, flag in jobs:
        flag.touch()
    for job, _ in jobs:
        job.succeed()
    cluster.wait_steady(0)


def test_automatic_scaling_makes_room_for_a_gang(quick_scaler):
    auto = {"minimumNodeCount": 1, "maximumNodeCount": 4}
    cluster = quick_scaler.cluster(nodes=1, scaleSettings={"manual": None, "autoScale": auto})
    quick_scaler.job(cluster, nodes=3).succeed()
    cluster.wait_steady(1)


def test_automatic_scaling_starts_with_the_initial_count(quick_scaler):
    auto = {"minimumNodeCount": 0, "maximumNodeCount": 4, "initialNodeCount": 2}
    cluster = quick_scaler.cluster(nodes=0, scaleSettings={"manual": None, "autoScale": auto}, steady=False)
    wait_for(lambda: cluster.properties["currentNodeCount"] == 2, what="the initial nodes")


def test_from_manual_to_automatic_and_back(quick_scaler):
    cluster = quick_scaler.cluster(nodes=2)
    reply = cluster.scale(autoScale={"minimumNodeCount": 0, "maximumNodeCount": 2}).json["properties"]
    assert "manual" not in reply["scaleSettings"]
    cluster.wait_steady(0)
    reply = cluster.resize(1).json["properties"]
    assert "autoScale" not in reply["scaleSettings"]
    cluster.wait_steady(1)


def test_jobs_survive_their_cluster(own_place):
    cluster = own_place.cluster(nodes=1)
    done = own_place.job(cluster, "echo kept").succeeded()
    running, _ = busy(own_place, cluster)
    running.wait("running")
    cluster.delete()
    assert cluster.gone()
    assert done.state == "succeeded" and done.read("stdout.txt") == "kept\n"
    p = running.wait()
    assert p["executionState"] == "failed" and p["executionInfo"]["errors"]
    own_place.daemon.wait_operation(cluster.call("PUT", body=cluster_body(1), expect=202))
    cluster.wait_steady(1)
    assert instant(cluster.properties["creationTime"]) > instant(done.properties["creationTime"])


def test_a_setup_task_runs_on_each_node_before_any_job(own_place):
    out = own_place.share()
    marks = fresh("setup")
    cluster = own_place.cluster(
        nodes=2,
        nodeSetup={
            "setupTask": {
                "commandLine": f"echo done >> {MOUNT}/{marks}; echo told; test $TOKEN = open",
                "environmentVariables": [{"name": "X", "value": "1"}],
                "secrets": [{"name": "TOKEN", "value": "open"}],
                "stdOutErrPathPrefix": MOUNT,
            }
        },
    )
    assert (out / marks).read_text() == "done\ndone\n"
    suffix = cluster.properties["nodeSetup"]["setupTask"]["stdOutErrPathSuffix"]
    nodes = {n["nodeId"] for n in cluster.call("POST", "/listRemoteLoginInformation").json["value"]}
    names = {p.name for p in (out / suffix).iterdir()}
    assert {f"stdout-{n}.txt" for n in nodes} | {f"stderr-{n}.txt" for n in nodes} <= names
    assert {(out / suffix / f"stdout-{n}.txt").read_text() for n in nodes} == {"told\n"}


def test_a_failing_setup_task_explains_itself(own_place):
    task = {"commandLine": "echo 'no such disk' >&2; exit 9", "stdOutErrPathPrefix": MOUNT}
    own_place.daemon.expect_log(r"node\.|setup|pool\.")
    cluster = own_place.cluster(nodes=1, nodeSetup={"setupTask": task}, steady=False)
    wait_for(lambda: cluster.counts()["unusableNodeCount"] == 1, what=lambda: json.dumps(cluster.properties))
    (error,) = cluster.properties["errors"][:1]
    details = {d["name"]: d["value"] for d in error["details"]}
    text = json.dumps(error)
    (node,) = cluster.call("POST", "/listRemoteLoginInformation").json["value"] or [{"nodeId": "tvm-"}]
    assert node["nodeId"] in text and "9" in text and "no such disk" in text, details


def test_nodes_work_where_the_state_directory_is_reached_through_a_link(own_daemon, tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    place = Place(own_daemon(state_dir=tmp_path / "link")).make()
    place.job(place.cluster(nodes=1)).succeed()
    assert (tmp_path / "real" / "state" / "batchaid.db").exists()


# --- how new clusters are shown -------------------------------------------------------------------


def test_nothing_waits_for_a_new_cluster_that_is_shown_resizing(own_daemon):
    place = Place(own_daemon(config={"compat": {"resizing_s": 3600}})).make()
    cluster = place.cluster(nodes=1, steady=False)  # its operation has succeeded
    place.job(cluster).succeed()
    wait_for(lambda: cluster.counts()["idleNodeCount"] == 1, what="the node to be idle again")
    p = cluster.properties
    assert p["allocationState"] == "resizing", p
    assert p["allocationStateTransitionTime"] == p["creationTime"]
    assert p["currentNodeCount"] == 1 == sum(p["nodeStateCounts"].values()), "counts are as they are"
    listed = place.daemon.get(place.path + "/clusters")["value"]
    assert [c["properties"]["allocationState"] for c in listed] == ["resizing"]


@pytest.mark.parametrize("compat, least", [({"resizing_s": 2}, 2), ({"resizing_s": 1, "retry_after_s": 2}, 4)])
def test_a_new_cluster_is_shown_resizing_for_a_while(own_daemon, compat, least):
    place = Place(own_daemon(config={"compat": compat})).make()
    began = time.monotonic()
    cluster = place.cluster(nodes=0, steady=False)
    assert cluster.properties["allocationState"] == "resizing"
    cluster.wait_steady(0)
    assert time.monotonic() - began >= least


def test_after_a_restart_no_cluster_is_new(own_daemon):
    d = own_daemon(config={"compat": {"resizing_s": 3600}})
    cluster = Place(d).make().cluster(nodes=0, steady=False)
    assert cluster.properties["allocationState"] == "resizing"
    d.restart()
    cluster.wait_steady(0)
