# SPDX-License-Identifier: MIT
"""Pools of Azure Batch on local nodes: how they are made, shown, changed, resized and deleted."""

import re
from datetime import datetime, timedelta, timezone

import pytest
from support.batch import ETAG, V, VERSIONS, before
from support.testing import instant6
from support.waiting import wait_for
from support.world import instant

IMAGE = {"publisher": "canonical", "offer": "0001-com-ubuntu-server-jammy", "sku": "22_04-lts"}
VM = {"imageReference": IMAGE, "nodeAgentSKUId": "batch.node.ubuntu 22.04"}
WORKER = [{"name": "worker", "password": "pa55word-1"}]


def pool_body(name, **more):
    return {"id": name, "vmSize": "STANDARD_D1_V2", "virtualMachineConfiguration": VM, **more}


class Pools:
    """The pools of an account, with names of their own, removed at the end."""

    def __init__(self, plane):
        self.plane, self.n, self.made = plane, 0, []

    def name(self):
        self.n += 1
        return f"Pool-{self.n}"

    def add(self, plane=None, **more):
        name = self.name()
        reply = (plane or self.plane).call("POST", "/pools", pool_body(name, **more), expect=201)
        self.made.append(name)
        return name, reply

    def get(self, name, **params):
        return self.plane.get(f"/pools/{name}", **params)

    def steady(self, name, **wanted):
        """Waits until it is steady, and has what is wanted."""

        def look():
            p = self.get(name)
            return p["allocationState"] == "steady" and all(p[k] == v for k, v in wanted.items()) and p

        return wait_for(look)

    def nodes(self, name, state=None, n=None):
        def look():
            nodes = self.plane.all(f"/pools/{name}/nodes")
            good = state is None or all(x["state"] == state for x in nodes)
            return good and (n is None or len(nodes) == n) and nodes

        return wait_for(look) if n else self.plane.all(f"/pools/{name}/nodes")

    def remove(self):
        for name in self.made:
            self.plane.call("DELETE", f"/pools/{name}", validate=False)
        wait_for(lambda: not self.plane.all("/pools"))


@pytest.fixture
def pools(ground, temporary):
    return temporary(Pools(ground.plane))


# --- adding and showing ----------------------------------------------------------------------------------------------


def test_a_pool_is_shown_with_its_defaults(pools):
    name, reply = pools.add()
    assert reply.content == b"" and ETAG.fullmatch(reply.headers["etag"])
    assert reply.headers["location"] == reply.headers["dataserviceid"] == f"{pools.plane.url}/pools/{name}"
    p = pools.steady(name)
    assert p["odata.metadata"] == f"{pools.plane.url}/$metadata#pools/@Element"
    assert (p["id"], p["url"], p["eTag"]) == (name, f"{pools.plane.url}/pools/{name}", reply.headers["etag"])
    assert (p["state"], p["vmSize"], p["resizeTimeout"]) == ("active", "standard_d1_v2", "PT15M")
    assert [p[k] for k in ("targetDedicatedNodes", "currentDedicatedNodes", "targetLowPriorityNodes", "currentLowPriorityNodes")] == [0] * 4
    assert p["enableAutoScale"] is p["enableInterNodeCommunication"] is False
    assert p["taskSlotsPerNode"] == 1 and p["taskSchedulingPolicy"] == {"nodeFillType": "Spread"}
    assert p["virtualMachineConfiguration"]["imageReference"] == {**IMAGE, "version": "latest"}
    assert "resizeErrors" not in p and "startTask" not in p
    assert list(p)[1:5] == ["id", "url", "eTag", "lastModified"]


def test_names_are_found_in_any_case(pools):
    name, _ = pools.add()
    assert pools.get(name.upper())["id"] == name
    pools.plane.refused(409, "PoolExists", "POST", "/pools", pool_body(name.lower()))


def test_secrets_are_not_shown(pools):
    name, _ = pools.add(
        userAccounts=[{"name": "helper", "password": "kept-to-itself"}],
        mountConfiguration=[{"azureFileShareConfiguration": {"accountName": "acct", "azureFileUrl": "https://acct.file.core.windows.net/s",
                                                             "accountKey": "a2VwdC10by1pdHNlbGY=", "relativeMountPath": "s"}}],
    )  # fmt: skip
    reply = pools.plane.call("GET", f"/pools/{name}", expect=200, validate=False)  # the document wants them in replies, too
    text = reply.content
    assert b"kept-to-itself" not in text and b"a2VwdC" not in text
    assert reply.json["userAccounts"] == [{"name": "helper", "elevationLevel": "nonadmin"}]


@pytest.mark.parametrize("version", VERSIONS)
def test_each_version_has_its_pools(pools, version):
    plane = pools.plane.at(version)
    name, _ = pools.add(plane)
    p = plane.get(f"/pools/{name}")
    slots = "maxTasksPerNode" if before(version, V["12.0"]) else "taskSlotsPerNode"
    assert p[slots] == 1
    assert [x["id"] for x in plane.all("/pools")] == [name]
    plane.call("HEAD", f"/pools/{name}", expect=200)
    plane.call("DELETE", f"/pools/{name}", expect=202)


def test_what_is_wrong_with_a_pool_is_named(pools):
    def refused(code, status=400, **more):
        return pools.plane.refused(status, code, "POST", "/pools", pool_body(pools.name(), **more))

    unknown = {**VM, "imageReference": {**IMAGE, "sku": "nope"}}
    values = refused("InvalidPropertyValue", virtualMachineConfiguration=unknown)
    assert values["PropertyName"].endswith("imageReference")
    assert values["Reason"].endswith("is not supported. Of this offer there are: 22_04-lts, 22_04-lts-gen2")
    nobodys = {**VM, "imageReference": {**IMAGE, "offer": "nope"}}
    assert "`az batch pool supported-images list`" in refused("InvalidPropertyValue", virtualMachineConfiguration=nobodys)["Reason"]
    assert "PropertyName" in refused("InvalidPropertyValue", resizeTimeout="PT1M")
    other = refused("InvalidPropertyValue", virtualMachineConfiguration={**VM, "nodeAgentSKUId": "batch.node.ubuntu 18.04"})
    assert other["PropertyName"] == "virtualMachineConfiguration.nodeAgentSKUId"
    assert "batch.node.ubuntu 18.04" in other["Reason"] and "it has batch.node.ubuntu 22.04" in other["Reason"]
    refused("InvalidPropertyValue", targetDedicatedNodes=-1)
    refused("InvalidPropertyValue", taskSlotsPerNode=0)
    refused("InvalidRequestBody", noSuchProperty=1)
    body = pool_body(pools.name())
    del body["vmSize"]
    pools.plane.refused(400, "MissingRequiredProperty", "POST", "/pools", body)


@pytest.mark.parametrize("image", ["-v/:/host", "docker://--privileged", "a b", "busy\x07box", "x" * 1025, ""])
def test_images_of_a_pool_are_names_as_those_of_tasks_are(pools, image):
    """They become arguments of the runtime on the node."""
    containers = {"type": "dockerCompatible", "containerImageNames": ["busybox:1", image]}
    body = pool_body(pools.name(), virtualMachineConfiguration={**VM, "containerConfiguration": containers})
    values = pools.plane.refused(400, "InvalidPropertyValue", "POST", "/pools", body)
    assert values["PropertyName"] == "virtualMachineConfiguration.containerConfiguration.containerImageNames[1]"


@pytest.mark.parametrize(
    "publisher, offer, sku, agent",
    [
        ("canonical", "ubuntu-24_04-lts", "server", "batch.node.ubuntu 24.04"),
        ("microsoft-dsvm", "ubuntu-hpc", "2404", "batch.node.ubuntu 24.04"),
        ("almalinux", "almalinux-x86_64", "9-gen2", "batch.node.el 9"),
        ("OpenLogic", "CentOS", "7_9", "batch.node.centos 7"),
    ],
)
def test_images_of_today_and_their_agents_are_known(pools, publisher, offer, sku, agent):
    reference = {"publisher": publisher, "offer": offer, "sku": sku, "version": "latest"}
    pools.add(virtualMachineConfiguration={"imageReference": reference, "nodeAgentSKUId": agent})
    listed = pools.plane.all("/supportedimages")
    assert agent in [i["nodeAgentSKUId"] for i in listed if i["imageReference"]["sku"] == sku]


def test_what_only_windows_has_is_refused_on_linux(pools):
    account = {"name": "me", "password": "pw", "windowsUserConfiguration": {"loginMode": "batch"}}
    body = pool_body(pools.name(), userAccounts=[account])
    values = pools.plane.refused(400, "InvalidPropertyValue", "POST", "/pools", body)
    assert values["PropertyName"] == "userAccounts[0].windowsUserConfiguration" and "Windows" in values["Reason"]
    windows = {"imageReference": {"publisher": "MicrosoftWindowsServer", "offer": "WindowsServer", "sku": "2022-Datacenter", "version": "latest"},
               "nodeAgentSKUId": "batch.node.windows amd64"}  # fmt: skip
    pools.add(userAccounts=[account], virtualMachineConfiguration=windows)
    name, _ = pools.add()
    values = pools.plane.at(V["20.0"]).refused(400, "InvalidPropertyValue", "PATCH", f"/pools/{name}", {"userAccounts": [account]})
    assert values["PropertyName"] == "userAccounts[0].windowsUserConfiguration"


@pytest.mark.parametrize(
    "extension, place",
    [
        ({"publisher": "Microsoft.Azure.Extensions", "type": "CustomScript"}, "[0]"),
        ({"publisher": "Microsoft.Azure.Extensions", "type": "CustomScript", "settings": {"commandToExecute": "ls"}}, "[0].settings"),
        ({"publisher": "Microsoft.HpcCompute", "type": "NvidiaGpuDriverLinux", "protectedSettings": {"a": "b"}}, "[0].protectedSettings"),
    ],
    ids=["a script", "its settings", "settings of a driver"],
)
def test_extensions_that_nobody_would_install_are_refused(pools, extension, place):
    vm = {**VM, "extensions": [{"name": "e", **extension}]}
    values = pools.plane.refused(400, "InvalidPropertyValue", "POST", "/pools", pool_body(pools.name(), virtualMachineConfiguration=vm))
    assert values["PropertyName"] == f"virtualMachineConfiguration.extensions{place}" and "no extensions" in values["Reason"]


@pytest.mark.parametrize(
    "publisher, kind", [("microsoft.hpccompute", "NvidiaGpuDriverLinux"), ("Microsoft.Azure.Geneva", "GenevaMonitoring")]
)
def test_extensions_whose_absence_no_task_notices_are_shown(pools, publisher, kind):
    extension = {"name": "e", "publisher": publisher, "type": kind, "settings": {}}
    name, _ = pools.add(virtualMachineConfiguration={**VM, "extensions": [extension]})
    del extension["settings"]
    assert pools.get(name)["virtualMachineConfiguration"]["extensions"] == [extension]


CONTAINED = {"commandLine": "/bin/true", "containerSettings": {"imageName": "busybox"}}
NOBODYS = {"commandLine": "/bin/true", "userIdentity": {"username": "nobodys"}}


@pytest.mark.parametrize(
    "start, place, says",
    [
        (CONTAINED, "startTask.containerSettings", "containerConfiguration; this one has none"),
        (NOBODYS, "startTask.userIdentity.username", 'is "nobodys"; it must be the name of one of the 0 userAccounts'),
    ],
    ids=["a container", "a user account"],
)
def test_a_start_task_asks_for_no_more_than_its_pool_has(pools, start, place, says):
    def named(reply):
        assert place in reply["PropertyName"] and says in reply["Reason"]

    plane = pools.plane
    named(plane.refused(400, "InvalidPropertyValue", "POST", "/pools", pool_body(pools.name(), startTask=start)))
    name, _ = pools.add(plane)
    named(plane.refused(400, "InvalidPropertyValue", "PATCH", f"/pools/{name}", {"startTask": start}))
    whole = {"startTask": start, "certificateReferences": [], "applicationPackageReferences": [], "metadata": []}
    named(plane.refused(400, "InvalidPropertyValue", "POST", f"/pools/{name}/updateproperties", whole))
    spec = {k: v for k, v in pool_body("x", startTask=start).items() if k != "id"}
    auto = {"autoPoolSpecification": {"poolLifetimeOption": "job", "pool": spec}}
    named(plane.refused(400, "InvalidPropertyValue", "POST", "/jobs", {"id": pools.name(), "poolInfo": auto}))
    plane.call("DELETE", f"/pools/{name}", expect=202)
    pools.plane.refused(404, "PoolNotFound", "GET", "/pools/nope")
    pools.plane.call("HEAD", "/pools/nope", expect=404)


def test_lists_are_filtered_and_paged(pools):
    names = [pools.add()[0] for _ in range(5)]
    assert [p["id"] for p in pools.plane.all("/pools", maxresults=2)] == names
    few = pools.plane.all("/pools", **{"$filter": f"startswith(id, '{names[0][:-1]}') and state eq 'active'", "$select": "id, state"})
    assert few == [{"id": n, "state": "active"} for n in names]
    later = (datetime.now(timezone.utc) + timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    assert pools.plane.all("/pools", **{"$filter": f"creationTime gt datetime'{later}'"}) == []
    assert len(pools.plane.all("/pools", **{"$filter": "vmSize eq 'standard_d1_v2' and enableAutoScale eq false"})) == 5
    pools.plane.refused(400, "InvalidQueryParameterValue", "GET", "/pools?$filter=nope eq 1")


def test_conditions(pools):
    name, reply = pools.add()
    etag = reply.headers["etag"]
    pools.plane.call("GET", f"/pools/{name}", headers={"If-None-Match": etag}, expect=304, validate=False)
    pools.plane.call("GET", f"/pools/{name}", headers={"If-Match": "0x1234567890ABCDE"}, expect=412)
    pools.plane.call("DELETE", f"/pools/{name}", headers={"If-Match": "0x1234567890ABCDE"}, expect=412)
    pools.plane.call("DELETE", f"/pools/{name}", headers={"If-Match": etag}, expect=202)


# --- changes ---------------------------------------------------------------------------------------------------------


def test_patch_replaces_what_it_gives(pools):
    name, _ = pools.add(metadata=[{"name": "a", "value": "1"}], startTask={"commandLine": "/bin/true"})
    before_ = pools.get(name)
    reply = pools.plane.call("PATCH", f"/pools/{name}", {"metadata": [{"name": "b", "value": "2"}]}, expect=200)
    p = pools.get(name)
    assert p["metadata"] == [{"name": "b", "value": "2"}] and p["startTask"] == before_["startTask"]
    assert p["eTag"] == reply.headers["etag"] != before_["eTag"]
    pools.plane.call("PATCH", f"/pools/{name}", {"metadata": []}, expect=200)
    assert "metadata" not in pools.get(name)


def test_what_its_nodes_are_made_of_changes_only_without_nodes(pools):
    newest = pools.plane.at(V["20.0"])
    changes = {"displayName": "x", "vmSize": "standard_d2_v3", "taskSlotsPerNode": 2, "userAccounts": WORKER}
    name, _ = pools.add(targetDedicatedNodes=1)
    pools.nodes(name, "idle", 1)
    for member, value in changes.items():
        values = newest.refused(409, "OperationInvalidForCurrentState", "PATCH", f"/pools/{name}", {member: value})
        assert values["PropertyName"] == member and "has no nodes" in values["Reason"]
    before_ = newest.get(f"/pools/{name}")
    same = {"vmSize": before_["vmSize"].upper(), "taskSlotsPerNode": before_["taskSlotsPerNode"]}
    newest.call("PATCH", f"/pools/{name}", {**same, "metadata": [{"name": "a", "value": "1"}]}, expect=200)
    pools.steady(name)
    pools.plane.call("POST", f"/pools/{name}/resize", {"targetDedicatedNodes": 0}, expect=202)
    pools.steady(name, currentDedicatedNodes=0)
    newest.call("PATCH", f"/pools/{name}", changes, expect=200)
    (found,) = newest.all("/pools", **{"$filter": f"id eq '{name}' and vmSize eq 'standard_d2_v3'"})
    assert found["vmSize"] == "standard_d2_v3" and found["displayName"] == "x" and found["taskSlotsPerNode"] == 2
    pools.steady(name)
    pools.plane.call("POST", f"/pools/{name}/resize", {"targetDedicatedNodes": 1}, expect=202)
    pools.nodes(name, "idle", 1)


def test_the_account_of_a_start_task_stays(pools):
    newest = pools.plane.at(V["20.0"])
    start = {"commandLine": "/bin/true", "userIdentity": {"username": WORKER[0]["name"]}}
    name, _ = pools.add(userAccounts=WORKER, startTask=start)
    other = [{"name": "other", "password": "pa55word-2"}]
    values = newest.refused(400, "InvalidPropertyValue", "PATCH", f"/pools/{name}", {"userAccounts": other})
    assert values["PropertyName"] == "startTask.userIdentity.username"


NFS = [{"nfsMountConfiguration": {"source": "server:/data", "relativeMountPath": "data"}}]


@pytest.mark.parametrize("member, value", [("userAccounts", WORKER), ("mountConfiguration", NFS)])
def test_an_empty_list_removes_what_there_was(pools, member, value):
    newest = pools.plane.at(V["20.0"])
    name, _ = pools.add(**{member: value})
    assert member in newest.get(f"/pools/{name}")
    newest.call("PATCH", f"/pools/{name}", {member: []}, expect=200)
    assert member not in newest.get(f"/pools/{name}")


def test_updateproperties_replaces_all(pools):
    name, _ = pools.add(metadata=[{"name": "a", "value": "1"}], startTask={"commandLine": "/bin/true"})
    body = {"certificateReferences": [], "applicationPackageReferences": [], "metadata": [{"name": "c", "value": "3"}]}
    pools.plane.call("POST", f"/pools/{name}/updateproperties", body, expect=204)
    p = pools.get(name)
    assert p["metadata"] == [{"name": "c", "value": "3"}] and "startTask" not in p
    pools.plane.refused(400, "MissingRequiredProperty", "POST", f"/pools/{name}/updateproperties", {"metadata": []})


# --- sizes -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("where, more", [
    ("networkConfiguration.subnetId",
     {"networkConfiguration": {"subnetId": f"/subscriptions/{'0' * 8}-0000-0000-0000-{'0' * 12}/resourceGroups/g/providers/"
                                           "Microsoft.Network/virtualNetworks/v/subnets/s"}}),
    ("virtualMachineConfiguration.imageReference.virtualMachineImageId",
     {"virtualMachineConfiguration": {**VM, "imageReference": {"virtualMachineImageId": "/subscriptions/s/resourceGroups/g/"
                                      "providers/Microsoft.Compute/gallery/g/images/i"}}}),
], ids=["subnet", "image"])  # fmt: skip
def test_what_can_be_nowhere_is_refused(pools, where, more):
    values = pools.plane.refused(400, "InvalidPropertyValue", "POST", "/pools", pool_body(pools.name(), **more))
    assert values["PropertyName"] == where
    name, _ = pools.add()
    values = pools.plane.at(V["20.0"]).refused(400, "InvalidPropertyValue", "PATCH", f"/pools/{name}", more)
    assert values["PropertyName"] == where


def test_nodes_show_the_endpoints_of_their_pool(pools):
    rules = [{"priority": 150, "access": "allow", "sourceAddressPrefix": "*"}]
    nat = {"name": "web", "protocol": "udp", "backendPort": 6444, "frontendPortRangeStart": 60000,
           "frontendPortRangeEnd": 61000, "networkSecurityGroupRules": rules}  # fmt: skip
    network = {"endpointConfiguration": {"inboundNATPools": [nat]}}
    name, _ = pools.add(targetDedicatedNodes=1, networkConfiguration=network)
    (node,) = wait_for(lambda: pools.plane.all(f"/pools/{name}/nodes"), what="a node")
    shown = [(e["name"], e["protocol"], e["backendPort"]) for e in node["endpointConfiguration"]["inboundEndpoints"]]
    assert shown == [("web.0", "udp", 6444), ("SSHRule.0", "tcp", 22)]


def test_a_pool_gets_nodes_of_both_classes(pools):
    name, _ = pools.add(targetDedicatedNodes=1, targetLowPriorityNodes=1, taskSlotsPerNode=4)
    p = pools.steady(name, currentDedicatedNodes=1, currentLowPriorityNodes=1)
    nodes = pools.nodes(name, "idle", 2)
    assert sorted(n["isDedicated"] for n in nodes) == [False, True]
    for n in nodes:
        assert n["url"] == f"{p['url']}/nodes/{n['id']}" and n["affinityId"] == f"TVM:{n['id']}"
        assert (n["schedulingState"], n["vmSize"], n["runningTasksCount"]) == ("enabled", "standard_d1_v2", 0)
        assert n["virtualMachineInfo"]["imageReference"]["sku"] == IMAGE["sku"]
        one = pools.plane.get(f"/pools/{name}/nodes/{n['id']}")
        assert one.pop("odata.metadata").endswith("#nodes/@Element") and one == n
    counts = pools.plane.get("/nodecounts", **{"$filter": f"poolId eq '{name}'"})["value"]
    assert [(c["poolId"], c["dedicated"]["idle"], c["dedicated"]["total"], c["lowPriority"]["idle"]) for c in counts] == [(name, 1, 1, 1)]
    pools.plane.refused(404, "NodeNotFound", "GET", f"/pools/{name}/nodes/nope")


def test_nodes_are_listed_in_pages(pools):
    name, _ = pools.add(targetDedicatedNodes=2, targetLowPriorityNodes=1)
    ids = [n["id"] for n in pools.nodes(name, "idle", 3)]
    assert ids == sorted(ids, key=str.lower)
    path, seen = f"/pools/{name}/nodes", []
    page = pools.plane.get(path, maxresults=1)
    while page:
        (node,) = page["value"]
        seen.append(node["id"])
        assert len(seen) < 3 or "odata.nextLink" not in page
        more = "odata.nextLink" in page
        page = pools.plane.get(path, maxresults=1, **{"$skiptoken": node["id"].upper()}) if more else None
    assert seen == ids
    assert pools.plane.all(f"{path}?$filter=state eq 'offline'") == []
    assert pools.plane.get(f"{path}/{ids[1].upper()}")["id"] == ids[1]


def test_a_pool_is_resized(pools):
    name, _ = pools.add(targetDedicatedNodes=1)
    pools.steady(name, currentDedicatedNodes=1)
    body = {"targetDedicatedNodes": 2, "resizeTimeout": "PT7M", "nodeDeallocationOption": "taskcompletion"}
    reply = pools.plane.call("POST", f"/pools/{name}/resize", body, expect=202)
    assert reply.headers["dataserviceid"] == f"{pools.plane.url}/pools/{name}/resize"
    p = pools.steady(name, currentDedicatedNodes=2)
    assert (p["eTag"], p["resizeTimeout"]) == (reply.headers["etag"], "PT7M")
    pools.plane.call("POST", f"/pools/{name}/resize", {"targetDedicatedNodes": 0}, expect=202)
    pools.steady(name, currentDedicatedNodes=0)


def test_more_nodes_than_there_are_end_in_an_error(pools, daemon):
    daemon.expect_log(r"warn pool\.short_of_nodes")
    name, _ = pools.add(targetDedicatedNodes=5000)
    p = pools.steady(name)
    assert [e["code"] for e in p["resizeErrors"]] == ["AccountCoreQuotaReached"]
    assert p["targetDedicatedNodes"] == 5000 > p["currentDedicatedNodes"]


def test_stopping_what_does_not_move_is_refused(pools):
    name, _ = pools.add()
    pools.steady(name)
    pools.plane.refused(409, "OperationInvalidForCurrentState", "POST", f"/pools/{name}/stopresize")


def test_nodes_are_removed_by_name(pools):
    name, _ = pools.add(targetDedicatedNodes=2)
    pools.steady(name, currentDedicatedNodes=2)
    first, second = pools.nodes(name, "idle", 2)
    values = {"nodeList": [first["id"], "nope"]}
    pools.plane.refused(404, "NodeNotFound", "POST", f"/pools/{name}/removenodes", values)
    pools.plane.call("POST", f"/pools/{name}/removenodes", {"nodeList": [first["id"].upper()]}, expect=202)
    assert pools.steady(name, currentDedicatedNodes=1)["targetDedicatedNodes"] == 1
    assert [n["id"] for n in pools.nodes(name)] == [second["id"]]


def test_a_deleted_pool_is_gone_with_its_nodes(pools):
    name, _ = pools.add(targetDedicatedNodes=1)
    pools.nodes(name, "idle", 1)
    pools.plane.call("DELETE", f"/pools/{name}", expect=202)
    reply = pools.plane.call("DELETE", f"/pools/{name}", expect={404, 409})
    assert reply.json["code"] in ("PoolNotFound", "PoolBeingDeleted")
    wait_for(lambda: pools.plane.call("GET", f"/pools/{name}").status == 404)
    pools.plane.call("POST", "/pools", pool_body(name), expect=201)


# --- nodes -----------------------------------------------------------------------------------------------------------


def test_a_node_is_restarted(pools):
    name, _ = pools.add(targetDedicatedNodes=1)
    (node,) = pools.nodes(name, "idle", 1)
    path = f"/pools/{name}/nodes/{node['id']}"
    pools.plane.call("POST", f"{path}/reboot", {"nodeRebootOption": "terminate"}, expect=202)
    wait_for(lambda: pools.plane.get(path)["stateTransitionTime"] != node["stateTransitionTime"])
    (again,) = pools.nodes(name, "idle", 1)
    assert again["allocationTime"] == node["allocationTime"]
    assert instant6(node["allocationTime"]) <= instant6(node["lastBootTime"]) < instant6(again["lastBootTime"])
    since = f"$filter=lastBootTime gt DateTime'{node['lastBootTime']}'"
    assert [n["id"] for n in pools.plane.all(f"/pools/{name}/nodes?{since}")] == [node["id"]]
    pools.plane.refused(409, "OperationNotValidOnNode", "POST", f"{path}/reimage", {})
    newest = pools.plane.at(V["20.0"])
    newest.call("POST", f"{path}/reimage", {}, expect=202)
    pools.nodes(name, "idle", 1)
    newest.call("POST", f"{path}/deallocate", {}, expect=202)
    wait_for(lambda: newest.get(path)["state"] == "deallocated")
    newest.call("POST", f"{path}/start", expect=202)
    pools.nodes(name, "idle", 1)
    newest.refused(409, "OperationInvalidForCurrentState", "POST", f"{path}/start")


def test_scheduling_is_disabled_and_enabled(pools):
    name, _ = pools.add(targetDedicatedNodes=1)
    (node,) = pools.nodes(name, "idle", 1)
    path = f"/pools/{name}/nodes/{node['id']}"
    pools.plane.call("POST", f"{path}/disablescheduling", {"nodeDisableSchedulingOption": "taskcompletion"}, expect=200)
    off = pools.plane.get(path)
    assert (off["state"], off["schedulingState"]) == ("offline", "disabled")
    pools.plane.refused(409, "NodeAlreadyInTargetSchedulingState", "POST", f"{path}/disablescheduling", {})
    pools.plane.call("POST", f"{path}/enablescheduling", expect=200)
    assert pools.plane.get(path)["state"] == "idle"


def test_where_people_log_in(pools):
    name, _ = pools.add(targetDedicatedNodes=1)
    (node,) = pools.nodes(name, "idle", 1)
    path = f"/pools/{name}/nodes/{node['id']}"
    at = pools.plane.get(f"{path}/remoteloginsettings")
    assert re.fullmatch(r"[0-9.]+", at["remoteLoginIPAddress"]) and at["remoteLoginPort"] > 0
    pools.plane.refused(409, "OperationNotValidOnNode", "GET", f"{path}/rdp")
    assert pools.plane.get(f"{path}/extensions")["value"] == []
    pools.plane.refused(404, "ResourceNotFound", "GET", f"{path}/extensions/nope")


def test_users_of_a_node(pools):
    name, _ = pools.add(targetDedicatedNodes=1)
    (node,) = pools.nodes(name, "idle", 1)
    path = f"/pools/{name}/nodes/{node['id']}"
    key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGJ2bRrCVd0Zq0aYkZ8yP0Yq2g9VvHq7xq5C3VtGQh1M somebody"
    user = {"name": "ada", "sshPublicKey": key, "isAdmin": True}
    reply = pools.plane.call("POST", f"{path}/users", user, expect=201)
    assert reply.headers["location"].endswith(f"{path}/users/ada")
    pools.plane.refused(409, "NodeUserExists", "POST", f"{path}/users", {"name": "ADA", "sshPublicKey": key})
    pools.plane.call("PUT", f"{path}/users/ada", {"password": "another-1"}, expect=200)
    pools.plane.refused(404, "NodeUserNotFound", "PUT", f"{path}/users/bob", {"password": "another-1"})
    pools.plane.refused(400, "MissingRequiredProperty", "POST", f"{path}/users", {"name": "eve"})
    pools.plane.call("DELETE", f"{path}/users/ada", expect=200)
    pools.plane.refused(404, "NodeUserNotFound", "DELETE", f"{path}/users/ada")


# --- beside clusters ---


def test_people_see_pools_and_their_nodes(pools, daemon):
    name, _ = pools.add(targetDedicatedNodes=1)
    (node,) = pools.nodes(name, "idle", 1)
    machines = daemon.call("GET", "/batchaid/nodes", api_version=None).json["value"]
    assert [m["cluster"] for m in machines if m["node"] == node["id"]] == [name]
    events = daemon.call("GET", "/batchaid/events", params={"max": 1000}, api_version=None).json["value"]
    seen = {(e["kind"], e["name"], e["workspace"]) for e in events}
    assert ("Batch pool", name, pools.plane.account) in seen and ("node", node["id"], pools.plane.account) in seen
    assert daemon.call("GET", "/batchaid/queue", api_version=None).json["value"] == []


# --- start tasks -----------------------------------------------------------------------------------------------------

SHOW = "/bin/sh -c 'echo \"$AZ_BATCH_POOL_ID $FRUIT\"; pwd; ls \"$AZ_BATCH_NODE_ROOT_DIR\"; echo said >&2'"


def test_a_start_task_runs_before_a_node_is_idle(pools):
    task = {"commandLine": SHOW, "environmentSettings": [{"name": "FRUIT", "value": "a pear"}], "waitForSuccess": True}
    name, _ = pools.add(targetDedicatedNodes=1, startTask=task)
    (node,) = pools.nodes(name, "idle", 1)
    info = node["startTaskInfo"]
    assert (info["state"], info["result"], info["exitCode"], info["retryCount"]) == ("completed", "success", 0, 0)
    assert instant(info["startTime"]) <= instant(info["endTime"])
    assert node["startTask"]["userIdentity"] == {"autoUser": {"scope": "pool", "elevationLevel": "nonadmin"}}


def test_a_start_task_that_fails_is_tried_again_and_fails_the_node(pools, daemon):
    daemon.expect_log(r"warn node\.unusable")
    name, _ = pools.add(targetDedicatedNodes=1, startTask={"commandLine": "/bin/sh -c 'exit 3'", "maxTaskRetryCount": 2})
    (node,) = pools.nodes(name, "starttaskfailed", 1)
    info = node["startTaskInfo"]
    assert (info["state"], info["result"], info["exitCode"], info["retryCount"]) == ("completed", "failure", 3, 2)
    assert info["failureInfo"]["code"] == "FailureExitCode" and "lastRetryTime" in info
    assert pools.plane.get("/nodecounts")["value"][0]["dedicated"]["startTaskFailed"] == 1
    pools.plane.call("PATCH", f"/pools/{name}", {"startTask": {"commandLine": "/bin/true"}}, expect=200)
    pools.plane.call("POST", f"/pools/{name}/nodes/{node['id']}/reboot", expect=202)
    pools.nodes(name, "idle", 1)


def test_a_start_task_whose_success_is_not_waited_for_may_fail(pools):
    task = {"commandLine": "/bin/false", "waitForSuccess": False}
    name, _ = pools.add(targetDedicatedNodes=1, startTask=task)

    def ended():  # beside what the node is idle for
        (node,) = pools.nodes(name, "idle", 1)
        return node["startTaskInfo"] if node["startTaskInfo"]["state"] == "completed" else None

    assert wait_for(ended)["result"] == "failure"
