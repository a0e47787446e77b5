# SPDX-License-Identifier: MIT
"""The list of the jobs of all groups: orders, members, pages, counts."""

import json
import sqlite3

import pytest
from support.people import Person
from support.testing_fixtures import place  # noqa: F401 (a fixture)
from support.world import In, Place, job_body

ARGUMENTS = ["--ephemeral", "--fake-nodes"]
EXPECTS = (".",)


def jobs(d, expect=200, **params):
    return d.call("GET", "/batchaid/jobs", api_version=None, params=params, expect=expect).json


def names(reply):
    return [j["name"] for j in reply["value"]]


@pytest.fixture
def seven(tested, place, t):
    """Jobs of one experiment, two of which wait; the list's parameters for them."""
    t.rules({"match": {"command": "wait"}, "hold": True})
    cluster = place.cluster(1)
    for i in range(5):
        place.job(cluster, name=f"done{i}").succeed()
    for i in range(2):
        place.job(cluster, "wait", name=f"waits{i}")
    return {"resourceGroup": place.group}


def test_orders_and_pages(tested, seven):
    newest = names(jobs(tested, **seven))
    assert newest == ["waits1", "waits0", "done4", "done3", "done2", "done1", "done0"]
    assert names(jobs(tested, sort="-createdTime", **seven)) == newest
    assert names(jobs(tested, sort="createdtime", **seven)) == newest[::-1]
    for sort, right in (("createdTime", newest[::-1]), ("-createdTime", newest)):
        for size in (1, 3, 7):
            found, params = [], {}
            for _ in range(9):
                page = jobs(tested, sort=sort, max=size, **seven, **params)
                found += names(page)
                if "next" not in page:
                    break
                params = {"before": page["next"]}
            assert found == right, (sort, size)


def test_counts_say_what_they_are_of(tested, seven):
    assert jobs(tested, **seven)["count"] == 7
    assert jobs(tested, begins="waits", **seven)["count"] == 2
    first = jobs(tested, max=2, **seven)
    assert "count" not in first and first["next"], "nobody has looked at the rest"
    counted = jobs(tested, max=2, count="true", **seven)
    assert (counted["count"], names(counted), counted["next"]) == (7, names(first), first["next"])
    assert "countIsMinimum" not in counted
    rest = jobs(tested, before=first["next"], count="true", **seven)
    assert len(rest["value"]) == 5 and "count" not in rest and "next" not in rest
    exactly = jobs(tested, max=7, **seven)
    assert exactly["count"] == 7 and "next" not in exactly


def test_only_the_wanted_members_come(tested, seven):
    rows = jobs(tested, fields="name,State,exitCode", **seven)["value"]
    assert rows[0] == {"name": "waits1", "state": "queued"} and rows[-1] == {"name": "done0", "state": "succeeded", "exitCode": 0}
    whole = jobs(tested, **seven)["value"]
    assert {"resourceGroup", "workspace", "experiment", "priority", "nodeCount", "createdBy", "createdTime"} <= set(whole[0])


def test_a_page_that_may_not_show_a_job_does_not_count_it(tested, place, seven):
    stranger = Person(tested, role="Reader", scope=f"/subscriptions/{tested.subscription}/resourceGroups/nothing-here")
    assert stranger.get("/batchaid/jobs?count=true", api_version=None) == {"value": [], "count": 0}
    one = Person(tested, role="Reader", scope=f"/subscriptions/{tested.subscription}/resourceGroups/{place.group}")
    assert one.get("/batchaid/jobs?count=true&max=1", api_version=None)["count"] == 7


def add_copies(d, job, count, maker="NULL"):
    """Of a stopped daemon: as many jobs like this one, the last, which have succeeded and have no maker, or this one."""
    with sqlite3.connect(d.state_dir / "batchaid.db") as db:
        new = {"job": {"name": "'copy' || n.value", "guid": "'copy' || n.value", "exec_state": "4", "created_by": maker},
               "run": {"owner_id": "t.owner_id + 1 + n.value", "guid": "'run' || n.value"}}
        for table, is_it in (("job", "name = ?"), ("run", "owner_kind = 6 AND owner_id = (SELECT id FROM job WHERE name = ?)")):
            columns = [c[1] for c in db.execute(f"PRAGMA table_info({table})") if c[1] != "id"]
            values = [new[table].get(c, f"t.{c}") for c in columns]
            db.execute(f"INSERT INTO {table} ({', '.join(columns)}) SELECT {', '.join(values)} FROM {table} t, json_each(?) n WHERE t.{is_it}",
                       (json.dumps(list(range(count))), job.name))
    db.close()


def test_what_is_rare_is_found_at_once(own_daemon):
    """By an index: one page looks at 10,000 jobs at most. Behind so many ended ones is one that failed, of somebody else."""
    d = own_daemon()
    place, ada = Place(d).make(), Person(d, "Owner", f"/subscriptions/{d.subscription}")
    cluster, job = place.cluster(1), place.job_at("rare", "exp")
    place.experiment("exp")
    ada.call("PUT", job.path, place.whole(job_body(cluster.path, "exit 3")), expect=(200, 202))
    job.wait("failed")
    d.stop()
    add_copies(d, job, 10_500)
    d.start()
    assert names(jobs(d, begins="rare")) == []
    for sort in ("createdTime", "-createdTime"):
        assert names(jobs(d, state="failed", sort=sort)) == ["rare"]
        (mine,) = ada.get(f"/batchaid/jobs?mine=true&max=10&sort={sort}", api_version=None)["value"]
        assert mine["name"] == "rare"
    assert jobs(d, state="failed", count="true")["count"] == 1


def test_the_last_job_of_a_subscription_is_found_behind_many_of_another(own_daemon):
    """One page looks at 10,000 jobs at most."""
    d = own_daemon()
    added = d.call("POST", "/batchaid/subscriptions", expect=201).json["subscriptionId"]
    place, there = Place(d).make(), Place(In(d, added)).make()
    there.job(there.cluster(1), name="rare").succeed()
    job = place.job(place.cluster(1)).succeeded()
    d.stop()
    add_copies(d, job, 10_500, maker="t.created_by")
    d.start()
    assert json.loads(d.tool("explain", "--json", "-", "--subscription", added).stdout)["job"]["name"] == "rare"


@pytest.mark.parametrize(
    "params, words",
    [
        ({"sort": "name"}, ["'name'", "-createdTime"]),
        ({"fields": "name,secrets"}, ["'secrets'", "a job", "exitCode"]),
        ({"count": "maybe"}, ["'maybe'", "true or false"]),
        ({"state": "faild"}, ["'faild'", "queued"]),
        ({"max": "1001"}, ["'1001'", "1 to 1000"]),
        ({"before": "0"}, ["'0'"]),
    ],
)
def test_bad_wishes_are_refused_by_name(tested, params, words):
    error = jobs(tested, expect=400, **params)["error"]
    assert error["code"] == "InvalidQueryParameterValue" and error["target"] in params
    assert all(w in error["message"] for w in words), error
