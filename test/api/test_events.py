# SPDX-License-Identifier: MIT
"""What became of jobs, clusters and nodes; the reply is judged by docs/admin-api.json."""

import sqlite3

import pytest
from support.people import READER, Person
from support.world import In, Place

INSERT = "INSERT INTO event (at_us, kind, resource_id, from_state, to_state) VALUES (1, ?, 1, 0, ?)"
WITHOUT_HISTORY = (1, 2, 3, 5)  # groups, workspaces, experiments, file servers: model/enums.h
NODE = 7


def page(d, **params):
    return d.call("GET", "/batchaid/events", api_version=None, params=params).json


def all_of(d, since=0, per_page=3):
    """Page by page, to the end."""
    events = []
    while True:
        p = page(d, since=since, max=per_page)
        assert len(p["value"]) <= per_page
        if not p["value"]:
            assert p["next"] == since
            return events
        assert p["next"] == p["value"][-1]["sequence"] > since
        events += p["value"]
        since = p["next"]


def moves(events, kind, name=None):
    return [(e.get("from"), e["to"]) for e in events if e["kind"] == kind and name in (None, e["name"])]


def test_a_job_is_told_from_its_queue_to_its_end(own_place):
    d = own_place.daemon
    cluster = own_place.cluster(1)
    good, bad = own_place.job(cluster), own_place.job(cluster, command="exit 3")
    good.succeed()
    bad.fail()
    events = all_of(d)
    numbers = [e["sequence"] for e in events]
    assert numbers == sorted(set(numbers))
    begun = [(None, "queued"), ("queued", "running")]
    assert moves(events, "job", good.name) == begun + [("running", "succeeded")]
    assert moves(events, "job", bad.name) == begun + [("running", "failed")]
    (end,) = [e for e in events if e["name"] == bad.name and e["to"] == "failed"]
    assert end["reason"] == "JobFailed" and end["experiment"] and end["workspace"] and end["resourceGroup"]
    nodes = [e for e in events if e["kind"] == "node" and e.get("cluster") == cluster.name]
    assert moves(nodes, "node") == [(None, "preparing"), ("preparing", "idle")]
    assert moves(events, "cluster", cluster.name)[-1] == ("resizing", "steady")


def test_who_waits_hears_of_what_is_new_alone(own_place):
    d = own_place.daemon
    cluster = own_place.cluster(1)
    own_place.job(cluster).succeed()
    so_far = all_of(d)[-1]["sequence"]
    own_place.job(cluster).succeed()
    assert moves(all_of(d, since=so_far), "job") == [
        (None, "queued"),
        ("queued", "running"),
        ("running", "succeeded"),
    ]


@pytest.mark.parametrize(
    "name, value", [("since", "-1"), ("since", "x"), ("since", "9" * 20), ("max", "0"), ("max", "1001")]
)
def test_a_number_that_is_none_is_refused(daemon, name, value):
    reply = daemon.call("GET", "/batchaid/events", api_version=None, params={name: value}, validate=False)
    assert reply.status == 400 and "whole number" in reply.error["message"]


def test_events_are_for_who_may_use_the_daemon(daemon):
    assert daemon.call("GET", "/batchaid/events", api_version=None, token=None).status == 401


def test_an_event_of_a_kind_that_has_none_is_left_out(own_daemon):
    """Rows that somebody has edited by hand."""
    d = own_daemon()
    d.expect_log("event.skipped")
    Place(d).make().cluster(1)
    told = all_of(d)
    d.stop()
    with sqlite3.connect(d.state_dir / "batchaid.db") as db:
        for kind in WITHOUT_HISTORY:
            db.execute(INSERT, (kind, 2))
        db.execute(INSERT, (NODE, 99))
    db.close()
    d.start()
    seen = all_of(d, per_page=100)
    assert seen[: len(told)] == told
    assert {e["kind"] for e in seen} == {"cluster", "node"}
    assert "unknown" in [e["to"] for e in seen]
    page(d, since=told[-1]["sequence"], max=2)  # of such events alone
    assert sum("event.skipped" in line for line in d.log()) >= len(WITHOUT_HISTORY)


def test_each_lists_what_his_roles_may_read(own_daemon):
    """As the stream tells it. Pages of what others did are passed over."""
    d = own_daemon()
    other = d.call("POST", "/batchaid/subscriptions", expect=201).json["subscriptionId"]
    mine, theirs = Place(d).make(), Place(In(d, other)).make()
    ada, all_seeing = Person(d, READER), Person(d, READER, scope="/")
    for _ in range(5):
        theirs.cluster(nodes=0)
    shown = mine.cluster(nodes=0, name="shown")
    first = page(d, max=1000)["value"]
    assert {e["cluster"] if e["kind"] == "node" else e["name"] for e in first} > {"shown"}
    mine_only = ada.call("GET", "/batchaid/events", api_version=None, params={"max": 2}, expect=200).json
    assert {e["name"] for e in mine_only["value"]} == {shown.name} and mine_only["next"] > 2
    assert all_seeing.call("GET", "/batchaid/events", api_version=None, params={"max": 1000}, expect=200).json["value"] == first
    d.stop()
    with sqlite3.connect(d.state_dir / "batchaid.db") as db:
        copies = "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1500) SELECT at_us, kind, resource_id, from_state, to_state"
        db.execute(f"INSERT INTO event (at_us, kind, resource_id, from_state, to_state) {copies} FROM event, n WHERE seq = 1")
    db.close()
    d.start()
    mine.cluster(nodes=0, name="late")
    since = {"since": mine_only["next"]}
    late = ada.call("GET", "/batchaid/events", api_version=None, params=since, expect=200).json
    assert "late" in {e["name"] for e in late["value"]}
    since["since"] = late["next"]
    assert ada.call("GET", "/batchaid/events", api_version=None, params=since, expect=200).json == {"value": [], "next": late["next"]}
