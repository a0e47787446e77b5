# SPDX-License-Identifier: MIT
"""The life of a Batch account and of a package through azure-mgmt-batch, unmodified:
batch_management.py GROUP STORAGE-ACCOUNT-ID ACCOUNT"""

import io
import sys
import zipfile

import azure.mgmt.batch
import requests
import signing_in
from azure.core.exceptions import HttpResponseError, ResourceNotFoundError
from azure.mgmt.batch import BatchManagementClient, models

group, store, name = sys.argv[1:]
client = signing_in.management(BatchManagementClient)


def refused(code, call, *arguments):
    try:
        call(*arguments)
    except HttpResponseError as e:
        assert e.error.code == code, e
        return
    raise AssertionError(f"{call} {arguments} was not refused")


def accounts():
    storage = models.AutoStorageBaseProperties(storage_account_id=store)
    new = models.BatchAccountCreateParameters(location="eastus", tags={"a": "b"}, auto_storage=storage)
    made = client.batch_account.begin_create(group, name, new).result()
    assert (made.name, made.provisioning_state, made.tags) == (name, "Succeeded", {"a": "b"})
    assert made.account_endpoint.startswith(f"{name}.eastus.batch.localhost:")
    assert [a.name for a in client.batch_account.list_by_resource_group(group)] == [name]
    assert name in [a.name for a in client.batch_account.list()]
    keys = client.batch_account.get_keys(group, name)
    fresh = client.batch_account.regenerate_key(group, name, models.BatchAccountRegenerateKeyParameters(key_name="Secondary"))
    assert (fresh.primary, fresh.account_name) == (keys.primary, name) and fresh.secondary != keys.secondary
    changed = client.batch_account.update(group, name, {"tags": {"c": "d"}})
    assert changed.tags == {"c": "d"} and changed.auto_storage.last_key_sync
    client.batch_account.synchronize_auto_storage_keys(group, name)
    assert client.location.get_quotas("eastus").account_quota >= 1000
    asked = {"name": name, "type": "Microsoft.Batch/batchAccounts"}
    assert client.location.check_name_availability("eastus", asked).reason == "AlreadyExists"
    assert "Standard_E32_v3" in [s.name for s in client.location.list_supported_virtual_machine_skus("eastus")]
    assert list(client.private_endpoint_connection.list_by_batch_account(group, name)) == []


def packages():
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as z:
        z.writestr("myapp.exe", "x")
    client.application.create(group, name, "app01", models.Application(display_name="App"))
    made = client.application_package.create(group, name, "app01", "1.0")
    assert made.state == "Pending"
    refused("ApplicationPackageBlobNotFound", client.application_package.activate, group, name, "app01", "1.0", {"format": "zip"})
    head = {"x-ms-blob-type": "BlockBlob"}
    requests.put(made.storage_url, data=archive.getvalue(), headers=head, timeout=30).raise_for_status()
    active = client.application_package.activate(group, name, "app01", "1.0", {"format": "zip"})
    assert (active.state, active.format) == ("Active", "zip") and active.last_activation_time
    changed = client.application.update(group, name, "app01", models.Application(default_version="1.0"))
    assert (changed.default_version, changed.display_name, changed.allow_updates) == ("1.0", "App", True)
    assert [p.name for p in client.application_package.list(group, name, "app01")] == ["1.0"]
    refused("ApplicationPackagesNotEmpty", client.application.delete, group, name, "app01")
    client.application_package.delete(group, name, "app01", "1.0")
    client.application.delete(group, name, "app01")
    assert list(client.application.list(group, name)) == []


def the_end():
    client.batch_account.begin_delete(group, name).result()
    try:
        client.batch_account.get(group, name)
    except ResourceNotFoundError:
        return
    raise AssertionError("the account is still there")


accounts()
packages()
the_end()
print(f"ok python-mgmt-batch-{azure.mgmt.batch.__version__} {client._config.api_version}")
