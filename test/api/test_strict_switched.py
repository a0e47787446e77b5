# SPDX-License-Identifier: MIT
"""Strict mode that is switched, or whose clock is, in the middle of what takes time in it: all of that ends, by the
documented states, and what comes after it is served."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from support.testing import Clock, Strict
from support.under_way import WHAT, Ground
from support.waiting import wait_for
from support.world import cluster_body, fresh

ARGUMENTS = ("--ephemeral", "--fake-nodes")
EXPECTS = ("short_of_nodes", "node.link", "run.failed", "leftover_killed", "blocked")
CLOCK = {"rate": 0}


def spans(strict, span):
    """All that takes time takes so long."""
    return {name: span for name, value in strict.all()[-1].items() if isinstance(value, str) and value.startswith("P")}


@pytest.fixture(scope="module")
def ground(tested):
    made = Ground(tested, Strict(tested))
    yield made
    made.remove()


@pytest.fixture
def slow(ground, strict, clock):
    """slow(what): it is begun, in strict mode that holds each step up for ten minutes, and is in its middle."""

    def begin(what, **more):
        start = WHAT[what](ground)
        clock.advance("PT1H")
        strict.set(**spans(strict, "PT10M"))
        going = start()
        going.what = what
        clock.advance("PT5M")
        assert not going.is_over(), going.said()
        return going

    return begin


# Of more than one part that takes time, one after the other.
IN_PARTS = ("cluster that is created", "cluster that grows", "job that is created", "pool that is created", "pool that grows")
IN_PARTS += ("node that restarts", "node that is reimaged")


def walk(clock, going, first, then):
    """The first part ends after so long, each other after that."""
    clock.advance(first)
    for _ in range(6 if going.what in IN_PARTS else 0):
        going.look()
        clock.advance(then)
    assert going.is_over(), going.said()


def end(going):
    wait_for(going.is_over, what=going.said)


def off(strict, clock, going):
    strict.off()


def shorter(strict, clock, going):
    strict.set(**spans(strict, "PT6M"))
    clock.advance("PT59S")
    going.look()
    walk(clock, going, "PT61S", "PT6M")


def longer(strict, clock, going):
    strict.set(**spans(strict, "PT30M"))
    clock.advance("PT24M")
    assert not going.is_over(), going.said()
    walk(clock, going, "PT61S", "PT30M")


def off_and_on_again(strict, clock, going):
    strict.off()
    strict.set(**spans(strict, "PT20M"))
    going.anew()
    walk(clock, going, "PT15M", "PT20M")


def clock_set_back(strict, clock, going):
    """By more than an hour: what began in the time to come does not wait until that comes."""
    clock.change(real=True)
    clock.change(rate=0)
    going.anew()
    for _ in range(5):
        clock.advance("PT10M")
        going.look()


@pytest.mark.parametrize("switch", [off, shorter, longer, off_and_on_again, clock_set_back], ids=lambda f: f.__name__)
@pytest.mark.parametrize("what", WHAT)
def test_what_is_under_way_ends_when_strict_mode_or_its_clock_is_switched(ground, slow, strict, clock, what, switch):
    going = slow(what)
    switch(strict, clock, going)
    end(going)
    strict.forget()
    ground.works()


# --- all at once ------------------------------------------------------------------------------------------


def all_begun(ground, strict, clock, **whose):
    """Everything that takes time, in its middle, where each step takes ten minutes."""
    starts = {what: prepare(ground) for what, prepare in WHAT.items()}
    clock.advance("PT1H")
    strict.call("POST", "/strict", {**spans(strict, "PT10M"), **whose}, expect=200)
    begun = {what: start() for what, start in starts.items()}
    clock.advance("PT5M")
    assert [what for what, going in begun.items() if going.is_over()] == []
    return begun


def all_end(begun):
    for what, going in begun.items():

        def is_over(going=going):
            going.daemon.forget_token()  # where the clock runs, it lasts a second or two
            return going.is_over()

        wait_for(is_over, what=lambda what=what, going=going: f"{what}: {going.said()}")


def everybodys_is_off(strict, clock):
    strict.call("DELETE", "/strict", expect=204)


def subscription_is_spared(strict, clock):
    strict.set(strict=False)


def nothing_takes_time(strict, clock):
    strict.set(**spans(strict, "PT0S"))


def clock_runs(strict, clock):
    clock.change(rate=2000)


@pytest.mark.parametrize("switch", [everybodys_is_off, subscription_is_spared, nothing_takes_time, clock_runs], ids=lambda f: f.__name__)
def test_all_that_is_under_way_where_everybody_asks_for_it_ends(ground, strict, clock, switch):
    begun = all_begun(ground, strict, clock)
    switch(strict, clock)
    all_end(begun)
    clock.change(rate=0)
    strict.forget()
    ground.works()


def test_all_ends_that_began_while_strict_mode_was_switched_on_and_off(ground, strict, clock):
    starts = {what: prepare(ground) for what, prepare in WHAT.items()}
    clock.advance("PT1H")
    begun = {}
    for what, start in starts.items():
        begun[what] = start()
        strict.set(**spans(strict, "PT10M"))
        begun[what].look()
        if len(begun) % 3 == 0:
            strict.off()
            begun[what].anew()
    strict.set(**spans(strict, "PT10M"))
    for going in begun.values():
        going.anew()
    for _ in range(6):
        clock.advance("PT10M")
        for going in begun.values():
            going.look()
    all_end(begun)
    strict.forget()
    ground.works()


# --- with faults ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fault", [{"node": {"effect": "holdPreparation"}}, {"allocation": {}}], ids=["node", "allocation"])
def test_what_a_fault_holds_is_held_until_it_is_released_and_strict_mode_has_ended(ground, slow, strict, clock, fault):
    made = strict.fault({"subscription": strict.daemon.subscription}, **fault)
    going = slow("cluster that grows")
    strict.off()
    clock.advance("PT1H")
    assert not going.is_over(), going.said()
    strict.set(**spans(strict, "PT10M"))
    going.anew()
    strict.call("POST", f"/faults/{made['id']}/release", expect=200)
    clock.advance("PT1H")
    end(going)
    strict.forget()
    ground.works()


@pytest.mark.parametrize("first", [True, False], ids=["strict before", "strict after"])
def test_a_request_that_a_fault_holds_is_of_the_mode_in_which_it_is_carried_out(ground, strict, clock, first):
    clock.advance("PT1H")
    if first:
        strict.set(**spans(strict, "PT10M"))
    fault = strict.fault({"operation": "Clusters_Create"}, hold=True)
    cluster = ground.place.cluster_at(fresh("c"))
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(cluster.call, "PUT", body=cluster_body(1), expect=202)
        wait_for(lambda: strict.get("/faults")["value"][0]["held"] == 1, what="it is held")
        if first:
            strict.off()
        else:
            strict.set(**spans(strict, "PT10M"))
        strict.call("POST", f"/faults/{fault['id']}/release", expect=200)
        url = asked.result().headers["Azure-AsyncOperation"]
    if not first:
        assert ground.daemon.get(url)["status"] == "InProgress"
        clock.advance("PT10M")
    assert ground.daemon.get(url)["status"] == "Succeeded"
    strict.off()
    wait_for(lambda: cluster.counts()["idleNodeCount"] == 1, what="its node")


# --- what ends all (the last, as the module's ground goes with it) -------------------------------------------


@pytest.mark.parametrize(
    ("scope", "asks"),
    [("all", "the subscription"), ("subscription", "the subscription"), ("subscription", "everybody"), ("groups", "everybody")],
)
def test_a_reset_in_the_middle_leaves_nothing_that_waits(tested, strict, clock, asks, scope, temporary):
    whose = {"subscription": tested.subscription}
    ground = temporary(Ground(tested, strict))
    all_begun(ground, strict, clock, **(whose if asks == "the subscription" else {}))
    groups = tested.get(f"/subscriptions/{tested.subscription}/resourcegroups")["value"]
    before = len(tested.log())
    if scope == "groups":
        for group in groups:
            strict.reset(**whose, resourceGroup=group["name"])
    else:
        strict.reset(**(whose if scope == "subscription" else {}))

    def removed():
        return sum('resource.deleted kind="resource group"' in line for line in tested.log()[before:])

    wait_for(lambda: removed() == len(groups), what=lambda: f"{removed()} of {len(groups)} groups removed")
    wait_for(lambda: tested.get("/batchaid/nodes")["value"] == [], what=lambda: tested.get("/batchaid/nodes"))
    strict.forget()
    ground.make()
    ground.works()


@pytest.mark.parametrize("how, arguments", [("is restarted", []), ("is killed", ["--strict"])], ids=["restarted", "killed, strict"])
def test_all_ends_when_the_daemon_starts_again_in_the_middle(own_daemon, how, arguments, temporary):
    d = own_daemon(arguments=["--testing", "--fake-nodes"])
    for pattern in ("node.lost", "node.unusable", *EXPECTS):
        d.expect_log(pattern)
    strict, clock = Strict(d), Clock(d)
    clock.change(rate=0)
    ground = temporary(Ground(d, strict))
    begun = all_begun(ground, strict, clock)
    if how == "is killed":
        d.kill9()
    d.arguments += arguments
    d.restart()
    d.forget_token()
    strict, clock = Strict(d), Clock(d)
    assert [p["strict"] for p in strict.all()] == [bool(arguments)]
    for _ in range(6 if arguments else 0):
        clock.advance("PT5M")
        for going in begun.values():
            going.look()
    all_end(begun)
    strict.set(strict=False)
    ground.works()
