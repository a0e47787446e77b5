# SPDX-License-Identifier: MIT
"""Several subscriptions in one daemon: each with resources, quotas and roles of its own."""

import uuid

import pytest
from support.people import CONTRIBUTOR, READER, Person
from support.refusals import P, refused
from support.world import In, Place, fresh

GROUPS = "api-version=2019-10-01"


def added(daemon):
    return [s["subscriptionId"] for s in daemon.get("/batchaid/subscriptions")["value"]]


@pytest.fixture
def add(daemon):
    made = []

    def one(**body):
        made.append(daemon.call("POST", "/batchaid/subscriptions", body or None, expect=201).json["subscriptionId"])
        return In(daemon, made[-1])

    yield one
    for guid in made:
        daemon.call("DELETE", f"/batchaid/subscriptions/{guid}", expect=(204, 404))


def shown(daemon):
    return {s["subscriptionId"]: s["displayName"] for s in daemon.get("/subscriptions?api-version=2016-06-01")["value"]}


def test_one_is_added_shown_and_removed(daemon, add):
    guid = str(uuid.uuid4())
    add(subscriptionId=guid.upper(), displayName="team b")
    assert added(daemon)[-1] == guid
    assert shown(daemon)[guid] == "team b" and daemon.subscription in shown(daemon)
    one = daemon.get(f"/subscriptions/{guid.upper()}?api-version=2016-06-01")
    assert (one["id"], one["displayName"], one["state"]) == (f"/subscriptions/{guid}", "team b", "Enabled")
    daemon.call("DELETE", f"/batchaid/subscriptions/{guid}", expect=204)
    assert guid not in added(daemon) and guid not in shown(daemon)
    refused(daemon.call("GET", f"/subscriptions/{guid}?api-version=2016-06-01"), 404, "SubscriptionNotFound", words=[guid])


def test_without_a_body_it_gets_an_id_and_that_as_its_name(daemon, add):
    one = add()
    assert shown(daemon)[one.subscription] == one.subscription and uuid.UUID(one.subscription)


def test_the_same_names_are_different_resources(daemon, add):
    places = [Place(In(daemon, s), "same", "ws") for s in (add().subscription, add().subscription)]
    jobs = []
    for place in places:
        place.make()
        jobs.append(place.job(place.cluster(name="c"), "echo here", name="j"))
        jobs[-1].succeed()
    for place, job in zip(places, jobs):
        assert job.get()["id"].startswith(f"/subscriptions/{place.daemon.subscription}/")
        assert daemon.call("DELETE", job.path).status == 202
    everywhere = daemon.get(f"/subscriptions/{daemon.subscription}/resourcegroups?{GROUPS}")["value"]
    assert "same" not in [g["name"] for g in everywhere]
    places[0].remove()
    assert places[1].cluster_at("c").get()["name"] == "c"
    places[1].remove()


def test_a_job_names_clusters_of_its_own_subscription_alone(daemon, add):
    here, there = (Place(add(), fresh("group"), "ws").make() for _ in range(2))
    cluster = there.cluster(nodes=0)
    here.experiment()
    body = {"properties": {"cluster": {"id": cluster.id}, "nodeCount": 1, "stdOutErrPathPrefix": "/tmp",
                           "customToolkitSettings": {"commandLine": "true"}}}  # fmt: skip
    reply = daemon.call("PUT", f"{here.experiment_path()}/jobs/j", body)
    refused(reply, 404, "SubscriptionNotFound", P + "cluster.id", [there.daemon.subscription])
    here.remove()
    there.remove()


def test_quotas_count_by_subscription(own_daemon):
    d = own_daemon(config={"quota": {"clusters": 1}})
    others = [d.call("POST", "/batchaid/subscriptions", expect=201).json["subscriptionId"] for _ in range(2)]
    for subscription in others:
        place = Place(In(d, subscription), "g", "ws").make()
        place.cluster(nodes=0, name="one")
        reply = d.call("PUT", f"{place.path}/clusters/two", place.cluster_at("one").get(), validate=False)
        assert reply.status in (400, 409), reply


def test_a_role_in_one_gives_nothing_in_another(daemon, add, temporary):
    mine, other = add(), add()
    person = temporary(Person(daemon, role=CONTRIBUTOR, scope=f"/subscriptions/{mine.subscription}"))
    seen = person.get("/subscriptions?api-version=2016-06-01", api_version=None)["value"]
    assert [s["subscriptionId"] for s in seen] == [mine.subscription]
    for daemon_of, status in ((mine, 201), (other, 403)):
        path = f"/subscriptions/{daemon_of.subscription}/resourceGroups/g"
        assert person.call("PUT", path, {"location": "here"}).status == status
    Place(mine, "g", "ws").remove()


def test_one_with_something_in_it_stays(daemon, add):
    one = add()
    place = Place(one, "held", "ws").make()
    path = f"/batchaid/subscriptions/{one.subscription}"
    refused(daemon.call("DELETE", path), 409, "Conflict", words=["held"])
    place.remove()
    daemon.call("DELETE", path, expect=204)


def test_the_configurations_own_stays(daemon):
    path = f"/batchaid/subscriptions/{daemon.subscription.upper()}"
    refused(daemon.call("DELETE", path), 409, "Conflict", words=[daemon.subscription])
    refused(daemon.call("POST", "/batchaid/subscriptions", {"subscriptionId": daemon.subscription}), 409, "Conflict", "subscriptionId")


@pytest.mark.parametrize(
    "body, named",
    [
        ({"subscriptionId": "main"}, "main"),
        ({"subscriptionId": "11111111-2222-4333-8444-55555555555g"}, "5g"),
        ({"displayName": ""}, "displayName"),
        ({"displayName": "x" * 65}, "displayName"),
        ({"displayname": "x"}, "displayname"),
        ({"subscriptionId": 1}, "a string"),
    ],
)
def test_what_cannot_be_is_refused(daemon, body, named):
    reply = daemon.call("POST", "/batchaid/subscriptions", body, validate=False)
    assert reply.status == 400 and named in reply.error["message"], reply


def test_one_that_nobody_added_is_not_there(daemon):
    refused(daemon.call("DELETE", f"/batchaid/subscriptions/{uuid.uuid4()}"), 404, "ResourceNotFound")
    reply = daemon.call("GET", f"/subscriptions/{uuid.uuid4()}/resourcegroups?{GROUPS}")
    refused(reply, 404, "SubscriptionNotFound")


def test_only_who_may_write_adds_them(daemon, temporary):
    person = temporary(Person(daemon, role=READER))
    assert person.get("/batchaid/subscriptions", api_version=None)["value"] is not None
    assert person.call("POST", "/batchaid/subscriptions", api_version=None).status == 403


def test_a_removed_one_can_come_back_empty(daemon, add):
    guid = str(uuid.uuid4())
    Place(add(subscriptionId=guid), "g", "ws").make().remove()
    daemon.call("DELETE", f"/batchaid/subscriptions/{guid}", expect=204)
    add(subscriptionId=guid)
    assert daemon.get(f"/subscriptions/{guid}/resourcegroups?{GROUPS}")["value"] == []
