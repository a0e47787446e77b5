# SPDX-License-Identifier: MIT
"""Key Vaults by the real az. What Debian's az cannot do (`az keyvault secret`) is in docs/guide-2018.md."""

from support.vaults import Safe
from support.world import fresh

ME = "11111111-0000-0000-0000-000000000001"
BATCH_AI = "9fcb3732-5f52-4135-8c08-9d4bbaf203ea"  # in every directory


def test_the_life_of_a_vault(az, vaults):
    group, name, other = vaults.group, fresh("azvault"), fresh("azvault")
    made = az(f"keyvault create -l eastus -g {group} -n {name} --no-self-perms --tags a=b --retention-days 7")
    assert made["properties"]["vaultUri"] == vaults.get(name)["properties"]["vaultUri"]
    az(f"keyvault create -l eastus -g {group} -n {other} --enable-rbac-authorization")
    assert az(f"keyvault show -n {name}")["tags"] == {"a": "b"}
    assert [v["name"] for v in az(f"keyvault list -g {group}")] == [name, other]
    assert {name, other} <= {v["name"] for v in az("keyvault list")}
    assert [v["name"] for v in az(f"resource list -g {group} --resource-type Microsoft.KeyVault/vaults")] == [name, other]

    az(f"keyvault set-policy -n {name} -g {group} --object-id {ME} --secret-permissions get list")
    (entry,) = vaults.get(name)["properties"]["accessPolicies"]
    assert entry["objectId"] == ME and sorted(entry["permissions"]["secrets"]) == ["get", "list"]
    assert az(f"keyvault delete-policy -n {name} --object-id {ME}")["properties"]["accessPolicies"] == []
    az(f"keyvault update -n {name} --enabled-for-deployment true")
    assert vaults.get(name)["properties"]["enabledForDeployment"] is True

    az(f"keyvault delete -n {name} -g {group}")
    assert name in [v["name"] for v in az("keyvault list-deleted --resource-type vault")]
    assert az(f"keyvault show-deleted -n {name}")["properties"]["tags"] == {"a": "b"}
    assert az(f"keyvault recover -n {name}")["tags"] == {"a": "b"}
    az(f"keyvault delete -n {name}")
    az(f"keyvault purge -n {name}")
    vaults.deleted(name, expect=404)


def test_the_walkthroughs_vault(az, vaults, daemon, own_place):
    """As the walkthroughs open a vault to Azure Batch AI; the secret by REST, as Debian's az cannot set it."""
    group, name = vaults.group, fresh("azvault")
    az(f"keyvault create -l eastus -g {group} -n {name}")
    (own,) = vaults.get(name)["properties"]["accessPolicies"]
    assert own["objectId"] == daemon.env["AZURE_CLIENT_ID"] and own["permissions"]["secrets"] == ["all"]
    safe = Safe(daemon, name)
    safe.set("nameofsecret", "secretvalue")
    az(f"keyvault delete-policy -n {name} -g {group} --object-id {own['objectId']}")
    safe.call("GET", "/secrets", expect=403)
    reference = {
        "sourceVault": {"id": vaults.get(name)["id"]},
        "secretUrl": f"https://{name}.vault.azure.net/secrets/nameofsecret",
    }
    cluster = own_place.cluster()
    secrets = [{"name": "T", "valueSecretReference": reference}]
    (error,) = own_place.job(cluster, secrets=secrets).fail()["executionInfo"]["errors"]
    assert error["code"] == "KeyVaultSecretNotRead"
    az(f"keyvault set-policy --spn {BATCH_AI} -n {name} -g {group} --secret-permissions get list")
    job = own_place.job(cluster, "echo $T", secrets=secrets).succeeded()
    assert job.read("stdout.txt") == "secretvalue\n"
