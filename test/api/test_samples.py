# SPDX-License-Identifier: MIT
"""Samples of machines and GPUs: in the list of nodes, in their history, in the record of use. The GPUs
are those of a program `nvidia-smi` that prints what a test wants."""

import re
import time

import pytest
from support.gpus import Gpus
from support.people import Person
from support.waiting import wait_for
from support.world import Place, wait_flag


@pytest.fixture
def gpus(tmp_path):
    return Gpus(tmp_path)


@pytest.fixture
def sampled(own_daemon, gpus):
    """(a daemon whose one local node has three GPUs, its place)"""
    d = own_daemon(config={"local": {"nodes": 1, "fake_gpus": 3}}, environment={"PATH": gpus.path})
    return d, Place(d).make()


def nodes(d, **more):
    return d.call("GET", "/batchaid/nodes", api_version=None, **more).json["value"]


def samples(d, expect=200, **params):
    return d.call("GET", "/batchaid/samples", api_version=None, params=params, expect=expect).json


def with_gpus(d):
    """The node, once its GPUs were sampled."""
    return wait_for(lambda: (n := nodes(d)[0]) and any("busyPermille" in g for g in n.get("gpus", [])) and n, 60)


def test_nodes_show_the_machine_and_each_gpu(sampled, gpus):
    d, place = sampled
    place.cluster(1)
    node = with_gpus(d)
    machine = node["sample"]
    assert 0 < machine["memoryUsedBytes"] < machine["memoryBytes"]
    assert 0 < machine["diskFreeBytes"] < machine["diskBytes"] and 0 <= machine["cpuPermille"] <= 1000
    busy, idle, mig = node["gpus"]
    assert [g["state"] for g in node["gpus"]] == ["busy", "free", "free"]
    assert busy["outside"] is True and "outside" not in idle, "no job has it, and it works"
    board = wait_for(lambda: (b := d.call("GET", "/batchaid/gpus", api_version=None).json)["counts"]["outside"] and b, 10)
    assert board["value"] == [{"node": node["name"], "state": "idle", "cluster": node["cluster"], "gpus": "off"}]
    assert busy["busyPermille"] == 970 and busy["memoryUsedBytes"] == 60000 << 20 and busy["powerMilliwatts"] == 650100
    assert idle["busyPermille"] == 0 and idle["throttleReasons"] == 1
    assert "busyPermille" not in mig and "powerMilliwatts" not in mig and mig["memoryUsedBytes"] == 55 << 20
    listed = wait_for(lambda: nodes(d)[0]["gpus"][0].get("processList"), 60)
    assert listed == [{"pid": 4711, "memoryBytes": 59000 << 20}]
    line = d.tool("nodes").stdout
    assert "0 busy 97%, 1-2 free" in line and re.search(r"MEMORY +FREE +DISK +GPUS +USE", line)
    assert gpus.calls().count("--query-gpu") == 1, "one program, not one a sample"
    value = wait_for(lambda: (v := samples(d, node=node["name"])["value"]) and v[-1]["gpus"] and v, 30)
    assert value[-1]["gpus"][0]["busyPermille"] == 970 and value[0]["time"] < value[-1]["time"]
    first = samples(d, node=node["name"], max=1)
    assert len(first["value"]) == 1
    assert samples(d, node=node["name"], **{"from": first["next"]})["value"][0] == value[1]
    assert samples(d, node=node["name"], step="1h")["value"] == []


def test_a_job_s_gpus_are_busy_idle_and_unknown_in_its_record(sampled, gpus):
    d, place = sampled
    cluster = place.cluster(1)
    with_gpus(d)
    marker, inside = place.flag("go")
    begin = time.monotonic()
    job = place.job(cluster, wait_flag(inside)).running()
    wait_for(lambda: [g["state"] for g in nodes(d)[0]["gpus"]] == ["busy", "idle", "used"], 30, "states")
    seen = nodes(d)[0]["sample"]["time"]
    wait_for(lambda: nodes(d)[0]["sample"]["time"] > seen, 60, "another sample")
    marker.touch()
    job.succeed()
    path = f"/batchaid/usage/{place.group}/{place.workspace}/exp/{job.name}"
    used = wait_for(lambda: (u := d.call("GET", path, api_version=None).json["use"])["attempts"] and u)
    took = (time.monotonic() - begin) * 1000  # until the node was released, which its record includes
    busy, idle, unknown = (used[f"gpu{k}Milliseconds"] for k in ("Busy", "Idle", "Unknown"))
    assert busy + idle + unknown == used["gpuMilliseconds"]
    assert 0 < busy <= took and busy == idle and unknown >= busy


def test_a_program_that_says_nothing_useful_is_told_once(sampled, gpus):
    d, place = sampled
    gpus.says("No devices were found\n")
    (gpus.dir / "nvidia-smi").write_text("#!/bin/sh\ncat %s/says; exit 6\n" % gpus.dir)
    d.expect_log("node.gpus_not_sampled")
    place.cluster(1)
    wait_for(lambda: any("No devices were found" in line for line in d.log()), 60)
    node = nodes(d)[0]
    assert "sample" in node and all("busyPermille" not in g for g in node["gpus"])
    assert sum("node.gpus_not_sampled" in line for line in d.log()) == 1


def test_queries_are_judged_and_need_the_right_of_nodes(sampled):
    d, place = sampled
    for params, named in (
        ({}, "'node' is missing"),
        ({"node": "n", "step": "2h"}, "use 15s, 5m or 1h"),
        ({"node": "n", "from": "yesterday"}, "'yesterday' is not a valid time"),
        ({"node": "n", "max": "501"}, "max"),
    ):
        assert named in samples(d, expect=400, **params)["error"]["message"]
    assert samples(d, node="nowhere") == {"value": []}
    stranger = Person(d, role="none")
    d.call("GET", "/batchaid/samples", api_version=None, params={"node": "n"}, token=stranger.token(), expect=403)


def test_the_history_is_no_part_of_what_the_daemon_needs(own_daemon):
    d = own_daemon(start=False)
    d.state_dir.mkdir(parents=True, exist_ok=True)
    (d.state_dir / "samples.db").write_bytes(b"x" * 9000)
    d.expect_log("samples.damaged")
    d.start()
    assert samples(d, node="n") == {"value": []}
    assert (d.state_dir / "samples.db.damaged").read_bytes() == b"x" * 9000
    (d.state_dir / "samples.db").unlink()
    assert samples(d, node="n") == {"value": []}
    d.restart()
    assert samples(d, node="n") == {"value": []}


def test_no_samples_where_time_is_a_test_s(daemon, shared_cluster):
    assert all("sample" not in n for n in nodes(daemon)) or "--testing" not in daemon.arguments
