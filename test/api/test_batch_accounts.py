# SPDX-License-Identifier: MIT
"""Batch accounts through Azure Resource Manager."""

import base64
import csv
import re
from urllib.parse import urlsplit

import pytest
from support import batch_2025
from support.accounts import Accounts
from support.batch_rm import JUDGES, RM_VERSION, VERSIONS, BatchAccounts, account_body, account_name, spec_dir
from support.people import CONTRIBUTOR, READER, Person
from support.waiting import wait_for
from support.world import instant

STORE = "Microsoft.Storage/storageAccounts"


@pytest.fixture(scope="module")
def batch(daemon, temporary_in_file):
    return temporary_in_file(BatchAccounts(daemon).make())


@pytest.fixture(scope="module")
def store(daemon, temporary_in_file):
    """The id of a storage account."""
    a = temporary_in_file(Accounts(daemon).make())
    return f"{a.path}/{a.account()}"


def port(daemon):
    return urlsplit(daemon.endpoint).port


# --- accounts ---------------------------------------------------------------------------------------


def test_an_account_is_shown_as_it_was_made(batch, daemon, store):
    name = account_name()
    made = batch.follow(batch.put(name, account_body(location="North Europe", tags={"a": "b"}, autoStorage={"storageAccountId": store})))
    assert made.status == 200 and batch.get(name) == made.json
    assert re.fullmatch('"0x[0-9A-F]{15,16}"', made.headers["etag"])
    seen = made.json
    assert seen["id"].lower() == f"{batch.path}/{name}".lower()
    assert (seen["name"], seen["type"], seen["location"]) == (name, "Microsoft.Batch/batchAccounts", "northeurope")
    assert (seen["tags"], seen["identity"]) == ({"a": "b"}, {"type": "None"})
    p = seen["properties"]
    assert p["accountEndpoint"] == f"{name}.northeurope.batch.localhost:{port(daemon)}"
    assert (p["provisioningState"], p["poolAllocationMode"], p["publicNetworkAccess"]) == ("Succeeded", "BatchService", "Enabled")
    assert p["autoStorage"]["storageAccountId"].lower() == store.lower() and p["autoStorage"]["lastKeySync"]
    assert p["encryption"] == {"keySource": "Microsoft.Batch"} and p["privateEndpointConnections"] == []
    assert p["allowedAuthenticationModes"] == ["SharedKey", "AAD", "TaskAuthenticationToken"]
    assert p["dedicatedCoreQuotaPerVMFamily"] == [] and p["dedicatedCoreQuotaPerVMFamilyEnforced"] is False
    assert all(p[q] > 0 for q in ("dedicatedCoreQuota", "lowPriorityCoreQuota", "poolQuota", "activeJobAndJobScheduleQuota"))


def test_the_endpoint_repeats_the_host_that_the_client_used(batch):
    name = batch.account()
    for host, site in (("head.lab:8443", "head.lab:8443"), ("10.0.0.7", "localhost"), ("[::1]:99", "localhost:99")):
        seen = batch.call("GET", f"/{name}", headers={"Host": host}, expect=200).json
        assert seen["properties"]["accountEndpoint"] == f"{name}.eastus.batch.{site}"


def test_a_new_account_is_asked_for_where_the_reply_says(batch, daemon):
    name = account_name()
    reply = batch.put(name)
    place = urlsplit(reply.headers["location"])
    assert place.path.startswith(f"{batch.path}/{name}/operationResults/") and reply.content == b""
    assert place.query == f"api-version={RM_VERSION}"
    assert batch.call("GET", place.path, expect=200).json == batch.get(name)
    other = place.path.replace("/operationResults/", "/operationResults/00")
    assert batch.call("GET", other, expect=404).code == "OperationNotFound"


@pytest.mark.parametrize("version", VERSIONS)
def test_each_version_has_its_properties(batch, store, version):
    name = account_name()
    more = {"publicNetworkAccess": "Enabled"} if version >= "2020-03" else {}
    body = account_body(autoStorage={"storageAccountId": store}, poolAllocationMode="BatchService", **more)
    seen = batch.follow(batch.put(name, body, api_version=version)).json
    assert seen == batch.get(name, api_version=version)
    p = seen["properties"]
    assert ("publicNetworkAccess" in p) == ("encryption" in p) == (version >= "2020-03")
    assert ("dedicatedCoreQuotaPerVMFamily" in p) == (version >= "2019-04")
    assert ("allowedAuthenticationModes" in p) == (version >= "2021-06")
    assert ("identity" in seen) == (version >= "2020-05")
    batch.keys(name, api_version=version)
    assert batch.follow(batch.delete(name, api_version=version)).status == 200


@pytest.mark.parametrize("version", ["2015-12-01", "2017-01-01", "2025-05-01", "x"])
def test_other_versions_are_refused(batch, version):
    reply = batch.call("GET", "", api_version=version, expect=400)
    assert reply.code == "NoRegisteredProviderFound" and "2022-10-01" in reply.error["message"]


def test_a_repeated_put_changes_what_it_says(batch, store):
    name = batch.account(tags={"a": "b"}, autoStorage={"storageAccountId": store})
    keys = batch.keys(name)
    seen = batch.put(name, account_body(publicNetworkAccess="disabled"), expect=200).json
    assert seen["tags"] == {"a": "b"} and seen["properties"]["publicNetworkAccess"] == "Disabled"
    assert "autoStorage" in seen["properties"]
    assert batch.get(name) == seen and batch.keys(name) == keys
    reply = batch.put(name, account_body(location="westus"), expect=409)
    assert reply.code == "InvalidResourceLocation"


@pytest.mark.parametrize("method, takes", [("PUT", {}), ("PATCH", {}), ("PATCH", None)])
def test_auto_storage_is_taken_away_by_an_empty_one(batch, store, method, takes):
    name = batch.account(autoStorage={"storageAccountId": store})
    body = account_body(autoStorage=takes) if method == "PUT" else {"properties": {"autoStorage": takes}}
    seen = batch.call(method, f"/{name}", body, expect=200).json
    assert "autoStorage" not in seen["properties"] and seen == batch.get(name)


def test_an_account_that_is_made_with_an_empty_auto_storage_has_none(batch):
    assert "autoStorage" not in batch.get(batch.account(autoStorage={}))["properties"]


def test_a_patch_changes_only_what_it_says(batch, store):
    name = batch.account(tags={"a": "b"})
    before = batch.call("GET", f"/{name}", expect=200)
    seen = batch.call("PATCH", f"/{name}", {"properties": {"autoStorage": {"storageAccountId": store}}}, expect=200)
    assert seen.json["tags"] == {"a": "b"} and seen.json["properties"]["autoStorage"]["storageAccountId"].lower() == store.lower()
    assert seen.headers["etag"] > before.headers["etag"]
    seen = batch.call("PATCH", f"/{name}", {"tags": {"c": "d"}, "properties": {"poolAllocationMode": "UserSubscription"}}, expect=200).json
    assert seen["tags"] == {"c": "d"} and "autoStorage" in seen["properties"]
    assert seen["properties"]["poolAllocationMode"] == "BatchService"
    profile = {"accountAccess": {"defaultAction": "Deny", "ipRules": [{"action": "Allow", "value": "1.2.3.4"}]}}
    seen = batch.call("PATCH", f"/{name}", {"properties": {"networkProfile": profile}}, expect=200).json
    assert seen["properties"]["networkProfile"] == profile
    seen = batch.call("PATCH", f"/{name}", {"properties": {"autoStorage": None}}, expect=200).json
    assert "autoStorage" not in seen["properties"] and seen == batch.get(name)


@pytest.mark.parametrize("name", ["ab", "a" * 25, "Upper", "with-hyphen", "under_score", "dot.dot", "%C3%A4bc", "a%20b"])
def test_names_that_are_none(batch, name):
    reply = batch.put(name, expect=400)
    assert reply.code == "InvalidRequestBody"
    assert "must be at least 3 characters and at most 24 characters" in reply.error["message"]


def test_a_name_is_one_account_in_the_whole_cloud(batch, daemon, temporary):
    name = batch.account()
    other = temporary(BatchAccounts(daemon).make())
    assert other.put(name, expect=409).code == "AccountAlreadyExists"
    other.get(name, expect=404)
    other.delete(name, expect=204)
    assert batch.get(name)["name"] == name


def test_names_are_checked_before(batch):
    name = batch.account()

    def ask(name, kind="Microsoft.Batch/batchAccounts", **more):
        path = f"{batch.above}/locations/eastus/checkNameAvailability"
        return batch.call("POST", path, {"name": name, "type": kind}, **more).json

    assert ask(account_name()) == {"nameAvailable": True}
    taken = ask(name)
    assert (taken["nameAvailable"], taken["reason"]) == (False, "AlreadyExists") and name in taken["message"]
    assert ask("Upper")["reason"] == ask("a" * 30)["reason"] == "Invalid"
    ask(name, kind="Microsoft.KeyVault/vaults", expect=400)


@pytest.mark.parametrize(
    "change, where",
    [
        ({"location": None}, "location"),
        ({"location": ""}, "location"),
        ({"tags": ["a"]}, "tags"),
        ({"properties": 7}, "properties"),
        ({"identity": {"type": "SystemAssigned"}}, "identity.type"),
        ({"properties": {"poolAllocationMode": "Mine"}}, "properties.poolAllocationMode"),
        ({"properties": {"poolAllocationMode": "UserSubscription"}}, "properties"),
        ({"properties": {"autoStorage": {"authenticationMode": "StorageKeys"}}}, "properties.autoStorage.storageAccountId"),
        ({"properties": {"autoStorage": {"storageAccountId": "/x"}}}, "properties.autoStorage.storageAccountId"),
        ({"properties": {"publicNetworkAccess": True}}, "properties.publicNetworkAccess"),
        ({"properties": {"encryption": {"keySource": "Microsoft.KeyVault"}}}, "properties.encryption.keySource"),
        ({"properties": {"allowedAuthenticationModes": ["Password"]}}, "properties.allowedAuthenticationModes"),
        ({"properties": {"networkProfile": {"accountAccess": {}}}}, "properties.networkProfile.accountAccess.defaultAction"),
        ({"properties": {"keyVaultReference": {"id": "/x"}}}, "properties.keyVaultReference.url"),
    ],
)
def test_what_no_account_can_be_is_refused_by_name(batch, change, where):
    name = account_name()
    error = batch.put(name, {**account_body(), **change}, expect=400).error
    assert error["target"] == where and error["code"] in ("InvalidPropertyValue", "InvalidRequestBody", "AutoStorageAccountNotFound")
    assert re.search(r"\nRequestId:\S+\nTime:\S+Z$", error["message"])
    assert {d["code"]: d["message"] for d in error["details"]}["PropertyName"] == where
    batch.get(name, expect=404)


@pytest.mark.parametrize("data", [b"", b"[]", b'"a"', b"{", b'{"location":"\xff"}'])
def test_bodies_that_are_none(batch, data):
    path = f"{batch.path}/{account_name()}"
    assert batch.daemon.call("PUT", path, data=data, api_version=RM_VERSION, validate=False).status == 400


def test_lists_have_pages(batch, daemon, temporary):
    own = temporary(BatchAccounts(daemon).make())
    names = [own.account() for _ in range(3)]
    assert [a["name"] for a in own.call("GET", "", expect=200).json["value"]] == names
    first = own.call("GET", "", params={"maxresults": 2}, expect=200).json
    assert [a["name"] for a in first["value"]] == names[:2]
    place = urlsplit(first["nextLink"])
    rest = daemon.call("GET", f"{place.path}?{place.query}", validate=False, expect=200).json
    assert [a["name"] for a in rest["value"]] == names[2:] and "nextLink" not in rest
    everywhere = own.call("GET", f"{own.above}/batchAccounts", expect=200).json["value"]
    assert set(names) <= {a["name"] for a in everywhere}


def test_a_deleted_account_is_gone_and_its_name_free(batch):
    name = batch.account()
    reply = batch.delete(name)
    assert f"/providers/Microsoft.Batch/locations/eastus/accountOperationResults/{name}-" in reply.headers["location"]
    done = batch.follow(reply)
    assert (done.status, done.content) == (200, b"")
    batch.get(name, expect=404)
    batch.delete(name, expect=204)
    batch.account(name)
    batch.call("GET", f"{batch.above}/locations/eastus/accountOperationResults/{name}-nothing", expect=404)


def test_accounts_go_with_their_group(daemon, temporary):
    own = BatchAccounts(daemon).make()
    name = own.account()
    group = own.remove()
    wait_for(lambda: group.call("GET", expect=(200, 404)).status == 404)
    temporary(BatchAccounts(daemon).make()).account(name)


def test_an_account_survives_the_daemon(own_daemon):
    d = own_daemon()
    own = BatchAccounts(d).make()
    name = own.account(tags={"a": "b"})
    before, keys = own.get(name), own.keys(name)
    d.restart()
    assert own.get(name) == before and own.keys(name) == keys


# --- keys -------------------------------------------------------------------------------------------


def test_keys_are_random_and_one_can_be_replaced(batch):
    name = batch.account()
    primary, secondary = batch.keys(name)
    assert len(base64.b64decode(primary)) == len(base64.b64decode(secondary)) == 64 and primary != secondary
    reply = batch.call("POST", f"/{name}/regenerateKeys", {"keyName": "Secondary"}, expect=200).json
    assert reply["primary"] == primary and reply["secondary"] not in (primary, secondary)
    assert batch.keys(name) == (primary, reply["secondary"])
    reply = batch.call("POST", f"/{name}/regenerateKeys", {"keyName": "primary"}, expect=200).json
    assert reply["primary"] != primary
    batch.call("POST", f"/{name}/regenerateKeys", {"keyName": "key1"}, expect=400)
    batch.call("POST", f"/{name}/regenerateKeys", {}, expect=400)


def test_keys_are_in_no_file_as_they_are(own_daemon):
    d = own_daemon()
    own = BatchAccounts(d).make()
    keys = own.keys(own.account())
    d.stop()
    kept = b"".join(p.read_bytes() for p in d.state_dir.rglob("*") if p.is_file()) + d.stderr_path.read_bytes()
    for key in keys:
        assert key.encode() not in kept and base64.b64decode(key) not in kept


def test_an_account_without_shared_keys_gives_none(batch):
    name = batch.account(allowedAuthenticationModes=["AAD"])
    for path, body in (("listKeys", None), ("regenerateKeys", {"keyName": "Primary"})):
        assert batch.call("POST", f"/{name}/{path}", body, expect=409).code == "SharedKeyAuthenticationDisabled"
    batch.call("PATCH", f"/{name}", {"properties": {"allowedAuthenticationModes": ["SharedKey"]}}, expect=200)
    batch.keys(name)


def test_keys_of_auto_storage_are_looked_at_again(batch, daemon, temporary):
    own = temporary(Accounts(daemon).make())
    kept = own.account()
    name = batch.account(autoStorage={"storageAccountId": f"{own.path}/{kept}"})
    before = batch.get(name)["properties"]["autoStorage"]["lastKeySync"]
    batch.call("POST", f"/{name}/syncAutoStorageKeys", expect=204)
    assert instant(batch.get(name)["properties"]["autoStorage"]["lastKeySync"]) > instant(before)
    own.delete(kept)
    assert batch.call("POST", f"/{name}/syncAutoStorageKeys", expect=400).code == "AutoStorageAccountNotFound"
    assert batch.call("POST", f"/{batch.account()}/syncAutoStorageKeys", expect=409).code == "AutoStorageNotConfigured"


# --- who may ----------------------------------------------------------------------------------------


def test_readers_see_accounts_but_no_keys(batch, daemon, temporary):
    name = batch.account()
    reader = temporary(Person(daemon, role=READER, scope=batch.base))
    above = {"api_version": RM_VERSION, "validate": False}
    assert reader.get(f"{batch.path}/{name}", **above)["name"] == name
    assert [a["name"] for a in reader.get(f"{batch.above}/batchAccounts", **above)["value"]].count(name) == 1
    reader.may_not("POST", f"{batch.path}/{name}/listKeys", **above)
    reader.may_not("POST", f"{batch.path}/{name}/regenerateKeys", {"keyName": "Primary"}, **above)
    reader.may_not("PATCH", f"{batch.path}/{name}", {"tags": {}}, **above)
    reader.may_not("DELETE", f"{batch.path}/{name}", **above)
    stranger = temporary(Person(daemon, role=READER, scope=f"{batch.base}x"))
    assert stranger.get(f"{batch.above}/batchAccounts", **above)["value"] == []


def test_who_sets_auto_storage_must_have_its_keys(batch, daemon, store, temporary):
    person = temporary(Person(daemon, role=CONTRIBUTOR, scope=batch.base))
    body = account_body(autoStorage={"storageAccountId": store})
    above = {"api_version": RM_VERSION, "validate": False}
    person.may_not_link("PUT", f"{batch.path}/{account_name()}", body, **above)
    assert person.call("PUT", f"{batch.path}/{account_name()}", account_body(), **above).status == 202


# --- what is around accounts ------------------------------------------------------------------------


def test_locations_have_quotas_and_sizes(batch):
    quota = batch.call("GET", f"{batch.above}/locations/eastus/quotas", expect=200).json
    assert quota["accountQuota"] >= 1000
    sizes = batch.call("GET", f"{batch.above}/locations/eastus/virtualMachineSkus", expect=200).json["value"]
    named = {s["name"]: s for s in sizes}
    assert {"name": "vCPUs", "value": "32"} in named["Standard_E32_v3"]["capabilities"]
    assert batch.call("GET", f"{batch.above}/locations/eastus/cloudServiceSkus", expect=200).json == {"value": []}
    reply = batch.daemon.call("GET", f"{batch.above}/locations/eastus/cloudServiceSkus", api_version="2024-07-01", validate=False, expect=400)
    assert "2024-02-01" in reply.error["message"]


def test_operations_are_listed(batch):
    reply = batch.daemon.call("GET", "/providers/Microsoft.Batch/operations", api_version=RM_VERSION, validate=False, expect=200)
    names = [o["name"] for o in JUDGES[RM_VERSION].judge(reply).json["value"]]
    assert "Microsoft.Batch/BatchAccount_GetKeys" in names


def test_there_are_no_private_endpoints_and_no_detectors(batch, daemon):
    name = batch.account()
    for kind in ("detectors", "privateEndpointConnections", "privateLinkResources"):
        assert batch.call("GET", f"/{name}/{kind}", expect=200).json == {"value": []}
        assert batch.call("GET", f"/{name}/{kind}/x", expect=404).code == "ResourceNotFound"
    body = {"properties": {"privateLinkServiceConnectionState": {"status": "Approved"}}}
    batch.call("PATCH", f"/{name}/privateEndpointConnections/x", body, expect=404)
    ends = batch.call("GET", f"/{name}/outboundNetworkDependenciesEndpoints", expect=200).json["value"]
    assert ends[0]["endpoints"][0]["domainName"] == f"{name}.eastus.batch.localhost"
    assert ends[0]["endpoints"][0]["endpointDetails"] == [{"port": port(daemon)}]


def test_the_provider_is_registered(batch, daemon):
    path = f"/subscriptions/{daemon.subscription}/providers/Microsoft.Batch"
    seen = daemon.call("GET", path, api_version="2021-04-01", validate=False, expect=200).json
    assert "batchAccounts" in [t["resourceType"] for t in seen["resourceTypes"]]
    daemon.call("POST", f"{path}/register", api_version="2021-04-01", validate=False, expect=200)


# --- which operations there are ---------------------------------------------------------------------

def operations():
    with open(spec_dir() / "operations-arm.tsv", newline="") as f:
        rows = list(csv.reader(f, delimiter="\t", quoting=csv.QUOTE_NONE))[1:]
    return batch_2025.added("operations-arm.tsv", rows)


def path_of(batch, template):
    path = template.replace("{A}", f"{batch.path}/nobody").replace("{S}", batch.above)
    path = path.replace("{subscriptionId}", batch.daemon.subscription).replace("{resourceGroupName}", batch.group)
    return re.sub(r"\{\w+\}", "nothing", path)


@pytest.mark.skipif(not (spec_dir() / "operations-arm.tsv").is_file(), reason="the published spec is not here")
def test_every_operation_is_served_in_its_versions_alone(batch):
    wrong = []
    for op, verb, template, *_rest, first, last in (r[:10] for r in operations()):
        for version in VERSIONS:
            known = first <= version and (not last or version <= last)
            reply = batch.daemon.call(verb, path_of(batch, template), {}, api_version=version, validate=False)
            refused = reply.status >= 400 and reply.code in ("NoRegisteredProviderFound", "MethodNotAllowed", "InvalidResourceType")
            if refused == known:
                wrong.append(f"{op} in {version} is {'not ' if refused else ''}served: {reply.status}")
    assert wrong == []
