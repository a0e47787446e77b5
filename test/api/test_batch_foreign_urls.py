# SPDX-License-Identifier: MIT
"""A site whose daemon reaches no hosts of others: what tasks of Azure Batch name there is refused, storage here is not."""

import pytest
from support.batch_jobs import Jobs, add_pool
from support.batch_store import Store
from support.daemon import Daemon
from support.others import Others


@pytest.fixture(scope="module")
def others():
    o = Others()
    o.files["/box/x"] = b"x\n"
    yield o
    assert o.seen == []
    o.remove()


@pytest.fixture(scope="module")
def store():
    with Daemon(config={"batch": {"foreign_urls": False}}) as d:
        s = Store(d)
        add_pool(s.plane, "pool", targetDedicatedNodes=1)
        yield s
        s.remove()


@pytest.fixture
def job(store, temporary):
    return temporary(Jobs(store.plane, "pool"))()


def ended(job, **more):
    return job.done("/bin/sh -c 'echo said > out; cat in/* || true'", **more)["executionInfo"]


def output(url):
    return {
        "filePattern": "out",
        "destination": {"container": {"containerUrl": url}},
        "uploadOptions": {"uploadCondition": "taskcompletion"},
    }


@pytest.mark.parametrize("resource", [{"httpUrl": "/box/x", "filePath": "in/x"}, {"storageContainerUrl": "/box", "filePath": "in"}])
def test_resource_files_of_others(job, others, resource):
    resource = {k: others.url + v if k.endswith("Url") else v for k, v in resource.items()}
    info = ended(job, resourceFiles=[resource])["failureInfo"]
    assert info["code"] == "BlobAccessDenied" and "batch.foreign_urls" in str(info["details"])


def test_output_files_to_others(job, others):
    info = ended(job, outputFiles=[output(f"{others.url}/box?secret=1")])["failureInfo"]
    assert info["code"] == "FileUploadAccessDenied" and "batch.foreign_urls" in str(info["details"])
    assert "secret" not in str(info)


def test_storage_here(job, store):
    assert ended(job, outputFiles=[output(store.url())])["result"] == "success"
    info = ended(job, resourceFiles=[{"httpUrl": store.url(read=True).replace("/out?", "/out/out?"), "filePath": "in/x"}])
    assert info["result"] == "success", info


def test_logs_of_nodes(store, others):
    (node,) = store.plane.all("/pools/pool/nodes")
    body = {"containerUrl": f"{others.url}/box?secret=1", "startTime": "2020-01-01T00:00:00Z"}
    reply = store.plane.call("POST", f"/pools/pool/nodes/{node['id']}/uploadbatchservicelogs", body)
    assert reply.status in (400, 403) and "batch.foreign_urls" in reply.content.decode(), reply.content
