# SPDX-License-Identifier: MIT
"""Pools of the management plane: the same pools that the data plane has, in Azure Resource Manager's words."""

import copy
import re

import pytest
from support.batch_rm import RM_VERSION
from support.waiting import wait_for
from support.world import fresh

IMAGE = {"publisher": "canonical", "offer": "ubuntuserver", "sku": "18.04-LTS"}
MACHINE = {"virtualMachineConfiguration": {"imageReference": IMAGE, "nodeAgentSkuId": "batch.node.ubuntu 18.04"}}


def properties(**more):
    return {"properties": {"vmSize": "standard_d2s_v3", "deploymentConfiguration": MACHINE, **more}}


def fixed(dedicated=0, low=0, **more):
    return {"scaleSettings": {"fixedScale": {"targetDedicatedNodes": dedicated, "targetLowPriorityNodes": low, **more}}}


def formula(text="$TargetDedicatedNodes=0", **more):
    return {"scaleSettings": {"autoScale": {"formula": text, **more}}}


@pytest.fixture
def rm(ground):
    """call(method, name and what is behind it, body): a request for a pool."""

    def call(method, name, body=None, **more):
        return ground.accounts.call(method, f"/{ground.name}/pools/{name}", body, **more)

    return call


def details(reply):
    return {d["code"]: d["message"] for d in reply.error["details"]}


def steady(plane, name):
    wait_for(lambda: plane.get(f"/pools/{name}")["allocationState"] == "steady")


def test_an_empty_text_is_no_word(rm):
    """Terraform's azurerm sends it for words that are not set."""
    name = fresh("pool")
    user = {"autoUser": {"scope": "", "elevationLevel": "Admin"}}
    start = {"commandLine": "/bin/true", "userIdentity": user}
    body = properties(startTask=start, interNodeCommunication="", **fixed(0, nodeDeallocationOption=""))
    shown = rm("PUT", name, body, expect=200).json["properties"]
    assert "nodeDeallocationOption" not in shown["scaleSettings"]["fixedScale"]
    assert shown["startTask"]["userIdentity"] == {"autoUser": {"elevationLevel": "Admin", "scope": "Pool"}}
    assert shown["interNodeCommunication"] == "Disabled"
    rm("PATCH", name, {"properties": fixed(0, nodeDeallocationOption="")}, expect=200)
    reply = rm("PATCH", name, {"properties": fixed(0, nodeDeallocationOption="none")}, expect=400)
    assert "must be Requeue, Terminate, TaskCompletion or RetainedData" in reply.error["message"]


# --- both planes show one pool ---------------------------------------------------------------------------------------


def test_a_pool_is_made_here_and_shown_there(ground, plane, rm):
    name = fresh("pool")
    start = {"commandLine": "/bin/true", "userIdentity": {"autoUser": {"scope": "Pool", "elevationLevel": "Admin"}}}
    body = properties(
        displayName="a pool", interNodeCommunication="Enabled", taskSlotsPerNode=2, taskSchedulingPolicy={"nodeFillType": "Pack"},
        metadata=[{"name": "a", "value": "b"}], startTask=start, **fixed(0, resizeTimeout="PT8M"),
        userAccounts=[{"name": "somebody", "password": "secret", "elevationLevel": "NonAdmin"}],
    )  # fmt: skip
    reply = rm("PUT", name, body, expect=200)
    assert re.fullmatch('W/"0x[0-9A-F]{15,16}"', reply.headers["etag"]) and reply.json["etag"] == reply.headers["etag"]
    assert reply.json["id"].lower().endswith(f"/batchaccounts/{ground.name}/pools/{name}".lower())
    assert (reply.json["name"], reply.json["type"]) == (name, "Microsoft.Batch/batchAccounts/pools")
    seen = reply.json["properties"]
    assert seen["provisioningState"] == "Succeeded" and seen["vmSize"] == "STANDARD_D2S_V3"
    assert seen["scaleSettings"] == {"fixedScale": {"targetDedicatedNodes": 0, "targetLowPriorityNodes": 0, "resizeTimeout": "PT8M"}}
    assert seen["deploymentConfiguration"]["virtualMachineConfiguration"]["imageReference"]["version"] == "latest"
    assert seen["startTask"] == {**start, "maxTaskRetryCount": 0, "waitForSuccess": True}
    assert seen["userAccounts"] == [{"name": "somebody", "elevationLevel": "NonAdmin"}] and "secret" not in reply.content.decode()
    assert seen["resizeOperationStatus"]["nodeDeallocationOption"] == "Requeue"
    there = plane.get(f"/pools/{name}")
    assert (there["id"], there["displayName"], there["vmSize"]) == (name, "a pool", "standard_d2s_v3")
    assert there["enableInterNodeCommunication"] is True and there["taskSchedulingPolicy"] == {"nodeFillType": "Pack"}
    assert there["startTask"]["userIdentity"] == {"autoUser": {"scope": "pool", "elevationLevel": "admin"}}
    assert there["virtualMachineConfiguration"]["nodeAgentSKUId"] == "batch.node.ubuntu 18.04"
    assert f'W/"{there["eTag"]}"' == reply.headers["etag"]


def test_a_pool_that_is_made_there_is_shown_here(plane, rm):
    name = fresh("pool")
    body = {
        "id": name, "vmSize": "standard_a1",
        "virtualMachineConfiguration": {"imageReference": IMAGE, "nodeAgentSKUId": "batch.node.ubuntu 18.04"},
        "applicationPackageReferences": [], "enableAutoScale": True, "autoScaleFormula": "$TargetDedicatedNodes=0",
        "certificateReferences": [{"thumbprint": "ab12", "thumbprintAlgorithm": "sha1", "storeLocation": "currentuser", "visibility": ["task"]}],
    }  # fmt: skip
    plane.call("POST", "/pools", body, expect=201)
    seen = rm("GET", name, expect=200).json["properties"]
    assert seen["scaleSettings"] == {"autoScale": {"formula": "$TargetDedicatedNodes=0", "evaluationInterval": "PT15M"}}
    (certificate,) = seen["certificates"]
    assert certificate["id"].endswith("/certificates/sha1-ab12") and certificate["storeLocation"] == "CurrentUser"
    wait_for(lambda: "autoScaleRun" in rm("GET", name).json["properties"])
    assert rm("GET", name).json["properties"]["autoScaleRun"]["results"].startswith("$TargetDedicatedNodes=0")
    assert rm("GET", name, api_version="2017-09-01", expect=200).json["properties"]["maxTasksPerNode"] == 1


def test_pools_are_listed_filtered_and_selected(ground):
    account = ground.accounts.account()
    path, names = f"/{account}/pools", ["a1", "a2", "b1"]
    for name in names:
        ground.accounts.call("PUT", f"{path}/{name}", properties(), expect=200)

    def listed(**params):
        query = "&".join(f"{k}={v}" for k, v in params.items())
        return ground.accounts.call("GET", f"{path}?{query}" if query else path, expect=200).json

    assert [p["name"] for p in listed()["value"]] == names
    first = listed(maxresults=2)
    assert [p["name"] for p in first["value"]] == names[:2] and "nextLink" in first
    rest = ground.accounts.call("GET", first["nextLink"].removeprefix(ground.accounts.daemon.endpoint), api_version=None, expect=200).json
    assert [p["name"] for p in rest["value"]] == names[2:] and "nextLink" not in rest
    assert [p["name"] for p in listed(**{"$filter": "startswith(name,'a')"})["value"]] == names[:2]
    assert listed(**{"$filter": "properties/provisioningState eq 'Deleting'"})["value"] == []
    assert len(listed(**{"$filter": "properties/vmSize eq 'STANDARD_D2S_V3'"})["value"]) == 3
    chosen = listed(**{"$select": "properties/vmSize,properties/allocationState"})["value"][0]
    assert set(chosen["properties"]) == {"vmSize", "allocationState"} and chosen["name"] == "a1"
    for query in ("$filter=colour eq 'red'", "$select=properties/colour", "maxresults=0"):
        ground.accounts.call("GET", f"{path}?{query}", expect=400)


# --- changes ---------------------------------------------------------------------------------------------------------


def test_a_patch_changes_what_it_gives(plane, rm):
    name = fresh("pool")
    start = {"commandLine": "/bin/true", "resourceFiles": [{"httpUrl": "https://h/x?sig=y", "filePath": "x"}]}
    rm("PUT", name, properties(startTask=start, metadata=[{"name": "a", "value": "b"}]), expect=200)
    reply = rm("PATCH", name, {"properties": {"metadata": [{"name": "c", "value": "d"}]}}, expect=200)
    seen = reply.json["properties"]
    assert seen["metadata"] == [{"name": "c", "value": "d"}] and seen["startTask"]["commandLine"] == "/bin/true"
    assert reply.headers["etag"] == f'W/"{plane.get(f"/pools/{name}")["eTag"]}"'
    seen = rm("PATCH", name, {"properties": {"startTask": {}, "metadata": []}}, expect=200).json["properties"]
    assert "startTask" not in seen and "metadata" not in seen
    application = rm("GET", name).json["id"].replace(f"/pools/{name}", "/applications/app_1")
    packages = {"properties": {"applicationPackages": [{"id": application, "version": "1.0"}]}}
    reply = rm("PATCH", name, packages, expect=409)
    assert reply.code == "InvalidApplicationPackageReferences" and "app_1 1.0" in reply.error["message"]


def test_an_empty_list_removes_accounts_and_mounts(rm):
    name = fresh("pool")
    mounts = [{"nfsMountConfiguration": {"source": "server:/data", "relativeMountPath": "data"}}]
    rm("PUT", name, properties(userAccounts=[{"name": "ada", "password": "pa55word-1"}], mountConfiguration=mounts),
       api_version="2024-07-01", expect=200)  # fmt: skip
    for member in ("userAccounts", "mountConfiguration"):
        assert member in rm("GET", name, api_version="2024-07-01", expect=200).json["properties"]
        seen = rm("PATCH", name, {"properties": {member: []}}, api_version="2024-07-01", expect=200)
        assert not seen.json["properties"].get(member)


def test_a_patch_resizes_and_changes_how_the_size_is_found(plane, rm):
    name = fresh("pool")
    rm("PUT", name, properties(), expect=200)
    steady(plane, name)
    rm("PATCH", name, {"properties": fixed(1, resizeTimeout="PT6M")}, expect=200)
    steady(plane, name)
    assert len(plane.all(f"/pools/{name}/nodes")) == 1
    seen = rm("PATCH", name, {"properties": formula(evaluationInterval="PT6M")}, expect=200).json["properties"]
    assert seen["scaleSettings"]["autoScale"]["evaluationInterval"] == "PT6M"
    wait_for(lambda: plane.get(f"/pools/{name}")["currentDedicatedNodes"] == 0)
    steady(plane, name)
    for _ in range(2):
        seen = rm("POST", f"{name}/disableAutoScale", expect=200).json["properties"]
        assert "fixedScale" in seen["scaleSettings"] and "autoScaleRun" not in seen
    assert rm("POST", f"{name}/stopResize", expect=409).code == "OperationInvalidForCurrentState"
    bad = rm("PATCH", name, {"properties": formula("$Target = ")}, expect=400)
    assert bad.code == "AutoScalingFormulaSyntaxError" and details(bad)["PropertyName"] == "properties.scaleSettings.autoScale.formula"


ADA = {"name": "ada", "password": "pa55word-1"}
AS_ADA = {"commandLine": "/bin/true", "userIdentity": {"userName": "ada"}}


def test_a_patch_of_the_start_task_may_name_an_account_of_the_pool(plane, rm):
    name = fresh("pool")
    rm("PUT", name, properties(userAccounts=[ADA], startTask=AS_ADA), expect=200)
    rm("PATCH", name, {"properties": {"startTask": {**AS_ADA, "commandLine": "/bin/echo"}}}, expect=200)
    seen = plane.get(f"/pools/{name}")
    assert seen["startTask"]["commandLine"] == "/bin/echo" and [u["name"] for u in seen["userAccounts"]] == ["ada"]
    other = {**AS_ADA, "userIdentity": {"userName": "bob"}}
    reply = rm("PATCH", name, {"properties": {"startTask": other}}, expect=400)
    assert "one of the 1 userAccounts" in reply.text


def test_a_patch_leaves_the_start_task_its_account(rm):
    name = fresh("pool")
    rm("PUT", name, properties(userAccounts=[ADA], startTask=AS_ADA), expect=200)
    reply = rm("PATCH", name, {"properties": {"userAccounts": []}}, api_version="2024-07-01", expect=400)
    assert details(reply)["PropertyName"] == "properties.startTask.userIdentity.username"
    both = {"userAccounts": [], "startTask": {"commandLine": "/bin/true"}}
    rm("PATCH", name, {"properties": both}, api_version="2024-07-01", expect=200)


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
def test_a_network_of_another_subscription_is_refused(rm, method):
    name, new = fresh("pool"), {"api_version": "2024-07-01"}
    subnet = f"/subscriptions/{'0' * 8}-1111-0000-0000-{'0' * 12}/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/v/subnets/s"
    body = properties(networkConfiguration={"subnetId": subnet})
    if method == "PATCH":
        rm("PUT", name, properties(), expect=200, **new)
        body = {"properties": {"networkConfiguration": {"subnetId": subnet}}}
    reply = rm(method, name, body, expect=400, **new)
    assert details(reply)["PropertyName"] == "properties.networkConfiguration.subnetId"


def test_a_patch_of_the_size_leaves_the_other_class_of_nodes(plane, rm):
    name = fresh("pool")
    rm("PUT", name, properties(**fixed(1)), expect=200)
    steady(plane, name)
    seen = rm("PATCH", name, {"properties": {"scaleSettings": {"fixedScale": {"targetLowPriorityNodes": 1}}}}, expect=200)
    assert seen.json["properties"]["scaleSettings"]["fixedScale"]["targetDedicatedNodes"] == 1
    steady(plane, name)
    seen = plane.get(f"/pools/{name}")
    assert (seen["currentDedicatedNodes"], seen["currentLowPriorityNodes"]) == (1, 1)
    rm("PATCH", name, {"properties": {"scaleSettings": {}}}, expect=200)
    seen = plane.get(f"/pools/{name}")
    assert (seen["targetDedicatedNodes"], seen["targetLowPriorityNodes"]) == (1, 1)


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
@pytest.mark.parametrize("scale", [{"resizeTimeout": "PT10M"}, {"nodeDeallocationOption": "TaskCompletion"}, {}])
def test_a_size_without_a_target_is_refused(plane, rm, method, scale):
    name = fresh("pool")
    rm("PUT", name, properties(), expect=200)
    body = {"properties": {**(properties()["properties"] if method == "PUT" else {}), "scaleSettings": {"fixedScale": scale}}}
    reply = rm(method, name, body, expect=400)
    assert details(reply)["PropertyName"] == "properties.scaleSettings.fixedScale"
    assert "targetDedicatedNodes or targetLowPriorityNodes" in reply.text


def test_a_resize_that_waits_for_a_task_goes_on_until_it_is_stopped(plane, rm):
    name, job = fresh("pool"), fresh("job")
    rm("PUT", name, properties(**fixed(1)), expect=200)
    plane.call("POST", "/jobs", {"id": job, "poolInfo": {"poolId": name}}, expect=201)
    plane.call("POST", f"/jobs/{job}/tasks", {"id": "t", "commandLine": "/bin/sleep 600"}, expect=201)
    wait_for(lambda: plane.get(f"/jobs/{job}/tasks/t")["state"] == "running")
    steady(plane, name)
    seen = rm("PATCH", name, {"properties": fixed(0, nodeDeallocationOption="TaskCompletion")}, expect=200).json["properties"]
    assert (seen["allocationState"], seen["resizeOperationStatus"]["nodeDeallocationOption"]) == ("Resizing", "TaskCompletion")
    for wanted in (fixed(2), formula()):
        assert rm("PATCH", name, {"properties": wanted}, expect=409).code == "PoolBeingResized"
    rm("PATCH", name, {"properties": fixed(0)}, expect=200)  # so it will be
    assert rm("POST", f"{name}/stopResize", expect=200).json["properties"]["allocationState"] in ("Stopping", "Steady")
    steady(plane, name)
    assert rm("GET", name).json["properties"]["resizeOperationStatus"]["errors"][0]["code"] == "ResizeStopped"
    plane.call("DELETE", f"/jobs/{job}", expect=202)


def test_what_cannot_be_changed_is_refused_by_name(rm):
    name = fresh("pool")
    rm("PUT", name, properties(), expect=200)
    reply = rm("PATCH", name, {"properties": {"networkConfiguration": {"subnetId": "/x"}}}, expect=400)
    assert reply.code == "PropertyCannotBeUpdated" and details(reply)["PropertyName"] == "properties.networkConfiguration"
    other = copy.deepcopy(properties())
    other["properties"]["deploymentConfiguration"]["virtualMachineConfiguration"]["imageReference"] = {**IMAGE, "sku": "16.04-LTS"}
    other["properties"]["deploymentConfiguration"]["virtualMachineConfiguration"]["nodeAgentSkuId"] = "batch.node.ubuntu 16.04"
    assert rm("PUT", name, other, expect=400).code == "PropertyCannotBeUpdated"
    assert rm("PUT", name, properties(displayName="again"), expect=200).json["properties"]["displayName"] == "again"
    rm("PATCH", name, {"properties": {"taskSlotsPerNode": 3}}, expect=400)
    rm("PATCH", name, {"properties": {"taskSlotsPerNode": 3}}, api_version="2024-07-01", expect=200)


def test_nodes_fix_what_they_are_made_of(rm):
    name, new = fresh("pool"), {"api_version": "2024-07-01"}
    rm("PUT", name, properties(**fixed(1)), expect=200)
    for member, value in (("vmSize", "standard_d4s_v3"), ("taskSlotsPerNode", 3)):
        reply = rm("PATCH", name, {"properties": {member: value}}, expect=400, **new)
        assert reply.code == "PropertyCannotBeUpdated" and details(reply)["PropertyName"] == f"properties.{member}"
        assert "has no nodes" in reply.text
    rm("PATCH", name, {"properties": {"vmSize": "STANDARD_D2S_V3", "displayName": "x"}}, expect=200, **new)
    rm("DELETE", name, expect=202)


def test_tags_are_kept(ground, plane, rm):
    name, new = fresh("pool"), {"api_version": "2024-07-01"}
    seen = rm("PUT", name, {"tags": {"team": "vision"}, **properties()}, expect=200, **new).json
    assert seen["tags"] == {"team": "vision"} == rm("GET", name, expect=200, **new).json["tags"]
    steady(plane, name)
    (listed,) = [p for p in ground.accounts.call("GET", f"/{ground.name}/pools", expect=200, **new).json["value"] if p["name"] == name]
    assert listed["tags"] == {"team": "vision"}
    assert "tags" not in rm("GET", name, expect=200).json, "an older version does not know them"
    assert "vision" not in str(plane.get(f"/pools/{name}"))
    plane.call("PATCH", f"/pools/{name}", {"metadata": [{"name": "a", "value": "b"}]}, expect=200)
    rm("PATCH", name, {"properties": {"displayName": "x"}}, expect=200, **new)
    assert rm("GET", name, expect=200, **new).json["tags"] == {"team": "vision"}
    assert rm("PATCH", name, {"tags": {"a": "b"}}, expect=200, **new).json["tags"] == {"a": "b"}
    assert not rm("PUT", name, properties(), expect=200, **new).json.get("tags"), "a PUT replaces"
    rm("DELETE", name, expect=202)


def test_conditions(rm):
    name = fresh("pool")
    tag = rm("PUT", name, properties(), headers={"If-None-Match": "*"}, expect=200).headers["etag"]
    assert rm("PUT", name, properties(), headers={"If-None-Match": "*"}, expect=412).code == "ConditionNotMet"
    body = {"properties": {"metadata": []}}
    rm("PATCH", name, body, headers={"If-Match": 'W/"0x1"'}, expect=412)
    rm("PATCH", name, body, headers={"If-Match": tag}, expect=200)
    rm("PATCH", name, body, headers={"If-Match": tag}, expect=412)
    rm("PUT", fresh("pool"), properties(), headers={"If-Match": "*"}, expect=412)


def test_a_pool_is_deleted_and_asked_for(ground, rm):
    name = fresh("pool")
    rm("DELETE", name, expect=204)
    rm("PUT", name, properties(), expect=200)
    reply = rm("DELETE", name, expect=202)
    assert "/poolOperationResults/" in reply.headers["location"]
    assert ground.accounts.follow(reply).status == 200
    assert rm("GET", name, expect=404).code == "PoolNotFound"
    assert rm("PATCH", name, {"properties": {}}, expect=404).code == "PoolNotFound"


def contained(image):
    containers = {"type": "DockerCompatible", "containerImageNames": [image]}
    vm = {**MACHINE["virtualMachineConfiguration"], "containerConfiguration": containers}
    return {"deploymentConfiguration": {"virtualMachineConfiguration": vm}}


# --- bad bodies ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "more, place",
    [
        ({"vmSize": None}, "properties.vmSize"),
        ({"deploymentConfiguration": None}, "properties.deploymentConfiguration.virtualMachineConfiguration"),
        ({"interNodeCommunication": "yes"}, "properties.interNodeCommunication"),
        (fixed(-1), "properties.scaleSettings.fixedScale.targetDedicatedNodes"),
        (fixed(resizeTimeout="PT1M"), "properties.scaleSettings.fixedScale.resizeTimeout"),
        ({"scaleSettings": {**fixed()["scaleSettings"], **formula()["scaleSettings"]}}, "properties.scaleSettings"),
        (formula(evaluationInterval="PT1S"), "properties.scaleSettings.autoScale.evaluationInterval"),
        ({"startTask": {"commandLine": ""}}, "properties.startTask.commandLine"),
        ({"startTask": {"resourceFiles": []}}, None),
        ({"certificates": [{"id": "x"}]}, "properties.certificates[0].id"),
        ({"applicationPackages": [{"id": "/a/"}]}, "properties.applicationPackages[0].id"),
        ({"metadata": [{"name": "a"}]}, "properties.metadata[0].value"),
        ({"taskSlotsPerNode": 1000}, "properties.taskSlotsPerNode"),
        ({"mountConfiguration": [{}]}, "properties.mountConfiguration[0]"),
        (
            contained("-v/:/host"),
            "properties.deploymentConfiguration.virtualMachineConfiguration.containerConfiguration.containerImageNames[0]",
        ),
    ],
)  # fmt: skip
def test_wrong_values_are_refused_with_their_place(rm, more, place):
    name = fresh("pool")
    if place is None:
        rm("PUT", name, properties(**more), expect=200)
        return
    reply = rm("PUT", name, properties(**more), expect=400)
    assert reply.code in ("InvalidPropertyValue", "InvalidRequestBody") and details(reply)["PropertyName"] == place
    rm("GET", name, expect=404)


def test_names_and_identities(rm):
    assert details(rm("PUT", "a.b", properties(), expect=400))["PropertyName"] == "name"
    body = {**properties(), "identity": {"type": "UserAssigned"}}
    assert details(rm("PUT", fresh("pool"), body, expect=400))["PropertyName"] == "identity.type"
    assert rm("PUT", fresh("pool"), properties(), expect=200, api_version=RM_VERSION).json["identity"] == {"type": "None"}
