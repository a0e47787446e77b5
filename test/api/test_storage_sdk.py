# SPDX-License-Identifier: MIT
"""The real Python SDK (azure.mgmt.storage) over storage accounts, shares and containers."""

import pytest

storage = pytest.importorskip("azure.mgmt.storage", reason="no azure.mgmt.storage")
from azure.core.exceptions import HttpResponseError, ResourceNotFoundError  # noqa: E402
from azure.mgmt.storage import StorageManagementClient  # noqa: E402
from support import sdk as support_sdk  # noqa: E402
from support.accounts import Accounts, account_name  # noqa: E402

VERSIONS = ("2017-10-01", "2022-09-01")


@pytest.fixture(params=VERSIONS)
def client(request, daemon):
    endpoint = daemon.env["BATCHAID_ENDPOINT"]
    with StorageManagementClient(
        support_sdk.credential(daemon),
        daemon.subscription,
        api_version=request.param,
        base_url=endpoint,
        credential_scopes=[endpoint + "/.default"],
        connection_verify=daemon.ca,
        retry_total=0,
        polling_interval=0,
    ) as made:
        yield made


@pytest.fixture
def accounts(daemon, temporary):
    return temporary(Accounts(daemon).make())


def parameters(**more):
    return {"sku": {"name": "Standard_LRS"}, "kind": "StorageV2", "location": "eastus", **more}


def test_the_life_of_an_account(client, accounts):
    group, name = accounts.group, account_name()
    made = client.storage_accounts.begin_create(group, name, parameters(tags={"a": "b"})).result()
    assert (made.name, made.location, made.tags, made.kind) == (name, "eastus", {"a": "b"}, "StorageV2")
    assert made.primary_endpoints.blob.startswith(f"https://{name}.blob.core.localhost")
    assert made.creation_time.tzinfo is not None
    assert client.storage_accounts.get_properties(group, name).id == made.id
    keys = client.storage_accounts.list_keys(group, name).keys
    assert [k.key_name for k in keys] == ["key1", "key2"] and accounts.keys(name) == [k.value for k in keys]
    fresh = client.storage_accounts.regenerate_key(group, name, {"key_name": "key1"}).keys
    assert fresh[0].value != keys[0].value and fresh[1].value == keys[1].value
    assert client.storage_accounts.update(group, name, {"tags": {"c": "d"}}).tags == {"c": "d"}
    assert [a.name for a in client.storage_accounts.list_by_resource_group(group)] == [name]
    assert name in [a.name for a in client.storage_accounts.list()]
    check = client.storage_accounts.check_name_availability({"name": name, "type": "Microsoft.Storage/storageAccounts"})
    assert (check.name_available, check.reason) == (False, "AlreadyExists")
    assert client.skus.list()
    client.storage_accounts.delete(group, name)
    with pytest.raises((ResourceNotFoundError, HttpResponseError)) as missing:
        client.storage_accounts.get_properties(group, name)
    assert missing.value.status_code == 404 and missing.value.error.code == "ResourceNotFound"


def test_signatures(client, accounts):
    name = accounts.account()
    made = client.storage_accounts.list_account_sas(
        accounts.group,
        name,
        {
            "services": "bf",
            "resource_types": "sco",
            "permissions": "rl",
            "shared_access_expiry_time": "2036-01-01T00:00:00Z",
        },
    )
    assert "sig=" in made.account_sas_token and "ss=bf" in made.account_sas_token


@pytest.mark.parametrize("client", ("2019-06-01", "2022-09-01"), indirect=True)
def test_containers_and_shares(client, accounts):
    group, name = accounts.group, accounts.account()
    boxes = client.blob_containers
    for n in ("box1", "box2", "box3"):
        boxes.create(group, name, n, {"metadata": {"k": "v"}} if n == "box1" else {})
    assert [c.name for c in boxes.list(group, name)] == ["box1", "box2", "box3"]
    assert boxes.get(group, name, "box1").metadata == {"k": "v"}
    boxes.delete(group, name, "box1")
    with pytest.raises(HttpResponseError):
        boxes.get(group, name, "box1")
    shares = client.file_shares
    for i in range(5):
        shares.create(group, name, f"share{i}", {"share_quota": 5 + i})
    assert [s.name for s in shares.list(group, name, maxpagesize="2")] == [f"share{i}" for i in range(5)]
    assert shares.get(group, name, "share3").share_quota == 8
    assert shares.update(group, name, "share3", {"metadata": {"a": "b"}}).metadata == {"a": "b"}
    shares.delete(group, name, "share3")
    # 2019-06-01 asks for deleted ones, too, unless it is told not to.
    assert len([s for s in shares.list(group, name) if not s.deleted]) == 4
