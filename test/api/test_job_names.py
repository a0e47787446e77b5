# SPDX-License-Identifier: MIT
"""How the commands name a job: whole, by a unique beginning, or `-` for the last one."""

import json
import subprocess

import pytest
from support.people import Person
from support.world import In, Place, fresh


@pytest.fixture(scope="module")
def ground(daemon):
    place = Place(daemon).make()
    cluster = place.cluster()
    jobs = {name: place.job(cluster, name=name).succeeded() for name in ("train-a", "train-ab", "serve")}
    yield place, jobs
    place.remove()


def named(daemon, name, **more):
    return daemon.tool("explain", "--json", "--", name, check=False, **more)


@pytest.mark.parametrize("given, meant", [
    ("serve", "serve"), ("se", "serve"), ("SE", "serve"), ("train-a", "train-a"), ("train-ab", "train-ab"), ("-", "serve"),
])  # fmt: skip
def test_a_name_or_its_beginning(daemon, ground, given, meant):
    done = named(daemon, given)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["job"]["name"] == meant


def test_a_beginning_below_its_experiment(daemon, ground):
    place, jobs = ground
    experiment = jobs["serve"].path.split("/")[-3]
    assert json.loads(named(daemon, f"{experiment}/se").stdout)["job"]["name"] == "serve"
    assert named(daemon, "elsewhere/se").returncode == 1


def test_several_begin_so(daemon, ground):
    done = named(daemon, "train")
    assert done.returncode == 1 and "there are several of 'train'; name one of them: " in done.stderr
    assert "/train-ab" in done.stderr and "/train-a\n" in done.stderr


def test_none_begins_so(daemon, ground):
    done = named(daemon, "tarin")
    assert done.returncode == 1
    assert "no job or task 'tarin', and no job whose name begins so; `batchaid jobs` lists" in done.stderr


def test_one_path_in_several_subscriptions(daemon, ground):
    """The client's own is meant."""
    place, jobs = ground
    other, third = (Place(In(daemon, daemon.call("POST", "/batchaid/subscriptions", expect=201).json["subscriptionId"]), *names)
                    for names in ((place.group, place.workspace), (fresh("group"), place.workspace)))
    experiment = jobs["serve"].path.split("/")[-3]
    try:
        for there, names in ((other, ("serve", "lone", "twin")), (third, ("twin",))):
            there.make()
            cluster = there.cluster()
            for name in names:
                there.job(cluster, name=name, experiment=experiment).succeeded()
        own = json.loads(named(daemon, "serve").stdout)["job"]
        assert own["name"] == "serve" and "subscription" not in own
        assert json.loads(named(daemon, "lone").stdout)["job"]["subscription"] == other.daemon.subscription
        said = named(daemon, "twin").stderr
        assert "there are several of 'twin'" in said
        assert all(f"/twin of subscription {p.daemon.subscription}" in said for p in (other, third))
    finally:
        for there in (other, third):
            there.remove()
            daemon.call("DELETE", f"/batchaid/subscriptions/{there.daemon.subscription}", expect=204)


def completed(daemon, command, *words):
    of = ["--complete", command, "--state-dir", str(daemon.state_dir), *words]
    return subprocess.run([str(daemon.program), *of], capture_output=True, text=True, check=True).stdout.splitlines()


# What takes a JOB, with what it needs beside.
COMMANDS = [("explain",), ("job",), ("logs",), ("wait",), ("get",), ("cancel",), ("rerun",), ("ssh",), ("exec", "--", "true"), ("forward", "80")]


def test_a_job_of_the_subscription_that_is_named(daemon, ground):
    place, jobs = ground
    other = Place(In(daemon, daemon.call("POST", "/batchaid/subscriptions", expect=201).json["subscriptionId"]), place.group, place.workspace).make()
    there, here = (["--subscription", one] for one in (other.daemon.subscription, daemon.subscription))
    try:
        cluster = other.cluster()
        for name in ("serve", "alone"):
            other.job(cluster, "echo from there", name=name, experiment=jobs["serve"].path.split("/")[-3]).succeeded()
        for command in ("explain", "job"):
            assert json.loads(daemon.tool(command, *there, "--json", "serve").stdout)["job"]["subscription"] == other.daemon.subscription
            assert "subscription" not in json.loads(daemon.tool(command, *here, "--json", "serve").stdout)["job"]
        assert json.loads(daemon.tool("explain", *there, "--json", "-").stdout)["job"]["name"] == "alone"
        assert daemon.tool("logs", *there, "serve").stdout == "from there\n" and "from there" not in daemon.tool("logs", *here, "serve").stdout
        for command, *more in COMMANDS:
            done = daemon.tool(command, *here, "alone", *more, check=False)
            assert done.returncode > 0 and f"no job or task 'alone' in the subscription {daemon.subscription}," in done.stderr, (command, done.stderr)
        assert completed(daemon, "logs", *there, "")[:2] == ["alone\tsucceeded", "serve\tsucceeded"]
        assert other.daemon.subscription in [one.split("\t")[0] for one in completed(daemon, "logs", "--subscription", "")]
        assert daemon.tool("cancel", *there, "--mine").stdout == f"you have no running or waiting jobs in the subscription {other.daemon.subscription}\n"
    finally:
        other.remove()
        daemon.call("DELETE", f"/batchaid/subscriptions/{other.daemon.subscription}", expect=204)


def test_several_of_one_subscription_are_told_apart_by_their_names(daemon, ground, temporary):
    added = daemon.call("POST", "/batchaid/subscriptions", expect=201).json["subscriptionId"]
    there = temporary(Place(In(daemon, added)).make())
    for name in ("part-a", "part-b"):
        there.job(there.cluster(1), name=name).succeed()
    said = daemon.tool("explain", "part", "--subscription", added, check=False).stderr
    assert "there are several of 'part'; name one of them: " in said and "subscription" not in said


def test_mine_and_the_last_are_the_callers_own(daemon, ground):
    ada = Person(daemon, "Reader")
    try:
        assert ada.get("/batchaid/jobs", params={"mine": "true"}, api_version=None)["value"] == []
        mine = daemon.call("GET", "/batchaid/jobs", params={"mine": "true", "max": 1}, api_version=None).json["value"]
        assert [j["name"] for j in mine] == ["serve"]
        assert [j["name"] for j in ada.get("/batchaid/jobs", params={"begins": "train-"}, api_version=None)["value"]] == ["train-ab", "train-a"]
    finally:
        ada.remove()


def test_without_a_job_there_is_no_last(own_daemon):
    d = own_daemon()
    done = named(d, "-")
    assert done.returncode == 1 and "`-` is your last job, and you have no job here; " in done.stderr
    added = d.call("POST", "/batchaid/subscriptions", expect=201).json["subscriptionId"]
    assert f"you have no job in the subscription {added}; " in d.tool("explain", "-", "--subscription", added, check=False).stderr
