# SPDX-License-Identifier: MIT
"""Version 2025-06-01 of Azure Batch: what is new in it, changed and gone, and versions that are newer."""

import pytest
from support import batch_2025
from support.batch import V, BatchGround
from support.batch_jobs import Jobs, add_pool
from support.waiting import wait_for
from support.world import fresh

NAME = batch_2025.NAME
BEFORE = V["20.0"]
NEWER = "2026-03-01"


@pytest.fixture(scope="module")
def ground(daemon, temporary_in_file):
    return temporary_in_file(BatchGround(daemon))


@pytest.fixture
def plane(ground):
    return ground.plane.at(NAME)


@pytest.fixture
def pool(plane):
    """Makes a pool without nodes; its name."""

    def make(at=plane, **more):
        name = fresh("pool")
        add_pool(at, name, **more)
        return name

    return make


def machine(plane, **more):
    """The virtualMachineConfiguration of a new pool, with these members besides."""
    name = fresh("pool")
    add_pool(plane, name)
    seen = plane.get(f"/pools/{name}")["virtualMachineConfiguration"]
    return {**seen, **more}


# --- the data plane ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("gone", [
    {"certificateReferences": []}, {"resourceTags": {"a": "b"}}, {"targetNodeCommunicationMode": "simplified"},
])  # fmt: skip
def test_what_is_gone_is_refused_by_name(plane, gone):
    (name,) = gone
    reply = plane.call("POST", "/pools", {"id": fresh("pool"), "vmSize": "Standard_D2_v2", **gone}, expect=400)
    assert name in reply.content.decode()
    values = plane.refused(400, "UnsupportedRequestVersion", "GET", "/certificates")
    assert f"to {BEFORE} are" in values["Reason"]


def test_what_is_gone_stays_in_pools_of_older_versions(plane, pool):
    name = pool(plane.at(BEFORE), resourceTags={"a": "b"}, targetNodeCommunicationMode="simplified")
    assert not {"resourceTags", "targetNodeCommunicationMode"} & set(plane.get(f"/pools/{name}"))
    plane.call("POST", f"/pools/{name}/updateproperties", {"applicationPackageReferences": [], "metadata": []}, expect=204)
    seen = plane.at(BEFORE).get(f"/pools/{name}")
    assert (seen["resourceTags"], seen["targetNodeCommunicationMode"]) == ({"a": "b"}, "simplified")


def test_the_type_of_a_data_disk_is_in_both_forms(plane, pool):
    old, new = {"lun": 0, "diskSizeGB": 8, "storageAccountType": "premium_lrs"}, {"managedDisk": {"storageAccountType": "premium_lrs"}}
    for at, disk in ((plane.at(BEFORE), old), (plane, {"lun": 0, "diskSizeGB": 8, **new})):
        name = pool(at, virtualMachineConfiguration=machine(at, dataDisks=[disk]))
        (newest,) = plane.get(f"/pools/{name}")["virtualMachineConfiguration"]["dataDisks"]
        (older,) = plane.at(BEFORE).get(f"/pools/{name}")["virtualMachineConfiguration"]["dataDisks"]
        assert newest["managedDisk"] == new["managedDisk"] and "storageAccountType" not in newest
        assert older["storageAccountType"] == "premium_lrs" and "managedDisk" not in older


@pytest.mark.parametrize("more, why", [
    ({"diskEncryptionConfiguration": {"targets": ["osdisk"], "customerManagedKey": {"keyUrl": "https://v/keys/k/1"}}}, "managed identity"),
    ({"securityProfile": {"proxyAgentSettings": {"imds": {"mode": "Audit", "inVMAccessControlProfileReferenceId": "/x"}}}}, "must have one"),
])  # fmt: skip
def test_what_a_machine_cannot_have_is_refused(plane, more, why):
    body = {"id": fresh("pool"), "vmSize": "Standard_D2_v2", "virtualMachineConfiguration": machine(plane, **more)}
    assert why in plane.refused(400, "InvalidPropertyValue", "POST", "/pools", body)["Reason"]


def order_of(plane, policy, late):
    """In which order tasks of two jobs start, on one slot: a few of the older job, some of the newer, and one more of the
    older job, which is added last."""
    name = fresh("pool")
    add_pool(plane, name, targetDedicatedNodes=0, taskSchedulingPolicy=policy)
    older, newer = Jobs(plane, name)(), Jobs(plane, name)()
    for job, tasks in ((older, ["a1", "a2", "a3"]), (newer, ["b1", "b2", "b3"]), (older, [late])):
        for task in tasks:
            plane.call("POST", f"/jobs/{job.id}/tasks", {"id": task, "commandLine": "/bin/true"}, expect=201)
    plane.call("POST", f"/pools/{name}/resize", {"targetDedicatedNodes": 1}, expect=202)

    def done():
        tasks = [t for job in (older, newer) for t in plane.all(f"/jobs/{job.id}/tasks")]
        return all(t["state"] == "completed" for t in tasks) and sorted(tasks, key=lambda t: t["executionInfo"]["startTime"])

    return [t["id"] for t in wait_for(done, 60, "all tasks to end")]


def test_the_older_job_is_first_where_the_pool_says_so(plane):
    started = order_of(plane, {"nodeFillType": "spread", "jobDefaultOrder": "creationtime"}, late="a4")
    assert started == ["a1", "a2", "a3", "a4", "b1", "b2", "b3"]


def test_jobs_take_turns_by_default(plane):
    started = order_of(plane, {"nodeFillType": "spread"}, late="a4")
    assert started == ["a1", "b1", "a2", "b2", "a3", "b3", "a4"]


# --- the resource manager ---------------------------------------------------------------------------------------------


def test_a_pool_of_the_resource_manager(ground, plane, pool):
    path = f"/{ground.name}/pools/{fresh('pool')}"
    image = {"publisher": "Canonical", "offer": "UbuntuServer", "sku": "18.04-LTS", "version": "latest"}
    vm = {
        "imageReference": image,
        "nodeAgentSkuId": "batch.node.ubuntu 18.04",
        "dataDisks": [{"lun": 0, "diskSizeGB": 8, "managedDisk": {"storageAccountType": "Premium_LRS"}}],
        "securityProfile": {"proxyAgentSettings": {"enabled": True, "imds": {"mode": "Audit"}}},
        "osDisk": {"managedDisk": {"securityProfile": {"securityEncryptionType": "DiskWithVMGuestState",
                                                       "diskEncryptionSet": {"id": "/a"}}}},
    }  # fmt: skip
    properties = {
        "vmSize": "STANDARD_D2_V2",
        "deploymentConfiguration": {"virtualMachineConfiguration": vm},
        "taskSchedulingPolicy": {"nodeFillType": "Pack", "jobDefaultOrder": "CreationTime"},
        "networkConfiguration": {"publicIPAddressConfiguration": {"ipFamilies": ["IPv4"], "ipTags": [{"ipTagType": "a", "tag": "b"}]}},
    }
    call = ground.accounts.call
    seen = call("PUT", path, {"properties": properties}, api_version=NAME, expect=200).json["properties"]
    assert seen["taskSchedulingPolicy"] == properties["taskSchedulingPolicy"]
    shown = seen["deploymentConfiguration"]["virtualMachineConfiguration"]
    assert {k: shown[k] for k in ("dataDisks", "securityProfile", "osDisk")} == {
        "dataDisks": [{**vm["dataDisks"][0], "caching": "None"}], "securityProfile": vm["securityProfile"], "osDisk": vm["osDisk"],
    }  # fmt: skip
    address = seen["networkConfiguration"]["publicIPAddressConfiguration"]
    assert (address["ipFamilies"], address["ipTags"]) == (["IPv4"], [{"ipTagType": "a", "tag": "b"}])
    of_the_plane = plane.get("/pools/" + path.split("/")[-1])
    assert of_the_plane["taskSchedulingPolicy"]["jobDefaultOrder"] == "creationtime"


def test_a_whole_put_leaves_alone_what_the_version_does_not_have(ground):
    path, call = f"/{ground.name}/pools/{fresh('pool')}", ground.accounts.call
    vm = {"imageReference": {"publisher": "Canonical", "offer": "UbuntuServer", "sku": "18.04-LTS"}, "nodeAgentSkuId": "batch.node.ubuntu 18.04"}
    body = {"properties": {"vmSize": "STANDARD_D2_V2", "deploymentConfiguration": {"virtualMachineConfiguration": vm}}}
    tagged = {"properties": {**body["properties"], "resourceTags": {"a": "b"}}}
    call("PUT", path, tagged, api_version="2024-07-01", expect=200)
    assert "resourceTags" not in call("PUT", path, body, api_version=NAME, expect=200).json["properties"]
    assert call("GET", path, api_version="2024-07-01", expect=200).json["properties"]["resourceTags"] == {"a": "b"}


# --- newer versions ---------------------------------------------------------------------------------------------------


def test_a_newer_version_is_refused_with_the_newest_and_what_to_pass(ground, plane):
    reason = plane.at(NEWER).refused(400, "UnsupportedRequestVersion", "GET", "/pools")["Reason"]
    message = ground.accounts.call("GET", "", api_version=NEWER, expect=400).json["error"]["message"]
    for text in (reason, message):
        assert NEWER in text and f"the newest is '{NAME}'" in text
        assert f'api_version="{NAME}"' in text and "compat.newer_versions" in text
    assert "newest" not in plane.at("2025-05-01").refused(400, "UnsupportedRequestVersion", "GET", "/pools")["Reason"]


def test_a_setting_serves_newer_versions_as_the_newest(own_daemon):
    ground = BatchGround(own_daemon(config={"compat": {"newer_versions": True}}))
    plane = ground.plane.at(NEWER)
    name = fresh("pool")
    add_pool(plane, name)
    assert plane.get(f"/pools/{name}") == ground.plane.at(NAME).get(f"/pools/{name}")
    assert ground.accounts.call("GET", f"/{ground.name}", api_version=NEWER, expect=200).json["name"] == ground.name
    ground.accounts.daemon.call("GET", f"{ground.accounts.above}/providers/Microsoft.BatchAI/clusters", api_version=NEWER,
                                validate=False, expect=(200, 404))  # fmt: skip
    plane.refused(400, "UnsupportedRequestVersion", "GET", "/certificates")
    ground.plane.at("2025-05-01").refused(400, "UnsupportedRequestVersion", "GET", "/pools")
