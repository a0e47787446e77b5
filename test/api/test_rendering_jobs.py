# SPDX-License-Identifier: MIT
"""Jobs as they come back: order of properties, defaults, every toolkit, published recipes, no secret."""

import json
from pathlib import Path

import pytest
from support.ordered import SECRET, keys
from support.spec import default_dir
from support.world import MOUNT, file_share, fresh

SUBNET = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/n/subnets/s"


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
    "cntkSettings by its script": ({"pythonScriptFilePath": "x.py"}, "cntk", {"languageType": "Python"}),
    "cntkSettings by its configuration": ({"configFilePath": "c.cntk"}, "cntk", {"languageType": "BrainScript"}),
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
        "languageType", "configFilePath", "pythonScriptFilePath", "pythonInterpreterPath",
        "commandLineArgs", "processCount",
    ],
    "pyTorchSettings": [
        "pythonScriptFilePath", "pythonInterpreterPath", "commandLineArgs", "processCount",
        "communicationBackend",
    ],
    "tensorFlowSettings": [
        "pythonScriptFilePath", "pythonInterpreterPath", "masterCommandLineArgs",
        "workerCommandLineArgs", "parameterServerCommandLineArgs", "workerCount",
        "parameterServerCount",
    ],
    "caffeSettings": [
        "configFilePath", "pythonScriptFilePath", "pythonInterpreterPath", "commandLineArgs",
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
    "experimentName", "schedulingPriority", "cluster", "jobOutputDirectoryPathSegment", "nodeCount",
    "containerSettings", "mountVolumes", "toolType", "customToolkitSettings", "jobPreparation",
    "stdOutErrPathPrefix", "inputDirectories", "outputDirectories", "environmentVariables",
    "secrets", "constraints", "creationTime", "provisioningState",
    "provisioningStateTransitionTime", "executionState", "executionStateTransitionTime",
]  # fmt: skip
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
    reply = own_place.job(cluster, "run $AZ_BATCHAI_INPUT_IN", name="full", **FULL_JOB).call("GET")
    assert SECRET not in reply.text and "null" not in reply.text
    assert keys(reply.ordered) == ["id", "name", "type", "properties"]
    assert reply.json["type"] == "Microsoft.BatchAI/workspaces/experiments/jobs"
    p = reply.json["properties"]
    assert list(p) == JOB_ORDER
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
        "jobPreparation", "inputDirectories", "outputDirectories", "environmentVariables",
        "constraints",
    ):
        assert p[key] == FULL_JOB[key]
    assert p["secrets"] == [{"name": "TOKEN"}]
    assert p["mountVolumes"]["azureFileShares"][0]["credentials"] == {}
    assert p["executionState"] == "queued"


def test_a_small_job_has_the_services_defaults(own_place):
    p = own_place.job(own_place.cluster(nodes=0)).properties
    for absent in (
        "containerSettings", "mountVolumes", "jobPreparation", "inputDirectories",
        "outputDirectories", "environmentVariables", "secrets", "executionInfo",
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
    none = pytest.param(None, id="none", marks=pytest.mark.skip("the published recipes are not here"))
    return [pytest.param(p, id=p.stem) for p in sorted(folder.glob("*job*.json"))] or [none]


@pytest.mark.parametrize("recipe", recipes())
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
