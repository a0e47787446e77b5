# SPDX-License-Identifier: MIT
"""GET /batchaid/events/stream: what comes, to whom, from where on, and what becomes of those who read slowly, come in
thousands, or may see nothing any more."""

import json
import re
import shutil
import subprocess
import threading
import time
import uuid

import pytest
from support import deep
from support.browser import Browser, user
from support.daemon import JUDGE, memory_bound
from support.event_streams import KEPT, PATH, Refused, Stream, has, listed
from support.gpus import Gpus
from support.many import ended_jobs
from support.people import Person
from support.spec import OWN
from support.terminals import PROTOCOL
from support.testing import Clock, Testing
from support.waiting import PATIENCE, wait_for
from support.world import Place, fresh

TAGGED = re.compile(r"([0-9]+-[0-9a-f]{8})-[0-9a-f]{8}")  # an event, and the roles of who reads


def moves(events, name):
    return [(e.get("from"), e["to"]) for e in events if e["name"] == name]


@pytest.fixture(scope="module")
def ground(daemon, temporary_in_file):
    return temporary_in_file(Place(daemon).make())


@pytest.fixture(scope="module")
def cluster(ground):
    return ground.cluster(nodes=1)


# --- what comes ---------------------------------------------------------------------------------------------------------


def test_a_job_is_told_as_it_is_listed(ground, cluster):
    d = ground.daemon
    with Stream(d) as s:
        first = s.next()
        assert s.retry == 2000 and TAGGED.fullmatch(first.id)
        assert s.headers["content-type"] == "text/event-stream" and s.headers["transfer-encoding"] == "chunked"
        assert s.headers["cache-control"] == "no-store" and s.headers["x-accel-buffering"] == "no"
        job = ground.job(cluster).succeeded()
        seen = s.events(has(job.name, "succeeded"))
        assert moves(seen, job.name) == [(None, "queued"), ("queued", "running"), ("running", "succeeded")]
        assert TAGGED.fullmatch(s.id)
        wanted = listed(d, int(first.id.split("-")[0]))
        assert seen == wanted[: len(seen)]
        one = next(e for e in seen if e["name"] == job.name)
        assert {"subscription", "resourceGroup", "workspace", "experiment"} <= set(one)
        assert JUDGE.spec is None or JUDGE.spec[OWN].check_definition("EventStreamChanges", {"value": seen}) == []


def test_a_node_has_its_cluster(ground):
    with Stream(ground.daemon) as s:
        s.next()
        cluster = ground.cluster(nodes=1)
        seen = s.events(lambda seen: any(e["kind"] == "node" and e["to"] == "idle" for e in seen))
        assert {e.get("cluster") for e in seen if e["kind"] == "node"} == {cluster.name}
        cluster.delete()


def test_what_is_deleted_is_told(own_daemon):
    """Although its events go with it; also to who comes again, or he is reset."""
    d = own_daemon()
    place = Place(d, "mine").make()
    ada, bob = Person(d, "Reader", place.group_path), Person(d, "Reader", Place(d, "other").make().group_path)
    cluster = place.cluster(nodes=1)
    job = place.job(cluster).succeeded()
    with Stream(d, ada) as a, Stream(d, bob) as hidden, Stream(d) as first:
        for s in (a, hidden, first):
            s.next()
        last = a.id
        job.delete()
        cluster.delete()
        for s in (a, first):
            seen = s.events(has(cluster.name, "deleted"))
            gone = [e for e in seen if e["to"] == "deleted"]
            assert {e["kind"] for e in gone} == {"job", "cluster", "node"} and not any("sequence" in e for e in gone)
            (one,) = [e for e in gone if e["kind"] == "job"]
            assert one["name"] == job.name and {"resourceGroup", "workspace", "experiment", "time"} <= set(one)
            assert JUDGE.spec is None or JUDGE.spec[OWN].check_definition("EventStreamChanges", {"value": seen}) == []
        assert hidden.quiet(0.5) == []
        place.cluster(nodes=0, name="stays")
        first.events(has("stays", "steady"))
        with Stream(d, last=first.id) as again:
            gone = place.cluster(nodes=0, name="gone")
            again.events(has("gone", "steady"))
            last = again.id
        gone.delete()
        first.events(has("gone", "deleted"))
        place.cluster(nodes=0, name="new")
        with Stream(d, last=last) as again:
            m = again.next()
            assert m.type == "reset" or has("gone", "deleted")(again.events(has("new", "steady")))
    place.cluster_at("stays").delete()
    wait_for(place.cluster_at("stays").gone)
    with Stream(d, last=first.id) as s:
        m = s.next()
        assert m.type == "reset" and ("deleted" in m.data["reason"] or "has been removed" in m.data["reason"])


def test_at_most_four_batches_a_second(ground, cluster):
    with Stream(ground.daemon) as s:
        s.next()
        over, last = threading.Event(), []

        def work():
            while not over.is_set():
                last[:] = [ground.job(cluster)]

        thread = threading.Thread(target=work)
        thread.start()
        begin = time.monotonic()
        batches = s.quiet(3)
        took = time.monotonic() - begin
        over.set()
        thread.join()
        assert 3 <= len(batches) <= took * 4 + 1
        last[0].succeeded()


def test_curl_reads_it(daemon, ground, cluster):
    curl = shutil.which("curl")
    if not curl:
        pytest.skip("no curl")
    argv = [curl, "-sN", "--cacert", str(daemon.ca), "-H", f"Authorization: Bearer {daemon.token()}", daemon.endpoint + PATH]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as p:
        assert p.stdout.readline() == "retry: 2000\n" and p.stdout.readline().startswith("id: ")
        job = ground.job(cluster)
        for line in p.stdout:
            if line.startswith("data: ") and any(e["name"] == job.name for e in json.loads(line[6:])["value"]):
                break
        p.kill()
    job.succeeded()


def test_http_1_0_and_without_tls(own_daemon):
    d = own_daemon(config={"http": {"serve": True}})
    place = Place(d).make()
    plain = d.endpoint.replace("https:", "http:")
    with Stream(d, endpoint=plain) as s, Stream(d, endpoint=plain, protocol="HTTP/1.0") as old:
        assert "transfer-encoding" not in old.headers
        place.cluster(nodes=0, name="c")
        for one in (s, old):
            assert one.events(has("c", "steady"))


def test_on_the_way_of_terminals(own_daemon):
    """Who offers their protocol comes by a relay; that he leaves is noticed behind it too."""
    d = own_daemon()
    place = Place(d).make()
    with Stream(d, alpn=PROTOCOL) as s:
        place.cluster(nodes=0, name="c")
        assert s.events(has("c", "steady"))
    for _ in range(140):  # more than one may have at a time
        wait_for(lambda: opened(d, alpn=PROTOCOL), 20, "a place").close()


def test_a_comment_after_a_while(own_daemon):
    """And nothing else meanwhile; a limited reader gets a fresh id with it."""
    d = own_daemon()
    place = Place(d).make()
    other = Person(d, "Reader", Place(d, "other").make().group_path)
    with Stream(d) as s, Stream(d, other) as hidden:
        s.next(), hidden.next()
        place.cluster(nodes=0)
        s.events(lambda seen: seen and seen[-1]["to"] == "steady")
        begin = time.monotonic()
        m = hidden.next(20)
        assert m is not None and m.type == "" and TAGGED.fullmatch(m.id)[1] == TAGGED.fullmatch(s.id)[1]
        assert time.monotonic() - begin < 17 * PATIENCE


# --- to whom ------------------------------------------------------------------------------------------------------------


def test_each_sees_what_he_may_read(own_daemon):
    d = own_daemon()
    mine, other = Place(d, "mine").make(), Place(d, "other").make()
    ada = Person(d, "Reader", mine.group_path)
    bob = Person(d, "Reader", other.group_path)
    whole = Person(d, "Reader", f"/subscriptions/{d.subscription}")
    nobody = Person(d, "none")
    with pytest.raises(Refused) as refused:
        Stream(d, nobody)
    assert refused.value.status == 403
    with Stream(d, ada) as a, Stream(d, bob) as b, Stream(d, whole) as w:
        for s in (a, b, w):
            s.next()
        for place in (mine, other):
            place.job(place.cluster(nodes=1, name="c"), name="j").succeeded()
        for s, groups in ((a, {"mine"}), (b, {"other"}), (w, {"mine", "other"})):
            seen = s.events(lambda seen: len([e for e in seen if e["name"] == "j" and e["to"] == "succeeded"]) == len(groups))
            assert {e["resourceGroup"] for e in seen} == groups
            assert {e["kind"] for e in seen} == {"job", "cluster", "node"}


def test_a_role_comes_and_goes_in_mid_stream(own_daemon):
    d = own_daemon()
    mine, other = Place(d, "mine").make(), Place(d, "other").make()
    ada = Person(d, "Reader", mine.group_path)
    kept = assign(d, ada, other.group_path)
    with Stream(d, ada) as s:
        s.next()
        other.cluster(nodes=0, name="seen")
        s.events(has("seen", "steady"))
        d.call("DELETE", kept, api_version="2022-04-01", validate=False, expect=200)
        assert s.until("reset").data == {"reason": "your roles have changed"}
        other.cluster(nodes=0, name="hidden")
        mine.cluster(nodes=0, name="shown")
        assert {e["name"] for e in s.events(has("shown", "steady"))} == {"shown"}
        assign(d, ada, other.group_path)
        s.until("reset")
        other.cluster(nodes=0, name="again")
        s.events(has("again", "steady"))


def test_roles_that_change_while_a_client_is_away_reset_it(own_daemon):
    d = own_daemon()
    mine, other = Place(d, "mine").make(), Place(d, "other").make()
    ada = Person(d, "Reader", mine.group_path)
    kept = assign(d, ada, other.group_path)
    with Stream(d, ada) as s:
        away = s.next().id
    d.restart()
    with Stream(d, ada, last=away) as s:
        assert s.next().type != "reset", "the same roles"
    d.call("DELETE", kept, api_version="2022-04-01", validate=False, expect=200)
    with Stream(d, ada, last=away) as s:
        m = s.next()
        assert m.type == "reset" and m.data == {"reason": "your roles have changed"}
        away = m.id
        mine.cluster(nodes=0, name="shown")
        s.events(has("shown", "steady"))
    with Stream(d, ada, last=away) as s:
        assert {e["name"] for e in s.events(has("shown", "steady"))} == {"shown"}
    with Stream(d, last=away) as s:
        assert s.next().type == "reset", "another's id"


def assign(d, person, scope):
    roles = d.call("GET", f"{scope}/providers/Microsoft.Authorization/roleDefinitions", api_version="2022-04-01", validate=False).json
    role = next(r["id"] for r in roles["value"] if r["properties"]["roleName"] == "Reader")
    path = f"{scope}/providers/Microsoft.Authorization/roleAssignments/{uuid.uuid4()}"
    body = {"properties": {"roleDefinitionId": role, "principalId": person.id}}
    d.call("PUT", path, body, api_version="2022-04-01", validate=False, expect=201)
    return path


def test_who_is_removed_or_has_no_role_any_more_is_closed(own_daemon):
    d = own_daemon()
    place = Place(d, "mine").make()
    ada, bob = Person(d, "Reader", place.group_path), Person(d, "none")
    role = assign(d, bob, place.group_path)
    with Stream(d, ada) as a, Stream(d, bob) as b, Stream(d) as first:
        ada.remove()
        d.call("DELETE", role, api_version="2022-04-01", validate=False, expect=200)
        (end,) = [m for m in a.over(15) if m.type == "end"]
        assert "directory" in end.data["reason"]
        (end,) = [m for m in b.over(15) if m.type == "end"]
        assert "roles" in end.data["reason"]
        place.cluster(nodes=0, name="c")
        first.events(has("c", "steady"))


def test_a_token_that_expires_ends_the_stream(own_daemon):
    d = own_daemon(arguments=["--testing"])
    with Stream(d) as s:
        s.next()
        Clock(d).advance("P2D")
        (end,) = [m for m in s.over(15) if m.type == "end"]
        assert end.data == {"reason": "your login has ended"}


def test_a_session_that_is_ended_ends_the_stream(own_daemon):
    """By a logout, and with its password; not by the end of a cookie that was renewed meanwhile."""
    d = own_daemon()
    ada = Person(d, "Reader", f"/subscriptions/{d.subscription}")
    browsers = [Browser(d) for _ in range(3)]
    for browser in browsers:
        browser.log_in(**user(ada))
    with Stream(d, browsers[0]) as out, Stream(d, browsers[1]) as reset, Stream(d, ada) as by_token:
        assert browsers[0].call("DELETE", "/batchaid/session").status == 204
        (end,) = [m for m in out.over(15) if m.type == "end"]
        assert end.data == {"reason": "your login has ended"}
        assert not [m for m in reset.quiet(0.1) if m.type == "end"]
        d.call("POST", f"/batchaid/users/{ada.name}/reset", expect=200)
        assert [m.data for m in reset.over(15) if m.type == "end"] == [{"reason": "your login has ended"}]
        Place(d).make().cluster(nodes=0, name="c")
        by_token.events(has("c", "steady"))
    with pytest.raises(Refused) as refused:
        Stream(d, browsers[2])
    assert refused.value.status == 401


# --- those who read slowly, leave, or come in thousands -------------------------------------------------------------------


def test_a_slow_reader_is_reset_and_holds_up_nobody(own_daemon):
    """The daemon keeps some of what it does not read, and drops the rest."""
    d = own_daemon(arguments=["--testing"])
    place, jobs = Place(d).make(), 1700  # with three events each
    with Stream(d, buffer=4096) as slow, Stream(d) as good:
        slow.next(), good.next()
        before = d.resident()
        names = [f"j{i}" for i in range(jobs)]
        seed = threading.Thread(target=Testing(d).seed, args=[{"groups": {"big": {"location": "eastus", **ended_jobs(d, names)}}}])
        seed.start()
        seen = good.events(lambda seen: sum(e["to"] == "succeeded" for e in seen) == jobs, 120)
        seed.join()
        assert len(seen) > KEPT
        m, first = slow.next(), 0
        while m.type != "reset":
            first += len(m.data["value"]) if m.type == "changes" else 0
            m = slow.next()
        assert 0 < first < KEPT and "you read more slowly" in m.data["reason"]
        assert d.resident() - before < memory_bound(60 << 20)  # with the rows of all these jobs
        name = fresh("live")
        place.cluster(nodes=0, name=name)
        assert {e["name"] for e in slow.events(has(name, "steady"))} == {name}


def streams_of_one(d, who):
    """As many as one may have."""
    made = []
    try:
        while True:
            made.append(Stream(d, who, endpoint=d.endpoint.replace("https:", "http:")))
    except Refused as e:
        return made, e


def test_thousands_are_refused(own_daemon):
    """Of one principal, and of all; others are served meanwhile, and a place is free again at once."""
    d = own_daemon(config={"http": {"serve": True}})
    reader = [Person(d, "Reader", f"/subscriptions/{d.subscription}") for _ in range(4)]
    held, why = streams_of_one(d, reader[0])
    assert len(held) == 128 and (why.status, why.code) == (429, "TooManyStreams")
    assert int(why.headers["retry-after"]) >= 1 and "128 event streams" in why.message
    for person in reader[1:]:
        more, why = streams_of_one(d, person)
        held += more
    assert len(held) == 512
    with pytest.raises(Refused) as refused:
        Stream(d)
    assert refused.value.status == 503 and refused.value.headers["retry-after"] and "512 event streams" in refused.value.message
    before = d.resident()
    for _ in range(10_000 if deep.DEEP else 500):
        assert d.call("GET", PATH, api_version=None, validate=False).status == 503
    assert d.resident() - before < memory_bound(30 << 20)
    Place(d).make().cluster(nodes=0, name="c")
    for s in held[::50]:
        s.events(has("c", "steady"))
    for s in held:
        s.close()
    wait_for(lambda: opened(d), 5, "a free place").close()


def opened(d, **more):
    try:
        return Stream(d, **more)
    except Refused:
        return None


def test_a_daemon_with_streams_stops_at_once(own_daemon):
    d = own_daemon()
    held = [Stream(d) for _ in range(20)]
    slow = Stream(d, buffer=4096)
    for s in held:
        s.next()
    begin = time.monotonic()
    assert d.stop() == 0
    assert time.monotonic() - begin < 1.5 * PATIENCE
    for s in held:
        assert s.over() == [] and s.ended  # whole to its last chunk
        s.close()
    slow.close()


# --- machines -----------------------------------------------------------------------------------------------------------


def test_machines_that_are_drained_are_told(own_daemon):
    """To whoever may list machines, in at most one message a second."""
    group = {"hosts": "192.0.2.[1-3]", "user": "nobody", "identity": "/dev/null"}
    d = own_daemon(start=False, config={"inventory": [group]})
    key = d.dir / "id_ed25519"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    group["identity"] = str(key)
    d.start()
    limited = Person(d, "Reader", Place(d).make().group_path)
    whole = Person(d, "Reader", f"/subscriptions/{d.subscription}")
    with Stream(d, limited) as hidden, Stream(d, whole) as s:
        hidden.next(), s.next()
        for verb in ("drain", "undrain", "drain"):
            for i in (1, 2):
                d.call("POST", f"/batchaid/nodes/192.0.2.{i}/{verb}", api_version=None, expect=200)
        told, names = [], set()
        while names != {"192.0.2.1", "192.0.2.2"}:
            told.append(s.until("machines"))
            names |= set(told[-1].data["value"])
        assert JUDGE.spec is None or JUDGE.spec[OWN].check_definition("EventStreamMachines", told[0].data) == []
        told += s.quiet(1.5)
        assert len(told) <= 3 and not any(m.data["all"] for m in told)
        d.call("POST", "/batchaid/nodes/192.0.2.3/drain", api_version=None, expect=200)
        assert s.until("machines").data == {"value": ["192.0.2.3"], "all": False}
        group["hosts"] = "192.0.2.[2-4]"
        d.write_config()
        d.tool("reload")
        assert s.until("machines").data == {"value": [], "all": True}
        assert hidden.quiet(1) == []


def test_states_of_gpus_are_told(own_daemon, tmp_path):
    """When samples have others than before."""
    gpus = Gpus(tmp_path)
    d = own_daemon(config={"local": {"nodes": 1, "fake_gpus": 3}}, environment={"PATH": gpus.path})
    place = Place(d).make()
    with Stream(d) as s:
        s.next()
        cluster = place.cluster(nodes=1)
        name = d.call("GET", "/batchaid/nodes", api_version=None).json["value"][0]["name"]
        assert s.until("machines", 60).data["value"] == [name]
        s.quiet(1.5)
        place.job(cluster).succeeded()
        assert s.until("machines", 60).data["value"] == [name]
