# SPDX-License-Identifier: MIT
"""What the daemon has counted since its start; the reply is judged by docs/admin-api.json."""

import pytest


def counters(d):
    return d.call("GET", "/batchaid/counters", api_version=None).json


def test_a_new_daemon_has_counted_what_it_took_to_start(own_daemon):
    c = counters(own_daemon())
    assert c["requests"]["received"] >= 1
    assert c["storage"]["commits"] >= 1 and c["storage"]["syncs"] >= 1
    assert c["allocations"] == {"made": 0, "over": 0}
    assert c["links"] == {"opened": 0, "ready": 0, "lost": 0}


def test_a_job_is_counted_in_every_room(own_place):
    place, d = own_place, own_place.daemon
    cluster = place.cluster(1)
    before = counters(d)
    place.job(cluster).succeed()
    after = counters(d)

    def more(room, name):
        return after[room][name] - before[room][name]

    assert more("requests", "received") >= 2 and more("requests", "waitedForDisk") >= 1
    assert more("requests", "bodyBytes") > 0
    assert more("storage", "commits") >= 2 and more("storage", "syncs") >= 1
    assert more("allocations", "made") == 1
    assert after["links"]["ready"] >= 1
    assert after["wakes"]["woken"]["run"] > before["wakes"]["woken"]["run"]


@pytest.mark.parametrize("method", ["PUT", "POST", "DELETE"])
def test_counters_are_only_read(daemon, method):
    reply = daemon.call(method, "/batchaid/counters", api_version=None, validate=False)
    assert reply.status == 405 and reply.headers["Allow"] == "GET"
