# SPDX-License-Identifier: MIT
"""Events as they happen, as JSON lines and as server-sent events, of a daemon that was started with --testing."""

import json
import threading

import requests
from support.refusals import refused
from support.testing import KEY, Testing
from support.testing_fixtures import emptied as t  # noqa: F401 (a fixture)
from support.world import Place, fresh


def follow(t, **query):
    """The events, and the number to go on from."""
    text = "&".join(f"{k}={v}" for k, v in query.items())
    reply = t.call("GET", f"/events?{text}", expect=200)
    assert reply.headers["Content-Type"] == "application/x-ndjson"
    lines = reply.content.decode().splitlines()
    return [json.loads(line) for line in lines], int(reply.headers["x-batchaid-last-event"])


def streamed(t, after=0, **query):
    text = "&".join(f"{k}={v}" for k, v in query.items())
    return requests.get(
        f"{t.daemon.endpoint}/batchaid/testing/events?{text}", verify=t.daemon.env["SSL_CERT_FILE"], stream=True, timeout=30,
        headers={KEY: t.key, "Accept": "text/event-stream", "Last-Event-ID": str(after)},
    )  # fmt: skip


def test_they_come_in_order_piece_by_piece(tested, t):
    place = Place(tested, fresh("group"), "ws").make()
    job = place.job(place.cluster(), "true").succeeded()
    found, last = follow(t)
    numbers = [e["sequence"] for e in found]
    assert numbers == sorted(set(numbers)) and numbers[-1] == last
    assert [e["to"] for e in found if e.get("name") == job.name] == ["queued", "running", "succeeded"]
    one, at = follow(t, max=1, after=numbers[0])
    assert one == [found[1]] and at == numbers[1]
    assert follow(t, after=last) == ([], last)


def test_those_to_come_are_waited_for(tested, t):
    place = Place(tested, fresh("group"), "ws").make()
    _, last = follow(t)
    seen = []
    thread = threading.Thread(target=lambda: seen.append(follow(t, after=last, timeoutSeconds=30)))
    thread.start()
    place.cluster(nodes=0, name="waited")
    thread.join()
    assert seen[0][0] and "waited" in [e["name"] for e in seen[0][0] + follow(t, after=seen[0][1])[0]]


def test_each_subscription_sees_its_own(tested, t):
    guid = tested.call("POST", "/batchaid/subscriptions", expect=201).json["subscriptionId"]
    Place(tested, fresh("group"), "ws").make().cluster(nodes=0, name="mine")
    assert follow(t, subscription=guid)[0] == []
    mine = follow(t, subscription=tested.subscription)[0]
    assert {e["name"] for e in mine if e["kind"] == "cluster"} == {"mine"}


def test_a_stream_goes_on(tested, t):
    place = Place(tested, fresh("group"), "ws").make()
    place.cluster(nodes=0, name="first")
    _, last = follow(t)
    with streamed(t, last) as reply:
        assert (reply.status_code, reply.headers["Content-Type"]) == (200, "text/event-stream")
        lines = reply.iter_lines()
        for name in ("second", "third"):
            place.cluster(nodes=0, name=name)
            said = {}
            while json.loads(said.get("data", "{}")).get("name") != name:
                key, _, value = next(lines).decode().partition(": ")
                said[key] = value
            assert int(said["id"]) > last
            last = int(said["id"])


def test_a_daemon_that_stops_ends_those_who_wait(own_daemon):
    d = own_daemon(arguments=["--testing"])
    t, replies = Testing(d), []
    thread = threading.Thread(target=lambda: replies.append(follow(t, timeoutSeconds=600)))
    thread.start()
    with streamed(t) as stream:
        Place(d, "g", "ws").make().cluster(nodes=0)
        next(stream.iter_lines())
        thread.join()
        assert d.stop() == 0
    assert len(replies[0][0]) > 0


def test_wrong_ones_are_refused(t):
    refused(t.call("GET", "/events?after=-1"), 400, "InvalidQueryParameterValue")
    refused(t.call("GET", "/events?max=201"), 400, "InvalidQueryParameterValue")
    refused(t.call("GET", "/events?subscription=x"), 404, "SubscriptionNotFound")
    assert streamed(t, "x").status_code == 400
