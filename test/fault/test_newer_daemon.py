# SPDX-License-Identifier: MIT
"""A node keeps the newest daemon that it ever worked for, and lets no older one change anything."""

import json

from support.waiting import wait_for
from support.world import Place


def epoch_of(d):
    (root,) = (d.state_dir / "nodes").iterdir()
    term, ident = (root / "epoch").read_text().split()
    return root / "epoch", int(term), ident


def test_each_start_is_newer_and_an_older_daemon_is_refused(own_daemon):
    d = own_daemon()
    place = Place(d).make()
    cluster = place.cluster()
    _, first, ident = epoch_of(d)
    d.crash()
    cluster.wait_steady(1)
    wait_for(lambda: epoch_of(d)[1] > first, what="a higher term")
    path, second, other = epoch_of(d)
    assert ident != other
    place.job(cluster).succeed()
    wait_for(lambda: cluster.counts()["idleNodeCount"] == 1, what="nothing of the job to be left on the node")

    # Somebody else, as another half of this daemon would, has taken the node meanwhile.
    d.expect_log(r"node")
    d.stop()
    path.write_text(f"{second + (1 << 32)} somebody\n")
    d.start()
    wait_for(lambda: any("node.newer_daemon_found" in line for line in d.log()), what="a word about it")
    assert "newer daemon" in json.dumps(place.job(cluster).fail()["executionInfo"]["errors"])
    assert path.read_text().endswith("somebody\n")
