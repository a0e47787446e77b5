# SPDX-License-Identifier: MIT
"""What clusters, jobs and file servers name of others: whether who makes them may use it."""

import uuid

import pytest
from support.accounts import Accounts
from support.batch_rm import BatchAccounts, account_body, account_name
from support.people import CONTRIBUTOR, SUBMITTER, Person
from support.waiting import wait_for
from support.world import Place, cluster_body, file_server_body, job_body

SUBNETS = "/providers/Microsoft.Network/virtualNetworks/net/subnets/default"
READER_ROLE = "/providers/Microsoft.Authorization/roleDefinitions/acdd72a7-3385-48ef-bd42-f606fba81ae7"


@pytest.fixture
def elsewhere(daemon, temporary):
    return temporary(Place(daemon).make())


@pytest.fixture
def ada(person, own_place):
    """Does everything in one group, and nothing in others."""
    return person(CONTRIBUTOR, own_place.group_path)


def mounting(file_server, at="fs"):
    """Without the usual share, whose key is another matter."""
    mount = {"fileServer": {"id": file_server}, "relativeMountPath": at}
    return {"mountVolumes": {"fileServers": [mount], "azureFileShares": []}}


def test_a_file_server_is_mounted_by_those_who_may_read_it(daemon, own_place, elsewhere, ada):
    server = elsewhere.file_server()
    cluster = own_place.path + "/clusters/c"
    for id in (server.get()["id"], server.get()["id"].upper()):
        message = ada.may_not_link("PUT", cluster, cluster_body(0, nodeSetup=mounting(id)))
        assert "'Microsoft.BatchAI/workspaces/fileServers/read'" in message, message
        assert "'Microsoft.BatchAI/workspaces/clusters/write'" in message, message
    assert daemon.call("GET", cluster).status == 404
    own = own_place.file_server()
    ada.call("PUT", cluster, cluster_body(0, nodeSetup=mounting(own.get()["id"])), expect=(200, 202))
    job = own_place.path + "/experiments/x/jobs/j"
    ada.call("PUT", own_place.path + "/experiments/x", {}, expect=(200, 202))
    theirs = mounting(server.get()["id"])["mountVolumes"]
    ada.may_not_link("PUT", job, job_body(cluster, mountVolumes=theirs, stdOutErrPathPrefix="/tmp"))
    assert daemon.call("GET", job).status == 404
    mine = mounting(own.get()["id"], "again")["mountVolumes"]
    ada.call("PUT", job, job_body(cluster, mountVolumes=mine, stdOutErrPathPrefix="/tmp"), expect=(200, 202))


def test_a_role_at_the_file_server_is_enough(daemon, own_place, elsewhere, temporary):
    server = elsewhere.file_server()
    bob = temporary(Person(daemon, CONTRIBUTOR, own_place.group_path))
    body = cluster_body(0, nodeSetup=mounting(server.get()["id"]))
    bob.may_not_link("PUT", own_place.path + "/clusters/c", body)
    given = {"properties": {"roleDefinitionId": READER_ROLE, "principalId": bob.id}}
    path = f"{server.path}/providers/Microsoft.Authorization/roleAssignments/{uuid.uuid4()}"
    daemon.call("PUT", path, given, api_version="2022-04-01", validate=False, expect=201)
    bob.call("PUT", own_place.path + "/clusters/c", body, expect=(200, 202))


def test_a_subnet_is_for_those_who_may_join_it(own_place, elsewhere, ada):
    for kind, body in (("clusters", cluster_body(0, nodeSetup=None)), ("fileServers", file_server_body())):
        for group in (elsewhere.group_path, "/subscriptions/another/resourceGroups/g", ""):
            body["properties"]["subnet"] = {"id": group + SUBNETS}
            message = ada.may_not_link("PUT", f"{own_place.path}/{kind}/c", body)
            assert "'Microsoft.Network/virtualNetworks/subnets/join/action'" in message
        body["properties"]["subnet"] = {"id": own_place.group_path + SUBNETS}
        ada.call("PUT", f"{own_place.path}/{kind}/c", body, expect=(200, 202))


def test_who_may_not_use_it_does_not_learn_whether_it_exists(daemon, own_place, elsewhere, ada, temporary):
    cluster, body = elsewhere.cluster(0, "there", steady=False), {"mountVolumes": None, "stdOutErrPathPrefix": "/tmp"}
    experiment = own_place.path + "/experiments/x"
    ada.call("PUT", experiment, {}, expect=(200, 202))
    for id in (cluster.id, cluster.id + "2", own_place.group_path + "2/providers/Microsoft.BatchAI/workspaces/w/clusters/there"):
        message = ada.may_not_link("PUT", experiment + "/jobs/j", job_body(id, **body))
        assert "'Microsoft.BatchAI/workspaces/clusters/read'" in message and id in message
    reply = ada.call("PUT", experiment + "/jobs/j", job_body(own_place.path + "/clusters/none", **body))
    assert (reply.status, reply.code) == (404, "ClusterNotFound")
    store, own = temporary(Accounts(daemon).make()), BatchAccounts(daemon, own_place.group)
    for name in (store.account(), "nosuchaccount"):
        body = account_body(autoStorage={"storageAccountId": f"{store.path}/{name}"})
        message = ada.may_not_link("PUT", f"{own.path}/{account_name()}", body, api_version=own.version, validate=False)
        assert "'Microsoft.Storage/storageAccounts/listKeys/action'" in message and name in message


def test_old_versions_are_asked_the_same(own_place, elsewhere, ada):
    server = elsewhere.file_server()
    flat = own_place.group_path + "/providers/Microsoft.BatchAI/clusters/old"
    body = {"location": "eastus", **cluster_body(0, nodeSetup=mounting(server.get()["id"]))}
    reply = ada.call("PUT", flat, body, api_version="2018-03-01")
    assert (reply.status, reply.code) == (403, "LinkedAuthorizationFailed"), reply


# --- what runs as the nodes' administrator -------------------------------------------------------------------------------

AS_ADMIN = "'batchaid/nodes/runAsAdmin/action'"


def command_mounts(mark, **more):
    command = f"sh -c 'id -u > {mark}' #"
    return {"unmanagedFileSystems": [{"mountCommand": command, "relativeMountPath": "m", **more}]}


def test_a_mount_command_is_for_those_who_may_run_as_administrator(daemon, own_place, ada, tmp_path, temporary):
    cluster = own_place.cluster(1)
    eve = temporary(Person(daemon, SUBMITTER, own_place.group_path))
    experiment = own_place.path + "/experiments/x"
    eve.call("PUT", experiment, {}, expect=(200, 202))
    body = job_body(cluster.id, mountVolumes=command_mounts(tmp_path / "mark"), stdOutErrPathPrefix="/tmp")
    message = eve.may_not_link("PUT", experiment + "/jobs/j", body)
    assert AS_ADMIN in message and cluster.id in message and "mountVolumes" in message, message
    assert daemon.call("GET", experiment + "/jobs/j").status == 404 and not (tmp_path / "mark").exists()
    ada.call("PUT", experiment + "/jobs/j", body, expect=202)
    wait_for(lambda: (tmp_path / "mark").exists(), what="the command of one who may")


def test_a_container_whose_users_are_the_machines_is_for_them_too(own_daemon):
    daemon = own_daemon(config={"containers": {"user": "image"}})
    place = Place(daemon).make()
    cluster = place.cluster(0)
    eve, ada = (Person(daemon, role, place.group_path) for role in (SUBMITTER, CONTRIBUTOR))
    experiment = place.path + "/experiments/x"
    eve.call("PUT", experiment, {}, expect=(200, 202))
    more = {"mountVolumes": None, "stdOutErrPathPrefix": "/tmp"}
    body = job_body(cluster.id, containerSettings={"imageSourceRegistry": {"image": "i"}}, **more)
    message = eve.may_not_link("PUT", experiment + "/jobs/j", body)
    assert AS_ADMIN in message and "containers.user: image" in message, message
    eve.call("PUT", experiment + "/jobs/plain", job_body(cluster.id, **more), expect=202)
    ada.call("PUT", experiment + "/jobs/j", body, expect=202)


@pytest.mark.parametrize("options, allowed", [
    ("vers=4.1,ro,hard", True),
    ("--file-cache-timeout-in-seconds=120 -o attr_timeout=240 -o allow_other", True),
    ("ProxyCommand=sh", False),
    ("ro,suid", False),
    ("--tmp-path=/etc", False),
    ("--config-file /etc/x", False),
])  # fmt: skip
def test_mount_options_that_do_more_are_for_them_too(daemon, own_place, options, allowed, temporary):
    cluster = own_place.cluster(0, steady=False)
    server = own_place.file_server().get()["id"]
    eve = temporary(Person(daemon, SUBMITTER, own_place.group_path))
    experiment = own_place.path + "/experiments/x"
    eve.call("PUT", experiment, {}, expect=(200, 202))
    mount = {"fileServer": {"id": server}, "relativeMountPath": "fs", "mountOptions": options}
    body = job_body(cluster.id, mountVolumes={"fileServers": [mount]}, stdOutErrPathPrefix="/tmp")
    if allowed:
        eve.call("PUT", experiment + "/jobs/j", body, expect=202)
    else:
        assert AS_ADMIN in eve.may_not_link("PUT", experiment + "/jobs/j", body)
