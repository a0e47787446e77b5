# SPDX-License-Identifier: MIT
"""2018-03-01 and 2017-09-01-preview: their own shapes, and the same resources seen through others.
Every reply is judged by its own version's published document (support/spec.py)."""

import re
from pathlib import Path

import pytest
from support.flat import HOME, FlatPlace, located
from support.people import READER
from support.refusals import INVALID, MISSING, refused
from support.spec import API_VERSION, OLD_VERSIONS
from support.world import MOUNT, Place, cluster_body, file_share, job_body

MARCH, PREVIEW = OLD_VERSIONS
KEY = "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAgQC7 me@here"


def in_version(version):
    return pytest.mark.parametrize("flat", [version], indirect=True)


# --- shapes ---------------------------------------------------------------------------------------


def test_a_cluster(flat):
    seen = flat.cluster(nodes=1, name="Nodes", tags={"a": "b"}).get()
    assert list(seen)[:5] == ["id", "name", "type", "location", "tags"]
    assert seen["type"] == "Microsoft.BatchAI/Clusters"
    assert seen["id"].endswith(f"/resourceGroups/{flat.group}/providers/Microsoft.BatchAI/clusters/Nodes")
    assert (seen["location"], seen["tags"]) == ("northeurope", {"a": "b"})
    assert seen["properties"]["nodeStateCounts"]["leavingNodeCount"] == 0


def test_a_setup_task(flat):
    task = {
        "commandLine": "true",
        "stdOutErrPathPrefix": MOUNT,
        "runElevated": True,
        "environmentVariables": [{"name": "A", "value": "1"}],
        "secrets": [{"name": "S", "value": "hidden"}],
    }
    got = flat.cluster(nodes=0, nodeSetup={"setupTask": task}).properties["nodeSetup"]["setupTask"]
    assert got["runElevated"] is True
    if flat.version == PREVIEW:
        assert "secrets" not in got and "stdOutErrPathSuffix" not in got
    else:
        assert got["secrets"] == [{"name": "S"}]
        assert re.search(rf"/{flat.group}/clusters/[^/]+/[-0-9a-f]{{36}}$", got["stdOutErrPathSuffix"])
        assert "workspaces" not in got["stdOutErrPathSuffix"]
    plain = {"commandLine": "true", "stdOutErrPathPrefix": MOUNT}
    other = flat.cluster(nodes=0, nodeSetup={"setupTask": plain})
    assert other.properties["nodeSetup"]["setupTask"]["runElevated"] is False


def test_where_the_output_of_a_setup_task_lies(flat):
    """2017 had no guid in it; its clusters keep that place whoever looks at them."""
    task = {"commandLine": "echo hello", "stdOutErrPathPrefix": MOUNT}
    cluster = flat.cluster(nodes=1, nodeSetup={"setupTask": task})
    beside = flat.share() / flat.daemon.subscription.lower() / flat.group.lower() / "clusters" / Path(cluster.path).name
    node = cluster.call("POST", "/listRemoteLoginInformation").json["value"][0]["nodeId"]
    (found,) = beside.rglob(f"stdout-{node}.txt")
    assert found.read_text() == "hello\n"
    assert (found.parent == beside) == (flat.version == PREVIEW)
    newest = flat.through(API_VERSION).daemon.get(f"{flat.through(API_VERSION).path}/clusters/{Path(cluster.path).name}")
    suffix = newest["properties"]["nodeSetup"]["setupTask"]["stdOutErrPathSuffix"]
    assert flat.share() / suffix == found.parent


def test_2017_does_not_list_the_services_own_log(flat):
    names = [f["name"] for f in flat.job(flat.cluster(nodes=1), "echo hi").succeeded().files()]
    log = [] if flat.version == PREVIEW else ["execution.log"]
    assert names == [*log, "stderr.txt", "stdout.txt"]


def test_a_file_server_has_a_subnet_and_gives_it_to_who_mounts_it(flat):
    server = flat.file_server(name="disks2")
    made = server.get()["properties"]["subnet"]
    guid = re.fullmatch(
        rf"/subscriptions/{flat.daemon.subscription}/resourceGroups/fileserverrg-([-0-9a-f]{{36}})/providers/"
        r"Microsoft.Network/virtualNetworks/\1vnet/subnets/Subnet-1",
        made["id"],
    )
    assert guid, made
    mount = {"fileServers": [{"fileServer": {"id": server.get()["id"]}, "relativeMountPath": "nfs"}]}
    cluster = flat.cluster(nodes=0, nodeSetup={"mountVolumes": mount})
    assert cluster.properties["subnet"] == made
    mine = {"id": made["id"].replace("Subnet-1", "mine")}
    other = flat.cluster(nodes=0, nodeSetup={"mountVolumes": mount}, subnet=mine)
    assert other.properties["subnet"] == mine
    assert "subnet" not in flat.cluster(nodes=0).properties
    # What was shown may be sent again.
    body = located(cluster_body(0, nodeSetup={"mountVolumes": mount}, subnet=made))
    assert cluster.call("PUT", body=body, expect=200).json["properties"]["subnet"] == made


@pytest.mark.parametrize("sent", ["adminUserSshPublicKey", "adminUserSSHPublicKey"])
def test_ssh_keys_are_taken_under_both_names(flat, sent):
    account = {"adminUserName": "demo", "adminUserPassword": None, sent: KEY}
    cluster = flat.cluster(nodes=0, userAccountSettings=account)
    assert cluster.properties["userAccountSettings"] == {
        "adminUserName": "demo",
        "adminUserSSHPublicKey": KEY,
    }


@in_version(PREVIEW)
def test_the_first_name_of_credentials(flat):
    share = file_share()
    share["credentialsInfo"] = share.pop("credentials")
    cluster = flat.cluster(nodes=0, nodeSetup={"mountVolumes": {"azureFileShares": [share]}})
    (got,) = cluster.properties["nodeSetup"]["mountVolumes"]["azureFileShares"]
    assert got["credentials"] == {} and "credentialsInfo" not in got


@in_version(PREVIEW)
def test_what_2017_does_not_know_is_not_taken(flat):
    image = {"publisher": "p", "offer": "o", "sku": "s", "virtualMachineImageId": "/some/id"}
    cluster = flat.cluster(nodes=0, virtualMachineConfiguration={"imageReference": image})
    got = cluster.properties["virtualMachineConfiguration"]["imageReference"]
    assert got == {"publisher": "p", "offer": "o", "sku": "s", "version": "latest"}
    body = located(job_body(cluster.path, customToolkitSettings=None))
    body["properties"]["pyTorchSettings"] = {"pythonScriptFilePath": "x.py"}
    refused(flat.job_at("torch").call("PUT", body=body), 400, MISSING, "properties")


def test_a_file_server(flat):
    seen = flat.file_server(name="disks").get()
    assert seen["type"] == "Microsoft.BatchAI/FileServers" and seen["location"] == "northeurope"
    settings = seen["properties"]["mountSettings"]
    assert list(settings) == [
        "mountPoint", "fileServerPublicIP", "fileServerInternalIP", "fileServerType"
    ]
    assert settings["fileServerType"] == "nfs"
    newest = flat.through(API_VERSION).daemon.get(
        f"{flat.through(API_VERSION).path}/fileServers/disks"
    )
    assert "location" not in newest
    del settings["fileServerType"]
    assert newest["properties"]["mountSettings"] == settings


def test_a_job(flat):
    cluster = flat.cluster(nodes=1)
    outputs = [{"id": "MODEL", "pathPrefix": MOUNT, "pathSuffix": "models"}]
    job = flat.job(
        cluster,
        'echo hi > "$AZ_BATCHAI_OUTPUT_MODEL/m.txt"; mkdir "$AZ_BATCHAI_OUTPUT_MODEL/sub"',
        experimentName="any text",
        priority=500,
        outputDirectories=outputs,
    )
    p = job.succeed()
    seen = job.get()
    assert list(seen) == ["id", "name", "type", "properties"]
    assert seen["type"] == "Microsoft.BatchAI/Jobs"
    assert p["experimentName"] == "any text" and p["priority"] == 500
    assert p["cluster"]["id"] == cluster.id and "workspaces" not in cluster.id
    assert p["outputDirectories"] == [{**outputs[0], "type": "custom", "createNew": True}]
    assert p["toolType"] == "custom" and p["constraints"] == {"maxWallClockTime": "P7D"}
    assert "schedulingPriority" not in p
    files = job.files("MODEL")
    if flat.version == PREVIEW:
        assert "jobOutputDirectoryPathSegment" not in p
        assert [list(f) for f in files] == [["name", "downloadUrl", "properties"]]
    else:
        segment = p["jobOutputDirectoryPathSegment"]
        assert re.search(rf"/{flat.group}/jobs/{job.name}/[-0-9a-f]{{36}}$", segment)
        assert [(f["name"], f["isDirectory"]) for f in files] == [("m.txt", False), ("sub", True)]
        assert job.files("MODEL", directory="sub") == []
    assert job.read("m.txt", "MODEL") == "hi\n"


def test_an_output_directory_that_is_there_already(flat):
    folder = flat.share() / f"made-{flat.group}"
    folder.mkdir()
    outputs = [
        {"id": "OUT", "pathPrefix": f"{MOUNT}/made-{flat.group}", "createNew": False},
        {"id": "ROOT", "pathPrefix": MOUNT, "createNew": False},
    ]
    command = f'echo x > "$AZ_BATCHAI_OUTPUT_OUT/f"; echo y > "$AZ_BATCHAI_OUTPUT_ROOT/y-{flat.group}"'
    job = flat.job(flat.cluster(nodes=1), command, outputDirectories=outputs).succeeded()
    assert job.read(f"y-{flat.group}", "ROOT") == "y\n"
    assert (folder / "f").read_text() == "x\n"
    assert job.read("f", "OUT") == "x\n"


@pytest.mark.parametrize("number, name", [(-1000, "low"), (-1, "low"), (0, "normal"), (7, "high")])
def test_priorities_are_numbers(flat, number, name):
    cluster = flat.cluster(nodes=0)
    job = flat.job(cluster, priority=number)
    assert job.properties["priority"] == number
    assert flat.through(API_VERSION).job_at(job.name, HOME).properties["schedulingPriority"] == name
    for bad in (-1001, 1001, "high"):
        body = located(job_body(cluster.path, priority=bad))
        refused(flat.job_at("other").call("PUT", body=body), 400, INVALID, "properties.priority")


def test_errors_have_the_names_of_their_time(flat):
    cluster = flat.cluster(nodes=1)
    newest = flat.through(API_VERSION)
    preview = flat.version == PREVIEW

    def errors(job):
        job.fail()
        new = newest.job_at(job.name, HOME).properties["executionInfo"]["errors"][0]
        old = job.properties["executionInfo"]["errors"][0]
        return (old["code"], old["message"]), (new["code"], new["message"])

    old, new = errors(flat.job(cluster, "exit 3"))
    assert new == ("JobFailed", "Job failed with non-zero exit code")
    assert old == ("JobFailed", " job failed with non-zero exit code" if preview else new[1])
    old, new = errors(flat.job(cluster, jobPreparation={"commandLine": "exit 1"}))
    assert new[0] == "JobPreparationFailed"
    assert old[0] == ("JobNodePreparationFailed" if preview else "JobPreparationFailed")
    job = flat.job(cluster, "sleep 1000").running()
    flat.daemon.wait_operation(job.terminate())
    old, new = errors(job)
    assert (old[0], new[0]) == ("JobTerminate", "JobTerminated") and old[1] == new[1]
    assert job.call("POST", "/terminate").status == 200


# --- errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["clusters", "fileServers", "jobs"])
def test_what_is_missing_is_told_by_the_resource_manager(flat, kind):
    def check():
        reply = flat.daemon.call("GET", f"{flat.path}/{kind}/nowhere")
        error = refused(reply, 404, "ResourceNotFound")
        assert error["message"] == (
            f"The Resource 'Microsoft.BatchAI/{kind}/nowhere' under resource group "
            f"'{flat.group}' was not found."
        )
        assert "request-id" not in reply.headers and reply.headers["x-ms-failure-cause"] == "gateway"
        assert flat.daemon.call("DELETE", f"{flat.path}/{kind}/nowhere").status == 204

    check()
    flat.cluster(nodes=0)  # now there is a home
    check()


def test_missing_parts(flat):
    cluster = flat.cluster(nodes=0)
    for path, body in [
        (f"{flat.path}/clusters/x", located(cluster_body())),
        (f"{flat.path}/jobs/x", located(job_body(cluster.path))),
    ]:
        del body["location"]
        refused(flat.daemon.call("PUT", path, body), 400, MISSING, "location")
    lost = f"{flat.path}/clusters/lost"
    refused(
        flat.job_at("x").call("PUT", body=located(job_body(lost))),
        404,
        "ClusterNotFound",
        "properties.cluster.id",
    )


def test_a_refused_create_leaves_no_home(flat):
    refused(
        flat.daemon.call("PUT", f"{flat.path}/clusters/x", located(cluster_body(nodes=100000))),
        409,
        "QuotaExceeded",
    )
    assert flat.through(API_VERSION).daemon.call("GET", flat.through(API_VERSION).path).status == 404


def test_names_may_have_dots(flat):
    cluster = flat.cluster(nodes=0, name="v1.2_x-y")
    assert flat.job(cluster, name="a.b").properties["cluster"]["id"] == cluster.id
    for name in (".hidden", "a%20b", "x" * 65):
        refused(
            flat.daemon.call("PUT", f"{flat.path}/clusters/{name}", located(cluster_body())),
            400,
            "InvalidResourceName",
        )


def test_versions_that_do_not_serve_a_path_are_refused(flat):
    newest = flat.through(API_VERSION)
    error = refused(newest.daemon.call("GET", f"{flat.path}/clusters/x"), 400, "NoRegisteredProviderFound")
    assert MARCH in error["message"] and PREVIEW in error["message"]
    refused(
        flat.daemon.call("GET", newest.path),
        400,
        "NoRegisteredProviderFound",
        words=[flat.version, API_VERSION],
    )
    refused(
        flat.daemon.call("GET", f"{flat.path}/clusters", api_version="2016-01-01"),
        400,
        "NoRegisteredProviderFound",
        words=[MARCH, PREVIEW],
    )


# --- operations, headers --------------------------------------------------------------------------


def test_operations_and_etags(flat):
    path = f"{flat.path}/clusters/c"
    reply = flat.daemon.call("PUT", path, located(cluster_body(nodes=0), "West US"), expect=202)
    assert "/locations/westus/operationresults/" in reply.headers["Azure-AsyncOperation"]
    ended = flat.daemon.wait_operation(reply)
    assert ended["properties"]["resourceId"] == (
        f"{flat.daemon.subscription.lower()}${flat.group.lower()}$c"
    )
    first = flat.daemon.call("GET", path).headers["ETag"]
    scale = {"properties": {"scaleSettings": {"manual": {"targetNodeCount": 0}}}}
    changed = flat.daemon.call("PATCH", path, scale, expect=200).headers["ETag"]
    assert (changed == first) == (flat.version == PREVIEW)
    reply = flat.daemon.call("DELETE", path, expect=202)
    assert "/locations/westus/" in reply.headers["Location"]
    assert flat.daemon.wait_operation(reply)["status"] == "Succeeded"


def test_tags_of_clusters_change(flat):
    cluster = flat.cluster(nodes=0, tags={"a": "1"})
    assert cluster.call("PATCH", body={"tags": {"b": "2"}}, expect=200).json["tags"] == {"b": "2"}
    body = located(cluster_body(nodes=0))
    assert cluster.call("PUT", body=body, expect=200).json["tags"] == {"b": "2"}
    assert cluster.call("PUT", body={**body, "tags": {"c": "3"}}, expect=200).json["tags"] == {"c": "3"}
    assert "tags" not in cluster.call("PATCH", body={"tags": {}}, expect=200).json
    assert cluster.call("PUT", body={**body, "location": "North Europe"}, expect=200)
    moved = {**body, "location": "westus"}
    refused(cluster.call("PUT", body=moved), 409, "PropertyChangeNotAllowed", "location")


def test_remote_login(flat):
    cluster = flat.cluster(nodes=1)
    (node,) = cluster.call("POST", "/listRemoteLoginInformation", expect=200).json["value"]
    assert node["port"] > 0
    job = flat.job(cluster, "sleep 1000").running()
    assert job.call("POST", "/listRemoteLoginInformation", expect=200).json["value"] == [node]


def test_provider_operations_and_usages(flat):
    names = [o["name"] for o in flat.daemon.get("/providers/Microsoft.BatchAI/operations")["value"]]
    assert len(names) == len(set(names)) == 12
    assert not any("workspaces" in n for n in names)
    usages = f"/subscriptions/{flat.daemon.subscription}/providers/Microsoft.BatchAI/locations/x/usages"
    if flat.version == PREVIEW:
        refused(flat.daemon.call("GET", usages), 400, "NoRegisteredProviderFound", words=[MARCH])
        return
    flat.job(flat.cluster(nodes=0))
    rows = flat.daemon.get(usages)["value"]
    assert len(rows) == 12 and rows[0]["name"]["value"] == "Clusters"
    assert rows[-1]["name"] == {"value": "ActiveJobs", "localizedValue": "Active Jobs"}
    assert rows[-1]["currentValue"] >= 1


# --- lists ----------------------------------------------------------------------------------------


def names(reply):
    return [r["name"] for r in reply["value"]]


def lists(flat, kind):
    """By group, by subscription."""
    below = f"/subscriptions/{flat.daemon.subscription}/providers/Microsoft.BatchAI/{kind}"
    return [f"{flat.path}/{kind}", below]


@pytest.mark.parametrize("kind", ["clusters", "fileServers", "jobs"])
def test_lists(flat, kind):
    by_group, by_subscription = lists(flat, kind)
    assert names(flat.daemon.get(by_group)) == []
    cluster = flat.cluster(nodes=0, name="list-b")
    make = {
        "clusters": lambda n: flat.cluster(nodes=0, name=n),
        "fileServers": lambda n: flat.file_server(name=n),
        "jobs": lambda n: flat.job(cluster, name=n),
    }[kind]
    wanted = ["list-a", "list-c"]
    for n in wanted:
        make(n)
    if kind == "clusters":
        wanted = ["list-b"] + wanted
    assert names(flat.daemon.get(by_group)) == wanted
    assert set(wanted) <= set(names(flat.daemon.get(by_subscription)))
    page = flat.daemon.get(by_group, params={"maxresults": 1})
    assert names(page) == wanted[:1]
    assert names(flat.daemon.get(page["nextLink"])) == wanted[1:2]
    for bad in (0, 1001, "x"):
        refused(
            flat.daemon.call("GET", by_group, params={"maxresults": bad}),
            400,
            "InvalidQueryParameterValue",
        )


def test_lists_show_only_what_lives_at_home(flat):
    Place(flat.daemon._daemon, flat.group, "elsewhere").make().cluster(nodes=0, name="foreign")
    flat.cluster(nodes=0, name="own")
    for path in lists(flat, "clusters"):
        assert "foreign" not in names(flat.daemon.get(path))
        assert "own" in names(flat.daemon.get(path))
    assert flat.daemon.call("GET", f"{flat.path}/clusters/foreign").status == 404


FILTERS = [
    ("name eq 'ABC'", ["abc"]),
    ("name ne 'abc'", ["abd", "x"]),
    ("startswith(name, 'ab')", ["abc", "abd"]),
    ("startswith(name,'ab') and not (name eq 'abd')", ["abc"]),
    ("properties/scaleSettings/manual/targetNodeCount gt 0", []),
    ("currentNodeCount le 0 and name lt 'b'", ["abc", "abd"]),
    ("vmSize eq 'standard_d1' or name eq 'x'", ["abc", "abd", "x"]),
    ("tags ne null", []),
    ("name ge 'abd'", ["abd", "x"]),
    ("name eq 'it''s'", []),
    ("name ne 'it''s'", ["abc", "abd", "x"]),
    ("name eq true or name eq 1", []),
    ("name ne false and name ne 1", ["abc", "abd", "x"]),
    ("startswith(currentNodeCount, '0')", []),
    ("properties/provisioningState eq 'succeeded' and (name eq 'x' or name eq 'abd')", ["abd", "x"]),
]


def test_filters(flat):
    for n in ("abc", "abd", "x"):
        flat.cluster(nodes=0, name=n)
    by_group, _ = lists(flat, "clusters")
    for text, wanted in FILTERS:
        assert names(flat.daemon.get(by_group, params={"$filter": text})) == wanted, text
    page = flat.daemon.get(by_group, params={"$filter": "name ne 'abc'", "maxresults": 1})
    assert names(page) == ["abd"]
    assert names(flat.daemon.get(page["nextLink"])) == ["x"]


@pytest.mark.parametrize(
    "text",
    ["name", "name eq", "name eq 'x", "nowhere eq 1", "name like 'x'", "(name eq 'x'", "name eq 'x' name",
     "startswith(name)", "startswith name", "startswith(name, 1)",
     "startswith(name, 'a'", "startswith(name 'a')", "not", "'x' eq name", "(" * 40 + "name eq 'x'", "adminUserPassword eq 'x'"],
)
def test_bad_filters(flat, text):
    for path in lists(flat, "clusters"):
        reply = flat.daemon.call("GET", path, params={"$filter": text})
        refused(reply, 400, "InvalidQueryParameterValue", "$filter")


def test_select(flat):
    flat.cluster(nodes=0, name="c")
    by_group, _ = lists(flat, "clusters")
    (item,) = flat.daemon.get(by_group, params={"$select": "name, vmSize,properties/vmPriority"})["value"]
    assert item == {"name": "c", "properties": {"vmSize": "STANDARD_D1", "vmPriority": "dedicated"}}
    reply = flat.daemon.call("GET", by_group, params={"$select": "name,colour"})
    refused(reply, 400, "InvalidQueryParameterValue", "$select", words=["colour"])


# --- the same resources through other versions ----------------------------------------------------


def test_home_is_a_workspace_like_any_other(flat):
    newest = flat.through(API_VERSION)
    assert newest.daemon.call("GET", newest.path).status == 404
    cluster = flat.cluster(nodes=1, name="shared", tags={"a": "b"})
    workspace = newest.daemon.get(newest.path)
    assert (workspace["name"], workspace["location"]) == (HOME, "northeurope")
    seen = newest.cluster_at("shared").get()
    assert list(seen) == ["id", "name", "type", "properties"]
    assert seen["type"] == "Microsoft.BatchAI/workspaces/clusters"
    assert seen["id"].endswith(f"/workspaces/{HOME}/clusters/shared")
    job = flat.job(cluster, "echo $((40 + 2))", name="answer", experimentName="mine").succeeded()
    there = newest.job_at("answer", HOME)
    p = there.properties
    assert p["experimentName"] == HOME and p["cluster"]["id"] == seen["id"]
    assert there.read("stdout.txt") == job.read("stdout.txt") == "42\n"
    other = [v for v in OLD_VERSIONS if v != flat.version][0]
    assert flat.through(other).job_at("answer").properties["experimentName"] == "mine"


@pytest.mark.parametrize("kind", ["clusters", "fileServers", "jobs"])
def test_a_role_holds_at_both_paths_of_a_resource(flat, person, kind):
    cluster = flat.cluster(nodes=0, name="c")
    flat.file_server(name="f")
    flat.job(cluster, name="j")
    daemon, home = flat.daemon._daemon, flat.through(API_VERSION).path
    name = {"clusters": "c", "fileServers": "f", "jobs": "j"}[kind]
    short = f"{flat.path}/{kind}/{name}"
    long = f"{home}/{'experiments/migrated/' if kind == 'jobs' else ''}{kind}/{name}"
    for scope in (short, long, home):
        ada = person(READER, scope)
        assert ada.get(short, api_version=flat.version)["name"] == ada.get(long)["name"] == name
        listed = ada.get(f"{flat.path}/{kind}", api_version=flat.version)["value"]
        assert [one["id"].lower() for one in listed] == [short.lower()]
        listed = ada.get(long.rsplit("/", 1)[0])["value"]
        assert [one["id"].lower() for one in listed] == [long.lower()]
        for method, path, version in (("DELETE", short, flat.version), ("DELETE", long, API_VERSION)):
            ada.may_not(method, path, api_version=version)
    for scope in (f"{short}2", f"{long}2", f"{flat.group_path}2/providers/Microsoft.BatchAI/{kind}/{name}"):
        bob = person(READER, scope)
        bob.may_not("GET", short, api_version=flat.version)
        bob.may_not("GET", long)
    daemon.get(long)


def test_what_2018_05_01_makes_at_home_old_versions_use(flat):
    newest = flat.through(API_VERSION)
    newest.make()
    cluster = newest.cluster(nodes=1, name="c")
    newest.job(cluster, "echo new", name="j", experiment=HOME, schedulingPriority="high").succeed()
    old = flat.daemon.get(f"{flat.path}/clusters/c")
    assert old["location"] == newest.location and old["id"].endswith("/Microsoft.BatchAI/clusters/c")
    p = flat.job_at("j").properties
    assert p["priority"] == 1000 and p["cluster"]["id"] == old["id"] and "experimentName" not in p
    assert flat.job_at("j").read("stdout.txt") == "new\n"
    # What the old version says of it, it may say again.
    repeat = located(cluster_body(nodes=1), old["location"])
    assert flat.daemon.call("PUT", f"{flat.path}/clusters/c", repeat).status == 200
    flat.job(old["id"], "true", name="k").succeed()
    assert newest.job_at("k", HOME).properties["executionState"] == "succeeded"


def test_a_repeated_put_through_another_version_changes_nothing(flat):
    task = {"commandLine": "true", "stdOutErrPathPrefix": MOUNT, "runElevated": True}
    cluster = flat.cluster(nodes=0, name="c", nodeSetup={"setupTask": task})
    job = flat.job(cluster, name="j", priority=300, experimentName="e")
    newest = flat.through(API_VERSION)
    there, thing = newest.cluster_at("c"), newest.job_at("j", HOME)
    task.pop("runElevated")
    there.call("PUT", body=cluster_body(nodes=0, nodeSetup={"setupTask": task}), expect=200)
    thing.call("PUT", body=job_body(there.path, schedulingPriority="high"), expect=200)
    reply = thing.call("PUT", body=job_body(there.path, schedulingPriority="low"))
    refused(reply, 409, "PropertyChangeNotAllowed", "properties.schedulingPriority")
    assert cluster.properties["nodeSetup"]["setupTask"]["runElevated"] is True
    assert job.properties["priority"] == 300


@in_version(PREVIEW)
def test_toolkits_of_newer_versions_are_shown_as_far_as_they_can_be(flat):
    newest = flat.through(API_VERSION)
    newest.make()
    cluster = newest.cluster(nodes=0)
    none = {"customToolkitSettings": None}
    script = {"pythonScriptFilePath": "x.py"}
    newest.job(cluster, name="h", experiment=HOME, horovodSettings=script, **none)
    newest.job(cluster, name="p", experiment=HOME, pyTorchSettings=script, **none)
    newest.job(cluster, name="t", experiment=HOME, tensorFlowSettings=script, **none)
    for name in "hp":
        p = flat.job_at(name).properties
        assert not [k for k in p if k.endswith("Settings")] and "toolType" not in p
    assert flat.job_at("t").properties["tensorFlowSettings"] == {**script, "masterCommandLineArgs": ""}
    march = flat.through(MARCH)
    assert march.job_at("p").properties["toolType"] == "pytorch"
    assert "toolType" not in march.job_at("h").properties


def test_file_servers_are_named_in_each_versions_way(flat):
    server = flat.file_server(name="disks")
    mount = {"fileServer": {"id": server.get()["id"]}, "relativeMountPath": "nfs"}
    cluster = flat.cluster(nodes=0, name="c", nodeSetup={"mountVolumes": {"fileServers": [mount]}})

    def mounted(c):
        return c.properties["nodeSetup"]["mountVolumes"]["fileServers"][0]["fileServer"]["id"]

    assert mounted(cluster) == server.get()["id"]
    newest = flat.through(API_VERSION)
    assert mounted(newest.cluster_at("c")).endswith(f"/workspaces/{HOME}/fileservers/disks")


def test_deleting_the_home_deletes_what_old_versions_see(flat):
    cluster = flat.cluster(nodes=0, name="c")
    flat.job(cluster, name="j")
    newest = flat.through(API_VERSION)
    newest.daemon.do("DELETE", newest.path)
    assert cluster.gone() and flat.job_at("j").gone()
    flat.cluster(nodes=0, name="c")
    assert newest.daemon.get(newest.path)["name"] == HOME


def test_homes_of_groups_are_apart(daemon, flat):
    other = FlatPlace(daemon, flat.version).make()
    flat.cluster(nodes=0, name="same")
    cluster = other.cluster(nodes=0, name="same")
    flat.daemon.do("DELETE", f"{flat.path}/clusters/same")
    assert cluster.get()["id"].split("/")[4] == other.group
    # A job may name a cluster of another group.
    assert flat.job(cluster.id, name="j").properties["cluster"]["id"] == cluster.id
    other.through(API_VERSION).remove()
