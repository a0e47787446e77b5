# SPDX-License-Identifier: MIT
"""kill -9 of the daemon right after each acknowledged step of a walkthrough: after the restart what
was acknowledged is there, and what was under way goes on by itself."""

import json
import os
import signal
from datetime import datetime, timedelta, timezone

import pytest
from support.daemon import children
from support.waiting import wait_for
from support.world import MOUNT, Place, cluster_body, instant, job_body, wait_flag


@pytest.fixture
def d(own_daemon):
    return own_daemon()


def crash(d):
    d.crash()


def test_a_walkthrough_survives_a_kill_after_every_step(d):
    place = Place(d, "group", "ws")
    cluster, job, other = place.cluster_at("c"), place.job_at("j"), place.job_at("other")
    runs, flag = place.share() / "runs", place.share() / "flag"

    d.call("PUT", place.group_path, {"location": "eastus", "tags": {"a": "b"}}, expect=201)
    crash(d)
    assert d.get(place.group_path)["tags"] == {"a": "b"}

    created = d.call("PUT", place.path, {"location": "eastus"}, expect=200).json
    crash(d)
    assert d.get(place.path) == created

    reply = cluster.call("PUT", body=cluster_body(2), expect=202)
    crash(d)
    assert d.wait_operation(reply)["status"] == "Succeeded"
    cluster.wait_steady(2)

    d.call("PUT", place.experiment_path(), expect=200)
    crash(d)
    assert d.get(place.experiment_path())["name"] == "exp"

    body = job_body(
        cluster.path, f"echo run >> {MOUNT}/runs; echo out; {wait_flag(MOUNT + '/flag')}; echo end; exit 7"
    )
    reply = job.call("PUT", body=body, expect=202)
    crash(d)
    assert d.wait_operation(reply)["status"] == "Succeeded"
    job.wait("running")
    wait_for(runs.exists, what="the job to start")

    crash(d)
    assert job.state == "running" and cluster.counts()["runningNodeCount"] == 1

    flag.touch()
    crash(d)
    assert job.fail()["executionInfo"]["exitCode"] == 7
    assert runs.read_text() == "run\n", "it ran once"
    assert job.read("stdout.txt") == "out\nend\n"

    before = job.get()
    crash(d)
    assert job.get() == before

    reply = other.call("PUT", body=job_body(cluster.path, "sleep 1000"), expect=202)
    d.wait_operation(reply)
    other.wait("running")
    reply = other.call("POST", "/terminate", expect=202)
    crash(d)
    assert d.wait_operation(reply)["status"] == "Succeeded"
    assert other.fail()["executionInfo"]["errors"][0]["code"] == "JobTerminated"

    reply = cluster.resize(4)
    crash(d)
    assert cluster.properties["scaleSettings"]["manual"]["targetNodeCount"] == 4
    assert cluster.call("GET").headers["ETag"] == reply.headers["ETag"]
    cluster.wait_steady(4)
    cluster.resize(1)
    crash(d)
    cluster.wait_steady(1)

    for thing in (other, job, cluster):
        reply = thing.call("DELETE", expect=202)
        crash(d)
        assert d.wait_operation(reply)["status"] == "Succeeded"
        assert thing.gone()

    d.call("DELETE", place.group_path, expect=202)
    crash(d)
    wait_for(lambda: d.call("HEAD", place.group_path).status == 404, 30, "the group to go")
    assert runs.read_text() == "run\n"


def test_output_and_exit_code_of_a_job_arrive_although_it_ended_while_the_daemon_was_dead(d):
    place = Place(d).make()
    cluster = place.cluster(nodes=1)
    flag, path = place.flag("flag")
    done = place.share() / "done"
    job = place.job(
        cluster, f"echo run >> {MOUNT}/runs; {wait_flag(path)}; echo last words; touch {MOUNT}/done; exit 5"
    )
    # "running" may come before the node has heard of it.
    wait_for((place.share() / "runs").exists, what="the command to begin")
    d.kill9()
    flag.touch()
    wait_for(done.exists, what="the job to end by itself")
    d.start()
    assert job.fail()["executionInfo"]["exitCode"] == 5
    assert job.read("stdout.txt") == "last words\n"
    assert (place.share() / "runs").read_text() == "run\n"
    wait_for(lambda: cluster.counts()["idleNodeCount"] == 1, what="the node to be idle")


def test_a_multi_node_job_and_its_preparation_survive(d):
    place = Place(d).make()
    cluster = place.cluster(nodes=3)
    flag, path = place.flag("flag")
    job = place.job(
        cluster,
        f"echo run >> {MOUNT}/runs",
        nodes=3,
        jobPreparation={"commandLine": f"echo prep >> {MOUNT}/preps; {wait_flag(path)}"},
    )
    preps = place.share() / "preps"
    wait_for(lambda: preps.exists() and len(preps.read_text().split()) == 3, what="three preparations")
    crash(d)
    flag.touch()
    job.succeed()
    assert preps.read_text() == "prep\n" * 3
    assert (place.share() / "runs").read_text() == "run\n"


def test_the_wall_clock_limit_counts_on_over_a_restart(d):
    place = Place(d).make()
    job = place.job(place.cluster(nodes=1), "sleep 1000", constraints={"maxWallClockTime": "PT2S"})
    start = job.wait("running")["executionInfo"]["startTime"]
    crash(d)
    info = job.fail()["executionInfo"]
    assert info["startTime"] == start and info["errors"]


def test_a_job_that_ended_within_its_limit_has_ended_well_although_nobody_looked(d):
    place = Place(d).make()
    flag, path = place.flag("flag")
    done = place.share() / "done"
    job = place.job(
        place.cluster(nodes=1), f"{wait_flag(path)}; touch {MOUNT}/done", constraints={"maxWallClockTime": "PT4S"}
    )
    start = instant(job.wait("running")["executionInfo"]["startTime"])
    d.kill9()
    flag.touch()
    wait_for(done.exists, what="the job to end by itself")
    wait_for(lambda: datetime.now(timezone.utc) > start + timedelta(seconds=4.5), what="its limit to pass")
    d.start()
    assert job.succeed()["executionInfo"]["exitCode"] == 0


def test_directories_of_no_job_are_removed_however_many_there_are(d):
    place = Place(d).make()
    cluster = place.cluster(nodes=1)
    place.job(cluster, "true").succeed()
    (folder,) = d.state_dir.glob("nodes/*/jobs")
    d.kill9()
    for n in range(450):
        (folder / f"left-{n}").mkdir()
    d.start()
    wait_for(lambda: not list(folder.glob("left-*")), 30, "the directories to be removed")


# --- the node side --------------------------------------------------------------------------------


def test_kill_9_of_the_agent_does_not_touch_the_job(d):
    d.expect_log(r"node|link|agent")
    place = Place(d).make()
    cluster = place.cluster(nodes=1)
    flag, path = place.flag("flag")
    job = place.job(cluster, f"echo run >> {MOUNT}/runs; {wait_flag(path)}; echo done; exit 3")
    job.wait("running")
    wait_for((place.share() / "runs").exists, what="the job to start")
    agents = children(d.process.pid)
    assert agents, "the agent is a child of the daemon"
    for pid in agents:
        os.kill(pid, signal.SIGKILL)
    wait_for(lambda: set(children(d.process.pid)) - set(agents), what="a new agent")
    flag.touch()
    p = job.fail()
    assert p["executionInfo"]["exitCode"] == 3, json.dumps(p)
    assert job.read("stdout.txt") == "done\n"
    assert (place.share() / "runs").read_text() == "run\n"
    place.job(cluster).succeed()


def test_kill_9_of_the_agent_and_the_daemon_does_not_touch_the_job(d):
    place = Place(d).make()
    cluster = place.cluster(nodes=1)
    flag, path = place.flag("flag")
    job = place.job(cluster, f"echo run >> {MOUNT}/runs; {wait_flag(path)}; exit 4").running()
    wait_for((place.share() / "runs").exists, what="the job to start")
    agents = children(d.process.pid)
    d.kill9()
    for pid in agents:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass  # it ended with its daemon, as it may
    d.start()
    flag.touch()
    assert job.fail()["executionInfo"]["exitCode"] == 4
    assert (place.share() / "runs").read_text() == "run\n"


# --- deletion -------------------------------------------------------------------------------------


@pytest.mark.parametrize("hurry", [True, False], ids=["killed at once", "killed once it works on it"])
def test_a_cascade_interrupted_by_kill_9_completes_by_itself(d, hurry):
    place = Place(d).make()
    cluster = place.cluster(nodes=3)
    jobs = [place.job(cluster, "trap '' TERM; sleep 1000 & wait; sleep 1000") for _ in range(3)]
    jobs += [place.job(cluster, experiment="second") for _ in range(20)]
    place.file_server()
    jobs[2].wait("running")
    reply = d.call("DELETE", place.group_path, api_version="2021-04-01", expect=202)
    if not hurry:
        wait_for(lambda: jobs[-1].gone(), what="the first jobs to go")
    crash(d)
    wait_for(lambda: d.call("HEAD", place.group_path).status == 404, 30, "the group to go")
    assert d.call("GET", reply.headers["Location"]).status == 200
    place.make()
    assert d.get(place.path + "/clusters") == {"value": []}
    assert d.get(place.path + "/experiments") == {"value": []}
