# SPDX-License-Identifier: MIT
"""uploadbatchservicelogs: what is known of a node, as blobs of a container."""

import json
import socket
from datetime import datetime, timedelta, timezone

import pytest
import requests
from support.batch_jobs import Jobs, add_pool
from support.daemon import Daemon
from support.waiting import wait_for

IDENTITY = {
    "resourceId": "/subscriptions/s/resourceGroups/g/providers/Microsoft.ManagedIdentity/userAssignedIdentities/i"
}


@pytest.fixture(scope="module")
def daemon():
    with Daemon(config={"batch": {"transfer_timeout_s": 2}}) as d:
        yield d


@pytest.fixture(scope="module")
def nodes(store):
    """Two nodes, the first of which has run a task."""
    add_pool(store.plane, "logged", targetDedicatedNodes=2)
    wait_for(lambda: [n["state"] for n in listed(store)] == ["idle", "idle"], what="two idle nodes")
    jobs = Jobs(store.plane, "logged")
    first = listed(store)[0]
    jobs().done("true", id="t", affinityInfo={"affinityId": first["affinityId"]})
    yield [n["id"] for n in listed(store)]
    jobs.remove()
    store.plane.call("DELETE", "/pools/logged", expect=202)


def listed(store):
    return store.plane.get("/pools/logged/nodes")["value"]


def when(**ago):
    return (datetime.now(timezone.utc) - timedelta(**ago)).strftime("%Y-%m-%dT%H:%M:%SZ")


def path(node):
    return f"/pools/logged/nodes/{node}/uploadbatchservicelogs"


def upload(store, node, url, start=None, **more):
    body = {"containerUrl": url, "startTime": start or when(hours=1), **more}
    return store.plane.call("POST", path(node), body, expect=200).json


def test_the_logs_of_one_node_are_there_with_the_answer(store, nodes):
    for node in nodes:
        done = upload(store, node, store.url())
        assert done["odata.metadata"].endswith("#Microsoft.Azure.Batch.Protocol.Entities.UploadBatchServiceLogsResult")
        assert done["virtualDirectoryName"].startswith(f"logged/{node}/")
        blobs = store.blobs(done["virtualDirectoryName"])
        assert done["numberOfFilesUploaded"] == len(blobs) and {"daemon.log", "events.log"} <= set(blobs)
        (other,) = set(nodes) - {node}
        assert f"node={node}" in blobs["daemon.log"] and other not in "".join(blobs.values())
        assert " to=idle\n" in blobs["events.log"]
    assert "run.succeeded kind=task run=job" in store.blobs(upload(store, nodes[0], store.url())["virtualDirectoryName"])["daemon.log"]


def test_each_upload_has_a_directory_of_its_own(store, nodes):
    once, again = (upload(store, nodes[0], store.url())["virtualDirectoryName"] for _ in range(2))
    assert once != again and store.blobs(once) == store.blobs(again)


def test_times_bound_what_is_uploaded(store, nodes):
    nothing = {"numberOfFilesUploaded": 0}
    assert nothing.items() <= upload(store, nodes[0], store.url(), start=when(hours=2), endTime=when(hours=1)).items()
    assert nothing.items() <= upload(store, nodes[0], store.url(), start=when(hours=-1)).items()
    assert upload(store, nodes[0], store.url(), endTime=when(hours=-1))["numberOfFilesUploaded"] >= 2
    values = store.plane.refused(
        400, "InvalidPropertyValue", "POST", path(nodes[0]),
        {"containerUrl": store.url(), "startTime": when(hours=1), "endTime": when(hours=2)},
    )  # fmt: skip
    assert values["PropertyName"] == "endTime"


def test_a_container_of_others(store, nodes, others):
    done = upload(store, nodes[0], f"{others.url}/box?secret=1")
    top = f"/box/{done['virtualDirectoryName']}/"
    assert {p for p in others.files if p.startswith("/box/")} == {top + "daemon.log", top + "events.log"}
    assert all(query == "secret=1" for _, p, query, _ in others.seen if p.startswith("/box/"))


def test_the_identity_of_the_account_writes_to_its_auto_storage(store, nodes):
    done = upload(store, nodes[0], store.url(signed=False), identityReference=IDENTITY)
    assert "events.log" in store.blobs(done["virtualDirectoryName"])


@pytest.mark.parametrize(
    "where, says",
    [
        ({"container": "none"}, "404 (ContainerNotFound)"),
        ({"signed": False}, "40"),
        ({"read": True}, "403"),
        ({"hours": -1}, "403"),
    ],
    ids=str,
)
def test_a_container_that_cannot_be_written_is_said(store, nodes, where, says):
    url = store.url(**where)
    values = store.plane.refused(
        400, "InvalidPropertyValue", "POST", path(nodes[0]), {"containerUrl": url, "startTime": when(hours=1)}
    )
    assert values["PropertyName"] == "containerUrl" and says in values["Reason"] and "sig=" not in values["Reason"]


def test_a_host_that_says_nothing_is_given_up(store, nodes):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/box?secret=1"
        values = store.plane.refused(
            400, "InvalidPropertyValue", "POST", path(nodes[0]), {"containerUrl": url, "startTime": when(hours=1)}
        )
    assert "within 2 seconds" in values["Reason"] and "secret" not in values["Reason"]


def test_a_client_that_leaves_ends_the_upload(store, nodes, daemon):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        body = {"containerUrl": f"http://127.0.0.1:{silent.getsockname()[1]}/box", "startTime": when(hours=1)}
        data, query = json.dumps(body).encode(), [("api-version", store.plane.version)]
        head = store.plane.head("POST", path(nodes[0]), query, data, {})
        with pytest.raises(requests.Timeout):
            url = f"{daemon.endpoint}{path(nodes[0])}?api-version={store.plane.version}"
            daemon.session().post(url, data=data, headers=head, timeout=0.5)
    assert len(listed(store)) == 2


def test_a_node_that_is_not_there(store, nodes):
    body = {"containerUrl": store.url(), "startTime": when(hours=1)}
    assert store.plane.call("POST", path("none"), body, expect=404).json["code"] == "NodeNotFound"


def test_what_the_agent_said_has_a_log_of_its_own(store, nodes, daemon):
    """It says why it ends when its root is moved away."""
    daemon.expect_log(r"node\.")
    (daemon.state_dir / "nodes" / nodes[1]).rename(daemon.state_dir / "away")

    def said():
        done = upload(store, nodes[1], store.url())
        return store.blobs(done["virtualDirectoryName"]).get("agent.log")

    assert "was removed or moved away" in wait_for(said, what="what the agent said")
    assert "agent.log" not in store.blobs(upload(store, nodes[0], store.url())["virtualDirectoryName"])
