# SPDX-License-Identifier: MIT
"""Key Vaults through Azure Resource Manager."""

import concurrent.futures
import re
from datetime import timedelta
from urllib.parse import urlsplit

import pytest
from support.people import Person
from support.refusals import refused
from support.vaults import ALL, RM, RM_VERSION, Vaults, policy, vault_body
from support.waiting import wait_for
from support.world import Place, fresh, instant

ME, YOU = "11111111-0000-0000-0000-000000000001", "11111111-0000-0000-0000-000000000002"


# --- create, show, change ---------------------------------------------------------------------------


def test_a_vault_is_shown_as_it_was_made(vaults, daemon):
    name = fresh("Safe-")
    acls = {"bypass": "AzureServices", "defaultAction": "Deny", "ipRules": [{"value": "1.2.3.4"}]}
    made = vaults.put(
        name,
        vault_body(policy(ME, **ALL), tags={"a": "b"}, networkAcls=acls, enabledForDeployment=True),
    ).json
    seen = vaults.get(name.upper())
    assert seen == made
    assert seen["id"] == f"{vaults.path}/vaults/{name}".replace("resourceGroups/" + vaults.group, "resourceGroups/" + vaults.group.lower())
    assert (seen["name"], seen["type"]) == (name, "Microsoft.KeyVault/vaults")
    assert (seen["location"], seen["tags"]) == ("eastus", {"a": "b"})
    port = urlsplit(daemon.endpoint).port
    p = seen["properties"]
    assert p["vaultUri"] == f"https://{name.lower()}.vault.localhost:{port}/"
    assert p["accessPolicies"] == [policy(ME, **ALL)]
    assert p["networkAcls"] == acls
    assert p["sku"] == {"family": "A", "name": "standard"}
    assert (p["enableSoftDelete"], p["softDeleteRetentionInDays"]) == (True, 90)
    assert (p["enableRbacAuthorization"], p["enabledForDeployment"]) == (False, True)
    assert (p["provisioningState"], p["publicNetworkAccess"]) == ("Succeeded", "Enabled")
    assert seen["systemData"]["createdBy"] == daemon.env["AZURE_CLIENT_ID"]


def test_the_address_repeats_the_host_that_the_client_used(vaults, daemon):
    port = urlsplit(daemon.endpoint).port
    name = vaults.vault()
    for host, site in ((f"head.lab:{port}", f"head.lab:{port}"), ("10.0.0.7", "localhost"), ("[::1]:99", "localhost:99")):
        seen = vaults.call("GET", f"/vaults/{name}", headers={"Host": host}, expect=200).json
        assert seen["properties"]["vaultUri"] == f"https://{name}.vault.{site}/"


def test_a_repeated_put_replaces_what_it_says(vaults):
    name = vaults.vault(policy(ME, **ALL), tags={"a": "b"}, softDeleteRetentionInDays=7)
    seen = vaults.put(name, vault_body(policy(YOU, secrets=["get"]))).json
    assert seen["properties"]["accessPolicies"] == [policy(YOU, secrets=["get"])]
    assert "tags" not in seen
    assert seen["properties"]["softDeleteRetentionInDays"] == 7  # nobody said another number


def test_a_patch_changes_only_what_it_says(vaults):
    name = vaults.vault(policy(ME, **ALL), tags={"a": "b"})
    seen = vaults.call("PATCH", f"/vaults/{name}", {"properties": {"enabledForDeployment": True}}, expect=200).json
    assert seen["tags"] == {"a": "b"} and seen["properties"]["accessPolicies"] == [policy(ME, **ALL)]
    assert seen["properties"]["enabledForDeployment"] is True
    seen = vaults.call("PATCH", f"/vaults/{name}", {"tags": {}, "properties": {"accessPolicies": []}}, expect=200).json
    assert seen["tags"] == {} and seen["properties"]["accessPolicies"] == []
    assert seen == vaults.get(name)


def test_what_cannot_be_changed(vaults):
    name = vaults.vault(softDeleteRetentionInDays=7, enablePurgeProtection=True)
    moved = vault_body()
    moved["location"] = "westus"
    reply = vaults.put(name, moved, expect=409)
    assert reply.code == "InvalidResourceLocation"
    reply = vaults.put(name, vault_body(softDeleteRetentionInDays=8), expect=400)
    assert "softDeleteRetentionInDays" in reply.error["message"]
    assert vaults.put(name, vault_body()).json["properties"]["enablePurgeProtection"] is True
    spelled = vault_body()
    spelled["location"] = "East US"
    vaults.put(name, spelled)


def test_roles_are_the_default_of_newer_versions(vaults):
    for version, roles in (("2016-10-01", False), ("2022-07-01", False), ("2026-02-01", True)):
        reply = vaults.put(fresh("vault"), api_version=version)
        assert reply.json["properties"]["enableRbacAuthorization"] is roles, version


@pytest.mark.parametrize(
    "change, target",
    [
        ({"sku": None}, "properties.sku"),
        ({"sku": {"family": "B", "name": "standard"}}, "properties.sku.family"),
        ({"tenantId": None}, "properties.tenantId"),
        ({"tenantId": "a\nb"}, "properties.tenantId"),
        ({"accessPolicies": [{"tenantId": "adfs", "permissions": {}}]}, "properties.accessPolicies[0].objectId"),
        ({"accessPolicies": [policy(ME, secrets=["gett"])]}, "properties.accessPolicies[0].permissions.secrets"),
        ({"accessPolicies": [policy(ME, keys="all")]}, "properties.accessPolicies[0].permissions.keys"),
        ({"accessPolicies": [policy(ME)] * 1025}, "properties.accessPolicies"),
        ({"softDeleteRetentionInDays": 6}, "properties.softDeleteRetentionInDays"),
        ({"softDeleteRetentionInDays": 91}, "properties.softDeleteRetentionInDays"),
        ({"enableSoftDelete": False}, "properties.enableSoftDelete"),
        ({"enablePurgeProtection": False}, "properties.enablePurgeProtection"),
        ({"networkAcls": {"defaultAction": "Perhaps"}}, "properties.networkAcls.defaultAction"),
        ({"createMode": "guess"}, "properties.createMode"),
    ],
)
def test_a_wrong_property_is_named(vaults, change, target):
    body = vault_body(**change)
    error = vaults.put(fresh("vault"), body, expect=400).error
    assert error["target"] == target, error


@pytest.mark.parametrize("name", ["ab", "1abc", "abc-", "a--b", "a_bc", "a" * 25, "a.bc", "%C3%A4bc"])
def test_names_have_a_rule(vaults, name):
    assert vaults.put(name, expect=400).code == "VaultNameNotValid"
    body = {"name": name, "type": "Microsoft.KeyVault/vaults"}
    seen = vaults.call("POST", f"{vaults.above}/checkNameAvailability", body, expect=200).json
    assert (seen["nameAvailable"], seen["reason"]) == (False, "AccountNameInvalid")


# --- names and groups --------------------------------------------------------------------------------


def available(vaults, name):
    body = {"name": name, "type": "Microsoft.KeyVault/vaults"}
    return vaults.call("POST", f"{vaults.above}/checkNameAvailability", body, expect=200).json


def test_a_name_is_one_vault_in_all_groups(vaults, daemon, temporary):
    name = vaults.vault()
    other = temporary(Vaults(daemon).make())
    assert other.put(name.upper(), expect=409).code == "VaultAlreadyExists"
    assert other.call("GET", f"/vaults/{name}", expect=404).code == "ResourceNotFound"
    other.delete(name, expect=204)
    assert available(vaults, name)["reason"] == "AlreadyExists"
    assert available(vaults, fresh("vault")) == {"nameAvailable": True}


def test_a_vault_in_no_group(daemon):
    assert Vaults(daemon, "nowhere").put("vault-a", expect=404).code == "ResourceGroupNotFound"


def test_two_at_once_make_one(vaults):
    name = fresh("vault")
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(lambda _: vaults.put(name), range(8)))
    assert len({r.json["systemData"]["createdAt"] for r in replies}) == 1


# --- soft deletion ----------------------------------------------------------------------------------


def test_a_deleted_vault_can_be_recovered(vaults, daemon):
    name = vaults.vault(policy(ME, **ALL), tags={"a": "b"}, softDeleteRetentionInDays=10)
    before = vaults.get(name)
    vaults.delete(name)
    vaults.get(name, expect=404)
    vaults.delete(name, expect=204)
    assert name not in [v["name"] for v in vaults.call("GET", "/vaults").json["value"]]
    seen = vaults.deleted(name).json
    assert seen["id"].endswith(f"/providers/Microsoft.KeyVault/locations/eastus/deletedVaults/{name}")
    p = seen["properties"]
    assert (p["vaultId"], p["location"], p["tags"]) == (before["id"], "eastus", {"a": "b"})
    assert instant(p["scheduledPurgeDate"]) - instant(p["deletionDate"]) == timedelta(days=10)
    assert seen in vaults.call("GET", f"{vaults.above}/deletedVaults", expect=200).json["value"]
    assert vaults.put(name, expect=409).code == "ConflictError"
    assert available(vaults, name)["reason"] == "AlreadyExists"
    other = Vaults(daemon).make()
    assert other.put(name, {"location": "eastus", "properties": {"createMode": "recover"}}, expect=409).code
    other.remove()
    again = vaults.put(name, {"location": "eastus", "properties": {"createMode": "recover"}}).json
    assert again["properties"] == before["properties"] and again["tags"] == {"a": "b"}
    vaults.put(name, {"location": "eastus", "properties": {"createMode": "recover"}})  # once more changes nothing
    assert vaults.deleted(name, expect=404).code == "DeletedVaultNotFound"


def test_a_purged_vault_is_gone(vaults):
    name = vaults.vault()
    assert vaults.deleted(name, "/purge", "POST", expect=404).code == "DeletedVaultNotFound"
    vaults.delete(name)
    vaults.deleted(name, "/purge", "POST", location="westus", expect=404)
    purged = vaults.deleted(name, "/purge", "POST", location="East%20US", expect=202)
    operation = purged.headers["Location"].split("?")[0].removeprefix(vaults.daemon.endpoint)
    assert "/locations/eastus/operationResults/" in operation and purged.headers["Retry-After"]
    asked = {"api_version": RM_VERSION, "validate": False}
    assert vaults.daemon.call("GET", operation, expect=200, **asked).content == b""
    assert vaults.daemon.call("GET", operation + "0", expect=404, **asked).code == "OperationNotFound"
    vaults.deleted(name, expect=404)
    recover = {"location": "eastus", "properties": {"createMode": "recover"}}
    assert vaults.put(name, recover, expect=404).code == "DeletedVaultNotFound"
    vaults.put(name)


def test_a_protected_vault_is_not_purged(vaults):
    name = vaults.vault(enablePurgeProtection=True)
    vaults.delete(name)
    assert vaults.deleted(name).json["properties"]["purgeProtectionEnabled"] is True
    assert vaults.deleted(name, "/purge", "POST", expect=405).code == "MethodNotAllowed"
    vaults.deleted(name)


def test_a_deleted_group_leaves_its_vaults_to_be_recovered(daemon, temporary):
    v = temporary(Vaults(daemon).make())
    name = v.vault(policy(ME, **ALL))
    group = v.remove()
    assert v.deleted(name).json["properties"]["vaultId"].endswith(f"/{v.group}/providers/Microsoft.KeyVault/vaults/{name}")
    wait_for(group.gone, 30, "the group to be gone")
    recover = {"location": "eastus", "properties": {"createMode": "recover"}}
    v.put(name, recover, expect=404)
    v.make().put(name, recover)
    assert v.get(name)["properties"]["accessPolicies"] == [policy(ME, **ALL)]


def test_vaults_outlive_the_daemon(own_daemon):
    d = own_daemon()
    v = Vaults(d).make()
    kept, gone = v.vault(tags={"a": "b"}), v.vault()
    v.delete(gone)
    before, deleted = v.get(kept), v.deleted(gone).json
    d.crash()
    port = re.compile(r":\d+/")
    assert port.sub("", str(v.get(kept))) == port.sub("", str(before))
    assert v.deleted(gone).json == deleted


# --- access policies --------------------------------------------------------------------------------


def policies(vaults, name, kind, *entries, expect=200):
    body = {"properties": {"accessPolicies": list(entries)}}
    reply = vaults.call("PUT", f"/vaults/{name}/accessPolicies/{kind}", body, expect=expect)
    if expect == 200:
        assert reply.json["properties"]["accessPolicies"] == vaults.get(name)["properties"]["accessPolicies"]
    return reply


def test_access_policies_one_by_one(vaults):
    name = vaults.vault(policy(ME, secrets=["get"]))
    policies(vaults, name, "add", policy(ME.upper(), secrets=["list", "get"], keys=["sign"]), policy(YOU, secrets=[]))
    first, second = vaults.get(name)["properties"]["accessPolicies"]
    assert first == policy(ME, secrets=["get", "list"], keys=["sign"])
    assert second == policy(YOU, secrets=[])
    policies(vaults, name, "replace", policy(YOU, secrets=["set"]))
    policies(vaults, name, "remove", policy(ME, secrets=["list"]), policy(ME, keys=["sign", "verify"]))
    assert vaults.get(name)["properties"]["accessPolicies"] == [
        policy(ME, secrets=["get"], keys=[]),
        policy(YOU, secrets=["set"]),
    ]
    policies(vaults, name, "remove", policy(YOU), policy(ME, secrets=["get"]))
    assert vaults.get(name)["properties"]["accessPolicies"] == []
    policies(vaults, name, "guess", policy(ME), expect=400)
    policies(vaults, name, "add", {"objectId": ME}, expect=400)
    policies(vaults, fresh("none"), "add", policy(ME), expect=404)


def test_a_vault_has_as_many_access_policies_as_a_body_may_name(vaults):
    name = vaults.vault(*(policy(f"{i:08}-0000-0000-0000-000000000000") for i in range(1023)))
    policies(vaults, name, "add", policy(ME, secrets=["get"]))
    reply = policies(vaults, name, "add", policy(ME, secrets=["list"]), policy(YOU), expect=400)
    refused(reply, 400, "InvalidParameter", "properties.accessPolicies", words=["1025", "1024"])
    seen = vaults.get(name)["properties"]["accessPolicies"]
    assert len(seen) == 1024 and seen[-1] == policy(ME, secrets=["get"])
    policies(vaults, name, "replace", policy(ME, secrets=["set"]))
    vaults.call("PATCH", f"/vaults/{name}", {"properties": {"accessPolicies": vaults.get(name)["properties"]["accessPolicies"]}}, expect=200)


# --- lists ------------------------------------------------------------------------------------------


def whole_list(vaults, path, **params):
    found, reply = [], vaults.call("GET", path, params=params, expect=200)
    while True:
        found += reply.json["value"]
        link = reply.json.get("nextLink")
        if not link:
            return found
        reply = vaults.daemon.call("GET", link, validate=False, expect=200)


def test_lists_come_in_pages(daemon, temporary):
    v = temporary(Vaults(daemon).make())
    names = [v.vault(tags={"n": str(i)}) for i in range(5)]
    assert [x["name"] for x in whole_list(v, "/vaults", **{"$top": 2})] == names
    assert set(names) <= {x["name"] for x in whole_list(v, f"{v.above}/vaults", maxresults=2)}
    assert whole_list(v, "/vaults")[0] == v.get(names[0])


def test_resources_of_all_kinds_in_one_list(daemon, temporary):
    v = temporary(Vaults(daemon).make())
    names = [v.vault(tags={"a": "b"}) for _ in range(3)]
    workspaces = [Place(daemon, v.group, location="eastus").make().workspace for _ in range(2)]

    def resources(base, **params):
        reply = daemon.call("GET", f"{base}/resources", params=params, api_version="2015-11-01", expect=200, validate=False)
        found = reply.json["value"]
        while "nextLink" in reply.json:
            reply = daemon.call("GET", reply.json["nextLink"], expect=200, validate=False)
            assert len(reply.json["value"]) <= int(params.get("$top", 1000))
            found += reply.json["value"]
        return found

    for top in ("1", "2", "1000"):
        assert [x["name"] for x in resources(v.base, **{"$top": top})] == workspaces + names
    of_type = {"$filter": "resourceType eq 'Microsoft.KeyVault/vaults'"}
    found = [x for x in resources(v.subscription, **of_type, **{"$top": "2"}) if x["name"] in names]
    assert [x["name"] for x in found] == names
    assert found[0]["tags"] == {"a": "b"} and found[0]["type"] == "Microsoft.KeyVault/vaults"
    assert found[0]["id"] == v.get(names[0])["id"]
    both = {"$filter": f"resourceGroup eq '{v.group}' and name eq '{names[1]}'"}
    assert [x["name"] for x in resources(v.subscription, **both)] == [names[1]]
    bad = daemon.call("GET", f"{v.subscription}/resources", params={"$filter": "colour eq 'red'"}, expect=400)
    assert bad.code == "InvalidQueryParameterValue"
    v.delete(names[0])
    assert names[0] not in [x["name"] for x in resources(v.base)]


def test_a_list_has_what_one_may_see(vaults, daemon, temporary):
    names = [vaults.vault() for _ in range(3)]
    person = temporary(Person(daemon, "Reader", scope=vaults.get(names[1])["id"]))

    def seen(path):
        reply = person.get(path, api_version=RM_VERSION, validate=False)
        return [v["name"] for v in reply["value"]]

    for path in (f"{vaults.path}/vaults", f"{vaults.above}/vaults", f"{vaults.subscription}/resources"):
        assert seen(path) == [names[1]], path
    person.may_not("GET", f"{vaults.path}/vaults/{names[0]}", api_version=RM_VERSION, validate=False)
    person.may_not("DELETE", f"{vaults.path}/vaults/{names[1]}", api_version=RM_VERSION, validate=False)
    for name in names:
        vaults.delete(name)
    assert seen(f"{vaults.above}/deletedVaults") == [names[1]]
    purge = f"{vaults.above}/locations/eastus/deletedVaults/{names[1]}/purge"
    person.may_not("POST", purge, api_version=RM_VERSION, validate=False)
    nobody = temporary(Person(daemon, "none"))
    nobody.may_not("GET", f"{vaults.above}/vaults", api_version=RM_VERSION, validate=False)


# --- the rest ---------------------------------------------------------------------------------------


def test_the_provider_is_registered(daemon):
    base = f"/subscriptions/{daemon.subscription}/providers/Microsoft.KeyVault"
    assert daemon.call("GET", base, api_version="2021-04-01", expect=200).json["registrationState"] == "Registered"
    daemon.call("POST", f"{base}/register", api_version="2021-04-01", expect=200)


def test_every_version_is_served_and_must_be_there(vaults):
    name = vaults.vault()
    for version in ("2015-06-01", "2016-10-01", RM_VERSION, "2026-02-01", "2030-01-01-preview"):
        vaults.call("GET", f"/vaults/{name}", api_version=version, expect=200)
    assert vaults.call("GET", f"/vaults/{name}", api_version=None, expect=400).code == "MissingApiVersionParameter"
    vaults.call("GET", f"/vaults/{name}", token=None, expect=401)


def test_zz_the_documents_operations_were_all_seen():
    if RM.seen is None:
        pytest.skip("the published specs are not here")
    private = "PrivateEndpointConnections_", "PrivateLinkResources_"
    elsewhere = {"Vaults_List"}  # of all resources: arm's
    wanted = {op.id for op in RM.operations if not op.id.startswith(private)} - elsewhere
    assert wanted - RM.seen == set()
