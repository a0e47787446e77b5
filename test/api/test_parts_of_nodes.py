# SPDX-License-Identifier: MIT
"""Jobs that take a part of each node: asked for by reserved variables, on fake GPUs."""

import os

import pytest
from support.daemon import Daemon
from support.refusals import INVALID, refused
from support.waiting import wait_for
from support.world import Place, fresh, job_body, wait_flag, wishes

ENV = "properties.environmentVariables"


@pytest.fixture(scope="module")
def gpu_place():
    """On a daemon whose local nodes seem to have four GPUs."""
    with Daemon(config={"local": {"fake_gpus": 4, "slots": 4}}) as d:
        yield Place(d).make()


@pytest.fixture(scope="module")
def one_node(gpu_place):
    return gpu_place.cluster(nodes=1)


def running(place, cluster, **more):
    """A job that runs until its flag is there; it says first which GPUs it has."""
    flag, path = place.flag(fresh("flag"))
    command = f"echo $CUDA_VISIBLE_DEVICES $AZ_BATCHAI_NUM_GPUS; env | grep BATCHAID_JOB; {wait_flag(path)}"
    job = place.job(cluster, command, environmentVariables=wishes(**more))
    job.flag = flag
    return job


def end(job):
    job.flag.touch()
    job.succeed()
    return job.read("stdout.txt").splitlines()


def test_jobs_share_a_node_and_have_gpus_of_their_own(gpu_place, one_node):
    a, b = running(gpu_place, one_node, GPUS=1), running(gpu_place, one_node, GPUS=2)
    for job in a, b:
        job.wait("running")
    more = running(gpu_place, one_node, GPUS=2)
    whole = gpu_place.job(one_node, "echo $AZ_BATCHAI_NUM_GPUS ${CUDA_VISIBLE_DEVICES-all}")
    assert more.properties["executionState"] == "queued"
    assert end(a) == ["0 1"]
    more.wait("running")
    assert end(b) == ["1,2 2"]
    assert whole.properties["executionState"] == "queued"
    assert end(more) == ["0,3 2"]
    whole.succeed()
    assert whole.read("stdout.txt") == "4 all\n"


def test_the_variables_are_shown_as_they_were_sent_and_the_same_put_again_changes_nothing(gpu_place, one_node):
    env = [{"name": "A", "value": "1"}] + wishes(SLOTS=2, MEMORY="64M", CORES=1)
    job = gpu_place.job(one_node, "env", environmentVariables=env)
    assert job.properties["environmentVariables"] == env
    job.succeed()
    said = job.read("stdout.txt")
    assert "A=1\n" in said and "BATCHAID_JOB" not in said
    again = gpu_place.job(one_node, "env", name=job.name, environmentVariables=env)
    assert again.properties["executionState"] == "succeeded"


@pytest.mark.parametrize("env, at, says", [
    (wishes(GPUS="two"), f"{ENV}[0].value", 'is "two"; BATCHAID_JOB_GPUS must be a whole number from 0 to 1024'),
    ([{"name": "A", "value": "1"}] + wishes(MEMORY="4096"), f"{ENV}[1].value", "must be a number with a unit"),
    (wishes(GPU=1), f"{ENV}[0].name", "must be one of BATCHAID_JOB_GPUS"),
    (wishes(GPUS=5), ENV, "ask for 5 GPUs of each node"),
    (wishes(SLOTS=5), ENV, "the most is 4 slots, 4 GPUs"),
    (wishes(CORES=100000), ENV, "100000 cores"),
    (wishes(MEMORY="1024T"), ENV, "1024 TiB of memory"),
])
def test_what_cannot_be_is_refused_with_what_would_be_right(gpu_place, one_node, env, at, says):
    gpu_place.experiment()
    body = job_body(one_node.path, environmentVariables=env)
    refused(gpu_place.job_at(fresh("bad")).call("PUT", body=body), 400, INVALID, at, [says])


def test_memory_is_limited_to_what_was_asked_for(gpu_place, one_node):
    grab = "python3 -c 'b = bytearray(900 << 20); print(len(b))'"
    job = gpu_place.job(one_node, grab, environmentVariables=wishes(MEMORY="300M"))
    assert job.fail()["executionInfo"]["exitCode"] != 0
    gpu_place.job(one_node, grab, environmentVariables=wishes(SLOTS=1)).succeed()


def test_a_job_has_the_time_between_the_signals_that_it_asked_for(gpu_place, one_node):
    command = "trap '' TERM; echo ready > ready; while :; do sleep 0.1; done"
    job = gpu_place.job(one_node, command, environmentVariables=wishes(GRACE=0)).running()
    wait_for(lambda: any(f["name"] == "stdout.txt" for f in job.files()), 30, "its output")
    job.terminate()
    wait_for(lambda: job.state == "failed", 4, "the end")
    slow = gpu_place.job(
        one_node,
        "trap 'sleep 6; echo saved; exit 0' TERM; echo up; while :; do sleep 0.1; done",
        environmentVariables=wishes(GRACE=60),
    )
    wait_for(lambda: any(f["name"] == "stdout.txt" for f in slow.files()), 30, "its output")
    wait_for(lambda: "up" in slow.read("stdout.txt"), 30, "its first line")
    slow.terminate()
    wait_for(lambda: slow.state == "failed", 30, "the end")
    assert "saved" in slow.read("stdout.txt")


def test_nodes_shows_what_is_taken_of_each_and_that_its_gpus_are_fake(gpu_place, one_node):
    d = gpu_place.daemon
    job = running(gpu_place, one_node, GPUS=3, SLOTS=2, MEMORY="1G")
    job.wait("running")
    listed = d.call("GET", "/batchaid/nodes", api_version=None, expect=200).json["value"]
    (node,) = [n for n in listed if n["cluster"] == one_node.name]
    cores = len(os.sched_getaffinity(0))
    assert node["capacity"] == {"slots": 4, "gpus": 4, "cores": cores, "memoryBytes": node["facts"]["memoryBytes"]}
    assert node["taken"] == {"slots": 2, "gpus": 3, "cores": 0, "memoryBytes": 1 << 30}
    assert [g["fake"] for g in node["facts"]["gpus"]] == [True] * 4
    table = d.tool("nodes", node["name"]).stdout
    assert " 2/4 " in table and " 1.0G/" in table and "4 x fake GPU, 3 taken" in table, table
    end(job)
    wait_for(lambda: "3 taken" not in d.tool("nodes", node["name"]).stdout, 30, "its part to be given back")


def test_what_turns_out_to_fit_no_node_waits_says_why_and_lets_others_go_ahead():
    with Daemon(config={"local": {"fake_gpus": 2}}) as d:
        place = Place(d).make()
        cluster = place.cluster(nodes=0)  # nothing is known of its nodes yet
        large = place.job(cluster, environmentVariables=wishes(GPUS=9))
        small = place.job(cluster, environmentVariables=wishes(GPUS=2))
        cluster.resize(1)
        small.succeed()
        assert large.state == "queued"
        line = f"it needs 9 GPUs of each node, but no node of cluster {cluster.name} has that much"
        wait_for(lambda: any(large.name in text and line in text for text in d.log()), 30, "the reason")
        place.job(cluster, environmentVariables=wishes(GPUS=1)).succeed()
        large.terminate()
        large.fail()
