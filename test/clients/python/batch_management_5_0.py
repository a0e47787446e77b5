# SPDX-License-Identifier: MIT
"""The life of a Batch account, a package and a pool through azure-mgmt-batch 5.0.1 of 2018, unmodified:
batch_management_5_0.py GROUP STORAGE-ACCOUNT-ID ACCOUNT"""

import io
import sys
import zipfile

import requests
import signing_in
from azure.mgmt.batch import BatchManagementClient, models, version
from msrestazure.azure_exceptions import CloudError

group, store, name = sys.argv[1:]
client = signing_in.old_management(BatchManagementClient)
client.config.long_running_operation_timeout = 1  # seconds between polls


def refused(code, call, *arguments):
    try:
        call(*arguments)
    except CloudError as e:
        assert e.error.error == code, (e.error.error, e)
        return
    raise AssertionError(f"{call} {arguments} was not refused")


def accounts():
    wanted = models.BatchAccountCreateParameters(
        location="eastus", tags={"a": "b"}, auto_storage=models.AutoStorageBaseProperties(storage_account_id=store)
    )
    made = client.batch_account.create(group, name, wanted).result()
    assert (made.name, made.provisioning_state.value, made.tags) == (name, "Succeeded", {"a": "b"})
    assert made.account_endpoint.startswith(f"{name}.eastus.batch.localhost:")
    assert [a.name for a in client.batch_account.list_by_resource_group(group)] == [name]
    assert name in [a.name for a in client.batch_account.list()]
    keys = client.batch_account.get_keys(group, name)
    fresh = client.batch_account.regenerate_key(group, name, models.AccountKeyType.secondary)
    assert fresh.primary == keys.primary and fresh.secondary != keys.secondary
    changed = client.batch_account.update(group, name, tags={"c": "d"})
    assert changed.tags == {"c": "d"} and changed.auto_storage.last_key_sync
    client.batch_account.synchronize_auto_storage_keys(group, name)
    assert client.location.get_quotas("eastus").account_quota >= 1000
    assert client.location.check_name_availability("eastus", name).reason.value == "AlreadyExists"


def packages():
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as z:
        z.writestr("myapp.exe", "x")
    made = client.application.create(group, name, "app01", display_name="App")
    assert (made.id, made.display_name, made.allow_updates) == ("app01", "App", True)
    package = client.application_package.create(group, name, "app01", "1.0")
    assert package.state == models.PackageState.pending
    refused("ApplicationPackageBlobNotFound", client.application_package.activate, group, name, "app01", "1.0", "zip")
    head = {"x-ms-blob-type": "BlockBlob"}
    requests.put(package.storage_url, data=archive.getvalue(), headers=head, timeout=30).raise_for_status()
    client.application_package.activate(group, name, "app01", "1.0", "zip")
    assert client.application_package.get(group, name, "app01", "1.0").state == models.PackageState.active
    client.application.update(group, name, "app01", models.ApplicationUpdateParameters(default_version="1.0"))
    (shown,) = client.application.list(group, name)
    assert (shown.default_version, [p.version for p in shown.packages]) == ("1.0", ["1.0"])
    refused("ApplicationPackagesNotEmpty", client.application.delete, group, name, "app01")
    client.application_package.delete(group, name, "app01", "1.0")
    client.application.delete(group, name, "app01")
    assert list(client.application.list(group, name)) == []


def pools():
    image = models.ImageReference(publisher="Canonical", offer="UbuntuServer", sku="16.04-LTS")
    machine = models.VirtualMachineConfiguration(image_reference=image, node_agent_sku_id="batch.node.ubuntu 16.04")
    formula = models.AutoScaleSettings(formula="$TargetDedicatedNodes=0")
    wanted = models.Pool(
        vm_size="Standard_A1",
        deployment_configuration=models.DeploymentConfiguration(virtual_machine_configuration=machine),
        scale_settings=models.ScaleSettings(auto_scale=formula),
        max_tasks_per_node=2,
    )
    made = client.pool.create(group, name, "pool1", wanted).result()
    assert (made.name, made.vm_size, made.max_tasks_per_node) == ("pool1", "STANDARD_A1", 2)
    fixed = client.pool.disable_auto_scale(group, name, "pool1")
    assert fixed.scale_settings.fixed_scale.target_dedicated_nodes == 0
    changed = client.pool.update(group, name, "pool1", models.Pool(metadata=[models.MetadataItem(name="a", value="b")]))
    assert [(m.name, m.value) for m in changed.metadata] == [("a", "b")]
    assert [p.name for p in client.pool.list_by_batch_account(group, name)] == ["pool1"]
    client.pool.delete(group, name, "pool1").result()
    assert list(client.pool.list_by_batch_account(group, name)) == []


def the_end():
    client.batch_account.delete(group, name).result()
    refused("ResourceNotFound", client.batch_account.get, group, name)


accounts()
packages()
pools()
the_end()
print(f"ok python-mgmt-batch-{version.VERSION} {client.api_version}")
