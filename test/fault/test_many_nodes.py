# SPDX-License-Identifier: MIT
"""Many local nodes of one account: more than it may have inotify instances (Linux: 128), in one daemon and in
ten side by side."""

import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest
from support.daemon import sanitized
from support.world import Place

# In a user namespace the account's limit can be had small without taking anything from others.
FEW = "echo 20 >/proc/sys/user/max_inotify_instances"
PREFIX = ["unshare", "-Ur", "sh", "-c", f'{FEW} && exec "$0" "$@"']

pytestmark = pytest.mark.skipif(
    subprocess.run(["unshare", "-Ur", "sh", "-c", FEW], capture_output=True).returncode != 0,
    reason="needs user namespaces",
)


def memory_kib(pid):
    """What it has for itself: shared pages count in parts."""
    with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("Pss:"))


def agents_of(d):
    done = subprocess.run(["pgrep", "-f", f"batchai-node.* --root {d.state_dir}/"], capture_output=True, text=True)
    return [int(pid) for pid in done.stdout.split()]


def test_two_hundred_nodes_of_one_daemon(own_daemon):
    d = own_daemon(prefix=PREFIX, config={"local": {"nodes": 200}})
    place = Place(d).make()
    cluster = place.cluster(nodes=200, steady=False).wait_steady(200, limit=120)
    agents = agents_of(d)
    assert len(agents) >= 200
    assert sum(map(memory_kib, agents)) < 200 * (8192 if sanitized() else 4096), "4 MiB an agent"
    place.job(cluster, "exit 0").succeed()


def test_ten_daemons_of_ten_nodes(own_daemon):
    daemons = [own_daemon(prefix=PREFIX) for _ in range(10)]
    places = [Place(d).make() for d in daemons]

    def work(place):
        place.job(place.cluster(nodes=10), "exit 0").succeed()

    with ThreadPoolExecutor(len(places)) as pool:
        list(pool.map(work, places))
