# SPDX-License-Identifier: MIT
"""Faults of fake nodes and of allocations: counted, held, and let go."""

import json

import pytest
from support.batch import BatchGround
from support.batch_jobs import Jobs, add_pool
from support.refusals import INVALID, MISSING, refused
from support.testing_fixtures import place  # noqa: F401 (a fixture)
from support.waiting import wait_for
from support.world import fresh, instant

ARGUMENTS = ("--ephemeral",)
EXPECTS = ("short_of_nodes", "node.unusable", "node.link", "node.prepare", "node.lost", "run.failed", "leftover_killed")


def release(t, fault):
    return t.call("POST", f"/faults/{fault['id']}/release", expect=200).json["released"]


def hits(t):
    return [(f["hits"], f["held"]) for f in t.get("/faults")["value"]]


# --- allocation -----------------------------------------------------------------------------------


def test_a_pool_stays_resizing_and_its_job_queued_until_it_is_let_go(place, t):
    fault = t.fault({"pool": "slow*"}, allocation={})
    cluster = place.cluster(2, name="slow", vmSize="FAKE", steady=False)
    job = place.job(cluster)
    wait_for(lambda: hits(t) == [(1, 1)], what="it is held")
    p = cluster.properties
    assert p["allocationState"] == "resizing" and p["currentNodeCount"] == 0 and not p.get("errors")
    assert job.state == "queued"
    assert place.job(place.cluster(vmSize="FAKE")).succeed()  # others are not held
    assert release(t, fault) == 1
    job.succeed()
    cluster.wait_steady(2)
    assert hits(t) == [(1, 0)]


def test_an_allocation_fails_with_an_error_of_the_service(place, t):
    t.fault(allocation={"code": "CoreQuotaExceeded", "message": "The cores of the subscription are used up."})
    cluster = place.cluster(2, vmSize="FAKE", steady=False)
    wait_for(lambda: cluster.properties.get("errors"), what="the error")
    (error,) = cluster.properties["errors"]
    assert (error["code"], error["message"]) == ("CoreQuotaExceeded", "The cores of the subscription are used up.")
    t.call("DELETE", "/faults", expect=204)
    cluster.wait_steady(2)
    assert not cluster.properties.get("errors")


def test_the_second_pool_is_held(place, t):
    t.fault(skip=1, allocation={})
    place.cluster(vmSize="FAKE")
    second = place.cluster(vmSize="FAKE", steady=False)
    wait_for(lambda: hits(t) == [(1, 1)], what="it is held")
    place.cluster(vmSize="FAKE")
    t.call("DELETE", "/faults", expect=204)
    second.wait_steady(1)


def test_quota_is_a_reply(place, t):
    t.fault({"operation": "Clusters_Create"}, reply={"status": 409, "code": "QuotaExceeded", "message": "No."})
    reply = place.daemon.call("PUT", f"{place.path}/clusters/c", {"properties": {}}, validate=False)
    refused(reply, 409, "QuotaExceeded")


# --- preparation ----------------------------------------------------------------------------------


def test_the_second_node_cannot_be_prepared(place, t):
    fault = t.fault(skip=1, node={"effect": "failPreparation", "message": "its disk is gone"})
    cluster = place.cluster(3, vmSize="FAKE", steady=False)
    wait_for(lambda: cluster.counts()["unusableNodeCount"] == 1 and cluster.counts()["idleNodeCount"] == 2, what="its nodes")
    (error,) = cluster.properties["errors"]
    assert error["code"] == "NodePreparationFailed" and "its disk is gone" in error["message"], error
    assert hits(t) == [(1, 1)]
    assert release(t, fault) == 1
    cluster.resized(4)


def test_a_preparation_is_held(place, t):
    fault = t.fault(node={"effect": "holdPreparation"}, times=0)
    cluster = place.cluster(2, vmSize="FAKE", steady=False)
    job = place.job(cluster)
    wait_for(lambda: hits(t) == [(2, 2)], what="both are held")
    assert cluster.counts()["preparingNodeCount"] == 2 and job.state == "queued"
    release(t, fault)
    job.succeed()


# --- in mid-job -----------------------------------------------------------------------------------


def test_a_node_is_lost_in_mid_job(place, t, clock):
    t.rules({"duration": "PT6H"})
    fault = t.fault({"name": "lost*"}, node={"effect": "lost", "after": "PT1H"})
    cluster = place.cluster(vmSize="FAKE")
    clock.change(rate=0)
    job = place.job(cluster, name=fresh("lost")).running()
    clock.advance("PT59M")
    assert job.state == "running" and hits(t) == [(1, 0)]
    clock.advance("PT2H")
    assert hits(t) == [(1, 1)]
    assert cluster.counts()["unusableNodeCount"] == 1
    assert job.state == "queued"  # it waits for a node that works
    assert release(t, fault) == 1
    clock.advance("PT12H")
    job.succeed()
    assert cluster.counts()["idleNodeCount"] == 1


@pytest.mark.parametrize("effect", ["restart", "preempted"])
def test_a_node_begins_anew(place, t, clock, effect):
    t.rules({"duration": "PT2H"})
    t.fault(node={"effect": effect, "after": "PT1H"})
    cluster = place.cluster(vmSize="FAKE")
    clock.change(rate=0)
    job = place.job(cluster).running()
    clock.advance("PT6H")
    p = job.wait("failed", "succeeded")
    info = p["executionInfo"]
    if p["executionState"] == "succeeded":  # it was queued again, and ran anew
        assert (instant(info["endTime"]) - instant(info["startTime"])).total_seconds() >= 2 * 3600
    else:
        assert info["errors"]
    assert cluster.counts()["idleNodeCount"] == 1
    assert hits(t) == [(1, 0)]


def test_a_task_of_azure_batch_on_a_preempted_node_runs_again(tested, t, clock, temporary):
    plane = temporary(BatchGround(tested)).plane
    t.rules({"duration": "PT2H"})
    t.fault({"pool": "low", "name": "*/t"}, node={"effect": "preempted", "after": "PT1H"})
    add_pool(plane, "low", vmSize="fake", targetLowPriorityNodes=1)
    jobs = Jobs(plane, "low")
    job = jobs()
    job.begin("train", id="t")
    clock.change(rate=0)
    clock.advance("PT6H")
    task = job.task("t")
    assert task["state"] == "completed" and task["executionInfo"]["exitCode"] == 0
    assert task["executionInfo"]["requeueCount"] == 1
    clock.change(real=True)
    jobs.remove()
    plane.call("DELETE", "/pools/low", expect=202)


def test_a_preempted_node_is_shown_as_such_until_it_comes_back(tested, t, clock, temporary):
    plane = temporary(BatchGround(tested)).plane
    t.rules({"duration": "PT2H"})
    fault = t.fault({"pool": "low"}, node={"effect": "preempted", "after": "PT1H", "duration": "PT3H"})
    assert fault["node"] == {"effect": "preempted", "after": "PT1H", "duration": "PT3H"}
    add_pool(plane, "low", vmSize="fake", targetLowPriorityNodes=1)
    jobs = Jobs(plane, "low")
    job = jobs()
    job.begin("train", id="t")
    clock.change(rate=0)
    state = lambda: [n["state"] for n in plane.all("/pools/low/nodes")]  # noqa: E731
    clock.advance("PT2H")
    assert (state(), hits(t)) == (["preempted"], [(1, 1)])
    (counts,) = plane.all("/nodecounts", **{"$filter": "poolId eq 'low'"})
    assert counts["lowPriority"]["preempted"] == 1
    task = job.task("t")
    assert task["state"] == "active" and task["executionInfo"]["requeueCount"] == 1
    clock.advance("PT5H")  # it is back after three
    assert (state(), hits(t)) == (["idle"], [(1, 0)])
    assert job.task("t")["state"] == "completed"
    clock.change(real=True)
    jobs.remove()
    plane.call("DELETE", "/pools/low", expect=202)


def test_a_preempted_node_comes_back_when_it_is_let_go(place, t, clock):
    t.rules({"duration": "PT2H"})
    fault = t.fault(node={"effect": "preempted", "after": "PT1H", "duration": "P10D"})
    cluster = place.cluster(vmSize="FAKE", vmPriority="lowpriority")
    clock.change(rate=0)
    job = place.job(cluster).running()
    clock.advance("PT6H")
    assert cluster.counts()["unusableNodeCount"] == 1 and job.state == "queued"
    assert "preempted" in json.dumps(cluster.properties["errors"])
    assert release(t, fault) == 1
    clock.advance("PT6H")
    job.succeed()


def test_the_errors_of_an_allocation_are_a_pools_resize_errors(tested, t, temporary):
    plane = temporary(BatchGround(tested)).plane
    t.fault({"pool": "big"}, allocation={"code": "AccountCoreQuotaReached", "message": "No cores are left."})
    pool = {"id": "big", "vmSize": "fake", "targetDedicatedNodes": 2, "resizeTimeout": "PT5M",
            "cloudServiceConfiguration": {"osFamily": "5"}}  # fmt: skip
    plane.call("POST", "/pools", pool, expect=201)
    errors = wait_for(lambda: plane.get("/pools/big").get("resizeErrors"), 20, what="the errors")
    assert [(e["code"], e["message"]) for e in errors] == [("AccountCoreQuotaReached", "No cores are left.")]
    t.call("DELETE", "/faults", expect=204)
    plane.call("DELETE", "/pools/big", expect=202)


def test_a_node_has_the_gpus_of_its_size(place):
    for size, gpus in (("FAKE_NC6", 1), ("FAKE_NC24r", 4), ("FAKE", 0)):
        cluster = place.cluster(vmSize=size)
        (node,) = [n for n in place.daemon.get("/batchaid/nodes")["value"] if n.get("cluster") == cluster.name]
        assert len(node["facts"].get("gpus", [])) == node["capacity"]["gpus"] == gpus, size
        cluster.delete()


# --- what there is not ----------------------------------------------------------------------------


def test_a_fault_may_come_before_its_pool_and_is_unused_until_then(place, t):
    early, other = t.fault({"pool": "later"}, allocation={}), t.fault({"pool": "never"}, allocation={})
    assert t.get("/faults")["unused"] == [early["id"], other["id"]]
    place.cluster(name="later", vmSize="FAKE", steady=False)
    wait_for(lambda: t.get("/faults")["unused"] == [other["id"]], what="it hits")


def test_a_fault_of_a_pool_that_must_exist_is_refused_with_what_there_is(place, t):
    place.cluster(0, name="there", vmSize="FAKE")
    fault = {"match": {"pool": "their"}, "node": {"effect": "lost"}, "mustExist": True}
    refused(t.call("POST", "/faults", fault), 404, "ResourceNotFound", words=["match.pool", "their", "there"])
    t.fault({"pool": "the*"}, node={"effect": "lost"}, mustExist=True)
    del fault["match"]
    refused(t.call("POST", "/faults", fault), 400, "MissingRequiredProperty", words=["match.pool"])


def test_a_rule_for_no_subscription_is_refused_with_its_place(t):
    nobody = "00000000-0000-0000-0000-00000000abcd"
    refusal = t.rules({"exitCode": 1}, {"match": {"subscription": nobody}}, expect=404)
    refused(refusal, 404, "SubscriptionNotFound", words=["rules[1].match.subscription", nobody])
    assert t.get("/rules")["value"] == []
    t.rules({"match": {"subscription": "0000*"}})


# --- bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fault", "codes", "words"),
    [
        ({"node": {"effect": "explode"}}, INVALID, ["node.effect", "preempted"]),
        ({"node": {}}, MISSING, ["node", "effect"]),
        ({"node": {"effect": "lost", "at": 1}}, INVALID, ["node"]),
        ({"node": {"effect": "lost", "after": "soon"}}, INVALID, ["node.after", "ISO 8601"]),
        ({"node": {"effect": "failPreparation", "after": "PT1S"}}, INVALID, ["node.after"]),
        ({"node": {"effect": "lost", "message": "x"}}, INVALID, ["node.message"]),
        ({"node": {"effect": "restart", "duration": "PT1S"}}, INVALID, ["node.duration", "preempted"]),
        ({"node": {"effect": "preempted", "duration": "long"}}, INVALID, ["node.duration", "ISO 8601"]),
        ({"node": {"effect": "failPreparation"}, "match": {"name": "x"}}, INVALID, ["has no job"]),
        ({"node": {"effect": "lost"}, "match": {"operation": "Jobs_Create"}}, INVALID, ["pool"]),
        ({"node": {"effect": "lost"}, "reply": {"status": 500}}, INVALID, ["match, skip"]),
        ({"node": {"effect": "lost"}, "allocation": {}}, INVALID, ["match, skip"]),
        ({"allocation": {"message": "x"}}, "MissingRequiredProperty", ["allocation.message"]),
        ({"allocation": {}, "match": {"name": "x"}}, INVALID, ["pool and subscription"]),
        ({"reply": {"status": 500}, "match": {"pool": "x"}}, INVALID, ["pool"]),
        ({"allocation": {}, "match": {"subscription": "nobody"}}, "SubscriptionNotFound", ["nobody"]),
    ],
)
def test_a_senseless_fault_is_refused(t, fault, codes, words):
    status = 404 if codes == "SubscriptionNotFound" else 400
    refused(t.call("POST", "/faults", fault), status, codes, words=words)
    assert t.get("/faults")["value"] == []
