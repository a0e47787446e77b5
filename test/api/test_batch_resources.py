# SPDX-License-Identifier: MIT
"""Resource files of Azure Batch's tasks: blobs of accounts of this daemon, put onto the node before a task begins."""

from datetime import datetime, timedelta, timezone

import pytest
from azure.storage.blob import BlobSasPermissions, generate_blob_sas
from support.accounts import Accounts
from support.batch import BatchGround
from support.batch_jobs import Jobs, add_pool


@pytest.fixture(scope="module")
def ground(daemon):
    g = BatchGround(daemon)
    yield g
    g.remove()


@pytest.fixture(scope="module")
def plane(ground):
    return ground.plane


@pytest.fixture(scope="module")
def pool(plane):
    add_pool(plane, "pool", targetDedicatedNodes=1)
    yield "pool"
    plane.call("DELETE", "/pools/pool", expect=202)


@pytest.fixture
def jobs(plane, pool):
    made = Jobs(plane, pool)
    yield made
    made.remove()


class Container:
    def __init__(self, daemon):
        self.accounts = Accounts(daemon).make()
        self.account = self.accounts.account()
        self.accounts.share(self.account, "inputs", kind="blobs")
        self.key = self.accounts.keys(self.account)[0]
        self.folder = self.accounts.folder(self.account, "inputs", "blobs")

    def url(self, name, signed=True, **may):
        url = f"https://{self.account}.blob.core.localhost/inputs/{name}"
        until = datetime.now(timezone.utc) + timedelta(hours=1)
        may = BlobSasPermissions(**(may or {"read": True}))
        sas = generate_blob_sas(self.account, "inputs", name, account_key=self.key, permission=may, expiry=until)
        return f"{url}?{sas}" if signed else url


@pytest.fixture(scope="module")
def container(daemon):
    c = Container(daemon)
    yield c
    c.accounts.remove()


def test_files_are_there_when_the_task_begins(jobs, container):
    (container.folder / "data.txt").write_text("from a blob\n")
    (container.folder / "big.bin").write_bytes(bytes(range(256)) * 20000)
    (container.folder / "run.sh").write_text("#!/bin/sh\ncat sub/data.txt\nwc -c < big.bin\n")
    files = [
        {"httpUrl": container.url("data.txt"), "filePath": "sub/data.txt"},
        {"httpUrl": container.url("big.bin"), "filePath": "big.bin"},
        {"httpUrl": container.url("run.sh"), "filePath": "run.sh", "fileMode": "0755"},
    ]
    job = jobs()
    job.add("./run.sh", id="t", resourceFiles=files)
    (done,) = job.wait("t")
    assert done["executionInfo"].get("exitCode") == 0, done["executionInfo"]
    out = job.plane.call("GET", f"{job.url}/tasks/t/files/stdout.txt", expect=200)
    assert out.content == b"from a blob\n5120000\n"


@pytest.mark.parametrize(
    "name, more, code",
    [
        ("none.txt", {}, "BlobNotFound"),
        ("data.txt", {"signed": False}, "BlobAccessDenied"),
        ("data.txt", {"write": True}, "BlobAccessDenied"),
    ],
)
def test_what_cannot_be_had_is_named_without_its_signature(jobs, container, name, more, code):
    (container.folder / "data.txt").write_text("from a blob\n")
    url = container.url(name, **more)
    job = jobs()
    job.add("/bin/true", id="t", resourceFiles=[{"httpUrl": url, "filePath": "x"}])
    (failed,) = job.wait("t")
    info = failed["executionInfo"]["failureInfo"]
    assert info["code"] == code and info["category"] == "UserError"
    said = " ".join(d["value"] for d in info["details"])
    assert url.split("?")[0] in said and "sig=" not in said


@pytest.mark.parametrize(
    "wish",
    [
        {"containerSettings": {"imageName": "debian"}},
        {"multiInstanceSettings": {"numberOfInstances": 1, "coordinationCommandLine": "/bin/true"}},
    ],
    ids=lambda wish: next(iter(wish)),
)  # fmt: skip
def test_what_is_not_served_yet_fails_the_task_and_is_named(jobs, wish):
    """Its command would do harm without."""
    job = jobs()
    job.add("/bin/true", id="t", **wish)
    (failed,) = job.wait("t")
    info = failed["executionInfo"]["failureInfo"]
    (name,) = wish
    assert info["code"] == "Unknown" and f"{name} is not served here yet" in str(info["details"])
    assert "exitCode" not in failed["executionInfo"]
