# SPDX-License-Identifier: MIT
"""Automatic scaling: between the bounds, for what waits, and never at the cost of what runs."""

import pytest
from support.daemon import Daemon
from support.world import Place, fresh, wait_flag, wait_for

CONFIG = {"local": {"fake_gpus": 4, "slots": 4, "nodes": 6, "autoscale_idle_s": 1}}
ONE_GPU = {"environmentVariables": [{"name": "BATCHAID_JOB_GPUS", "value": "1"}]}


@pytest.fixture(scope="module")
def place():
    with Daemon(CONFIG) as d:
        yield Place(d).make()


@pytest.fixture
def flag(place):
    host, inside = place.flag(fresh("flag"))
    yield host, wait_flag(inside)
    host.touch()


def automatic(place, least, most, initial=None):
    scale = {"minimumNodeCount": least, "maximumNodeCount": most}
    if initial is not None:
        scale["initialNodeCount"] = initial
    return place.cluster(least, steady=False, scaleSettings={"manual": None, "autoScale": scale})


def nodes(cluster):
    return cluster.properties["currentNodeCount"]


def adds_up(cluster):
    p = cluster.properties
    assert sum(p["nodeStateCounts"].values()) == p["currentNodeCount"], p
    return p


def reasons(place, cluster):
    events, since = [], 0
    while page := place.daemon.call("GET", "/batchaid/events", api_version=None, params={"since": since, "max": 1000}).json["value"]:
        events += page
        since = page[-1]["sequence"]
    return [e["reason"] for e in events if e["kind"] == "cluster" and e["name"] == cluster.name and "reason" in e]


def test_parts_of_nodes_count_as_parts(place, flag):
    host, until = flag
    cluster = automatic(place, 0, 4)
    jobs = [place.job(cluster, until, **ONE_GPU) for _ in range(8)]
    for job in jobs:
        job.wait("running")
        assert adds_up(cluster)["currentNodeCount"] <= 2
    host.touch()
    for job in jobs:
        job.succeed()
    wait_for(lambda: nodes(cluster) == 0, 30, "all nodes to go")
    said = reasons(place, cluster)
    assert any("the jobs that wait want" in why for why in said) and any("less: idle for 1 s" in why for why in said)


def test_what_runs_is_not_ended_to_scale_down(place, flag):
    host, until = flag
    cluster = automatic(place, 0, 3)
    jobs = [place.job(cluster, until) for _ in range(2)]
    for job in jobs:
        job.wait("running")
    cluster.scale(autoScale={"minimumNodeCount": 0, "maximumNodeCount": 1})
    assert adds_up(cluster)["currentNodeCount"] == 2
    host.touch()
    for job in jobs:
        job.succeed()
    assert all(job.get()["properties"]["executionInfo"].get("exitCode") == 0 for job in jobs)
    wait_for(lambda: nodes(cluster) == 0, 30, "all nodes to go")


def test_from_automatic_to_manual_and_back_in_mid_resize(place, flag):
    host, until = flag
    cluster = automatic(place, 1, 4, initial=2)
    wait_for(lambda: nodes(cluster) == 2, 30, "as many nodes as are wanted at first")
    running = place.job(cluster, until).running()
    cluster.resize(4)
    cluster.scale(autoScale={"minimumNodeCount": 1, "maximumNodeCount": 4})
    cluster.resize(3)
    cluster.scale(autoScale={"minimumNodeCount": 2, "maximumNodeCount": 4})
    wait_for(lambda: adds_up(cluster)["currentNodeCount"] == 2, 30, "the minimum")
    assert running.state == "running" and "autoScale" in cluster.properties["scaleSettings"]
    host.touch()
    running.succeed()
    cluster.wait_steady(2)
