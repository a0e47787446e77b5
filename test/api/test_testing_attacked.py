# SPDX-License-Identifier: MIT
"""What tests ask for, asked for badly: numbers that do not fit, deep and wild texts, clients that stop reading, thousands of
held requests and jobs. The daemon goes on, answers others meanwhile, and says what would be right."""

import socket
import ssl
import time

import pytest
from support.daemon import memory_bound
from support.refusals import INVALID, refused
from support.testing import KEY
from support.testing_fixtures import place  # noqa: F401 (a fixture)
from support.waiting import PATIENCE, wait_for
from support.world import fresh, job_body

ARGUMENTS = ["--ephemeral", "--fake-nodes"]
EXPECTS = ["."]
SOON_SECONDS = 5


class soon:
    """The daemon takes no longer than that for anything in it."""

    def __enter__(self):
        self.began = time.monotonic()

    def __exit__(self, kind, *rest):
        assert kind or time.monotonic() - self.began < SOON_SECONDS * PATIENCE


def ask_raw(d, path, head=""):
    """A connection with a request on it, whose answer nobody reads yet."""
    context = ssl.create_default_context(cafile=d.ca)
    s = context.wrap_socket(socket.create_connection(("127.0.0.1", d.port)), server_hostname="localhost")
    s.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n{head}\r\n".encode())
    return s


# --- numbers ---------------------------------------------------------------------------------------

AROUND = [-1, -(2**63), 2**31, 2**32, 2**32 + 1, 2**63 - 1]


@pytest.mark.parametrize("n", AROUND)
@pytest.mark.parametrize("name", ["skip", "times", "delayMilliseconds"])
def test_a_number_of_a_fault_is_taken_as_it_is_or_refused(t, name, n):
    """2^32 is not the 0 that stands for all."""
    reply = t.call("POST", "/faults", {"hold": True, "match": {"operation": "Jobs_Create"}, name: n})
    refused(reply, 400, INVALID, words=[name, str(n), "from 0 to"])


@pytest.mark.parametrize("n", AROUND)
def test_so_are_numbers_of_its_reply_and_of_what_is_expected(t, n):
    for reply, name in (({"status": n}, "reply.status"), ({"status": 503, "retryAfter": n}, "reply.retryAfter")):
        refused(t.call("POST", "/faults", {"reply": reply}), 400, INVALID, words=[name, str(n)])
    refused(t.call("POST", "/faults", {"match": {"status": n}, "hold": True}), 400, INVALID, words=["match.status"])
    for body in ({"count": n}, {"timeoutSeconds": n}):
        (name,) = body
        refused(t.call("POST", "/requests/expect", body), 400, INVALID, words=[name, str(n)])
    assert t.get("/faults")["value"] == []


def test_a_number_that_no_machine_has_is_refused(t):
    for path in ("/faults", "/rules", "/strict", "/requests/expect"):
        refused(t.call("POST", path, {"times": 2**63}), 400, "InvalidRequestContent", words=["too large"])


# --- texts ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    ["[" * 200000, "- " * 100000, "[{a: " * 50000, "".join(" " * i + "a:\n" for i in range(1000))],
    ids=["brackets", "dashes", "both", "indented"],
)
def test_a_seed_of_any_depth_is_refused_at_once(tested, t, text):
    """libyaml goes through all levels that are open with each further bracket."""
    with soon():
        reply = t.call("POST", f"/seed?subscription={tested.subscription}", data=text.encode())
    refused(reply, 400, "InvalidRequestContent", words=["line", "column", "nested too deep"])


def test_a_seed_of_many_anchors_is_refused_at_once(tested, t):
    """It compares each anchor with all before it."""
    text = "a:\n" + "".join(f"- &a{i} x\n" for i in range(100000))
    with soon():
        reply = t.call("POST", f"/seed?subscription={tested.subscription}", data=text.encode())
    refused(reply, 400, "InvalidRequestContent", words=["line 1002", "1000 anchors"])


@pytest.mark.parametrize(
    "body", [b"\xff\xfe\x00", b"\x00" * 10, b"[" * 100000, b'{"a":' * 50000, b'{"hold":true,"match":{"path":"/\\ud800"}}', b'""', b"1e999"]
)
def test_what_is_no_document_is_refused_everywhere(tested, t, body):
    paths = [f"/batchaid/testing/{name}" for name in ("faults", "rules", "strict", "reset", "requests/expect")]
    for path in [*paths, "/batchaid/clock"]:
        reply = tested.call("POST", path, data=body, headers={KEY: t.key, "Content-Type": "application/json"}, token=None)
        assert reply.status == 400, (path, reply)
        assert reply.error["message"]


def test_a_body_that_is_too_large_is_refused(t):
    refused(t.call("POST", "/faults", data=b" " * (8 << 20)), 413, "RequestEntityTooLarge")


def test_a_command_with_brackets_is_matched_as_it_is_written(place, t):
    t.rules({"match": {"command": "test [ -f x\\y ] && *"}, "exitCode": 3}, {"match": {"command": "test [a-z]"}, "exitCode": 4})
    cluster = place.cluster(1)
    assert place.job(cluster, "test [ -f x\\y ] && train").fail()["executionInfo"]["exitCode"] == 3
    assert place.job(cluster, "test x").succeed()["executionInfo"]["exitCode"] == 0


def test_patterns_of_many_stars_hold_nobody_up(place, t):
    t.rules(*[{"match": {"command": "*a" * 400 + "b"}, "exitCode": 9} for _ in range(50)])
    t.fault({"path": "*a" * 400 + "b"}, hold=True, times=0)
    cluster = place.cluster(1)
    with soon():
        place.job(cluster, "a" * 4000).succeed()


# --- many ---------------------------------------------------------------------------------------------


def test_streams_that_nobody_reads_cost_little(tested, t, place):
    place.experiment()
    cluster = place.cluster(0)
    for _ in range(300):
        tested.call("PUT", f"{place.experiment_path()}/jobs/{fresh('j')}", job_body(cluster.path), expect=202)
    head = f"Accept: text/event-stream\r\n{KEY}: {t.key}\r\n"
    before = tested.resident()
    streams = [ask_raw(tested, "/batchaid/testing/events?after=0", head) for _ in range(100)]
    try:
        with soon():
            place.job(place.cluster(1)).succeed()
        assert tested.resident() - before < memory_bound(len(streams) << 20)
    finally:
        for s in streams:
            s.close()


def test_hundreds_of_held_jobs_are_let_go(t, place):
    many = 300
    (rule,) = t.rules({"hold": True})
    cluster = place.cluster(many)
    place.experiment()
    jobs = [f"{place.experiment_path()}/jobs/j{i}" for i in range(many)]
    for path in jobs:
        place.daemon.call("PUT", path, job_body(cluster.path), expect=202)
    wait_for(lambda: t.get("/rules")["value"][0]["held"] == many, 60, "all to be held")
    assert t.call("POST", f"/rules/{rule['id']}/release", expect=200).json == {"released": many}
    wait_for(lambda: cluster.counts()["idleNodeCount"] == many, 60, "all to end")


def test_hundreds_of_held_requests_are_let_go(tested, t, place):
    many = 100
    t.fault({"operation": "Workspaces_Get", "path": place.path}, hold=True, times=0)
    head = f"Authorization: Bearer {tested.token()}\r\n"
    held = [ask_raw(tested, f"{place.path}?api-version=2018-05-01", head) for _ in range(many)]
    wait_for(lambda: t.get("/faults")["value"][0]["held"] == many, 30, "all to be held")
    t.call("DELETE", "/faults", expect=204)
    for s in held:
        assert s.recv(15) == b"HTTP/1.1 200 OK"
        s.close()


def test_a_rule_of_many_outputs_in_the_wrong_order(t):
    lines = [{"at": f"PT{10000 - i}S", "text": ""} for i in range(10000)]
    with soon():
        t.rules({"duration": "PT10000S", "stdout": lines})


# --- the clock ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"advance": "PT-1S"}, ["advance", "PT6H"]),
        ({"advance": "-PT1S"}, ["advance", "PT6H"]),
        ({"advance": "P999999999999D"}, ["advance"]),
        ({"advance": "P367D"}, ["366 days"]),
        ({"advanceTo": "2020-01-01T00:00:00Z"}, ["in the past", "real"]),
        ({"advanceTo": "0001-01-01T00:00:00Z"}, ["in the past"]),
        ({"advanceTo": "9999-12-31T23:59:59Z"}, ["366 days"]),
        ({"rate": -1}, ["0 (stopped) to 1000000"]),
        ({"rate": 2**62}, ["0 (stopped) to 1000000"]),
    ],
)
def test_the_clock_goes_forward_within_bounds(clock, body, words):
    clock.change(rate=0)
    before = clock.now()
    refused(clock.call("POST", body), 400, INVALID, words=words)
    assert clock.now() == before


def test_years_pass(clock, place):
    clock.change(rate=0)
    cluster, before = place.cluster_at("c"), clock.now()
    for _ in range(5):
        clock.advance("P366D")
    assert (clock.now() - before).days == 5 * 366
    place.cluster(1, name="c")
    clock.advance("PT10S")
    assert cluster.counts()["idleNodeCount"] == 1


# --- whose -----------------------------------------------------------------------------------------------


def test_faults_of_a_subscription_are_told_alone(tested, t):
    other = tested.call("POST", "/batchaid/subscriptions", expect=201).json["subscriptionId"]
    mine = t.fault({"subscription": tested.subscription, "operation": "Jobs_Create"}, hold=True)
    theirs = t.fault({"subscription": other}, hold=True)
    t.fault({"operation": "Jobs_Create"}, hold=True)
    for subscription, fault in ((tested.subscription, mine), (other, theirs)):
        seen = t.get(f"/faults?subscription={subscription}")
        assert ([f["id"] for f in seen["value"]], seen["unused"]) == ([fault["id"]], [fault["id"]])
    tested.call("DELETE", f"/batchaid/subscriptions/{other}", expect=204)
