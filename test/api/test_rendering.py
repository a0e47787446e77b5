# SPDX-License-Identifier: MIT
"""What is stored comes back: order of properties, defaults, omissions, casing, and never a secret."""

import re

import pytest
from support.ordered import SECRET, VAULT, keys, sub
from support.world import MOUNT, Place, cluster_body, file_server_body, file_share, fresh

SUBNET = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/n/subnets/s"


# --- workspaces and experiments -------------------------------------------------------------------


def test_a_workspace_reads_as_it_was_recorded(own_place, daemon):
    reply = daemon.call("GET", own_place.path)
    body = reply.json
    assert keys(reply.ordered) == ["id", "name", "type", "location", "properties"]
    assert list(body["properties"]) == [
        "provisioningState", "provisioningStateTransitionTime", "creationTime",
    ]  # fmt: skip
    assert body["type"] == "Microsoft.BatchAI/workspaces"
    assert body["location"] == own_place.location
    times = body["properties"]
    assert times["provisioningStateTransitionTime"] == times["creationTime"]


def test_tags_stand_between_location_and_properties(own_place, daemon):
    tagged = own_place.path + "-tagged"
    created = daemon.call("PUT", tagged, {"location": "eastus", "tags": {"z": "1", "a": "2"}}, expect=200)
    assert keys(created.ordered) == ["id", "name", "type", "location", "tags", "properties"]
    assert created.json["tags"] == {"z": "1", "a": "2"}
    patched = daemon.call("PATCH", tagged, {"tags": {"only": "this"}}, expect=200)
    assert patched.json["tags"] == {"only": "this"}
    assert patched.headers["ETag"] != created.headers["ETag"]
    assert daemon.get(tagged) == patched.json
    assert patched.json["properties"]["creationTime"] == created.json["properties"]["creationTime"]


def test_ids_have_the_group_in_lower_case_and_the_rest_as_named(daemon, temporary):
    p = temporary(Place(daemon, "MixedCase-Group", "MyWorkspace").make())
    p.experiment("MyExp")
    cluster = p.cluster(nodes=1, name="MyCluster")
    job = p.job(cluster, name="MyJob", experiment="MyExp")
    base = (
        f"/subscriptions/{daemon.subscription}/resourceGroups/mixedcase-group/providers/Microsoft.BatchAI"
    )
    assert daemon.get(p.path)["id"] == f"{base}/workspaces/MyWorkspace"
    assert cluster.get()["id"] == f"{base}/workspaces/MyWorkspace/clusters/MyCluster"
    assert job.get()["id"] == f"{base}/workspaces/MyWorkspace/experiments/MyExp/jobs/MyJob"
    server = p.file_server("MyNfs")
    assert server.get()["id"] == f"{base}/workspaces/MyWorkspace/fileservers/MyNfs"
    segment = job.succeed()["jobOutputDirectoryPathSegment"]
    assert re.fullmatch(
        f"{daemon.subscription}/mixedcase-group/workspaces/MyWorkspace/experiments/MyExp/jobs/MyJob/[0-9a-f-]{{36}}",
        segment,
    )
    shouted = cluster.path.replace("resourceGroups", "RESOURCEGROUPS").replace("MyCluster", "mycluster")
    assert daemon.get(shouted)["name"] == "MyCluster"


# --- clusters -------------------------------------------------------------------------------------

CLUSTER_ORDER = [
    "provisioningState", "allocationState", "creationTime", "allocationStateTransitionTime",
    "provisioningStateTransitionTime", "vmSize", "currentNodeCount", "nodeStateCounts",
    "vmPriority", "scaleSettings", "virtualMachineConfiguration", "userAccountSettings",
    "nodeSetup", "subnet",
]  # fmt: skip

FULL_CLUSTER = {
    "vmPriority": "lowpriority",
    "virtualMachineConfiguration": {
        "imageReference": {
            "publisher": "microsoft-ads",
            "offer": "linux-data-science-vm-ubuntu",
            "sku": "linuxdsvmubuntu",
            "version": "1.2.3",
            "virtualMachineImageId": "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/images/i",
        }
    },
    "userAccountSettings": {
        "adminUserName": "demo",
        "adminUserPassword": SECRET,
        "adminUserSshPublicKey": "ssh-rsa AAAA demo",
    },
    "nodeSetup": {
        "setupTask": {
            "commandLine": "  echo $HOME;  true ",
            "environmentVariables": [{"name": "A", "value": "1"}],
            "secrets": [{"name": "TOKEN", "value": SECRET}, {"name": "REF", "valueSecretReference": VAULT}],
            "stdOutErrPathPrefix": MOUNT,
        },
        "mountVolumes": {
            "azureFileShares": [
                file_share(credentials={"accountKey": SECRET}),
                file_share("two", "two", credentials={"accountKeySecretReference": VAULT}, fileMode="0700"),
            ],
            "azureBlobFileSystems": [
                {
                    "accountName": "acct",
                    "containerName": "box",
                    "credentials": {"accountKey": SECRET},
                    "relativeMountPath": "box",
                }
            ],
            "unmanagedFileSystems": [{"mountCommand": "mount -t nfs x:/", "relativeMountPath": "un"}],
        },
        "performanceCountersSettings": {
            "appInsightsReference": {
                "component": {
                    "id": "/subscriptions/s/resourceGroups/g/providers/microsoft.insights/components/c"
                },
                "instrumentationKey": SECRET,
            }
        },
    },
    "subnet": {"id": SUBNET},
}


@pytest.fixture(scope="module")
def full_cluster(_place):
    """Stored and rendered in full; no node is asked for, so nothing of it has to work."""
    return _place.cluster(nodes=0, name=fresh("full"), **FULL_CLUSTER)


def test_the_properties_of_a_cluster_come_in_the_recorded_order(full_cluster):
    body = full_cluster.call("GET").ordered
    assert keys(body) == ["id", "name", "type", "properties"]
    p = sub(body, "properties")
    assert keys(p) == CLUSTER_ORDER
    assert keys(sub(p, "nodeStateCounts")) == [
        "runningNodeCount", "idleNodeCount", "unusableNodeCount", "preparingNodeCount",
        "leavingNodeCount",
    ]  # fmt: skip
    assert keys(sub(p, "scaleSettings", "manual")) == ["targetNodeCount", "nodeDeallocationOption"]
    image = sub(p, "virtualMachineConfiguration", "imageReference")
    assert keys(image)[:4] == ["publisher", "offer", "sku", "version"]
    assert keys(sub(p, "userAccountSettings")) == ["adminUserName", "adminUserSshPublicKey"]
    assert keys(sub(p, "nodeSetup"))[:2] == ["setupTask", "mountVolumes"]
    assert keys(sub(p, "nodeSetup", "setupTask")) == [
        "commandLine", "environmentVariables", "secrets", "stdOutErrPathPrefix",
        "stdOutErrPathSuffix",
    ]  # fmt: skip
    volumes = sub(p, "nodeSetup", "mountVolumes")
    assert keys(volumes) == ["azureFileShares", "azureBlobFileSystems", "unmanagedFileSystems"]
    assert keys(sub(volumes, "azureFileShares", 0)) == [
        "accountName", "azureFileUrl", "credentials", "relativeMountPath", "fileMode",
        "directoryMode",
    ]  # fmt: skip
    assert keys(sub(volumes, "azureBlobFileSystems", 0)) == [
        "accountName", "containerName", "credentials", "relativeMountPath",
    ]  # fmt: skip
    assert keys(sub(volumes, "unmanagedFileSystems", 0)) == ["mountCommand", "relativeMountPath"]


def test_a_full_cluster_comes_back_whole_but_for_its_secrets(full_cluster, daemon):
    reply = full_cluster.call("GET")
    assert SECRET not in reply.text
    p = reply.json["properties"]
    assert p["vmSize"] == "STANDARD_D1" and p["vmPriority"] == "lowpriority"
    assert p["virtualMachineConfiguration"] == FULL_CLUSTER["virtualMachineConfiguration"]
    assert p["subnet"] == {"id": SUBNET}
    task = p["nodeSetup"]["setupTask"]
    assert task["commandLine"] == "  echo $HOME;  true "
    assert task["secrets"] == [{"name": "TOKEN"}, {"name": "REF", "valueSecretReference": VAULT}]
    assert re.fullmatch(
        f"{daemon.subscription}/[^/]+/workspaces/[^/]+/clusters/{full_cluster.name}/[0-9a-f-]{{36}}",
        task["stdOutErrPathSuffix"],
    )
    shares = p["nodeSetup"]["mountVolumes"]["azureFileShares"]
    assert shares[0]["credentials"] == {}
    assert (shares[0]["fileMode"], shares[0]["directoryMode"]) == ("0777", "0777")
    assert shares[1]["credentials"] == {"accountKeySecretReference": VAULT}
    assert (shares[1]["fileMode"], shares[1]["directoryMode"]) == ("0700", "0777")
    insights = p["nodeSetup"]["performanceCountersSettings"]["appInsightsReference"]
    assert list(insights) == ["component"]


def test_what_was_not_given_is_absent_or_has_the_services_default(own_place):
    body = {
        "properties": {
            "vmSize": "standard_nc6",
            "userAccountSettings": {"adminUserName": "me", "adminUserPassword": SECRET},
        }
    }
    cluster = own_place.cluster_at("bare")
    own_place.daemon.do("PUT", cluster.path, body)
    reply = cluster.call("GET")
    assert "null" not in reply.text and SECRET not in reply.text
    p = reply.json["properties"]
    assert list(p) == CLUSTER_ORDER[:12]
    assert p["vmSize"] == "STANDARD_NC6"
    assert p["vmPriority"] == "dedicated"
    assert p["virtualMachineConfiguration"]["imageReference"] == {
        "publisher": "Canonical",
        "offer": "UbuntuServer",
        "sku": "16.04-LTS",
        "version": "latest",
    }
    assert p["userAccountSettings"] == {"adminUserName": "me"}
    assert p["scaleSettings"] == {"manual": {"targetNodeCount": 0, "nodeDeallocationOption": "requeue"}}
    assert p["currentNodeCount"] == 0 and set(p["nodeStateCounts"].values()) == {0}


def test_nulls_in_a_request_count_as_absent(own_place):
    """Clients send them; the service never does."""
    body = cluster_body(0, subnet=None)
    body["properties"].update({"subnet": None, "vmPriority": None, "nodeSetup": None})
    body["properties"]["scaleSettings"]["autoScale"] = None
    cluster = own_place.cluster_at("absent")
    own_place.daemon.do("PUT", cluster.path, body)
    reply = cluster.call("GET")
    assert "null" not in reply.text
    assert reply.json["properties"]["vmPriority"] == "dedicated"
    assert "nodeSetup" not in reply.json["properties"]


def test_enums_are_taken_in_any_case_and_shown_in_lower_case(own_place):
    cluster = own_place.cluster(
        nodes=0,
        vmPriority="LowPriority",
        scaleSettings={"manual": {"targetNodeCount": 0, "nodeDeallocationOption": "WaitForJobCompletion"}},
    )
    p = cluster.properties
    assert p["vmPriority"] == "lowpriority"
    assert p["scaleSettings"]["manual"]["nodeDeallocationOption"] == "waitforjobcompletion"


def test_read_only_and_unknown_properties_in_a_request_do_nothing(own_place):
    body = cluster_body(
        0,
        provisioningState="failed",
        currentNodeCount=99,
        colour="blue",
        nodeStateCounts={"idleNodeCount": 99},
    )
    body["name"], body["id"] = "another", "/x"
    cluster = own_place.cluster_at("readonly")
    own_place.daemon.do("PUT", cluster.path, body)
    got = cluster.get()
    assert got["name"] == "readonly" and got["properties"]["provisioningState"] == "succeeded"
    assert got["properties"]["currentNodeCount"] == 0


def test_automatic_scale_settings_come_in_order_with_their_default(own_place):
    cluster = own_place.cluster_at("auto")
    auto = {"minimumNodeCount": 0, "maximumNodeCount": 2}
    own_place.daemon.do(
        "PUT", cluster.path, cluster_body(0, scaleSettings={"manual": None, "autoScale": auto})
    )
    scale = sub(cluster.call("GET").ordered, "properties", "scaleSettings")
    assert scale == [
        ("autoScale", [("minimumNodeCount", 0), ("maximumNodeCount", 2), ("initialNodeCount", 0)])
    ] or scale == [["autoScale", [["minimumNodeCount", 0], ["maximumNodeCount", 2], ["initialNodeCount", 0]]]]


# --- file servers ---------------------------------------------------------------------------------


def test_a_file_server_is_stored_and_rendered(own_place, daemon):
    server = own_place.file_server(
        "Nfs",
        dataDisks={"cachingType": "readwrite"},
        subnet={"id": SUBNET},
        sshConfiguration={"publicIPsToAllow": ["10.0.0.1"]},
    )
    reply = server.call("GET")
    assert "pw-never-shown" not in reply.text
    body, p = reply.ordered, reply.json["properties"]
    assert keys(body) == ["id", "name", "type", "properties"]
    assert reply.json["type"] == "Microsoft.BatchAI/workspaces/fileservers"
    assert list(p) == [
        "provisioningState", "creationTime", "provisioningStateTransitionTime", "vmSize",
        "sshConfiguration", "dataDisks", "subnet", "mountSettings",
    ]  # fmt: skip
    assert p["sshConfiguration"]["userAccountSettings"] == {"adminUserName": "demo"}
    assert p["sshConfiguration"]["publicIPsToAllow"] == ["10.0.0.1"]
    assert list(p["dataDisks"].items()) == [
        ("diskSizeInGB", 10),
        ("cachingType", "readwrite"),
        ("diskCount", 2),
        ("storageAccountType", "Standard_LRS"),
    ]
    assert p["subnet"] == {"id": SUBNET}
    assert reply.headers["ETag"]
    again = daemon.call(
        "PUT",
        server.path,
        file_server_body(
            dataDisks={"cachingType": "readwrite"},
            subnet={"id": SUBNET},
            sshConfiguration={"publicIPsToAllow": ["10.0.0.1"]},
        ),
    )
    assert again.status == 200 and again.json == reply.json
    assert daemon.get(own_place.path + "/fileServers")["value"] == [reply.json]
    server.delete()
    gone = server.call("GET")
    assert gone.status == 404 and gone.code == "FileServerNotFound"
