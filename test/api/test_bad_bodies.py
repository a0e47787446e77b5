# SPDX-License-Identifier: MIT
"""Bad bodies, and what they get: a 4xx that names the property and the value, and nothing changed. One
row per mistake."""

import pytest
from support.refusals import INVALID, MANUAL, MISSING, QUOTA, P, refused
from support.world import (
    MOUNT,
    cluster_body,
    file_server_body,
    file_share,
    fresh,
    job_body,
    merge,
)

# --- bodies of clusters ---------------------------------------------------------------------------

BAD_CLUSTERS = {
    # what: (change of a good body's properties, code, target, words of the message)
    "vmSize missing": ({"vmSize": None}, MISSING, P + "vmSize", []),
    "vmSize empty": ({"vmSize": ""}, (INVALID, MISSING), P + "vmSize", []),
    "vmSize a number": ({"vmSize": 5}, INVALID, P + "vmSize", ["string"]),
    "no admin account": ({"userAccountSettings": None}, MISSING, P + "userAccountSettings", []),
    "no admin name": (
        {"userAccountSettings": {"adminUserName": None}},
        MISSING,
        P + "userAccountSettings.adminUserName",
        [],
    ),
    "neither password nor key": (
        {"userAccountSettings": {"adminUserPassword": None}},
        (INVALID, MISSING),
        None,
        ["adminUser"],
    ),
    "priority unknown": (
        {"vmPriority": "spot"},
        INVALID,
        P + "vmPriority",
        ["spot", "dedicated", "lowpriority"],
    ),
    "priority a number": ({"vmPriority": 1}, INVALID, P + "vmPriority", ["string"]),
    "count negative": (
        {"scaleSettings": {"manual": {"targetNodeCount": -1}}},
        INVALID,
        MANUAL + "targetNodeCount",
        [-1],
    ),
    "count a text": (
        {"scaleSettings": {"manual": {"targetNodeCount": "two"}}},
        INVALID,
        MANUAL + "targetNodeCount",
        ["integer"],
    ),
    "count a fraction": (
        {"scaleSettings": {"manual": {"targetNodeCount": 1.5}}},
        INVALID,
        MANUAL + "targetNodeCount",
        ["integer"],
    ),
    "count above what there can be": (
        {"scaleSettings": {"manual": {"targetNodeCount": 100000}}},
        QUOTA,
        MANUAL + "targetNodeCount",
        [100000],
    ),
    "count missing": (
        {"scaleSettings": {"manual": {"targetNodeCount": None, "nodeDeallocationOption": "requeue"}}},
        MISSING,
        MANUAL + "targetNodeCount",
        [],
    ),
    "deallocation unknown": (
        {"scaleSettings": {"manual": {"nodeDeallocationOption": "drop"}}},
        INVALID,
        MANUAL + "nodeDeallocationOption",
        ["drop", "requeue"],
    ),
    "manual and automatic": (
        {"scaleSettings": {"autoScale": {"minimumNodeCount": 0, "maximumNodeCount": 1}}},
        INVALID,
        P + "scaleSettings",
        ["manual", "autoScale"],
    ),
    "scale settings a list": ({"scaleSettings": [1]}, INVALID, P + "scaleSettings", ["object"]),
    "automatic without maximum": (
        {"scaleSettings": {"manual": None, "autoScale": {"minimumNodeCount": 0}}},
        MISSING,
        P + "scaleSettings.autoScale.maximumNodeCount",
        [],
    ),
    "minimum above maximum": (
        {"scaleSettings": {"manual": None, "autoScale": {"minimumNodeCount": 3, "maximumNodeCount": 2}}},
        INVALID,
        None,
        [3, 2, "minimumNodeCount"],
    ),
    "image without sku": (
        {"virtualMachineConfiguration": {"imageReference": {"publisher": "p", "offer": "o"}}},
        MISSING,
        P + "virtualMachineConfiguration.imageReference.sku",
        [],
    ),
    "share without account": (
        {"nodeSetup": {"mountVolumes": {"azureFileShares": [file_share(accountName=None)]}}},
        (MISSING, INVALID),
        P + "nodeSetup.mountVolumes.azureFileShares[0].accountName",
        [],
    ),
    "share without credentials": (
        {"nodeSetup": {"mountVolumes": {"azureFileShares": [file_share(credentials=None)]}}},
        MISSING,
        P + "nodeSetup.mountVolumes.azureFileShares[0].credentials",
        [],
    ),
    "share with a URL that names none": (
        {"nodeSetup": {"mountVolumes": {"azureFileShares": [file_share(azureFileUrl="https://nowhere/")]}}},
        INVALID,
        P + "nodeSetup.mountVolumes.azureFileShares[0].azureFileUrl",
        ["https://nowhere/"],
    ),
    "mount path that leaves": (
        {"nodeSetup": {"mountVolumes": {"azureFileShares": [file_share(mount="../../etc")]}}},
        (INVALID, "InvalidPath"),
        P + "nodeSetup.mountVolumes.azureFileShares[0].relativeMountPath",
        ["../../etc"],
    ),
    "mount path absolute": (
        {"nodeSetup": {"mountVolumes": {"azureFileShares": [file_share(mount="/etc")]}}},
        (INVALID, "InvalidPath"),
        P + "nodeSetup.mountVolumes.azureFileShares[0].relativeMountPath",
        ["/etc"],
    ),
    "two volumes at one mount path": (
        {
            "nodeSetup": {
                "mountVolumes": {"azureFileShares": [file_share("one", "m"), file_share("two", "m")]}
            }
        },
        INVALID,
        None,
        ["m", "relativeMountPath"],
    ),
    "setup task without command": (
        {"nodeSetup": {"setupTask": {"stdOutErrPathPrefix": MOUNT}}},
        MISSING,
        P + "nodeSetup.setupTask.commandLine",
        [],
    ),
    "setup variable twice": (
        {
            "nodeSetup": {
                "setupTask": {
                    "commandLine": "true",
                    "stdOutErrPathPrefix": MOUNT,
                    "environmentVariables": [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}],
                }
            }
        },
        INVALID,
        None,
        ["A"],
    ),
    "properties missing": (None, MISSING, "properties", []),
}


@pytest.mark.parametrize("case", BAD_CLUSTERS)
def test_a_bad_cluster_is_refused_and_not_there(place, case):
    change, codes, target, words = BAD_CLUSTERS[case]
    body = {} if change is None else cluster_body(0, **change)
    cluster = place.cluster_at(fresh("bad"))
    refused(cluster.call("PUT", body=body), 409 if codes == QUOTA else 400, codes, target, words)
    assert cluster.gone()


# --- bodies of jobs -------------------------------------------------------------------------------

BAD_JOBS = {
    "no toolkit": ({"customToolkitSettings": None}, (INVALID, MISSING), None, ["customToolkitSettings"]),
    "two toolkits": (
        {"customMpiSettings": {"commandLine": "x"}},
        INVALID,
        None,
        ["customToolkitSettings", "customMpiSettings"],
    ),
    "no command": (
        {"customToolkitSettings": {"commandLine": None}},
        (MISSING, INVALID),
        None,
        ["commandLine"],
    ),
    "nodeCount 0": ({"nodeCount": 0}, INVALID, P + "nodeCount", [0]),
    "nodeCount negative": ({"nodeCount": -3}, INVALID, P + "nodeCount", [-3]),
    "nodeCount missing": ({"nodeCount": None}, MISSING, P + "nodeCount", []),
    "nodeCount a text": ({"nodeCount": "1"}, INVALID, P + "nodeCount", ["integer"]),
    "nodeCount true": ({"nodeCount": True}, INVALID, P + "nodeCount", ["integer"]),
    "nodeCount beyond 32 bits": ({"nodeCount": 2**40}, INVALID, P + "nodeCount", [2**40]),
    "nodeCount above what the cluster can have": ({"nodeCount": 100000}, INVALID, P + "nodeCount", [100000]),
    "no standard output": ({"stdOutErrPathPrefix": None}, MISSING, P + "stdOutErrPathPrefix", []),
    "no cluster": ({"cluster": None}, MISSING, P + "cluster", []),
    "cluster without id": ({"cluster": {"id": None}}, MISSING, P + "cluster.id", []),
    "cluster id is none": ({"cluster": {"id": "c1"}}, INVALID, P + "cluster.id", ["c1"]),
    "priority unknown": (
        {"schedulingPriority": "urgent"},
        INVALID,
        P + "schedulingPriority",
        ["urgent", "high"],
    ),
    "wall clock nonsense": (
        {"constraints": {"maxWallClockTime": "1 week"}},
        INVALID,
        P + "constraints.maxWallClockTime",
        ["1 week"],
    ),
    "wall clock a number": (
        {"constraints": {"maxWallClockTime": 60}},
        INVALID,
        P + "constraints.maxWallClockTime",
        [],
    ),
    "input id twice": (
        {"inputDirectories": [{"id": "D", "path": "a"}, {"id": "D", "path": "b"}]},
        INVALID,
        None,
        ["D"],
    ),
    "output id twice": (
        {"outputDirectories": [{"id": "O", "pathPrefix": MOUNT}, {"id": "O", "pathPrefix": MOUNT}]},
        INVALID,
        None,
        ["O"],
    ),
    "output id no variable name": (
        {"outputDirectories": [{"id": "a b", "pathPrefix": MOUNT}]},
        INVALID,
        P + "outputDirectories[0].id",
        ["a b"],
    ),
    "output suffix that leaves": (
        {"outputDirectories": [{"id": "O", "pathPrefix": MOUNT, "pathSuffix": "../../x"}]},
        (INVALID, "InvalidPath"),
        P + "outputDirectories[0].pathSuffix",
        ["../../x"],
    ),
    "variable twice": (
        {"environmentVariables": [{"name": "V", "value": "1"}, {"name": "V", "value": "2"}]},
        INVALID,
        None,
        ["V"],
    ),
    "variable without value": (
        {"environmentVariables": [{"name": "V"}]},
        MISSING,
        P + "environmentVariables[0].value",
        [],
    ),
    "variable name impossible": (
        {"environmentVariables": [{"name": "A=B", "value": "1"}]},
        INVALID,
        P + "environmentVariables[0].name",
        ["A=B"],
    ),
    "secret without value": ({"secrets": [{"name": "S"}]}, (MISSING, INVALID), None, ["S"]),
    "variables no list": (
        {"environmentVariables": {"A": "1"}},
        INVALID,
        P + "environmentVariables",
        ["array"],
    ),
    "variable no object": (
        {"environmentVariables": ["A=1"]},
        INVALID,
        P + "environmentVariables[0]",
        ["object"],
    ),
    "preparation without command": ({"jobPreparation": {}}, MISSING, P + "jobPreparation.commandLine", []),
    "container without image": (
        {"containerSettings": {"imageSourceRegistry": {"serverUrl": "x"}}},
        MISSING,
        P + "containerSettings.imageSourceRegistry.image",
        [],
    ),
    "backend unknown": (
        {"customToolkitSettings": None, "pyTorchSettings": {"pythonScriptFilePath": "x", "communicationBackend": "smoke"}},
        INVALID,
        P + "pyTorchSettings.communicationBackend",
        ["smoke", "gloo"],
    ),
    "more processes than make sense": (
        {"customToolkitSettings": None, "customMpiSettings": {"commandLine": "x", "processCount": 100000}},
        INVALID,
        P + "customMpiSettings.processCount",
        [100000, 256],
    ),
    "more parameter servers than nodes": (
        {
            "customToolkitSettings": None,
            "nodeCount": 2,
            "tensorFlowSettings": {"pythonScriptFilePath": "x", "parameterServerCount": 3},
        },
        INVALID,
        P + "tensorFlowSettings.parameterServerCount",
        [3, 2],
    ),
    "script missing": (
        {"customToolkitSettings": None, "chainerSettings": {"commandLineArgs": "x"}},
        MISSING,
        P + "chainerSettings.pythonScriptFilePath",
        [],
    ),
}


@pytest.mark.parametrize("case", BAD_JOBS)
def test_a_bad_job_is_refused_and_not_there(place, shared_cluster, case):
    change, codes, target, words = BAD_JOBS[case]
    place.experiment()
    job = place.job_at(fresh("bad"))
    body = merge(job_body(shared_cluster.path), {"properties": change})
    refused(job.call("PUT", body=body), 400, codes, target, words)
    assert job.gone()


BAD_FILE_SERVERS = {
    "no disks": ({"dataDisks": None}, MISSING, P + "dataDisks", []),
    "no disk count": ({"dataDisks": {"diskCount": None}}, MISSING, P + "dataDisks.diskCount", []),
    "storage type unknown": (
        {"dataDisks": {"storageAccountType": "Floppy"}},
        INVALID,
        P + "dataDisks.storageAccountType",
        ["Floppy", "Standard_LRS"],
    ),
    "caching unknown": (
        {"dataDisks": {"cachingType": "some"}},
        INVALID,
        P + "dataDisks.cachingType",
        ["some", "readonly"],
    ),
    "no account": ({"sshConfiguration": None}, MISSING, P + "sshConfiguration", []),
}


@pytest.mark.parametrize("case", BAD_FILE_SERVERS)
def test_a_bad_file_server_is_refused_and_not_there(place, daemon, case):
    change, codes, target, words = BAD_FILE_SERVERS[case]
    path = f"{place.path}/fileServers/{fresh('bad')}"
    refused(daemon.call("PUT", path, file_server_body(**change)), 400, codes, target, words)
    assert daemon.call("GET", path).status == 404


def test_a_workspace_needs_a_location_and_tags_are_texts(place, daemon):
    path = place.path + "-bad"
    refused(daemon.call("PUT", path, {}), 400, MISSING, "location")
    refused(daemon.call("PUT", path, {"location": 7}), 400, INVALID, "location")
    refused(daemon.call("PUT", path, {"location": "eastus", "tags": {"a": 1}}), 400, INVALID, "tags.a")
    refused(daemon.call("PUT", path, {"location": "eastus", "tags": ["a"]}), 400, INVALID, "tags")
    assert daemon.call("GET", path).status == 404
