# SPDX-License-Identifier: MIT
"""Where a stream of events begins: behind the last event of its client, or with a reset if something is missing."""

import sqlite3
import threading

import pytest
from support.daemon import JUDGE
from support.event_streams import KEPT, Refused, Stream, has, listed
from support.spec import OWN
from support.waiting import wait_for
from support.world import Place, fresh


def add_events(d, count, at=None):
    """Of a stopped daemon: of the newest resource, written as the daemon writes them."""
    with sqlite3.connect(d.state_dir / "batchaid.db") as db:
        last = db.execute("SELECT * FROM event ORDER BY seq DESC LIMIT 1").fetchone()
        rows = [(at or last[1] + i, *last[2:]) for i in range(count)]
        db.executemany("INSERT INTO event (at_us, kind, resource_id, from_state, to_state, reason) VALUES (?, ?, ?, ?, ?, ?)", rows)
    db.close()


def test_it_goes_on_behind_an_id(place, shared_cluster):
    d = place.daemon
    with Stream(d) as s:
        s.next()
        first = place.job(shared_cluster).succeeded()
        s.events(has(first.name, "succeeded"))
        last = s.id
    second = place.job(shared_cluster).succeeded()
    wanted = listed(d, int(last.split("-")[0]))
    for given in ({"last": last}, {"since": last}, {"since": last.split("-")[0]}, {"last": last, "since": 0}):
        with Stream(d, **given) as s:
            seen = s.events(has(second.name, "succeeded"))
            assert seen == wanted[: len(seen)]


def test_from_the_beginning(own_daemon):
    d = own_daemon()
    place = Place(d).make()
    place.cluster(nodes=1)
    with Stream(d, since=0) as s, Stream(d, since=0) as other:
        wanted = listed(d)
        assert s.events(lambda seen: len(seen) >= len(wanted)) == wanted
        assert other.events(lambda seen: len(seen) >= len(wanted)) == wanted


def test_an_id_that_is_gone_or_will_be_is_reset(own_daemon):
    d = own_daemon()
    place = Place(d).make()
    gone = place.cluster(nodes=0, name="gone")
    with Stream(d) as s:
        old = s.next().id
    gone.delete()
    wait_for(gone.gone)
    place.cluster(nodes=0, name="stays")
    with Stream(d) as s:
        now = s.next().id
    number, tag, _ = now.split("-")
    for last, why in ((old, "has been removed"), (f"{int(number) + 1000}-{tag}", "not happened"), (str(2**63 - 1), "not happened"),
                      (f"{number}-00000000", "restored")):  # fmt: skip
        with Stream(d, last=last) as s:
            m = s.next()
            assert m.type == "reset" and why in m.data["reason"] and m.id == now
            assert JUDGE.spec is None or JUDGE.spec[OWN].check_definition("EventStreamReason", m.data) == []
            name = fresh("live")
            place.cluster(nodes=0, name=name)
            assert {e["name"] for e in s.events(has(name, "steady"))} == {name}
            now = s.id


@pytest.mark.parametrize("forged", ["-1", "+1", "1e99", str(2**63), "9" * 400, "x", "1-", "1-xyz", "1-00000000x", "1-00000000-", "1-00000000-0", "1-00000000-00000000-", "0x10", "1 2", "%00"])
def test_forged_ids_are_refused(daemon, forged):
    for given in ({"last": forged}, {"since": forged.replace(" ", "%20").replace("+", "%2B")}):
        with pytest.raises(Refused) as refused:
            Stream(daemon, **given)
        assert refused.value.status == 400 and refused.value.code == "InvalidQueryParameterValue"
        assert "is not the id of an event" in refused.value.message


def test_too_many_missed_events_are_reset(own_daemon):
    d = own_daemon()
    Place(d).make().cluster(nodes=0)
    begun = listed(d)
    d.stop()
    add_events(d, KEPT)
    d.start()
    last = begun[-1]["sequence"]
    with Stream(d, since=last) as s:
        seen = s.events(lambda seen: len(seen) >= KEPT)
        assert [e["sequence"] for e in seen] == list(range(last + 1, last + KEPT + 1))
    with Stream(d, since=last - 1) as s:
        m = s.next()
        assert m.type == "reset" and "more than 4096" in m.data["reason"]


def test_a_restart_gives_each_event_once(own_daemon):
    d = own_daemon()
    place = Place(d).make()
    cluster = place.cluster(nodes=1)
    seen, s = [], Stream(d)
    s.next()
    for how in (d.restart, d.crash, d.restart):
        job = place.job(cluster).succeeded()
        seen += s.events(has(job.name, "succeeded"))
        last = s.id
        how()
        s.over()
        s.close()
        s = Stream(d, last=last)
    job = place.job(cluster).succeeded()
    seen += s.events(has(job.name, "succeeded"))
    s.close()
    numbers = [e["sequence"] for e in seen]
    assert numbers == sorted(set(numbers))
    assert seen == [e for e in listed(d) if e["sequence"] >= numbers[0]][: len(seen)]


def test_a_removal_before_a_restart_is_not_lost(own_daemon):
    """It has no event that could be read again, so whoever was away begins anew; whoever has a later event goes on."""
    d = own_daemon()
    place = Place(d).make()
    place.cluster(nodes=0, name="goes")
    with Stream(d) as s:
        s.next()
        away = place.cluster(nodes=0, name="stays") and s.events(has("stays", "steady")) and s.id
    with Stream(d):
        place.cluster_at("goes").delete()
        place.cluster(nodes=0, name="later")
    d.stop()
    d.start()
    with Stream(d, last=away) as s:
        assert s.next().type == "reset"
    with Stream(d, since=listed(d)[-1]["sequence"]) as s:
        place.cluster(nodes=0, name="last")
        assert s.events(has("last", "steady"))


def test_a_removal_is_told_behind_the_events_that_are_listed(own_daemon):
    """At once after an event, which the stream has not read yet."""
    d = own_daemon()
    place = Place(d).make()
    with Stream(d) as other:
        other.next()
        for i in range(5):
            place.cluster(nodes=0, name=f"c{i}")
            place.cluster(nodes=0, name=f"stays{i}")
            at = listed(d)[-1]["sequence"]
            place.cluster_at(f"c{i}").delete()
            with Stream(d, since=at) as s:
                assert s.events(has(f"c{i}", "deleted"))


def test_a_killed_daemon_has_what_it_told(own_daemon):
    """Only what is on disk is told."""
    d = own_daemon()
    place = Place(d).make()
    cluster = place.cluster(nodes=1)
    for _ in range(3):
        s, over = Stream(d), threading.Event()
        s.next()

        def work():
            while not over.is_set():
                try:
                    place.job(cluster)
                except (OSError, AssertionError):
                    return

        thread = threading.Thread(target=work)
        thread.start()
        seen = s.events(lambda seen: len(seen) > 20)
        d.kill9()
        over.set()
        thread.join()
        seen += [e for m in s.over() if m.type == "changes" for e in m.data["value"]]
        s.close()
        d.start()
        have = {(e["sequence"], e["name"], e["to"]) for e in listed(d)}
        assert {(e["sequence"], e["name"], e["to"]) for e in seen} <= have
