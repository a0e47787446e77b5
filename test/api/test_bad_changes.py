# SPDX-License-Identifier: MIT
"""Changes that are refused of what exists, and limits that are reached: nothing changes."""

import pytest
from support.refusals import INVALID, MANUAL, QUOTA, P, refused
from support.world import (
    Place,
    cluster_body,
    file_server_body,
    job_body,
    merge,
)

# --- changes of what exists -----------------------------------------------------------------------


def test_a_put_that_changes_what_a_cluster_cannot_change_names_it(own_place):
    cluster = own_place.cluster(nodes=1)
    before = cluster.call("GET")
    for change, name in [
        ({"vmSize": "Standard_D2"}, "properties.vmSize"),
        ({"vmPriority": "lowpriority"}, "properties.vmPriority"),
        ({"userAccountSettings": {"adminUserName": "other"}}, "properties.userAccountSettings.adminUserName"),
        ({"subnet": {"id": "/subscriptions/s/x/y"}}, "properties.subnet"),
        ({"nodeSetup": None}, "properties.nodeSetup"),
    ]:
        reply = cluster.call("PUT", body=cluster_body(3, **change))
        refused(reply, 409, "PropertyChangeNotAllowed", words=[name])
    after = cluster.call("GET")
    assert after.json == before.json and after.headers["ETag"] == before.headers["ETag"]


@pytest.mark.parametrize(
    "settings, target, words",
    [
        ({"manual": {"targetNodeCount": -1}}, MANUAL + "targetNodeCount", [-1]),
        (
            {"manual": {"targetNodeCount": 1}, "autoScale": {"minimumNodeCount": 0, "maximumNodeCount": 1}},
            P + "scaleSettings",
            ["autoScale"],
        ),
        (
            {"manual": {"targetNodeCount": 1, "nodeDeallocationOption": "no"}},
            MANUAL + "nodeDeallocationOption",
            ["no"],
        ),
        ({"autoScale": {"minimumNodeCount": 5, "maximumNodeCount": 1}}, None, ["5", "1"]),
        ("large", P + "scaleSettings", ["object"]),
    ],
)
def test_a_bad_patch_of_a_cluster_changes_nothing(shared_cluster, settings, target, words):
    before = shared_cluster.call("GET")
    reply = shared_cluster.call("PATCH", body={"properties": {"scaleSettings": settings}})
    refused(reply, 400, INVALID, target, words)
    after = shared_cluster.call("GET")
    assert after.json == before.json and after.headers["ETag"] == before.headers["ETag"]


def test_a_patch_beyond_what_there_can_be_changes_nothing(shared_cluster):
    before = shared_cluster.call("GET")
    settings = {"manual": {"targetNodeCount": 100000}}
    reply = shared_cluster.call("PATCH", body={"properties": {"scaleSettings": settings}})
    refused(reply, 409, QUOTA, MANUAL + "targetNodeCount", [100000])
    assert shared_cluster.call("GET").headers["ETag"] == before.headers["ETag"]


def test_a_different_job_under_the_same_name_is_a_conflict(place, shared_cluster):
    job = place.job(shared_cluster, "echo one")
    again = job.call("PUT", body=job_body(shared_cluster.path, "echo one"), expect=200)
    assert again.json["name"] == job.name
    for change, name in [
        ({"customToolkitSettings": {"commandLine": "echo two"}}, "customToolkitSettings"),
        ({"nodeCount": 2}, "nodeCount"),
        ({"environmentVariables": [{"name": "A", "value": "1"}]}, "environmentVariables"),
    ]:
        reply = job.call("PUT", body=merge(job_body(shared_cluster.path, "echo one"), {"properties": change}))
        refused(reply, 409, ("PropertyChangeNotAllowed", "Conflict"), words=[name])
    assert job.succeed() and job.read("stdout.txt") == "one\n"


def test_a_workspace_does_not_move(own_place, daemon):
    reply = daemon.call("PUT", own_place.path, {"location": "somewhereelse"})
    refused(reply, 409, ("PropertyChangeNotAllowed", "Conflict"), words=["location"])
    assert daemon.get(own_place.path)["location"] == own_place.location


def test_the_cluster_quota_is_told_with_its_numbers(own_daemon):
    place = Place(own_daemon(config={"quota": {"clusters": 2}})).make()
    for _ in range(2):
        place.cluster(nodes=0)
    reply = place.cluster_at("third").call("PUT", body=cluster_body(0))
    refused(reply, 409, "ClusterQuotaReached", words=["Maximum allowed: 2", "Current in use: 2"])


def test_nodes_beyond_what_the_machine_offers_and_sizes_it_lacks(own_daemon):
    place = Place(own_daemon(config={"local": {"nodes": 3, "vm_sizes": ["STANDARD_D1"]}})).make()
    refused(
        place.cluster_at("big").call("PUT", body=cluster_body(4)),
        409,
        QUOTA,
        MANUAL + "targetNodeCount",
        [4, 3],
    )
    reply = place.cluster_at("size").call("PUT", body=cluster_body(1, vmSize="Standard_NC6"))
    refused(reply, 400, INVALID, P + "vmSize", ["STANDARD_D1"])
    cluster = place.cluster(nodes=1)
    place.experiment()
    refused(
        place.job_at("j").call("PUT", body=job_body(cluster.path, nodes=4)),
        400,
        INVALID,
        P + "nodeCount",
        [4],
    )


def test_a_secret_counts_in_the_comparison_and_stays_secret(place, shared_cluster):
    secret = {"secrets": [{"name": "S", "value": "one-value"}]}
    job = place.job(shared_cluster, **secret)
    body = merge(job_body(shared_cluster.path), {"properties": secret})
    assert job.call("PUT", body=body).status == 200
    body["properties"]["secrets"][0]["value"] = "another-value"
    reply = job.call("PUT", body=body)
    refused(reply, 409, ("PropertyChangeNotAllowed", "Conflict"), words=["secrets"])
    assert "one-value" not in reply.text and "another-value" not in reply.text
    again = place.file_server("nfs-again")
    assert again.call("PUT", body=file_server_body()).status == 200
    account = {"userAccountSettings": {"adminUserPassword": "another"}}
    refused(
        again.call("PUT", body=file_server_body(sshConfiguration=account)),
        409,
        ("PropertyChangeNotAllowed", "Conflict"),
        words=["adminUserPassword"],
    )
