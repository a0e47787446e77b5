# SPDX-License-Identifier: MIT
"""Batch accounts by the real az, as far as the resource manager has them."""

import json

import pytest
from support.accounts import Accounts
from support.batch_rm import BatchAccounts, account_name


@pytest.fixture
def batch(daemon, temporary):
    return temporary(BatchAccounts(daemon).make())


def test_the_life_of_an_account(az, daemon, batch):
    kept = Accounts(daemon, batch.group).account()
    group, name, other = batch.group, account_name(), account_name()
    where = f"-g {group} -n {name}"
    made = az(f"batch account create {where} -l eastus --storage-account {kept}")
    assert made["id"] == batch.get(name)["id"] and made["provisioningState"] == "Succeeded"
    assert made["accountEndpoint"].startswith(f"{name}.eastus.batch.localhost:")
    assert made["autoStorage"]["storageAccountId"].endswith(f"/{kept}")
    az(f"batch account create -g {group} -n {other} -l 'North Europe' --tags a=b --public-network-access Disabled")
    assert [a["name"] for a in az(f"batch account list -g {group}")] == [name, other]
    assert {name, other} <= {a["name"] for a in az("batch account list")}
    shown = az(f"batch account show -g {group} -n {other}")
    assert (shown["tags"], shown["publicNetworkAccess"], shown["location"]) == ({"a": "b"}, "Disabled", "northeurope")
    assert az(f"batch account set -g {group} -n {other} --storage-account {kept} --tags c=d")["tags"] == {"c": "d"}
    assert batch.get(other)["properties"]["autoStorage"]["storageAccountId"].endswith(f"/{kept}")
    az(f"batch account autostorage-keys sync {where}")
    assert az(f"batch account outbound-endpoints {where}")[0]["category"] == "Azure Batch"
    assert az(f"batch account identity show {where}")["type"] == "None"
    assert az(f"batch private-endpoint-connection list -g {group} --account-name {name}") == []
    assert az(f"batch private-link-resource list -g {group} --account-name {name}") == []

    keys = az(f"batch account keys list {where}")
    assert (keys["primary"], keys["secondary"]) == batch.keys(name)
    renewed = az(f"batch account keys renew {where} --key-name secondary")
    assert renewed["primary"] == keys["primary"] and renewed["secondary"] != keys["secondary"]

    az(f"batch account delete {where} -y")
    batch.get(name, expect=404)
    assert [a["name"] for a in az(f"resource list -g {group} --resource-type Microsoft.Batch/batchAccounts")] == [other]


def test_the_network_of_an_account(az, batch):
    name = batch.account()
    where = f"-g {batch.group} -n {name}"
    az(f"batch account network-profile set {where} --profile BatchAccount --default-action Deny")
    az(f"batch account network-profile network-rule add {where} --profile BatchAccount --ip-address 1.2.3.4")
    seen = az(f"batch account network-profile show {where}")["accountAccess"]
    assert seen["defaultAction"] == "Deny" and [r["value"] for r in seen["ipRules"]] == ["1.2.3.4"]
    az(f"batch account network-profile network-rule delete {where} --profile BatchAccount --ip-address 1.2.3.4 -y")
    assert az(f"batch account network-profile network-rule list {where}")["accountAccess"]["ipRules"] in ([], None)


def test_login_with_keys_and_without(az, daemon, batch):
    name = batch.account()
    where = f"-g {batch.group} -n {name}"
    az(f"batch account login {where}")
    config = (daemon.state_dir / "azure" / "config").read_text()
    assert f"account = {name}" in config and "auth_mode = aad" in config and "access_key" not in config
    assert az("batch account show")["name"] == name
    az(f"batch account login {where} --shared-key-auth")
    config = (daemon.state_dir / "azure" / "config").read_text()
    assert "auth_mode = shared_key" in config and f"access_key = {batch.keys(name)[0]}" in config
    shown = az(f"batch account login {where} --shared-key-auth --show")
    assert shown["primaryKey"] == batch.keys(name)[0]


def test_quotas_and_sizes(az):
    assert az("batch location quotas show -l eastus")["accountQuota"] >= 1000
    assert "Standard_E32_v3" in json.dumps(az("batch location list-skus -l eastus"))
