# SPDX-License-Identifier: MIT
"""Bad bodies, and what they get: a 4xx that names the property and the value, and nothing changed. One
row per mistake."""

from collections import namedtuple

import pytest
from support.refusals import INVALID, MISSING, QUOTA, P, refused
from support.world import MOUNT, cluster_body, file_server_body, file_share, fresh, job_body, merge

Bad = namedtuple("Bad", "change codes target words")
EITHER, PATH = (INVALID, MISSING), (INVALID, "InvalidPath")


def bad(codes, where, *words, **change):
    """A change of a good body's properties, the codes it may get, the property that is named (None:
    any), and words of the message."""
    return Bad(change, codes, where and P + where, words)


# --- bodies of clusters ---------------------------------------------------------------------------

COUNT, SHARE = "scaleSettings.manual.targetNodeCount", "nodeSetup.mountVolumes.azureFileShares[0]"


def manual(**settings):
    return {"scaleSettings": {"manual": settings}}


def automatic(**settings):
    return {"scaleSettings": {"manual": None, "autoScale": settings}}


def shares(*mounted):
    return {"nodeSetup": {"mountVolumes": {"azureFileShares": list(mounted)}}}


def setup(**task):
    return {"nodeSetup": {"setupTask": {"stdOutErrPathPrefix": MOUNT, **task}}}


def admin(**settings):
    return {"userAccountSettings": settings}


TWICE = [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]
BOTH_SCALES = {"scaleSettings": {"autoScale": {"minimumNodeCount": 0, "maximumNodeCount": 1}}}
IMAGE = {"virtualMachineConfiguration": {"imageReference": {"publisher": "p", "offer": "o"}}}
BAD_CLUSTERS = {
    "vmSize missing": bad(MISSING, "vmSize", vmSize=None),
    "vmSize empty": bad(EITHER, "vmSize", vmSize=""),
    "vmSize a number": bad(INVALID, "vmSize", "string", vmSize=5),
    "no admin account": bad(MISSING, "userAccountSettings", userAccountSettings=None),
    "no admin name": bad(MISSING, "userAccountSettings.adminUserName", **admin(adminUserName=None)),
    "neither password nor key": bad(EITHER, None, "adminUser", **admin(adminUserPassword=None)),
    "priority unknown": bad(INVALID, "vmPriority", "spot", "dedicated", "lowpriority", vmPriority="spot"),
    "priority a number": bad(INVALID, "vmPriority", "string", vmPriority=1),
    "count negative": bad(INVALID, COUNT, -1, **manual(targetNodeCount=-1)),
    "count a text": bad(INVALID, COUNT, "integer", **manual(targetNodeCount="two")),
    "count a fraction": bad(INVALID, COUNT, "integer", **manual(targetNodeCount=1.5)),
    "count above what there can be": bad(QUOTA, COUNT, 100000, **manual(targetNodeCount=100000)),
    "count missing": bad(MISSING, COUNT, **manual(targetNodeCount=None, nodeDeallocationOption="requeue")),
    "deallocation unknown": bad(
        INVALID, "scaleSettings.manual.nodeDeallocationOption", "drop", "requeue", **manual(nodeDeallocationOption="drop")
    ),
    "manual and automatic": bad(INVALID, "scaleSettings", "manual", "autoScale", **BOTH_SCALES),
    "scale settings a list": bad(INVALID, "scaleSettings", "object", scaleSettings=[1]),
    "automatic without maximum": bad(
        MISSING, "scaleSettings.autoScale.maximumNodeCount", **automatic(minimumNodeCount=0)
    ),
    "minimum above maximum": bad(
        INVALID, None, 3, 2, "minimumNodeCount", **automatic(minimumNodeCount=3, maximumNodeCount=2)
    ),
    "image without sku": bad(MISSING, "virtualMachineConfiguration.imageReference.sku", **IMAGE),
    "share without account": bad(EITHER, f"{SHARE}.accountName", **shares(file_share(accountName=None))),
    "share without credentials": bad(MISSING, f"{SHARE}.credentials", **shares(file_share(credentials=None))),
    "share with a URL that names none": bad(
        INVALID, f"{SHARE}.azureFileUrl", "https://nowhere/", **shares(file_share(azureFileUrl="https://nowhere/"))
    ),
    "mount path that leaves": bad(
        PATH, f"{SHARE}.relativeMountPath", "../../etc", **shares(file_share(mount="../../etc"))
    ),
    "mount path absolute": bad(PATH, f"{SHARE}.relativeMountPath", "/etc", **shares(file_share(mount="/etc"))),
    "two volumes at one mount path": bad(
        INVALID, None, "m", "relativeMountPath", **shares(file_share("one", "m"), file_share("two", "m"))
    ),
    "setup task without command": bad(MISSING, "nodeSetup.setupTask.commandLine", **setup()),
    "setup variable twice": bad(INVALID, None, "A", **setup(commandLine="true", environmentVariables=TWICE)),
    "properties missing": Bad(None, MISSING, "properties", []),
}


@pytest.mark.parametrize("case", BAD_CLUSTERS)
def test_a_bad_cluster_is_refused_and_not_there(place, case):
    change, codes, target, words = BAD_CLUSTERS[case]
    body = {} if change is None else cluster_body(0, **change)
    cluster = place.cluster_at(fresh("bad"))
    refused(cluster.call("PUT", body=body), 409 if codes == QUOTA else 400, codes, target, words)
    assert cluster.gone()


# --- bodies of jobs -------------------------------------------------------------------------------


def tool(name, **settings):
    """Another toolkit than the usual one."""
    return {"customToolkitSettings": None, name: settings}


def outputs(*directories):
    return {"outputDirectories": [{"pathPrefix": MOUNT, **d} for d in directories]}


def variables(*given):
    return {"environmentVariables": list(given)}


WALL, VARIABLE = "constraints.maxWallClockTime", "environmentVariables[0]"
BAD_JOBS = {
    "no toolkit": bad(EITHER, None, "customToolkitSettings", customToolkitSettings=None),
    "two toolkits": bad(
        INVALID, None, "customToolkitSettings", "customMpiSettings", customMpiSettings={"commandLine": "x"}
    ),
    "no command": bad(EITHER, None, "commandLine", customToolkitSettings={"commandLine": None}),
    "nodeCount 0": bad(INVALID, "nodeCount", 0, nodeCount=0),
    "nodeCount negative": bad(INVALID, "nodeCount", -3, nodeCount=-3),
    "nodeCount missing": bad(MISSING, "nodeCount", nodeCount=None),
    "nodeCount a text": bad(INVALID, "nodeCount", "integer", nodeCount="1"),
    "nodeCount true": bad(INVALID, "nodeCount", "integer", nodeCount=True),
    "nodeCount beyond 32 bits": bad(INVALID, "nodeCount", 2**40, nodeCount=2**40),
    "nodeCount above what the cluster can have": bad(INVALID, "nodeCount", 100000, nodeCount=100000),
    "no standard output": bad(MISSING, "stdOutErrPathPrefix", stdOutErrPathPrefix=None),
    "no cluster": bad(MISSING, "cluster", cluster=None),
    "cluster without id": bad(MISSING, "cluster.id", cluster={"id": None}),
    "cluster id is none": bad(INVALID, "cluster.id", "c1", cluster={"id": "c1"}),
    "priority unknown": bad(INVALID, "schedulingPriority", "urgent", "high", schedulingPriority="urgent"),
    "wall clock nonsense": bad(INVALID, WALL, "1 week", constraints={"maxWallClockTime": "1 week"}),
    "wall clock a number": bad(INVALID, WALL, constraints={"maxWallClockTime": 60}),
    "input id twice": bad(INVALID, None, "D", inputDirectories=[{"id": "D", "path": p} for p in "ab"]),
    "output id twice": bad(INVALID, None, "O", **outputs({"id": "O"}, {"id": "O"})),
    "output id no variable name": bad(INVALID, "outputDirectories[0].id", "a b", **outputs({"id": "a b"})),
    "output suffix that leaves": bad(
        PATH, "outputDirectories[0].pathSuffix", "../../x", **outputs({"id": "O", "pathSuffix": "../../x"})
    ),
    "variable twice": bad(INVALID, None, "A", **variables(*TWICE)),
    "variable without value": bad(MISSING, f"{VARIABLE}.value", **variables({"name": "V"})),
    "variable name impossible": bad(
        INVALID, f"{VARIABLE}.name", "A=B", **variables({"name": "A=B", "value": "1"})
    ),
    "secret without value": bad(EITHER, None, "S", secrets=[{"name": "S"}]),
    "variables no list": bad(INVALID, "environmentVariables", "array", environmentVariables={"A": "1"}),
    "variable no object": bad(INVALID, VARIABLE, "object", **variables("A=1")),
    "preparation without command": bad(MISSING, "jobPreparation.commandLine", jobPreparation={}),
    "container without image": bad(
        MISSING, "containerSettings.imageSourceRegistry.image",
        containerSettings={"imageSourceRegistry": {"serverUrl": "x"}},
    ),
    "backend unknown": bad(
        INVALID, "pyTorchSettings.communicationBackend", "smoke", "gloo",
        **tool("pyTorchSettings", pythonScriptFilePath="x", communicationBackend="smoke"),
    ),
    "more processes than make sense": bad(
        INVALID, "customMpiSettings.processCount", 100000, 256,
        **tool("customMpiSettings", commandLine="x", processCount=100000),
    ),
    "more parameter servers than nodes": bad(
        INVALID, "tensorFlowSettings.parameterServerCount", 3, 2, nodeCount=2,
        **tool("tensorFlowSettings", pythonScriptFilePath="x", parameterServerCount=3),
    ),
    "script missing": bad(
        MISSING, "chainerSettings.pythonScriptFilePath", **tool("chainerSettings", commandLineArgs="x")
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD_JOBS)
def test_a_bad_job_is_refused_and_not_there(place, shared_cluster, case):
    change, codes, target, words = BAD_JOBS[case]
    place.experiment()
    job = place.job_at(fresh("bad"))
    body = merge(job_body(shared_cluster.path), {"properties": change})
    refused(job.call("PUT", body=body), 400, codes, target, words)
    assert job.gone()


def disks(**settings):
    return {"dataDisks": settings}


BAD_FILE_SERVERS = {
    "no disks": bad(MISSING, "dataDisks", dataDisks=None),
    "no disk count": bad(MISSING, "dataDisks.diskCount", **disks(diskCount=None)),
    "storage type unknown": bad(
        INVALID, "dataDisks.storageAccountType", "Floppy", "Standard_LRS", **disks(storageAccountType="Floppy")
    ),
    "caching unknown": bad(INVALID, "dataDisks.cachingType", "some", "readonly", **disks(cachingType="some")),
    "no account": bad(MISSING, "sshConfiguration", sshConfiguration=None),
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
