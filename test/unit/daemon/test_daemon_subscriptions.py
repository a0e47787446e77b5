# SPDX-License-Identifier: MIT
"""Commands of somebody whose login is of an added subscription, while the configured one has jobs of the same paths."""
import json
import os
import pty
import re
import signal
import subprocess

import pytest
from support.daemon import BATCHAID, Daemon
from support.people import CONTRIBUTOR, Person
from support.world import In, Place, fresh

from conftest import environment
from test_daemon_login import Laptop


@pytest.fixture(scope="module")
def head():
    with Daemon(arguments=["--ephemeral", "--fake-nodes", "--testing"]) as d:
        yield d


class Both:
    """One path in the configured and in an added subscription, whose clusters have no nodes; ada's login is of the added one."""

    def __init__(self, daemon, folder):
        self.daemon = daemon
        added = daemon.call("POST", "/batchaid/subscriptions", expect=201).json["subscriptionId"]
        self.here = Place(daemon, fresh("lab"), "work").make()
        self.there = Place(In(daemon, added), self.here.group, "work").make()
        self.clusters = {place: place.cluster(0) for place in (self.here, self.there)}
        self.ada = Person(daemon, CONTRIBUTOR, f"/subscriptions/{added}")
        self.laptop = Laptop(daemon, folder)
        self.laptop.login(self.ada)
        self.ada.give(CONTRIBUTOR)

    def job(self, place, name):
        """Waits in its queue."""
        made = place.job(self.clusters[place], name=name)
        assert made.state == "queued"
        return made

    def twins(self, name):
        return self.job(self.here, name), self.job(self.there, name)

    def run(self, *arguments, **more):
        return self.laptop.run(*arguments, **more)

    def of(self, place):
        return "--subscription", place.daemon.subscription

    def remove(self):
        for place in (self.here, self.there):
            place.remove()
        self.ada.remove()
        self.daemon.call("DELETE", f"/batchaid/subscriptions/{self.there.daemon.subscription}", expect=204)


@pytest.fixture
def both(head, tmp_path):
    made = Both(head, tmp_path / "home")
    yield made
    made.remove()


def test_the_job_of_the_named_subscription_is_cancelled(both):
    here, there = both.twins("serve")
    assert both.run("cancel", "serve", *both.of(both.here)).stdout == "serve is cancelled\n"
    assert here.fail() and there.state == "queued"
    assert both.run("cancel", "serve").stdout == "serve is cancelled\n"
    assert there.fail()


def test_the_job_of_the_named_subscription_is_repeated(both):
    both.twins("serve")
    assert both.run("rerun", "serve", *both.of(both.here)).stdout == "serve-2\n"
    assert both.here.job_at("serve-2").state == "queued" and both.there.job_at("serve-2").gone()


def test_a_job_that_only_the_configured_subscription_has(both):
    only = both.job(both.here, "only")
    assert both.run("cancel", "only").stdout == "only is cancelled\n"
    assert only.fail()


def test_mine_are_cancelled_in_the_named_subscription(both):
    both.twins("serve")
    for place in (both.here, both.there):
        both.run("rerun", "serve", *both.of(place))
    mine, others = both.here.job_at("serve-2"), both.there.job_at("serve-2")
    said = json.loads(both.run("cancel", "--mine", "--json", *both.of(both.here)).stdout)["value"]
    assert [(one["name"], one["cancelled"], one["subscription"]) for one in said] == [("serve-2", True, both.here.daemon.subscription)]
    assert mine.fail() and others.state == "queued"


def test_run_follows_its_own_job(both):
    """Not that of the same path in the configured subscription, which waits."""
    both.job(both.here, "solo")
    cluster = both.clusters[both.there].resized(1)
    done = both.run("run", "--group", f"{both.there.group}/work", "--cluster", cluster.name, "--experiment", "exp", "--name", "solo",
                    "--no-copy", "--", "true")
    assert done.returncode == 0 and both.there.job_at("solo").state == "succeeded"


def test_hints_name_the_job_of_the_named_subscription(both):
    both.twins("serve")
    words = f"serve --subscription {both.here.daemon.subscription}"
    said = both.run("logs", "serve", *both.of(both.here), check=False).stderr
    assert said == f"batchaid: the job waits; `batchaid explain {words}` shows for what\n"
    both.run("cancel", *words.split())
    assert f"`batchaid explain {words}` shows why" in both.run("logs", "serve", *both.of(both.here), check=False).stderr
    assert f"why: batchaid explain {words}\n" in both.run("wait", "serve", *both.of(both.here), check=False).stderr
    assert "`batchaid explain serve`" in both.run("logs", "serve", check=False).stderr


def offered(both, *words):
    return [line.split("\t") for line in both.run("--complete", *words, "").stdout.splitlines()]


def test_completion_offers_the_subscriptions_in_which_somebody_has_a_role(both):
    ids = [place.daemon.subscription for place in (both.here, both.there)]
    assert set(ids) <= {word for word, *_ in offered(both, "logs", "--subscription")}
    lee = Person(both.daemon, CONTRIBUTOR, both.there.group_path)
    both.laptop.login(lee)
    assert [word for word, *_ in offered(both, "logs", "--subscription")] == [both.there.daemon.subscription]
    lee.remove()


def test_completion_offers_no_word_out_of_a_name(both):
    named = both.daemon.call("POST", "/batchaid/subscriptions", {"displayName": "team\nfake\tname\x1b[31m"}, expect=201).json["subscriptionId"]
    both.ada.give(CONTRIBUTOR, f"/subscriptions/{named}")
    lines = offered(both, "logs", "--subscription")
    assert [named, "team?fake?name?[31m"] in lines and len(lines) == 3
    both.daemon.call("DELETE", f"/batchaid/subscriptions/{named}", expect=204)


@pytest.mark.parametrize("command", [["cancel", "--mine"], ["cancel", "--queued"], ["logs", "-"], ["job", "serve"], ["get", "serve[3]"]])
@pytest.mark.parametrize("id", ["nonsense", "00000000-0000-0000-0000-00000000dead", "a/b?c"])
def test_a_subscription_that_does_not_exist_is_named(both, command, id):
    done = both.run(*command, "--subscription", id, check=False)
    assert done.returncode == 1 and f"there is no subscription '{id}' that you may see; `batchaid subscription list`" in done.stderr


def test_who_detaches_reads_how_to_cancel_that_job(both):
    both.twins("serve")
    ours, theirs = pty.openpty()
    command = [str(BATCHAID), "logs", "-f", "serve", *both.of(both.here)]
    follower = subprocess.Popen(command, env=environment(both.laptop.home), stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    read_until(ours, "\x1b\\[K")  # why the job waits
    follower.send_signal(signal.SIGINT)
    said = read_until(ours, r"batchaid cancel .*\n")
    assert f"batchaid cancel serve --subscription {both.here.daemon.subscription}" in said
    assert follower.wait(60) == 130
    os.close(ours)


def read_until(fd, pattern):
    """What a terminal shows until this has come."""
    said = ""
    while not re.search(pattern, said):
        said += os.read(fd, 65536).decode(errors="replace")
    return said
