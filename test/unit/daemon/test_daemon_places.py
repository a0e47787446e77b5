# SPDX-License-Identifier: MIT
"""`batchaid submit`: on which machines a job may run, and so in which cluster."""
import json
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest
from fake_agent import node
from support.people import Person
from support.world import Cluster, fresh

from test_daemon_login import Laptop
from test_daemon_submit import Desk


@pytest.fixture
def place(own_daemon, tmp_path):
    """place((VM size or None, what it said of itself or None, setting=...), ...) -> a desk; nothing listens on the machines."""

    def make(*machines):
        groups = [{"hosts": f"127.0.0.{i}:1", "user": "nobody", "agent_socket": "/nowhere", **more} for i, (_, more) in enumerate(machines, 1)]
        d = own_daemon(config={"inventory": groups}, start=False)
        d.expect_log("node|machine|link|cluster|ssh|login")
        d.start()
        assert d.stop() == 0
        with closing(sqlite3.connect(d.state_dir / "batchaid.db")) as db, db:
            for i, (said, _) in enumerate(machines, 1):
                facts = json.dumps({**node(), **said}) if said else None
                db.execute("UPDATE machine SET facts = ?, contact_us = ? WHERE name = ?", (facts, 1 if said else 0, f"127.0.0.{i}:1"))
        d.start()
        return Desk(d, tmp_path / "project")

    return make


def gpus(n):
    return {"gpus": [{"index": i, "model": "x"} for i in range(n)]}


def cluster(desk, *wishes):
    """The cluster that a job with these wishes would be in, or why there is none."""
    done = desk.run("submit", "--dry-run", "--json", *wishes, "--", "true", check=False)
    return json.loads(done.stdout)["cluster"] if done.returncode == 0 else done.stderr


def test_cores_and_memory_choose_the_size(place):
    small, big = {"cpus": 16, "memory_bytes": 1 << 34}, {"cpus": 128, "memory_bytes": 1 << 40}
    desk = place((small, {"vm_sizes": ["SMALL"]}), (small, {"vm_sizes": ["SMALL"]}), (big, {"vm_sizes": ["BIG"]}))
    assert cluster(desk) == cluster(desk, "--cores", "16", "--memory", "16G") == "small"
    assert cluster(desk, "--cores", "17") == cluster(desk, "--memory", "17G") == "big"
    assert cluster(desk, "--cores", "200") == ("batchaid: none of the 3 machines can run it with 200 cores; `batchaid nodes` shows why, and "
                                               "--cluster NAME chooses an existing cluster\n")


def test_why_no_machine_is_left(place):
    desk = place((gpus(8), {}), (gpus(2), {"priority": "lowpriority"}))
    assert cluster(desk, "--gpus", "8") == "default"
    assert cluster(desk, "--gpus", "9") == ("batchaid: no machine has 9 GPUs: the most are 8, on 127.0.0.1:1; use --gpus 8, or more "
                                            "--nodes\n")
    desk.run("nodes", "drain", "127.0.0.1:1")
    why = "`batchaid nodes` shows why, and --cluster NAME chooses an existing cluster\n"
    assert cluster(desk, "--gpus", "2") == f"batchaid: none of the 2 machines can run it with 2 GPUs; {why}"
    assert cluster(desk) == f"batchaid: none of the 2 machines can run it; {why}"


def test_machines_that_are_known_come_first(place):
    new, known = (None, {"vm_sizes": ["NEW"]}), (gpus(4), {"vm_sizes": ["KNOWN"]})
    desk = place(new, new, known, (None, {"vm_sizes": ["LARGE"]}), (gpus(8), {"vm_sizes": ["LARGE"]}))
    assert cluster(desk, "--gpus", "2") == cluster(desk) == "known"
    assert cluster(desk, "--gpus", "5") == "large"
    assert cluster(desk, "--gpus", "9") == "new"


def test_who_may_change_no_cluster_uses_it_as_it_is(place, tmp_path):
    desk = place((None, {}), (None, {}))
    ada = Person(desk.daemon, name=fresh("ada") + "@batchaid")
    laptop = Laptop(desk.daemon, tmp_path / "home")
    desk.run("nodes", "drain", "127.0.0.2:1")
    desk.run("submit", "--no-copy", "--", "true")
    desk.run("nodes", "undrain", "127.0.0.2:1")
    laptop.login(ada)
    assert laptop.run("submit", "--name", "hers", "--no-copy", "--", "true").stdout == "hers\n"
    refused = laptop.run("submit", "--nodes", "2", "--no-copy", "--", "true", check=False)
    assert refused.returncode == 1 and refused.stderr.startswith(
        "batchaid: the cluster default of jobs/jobs can have at most 1 node, and you may not change that; "
        "somebody with the role Contributor can, by one submit with --nodes 2: "), refused.stderr
    desk.run("submit", "--nodes", "2", "--no-copy", "--", "true")
    assert laptop.run("submit", "--nodes", "2", "--name", "wide", "--no-copy", "--", "true").stdout == "wide\n"


def test_a_cluster_that_keeps_nodes_grows_only_for_a_job_of_more_nodes(place):
    desk = place((None, {}), (None, {}), (None, {}))
    said, job = desk.submit("--no-copy", "--", "true")
    cluster = Cluster(desk.daemon, f"{job.path.split('/experiments/')[0]}/clusters/{said['cluster']}")

    def after(*wishes, least, most):
        cluster.scale(autoScale={"minimumNodeCount": least, "maximumNodeCount": most, "initialNodeCount": least})
        desk.run("submit", "--no-copy", *wishes, "--", "true")
        shown = cluster.properties["scaleSettings"]["autoScale"]
        return [shown[name] for name in ("minimumNodeCount", "maximumNodeCount", "initialNodeCount")]

    assert after(least=1, most=1) == [1, 1, 1]
    assert after("--nodes", "2", least=1, most=1) == [1, 2, 1]
    assert after(least=0, most=1) == [0, 3, 0], "it is as submit makes clusters, so all machines may serve it"


def test_first_submits_at_once_share_a_cluster(own_daemon, tmp_path):
    desk = Desk(own_daemon(), tmp_path / "project")
    with ThreadPoolExecutor(8) as pool:
        said = list(pool.map(lambda _: desk.run("submit", "--json", "--no-copy", "--", "true").stdout, range(8)))
    jobs = [json.loads(one) for one in said]
    assert {j["cluster"] for j in jobs} == {"default"} and len({j["name"] for j in jobs}) == 8
