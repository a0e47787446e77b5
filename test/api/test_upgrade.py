# SPDX-License-Identifier: MIT
"""State directories of older builds: every resource is told as before, and what was begun goes on."""

import pytest
from support import old_state
from support.waiting import wait_for
from support.world import Place

# What the journeys below may say; a machine that refuses connections is part of the fixture.
MACHINE = r"127\.0\.0\.[12]:1\b"
TAKEN = sorted(p.name for p in old_state.FIXTURES.iterdir() if (p / "state.sql").exists())


@pytest.fixture(params=TAKEN)
def old(request, own_daemon):
    """(daemon that was not started yet, stored replies) on the state directory of an older build."""
    d = own_daemon(start=False, config=old_state.CONFIG)
    replies = old_state.restore(request.param, d.state_dir)
    d.tool("keygen")
    d.expect_log(MACHINE)
    return d, replies


def same(before, now):
    """The first differences, as texts."""
    found = [f"{key}: gone" for key in before if key not in now]
    found += [f"{key}: new" for key in now if key not in before]
    found += [f"{key}:\n{before[key]}\n{now[key]}" for key in before if key in now and before[key] != now[key]]
    return found[:3]


def with_subnets(value):
    """The one thing that is told otherwise since schema 4: a file server is in a subnet of its own, named
    after its guid, when none was asked for."""
    if isinstance(value, list):
        return [with_subnets(v) for v in value]
    if not isinstance(value, dict):
        return value
    value = {k: with_subnets(v) for k, v in value.items()}
    if value.get("type") == "Microsoft.BatchAI/workspaces/fileservers":
        guid = value["properties"]["mountSettings"]["mountPoint"].rsplit("/", 1)[1]
        subnet = f"/resourceGroups/fileserverrg-{guid}/providers/Microsoft.Network/virtualNetworks/{guid}vnet"
        scope = "/".join(value["id"].split("/")[:3])
        value["properties"].setdefault("subnet", {"id": f"{scope}{subnet}/subnets/Subnet-1"})
    return value


def of_nodes(replies):
    """Without the machines that nobody has: what is wrong with them is in memory only."""
    nodes = {k: v for k, v in replies["nodes"]["json"].items() if v["node"]}
    return {**replies, "nodes": nodes}


def without_storage(replies):
    """Without the group of storage accounts that are mounted: older builds had no rows for them."""
    name = "batchaid-implicit"
    kept = {k: v for k, v in replies.items() if f"/resourceGroups/{name}" not in k}
    for key, reply in kept.items():
        value = reply["json"].get("value") if isinstance(reply.get("json"), dict) else None
        if isinstance(value, list):
            listed = [v for v in value if not (isinstance(v, dict) and v.get("name") == name)]
            kept[key] = {**reply, "json": {**reply["json"], "value": listed}}
    return kept


def test_every_resource_is_told_as_before(old, tmp_path):
    """The agents never answer, so that the scheduler cannot take a step before the replies are in."""
    d, before = old
    mute = tmp_path / "agent"
    mute.write_text("#!/bin/sh\nexec cat > /dev/null\n")
    mute.chmod(0o755)
    d.environment["BATCHAI_NODE"] = str(mute)
    d.start()
    now = old_state.replies_again(d, before)
    d.kill9()
    assert same(with_subnets(of_nodes(before)), without_storage(of_nodes(now))) == []


def test_what_was_begun_goes_on(old):
    d, _ = old
    tasks = old_state.revive(d.state_dir)
    assert len(tasks) >= 9
    d.start()
    place = Place(d, "Demo", "Work")
    # What was asked for before: the stop of one job, the end of another, of a cluster and of a group.
    assert place.job_at("terminating").fail()["executionInfo"]["errors"][0]["code"] == "JobTerminated"
    wait_for(place.job_at("deleting").gone, 30, "the job that was being deleted to go")
    wait_for(place.cluster_at("gone").gone, 30, "the cluster that was being deleted to go")
    wait_for(lambda: d.call("HEAD", Place(d, "doomed").group_path).status == 404, 30, "the group to go")
    assert place.job_at("orphan").state == place.job_at("behind").state == "failed"
    # What ran runs on, each under the name that it was started by.
    for name in ("one", "two", "scaled"):
        assert place.job_at(name).state == "running"
    share = place.share()
    (share / "go").touch()
    assert place.job_at("requeued").state == "queued"  # of two nodes, one of which left
    place.cluster_at("shrink").resize(2)
    for name in ("one", "two", "scaled", "requeued", "sooner", "soon", "later"):
        assert place.job_at(name).succeed()["executionInfo"]["exitCode"] == 0
    for process in tasks.values():
        process.wait(30)
    for name, nodes in {"run": 3, "shrink": 2, "stop": 1, "ends": 2}.items():
        place.cluster_at(name).wait_steady(nodes)


def test_no_task_is_started_again(old):
    """The command of each stored task writes to standard error once; the job's own would too."""
    d, _ = old
    tasks = old_state.revive(d.state_dir)
    d.start()
    place = Place(d, "Demo", "Work")
    (place.share() / "go").touch()
    assert place.job_at("one").succeed()
    assert "went on" in place.job_at("one").read("stderr.txt")
    assert "one went on" not in place.job_at("one").read("stdout.txt")
    for process in tasks.values():
        process.wait(30)
