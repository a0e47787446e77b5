# SPDX-License-Identifier: MIT
"""Strict mode: what is shown as being created is not used yet, and does nothing."""

import pytest
from support.accounts import Accounts, account_body, account_name
from support.batch import BatchGround
from support.refusals import refused
from support.testing_fixtures import place  # noqa: F401 (a fixture)
from support.vaults import ALL, Safe, Vaults, policy
from support.waiting import wait_for
from support.world import cluster_body, file_server_body, fresh, job_body

ARGUMENTS = ["--ephemeral", "--fake-nodes"]
EXPECTS = ("short_of_nodes", "node.link", "run.failed", "leftover_killed", "blocked")
CLOCK = {"rate": 0}

AT_ONCE = {"allocation": "PT0S", "nodeCreation": "PT0S", "nodeStart": "PT0S", "nodeSetup": "PT0S", "jobStart": "PT0S"}


def test_a_storage_account_gives_no_keys_and_has_no_host_before(tested, strict, clock, hurried):
    accounts = hurried(Accounts(tested).make())
    strict.set()
    name = account_name()
    accounts.put(name, account_body())
    for method, below, body in (("POST", "/listKeys", None), ("PATCH", "", {"tags": {"a": "b"}}), ("PUT", "/blobServices/default/containers/box", {})):
        reply = accounts.call(method, f"/{name}{below}", body)
        refused(reply, 409, "StorageAccountIsNotProvisioned", words=["must be 'Succeeded'"])
    for method, body in (("PUT", account_body()), ("DELETE", None)):
        refused(accounts.call(method, f"/{name}", body), 409, "StorageAccountOperationInProgress", words=["exclusive access"])

    def ask():
        host = {"Host": f"{name}.blob.core.localhost:{tested.port}"}
        return tested.call("GET", "/box?restype=container", headers=host, token=None, api_version=None, validate=False)

    assert (ask().status, ask().headers["x-ms-error-code"]) == (404, "ResourceNotFound")
    clock.advance("PT17S")
    assert len(accounts.keys(name)) == 2
    assert ask().status != 404 or ask().headers["x-ms-error-code"] != "ResourceNotFound"


def test_a_vault_has_no_host_before_its_name_is_registered(tested, strict, clock, hurried):
    vaults = hurried(Vaults(tested).make())
    strict.set()
    safe = Safe(tested, vaults.vault(policy(tested.env["AZURE_CLIENT_ID"], **ALL)))
    refused(safe.call("PUT", "/secrets/s", {"value": "v"}), 404, "VaultNotFound", words=["registered"])
    clock.advance("PT5S")
    safe.set("s", "v")


def test_a_batch_account_takes_no_jobs_before(tested, strict, clock, hurried):
    ground = hurried(BatchGround(tested))
    strict.set()
    name = fresh("early")
    ground.accounts.call("PUT", f"/{name}", {"location": "eastus"}, expect=202)
    refused(ground.accounts.call("POST", f"/{name}/listKeys"), 409, "OperationInvalidForCurrentState", words=["Succeeded"])

    def ask():
        host = {"Host": f"{name}.eastus.batch.localhost:{tested.port}"}
        return tested.call("GET", "/pools?api-version=2019-08-01.10.0", headers=host, api_version=None, validate=False)

    assert ask().status == 404
    clock.advance("PT15S")
    assert ask().status != 404
    ground.accounts.call("POST", f"/{name}/listKeys", expect=200)


def test_a_cluster_has_no_nodes_before_it_is_created(place, strict, clock):
    strict.set(**AT_ONCE, clusterCreation="PT1M")
    cluster = place.cluster_at("c")
    cluster.call("PUT", body=cluster_body(2), expect=202)
    clock.advance("PT59S")
    seen = cluster.properties
    assert (seen["provisioningState"], seen["currentNodeCount"]) == ("creating", 0)
    clock.advance("PT1S")
    assert (cluster.properties["provisioningState"], cluster.counts()["idleNodeCount"]) == ("succeeded", 2)


def test_no_job_runs_before_its_node_is_shown_as_ready(place, strict, clock, t):
    """At no second does a rule hit while no node was seen idle, or is a job seen running beside none that runs."""
    t.rules({"duration": "PT10S"})
    strict.set(allocation="PT10S", nodeCreation="PT10S", nodeStart="PT5S")
    cluster = place.cluster_at("c")
    cluster.call("PUT", body=cluster_body(1), expect=202)
    place.experiment()
    job = place.job_at("j")
    place.daemon.call("PUT", job.path, job_body(cluster.path), expect=202)
    seen = []
    for second in range(60):
        counts, state = cluster.counts(), job.properties["executionState"]
        hits = t.get("/rules")["value"][0]["hits"]
        ready = counts["idleNodeCount"] + counts["runningNodeCount"]
        assert hits == 0 or ready == 1, (second, counts)
        assert state != "running" or counts["runningNodeCount"] == 1, (second, counts)
        seen.append(state)
        clock.advance("PT1S", keep_token=True)
    assert seen.index("running") >= 25 and seen[-1] == "succeeded"


@pytest.mark.parametrize("what", ["cluster", "file server", "job"])
def test_what_is_deleted_before_it_is_created_is_gone(place, strict, clock, what):
    cluster = place.cluster(0)
    strict.set(clusterCreation="PT1M")
    place.experiment()
    path, body = {
        "cluster": (f"{place.path}/clusters/{fresh('c')}", cluster_body(2)),
        "file server": (f"{place.path}/fileServers/f", file_server_body()),
        "job": (place.job_at("j").path, job_body(cluster.path)),
    }[what]
    made = place.daemon.call("PUT", path, body, expect=202).headers["Azure-AsyncOperation"]
    assert place.daemon.get(path)["properties"]["provisioningState"] == "creating"
    gone = place.daemon.call("DELETE", path, expect=202).headers["Azure-AsyncOperation"]
    clock.advance("PT10M")
    assert place.daemon.call("GET", path).status == 404
    assert [place.daemon.get(url)["status"] for url in (made, gone)] == ["Succeeded", "Succeeded"]


def test_a_change_of_a_cluster_before_it_is_created_counts(place, strict, clock):
    strict.set(**AT_ONCE, clusterCreation="PT1M")
    cluster = place.cluster_at("c")
    cluster.call("PUT", body=cluster_body(1), expect=202)
    clock.advance("PT30S")
    cluster.resize(3)
    assert cluster.properties["provisioningState"] == "creating"
    clock.advance("PT2M")
    assert cluster.counts()["idleNodeCount"] == 3


@pytest.mark.parametrize("whose", ["cluster", "job"])
def test_what_mounts_a_file_server_waits_until_that_is_created(place, strict, clock, whose):
    ready = place.cluster(1).wait_steady(1)
    strict.set(**AT_ONCE, clusterCreation="PT0S", jobCreation="PT0S", fileServerCreation="PT5M")
    server = f"{place.path}/fileServers/f"
    place.daemon.call("PUT", server, file_server_body(), expect=202)
    volumes = {"mountVolumes": {"fileServers": [{"fileServer": {"id": server}, "relativeMountPath": "nfs"}]}}
    place.experiment()
    cluster, job = place.cluster_at("c"), place.job_at("j")
    if whose == "cluster":
        cluster.call("PUT", body=cluster_body(1, nodeSetup=volumes), expect=202)
    else:
        job.call("PUT", body=job_body(ready.path, **volumes), expect=202)

    def look():
        return cluster.counts()["idleNodeCount"] == 1 if whose == "cluster" else job.state == "succeeded"

    for _ in range(2):
        clock.advance("PT2M29S")
        assert not look()
    clock.advance("PT2S")
    assert place.daemon.get(server)["properties"]["provisioningState"] == "succeeded" and look(), job.properties


def test_a_cluster_goes_on_when_the_file_server_that_it_waits_for_is_deleted(place, strict, clock):
    strict.set(**AT_ONCE, clusterCreation="PT0S", fileServerCreation="PT1M", fileServerDeletion="PT0S")
    server = f"{place.path}/fileServers/f"
    place.daemon.call("PUT", server, file_server_body(), expect=202)
    volumes = {"mountVolumes": {"fileServers": [{"fileServer": {"id": server}, "relativeMountPath": "nfs"}]}}
    cluster = place.cluster_at("c")
    cluster.call("PUT", body=cluster_body(1, nodeSetup=volumes), expect=202)
    strict.daemon.expect_log("node.unusable")
    place.daemon.call("DELETE", server, expect=202)
    clock.advance("PT2M")
    assert cluster.counts()["unusableNodeCount"] == 1 and cluster.properties["errors"][0]["code"]


def test_a_job_is_queued_in_a_cluster_that_is_being_created_or_gets_its_nodes(place, strict, clock):
    strict.set(clusterCreation="PT1M", allocation="PT2M")
    place.experiment()
    cluster, early, later = place.cluster_at("c"), place.job_at("early"), place.job_at("later")
    cluster.call("PUT", body=cluster_body(2), expect=202)
    early.call("PUT", body=job_body(cluster.path), expect=202)
    assert cluster.properties["provisioningState"] == "creating"
    clock.advance("PT90S")
    later.call("PUT", body=job_body(cluster.path), expect=202)
    assert cluster.properties["allocationState"] == "resizing"
    assert (early.state, later.state) == ("queued", "queued")
    clock.advance("PT5M")
    assert (early.state, later.state) == ("succeeded", "succeeded")


def test_a_job_is_created_before_it_runs_also_where_it_needs_not_wait_in_the_queue(place, strict, clock):
    cluster = place.cluster(1).wait_steady(1)
    strict.set(jobCreation="PT1M", jobStart="PT0S")
    place.experiment()
    job = place.job_at("j")
    job.call("PUT", body=job_body(cluster.path), expect=202)
    clock.advance("PT59S")
    assert (job.properties["provisioningState"], job.state) == ("creating", "queued")
    clock.advance("PT1S")
    assert job.state == "succeeded"


# What a second request says of what is being created or deleted: (status, state or code).
HERE, GOING = (200, "creating"), (409, "ResourceBeingDeleted")
AGAIN = {
    "cluster": (HERE, GOING),
    "file server": (HERE, GOING),
    "job": (HERE, GOING),
    "experiment": ((200, "succeeded"), GOING),
    "workspace": ((200, "succeeded"), GOING),
    "group": ((200, "Succeeded"), (409, "ResourceGroupBeingDeleted")),
    "Batch account": ((200, "Creating"), GOING),
    "storage account": ((409, "StorageAccountOperationInProgress"), None),  # gone at once, and its name free
    "vault": ((200, "RegisteringDns"), (409, "ConflictError")),  # it can be recovered
}


def thing(place, what, cluster):
    """Its path, the body that makes it, and the api-version of its provider."""
    group, providers = place.group_path, f"{place.group_path}/providers"
    vault = {"tenantId": place.daemon.env["AZURE_TENANT_ID"], "sku": {"family": "A", "name": "standard"}, "accessPolicies": []}
    return {
        "cluster": (f"{place.path}/clusters/c", cluster_body(0), "2018-05-01"),
        "file server": (f"{place.path}/fileServers/f", file_server_body(), "2018-05-01"),
        "job": (place.job_at("j").path, job_body(cluster.path), "2018-05-01"),
        "experiment": (f"{place.path}/experiments/x", None, "2018-05-01"),
        "workspace": (f"{place.path}2", {"location": place.location}, "2018-05-01"),
        "group": (f"{group}2", {"location": place.location}, "2018-05-01"),
        "Batch account": (f"{providers}/Microsoft.Batch/batchAccounts/{fresh('again')}", {"location": "eastus"}, "2022-10-01"),
        "storage account": (f"{providers}/Microsoft.Storage/storageAccounts/{account_name()}", account_body(), "2022-09-01"),
        "vault": (f"{providers}/Microsoft.KeyVault/vaults/{fresh('again')}", {"location": "eastus", "properties": vault}, "2022-07-01"),
    }[what]


@pytest.mark.parametrize("what", AGAIN)
def test_what_is_put_again_is_in_its_creation_or_deletion(place, strict, clock, what):
    cluster = place.cluster(0)
    place.experiment()
    clock.advance("PT1M")
    strict.set()
    path, body, version = thing(place, what, cluster)

    def ask(method="PUT", body=body):
        reply = place.daemon.call(method, path, body, api_version=version)
        known = reply.json if reply.text else {}
        return reply.status, known.get("error", {}).get("code") or known.get("properties", {}).get("provisioningState")

    assert ask()[0] in (200, 201, 202)
    assert ask() == AGAIN[what][0]
    clock.advance("PT10M", keep_token=True)
    if what != "vault":  # a token of an hour is kept, and a vault's deletion is told at once
        assert ask()[1].lower() == "succeeded"
    assert ask("DELETE", None)[0] in (200, 202)
    if AGAIN[what][1]:
        assert ask() == AGAIN[what][1]
    if what == "vault":
        return
    clock.advance("PT10M", keep_token=True)
    assert ask()[0] in (200, 201, 202), "its name is free"


@pytest.mark.parametrize(
    ("above", "below", "code"),
    [
        ("group", "/providers/Microsoft.BatchAI/workspaces/w", "ResourceGroupBeingDeleted"),
        ("workspace", "/experiments/x", "ResourceBeingDeleted"),
        ("experiment", "/jobs/j", "ResourceBeingDeleted"),
        ("cluster", None, "ResourceBeingDeleted"),
    ],
)
def test_nothing_is_made_in_what_is_being_deleted(place, strict, clock, above, below, code):
    cluster = place.cluster(0)
    place.experiment()
    path, body, version = thing(place, above, cluster)
    place.daemon.call("PUT", path, body, api_version=version)
    strict.set()
    place.daemon.call("DELETE", path, api_version=version, expect=202)
    at, made = (path + below, {"location": place.location}) if below else (place.job_at("j").path, None)
    if above in ("experiment", "cluster"):
        made = job_body(path if above == "cluster" else cluster.path)
    refused(place.daemon.call("PUT", at, made), 409, code)


SEED = """
groups:
  seeded:
    location: eastus
    storageAccounts:
      {account}: {{location: eastus, kind: StorageV2, sku: {{name: Standard_LRS}}, containers: {{box: {{blobs: {{a: text}}}}}}}}
    batchAccounts:
      {account}: {{location: eastus, pools: {{p: {{vmSize: fake, cloudServiceConfiguration: {{osFamily: "5"}}}}}}}}
    workspaces: {{ws: {{location: eastus, clusters: {{c: {{properties: {{vmSize: FAKE, userAccountSettings: {{adminUserName: demo, adminUserPassword: pw}}, scaleSettings: {{manual: {{targetNodeCount: 0}}}}}}}}}}}}}}
"""


def test_what_a_seed_says_is_created_already(tested, strict, clock):
    strict.set()
    account = account_name()
    strict.seed(SEED.format(account=account), subscription=tested.subscription)
    group = f"/subscriptions/{tested.subscription}/resourceGroups/seeded/providers"
    for path, version in (
        (f"{group}/Microsoft.Storage/storageAccounts/{account}", "2022-09-01"),
        (f"{group}/Microsoft.Batch/batchAccounts/{account}", "2022-10-01"),
        (f"{group}/Microsoft.BatchAI/workspaces/ws/clusters/c", "2018-05-01"),
    ):
        seen = tested.call("GET", path, api_version=version, expect=200).json["properties"]["provisioningState"]
        assert seen.lower() == "succeeded", path
    tested.call("POST", f"{group}/Microsoft.Storage/storageAccounts/{account}/listKeys", api_version="2022-09-01", expect=200)
    strict.forget()
    clock.change(rate=1000)
    strict.reset(subscription=tested.subscription, resourceGroup="seeded")
    wait_for(lambda: tested.call("GET", f"{group}/Microsoft.BatchAI/workspaces/ws").status == 404, what="it is gone")
