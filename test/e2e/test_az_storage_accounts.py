# SPDX-License-Identifier: MIT
"""Storage accounts, shares and containers by the real az, as far as the resource manager has them."""

import pytest
from support.accounts import Accounts, account_name


@pytest.fixture
def accounts(daemon, temporary):
    return temporary(Accounts(daemon).make())


def test_the_life_of_an_account(az, accounts):
    group, name, other = accounts.group, account_name(), account_name()
    made = az(f"storage account create -n {name} -g {group} -l eastus --sku Standard_LRS")
    assert made["id"] == accounts.get(name)["id"] and made["provisioningState"] == "Succeeded"
    assert made["primaryEndpoints"]["file"].startswith(f"https://{name}.file.core.localhost:")
    az(f"storage account create -n {other} -g {group} -l eastus")
    assert az(f"storage account show -n {name}")["name"] == name
    assert [a["name"] for a in az(f"storage account list -g {group}")] == [name, other]
    assert {name, other} <= {a["name"] for a in az("storage account list")}
    assert [a["name"] for a in az(f"resource list -g {group} --resource-type Microsoft.Storage/storageAccounts")] == [name, other]
    assert az(f"storage account check-name -n {name}")["nameAvailable"] is False

    one, two = (k["value"] for k in az(f"storage account keys list -n {name} -g {group}"))
    assert [one, two] == accounts.keys(name)
    renewed = az(f"storage account keys renew -n {name} -g {group} --key primary")
    assert renewed[0]["value"] != one and renewed[1]["value"] == two
    connection = az(f"storage account show-connection-string -n {name} -g {group}")["connectionString"]
    assert f"AccountName={name}" in connection and renewed[0]["value"] in connection

    changed = az(f"storage account update -n {name} -g {group} --tags a=b --sku Standard_GRS --https-only false")
    assert changed["tags"] == {"a": "b"} and changed["sku"]["name"] == "Standard_GRS"
    assert changed["enableHttpsTrafficOnly"] is False
    assert az("storage account show-usage -l eastus")["currentValue"] >= 2
    az(f"storage account blob-service-properties show -n {name} -g {group}")
    az(f"storage account blob-service-properties update -n {name} -g {group} --enable-delete-retention true --delete-retention-days 7")
    assert az(f"storage account blob-service-properties show -n {name} -g {group}")["deleteRetentionPolicy"]["days"] == 7
    az(f"storage account file-service-properties show -n {name} -g {group}")
    az(f"storage account delete -n {name} -g {group} -y")
    accounts.get(name, expect=404)


def test_shares_and_containers(az, accounts):
    group, name = accounts.group, accounts.account()
    where = f"--storage-account {name} -g {group}"
    assert az(f"storage share-rm create {where} -n data --quota 5")["shareQuota"] == 5
    assert accounts.folder(name, "data").is_dir()
    assert az(f"storage share-rm exists {where} -n data")["exists"] is True
    assert az(f"storage share-rm exists {where} -n other")["exists"] is False
    assert az(f"storage share-rm update {where} -n data --quota 9 --metadata k=v")["metadata"] == {"k": "v"}
    assert [(s["name"], s["shareQuota"]) for s in az(f"storage share-rm list {where}")] == [("data", 9)]
    assert az(f"storage share-rm show {where} -n data")["leaseState"] == "Available"
    az(f"storage share-rm delete {where} -n data -y")
    assert az(f"storage share-rm list {where}") == []

    assert az(f"storage container-rm create {where} -n box --public-access blob")["publicAccess"] == "Blob"
    assert accounts.folder(name, "box", "blobs").is_dir()
    assert az(f"storage container-rm exists {where} -n box")["exists"] is True
    assert az(f"storage container-rm update {where} -n box --metadata k=v")["metadata"] == {"k": "v"}
    assert [c["name"] for c in az(f"storage container-rm list {where}")] == ["box"]
    az(f"storage container-rm delete {where} -n box -y")
    assert az(f"storage container-rm exists {where} -n box")["exists"] is False


def test_names_that_cannot_be(az, accounts, daemon, temporary):
    name = accounts.account()
    other = temporary(Accounts(daemon).make())
    assert "StorageAccountAlreadyExists" in az.fails(f"storage account create -n {name} -g {other.group} -l eastus")
