# SPDX-License-Identifier: MIT
"""What is stored comes back: order of properties, defaults, omissions, casing, and never a secret."""

import json
import re
from pathlib import Path

import pytest
from support.spec import default_dir
from support.world import MOUNT, Place, cluster_body, file_server_body, file_share, fresh

SECRET = "hush-hush"
VAULT = {
    "sourceVault": {"id": "/subscriptions/s/resourceGroups/g/providers/Microsoft.KeyVault/vaults/v"},
    "secretUrl": "https://v.vault.azure.net/secrets/key/1",
}
SUBNET = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/n/subnets/s"


def keys(pairs):
    return [k for k, _ in pairs]


def sub(pairs, *path):
    """Walks an ordered body; an integer picks from an array."""
    for step in path:
        pairs = pairs[step] if isinstance(step, int) else dict(pairs)[step]
    return pairs


# --- workspaces and experiments -------------------------------------------------------------------


def test_a_workspace_reads_as_it_was_recorded(own_place, daemon):
    reply = daemon.call("GET", own_place.path)
    body = reply.json
    assert keys(reply.ordered) == ["id", "name", "type", "location", "properties"]
    assert list(body["properties"]) == [
        "provisioningState",
        "provisioningStateTransitionTime",
        "creationTime",
    ]
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


def test_ids_have_the_group_in_lower_case_and_the_rest_as_named(daemon):
    p = Place(daemon, "MixedCase-Group", "MyWorkspace").make()
    try:
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
    finally:
        p.remove()


# --- clusters -------------------------------------------------------------------------------------

CLUSTER_ORDER = [
    "provisioningState",
    "allocationState",
    "creationTime",
    "allocationStateTransitionTime",
    "provisioningStateTransitionTime",
    "vmSize",
    "currentNodeCount",
    "nodeStateCounts",
    "vmPriority",
    "scaleSettings",
    "virtualMachineConfiguration",
    "userAccountSettings",
    "nodeSetup",
    "subnet",
]

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
        "runningNodeCount",
        "idleNodeCount",
        "unusableNodeCount",
        "preparingNodeCount",
        "leavingNodeCount",
    ]
    assert keys(sub(p, "scaleSettings", "manual")) == ["targetNodeCount", "nodeDeallocationOption"]
    image = sub(p, "virtualMachineConfiguration", "imageReference")
    assert keys(image)[:4] == ["publisher", "offer", "sku", "version"]
    assert keys(sub(p, "userAccountSettings")) == ["adminUserName", "adminUserSshPublicKey"]
    assert keys(sub(p, "nodeSetup"))[:2] == ["setupTask", "mountVolumes"]
    assert keys(sub(p, "nodeSetup", "setupTask")) == [
        "commandLine",
        "environmentVariables",
        "secrets",
        "stdOutErrPathPrefix",
        "stdOutErrPathSuffix",
    ]
    volumes = sub(p, "nodeSetup", "mountVolumes")
    assert keys(volumes) == ["azureFileShares", "azureBlobFileSystems", "unmanagedFileSystems"]
    assert keys(sub(volumes, "azureFileShares", 0)) == [
        "accountName",
        "azureFileUrl",
        "credentials",
        "relativeMountPath",
        "fileMode",
        "directoryMode",
    ]
    assert keys(sub(volumes, "azureBlobFileSystems", 0)) == [
        "accountName",
        "containerName",
        "credentials",
        "relativeMountPath",
    ]
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
        "provisioningState",
        "creationTime",
        "provisioningStateTransitionTime",
        "vmSize",
        "sshConfiguration",
        "dataDisks",
        "subnet",
        "mountSettings",
    ]
    assert p["sshConfiguration"]["userAccountSettings"] == {"adminUserName": "demo"}
    assert p["sshConfiguration"]["publicIPsToAllow"] == ["10.0.0.1"]
    assert list(p["dataDisks"].items()) == [
        ("diskSizeInGB", 10),
        ("cachingType", "readwrite"),
        ("diskCount", 2),
        ("storageAccountType", "Standard_LRS"),
    ]
    assert p["mountSettings"]["mountPoint"] == "/data"
    assert list(p["mountSettings"]) == ["mountPoint", "fileServerPublicIP", "fileServerInternalIP"]
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
    listed = daemon.get(own_place.path + "/fileServers")["value"]
    assert listed == [reply.json]
    server.delete()
    gone = server.call("GET")
    assert gone.status == 404 and gone.error["code"] == "FileServerNotFound"


# --- jobs -----------------------------------------------------------------------------------------

SCRIPT = {
    "pythonScriptFilePath": "$AZ_BATCHAI_MOUNT_ROOT/out/x.py",
    "pythonInterpreterPath": "/usr/bin/python3",
}
TOOLKITS = {
    "cntkSettings": (
        {
            "languageType": "Python",
            "pythonScriptFilePath": "x.py",
            "pythonInterpreterPath": "p",
            "commandLineArgs": "-a $B",
        },
        "cntk",
        {"processCount": 2},
    ),
    "cntkSettings brainscript": (
        {
            "languageType": "BrainScript",
            "configFilePath": "c.cntk",
            "commandLineArgs": "x",
            "processCount": 4,
        },
        "cntk",
        {},
    ),
    "pyTorchSettings": (
        {**SCRIPT, "commandLineArgs": "-x", "communicationBackend": "gloo"},
        "pytorch",
        {"processCount": 2},
    ),
    "tensorFlowSettings": (
        {
            **SCRIPT,
            "masterCommandLineArgs": "-m",
            "workerCommandLineArgs": "-w",
            "parameterServerCommandLineArgs": "-p",
            "workerCount": 2,
            "parameterServerCount": 1,
        },
        "tensorflow",
        {},
    ),
    "caffeSettings": ({"configFilePath": "solver.prototxt", "commandLineArgs": "-x"}, "caffe", {}),
    "caffe2Settings": ({**SCRIPT, "commandLineArgs": "-x"}, "caffe2", {}),
    "chainerSettings": ({**SCRIPT, "commandLineArgs": "-x"}, "chainer", {"processCount": 2}),
    "horovodSettings": ({**SCRIPT, "commandLineArgs": "-x"}, "horovod", {"processCount": 2}),
    "customMpiSettings": ({"commandLine": "echo $OMPI_COMM_WORLD_RANK"}, "mpi", {}),
    "customToolkitSettings": ({"commandLine": "true"}, "custom", {}),
}
ORDERS = {
    "cntkSettings": [
        "languageType",
        "configFilePath",
        "pythonScriptFilePath",
        "pythonInterpreterPath",
        "commandLineArgs",
        "processCount",
    ],
    "pyTorchSettings": [
        "pythonScriptFilePath",
        "pythonInterpreterPath",
        "commandLineArgs",
        "processCount",
        "communicationBackend",
    ],
    "tensorFlowSettings": [
        "pythonScriptFilePath",
        "pythonInterpreterPath",
        "masterCommandLineArgs",
        "workerCommandLineArgs",
        "parameterServerCommandLineArgs",
        "workerCount",
        "parameterServerCount",
    ],
    "caffeSettings": [
        "configFilePath",
        "pythonScriptFilePath",
        "pythonInterpreterPath",
        "commandLineArgs",
        "processCount",
    ],
}


@pytest.mark.parametrize("case", TOOLKITS)
def test_each_toolkits_settings_are_stored_and_rendered_in_full(own_place, case):
    settings, tool_type, filled_in = TOOLKITS[case]
    name = case.split()[0]
    cluster = own_place.cluster(nodes=0)
    job = own_place.job(cluster, nodes=2, **{"customToolkitSettings": None, name: settings})
    p = job.properties
    assert p["toolType"] == tool_type
    for key, value in {**settings, **filled_in}.items():
        assert p[name][key] == value
    wanted = ORDERS.get(name, list(p[name]))
    assert list(p[name]) == [key for key in wanted if key in p[name]]
    others = [k for k in p if k.endswith("Settings") and k not in (name, "containerSettings")]
    assert others == []


JOB_ORDER = [
    "experimentName",
    "schedulingPriority",
    "cluster",
    "jobOutputDirectoryPathSegment",
    "nodeCount",
    "containerSettings",
    "mountVolumes",
    "toolType",
    "customToolkitSettings",
    "jobPreparation",
    "stdOutErrPathPrefix",
    "inputDirectories",
    "outputDirectories",
    "environmentVariables",
    "secrets",
    "constraints",
    "creationTime",
    "provisioningState",
    "provisioningStateTransitionTime",
    "executionState",
    "executionStateTransitionTime",
]
FULL_JOB = {
    "schedulingPriority": "high",
    "containerSettings": {
        "imageSourceRegistry": {
            "serverUrl": "https://registry",
            "image": "repo/image:tag",
            "credentials": {"username": "u", "password": SECRET},
        },
        "shmSize": "16g",
    },
    "mountVolumes": {"azureFileShares": [file_share(credentials={"accountKey": SECRET})]},
    "jobPreparation": {"commandLine": "echo prep"},
    "inputDirectories": [{"id": "IN", "path": "$AZ_BATCHAI_MOUNT_ROOT/out/in"}],
    "outputDirectories": [{"id": "OUT", "pathPrefix": MOUNT, "pathSuffix": "models"}],
    "environmentVariables": [{"name": "A", "value": "$HOME"}],
    "secrets": [{"name": "TOKEN", "value": SECRET}],
    "constraints": {"maxWallClockTime": "PT1H30M"},
}


def test_a_full_job_comes_back_in_the_recorded_order_without_its_secrets(own_place):
    cluster = own_place.cluster(nodes=0)
    job = own_place.job(cluster, "run $AZ_BATCHAI_INPUT_IN", name="full", **FULL_JOB)
    reply = job.call("GET")
    assert SECRET not in reply.text and "null" not in reply.text
    assert keys(reply.ordered) == ["id", "name", "type", "properties"]
    assert reply.json["type"] == "Microsoft.BatchAI/workspaces/experiments/jobs"
    p = reply.json["properties"]
    # There are no containers here yet: the job has failed at once, and says so.
    assert list(p) == JOB_ORDER + ["executionInfo"]
    assert p["experimentName"] == "exp" and p["schedulingPriority"] == "high"
    assert p["cluster"] == {"id": cluster.id}
    assert p["containerSettings"] == {
        "imageSourceRegistry": {
            "serverUrl": "https://registry",
            "image": "repo/image:tag",
            "credentials": {"username": "u"},
        },
        "shmSize": "16g",
    }
    assert p["customToolkitSettings"] == {"commandLine": "run $AZ_BATCHAI_INPUT_IN"}
    for key in (
        "jobPreparation",
        "inputDirectories",
        "outputDirectories",
        "environmentVariables",
        "constraints",
    ):
        assert p[key] == FULL_JOB[key]
    assert p["secrets"] == [{"name": "TOKEN"}]
    assert p["mountVolumes"]["azureFileShares"][0]["credentials"] == {}
    assert p["executionState"] == "failed"


def test_a_small_job_has_the_services_defaults(own_place):
    cluster = own_place.cluster(nodes=0)
    p = own_place.job(cluster).properties
    for absent in (
        "containerSettings",
        "mountVolumes",
        "jobPreparation",
        "inputDirectories",
        "outputDirectories",
        "environmentVariables",
        "secrets",
        "executionInfo",
    ):
        assert absent not in p
    assert p["schedulingPriority"] == "normal"
    assert p["constraints"] == {"maxWallClockTime": "P7D"}


def test_no_secret_appears_in_any_reply_log_or_database_file(own_place, daemon):
    value = "s3cr3t-" + fresh("value")
    cluster = own_place.cluster(nodes=1, userAccountSettings={"adminUserPassword": value})
    job = own_place.job(cluster, "sleep 0.01; true", secrets=[{"name": "S", "value": value}])
    job.succeed()
    replies = [
        cluster.call("GET"),
        job.call("GET"),
        daemon.call("GET", own_place.path + "/clusters"),
        daemon.call("GET", own_place.experiment_path() + "/jobs"),
    ]
    assert all(value not in r.text for r in replies)
    assert value not in "\n".join(daemon.log())
    for path in Path(daemon.state_dir).rglob("*"):
        if path.is_file() and not path.is_symlink():
            assert value.encode() not in path.read_bytes(), path


# --- the users' own files -------------------------------------------------------------------------


def recipes():
    folder = default_dir().parent / "recipes"
    return sorted(folder.glob("*job*.json")) if folder.is_dir() else []


@pytest.mark.parametrize("recipe", recipes(), ids=lambda p: p.stem)
def test_a_published_recipes_job_is_accepted_and_comes_back(own_place, recipe):
    properties = json.loads(recipe.read_text(encoding="utf-8-sig"))["properties"]
    for share in properties.get("mountVolumes", {}).get("azureFileShares", []):
        share["azureFileUrl"] = share["azureFileUrl"].replace("<AZURE_BATCHAI_STORAGE_ACCOUNT>", "acct")
        share.update({"accountName": "acct", "credentials": {"accountKey": "a2V5"}})
    for blob in properties.get("mountVolumes", {}).get("azureBlobFileSystems", []):
        blob.update({"accountName": "acct", "credentials": {"accountKey": "a2V5"}})
    cluster = own_place.cluster(nodes=0)
    own_place.experiment()
    job = own_place.job_at("recipe")
    own_place.daemon.do("PUT", job.path, {"properties": {**properties, "cluster": {"id": cluster.id}}})
    p = job.properties
    for name, value in properties.items():
        if name.endswith("Settings"):
            assert {**p[name], **value} == p[name]
        elif name not in ("cluster", "mountVolumes"):
            assert p[name] == value or name in ("constraints",)
