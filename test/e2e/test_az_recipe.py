# SPDX-License-Identifier: MIT
"""The Chainer recipe's walkthrough as its readers type it (the storage commands aside: their files
are put into the share's folder)."""

import json

import pytest
from support.world import Job, Place

GROUP, WS, EXP = "batchai.recipes", "recipe_workspace", "chainer_experiment"
IN = f"-g {GROUP} -w {WS}"
JOB_JSON = {
    "$schema": "https://raw.githubusercontent.com/Azure/BatchAI/master/schemas/2018-05-01/job.json",
    "properties": {
        "nodeCount": 2,
        "chainerSettings": {
            "pythonScriptFilePath": "$AZ_BATCHAI_JOB_MOUNT_ROOT/scripts/chainer/train_mnist.py",
            "commandLineArgs": "-g -o $AZ_BATCHAI_OUTPUT_MODEL",
        },
        "stdOutErrPathPrefix": "$AZ_BATCHAI_JOB_MOUNT_ROOT/logs",
        "mountVolumes": {
            "azureFileShares": [
                {
                    "azureFileUrl": f"https://<AZURE_BATCHAI_STORAGE_ACCOUNT>.file.core.windows.net/{share}",
                    "relativeMountPath": share,
                }
                for share in ("logs", "scripts")
            ]
        },
        "outputDirectories": [{"id": "MODEL", "pathPrefix": "$AZ_BATCHAI_JOB_MOUNT_ROOT/logs"}],
        "containerSettings": {"imageSourceRegistry": {"image": "batchaitraining/chainermn:openMPI"}},
    },
}


@pytest.fixture(scope="module")
def place(daemon, temporary_in_file):
    return temporary_in_file(Place(daemon, GROUP, WS))


def test_the_recipe(az, daemon, place, tmp_path):
    subscription = daemon.subscription
    az(f"group create -n {GROUP} -l eastus")
    workspace = az(f"batchai workspace create -g {GROUP} -n {WS} -l eastus")
    assert (workspace["name"], workspace["location"], workspace["resourceGroup"]) == (WS, "eastus", GROUP)

    cluster = az.timed(f"batchai cluster create -n nc6 {IN} -s Standard_NC6 -t 2 --generate-ssh-keys")
    assert az.polls <= 1, "provisioning is over at the first look"
    place.cluster_at("nc6").wait_steady(2)
    assert cluster["vmSize"] == "STANDARD_NC6" and cluster["vmPriority"] == "dedicated"
    assert cluster["scaleSettings"] == {
        "autoScale": None,
        "manual": {"nodeDeallocationOption": "requeue", "targetNodeCount": 2},
    }
    assert cluster["userAccountSettings"]["adminUserSshPublicKey"].startswith("ssh-rsa ")
    assert cluster["userAccountSettings"]["adminUserPassword"] is None
    assert cluster["id"] == (
        f"/subscriptions/{subscription}/resourceGroups/{GROUP}/providers/Microsoft.BatchAI"
        f"/workspaces/{WS}/clusters/nc6"
    )
    assert cluster["virtualMachineConfiguration"]["imageReference"] == {
        "offer": "UbuntuServer",
        "publisher": "Canonical",
        "sku": "16.04-LTS",
        "version": "latest",
        "virtualMachineImageId": None,
    }
    shown = az(f"batchai cluster show -n nc6 {IN}")
    assert shown["nodeStateCounts"]["idleNodeCount"] == shown["currentNodeCount"] == 2
    assert shown["allocationState"] == "steady"

    scripts = daemon.share("recipestorage", "scripts") / "chainer"
    scripts.mkdir()
    (scripts / "train_mnist.py").write_text("print('never runs: the image is not here')\n")
    daemon.share("recipestorage", "logs")

    (tmp_path / "job.json").write_text(json.dumps(JOB_JSON))
    az(f"batchai experiment create {IN} -n {EXP}")
    job = az.timed(
        f"batchai job create -n distributed_chainer -c nc6 {IN} -e {EXP} -f {tmp_path}/job.json"
        " --storage-account-name recipestorage --storage-account-key a2V5"
    )
    assert az.polls <= 1
    assert job["chainerSettings"] == {
        "commandLineArgs": "-g -o $AZ_BATCHAI_OUTPUT_MODEL",
        "processCount": 2,
        "pythonInterpreterPath": None,
        "pythonScriptFilePath": "$AZ_BATCHAI_JOB_MOUNT_ROOT/scripts/chainer/train_mnist.py",
    }
    assert job["cluster"]["id"] == cluster["id"] and job["toolType"] == "chainer"
    assert job["constraints"] == {"maxWallClockTime": "7 days, 0:00:00"}
    assert job["schedulingPriority"] == "normal"
    assert job["outputDirectories"] == [
        {"id": "MODEL", "pathPrefix": "$AZ_BATCHAI_JOB_MOUNT_ROOT/logs", "pathSuffix": None}
    ]
    for share, name in zip(job["mountVolumes"]["azureFileShares"], ("logs", "scripts")):
        assert share == {
            "accountName": "recipestorage",
            "azureFileUrl": f"https://recipestorage.file.core.windows.net/{name}",
            "credentials": {"accountKey": None, "accountKeySecretReference": None},
            "directoryMode": "0777",
            "fileMode": "0777",
            "relativeMountPath": name,
        }
    Job(daemon, place.job_at("distributed_chainer", EXP).path).fail()
    shown = az(f"batchai job show -n distributed_chainer {IN} -e {EXP}")
    (error,) = shown["executionInfo"]["errors"]
    assert error["code"] in ("FailedPullingContainerImage", "ContainerRuntimeNotFound"), "it says what is missing"
    assert (
        "completed job"
        in az.run(f"batchai job file stream -j distributed_chainer {IN} -e {EXP} -f stdout.txt").stderr
    )
    segment = az(
        f"batchai job show -n distributed_chainer {IN} -e {EXP} --query jobOutputDirectoryPathSegment"
    )
    assert segment.startswith(
        f"{subscription}/{GROUP}/workspaces/{WS}/experiments/{EXP}/jobs/distributed_chainer/"
    )
    az.run(f"group delete -n {GROUP} -y")
    assert az(f"group exists -n {GROUP}") is False
