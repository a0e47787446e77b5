# SPDX-License-Identifier: MIT
"""Where jobs on local nodes reach the daemon's own files, these serve the first principal alone."""

import os

import pytest
from support.batch import BatchGround, Plane
from support.batch_jobs import POOL, add_pool
from support.daemon import Daemon
from support.people import CONTRIBUTOR, READER, Person
from support.someone import SomeonesDaemon, without_landlock
from support.world import Place, cluster_body, job_body

WHY = "local.shared_user: true"


@pytest.fixture(scope="module")
def alone():
    with SomeonesDaemon(prefix=without_landlock()) as d:
        yield d


@pytest.fixture(scope="module")
def place(alone):
    made = Place(alone).make()
    yield made
    made.remove()


@pytest.fixture(scope="module")
def ground(alone):
    g = BatchGround(alone)
    g.plane = g.plane.with_token()
    add_pool(g.plane, "there", targetDedicatedNodes=0)
    yield g
    g.remove()


class Of(Plane):
    """The account as one person uses it."""

    def __init__(self, plane, person):
        super().__init__(plane.daemon, plane.account, plane.key, plane.version, "token", plane.location)
        self.token = person.login(resource="https://batch.core.windows.net/").json["access_token"]

    def head(self, *args, **more):
        return {**super().head(*args, **more), "Authorization": f"Bearer {self.token}"}


def test_with_one_person_all_is_served_and_the_start_says_what_will_be(alone, place):
    assert any(" local_nodes.restricted " in line for line in alone.log())
    place.job(place.cluster(1), "true").succeed()


def test_others_run_nothing_on_local_nodes(alone, place):
    cluster = place.cluster(1)
    done = alone.tool("user", "add", "eve@lab", "--role", CONTRIBUTOR)
    assert "local.shared_user" in done.stderr and len(done.stdout.splitlines()) == 2
    ada = Person(alone, CONTRIBUTOR, place.group_path)
    assert "local.shared_user" in ada.made["note"]
    experiment = place.path + "/experiments/x"
    ada.call("PUT", experiment, {}, expect=(200, 202))
    for path, body in ((place.path + "/clusters/theirs", cluster_body(0)), (experiment + "/jobs/j", job_body(cluster.id))):
        reply = ada.call("PUT", path, body)
        assert reply.status == 403 and WHY in reply.error["message"], reply
    place.job(cluster, "true").succeed()
    ada.remove()
    alone.tool("user", "remove", "eve@lab")


TASK = {"id": "t", "commandLine": "/bin/true"}


@pytest.mark.parametrize("path, body", [
    ("/pools", {"id": "theirs", **POOL, "targetDedicatedNodes": 0}),
    ("/jobs", {"id": "theirs", "poolInfo": {"poolId": "there"}}),
    ("/jobs", {"id": "theirs", "poolInfo": {"poolId": "nowhere"}}),
    ("/jobs/j/tasks", TASK),
    ("/jobschedules", {"id": "s", "schedule": {}, "jobSpecification": {"poolInfo": {"poolId": "there"}}}),
])  # fmt: skip
def test_nor_do_they_by_azure_batch(alone, ground, path, body, temporary):
    ground.plane.call("POST", "/jobs", {"id": "j", "poolInfo": {"poolId": "there"}}, expect=(201, 409))
    reply = Of(ground.plane, temporary(Person(alone, CONTRIBUTOR))).call("POST", path, body)
    assert reply.status == 403 and WHY in reply.content.decode(), reply


def test_a_key_counts_as_the_first_principals_until_somebody_else_may_list_it(alone, temporary):
    g = temporary(BatchGround(alone))
    plane = g.plane
    add_pool(plane, "p", targetDedicatedNodes=0)
    bob = temporary(Person(alone, READER))  # may not list keys
    plane.call("POST", "/jobs", {"id": "one", "poolInfo": {"poolId": "p"}}, expect=201)
    ada = Person(alone, "Azure Batch Account Contributor")
    reply = plane.call("POST", "/jobs", {"id": "two", "poolInfo": {"poolId": "p"}})
    assert reply.status == 403 and WHY in reply.content.decode(), reply
    g.plane.with_token().call("POST", "/jobs", {"id": "three", "poolInfo": {"poolId": "p"}}, expect=201)
    ada.remove()
    plane.call("POST", "/jobs", {"id": "two", "poolInfo": {"poolId": "p"}}, expect=201)


def others_are_served(d):
    place = Place(d).make()
    ada = Person(d, CONTRIBUTOR, place.group_path)
    reply = ada.call("PUT", place.path + "/clusters/theirs", cluster_body(0))
    return reply.status < 300, ada.made.get("note")


def test_a_site_may_say_that_the_user_is_shared():
    with SomeonesDaemon({"local": {"shared_user": True}}, prefix=without_landlock()) as d:
        assert others_are_served(d) == (True, None)
        assert not any("local_nodes.restricted" in line for line in d.log())


def test_without_local_nodes_nothing_is_said():
    with SomeonesDaemon({"local": {"nodes": 0}}, prefix=without_landlock()) as d:
        assert Person(d, CONTRIBUTOR).made.get("note") is None


@pytest.mark.skipif(os.geteuid() != 0, reason="only a daemon that is root gives jobs accounts")
def test_roots_daemon_without_accounts_is_alone_too():
    with Daemon({"jobs": {"uids": 0}}) as d:
        assert not others_are_served(d)[0]
    with Daemon() as d:
        assert others_are_served(d) == (True, None)
