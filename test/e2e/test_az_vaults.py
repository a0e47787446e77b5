# SPDX-License-Identifier: MIT
"""Key Vaults by the real az. What Debian's az cannot do (`az keyvault secret`) is in docs/clients.md."""

import pytest
from support.vaults import Vaults
from support.world import fresh

ME = "11111111-0000-0000-0000-000000000001"


@pytest.fixture
def vaults(daemon):
    v = Vaults(daemon).make()
    yield v
    v.remove()


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
