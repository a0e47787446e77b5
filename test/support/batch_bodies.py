# SPDX-License-Identifier: MIT
"""Request bodies for Azure Batch's data plane out of its documents, and out of the tables where a version has none:
what bodies.py does for Batch AI, with the values that Batch takes."""

import copy

from . import bodies

KEY = "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAgQC7 me@here"
COMMAND = "/bin/sh -c true"
SAS = "https://acct.blob.core.localhost/c?sig=x"

# Values by property, or by definition and property. Enums are here too, as the tables leave some out.
SAMPLES = {
    "accountKey": "c2VjcmV0",
    "accountName": "acct",
    "allowLowPriorityNode": True,
    "autoPoolIdPrefix": "auto",
    "azureFileUrl": "https://acct.file.core.windows.net/share",
    "caching": "none",
    "commandLine": COMMAND,
    "containerName": "container",
    "coordinationCommandLine": COMMAND,
    "dependencyAction": "satisfy",
    "diskSizeGB": 10,
    "doNotRunAfter": "2040-01-01T00:00:00Z",
    "doNotRunUntil": "2030-01-01T00:00:00Z",
    "elevationLevel": "nonadmin",
    "fileMode": "0644",
    "filePath": "a/b.txt",
    "filePattern": "*.txt",
    "containerUrl": SAS,
    "httpUrl": "https://h.example/x",
    "blobSource": "https://h.example/x",
    "imageName": "busybox",
    "jobAction": "none",
    "loginMode": "batch",
    "maxTaskRetryCount": 1,
    "maxWallClockTime": "PT1H",
    "maxTasksPerNode": 1,
    "nodeFillType": "pack",
    "onAllTasksComplete": "noaction",
    "onTaskFailure": "performexitoptionsjobaction",
    "poolLifetimeOption": "job",
    "poolId": "nopool",
    "previousState": None,
    "priority": 1,
    "recurrenceInterval": "PT1H",
    "relativeMountPath": "m",
    "requiredSlots": 1,
    "resizeTimeout": "PT10M",
    "retentionTime": "PT1H",
    "startWindow": "PT1H",
    "storageAccountType": "standard_lrs",
    "taskSlotsPerNode": 1,
    "uploadCondition": "taskcompletion",
    "source": "task",
    "sshPrivateKey": "-----BEGIN PRIVATE KEY-----\nMAA=\n-----END PRIVATE KEY-----",
    "workingDirectory": "taskWorkingDirectory",
    "access": ["job"],
    "provision": "batchmanaged",
    "dynamicVNetAssignmentScope": "none",
    "protocol": "tcp",
    "targetDedicatedNodes": 0,  # what their start tasks ask for cannot be had
    "targetLowPriorityNodes": 0,
    "resourceTags": {"a": "b"},
    "thumbprint": "ab12",
    "thumbprintAlgorithm": "sha1",
    "storeLocation": "localmachine",
    "visibility": ["task"],
    "targets": ["temporarydisk"],
    "targetNodeCommunicationMode": "simplified",
    "placement": "cachedisk",
    "policy": "zonal",
    "securityType": "trustedLaunch",
    "securityEncryptionType": "VMGuestStateOnly",
    "mode": "manual",
    ("HostEndpointSettings", "mode"): "Audit",
    "ipFamilies": ["IPv4"],
    "pauseTimeBetweenBatches": "PT1M",
    "maxBatchInstancePercent": 20,
    "maxUnhealthyInstancePercent": 20,
    "maxUnhealthyUpgradedInstancePercent": 20,
    "vmSize": "standard_d2_v3",
    "nodeAgentSKUId": "batch.node.ubuntu 22.04",
    "publisher": "canonical",
    "offer": "0001-com-ubuntu-server-jammy",
    "sku": "22_04-lts",
    ("NetworkSecurityGroupRule", "priority"): 150,
    ("NetworkSecurityGroupRule", "access"): "allow",
    ("NFSMountConfiguration", "source"): "/nfs",
    ("CIFSMountConfiguration", "source"): "//host/share",
    ("UserAccount", "name"): "somebody",
    ("ContainerConfiguration", "type"): "docker",
    ("VMExtension", "publisher"): "Microsoft.HpcCompute",  # others are refused
    ("VMExtension", "type"): "NvidiaGpuDriverLinux",
    ("NetworkConfiguration", "subnetId"): "/subscriptions/ba7c4a1d-0000-4000-8000-000000000000"
    "/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/v/subnets/s",
    ("AutoUserSpecification", "scope"): "pool",
    ("ContainerRegistry", "registryServer"): "registry.example",
    ("ExitCodeMapping", "code"): 1,
    ("ExitCodeRangeMapping", "start"): 2,
    ("ExitCodeRangeMapping", "end"): 3,
    ("JobReleaseTask", "maxWallClockTime"): "PT5M",
    ("JobReleaseTask", "id"): "released",
    ("JobPreparationTask", "id"): "prepared",
    ("TaskIdRange", "start"): 1,
    ("TaskIdRange", "end"): 2,
    ("TaskDependencies", "taskIds"): ["other"],
    ("EnvironmentSetting", "name"): "NAME_1",
    ("JobDisableParameter", "disableTasks"): "requeue",
}
# Which properties exclude each other: what is left out.
OMITTED = {
    "ResourceFile": {"autoStorageContainerName", "storageContainerUrl", "blobPrefix"},
    "UserIdentity": {"username"},
    "UserAccount": {"windowsUserConfiguration"},  # the pools are of Linux
    "PoolInformation": {"autoPoolSpecification"},
    "JobNetworkConfiguration": {"skipWithdrawFromVNet"},
    "TaskAddParameter": {"multiInstanceSettings"},
    "PoolAddParameter": {"cloudServiceConfiguration", "enableAutoScale", "autoScaleFormula", "autoScaleEvaluationInterval"},
    "ImageReference": {"virtualMachineImageId", "sharedGalleryImageId", "communityGalleryImageId"},
    "MountConfiguration": {"azureFileShareConfiguration", "nfsMountConfiguration", "cifsMountConfiguration"},
    "AzureBlobFileSystemConfiguration": {"sasKey", "identityReference"},
    # Nothing would heed them.
    "VMExtension": {"settings", "protectedSettings"},
    "TaskContainerSettings": {"containerHostBatchBindMounts"},
}
# In the documents, but without the others there is nothing left.
NEEDED = {
    ("ResourceFile", "httpUrl"),
    ("ResourceFile", "filePath"),
    ("PoolInformation", "poolId"),
    ("OutputFileDestination", "container"),
    ("PoolAddParameter", "virtualMachineConfiguration"),
    ("ImageReference", "publisher"),
    ("ImageReference", "offer"),
    ("ImageReference", "sku"),
    ("LinuxUserConfiguration", "uid"),
    ("LinuxUserConfiguration", "gid"),
    ("MountConfiguration", "azureBlobFileSystemConfiguration"),
}
# What the rest of the body asks for: a task with dependencies needs a job that has them, a start task in a container
# a pool with containers.
TAKEN_ALONE = {
    ("JobAddParameter", "jobPreparationTask"),
    ("JobSpecification", "jobPreparationTask"),
    ("VirtualMachineConfiguration", "containerConfiguration"),
}


class Maker(bodies.Maker):
    samples = SAMPLES

    def __init__(self, spec):
        super().__init__(spec, {})

    def omitted(self, definition):
        return OMITTED.get(definition, set())


def is_needed(prop):
    return prop.required or (prop.definition, prop.name) in NEEDED


def is_optional(prop):
    return not is_needed(prop) and (prop.definition, prop.name) not in TAKEN_ALONE


def wrong_values(maker, prop):
    """(what is wrong, value) for one property. Texts that are numbers are taken for numbers."""
    for what, value in bodies.wrong_values(maker, prop):
        if value != "1" or maker.resolved(prop.schema)[1].get("type") != "integer":
            yield what, value


def objects(body, path=()):
    """The paths of all objects in a body, but for tags, which may have any names."""
    if path[-1:] == ("resourceTags",):
        return
    if isinstance(body, dict):
        yield path
    steps = body.items() if isinstance(body, dict) else enumerate(body) if isinstance(body, list) else ()
    for step, inner in steps:
        yield from objects(inner, path + (step,))


def with_member(body, path, name, value):
    out = copy.deepcopy(body)
    at = out
    for step in path:
        at = at[step]
    at[name] = value
    return out
