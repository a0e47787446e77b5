# SPDX-License-Identifier: MIT
"""Parts of the list of machines, and every GPU at a glance."""

import pytest
from support.people import Person
from support.testing_fixtures import place  # noqa: F401 (a fixture)
from support.waiting import wait_for

ARGUMENTS = ["--ephemeral", "--fake-nodes"]
EXPECTS = (".",)
LETTERS = {"free": "f", "used": "u", "busy": "b", "idle": "i", "unusable": "x", "outside": "o"}




def nodes(d, expect=200, **params):
    return d.call("GET", "/batchaid/nodes", api_version=None, params=params, expect=expect).json


def gpus(d, expect=200, **params):
    return d.call("GET", "/batchaid/gpus", api_version=None, params=params, expect=expect).json


def names(reply):
    return [n["name"] for n in reply["value"]]


def pages(ask, d, **params):
    """All pages, each with its rows."""
    found = [ask(d, **params)]
    while "next" in found[-1]:
        found.append(ask(d, after=found[-1]["next"], **params))
        assert len(found) < 100
    return found


@pytest.fixture
def three(tested, place):
    """Two clusters, of three nodes and of two, one of which works."""
    big, small = place.cluster(3, name="big"), place.cluster(2, name="a-small")
    return big, small


def test_a_part_has_what_the_whole_list_has(tested, place, three, t):
    t.rules({"hold": True})
    place.job(three[0], "work").running()
    whole = nodes(tested)
    assert set(whole) == {"value"} and len(whole["value"]) == 5
    part = nodes(tested, max=100)
    assert part["value"] == whole["value"] and part["count"] == 5 and "next" not in part
    for fields in ("name,state", "capacity", "NAME,vmSizes,job,gpus", "facts"):
        wanted = fields.lower().split(",")
        rows = [{k: v for k, v in n.items() if k.lower() in wanted} for n in whole["value"]]
        assert nodes(tested, fields=fields)["value"] == rows


def test_filters_and_orders(tested, place, three, t):
    t.rules({"hold": True})
    place.job(three[0], "work", nodes=2).running()
    whole = nodes(tested)["value"]
    running = nodes(tested, state="running")
    assert running["count"] == 2 and {n["cluster"] for n in running["value"]} == {"big"}
    assert nodes(tested, state="Idle,running")["count"] == 5 and nodes(tested, state="unusable") == {"value": [], "count": 0}
    assert nodes(tested, cluster="A-SMALL")["count"] == 2 and nodes(tested, cluster="a")["count"] == 0
    assert nodes(tested, state="", sort="", fields="", begins="", after="")["value"] == whole, "a form that nobody filled in"
    begins = whole[0]["name"][:-1].upper()
    assert nodes(tested, begins=begins)["count"] == len([n for n in whole if n["name"].upper().startswith(begins)])
    for sort, key in (("name", lambda n: n["name"]), ("state", lambda n: (n["state"], n["name"])), ("cluster", lambda n: (n["cluster"], n["name"]))):
        right = [n["name"] for n in sorted(whole, key=key)]
        assert names(nodes(tested, sort=sort)) == right
        assert names(nodes(tested, sort="-" + sort)) == right[::-1]


@pytest.mark.parametrize("sort", [None, "name", "-name", "state", "-state", "-cluster"])
@pytest.mark.parametrize("size", [1, 2, 5])
def test_pages_have_each_machine_once(tested, place, three, sort, size):
    params = {"sort": sort} if sort else {}
    found = pages(nodes, tested, max=size, fields="name", **params)
    assert sum((names(p) for p in found), []) == names(nodes(tested, fields="name", **params))
    assert {p["count"] for p in found} == {5} and all(len(p["value"]) <= size for p in found)


def test_a_machine_that_goes_between_two_pages_takes_none_with_it(tested, place, three):
    first = nodes(tested, max=2)
    rest = names(nodes(tested))[2:]
    three[1].resize(1)
    wait_for(lambda: nodes(tested, fields="name")["count"] == 4 if "count" in nodes(tested, fields="name") else False)
    still = set(names(nodes(tested)))
    assert names(nodes(tested, after=first["next"])) == [n for n in rest if n in still]
    gone = nodes(tested, max=10, after="2/somebody-who-is-gone")
    assert names(gone) == names(nodes(tested))[1:], "the next has its place"
    assert nodes(tested, after="99999999999999999999999/x")["value"] == []


def test_machines_that_leave_a_filter_between_two_pages_take_none_with_them(tested, place, three, t):
    t.rules({"hold": True})
    first = nodes(tested, state="idle", max=2)
    place.job(three[0], "work", nodes=3).running()
    assert {n["state"] for n in nodes(tested)["value"] if n["name"] in names(first)} == {"running"}
    assert names(nodes(tested, state="idle", after=first["next"])) == names(nodes(tested, state="idle"))


@pytest.mark.parametrize(
    "params, words",
    [
        ({"state": "idle,slow"}, ["'slow'", "a machine", "preparing"]),
        ({"sort": "size"}, ["'size'", "name, state or cluster"]),
        ({"sort": "--name"}, ["'--name'"]),
        ({"fields": "name,password"}, ["'password'", "lastContactTime", "a machine"]),
        ({"max": "0"}, ["'0'", "1 to 10000"]),
        ({"max": "-5"}, ["'-5'"]),
        ({"after": "somewhere"}, ["'somewhere'", "next"]),
    ],
)
def test_bad_wishes_are_refused_by_name(tested, params, words):
    error = nodes(tested, expect=400, **params)["error"]
    assert error["code"] == "InvalidQueryParameterValue" and error["target"] in params
    assert all(w in error["message"] for w in words), error


def test_every_gpu_has_a_letter(own_daemon):
    d = own_daemon(config={"local": {"nodes": 2, "fake_gpus": 8}})
    from support.world import Place, wait_flag

    place = Place(d).make()
    assert gpus(d) == {"value": [], "counts": dict.fromkeys(LETTERS, 0)}
    cluster = place.cluster(2, name="train")
    board = wait_for(lambda: (b := gpus(d))["counts"]["free"] == 16 and b)
    assert [row["gpus"] for row in board["value"]] == ["f" * 8] * 2
    assert [row["node"] for row in board["value"]] == names(nodes(d))
    assert {(row["state"], row["cluster"]) for row in board["value"]} == {("idle", "train")}
    marker, inside = place.flag("go")
    job = place.job(cluster, wait_flag(inside)).running()
    busy = wait_for(lambda: (b := gpus(d))["counts"]["used"] == 8 and b, what="a fresh board")
    assert sorted(row["gpus"] for row in busy["value"]) == ["f" * 8, "u" * 8]
    found = pages(gpus, d, max=1)
    assert [p["value"] for p in found] == [[row] for row in busy["value"]] and {p["counts"]["used"] for p in found} == {8}
    etag = d.call("GET", "/batchaid/gpus", api_version=None, expect=200).headers["ETag"]
    again = d.call("GET", "/batchaid/gpus", api_version=None, headers={"If-None-Match": etag}, validate=False)
    assert again.status == 304 and again.content == b""
    plain = d.call("GET", "/batchaid/gpus", api_version=None, headers={"Accept-Encoding": "gzip;q=0"}, expect=200)
    packed = d.call("GET", "/batchaid/gpus", api_version=None, headers={"Accept-Encoding": "gzip"}, expect=200)
    assert "Content-Encoding" not in plain.headers and packed.headers["Content-Encoding"] == "gzip"
    assert packed.json["counts"] == plain.json["counts"] and packed.headers["Vary"] == "Accept-Encoding"
    assert "next" in gpus(d, expect=400, after="x")["error"]["message"]
    marker.touch()
    job.succeed()


def test_who_may_not_read_machines_sees_no_gpus(tested):
    stranger = Person(tested, role="none")
    for path in ("gpus", "nodes?max=1"):
        tested.call("GET", f"/batchaid/{path}", api_version=None, token=stranger.token(), expect=403)
    reader = Person(tested, role="Reader")
    reader.call("GET", "/batchaid/gpus", api_version=None, expect=200)
